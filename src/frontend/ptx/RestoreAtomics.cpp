//===- frontend/ptx/RestoreAtomics.cpp - Orders and scopes to PTX ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomic accesses of sync scope "ptx.*" as inline asm:
//
//   load, store   ld, st.order.scope.space
//   cmpxchg       atom.order.scope.space.cas
//   atomicrmw     atom.order.scope.space.<operation>
//
// Asm sees integers of 16 bits or more (add of floats aside); pointers, floats
// and vectors are cast there and back. 128 bits have no register class: loads
// and stores take two registers, atomics move halves into a .b128 of their own.
// Relaxed atomics of .gpu scope stay where the back end prints the same.
//
//===----------------------------------------------------------------------===//

#include "core/Error.h"
#include "frontend/ptx/Access.h"
#include "frontend/ptx/Restorer.h"

using namespace llvm;

namespace reconverge::frontend {

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value *Restorer::toInteger(Value *V) {
  if (V->getType()->isPointerTy())
    return B.CreatePtrToInt(V, B.getInt64Ty());
  unsigned Bits = V->getType()->getPrimitiveSizeInBits();
  V = B.CreateBitCast(V, B.getIntNTy(Bits));
  return Bits < 16 ? B.CreateZExt(V, B.getInt16Ty()) : V;
}

Value *Restorer::fromInteger(Value *V, llvm::Type *T) {
  if (T->isPointerTy())
    return B.CreateIntToPtr(V, T);
  V = B.CreateTrunc(V, B.getIntNTy(T->getPrimitiveSizeInBits()));
  return B.CreateBitCast(V, T);
}

Value *Restorer::joined(Value *Pair) {
  Value *Low = B.CreateZExt(B.CreateExtractValue(Pair, 0), B.getInt128Ty());
  Value *High = B.CreateZExt(B.CreateExtractValue(Pair, 1), B.getInt128Ty());
  return B.CreateOr(Low, B.CreateShl(High, 64));
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
  return joined(V);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

void Restorer::visitLoad(LoadInst &Load, const std::string &Suffix) {
  Value *P = Load.getPointerOperand();
  const unsigned Bits = bitsOf(Load.getType());
  Value *V;
  if (Bits == 128) {
    llvm::Type *Pair = StructType::get(B.getInt64Ty(), B.getInt64Ty());
    V = joined(emitAsm(Pair, "ld" + Suffix + ".v2.b64 {$0, $1}, [$2];",
                       "=l,=l,l,~{memory}", {P}, true));
  } else {
    V = emitAsm(B.getIntNTy(std::max(16u, Bits)),
                "ld" + Suffix + ".b" + Twine(Bits) + " $0, [$1];",
                "=" + constraintOf(Bits) + ",l,~{memory}", {P}, true);
  }
  replace(Load, fromInteger(V, Load.getType()));
}

void Restorer::visitStore(StoreInst &Store, const std::string &Suffix) {
  Value *P = Store.getPointerOperand();
  Value *V = toInteger(Store.getValueOperand());
  const unsigned Bits = bitsOf(Store.getValueOperand()->getType());
  if (Bits == 128)
    emitAsm(B.getVoidTy(), "st" + Suffix + ".v2.b64 [$0], {$1, $2};",
            "l,l,l,~{memory}",
            {P, B.CreateTrunc(V, B.getInt64Ty()),
             B.CreateTrunc(B.CreateLShr(V, 64), B.getInt64Ty())},
            true);
  else
    emitAsm(B.getVoidTy(), "st" + Suffix + ".b" + Twine(Bits) + " [$0], $1;",
            "l," + constraintOf(Bits) + ",~{memory}", {P, V}, true);
  Store.eraseFromParent();
}

void Restorer::visitExchange(AtomicCmpXchgInst &Exchange,
                             const std::string &Suffix) {
  Value *P = Exchange.getPointerOperand();
  Value *Compare = Exchange.getCompareOperand();
  Value *Expected = toInteger(Compare);
  const unsigned Bits = bitsOf(Compare->getType());
  const std::string C = constraintOf(Bits).str();
  const std::string Operation =
      "atom" + Suffix + ".cas.b" + std::to_string(Bits);
  Value *New = toInteger(Exchange.getNewValOperand());
  Value *Old =
      Bits == 128 ? emitWideAtomic(Operation, P, {Expected, New})
                  : emitAsm(B.getIntNTy(Bits), Operation + " $0, [$1], $2, $3;",
                            "=" + C + ",l," + C + "," + C + ",~{memory}",
                            {P, Expected, New}, true);
  Value *Both = PoisonValue::get(Exchange.getType());
  Both = B.CreateInsertValue(Both, fromInteger(Old, Compare->getType()), 0);
  Both = B.CreateInsertValue(Both, B.CreateICmpEQ(Old, Expected), 1);
  replace(Exchange, Both);
}

Error Restorer::visitUpdate(AtomicRMWInst &Update, const std::string &Suffix) {
  const std::string Name = operationOf(Update);
  if (Name.empty())
    return internalError(
        "an atomic of a PTX scope has no PTX: " +
        AtomicRMWInst::getOperationName(Update.getOperation()));
  const std::string Operation = "atom" + Suffix + Name;
  llvm::Type *T = Update.getType();
  Value *P = Update.getPointerOperand();
  const unsigned Bits = bitsOf(T);
  const bool IsFloat = T->isFloatTy() || T->isDoubleTy();
  const std::string C = !IsFloat     ? constraintOf(Bits).str()
                        : Bits == 32 ? "f"
                                     : "d";
  Value *Operand =
      IsFloat ? Update.getValOperand() : toInteger(Update.getValOperand());
  if (Bits == 128) {
    replace(Update, emitWideAtomic(Operation, P, {Operand}));
    return Error::success();
  }
  Value *Old = emitAsm(Operand->getType(), Operation + " $0, [$1], $2;",
                       "=" + C + ",l," + C + ",~{memory}", {P, Operand}, true);
  replace(Update, IsFloat ? Old : fromInteger(Old, T));
  return Error::success();
}

Error Restorer::visitAtomic(Instruction &I) {
  std::optional<SyncScope::ID> Id = getAtomicSyncScopeID(&I);
  StringRef Scope = Id ? ptxScope(*Id) : StringRef();
  if (Scope.empty() || (Scope == "gpu" && isNative(I)))
    return Error::success();
  B.SetInsertPoint(&I);
  auto Suffix = [&](AtomicOrdering Order, const Value *P) {
    const bool Cluster = Scope.ends_with(ptx::ClusterSuffix);
    return (orderOf(Order) + "." + Scope + (Cluster ? "" : stateSpaceOf(P)))
        .str();
  };
  if (auto *Load = dyn_cast<LoadInst>(&I))
    visitLoad(*Load, Suffix(Load->getOrdering(), Load->getPointerOperand()));
  else if (auto *Store = dyn_cast<StoreInst>(&I))
    visitStore(*Store,
               Suffix(Store->getOrdering(), Store->getPointerOperand()));
  else if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
    visitExchange(*Exchange, Suffix(Exchange->getMergedOrdering(),
                                    Exchange->getPointerOperand()));
  else if (auto *Update = dyn_cast<AtomicRMWInst>(&I))
    return visitUpdate(
        *Update, Suffix(Update->getOrdering(), Update->getPointerOperand()));
  return Error::success();
}

} // namespace reconverge::frontend
