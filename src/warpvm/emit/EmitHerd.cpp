//===- warpvm/emit/EmitHerd.cpp - Warps that are herded -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What hardware could do for programs that tolerate errors (EmitOptions::Herd).
//
// A herded branch: lanes whose side too few of the lanes want that are there go
// the other way, if they may. It happens where masks are made of the condition,
// so that all that follows, counts too, sees a branch that did not part.
//
// A herded load: lanes whose address lies outside of the most popular block of
// memory keep the lower bits of their address and get the upper ones of that
// block. rcvm_herd says where they go; the request is counted as it is then
// made. What is tested of an access (EmitCheck.cpp, EmitRaces.cpp) is tested of
// the address that the program asked for.
//
// Neither has instructions of the kernel's own: nothing more is counted.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Emitter.h"

using namespace llvm;

namespace reconverge::warpvm {

/// \p First: the lanes that want the first side of the branch at the end of
/// \p BB. Returns those that take it.
Value *RegionEmitter::herded(const BasicBlock &BB, Value *First) {
  const Herding &Herd = C.Options.Herd;
  const auto Number = analysis::branchNumber(BB);
  const auto *Found = find_if(Herd.Branches, [&](const HerdedBranch &Each) {
    return Number && Each.Number == *Number;
  });
  if (Found == Herd.Branches.end())
    return First;
  auto Lanes = [&](Value *Mask, unsigned Times) {
    Value *Count = B.CreateUnaryIntrinsic(Intrinsic::ctpop, Mask);
    return B.CreateMul(B.CreateZExtOrTrunc(Count, I32), B.getInt32(Times));
  };
  Value *Enough = B.CreateICmpUGT(Lanes(B.CreateAnd(M, First), 32),
                                  Lanes(M, Herd.Threshold));
  Value *All = Constant::getAllOnesValue(MaskTy);
  Value *None = Constant::getNullValue(MaskTy);
  return B.CreateSelect(Enough, Found->ToFirst ? All : First,
                        Found->ToSecond ? None : First);
}

bool RegionEmitter::isHerded(const Instruction &I) const {
  const auto Number = analysis::accessNumber(I);
  return Number && is_contained(C.Options.Herd.Loads, *Number);
}

/// Where \p I, which loads \p Bytes, finds them.
Address RegionEmitter::loadAddress(const LoadInst &I, uint64_t Bytes) {
  if (HerdedTo.first == &I)
    return HerdedTo.second;
  Address A = address(I.getPointerOperand(), Bytes);
  if (A.isUniform() || !isHerded(I))
    return A;
  Value *To = spill(B.CreatePtrToInt(pointers(A), vectorOf(I64)));
  B.CreateCall(
      helper("rcvm_herd", B.getVoidTy(), {PtrTy, I64, PtrTy, I32, I32}),
      {Ctx, B.CreateZExt(M, I64), To, B.getInt32(Bytes),
       B.getInt32(C.Options.Herd.BlockBytes)});
  Value *Now = B.CreateAlignedLoad(vectorOf(I64), To, Align(64));
  Address There;
  There.Pointers = B.CreateIntToPtr(Now, vectorOf(PtrTy));
  HerdedTo = {&I, There};
  return There;
}

} // namespace reconverge::warpvm
