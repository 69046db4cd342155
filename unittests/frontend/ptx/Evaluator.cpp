//===- unittests/frontend/ptx/Evaluator.cpp - Runs lowered PTX ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's constant folder does the arithmetic, in software floats, so that the
// result depends neither on the host's modes nor on a code generator. What it
// does not fold, NVVM's intrinsics of a rounding mode above all, is modelled
// here by APFloat. The directed square roots come from the host under
// fesetround.
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <cfenv>
#include <cmath>

using namespace llvm;

static RoundingMode roundingOf(StringRef Name) {
  return Name == "rz"   ? RoundingMode::TowardZero
         : Name == "rm" ? RoundingMode::TowardNegative
         : Name == "rp" ? RoundingMode::TowardPositive
                        : RoundingMode::NearestTiesToEven;
}

static APFloat flush(APFloat V) {
  if (V.isDenormal())
    V = APFloat::getZero(V.getSemantics(), V.isNegative());
  return V;
}

template <typename T> static T hostRoot(T V, StringRef Rounding) {
  int Old = std::fegetround();
  std::fesetround(Rounding == "rz"   ? FE_TOWARDZERO
                  : Rounding == "rm" ? FE_DOWNWARD
                  : Rounding == "rp" ? FE_UPWARD
                                     : FE_TONEAREST);
  volatile T In = V;
  volatile T Out = std::sqrt(In);
  std::fesetround(Old);
  return Out;
}

static uint32_t permute(uint32_t A, uint32_t B, uint32_t Selector) {
  uint64_t Bytes = uint64_t(B) << 32 | A;
  uint32_t Out = 0;
  for (unsigned N = 0; N != 4; ++N) {
    unsigned S = Selector >> (4 * N) & 15;
    uint8_t Byte = Bytes >> (8 * (S & 7));
    if (S & 8)
      Byte = Byte & 0x80 ? 0xff : 0;
    Out |= uint32_t(Byte) << (8 * N);
  }
  return Out;
}

/// The value of "llvm.nvvm.<Parts>", null if it has no model here.
static Constant *nvvm(SmallVector<StringRef, 6> Parts, llvm::Type *Result,
                      ArrayRef<Constant *> Args) {
  StringRef Op = Parts[0];
  bool Flush = is_contained(Parts, "ftz");
  auto Float = [&](unsigned N) {
    APFloat V = cast<ConstantFP>(Args[N])->getValueAPF();
    return Flush ? flush(V) : V;
  };
  auto Give = [&](APFloat V) {
    return ConstantFP::get(Result, Flush ? flush(V) : V);
  };
  auto Int = [&](unsigned N) { return cast<ConstantInt>(Args[N])->getValue(); };
  if (Op == "prmt")
    return ConstantInt::get(Result, permute(Int(0).getZExtValue(),
                                            Int(1).getZExtValue(),
                                            Int(2).getZExtValue()));
  if (Op == "saturate") {
    APFloat V = Float(0), One(V.getSemantics(), 1), Zero(V.getSemantics());
    if (V.isNaN() || V.compare(Zero) != APFloat::cmpGreaterThan)
      return Give(Zero);
    return Give(V.compare(One) == APFloat::cmpGreaterThan ? One : V);
  }
  if (Parts.size() < 2)
    return nullptr;
  StringRef Name = Parts[1];
  RoundingMode Mode = roundingOf(Name);
  if (!is_contained({"rn", "rz", "rm", "rp"}, Name))
    return nullptr;
  if (Op == "add" || Op == "mul" || Op == "div") {
    APFloat V = Float(0);
    if (Op == "add")
      V.add(Float(1), Mode);
    else if (Op == "mul")
      V.multiply(Float(1), Mode);
    else
      V.divide(Float(1), Mode);
    return Give(V);
  }
  if (Op == "fma") {
    APFloat V = Float(0);
    V.fusedMultiplyAdd(Float(1), Float(2), Mode);
    return Give(V);
  }
  if (Op == "rcp") {
    APFloat V(Float(0).getSemantics(), 1);
    V.divide(Float(0), Mode);
    return Give(V);
  }
  if (Op == "sqrt")
    return Give(Result->isFloatTy()
                    ? APFloat(hostRoot(Float(0).convertToFloat(), Name))
                    : APFloat(hostRoot(Float(0).convertToDouble(), Name)));
  if (Op == "d2f") {
    APFloat V = cast<ConstantFP>(Args[0])->getValueAPF();
    bool Lost;
    V.convert(APFloat::IEEEsingle(), Mode, &Lost);
    return Give(V);
  }
  auto [From, To] = Op.split('2');
  if ((From == "f" || From == "d") && Result->isIntegerTy()) {
    APFloat V = Float(0);
    unsigned Width = Result->getIntegerBitWidth();
    bool Unsigned = To.starts_with("u");
    if (V.isNaN())
      return ConstantInt::get(Result, From == "d" || Width == 64
                                          ? APInt::getSignMask(Width)
                                          : APInt(Width, 0));
    // APFloat saturates as PTX does, and says so by opInvalidOp.
    APSInt Out(Width, Unsigned);
    bool Exact;
    V.convertToInteger(Out, Mode, &Exact);
    return ConstantInt::get(Result, Out);
  }
  if (is_contained({"i", "ui", "ll", "ull"}, From)) {
    APFloat V(Result->getFltSemantics());
    V.convertFromAPInt(Int(0), !From.starts_with("u"), Mode);
    return ConstantFP::get(Result, V);
  }
  return nullptr;
}

