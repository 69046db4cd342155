//===- warpvm/prepare/Initializers.cpp - Initial values of variables ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Aggregates are written element by element. What is left at the leaves and is
// no plain number is an address or comes from one, or is a number that the
// program made a pointer: (void *)-1, or the offset of a virtual base in a
// virtual table.
//
//===----------------------------------------------------------------------===//

#include "warpvm/prepare/Initializers.h"
#include "core/Error.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/Operator.h"

#include <cstring>

using namespace llvm;

namespace reconverge::warpvm {

using Addresses = function_ref<void *(const GlobalValue &)>;

/// The bits of \p C, a pointer or an integer that is no plain number.
static Expected<APInt> evaluate(const Constant &C, const DataLayout &DL,
                                Addresses AddressOf) {
  const unsigned Bits = DL.getTypeSizeInBits(C.getType()).getFixedValue();
  if (C.isNullValue() || isa<UndefValue>(C))
    return APInt::getZero(Bits);
  if (auto *I = dyn_cast<ConstantInt>(&C))
    return I->getValue();
  if (auto *Other = dyn_cast<GlobalAlias>(&C))
    return evaluate(*Other->getAliasee(), DL, AddressOf);
  if (auto *Of = dyn_cast<GlobalValue>(&C)) {
    if (void *Address = AddressOf(*Of))
      return APInt(64, uint64_t(Address));
    return userError("a device variable's initial value is the address of '" +
                         demangle(Of->getName()) + "', which has none",
                     "Set the variable when the program runs.");
  }
  if (auto *Step = dyn_cast<GEPOperator>(&C)) {
    APInt Offset(DL.getIndexTypeSizeInBits(C.getType()), 0);
    auto Base =
        evaluate(*cast<Constant>(Step->getPointerOperand()), DL, AddressOf);
    if (Base && Step->accumulateConstantOffset(DL, Offset))
      return *Base + Offset.sextOrTrunc(Bits);
    if (!Base)
      return Base;
  }
  if (auto *E = dyn_cast<ConstantExpr>(&C))
    switch (E->getOpcode()) {
    case Instruction::AddrSpaceCast:
    case Instruction::BitCast:
    case Instruction::IntToPtr:
    case Instruction::PtrToInt:
    case Instruction::Trunc: {
      auto Value = evaluate(*E->getOperand(0), DL, AddressOf);
      if (!Value)
        return Value;
      return Value->zextOrTrunc(Bits);
    }
    default:
      break;
    }
  return userError("a device variable has an initial value of a kind that the "
                   "CPU executor does not know");
}

Error writeInitializer(const Constant &C, uint8_t *To, const DataLayout &DL,
                       Addresses AddressOf) {
  Type *T = C.getType();
  const uint64_t Bytes = DL.getTypeStoreSize(T).getFixedValue();
  if (C.isNullValue() || isa<UndefValue>(C)) {
    std::memset(To, 0, Bytes);
    return Error::success();
  }
  auto WriteBits = [&](const APInt &Bits) {
    std::memcpy(To, Bits.zextOrTrunc(alignTo(8 * Bytes, 64)).getRawData(),
                Bytes);
    return Error::success();
  };
  if (auto *I = dyn_cast<ConstantInt>(&C))
    return WriteBits(I->getValue());
  if (auto *F = dyn_cast<ConstantFP>(&C))
    return WriteBits(F->getValueAPF().bitcastToAPInt());
  if (T->isAggregateType() || T->isVectorTy()) {
    for (unsigned I = 0; const Constant *Element = C.getAggregateElement(I);
         ++I) {
      uint64_t Offset;
      if (auto *S = dyn_cast<StructType>(T)) {
        Offset = DL.getStructLayout(S)->getElementOffset(I);
      } else {
        Offset = I * DL.getTypeAllocSize(Element->getType()).getFixedValue();
      }
      if (Error E = writeInitializer(*Element, To + Offset, DL, AddressOf))
        return E;
      if (isa<ArrayType>(T) && I + 1 == T->getArrayNumElements())
        break;
      if (isa<StructType>(T) && I + 1 == T->getStructNumElements())
        break;
    }
    return Error::success();
  }
  auto Value = evaluate(C, DL, AddressOf);
  return Value ? WriteBits(*Value) : Value.takeError();
}

} // namespace reconverge::warpvm
