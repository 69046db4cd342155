//===- warpvm/prepare/OddAccesses.cpp - Integers of odd width in memory ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copied to an odd offset, a value goes through memory in pieces that SROA
// names by their width alone: of a double at offset 1, an i24, an i32 and an
// i8. A vector of i24 lies packed, 3 bytes a lane, where an array of i24 has 4:
// nothing that spills a vector and reads it lane by lane may see one, nor may
// LLVM's own expansion of masked accesses. So
//
//   store i24 %x, ptr %p      store i16 (trunc %x), ptr %p
//                             store i8 (trunc (lshr %x, 16)), ptr %p + 2
//
// and a load likewise. Registers may have any width.
//
//===----------------------------------------------------------------------===//

#include "warpvm/prepare/OddAccesses.h"

#include "warpvm/prepare/AccessNumbers.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace reconverge::warpvm {

/// A bool is the emitter's.
static bool isOdd(const Type *T) {
  if (!T->isIntegerTy())
    return false;
  const unsigned Bits = T->getIntegerBitWidth();
  return Bits != 1 && (Bits < 8 || Bits > 128 || !isPowerOf2_32(Bits));
}

/// Calls \p Visit(offset, size) for the parts of \p Bytes bytes.
static void
forEachPart(uint64_t Bytes,
            function_ref<void(uint64_t Offset, uint64_t Size)> Visit) {
  for (uint64_t At = 0; At < Bytes;) {
    const uint64_t Size = std::min<uint64_t>(8, bit_floor(Bytes - At));
    Visit(At, Size);
    At += Size;
  }
}

static void splitLoad(LoadInst &I) {
  IRBuilder<> B(&I);
  const uint64_t Bytes = divideCeil(I.getType()->getIntegerBitWidth(), 8);
  Type *Whole = B.getIntNTy(8 * Bytes);
  Value *X = nullptr;
  forEachPart(Bytes, [&](uint64_t At, uint64_t Size) {
    Value *P = At ? B.CreatePtrAdd(I.getPointerOperand(), B.getInt64(At))
                  : I.getPointerOperand();
    LoadInst *L =
        B.CreateAlignedLoad(B.getIntNTy(8 * Size), P,
                            commonAlignment(I.getAlign(), At), I.isVolatile());
    if (!At)
      takeAccessNumber(*L, I);
    Value *Part = B.CreateShl(B.CreateZExt(L, Whole), 8 * At);
    X = X ? B.CreateOr(X, Part) : Part;
  });
  I.replaceAllUsesWith(B.CreateTrunc(X, I.getType()));
}

static void splitStore(StoreInst &I) {
  IRBuilder<> B(&I);
  const uint64_t Bytes =
      divideCeil(I.getValueOperand()->getType()->getIntegerBitWidth(), 8);
  Value *X = B.CreateZExt(I.getValueOperand(), B.getIntNTy(8 * Bytes));
  forEachPart(Bytes, [&](uint64_t At, uint64_t Size) {
    Value *P = At ? B.CreatePtrAdd(I.getPointerOperand(), B.getInt64(At))
                  : I.getPointerOperand();
    StoreInst *S = B.CreateAlignedStore(
        B.CreateTrunc(B.CreateLShr(X, 8 * At), B.getIntNTy(8 * Size)), P,
        commonAlignment(I.getAlign(), At), I.isVolatile());
    if (!At)
      takeAccessNumber(*S, I);
  });
}

void splitOddAccesses(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    if (auto *L = dyn_cast<LoadInst>(&I); L && isOdd(L->getType()))
      splitLoad(*L);
    else if (auto *S = dyn_cast<StoreInst>(&I);
             S && isOdd(S->getValueOperand()->getType()))
      splitStore(*S);
    else
      continue;
    I.eraseFromParent();
  }
}

} // namespace reconverge::warpvm