/// Intrinsics that the folder leaves alone for some formats.
static Constant *generic(Intrinsic::ID ID, llvm::Type *T,
                         ArrayRef<Constant *> Args) {
  if (auto *Vector = dyn_cast<FixedVectorType>(T)) {
    SmallVector<Constant *, 2> Lanes;
    for (unsigned N = 0; N != Vector->getNumElements(); ++N) {
      SmallVector<Constant *, 3> LaneArgs;
      for (Constant *A : Args)
        LaneArgs.push_back(A->getAggregateElement(N));
      Constant *Lane = generic(ID, Vector->getElementType(), LaneArgs);
      if (!Lane)
        return nullptr;
      Lanes.push_back(Lane);
    }
    return ConstantVector::get(Lanes);
  }
  if (Args.empty() ||
      !all_of(Args, [](Constant *C) { return isa<ConstantFP>(C); }))
    return nullptr;
  APFloat A = cast<ConstantFP>(Args[0])->getValueAPF();
  APFloat B = Args.size() > 1 ? cast<ConstantFP>(Args[1])->getValueAPF() : A;
  switch (ID) {
  case Intrinsic::fabs:
    A.clearSign();
    break;
  case Intrinsic::copysign:
    A.copySign(B);
    break;
  case Intrinsic::minnum:
    A = A.isNaN() ? B : B.isNaN() ? A : minimum(A, B);
    break;
  case Intrinsic::maxnum:
    A = A.isNaN() ? B : B.isNaN() ? A : maximum(A, B);
    break;
  case Intrinsic::minimum:
    A = minimum(A, B);
    break;
  case Intrinsic::maximum:
    A = maximum(A, B);
    break;
  case Intrinsic::fma:
    A.fusedMultiplyAdd(B, cast<ConstantFP>(Args[2])->getValueAPF(),
                       APFloat::rmNearestTiesToEven);
    break;
  case Intrinsic::roundeven:
    A.roundToIntegral(APFloat::rmNearestTiesToEven);
    break;
  case Intrinsic::trunc:
    A.roundToIntegral(APFloat::rmTowardZero);
    break;
  case Intrinsic::floor:
    A.roundToIntegral(APFloat::rmTowardNegative);
    break;
  case Intrinsic::ceil:
    A.roundToIntegral(APFloat::rmTowardPositive);
    break;
  default:
    return nullptr;
  }
  return ConstantFP::get(T, A);
}

