//===- frontend/ptx/Restore.cpp - Back to PTX where LLVM lacks words ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM 19's NVPTX back end selects no fence and no acquire or release access,
// and prints every atomic as relaxed and of GPU scope. What lowerInlinePtx made
// of PTX with orders and scopes is recognised by its sync scope, "ptx.<scope>",
// which no pass drops, and becomes inline asm again:
//
//   load atomic, store atomic, atomicrmw, cmpxchg, fence of "ptx.*"
//     -> ld, st, atom, fence with .order.scope.space
//     (relaxed .gpu atomics that the back end prints itself stay)
//   fence syncscope("singlethread")   -> an empty asm that clobbers memory
//   fdiv afn float 1.0, x             -> rcp.approx.f32
//   fdiv afn float a, b               -> div.full.f32
//   call afn llvm.tanh                -> tanh.approx
//   llvm.prefetch                     -> prefetch
//   functions of PtxFunctions.h       -> what they stand for: a variant knows
//                                        it itself, the others are listed here
//
// An fdiv or a tanh with `afn` that is the user's own (-ffast-math) asks for an
// approximation as well and gets the same.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/InlinePtx.h"

#include "analysis/PtxFunctions.h"
#include "analysis/device/AddressSpace.h"
#include "core/Error.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::frontend {

namespace {
class Restorer {
public:
  explicit Restorer(Module &M) : M(M), B(M.getContext()) {
    M.getContext().getSyncScopeNames(Scopes);
  }
  Error run();

private:
  Error visit(Instruction &I);
  Error visitAtomic(Instruction &I);
  void visitFence(FenceInst &F);
  void visitDivision(BinaryOperator &I);
  void visitTanh(IntrinsicInst &Call);
  void visitPrefetch(IntrinsicInst &Call);
  void visitOwn(CallInst &Call, StringRef Name);

  /// "gpu" of "ptx.gpu"; empty for any other scope.
  StringRef ptxScope(SyncScope::ID Id) const {
    StringRef Name = Id < Scopes.size() ? Scopes[Id] : StringRef();
    return Name.consume_front("ptx.") ? Name : StringRef();
  }
  Value *emitWideAtomic(const Twine &Operation, Value *P,
                        ArrayRef<Value *> Operands);
  Value *emitAsm(llvm::Type *Result, const Twine &Text,
                 const Twine &Constraints, ArrayRef<Value *> Args,
                 bool Effects);
  void replace(Instruction &I, Value *V);

  Module &M;
  IRBuilder<> B;
  SmallVector<StringRef, 16> Scopes;
};
} // namespace

static std::string spaceOf(const Value *P) {
  switch (P->getType()->getPointerAddressSpace()) {
  case analysis::GlobalSpace:
    return ".global";
  case analysis::SharedSpace:
    return ".shared";
  case analysis::ConstantSpace:
    return ".const";
  case analysis::LocalSpace:
    return ".local";
  default:
    return "";
  }
}

static StringRef orderOf(AtomicOrdering Order) {
  switch (Order) {
  case AtomicOrdering::Acquire:
    return ".acquire";
  case AtomicOrdering::Release:
    return ".release";
  case AtomicOrdering::AcquireRelease:
  case AtomicOrdering::SequentiallyConsistent:
    return ".acq_rel";
  default:
    return ".relaxed";
  }
}

/// The register class for a value of \p Bits bits.
static StringRef constraintOf(unsigned Bits) {
  return Bits <= 16 ? "h" : Bits == 32 ? "r" : "l";
}

Value *Restorer::emitAsm(llvm::Type *Result, const Twine &Text,
                         const Twine &Constraints, ArrayRef<Value *> Args,
                         bool Effects) {
  SmallVector<llvm::Type *, 4> Types;
  for (Value *V : Args)
    Types.push_back(V->getType());
  auto *Asm = InlineAsm::get(FunctionType::get(Result, Types, false),
                             Text.str(), Constraints.str(), Effects);
  CallInst *Call = B.CreateCall(Asm, Args);
  Call->setDoesNotThrow();
  if (!Effects) {
    Call->setDoesNotAccessMemory();
    Call->addFnAttr(Attribute::WillReturn);
  }
  return Call;
}

void Restorer::replace(Instruction &I, Value *V) {
  V->takeName(&I);
  I.replaceAllUsesWith(V);
  I.eraseFromParent();
}

