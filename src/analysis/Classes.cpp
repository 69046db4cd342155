//===- analysis/Classes.cpp - The cost class of an instruction ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A class is an operation and, where the hardware has different units or
// sequences for them, a type: "fma.f32", "div.s64", "ld.shared". Every IR
// instruction has one, so that a machine file that has every class prices every
// kernel.
//
//   * Integers of up to 32 bits are i32, wider ones i64. Operations to which
//     signs matter have s and u instead.
//   * half and bfloat are f16. Transcendental functions come as f32 and f64;
//     those of half count as f32.
//   * An access through a generic pointer belongs to the space of the object
//     that the pointer was made from, if that can be seen: a kernel's pointer
//     argument is global memory, an alloca local, a by-value parameter or a
//     constant global is read through the constant cache.
//   * Intrinsics of NVVM go by their names ("llvm.nvvm.mul.rz.f"), functions of
//     libdevice that were not inlined too ("__nv_sinf"), and our own
//     (PtxFunctions.h).
//
// Limitation: a product of matrices counts as a call.
//
//===----------------------------------------------------------------------===//

#include "analysis/Accesses.h"
#include "analysis/Costs.h"
#include "analysis/device/AddressSpace.h"
#include "analysis/device/Annotations.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::analysis {

static constexpr StringLiteral ClassNames[] = {
    "abs.f16",        "abs.f32",     "abs.f64",    "abs.i32",
    "abs.i64",        "add.f16",     "add.f32",    "add.f64",
    "add.i32",        "add.i64",     "addr",       "asm",
    "atom.global",    "atom.shared", "bar.sync",   "bar.warp",
    "bits.i32",       "bits.i64",    "branch",     "call",
    "clock",          "cmp.f16",     "cmp.f32",    "cmp.f64",
    "cmp.i32",        "cmp.i64",     "cvt.32",     "cvt.64",
    "div.approx.f32", "div.f16",     "div.f32",    "div.f64",
    "div.s32",        "div.s64",     "div.u32",    "div.u64",
    "exp.f32",        "exp.f64",     "exp2.f32",   "exp2.f64",
    "fence",          "fma.f16",     "fma.f32",    "fma.f64",
    "ld.const",       "ld.generic",  "ld.global",  "ld.local",
    "ld.shared",      "log.f32",     "log.f64",    "log2.f32",
    "log2.f64",       "logic.i32",   "logic.i64",  "match",
    "minmax.f16",     "minmax.f32",  "minmax.f64", "minmax.s32",
    "minmax.s64",     "minmax.u32",  "minmax.u64", "mov",
    "mul.f16",        "mul.f32",     "mul.f64",    "mul.i32",
    "mul.i64",        "mul24.i32",   "pow.f32",    "pow.f64",
    "rcp.f32",        "rcp.f64",     "redux",      "rem.f16",
    "rem.f32",        "rem.f64",     "rem.s32",    "rem.s64",
    "rem.u32",        "rem.u64",     "ret",        "rsqrt.f32",
    "rsqrt.f64",      "select",      "shfl",       "shift.i32",
    "shift.i64",      "sin.f32",     "sin.f64",    "sqrt.f16",
    "sqrt.f32",       "sqrt.f64",    "sreg",       "st.generic",
    "st.global",      "st.local",    "st.shared",  "switch",
    "tan.f32",        "tan.f64",     "tex",        "vote",
};

ArrayRef<StringLiteral> instructionClasses() { return ClassNames; }

/// The entry of the table that reads \p Name.
static StringRef classNamed(const Twine &Name) {
  SmallString<32> Buffer;
  StringRef Text = Name.toStringRef(Buffer);
  const auto *Found =
      std::lower_bound(std::begin(ClassNames), std::end(ClassNames), Text);
  assert(Found != std::end(ClassNames) && *Found == Text && "no such class");
  return *Found;
}

