//===- warpvm/Initializers.cpp - Initial values of variables --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "warpvm/Initializers.h"
#include "core/Error.h"

#include "llvm/IR/GlobalValue.h"
#include "llvm/IR/Operator.h"

#include <cstring>

using namespace llvm;

namespace reconverge::warpvm {

Error writeInitializer(const Constant &C, uint8_t *To, const DataLayout &DL,
                       function_ref<void *(const GlobalValue &)> AddressOf) {
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
  if (T->isPointerTy()) {
    APInt Offset(DL.getIndexTypeSizeInBits(T), 0);
    const Value *Base = C.stripAndAccumulateConstantOffsets(
        DL, Offset, /*AllowNonInbounds=*/true);
    while (auto *Cast = dyn_cast<AddrSpaceCastOperator>(Base)) {
      APInt More(
          DL.getIndexTypeSizeInBits(Cast->getPointerOperand()->getType()), 0);
      Base = Cast->getPointerOperand()->stripAndAccumulateConstantOffsets(
          DL, More, /*AllowNonInbounds=*/true);
      Offset += More.sextOrTrunc(Offset.getBitWidth());
    }
    if (auto *GV = dyn_cast<GlobalValue>(Base))
      if (auto *Address = static_cast<uint8_t *>(AddressOf(*GV))) {
        uint8_t *P = Address + Offset.getSExtValue();
        std::memcpy(To, &P, sizeof(P));
        return Error::success();
      }
    std::memset(To, 0, Bytes);
    return Error::success();
  }
  // A member pointer holds a function's address as an integer.
  if (auto *Cast = dyn_cast<PtrToIntOperator>(&C)) {
    uint64_t Pointer = 0;
    if (Error E = writeInitializer(*cast<Constant>(Cast->getPointerOperand()),
                                   reinterpret_cast<uint8_t *>(&Pointer), DL,
                                   AddressOf))
      return E;
    return WriteBits(APInt(64, Pointer));
  }
  return userError("a device variable has an initial value of a kind that the "
                   "CPU executor does not know");
}

} // namespace reconverge::warpvm
