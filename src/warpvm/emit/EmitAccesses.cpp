//===- warpvm/emit/EmitAccesses.cpp - Requests told to who counts them ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With EmitOptions::Accesses, a call stands before each access that has a
// number:
//
//   rcvm_access       the address of each lane
//   rcvm_access_same  one address, where the code shows that lanes share it
//
// Most accesses of shared memory lie within as many words as there are banks,
// from the first active lane's word on, and are one wavefront. Code tests that
// by itself and counts such requests and their lanes by itself, beside those of
// blocks (KernelPlan). What lies otherwise is told.
//
// The calls write nothing that compiled code reads, and are marked so: what is
// known of memory stays known across them.
//
//===----------------------------------------------------------------------===//

#include "analysis/Accesses.h"
#include "warpvm/emit/Emitter.h"
#include "warpvm/prepare/AccessNumbers.h"

#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace reconverge::warpvm {

/// What the banks of shared memory hold of one row.
static constexpr uint64_t BankRowBytes = 128;

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

/// Counts a request that is one wavefront.
void RegionEmitter::countSimple(unsigned Position) {
  Value *Counters = contextField(offsetof(WarpContext, Counters), PtrTy);
  Value *Lanes = B.CreateZExt(B.CreateUnaryIntrinsic(Intrinsic::ctpop, M), I64);
  auto Add = [&](unsigned Index, Value *More) {
    Value *At = B.CreateConstInBoundsGEP1_64(I64, Counters, Index);
    B.CreateStore(B.CreateAdd(B.CreateLoad(I64, At), More), At);
  };
  Add(C.SimpleAccesses + 2 * Position, B.getInt64(1));
  Add(C.SimpleAccesses + 2 * Position + 1, Lanes);
}

/// i1: whether the active lanes' words lie within a word of each bank, from the
/// first of these lanes on.
Value *RegionEmitter::liesInBanks(const Address &A) {
  Value *X = A.Index ? A.Index : B.CreatePtrToInt(A.Pointers, vectorOf(I64));
  Value *First = B.CreateExtractElement(
      X, B.CreateBinaryIntrinsic(Intrinsic::cttz, M, B.getTrue()));
  Type *T = X->getType()->getScalarType();
  Value *Near =
      B.CreateICmpULT(B.CreateSub(X, splat(First)),
                      splat(ConstantInt::get(T, BankRowBytes / A.Scale)));
  return B.CreateIsNull(B.CreateAnd(M, B.CreateNot(maskBits(Near))));
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
    const auto *Load = dyn_cast<LoadInst>(&I);
    const Address Of =
        Load ? loadAddress(*Load, A->Bytes) : address(A->Pointer, A->Bytes);
    const bool MaySimple = A->Space == MemorySpace::Shared && W == 32 &&
                           Bytes == 4 && Given.value() >= 4;
    if (Of.isUniform() && MaySimple)
      return countSimple(Position->second);
    if (Of.isUniform())
      return Call("rcvm_access_same", I64, B.CreatePtrToInt(Of.Base, I64));
    if (MaySimple) {
      auto *Simple = BasicBlock::Create(Out.getContext(), "one.wavefront", Fn);
      auto *Told = BasicBlock::Create(Out.getContext(), "told", Fn);
      auto *Next = BasicBlock::Create(Out.getContext(), "counted", Fn);
      // What is live across the call is saved there, and not here.
      B.CreateCondBr(liesInBanks(Of), Simple, Told,
                     MDBuilder(Out.getContext()).createLikelyBranchWeights());
      B.SetInsertPoint(Simple);
      countSimple(Position->second);
      B.CreateBr(Next);
      B.SetInsertPoint(Told);
      Call("rcvm_access", PtrTy,
           spill(B.CreatePtrToInt(pointers(Of), vectorOf(I64))));
      B.CreateBr(Next);
      B.SetInsertPoint(Next);
      return;
    }
    At = pointers(Of);
  } else {
    At = vec(A->Pointer);
  }
  Call("rcvm_access", PtrTy, spill(B.CreatePtrToInt(At, vectorOf(I64))));
}

} // namespace reconverge::warpvm