static const Type &scalarOf(const Instruction &I) {
  const Type *T = I.getType();
  if (const auto *Struct = dyn_cast<StructType>(T))
    if (Struct->getNumElements())
      T = Struct->getElementType(0); // {value, overflow} and the like
  return *T->getScalarType();
}

static StringRef widthOf(const Type &T) {
  return T.isPointerTy() || T.getPrimitiveSizeInBits() > 32 ? "64" : "32";
}

static StringRef integer(StringRef Op, const Type &T, char Sign = 'i') {
  return classNamed(Op + "." + Twine(Sign) + widthOf(T));
}

static StringRef floating(StringRef Op, const Type &T) {
  if (T.isDoubleTy() || T.getPrimitiveSizeInBits() > 32)
    return classNamed(Op + ".f64");
  if (T.getPrimitiveSizeInBits() == 16 &&
      is_contained(
          {"abs", "add", "cmp", "div", "fma", "minmax", "mul", "rem", "sqrt"},
          Op))
    return classNamed(Op + ".f16");
  return classNamed(Op + ".f32");
}

/// An operation that integers and floats both have.
static StringRef either(StringRef Op, const Type &T) {
  return T.isFloatingPointTy() ? floating(Op, T) : integer(Op, T);
}

static StringRef conversion(const Type &From, const Type &To) {
  bool Wide = widthOf(From) == "64" || widthOf(To) == "64";
  return Wide ? "cvt.64" : "cvt.32";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static StringRef load(const Value &Pointer) {
  return classNamed("ld." + spaceOf(Pointer));
}

static StringRef store(const Value &Pointer) {
  StringRef Space = spaceOf(Pointer);
  return classNamed("st." + (Space == "const" ? "local" : Space));
}

static StringRef atomic(const Value &Pointer) {
  return spaceOf(Pointer) == "shared" ? "atom.shared" : "atom.global";
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// A mathematical function by its usual name, without suffix; empty if none.
static StringRef mathClass(StringRef Name, const Type &T) {
  StringRef Op = StringSwitch<StringRef>(Name)
                     .Cases("sin", "cos", "sincos", "sinpi", "cospi", "sin")
                     .Case("tan", "tan")
                     .Cases("exp", "exp10", "expm1", "exp")
                     .Cases("exp2", "ex2", "exp2")
                     .Cases("log", "log10", "log1p", "log")
                     .Cases("log2", "lg2", "log2")
                     .Cases("pow", "powi", "pow")
                     .Case("sqrt", "sqrt")
                     .Case("rsqrt", "rsqrt")
                     .Case("rcp", "rcp")
                     .Cases("fma", "fmuladd", "fma")
                     .Cases("fmod", "remainder", "rem")
                     .Cases("fmin", "fmax", "minnum", "maxnum", "minmax")
                     .Cases("minimum", "maximum", "minmax")
                     .Cases("fabs", "copysign", "neg", "saturate", "abs")
                     .Default("");
  if (!Op.empty())
    return floating(Op, T);
  if (is_contained({"floor", "ceil", "trunc", "round", "rint", "nearbyint",
                    "roundeven", "llrint", "lrint", "lround", "llround"},
                   Name))
    return conversion(T, T);
  return "";
}

/// After "llvm.nvvm.": what NVPTX adds to LLVM's intrinsics.
static StringRef nvvmClass(const CallBase &Call, StringRef Name) {
  const Type &T = scalarOf(Call);
  if (Name.consume_front("read.ptx.sreg."))
    return Name.starts_with("clock") || Name.starts_with("globaltimer") ||
                   Name.starts_with("pm")
               ? "clock"
               : "sreg";
  if (Name.starts_with("ldg.") || Name.starts_with("ldu."))
    return "ld.global";
  if (Name.starts_with("atomic."))
    return atomic(*Call.getArgOperand(0));
  if (Name.starts_with("wmma.") && !Name.contains(".mma."))
    return Name.contains(".load.") ? load(*Call.getArgOperand(0))
                                   : store(*Call.getArgOperand(0));
  StringRef Kind = StringSwitch<StringRef>(Name)
                       .StartsWith("shfl.", "shfl")
                       .StartsWith("vote.", "vote")
                       .StartsWith("activemask", "vote")
                       .StartsWith("match.", "match")
                       .StartsWith("redux.", "redux")
                       .StartsWith("bar.warp.", "bar.warp")
                       .StartsWith("bar", "bar.sync")
                       .StartsWith("membar.", "fence")
                       .StartsWith("fence.", "fence")
                       .StartsWith("tex.", "tex")
                       .StartsWith("tld4.", "tex")
                       .StartsWith("suld.", "tex")
                       .StartsWith("sust.", "tex")
                       .StartsWith("mul24.", "mul24.i32")
                       .StartsWith("cp.async.ca.", "ld.global")
                       .StartsWith("cp.async.cg.", "ld.global")
                       .StartsWith("ldmatrix.", "ld.shared")
                       .StartsWith("div.approx.", "div.approx.f32")
                       .StartsWith("bitcast.", "mov")
                       .StartsWith("move.", "mov")
                       .StartsWith("lohi.", "mov")
                       .StartsWith("d2i.lo", "mov")
                       .StartsWith("d2i.hi", "mov")
                       .StartsWith("prmt", "logic.i32")
                       .Default("");
  if (!Kind.empty())
    return Kind;
  StringRef Op = Name.take_until([](char C) { return C == '.'; });
  if (StringRef Math = mathClass(Op, T); !Math.empty())
    return Math;
  if (is_contained({"add", "mul", "div"}, Op))
    return floating(Op, T);
  if (Op == "mulhi")
    return integer("mul", T);
  if (Op == "sad")
    return integer("add", T);
  if (Op == "rotate" || Op == "swap")
    return integer("shift", T);
  if (Op == "fns")
    return "bits.i32";
  // Conversions are named "from 2 to": "f2i", "d2ull", "ff2bf16x2".
  if (size_t Two = Op.find('2'); Two != StringRef::npos && Two > 0 && Two < 4)
    return conversion(*Call.getArgOperand(0)->getType()->getScalarType(), T);
  return "call";
}

static StringRef intrinsicClass(const IntrinsicInst &I) {
  const Type &T = scalarOf(I);
  StringRef Name = Intrinsic::getBaseName(I.getIntrinsicID());
  Name.consume_front("llvm.");
  if (Name.consume_front("nvvm."))
    return nvvmClass(I, Name);
  switch (I.getIntrinsicID()) {
  case Intrinsic::smin:
  case Intrinsic::smax:
    return integer("minmax", T, 's');
  case Intrinsic::umin:
  case Intrinsic::umax:
    return integer("minmax", T, 'u');
  case Intrinsic::abs:
    return integer("abs", T);
  case Intrinsic::ctpop:
  case Intrinsic::ctlz:
  case Intrinsic::cttz:
  case Intrinsic::bitreverse:
  case Intrinsic::bswap:
    return integer("bits", T);
  case Intrinsic::fshl:
  case Intrinsic::fshr:
  case Intrinsic::sshl_sat:
  case Intrinsic::ushl_sat:
    return integer("shift", T);
  case Intrinsic::sadd_with_overflow:
  case Intrinsic::uadd_with_overflow:
  case Intrinsic::ssub_with_overflow:
  case Intrinsic::usub_with_overflow:
  case Intrinsic::sadd_sat:
  case Intrinsic::uadd_sat:
  case Intrinsic::ssub_sat:
  case Intrinsic::usub_sat:
    return integer("add", T);
  case Intrinsic::smul_with_overflow:
  case Intrinsic::umul_with_overflow:
    return integer("mul", T);
  case Intrinsic::fptosi_sat:
  case Intrinsic::fptoui_sat:
    return conversion(*I.getOperand(0)->getType()->getScalarType(), T);
  case Intrinsic::is_fpclass:
    return floating("cmp", *I.getOperand(0)->getType()->getScalarType());
  case Intrinsic::ptrmask:
    return "logic.i64";
  case Intrinsic::readcyclecounter:
  case Intrinsic::readsteadycounter:
    return "clock";
  default:
    break;
  }
  StringRef Math = T.isFloatingPointTy() ? mathClass(Name, T) : "";
  return Math.empty() ? StringRef("call") : Math;
}

static StringRef callClass(const CallBase &Call) {
  if (Call.isInlineAsm())
    return "asm";
  if (const auto *I = dyn_cast<IntrinsicInst>(&Call))
    return intrinsicClass(*I);
  const Function *F = Call.getCalledFunction();
  StringRef Name = F ? F->getName() : "";
  const Type &T = scalarOf(Call);
  if (Name.consume_front("reconverge."))
    return StringSwitch<StringRef>(Name)
        .StartsWith("cvt", "cvt.32")
        .StartsWith("ldmatrix", "ld.shared")
        .StartsWith("stmatrix", "st.shared")
        .StartsWith("movmatrix", "shfl")
        .Default("call");
  if (!Name.consume_front("__nv_") || !T.isFloatingPointTy())
    return "call";
  Name.consume_front("fast_");
  if (Name == "fdividef")
    return "div.approx.f32";
  if (StringRef Math = mathClass(Name, T); !Math.empty())
    return Math;
  if (T.isFloatTy() && Name.consume_back("f"))
    if (StringRef Math = mathClass(Name, T); !Math.empty())
      return Math;
  return "call";
}

//===----------------------------------------------------------------------===//
// All instructions
//===----------------------------------------------------------------------===//

StringRef classOf(const Instruction &I) {
  const Type &T = scalarOf(I);
  switch (I.getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub:
    return integer("add", T);
  case Instruction::Mul:
    return integer("mul", T);
  case Instruction::SDiv:
    return integer("div", T, 's');
  case Instruction::UDiv:
    return integer("div", T, 'u');
  case Instruction::SRem:
    return integer("rem", T, 's');
  case Instruction::URem:
    return integer("rem", T, 'u');
  case Instruction::Shl:
  case Instruction::LShr:
  case Instruction::AShr:
    return integer("shift", T);
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
    return integer("logic", T);
  case Instruction::FAdd:
  case Instruction::FSub:
    return floating("add", T);
  case Instruction::FMul:
    return floating("mul", T);
  case Instruction::FDiv:
    return floating("div", T);
  case Instruction::FRem:
    return floating("rem", T);
  case Instruction::FNeg:
    return floating("abs", T);
  case Instruction::ICmp:
  case Instruction::FCmp:
    return either("cmp", *I.getOperand(0)->getType()->getScalarType());
  case Instruction::Select:
    return "select";
  case Instruction::SExt:
  case Instruction::ZExt:
  case Instruction::FPToSI:
  case Instruction::FPToUI:
  case Instruction::SIToFP:
  case Instruction::UIToFP:
  case Instruction::FPTrunc:
  case Instruction::FPExt:
    return conversion(*I.getOperand(0)->getType()->getScalarType(), T);
  case Instruction::GetElementPtr:
    return "addr";
  case Instruction::Load:
    return load(*getLoadStorePointerOperand(&I));
  case Instruction::Store:
    return store(*getLoadStorePointerOperand(&I));
  case Instruction::AtomicRMW:
  case Instruction::AtomicCmpXchg:
    return atomic(*I.getOperand(0));
  case Instruction::Fence:
    return "fence";
  case Instruction::Br:
    return "branch";
  case Instruction::Switch:
  case Instruction::IndirectBr:
    return "switch";
  case Instruction::Ret:
    return "ret";
  case Instruction::Call:
  case Instruction::Invoke:
  case Instruction::CallBr:
    return callClass(cast<CallBase>(I));
  default:
    return "mov"; // registers renamed, parts of vectors and aggregates
  }
}

} // namespace reconverge::analysis