/// The PTX operation and type of \p RMW; empty if PTX has none.
static std::string operationOf(const AtomicRMWInst &RMW) {
  llvm::Type *T = RMW.getType();
  std::string Bits = std::to_string(T->getPrimitiveSizeInBits());
  switch (RMW.getOperation()) {
  case AtomicRMWInst::Xchg:
    return ".exch.b" + Bits;
  case AtomicRMWInst::Add:
    return ".add.u" + Bits;
  case AtomicRMWInst::And:
    return ".and.b" + Bits;
  case AtomicRMWInst::Or:
    return ".or.b" + Bits;
  case AtomicRMWInst::Xor:
    return ".xor.b" + Bits;
  case AtomicRMWInst::Max:
    return ".max.s" + Bits;
  case AtomicRMWInst::Min:
    return ".min.s" + Bits;
  case AtomicRMWInst::UMax:
    return ".max.u" + Bits;
  case AtomicRMWInst::UMin:
    return ".min.u" + Bits;
  case AtomicRMWInst::UIncWrap:
    return ".inc.u" + Bits;
  case AtomicRMWInst::UDecWrap:
    return ".dec.u" + Bits;
  case AtomicRMWInst::FAdd: {
    llvm::Type *Lane = T->getScalarType();
    std::string Packed = T->isVectorTy() ? "x2" : "";
    return Lane->isHalfTy()     ? ".add.noftz.f16" + Packed
           : Lane->isBFloatTy() ? ".add.noftz.bf16" + Packed
                                : ".add.f" + Bits;
  }
  default:
    return "";
  }
}

/// The back end prints these relaxed GPU-scope atomics as we would.
static bool isNative(const Instruction &I) {
  if (auto *RMW = dyn_cast<AtomicRMWInst>(&I))
    return RMW->getOrdering() == AtomicOrdering::Monotonic &&
           RMW->getOperation() != AtomicRMWInst::UIncWrap &&
           RMW->getOperation() != AtomicRMWInst::UDecWrap &&
           !RMW->getType()->isVectorTy() && !RMW->getType()->isIntegerTy(128);
  if (auto *Cas = dyn_cast<AtomicCmpXchgInst>(&I))
    return Cas->getSuccessOrdering() == AtomicOrdering::Monotonic &&
           Cas->getFailureOrdering() == AtomicOrdering::Monotonic &&
           is_contained(
               {32u, 64u},
               Cas->getCompareOperand()->getType()->getPrimitiveSizeInBits());
  return false;
}

/// An atomic of 128 bits, which has no register class in asm: by halves.
Value *Restorer::emitWideAtomic(const Twine &Operation, Value *P,
                                ArrayRef<Value *> Operands) {
  std::string Before, Names, Constraints = "=l,=l,l";
  SmallVector<Value *, 5> Args{P};
  for (Value *V : Operands) {
    const std::string Name = "%rc_" + std::to_string(Args.size());
    const unsigned Next = Args.size() + 2;
    Before += "mov.b128 " + Name + ", {$" + std::to_string(Next) + ", $" +
              std::to_string(Next + 1) + "}; ";
    Names += ", " + Name;
    Args.push_back(B.CreateTrunc(V, B.getInt64Ty()));
    Args.push_back(B.CreateTrunc(B.CreateLShr(V, 64), B.getInt64Ty()));
    Constraints += ",l,l";
  }
  llvm::Type *Pair = StructType::get(B.getInt64Ty(), B.getInt64Ty());
  Value *V =
      emitAsm(Pair,
              "{ .reg .b128 %rc_old" + Names + "; " + Before + Operation +
                  " %rc_old, [$2]" + Names + "; mov.b128 {$0, $1}, %rc_old; }",
              Constraints + ",~{memory}", Args, true);
  Value *Low = B.CreateZExt(B.CreateExtractValue(V, 0), B.getInt128Ty());
  Value *High = B.CreateZExt(B.CreateExtractValue(V, 1), B.getInt128Ty());
  return B.CreateOr(Low, B.CreateShl(High, 64));
}

