//===- warpvm/emit/EmitRaces.cpp - Accesses told to who looks for races ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With EmitOptions::Races, calls stand before
//
//   loads, stores, atomics, block copies   rcvm_race_access: address and, of a
//                                          store, value of each active lane
//   collectives, products of tiles         rcvm_race_meet: the lanes' members
//   fences                                 rcvm_race_fence
//
// Barriers of the block need none: the scheduler opens them. Ordinary code has
// none of these calls and is what it was.
//
// Not told are accesses of local memory, constant memory and parameters, where
// the code shows that they are. An atomic operation that came as CUDA's own
// (atomicAdd) is relaxed, although LLVM's IR calls it sequentially consistent;
// one with a scope of PTX's has the order that it says.
//
//===----------------------------------------------------------------------===//

#include "analysis/Places.h"
#include "analysis/device/AddressSpace.h"
#include "analysis/device/Intrinsics.h"
#include "warpvm/emit/Emitter.h"
#include "warpvm/prepare/Tiles.h"

#include "llvm/Analysis/ValueTracking.h"

using namespace llvm;

namespace reconverge::warpvm {

namespace {
/// What an access is to other threads.
struct Ordering {
  bool Strong = false, Release = false, OfBlock = false;
};
} // namespace

static Ordering orderingOf(const Instruction &I) {
  Ordering O;
  std::optional<SyncScope::ID> Scope = getAtomicSyncScopeID(&I);
  if (!Scope)
    return {I.isVolatile(), false, false};
  O.Strong = true;
  SmallVector<StringRef> Names;
  I.getContext().getSyncScopeNames(Names);
  const StringRef Name = *Scope < Names.size() ? Names[*Scope] : "";
  O.OfBlock = Name == "ptx.cta";
  AtomicOrdering Order = AtomicOrdering::Monotonic;
  if (auto *S = dyn_cast<StoreInst>(&I))
    Order = S->getOrdering();
  else if (!isa<LoadInst>(I) && Name.starts_with("ptx."))
    Order = isa<AtomicRMWInst>(I)
                ? cast<AtomicRMWInst>(I).getOrdering()
                : cast<AtomicCmpXchgInst>(I).getSuccessOrdering();
  O.Release = isReleaseOrStronger(Order);
  return O;
}

/// Whether \p Pointer leads to what no two threads write.
static bool isPrivateOrConstant(const Value *Pointer) {
  const unsigned Space = Pointer->getType()->getPointerAddressSpace();
  if (Space == analysis::LocalSpace || Space == analysis::ConstantSpace)
    return true;
  const Value *Object = getUnderlyingObject(Pointer);
  if (auto *A = dyn_cast<Argument>(Object))
    return A->hasByValAttr();
  if (auto *GV = dyn_cast<GlobalVariable>(Object))
    return GV->getAddressSpace() == analysis::ConstantSpace;
  return isa<AllocaInst>(Object);
}

/// A constant RaceSite for \p I.
static Constant *siteFor(const Instruction &I, const MemoryOperand &Touches,
                         const KernelContext &C, Module &Out) {
  IRBuilder<> B(Out.getContext());
  auto Keep = [&](Constant *Data, const Twine &Name) {
    return new GlobalVariable(Out, Data->getType(), true,
                              GlobalValue::PrivateLinkage, Data, Name);
  };
  SmallVector<Constant *> Frames;
  for (const SourceLoc &Loc : analysis::sourceChain(userLocation(I)))
    if (Loc.Line)
      Frames.push_back(ConstantStruct::getAnon(
          {textConstant(Loc.File, Out), textConstant(Loc.Function, Out),
           B.getInt32(Loc.Line), B.getInt32(Loc.Column)}));
  Constant *Chain = ConstantPointerNull::get(B.getPtrTy());
  if (!Frames.empty())
    Chain = Keep(
        ConstantArray::get(
            ArrayType::get(Frames.front()->getType(), Frames.size()), Frames),
        "race.frames");
  const KnownObject Known = knownObject(Touches.Pointer, C);
  const bool InShared = Known.Space == ObjectSpace::Shared;
  const Ordering O = orderingOf(I);
  Constant *Fields[] = {Chain,
                        textConstant(InShared ? Known.Name : "", Out),
                        B.getInt64(Known.Offset),
                        B.getInt64(Known.Size),
                        B.getInt32(Frames.size()),
                        B.getInt32(Touches.Bytes),
                        B.getInt32(uint32_t(Touches.Kind)),
                        B.getInt32(O.Strong),
                        B.getInt32(O.Release),
                        B.getInt32(O.OfBlock)};
  return Keep(ConstantStruct::getAnon(Fields), "race.site");
}

/// What \p I stores, lane by lane as it will lie in memory; null if it is no
/// store, or has another form.
Value *RegionEmitter::storedValues(const Instruction &I) {
  auto *S = dyn_cast<StoreInst>(&I);
  if (!S)
    return nullptr;
  const DataLayout &DL = Out.getDataLayout();
  Type *T = laneType(S->getValueOperand()->getType());
  if (T->isAggregateType() || T->isIntegerTy(1) ||
      DL.getTypeStoreSize(T) != DL.getTypeAllocSize(T))
    return nullptr;
  const Lanes V = asVectors(get(S->getValueOperand()));
  if (!T->isVectorTy() && !T->isIntegerTy(WideBits))
    return spill(*V);
  IntegerType *Packed = packedType(T);
  if (!Packed)
    return nullptr;
  const bool Wide = Packed->getBitWidth() == WideBits;
  return spill(pack(V, T, Wide ? B.getInt32Ty() : Packed));
}

void RegionEmitter::emitRaces(Instruction &I) {
  Value *Lanes = B.CreateZExt(M, I64);
  auto Meet = [&](Value *Members) {
    B.CreateCall(helper("rcvm_race_meet", B.getVoidTy(), {PtrTy, I64, PtrTy}),
                 {Ctx, Lanes, spill(Members)});
  };
  if (isCollective(I))
    return Meet(vec(membersOf(cast<IntrinsicInst>(I))));
  if (auto *Call = dyn_cast<CallInst>(&I))
    if (const Function *F = Call->getCalledFunction();
        F && tileProduct(F->getName()))
      return Meet(Constant::getAllOnesValue(vectorOf(I32)));
  auto *Fence = dyn_cast<FenceInst>(&I);
  if (Fence ? Fence->getSyncScopeID() != SyncScope::SingleThread
            : analysis::intrinsicKind(I) == analysis::IntrinsicKind::Fence)
    B.CreateCall(helper("rcvm_race_fence", B.getVoidTy(), {PtrTy, I64}),
                 {Ctx, Lanes});

  const bool Folds = isa<LoadInst, StoreInst>(&I);
  Value *const None = ConstantPointerNull::get(B.getPtrTy());
  for (const MemoryOperand &A : memoryOperands(I, Out.getDataLayout())) {
    if (isPrivateOrConstant(A.Pointer))
      continue;
    // Loads and stores alone may have an address that is computed here only.
    Value *At = Folds ? pointers(address(A.Pointer, A.Bytes)) : vec(A.Pointer);
    Value *Lengths =
        A.Length ? spill(B.CreateZExtOrTrunc(vec(A.Length), vectorOf(I64)))
                 : None;
    Value *Values = storedValues(I);
    B.CreateCall(helper("rcvm_race_access", B.getVoidTy(),
                        {PtrTy, I64, PtrTy, PtrTy, PtrTy, PtrTy}),
                 {Ctx, Lanes, spill(B.CreatePtrToInt(At, vectorOf(I64))),
                  Lengths, Values ? Values : None, siteFor(I, A, C, Out)});
  }
}

} // namespace reconverge::warpvm
