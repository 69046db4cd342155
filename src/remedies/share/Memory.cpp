//===- remedies/share/Memory.cpp - Whether iterations meet ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Iterations of different threads are in no order as it is. So only those of one
// thread are looked at: two accesses of which one writes may not meet in
// different iterations. They do not, if
//
//   - they are to different objects or kinds of memory, or of types that never
//     meet, in whatever iterations;
//   - or their addresses move by the same step s in each iteration, the second
//     c bytes from the first, and no m but 0 has c + s * m within the accesses'
//     widths;
//   - or both write the same value, which no iteration changes;
//   - or both are atomic, and do the same that may be done in any order.
//
// A pointer that is read from memory may lead to the thread's own memory only if
// the address of some array of its own gets out of sight.
//
//===----------------------------------------------------------------------===//

#include "remedies/share/Memory.h"

#include "analysis/device/AddressSpace.h"
#include "analysis/device/Intrinsics.h"
#include "remedies/share/Refusals.h"

#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace reconverge::remedies::share {

using analysis::IntrinsicKind;

namespace {

struct MemoryAccess {
  Instruction *At;
  Value *Pointer;
  AAMDNodes Tags;
  uint64_t Bytes;
  bool Writes;
};

class Iterations {
public:
  Iterations(const Loop &L, AAResults &Aliases, ScalarEvolution &SE,
             const ShareOptions &Options)
      : L(L), F(*L.getHeader()->getParent()), Aliases(Aliases), SE(SE),
        Options(Options) {}
  std::optional<Refusal> tied();

private:
  std::optional<Refusal> add(Instruction &I);
  std::optional<Refusal> addCall(CallBase &Call);
  std::optional<Refusal> addAccess(Instruction &I, Value *Pointer, Type *T,
                                   bool Writes);
  bool mayBeOwn(const Value *Pointer, bool Writes);
  bool mayMeet(const MemoryAccess &A, const MemoryAccess &B);
  bool neverMeetByStep(const MemoryAccess &A, const MemoryAccess &B);

  const Loop &L;
  const Function &F;
  AAResults &Aliases;
  ScalarEvolution &SE;
  const ShareOptions &Options;
  SmallVector<MemoryAccess> All;
  std::optional<bool> OwnEscapes; ///< the address of an array of the thread's
};

} // namespace

/// The memory that \p Object is in; GenericSpace: anywhere.
static unsigned spaceOf(const Value *Object) {
  const unsigned Space = Object->getType()->getPointerAddressSpace();
  const auto *Given = dyn_cast<Argument>(Object);
  if (Space == analysis::GenericSpace && Given && !Given->hasByValAttr())
    return analysis::GlobalSpace; // what a kernel is given a pointer to
  return Space;
}

bool Iterations::mayBeOwn(const Value *Pointer, bool Writes) {
  SmallVector<const Value *> Objects;
  getUnderlyingObjects(Pointer, Objects, nullptr, 0);
  return any_of(Objects, [&](const Value *Object) {
    if (const auto *Given = dyn_cast<Argument>(Object))
      return Given->hasByValAttr() && (Writes || !Given->onlyReadsMemory());
    if (isa<AllocaInst>(Object) || spaceOf(Object) == analysis::LocalSpace)
      return true;
    if (spaceOf(Object) != analysis::GenericSpace || isa<Constant>(Object))
      return false;
    if (!OwnEscapes)
      OwnEscapes = any_of(instructions(F), [](const Instruction &I) {
        return isa<AllocaInst>(I) &&
               PointerMayBeCaptured(&I, /*ReturnCaptures=*/true,
                                    /*StoreCaptures=*/true);
      });
    return *OwnEscapes;
  });
}

std::optional<Refusal> Iterations::addAccess(Instruction &I, Value *Pointer,
                                             Type *T, bool Writes) {
  if (mayBeOwn(Pointer, Writes))
    return refusal(refuse::Local, I);
  if (!Writes && I.hasMetadata(LLVMContext::MD_invariant_load))
    return std::nullopt;
  AAMDNodes Tags = I.getAAMetadata();
  Tags.Scope = Tags.NoAlias = nullptr; // may be about one iteration alone
  All.push_back({&I, Pointer, Tags,
                 F.getDataLayout().getTypeStoreSize(T).getFixedValue(),
                 Writes});
  return std::nullopt;
}