Error Restorer::visitAtomic(Instruction &I) {
  std::optional<SyncScope::ID> Id = getAtomicSyncScopeID(&I);
  StringRef Scope = Id ? ptxScope(*Id) : StringRef();
  if (Scope.empty() || (Scope == "gpu" && isNative(I)))
    return Error::success();
  B.SetInsertPoint(&I);
  auto ToInt = [&](Value *V) -> Value * {
    if (V->getType()->isPointerTy())
      return B.CreatePtrToInt(V, B.getInt64Ty());
    unsigned Bits = V->getType()->getPrimitiveSizeInBits();
    V = B.CreateBitCast(V, B.getIntNTy(Bits));
    return Bits < 16 ? B.CreateZExt(V, B.getInt16Ty()) : V;
  };
  auto FromInt = [&](Value *V, llvm::Type *T) -> Value * {
    if (T->isPointerTy())
      return B.CreateIntToPtr(V, T);
    V = B.CreateTrunc(V, B.getIntNTy(T->getPrimitiveSizeInBits()));
    return B.CreateBitCast(V, T);
  };
  auto BitsOf = [&](llvm::Type *T) -> unsigned {
    return M.getDataLayout().getTypeSizeInBits(T);
  };
  std::string Tail = "." + Scope.str();
  if (auto *Load = dyn_cast<LoadInst>(&I)) {
    std::string Head = "ld" + orderOf(Load->getOrdering()).str() + Tail +
                       spaceOf(Load->getPointerOperand());
    unsigned Bits = BitsOf(I.getType());
    Value *V;
    if (Bits == 128) {
      llvm::Type *Pair = StructType::get(B.getInt64Ty(), B.getInt64Ty());
      V = emitAsm(Pair, Head + ".v2.b64 {$0, $1}, [$2];", "=l,=l,l,~{memory}",
                  {Load->getPointerOperand()}, true);
      Value *Low = B.CreateZExt(B.CreateExtractValue(V, 0), B.getInt128Ty());
      Value *High = B.CreateZExt(B.CreateExtractValue(V, 1), B.getInt128Ty());
      V = B.CreateOr(Low, B.CreateShl(High, 64));
    } else {
      V = emitAsm(B.getIntNTy(std::max(16u, Bits)),
                  Head + ".b" + Twine(Bits) + " $0, [$1];",
                  "=" + constraintOf(Bits) + ",l,~{memory}",
                  {Load->getPointerOperand()}, true);
    }
    replace(I, FromInt(V, I.getType()));
    return Error::success();
  }
  if (auto *Store = dyn_cast<StoreInst>(&I)) {
    std::string Head = "st" + orderOf(Store->getOrdering()).str() + Tail +
                       spaceOf(Store->getPointerOperand());
    Value *V = ToInt(Store->getValueOperand());
    unsigned Bits = BitsOf(Store->getValueOperand()->getType());
    if (Bits == 128)
      emitAsm(B.getVoidTy(), Head + ".v2.b64 [$0], {$1, $2};",
              "l,l,l,~{memory}",
              {Store->getPointerOperand(), B.CreateTrunc(V, B.getInt64Ty()),
               B.CreateTrunc(B.CreateLShr(V, 64), B.getInt64Ty())},
              true);
    else
      emitAsm(B.getVoidTy(), Head + ".b" + Twine(Bits) + " [$0], $1;",
              "l," + constraintOf(Bits) + ",~{memory}",
              {Store->getPointerOperand(), V}, true);
    I.eraseFromParent();
    return Error::success();
  }
  if (auto *Cas = dyn_cast<AtomicCmpXchgInst>(&I)) {
    Value *P = Cas->getPointerOperand(), *Compare = Cas->getCompareOperand();
    Value *Expected = ToInt(Compare);
    unsigned Bits = BitsOf(Compare->getType());
    std::string C = constraintOf(Bits).str();
    const std::string Operation = ("atom" + orderOf(Cas->getMergedOrdering()) +
                                   Tail + spaceOf(P) + ".cas.b" + Twine(Bits))
                                      .str();
    Value *New = ToInt(Cas->getNewValOperand());
    Value *Old =
        Bits == 128
            ? emitWideAtomic(Operation, P, {Expected, New})
            : emitAsm(B.getIntNTy(Bits), Operation + " $0, [$1], $2, $3;",
                      "=" + C + ",l," + C + "," + C + ",~{memory}",
                      {P, Expected, New}, true);
    Value *Both = PoisonValue::get(I.getType());
    Both = B.CreateInsertValue(Both, FromInt(Old, Compare->getType()), 0);
    Both = B.CreateInsertValue(Both, B.CreateICmpEQ(Old, Expected), 1);
    replace(I, Both);
    return Error::success();
  }
  auto &RMW = cast<AtomicRMWInst>(I);
  std::string Operation = operationOf(RMW);
  if (Operation.empty())
    return internalError("an atomic of a PTX scope has no PTX: " +
                         AtomicRMWInst::getOperationName(RMW.getOperation()));
  Value *P = RMW.getPointerOperand();
  unsigned Bits = BitsOf(RMW.getType());
  std::string C = constraintOf(Bits).str();
  bool IsFloat = RMW.getType()->isFloatTy() || RMW.getType()->isDoubleTy();
  if (IsFloat)
    C = Bits == 32 ? "f" : "d";
  Value *Operand = IsFloat ? RMW.getValOperand() : ToInt(RMW.getValOperand());
  if (Bits == 128) {
    replace(I, emitWideAtomic("atom" + orderOf(RMW.getOrdering()) + Tail +
                                  spaceOf(P) + Operation,
                              P, {Operand}));
    return Error::success();
  }
  Value *Old = emitAsm(Operand->getType(),
                       "atom" + orderOf(RMW.getOrdering()) + Tail + spaceOf(P) +
                           Operation + " $0, [$1], $2;",
                       "=" + C + ",l," + C + ",~{memory}", {P, Operand}, true);
  replace(I, IsFloat ? Old : FromInt(Old, RMW.getType()));
  return Error::success();
}

