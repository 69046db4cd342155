//===- warpvm/emit/EmitAccesses.cpp - Requests told to who counts them ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With EmitOptions::Accesses, a call stands before each access that has a
// number:
//
//   rcvm_access       the address of each lane
//   rcvm_access_same  one address, where the code shows that lanes share it
//
// The calls write nothing that compiled code reads, and are marked so: what is
// known of memory stays known across them.
//
//===----------------------------------------------------------------------===//

#include "analysis/Accesses.h"
#include "warpvm/emit/Emitter.h"
#include "warpvm/prepare/AccessNumbers.h"

using namespace llvm;

namespace reconverge::warpvm {

/// A constant AccessSite.
static Constant *siteFor(const analysis::Access &A, uint32_t Bytes,
                         uint32_t Position, uint64_t LocalBytes, bool Aligned,
                         Module &Out) {
  IRBuilder<> B(Out.getContext());
  Constant *Site = ConstantStruct::getAnon(
      {B.getInt32(Position), B.getInt32(Bytes), B.getInt32(uint32_t(A.Space)),
       B.getInt32(uint32_t(A.Use)), B.getInt32(LocalBytes),
       B.getInt32(Aligned)});
  return new GlobalVariable(Out, Site->getType(), true,
                            GlobalValue::PrivateLinkage, Site, "access.site");
}

void RegionEmitter::emitAccessCounts(Instruction &I) {
  const auto Number = analysis::accessNumber(I);
  const auto Position =
      Number ? C.AccessPosition.find(*Number) : C.AccessPosition.end();
  // Inlining may have shown that it is constant memory, which is not counted.
  const auto A = analysis::accessOf(I);
  if (Position == C.AccessPosition.end() || !A)
    return;
  const uint32_t Bytes = countedBytes(I, A->Bytes);
  const Align Given = isa<AtomicRMWInst, AtomicCmpXchgInst>(I)
                          ? Align(Bytes) // or it would be a fault
                          : getLoadStoreAlignment(&I);
  Value *Site = siteFor(*A, Bytes, Position->second, C.Function.LocalBytes,
                        isPowerOf2_32(Bytes) && Given.value() >= Bytes, Out);
  auto Call = [&](StringRef Name, Type *Where, Value *At) {
    FunctionCallee Callee =
        helper(Name, B.getVoidTy(), {PtrTy, I64, Where, PtrTy});
    auto *F = cast<Function>(Callee.getCallee());
    F->setMemoryEffects(MemoryEffects::argMemOnly(ModRefInfo::Ref) |
                        MemoryEffects::inaccessibleMemOnly());
    F->addFnAttr(Attribute::WillReturn);
    B.CreateCall(Callee, {Ctx, B.CreateZExt(M, I64), At, Site});
  };
  // Loads and stores alone may have an address that is computed here only.
  Value *At = nullptr;
  if (isa<LoadInst, StoreInst>(&I)) {
    const Address Of = address(A->Pointer, A->Bytes);
    if (Of.isUniform())
      return Call("rcvm_access_same", I64, B.CreatePtrToInt(Of.Base, I64));
    At = pointers(Of);
  } else {
    At = vec(A->Pointer);
  }
  Call("rcvm_access", PtrTy, spill(B.CreatePtrToInt(At, vectorOf(I64))));
}

} // namespace reconverge::warpvm