static Constant *fold(llvm::Instruction &I, ArrayRef<Constant *> Ops) {
  const DataLayout &DL = I.getModule()->getDataLayout();
  if (auto *Call = dyn_cast<CallInst>(&I)) {
    ArrayRef<Constant *> Args = Ops.drop_back();
    StringRef Name = Call->getCalledFunction()->getName();
    if (Name.consume_front("llvm.nvvm.")) {
      SmallVector<StringRef, 6> Parts;
      Name.split(Parts, '.');
      return nvvm(Parts, I.getType(), Args);
    }
    if (Constant *C = generic(Call->getIntrinsicID(), I.getType(), Args))
      return C;
    return ConstantFoldCall(Call, Call->getCalledFunction(), Args);
  }
  if (auto *Insert = dyn_cast<InsertValueInst>(&I))
    return ConstantFoldInsertValueInstruction(Ops[0], Ops[1],
                                              Insert->getIndices());
  if (auto *Compare = dyn_cast<CmpInst>(&I))
    return ConstantFoldCompareInstOperands(Compare->getPredicate(), Ops[0],
                                           Ops[1], DL);
  return ConstantFoldInstOperands(&I, Ops, DL);
}

static std::optional<APInt> bitsOf(Constant *C) {
  if (auto *I = dyn_cast<ConstantInt>(C))
    return I->getValue();
  if (auto *F = dyn_cast<ConstantFP>(C))
    return F->getValueAPF().bitcastToAPInt();
  return std::nullopt;
}

std::optional<std::vector<APInt>> evaluate(Function &F, ArrayRef<APInt> Args,
                                           std::string &Why) {
  DenseMap<Value *, Constant *> Values;
  for (Argument &A : F.args()) {
    llvm::Type *T = A.getType();
    const APInt &Bits = Args[A.getArgNo()];
    Values[&A] = T->isIntegerTy()
                     ? (Constant *)ConstantInt::get(T, Bits)
                     : ConstantFP::get(T, APFloat(T->getFltSemantics(), Bits));
  }
  auto Get = [&](Value *V) -> Constant * {
    if (auto *C = dyn_cast<Constant>(V))
      return C;
    return Values.lookup(V);
  };
  BasicBlock *Block = &F.getEntryBlock(), *Previous = nullptr;
  while (true) {
    BasicBlock *Next = nullptr;
    for (llvm::Instruction &I : *Block) {
      if (auto *Return = dyn_cast<ReturnInst>(&I)) {
        Constant *C = Get(Return->getReturnValue());
        std::vector<APInt> Result;
        bool IsStruct = C->getType()->isStructTy();
        unsigned Count = IsStruct ? C->getType()->getStructNumElements() : 1;
        for (unsigned N = 0; N != Count; ++N) {
          Constant *Element = IsStruct ? C->getAggregateElement(N) : C;
          std::optional<APInt> Bits = bitsOf(Element);
          if (!Bits) {
            Why = "the result is no plain constant";
            return std::nullopt;
          }
          Result.push_back(*Bits);
        }
        return Result;
      }
      if (auto *Branch = dyn_cast<BranchInst>(&I)) {
        bool Taken = !Branch->isConditional() ||
                     cast<ConstantInt>(Get(Branch->getCondition()))->isOne();
        Next = Branch->getSuccessor(Taken ? 0 : 1);
        break;
      }
      Constant *C = nullptr;
      if (auto *Phi = dyn_cast<PHINode>(&I)) {
        C = Get(Phi->getIncomingValueForBlock(Previous));
      } else {
        SmallVector<Constant *, 6> Ops;
        for (Value *V : I.operands())
          Ops.push_back(Get(V));
        C = fold(I, Ops);
      }
      if (!C) {
        raw_string_ostream(Why) << I;
        return std::nullopt;
      }
      Values[&I] = C;
    }
    Previous = Block;
    Block = Next;
  }
}