void Restorer::visitFence(FenceInst &F) {
  B.SetInsertPoint(&F);
  StringRef Scope = ptxScope(F.getSyncScopeID());
  if (F.getSyncScopeID() == SyncScope::SingleThread) {
    emitAsm(B.getVoidTy(), "", "~{memory}", {}, true);
  } else if (Scope.starts_with("griddepcontrol.") ||
             Scope.starts_with("fence.")) {
    emitAsm(B.getVoidTy(), Scope + ";", "~{memory}", {}, true);
  } else if (!Scope.empty()) {
    bool Strong = F.getOrdering() == AtomicOrdering::SequentiallyConsistent;
    emitAsm(B.getVoidTy(),
            Twine("fence.") + (Strong ? "sc." : "acq_rel.") + Scope + ";",
            "~{memory}", {}, true);
  } else {
    return;
  }
  F.eraseFromParent();
}

void Restorer::visitDivision(BinaryOperator &I) {
  if (I.getOpcode() != Instruction::FDiv || !I.hasApproxFunc() ||
      !I.getType()->isFloatTy())
    return;
  B.SetInsertPoint(&I);
  auto *One = dyn_cast<ConstantFP>(I.getOperand(0));
  replace(I, One && One->isExactlyValue(1.0)
                 ? emitAsm(I.getType(), "rcp.approx.f32 $0, $1;", "=f,f",
                           {I.getOperand(1)}, false)
                 : emitAsm(I.getType(), "div.full.f32 $0, $1, $2;", "=f,f,f",
                           {I.getOperand(0), I.getOperand(1)}, false));
}

void Restorer::visitTanh(IntrinsicInst &Call) {
  llvm::Type *T = Call.getType(), *Lane = T->getScalarType();
  if (!Call.hasApproxFunc() || Lane->isDoubleTy() ||
      (T->isVectorTy() && T->getPrimitiveSizeInBits() != 32))
    return;
  B.SetInsertPoint(&Call);
  Value *A = Call.getArgOperand(0);
  if (T->isFloatTy())
    return replace(Call,
                   emitAsm(T, "tanh.approx.f32 $0, $1;", "=f,f", {A}, false));
  llvm::Type *Bits = B.getIntNTy(T->getPrimitiveSizeInBits());
  std::string C = T->isVectorTy() ? "r" : "h";
  Value *V =
      emitAsm(Bits,
              Twine("tanh.approx.") + (Lane->isHalfTy() ? "f16" : "bf16") +
                  (T->isVectorTy() ? "x2" : "") + " $0, $1;",
              "=" + C + "," + C, {B.CreateBitCast(A, Bits)}, false);
  replace(Call, B.CreateBitCast(V, T));
}

void Restorer::visitPrefetch(IntrinsicInst &Call) {
  Value *P = Call.getArgOperand(0);
  std::string Space = spaceOf(P);
  // PTX prefetches from global, local and generic addresses, data only.
  bool Near = cast<ConstantInt>(Call.getArgOperand(2))->getZExtValue() == 3;
  if (Space == "" || Space == ".global" || Space == ".local") {
    B.SetInsertPoint(&Call);
    emitAsm(B.getVoidTy(),
            "prefetch" + Space + (Near ? ".L1" : ".L2") + " [$0];",
            "l,~{memory}", {P}, true);
  }
  Call.eraseFromParent();
}

namespace {
/// What a function of ours is in PTX; addresses of shared memory take 32 bits.
struct OwnText {
  StringRef Name, Text, Constraints;
};
} // namespace

#define WAIT(FORM, STATE)                                                      \
  "{ .reg .pred %rc_p; mbarrier." FORM ".shared.b64 %rc_p, [$1], $2; "         \
  "selp.b32 $0, 1, 0, %rc_p; }",                                               \
      "=r,r," STATE ",~{memory}"