std::optional<Refusal> Iterations::addCall(CallBase &Call) {
  switch (analysis::intrinsicKind(Call)) {
  case IntrinsicKind::ThreadIndex:
  case IntrinsicKind::LaneId:
  case IntrinsicKind::LaneMask:
  case IntrinsicKind::WarpId:
  case IntrinsicKind::ActiveMask:
  case IntrinsicKind::SmId:
  case IntrinsicKind::Clock:
  case IntrinsicKind::Environment:
    return refusal(refuse::Lane, Call);
  case IntrinsicKind::Exit:
    return refusal(refuse::Exits, Call);
  case IntrinsicKind::Atomic:
  case IntrinsicKind::Fence:
    return refusal(refuse::Atomic, Call);
  case IntrinsicKind::ReadOnlyLoad:
    return std::nullopt;
  default:
    break;
  }
  const auto *Known = dyn_cast<IntrinsicInst>(&Call);
  if (Known &&
      (Known->isAssumeLikeIntrinsic() ||
       Known->getIntrinsicID() == Intrinsic::experimental_noalias_scope_decl))
    return std::nullopt;
  if (Call.isInlineAsm())
    return refusal(refuse::Lane, Call, "assembly");
  if (Call.isConvergent() || Call.doesNotReturn()) {
    const Function *Callee = Call.getCalledFunction();
    return refusal(refuse::Together, Call,
                   Callee ? Callee->getName().str() : "");
  }
  if (Call.mayReadOrWriteMemory())
    return refusal(refuse::Order, Call, "a call");
  return std::nullopt;
}

/// Operations of which the order does not matter, if nobody sees what is between
/// them.
static bool commutes(AtomicRMWInst::BinOp Op) {
  switch (Op) {
  case AtomicRMWInst::Add:
  case AtomicRMWInst::Sub:
  case AtomicRMWInst::And:
  case AtomicRMWInst::Or:
  case AtomicRMWInst::Xor:
  case AtomicRMWInst::Max:
  case AtomicRMWInst::Min:
  case AtomicRMWInst::UMax:
  case AtomicRMWInst::UMin:
  case AtomicRMWInst::FMax:
  case AtomicRMWInst::FMin:
    return true;
  default:
    return false;
  }
}

std::optional<Refusal> Iterations::add(Instruction &I) {
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return Load->isSimple() ? addAccess(I, Load->getPointerOperand(),
                                        Load->getType(), /*Writes=*/false)
                            : refusal(refuse::Atomic, I);
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return Store->isSimple()
               ? addAccess(I, Store->getPointerOperand(),
                           Store->getValueOperand()->getType(), /*Writes=*/true)
               : refusal(refuse::Atomic, I);
  if (auto *Update = dyn_cast<AtomicRMWInst>(&I)) {
    const bool IsSum = Update->getOperation() == AtomicRMWInst::FAdd ||
                       Update->getOperation() == AtomicRMWInst::FSub;
    if (!Update->use_empty() || Update->isVolatile() ||
        (!IsSum && !commutes(Update->getOperation())))
      return refusal(refuse::Atomic, I);
    if (IsSum && !Options.Atomics)
      return refusal(refuse::Floats, I);
    return addAccess(I, Update->getPointerOperand(),
                     Update->getValOperand()->getType(), /*Writes=*/true);
  }
  if (auto *Call = dyn_cast<CallBase>(&I))
    return addCall(*Call);
  if (isa<AllocaInst>(I))
    return refusal(refuse::Local, I);
  if (I.mayReadOrWriteMemory())
    return refusal(refuse::Atomic, I);
  return std::nullopt;
}