static const OwnText OwnTexts[] = {
    {analysis::PerformanceEvent, "pmevent $0;", "n"},
    {analysis::NamedBarrierArrive, "barrier.arrive $0, $1;", "r,r,~{memory}"},
    {analysis::BarrierArrive,
     "mbarrier.arrive.release.cta.shared::cta.b64 $0, [$1], $2;",
     "=l,r,r,~{memory}"},
    {analysis::BarrierArriveDrop,
     "mbarrier.arrive_drop.release.cta.shared::cta.b64 $0, [$1], $2;",
     "=l,r,r,~{memory}"},
    {analysis::BarrierArriveExpect,
     "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 $0, [$1], $2;",
     "=l,r,r,~{memory}"},
    {analysis::BarrierExpect,
     "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;",
     "r,r,~{memory}"},
    {analysis::BarrierTryWait, WAIT("try_wait", "l")},
    {analysis::BarrierTestParity, WAIT("test_wait.parity", "r")},
    {analysis::BarrierTryParity, WAIT("try_wait.parity", "r")},
    {analysis::BulkCopy,
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], "
     "[$1], $2, [$3];",
     "r,l,r,r,~{memory}"},
    {analysis::BulkPass,
     "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
     "[$0], [$1], $2, [$3];",
     "r,r,r,r,~{memory}"},
    {analysis::BulkStore,
     "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;",
     "l,r,r,~{memory}"},
    {analysis::BulkPrefetch, "cp.async.bulk.prefetch.L2.global [$0], $1;",
     "l,r,~{memory}"},
};
#undef WAIT

/// What \p F, a function of ours with operands, is in PTX.
static OwnText textOf(const Function &F) {
  if (F.hasFnAttribute(analysis::PtxTextAttribute))
    return {
        F.getName(),
        F.getFnAttribute(analysis::PtxTextAttribute).getValueAsString(),
        F.getFnAttribute(analysis::PtxConstraintsAttribute).getValueAsString()};
  const OwnText *Own = find_if(
      OwnTexts, [&](const OwnText &O) { return O.Name == F.getName(); });
  assert(Own != std::end(OwnTexts) && "a function of ours without PTX");
  return *Own;
}

void Restorer::visitOwn(CallInst &Call, StringRef Name) {
  if (!Name.starts_with("reconverge."))
    return;
  B.SetInsertPoint(&Call);
  llvm::Type *Result = Call.getType();
  if (Call.arg_size() == 0) // a special register
    return replace(Call, emitAsm(Result,
                                 "mov.u32 $0, %" + Name.split('.').second + ";",
                                 "=r", {}, false));
  const OwnText Own = textOf(*Call.getCalledFunction());
  SmallVector<Value *, 4> Args(Call.args());
  for (Value *&V : Args)
    if (V->getType()->isPointerTy() &&
        V->getType()->getPointerAddressSpace() == analysis::SharedSpace)
      V = B.CreateTrunc(B.CreatePtrToInt(V, B.getInt64Ty()), B.getInt32Ty());
  const bool Answers = Result->isIntegerTy(1);
  Value *V = emitAsm(Answers ? B.getInt32Ty() : Result, Own.Text,
                     Own.Constraints, Args, !Call.doesNotAccessMemory());
  if (Result->isVoidTy())
    Call.eraseFromParent();
  else
    replace(Call, Answers ? B.CreateIsNotNull(V) : V);
}

Error Restorer::visit(Instruction &I) {
  if (auto *F = dyn_cast<FenceInst>(&I)) {
    visitFence(*F);
  } else if (I.isAtomic()) {
    return visitAtomic(I);
  } else if (auto *Binary = dyn_cast<BinaryOperator>(&I)) {
    visitDivision(*Binary);
  } else if (auto *Call = dyn_cast<IntrinsicInst>(&I)) {
    if (Call->getIntrinsicID() == Intrinsic::tanh)
      visitTanh(*Call);
    else if (Call->getIntrinsicID() == Intrinsic::prefetch)
      visitPrefetch(*Call);
  } else if (auto *Call = dyn_cast<CallInst>(&I)) {
    if (const Function *Callee = Call->getCalledFunction())
      visitOwn(*Call, Callee->getName());
  }
  return Error::success();
}

Error Restorer::run() {
  for (Function &F : M)
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (Error E = visit(I))
        return E;
  return Error::success();
}

Error restoreInlinePtx(Module &M) { return Restorer(M).run(); }

} // namespace reconverge::frontend