bool Iterations::neverMeetByStep(const MemoryAccess &A, const MemoryAccess &B) {
  auto Along = [&](const MemoryAccess &Of) {
    const auto *Sum = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Of.Pointer));
    return Sum && Sum->getLoop() == &L && Sum->isAffine() ? Sum : nullptr;
  };
  const SCEVAddRecExpr *First = Along(A), *Second = Along(B);
  if (!First || !Second ||
      First->getStepRecurrence(SE) != Second->getStepRecurrence(SE))
    return false;
  const auto *Apart = dyn_cast<SCEVConstant>(
      SE.getMinusSCEV(Second->getStart(), First->getStart()));
  if (!Apart || !Apart->getAPInt().isSignedIntN(32))
    return false;
  const SCEV *Step = First->getStepRecurrence(SE);
  const int64_t C = Apart->getAPInt().getSExtValue();
  const int64_t Least = -int64_t(B.Bytes), Most = int64_t(A.Bytes);
  const auto *Fixed = dyn_cast<SCEVConstant>(Step);
  if (!Fixed) // any step that leaps over both
    return C == 0 &&
           SE.getUnsignedRangeMin(Step).uge(std::max(A.Bytes, B.Bytes)) &&
           SE.isKnownPositive(Step);
  if (!Fixed->getAPInt().isSignedIntN(32) || Fixed->getAPInt().isZero())
    return false;
  const int64_t S = Fixed->getAPInt().getSExtValue();
  // Beyond these m, c + s * m is too far off.
  const int64_t Reach =
      (std::max(A.Bytes, B.Bytes) + std::abs(C)) / std::abs(S);
  if (Reach > 1000)
    return false;
  for (int64_t M = -Reach - 1; M <= Reach + 1; ++M)
    if (M && Least < C + S * M && C + S * M < Most)
      return false;
  return true;
}

bool Iterations::mayMeet(const MemoryAccess &A, const MemoryAccess &B) {
  const auto *One = dyn_cast<AtomicRMWInst>(A.At);
  const auto *Other = dyn_cast<AtomicRMWInst>(B.At);
  if (One && Other && One->getOperation() == Other->getOperation() &&
      One->getType() == Other->getType())
    return false;
  const Value *ObjectA = getUnderlyingObject(A.Pointer, 0);
  const Value *ObjectB = getUnderlyingObject(B.Pointer, 0);
  const unsigned SpaceA = spaceOf(ObjectA), SpaceB = spaceOf(ObjectB);
  if (SpaceA != SpaceB && SpaceA != analysis::GenericSpace &&
      SpaceB != analysis::GenericSpace)
    return false;
  if (Aliases.isNoAlias(MemoryLocation::getBeforeOrAfter(ObjectA, A.Tags),
                        MemoryLocation::getBeforeOrAfter(ObjectB, B.Tags)))
    return false;
  const auto *Store = dyn_cast<StoreInst>(A.At);
  const auto *Second = dyn_cast<StoreInst>(B.At);
  if (Store && Second &&
      Store->getValueOperand() == Second->getValueOperand() &&
      L.isLoopInvariant(Store->getValueOperand()) &&
      Store->getAlign().value() >= A.Bytes &&
      Second->getAlign().value() >= B.Bytes)
    return false;
  return !neverMeetByStep(A, B);
}

/// What an access is to, in words.
static std::string objectOf(const MemoryAccess &A) {
  const Value *Object = getUnderlyingObject(A.Pointer, 0);
  if (const auto *Given = dyn_cast<Argument>(Object))
    return "argument " + std::to_string(Given->getArgNo() + 1);
  return isa<GlobalVariable>(Object) ? Object->getName().str()
                                     : "a pointer that is computed";
}

std::optional<Refusal> Iterations::tied() {
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (auto Why = add(I))
        return Why;
  for (const MemoryAccess &A : All)
    if (A.Writes)
      for (const MemoryAccess &B : All)
        if (mayMeet(A, B))
          return refusal(refuse::Order, *A.At,
                         objectOf(A) + " and " + objectOf(B));
  return std::nullopt;
}

std::optional<Refusal> tiedInMemory(const Loop &L, AAResults &Aliases,
                                    ScalarEvolution &SE,
                                    const ShareOptions &Options) {
  return Iterations(L, Aliases, SE, Options).tied();
}

} // namespace reconverge::remedies::share
