//===- instrument/AccessProbes.cpp - Accesses to memory, counted ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Before each access stands code of ours. The lanes that run it together are
// the request:
//
//   if (on)
//     probe(address, area, index, activemask)        AccessCode.cpp
//
// One function counts all accesses of a space, use and width. ptxas takes
// several times as long where its code stands at each access instead, as it
// does
//
//   * in loops with atomic operations: where there is a call, ptxas gives such
//     a loop a YIELD that it would not have otherwise, and lanes of several
//     rounds could join there (CellUpdate.cpp). In no other loop, and not in
//     these functions, which have no `atom`;
//   * in functions that are called themselves: each level of a recursion would
//     keep more on the stack than StackLimit.cpp expects.
//
// A thread block that runs long would hold up the launch. So probes run in
// windows of 2^15 cycles: in the first of a thread, and then in one of 16:
//
//   they run |========|        |        | ...    |        |========|        |
//   clock    start    2^15                                16 * 2^15
//
// Lanes that come together read one clock, so they go one way; and once more at
// the next access, unless others can have joined them since, where ways meet or
// at a collective. What a block loads is known of blocks that end in the first
// window. A function that is called and not inlined begins anew at each call.
//
// Results stay as they are: probes write nothing of the program's. Convergence
// does too: the branch around a probe goes one way for all, a collective names
// the lanes that have come to this very place together, and nothing here makes
// ptxas let lanes go in turns.
//
//===----------------------------------------------------------------------===//

#include "instrument/AccessProbes.h"

#include "analysis/Accesses.h"
#include "analysis/device/AddressSpace.h"
#include "analysis/device/Annotations.h"
#include "instrument/AccessCode.h"
#include "instrument/Instrument.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <cstddef>

using namespace llvm;

namespace reconverge::instrument {

static constexpr unsigned WindowBits = 15;

/// Whether lanes of two calls could join in a function that \p F calls, or
/// rounds of a loop in \p F, which do not without calls: see above.
static bool repeatsAtomic(Function &F) {
  auto IsAtomic = [](const Instruction &I) {
    if (auto Access = analysis::accessOf(I))
      return Access->Use == MemoryUse::Atomic;
    // Of another's text all can be expected.
    auto *Call = dyn_cast<CallBase>(&I);
    auto *Asm = Call ? dyn_cast<InlineAsm>(Call->getCalledOperand()) : nullptr;
    StringRef Text = Asm ? Asm->getAsmString() : StringRef();
    return Text.contains("atom") || Text.contains("red.");
  };
  for (auto Part = scc_begin(&F); !Part.isAtEnd(); ++Part)
    if (Part.hasCycle())
      for (BasicBlock *BB : *Part)
        if (any_of(*BB, IsAtomic))
          return true;
  return false;
}

bool AccessProbes::mayCall(Function &F) {
  return analysis::isKernel(F) && !repeatsAtomic(F);
}

Function *AccessProbes::probe(const AccessShape &S) {
  // Sizes are far below 2^24.
  Function *&Known =
      Probes[S.Bytes << 4 | unsigned(S.Space) << 2 | unsigned(S.Use)];
  if (Known)
    return Known;
  LLVMContext &C = M.getContext();
  Type *I32 = Type::getInt32Ty(C), *I64 = Type::getInt64Ty(C);
  auto *F = Function::Create(
      FunctionType::get(Type::getVoidTy(C), {I64, I64, I32, I32}, false),
      GlobalValue::InternalLinkage,
      Twine("__reconverge_") + wordOf(S.Space) + "_" + wordOf(S.Use) + "_" +
          Twine(S.Bytes),
      M);
  Known = F; // code for a generic address adds more to the map
  F->addFnAttr(Attribute::Convergent);
  F->addFnAttr(Attribute::NoUnwind);
  F->addFnAttr(Attribute::NoInline);
  emitAccessCode(*F, S, Portable, [&](MemorySpace Space) {
    return probe({Space, S.Use, S.Bytes});
  });
  return F;
}

Value *AccessProbes::clock(IRBuilder<> &B) {
  return B.CreateIntrinsic(B.getInt32Ty(), Intrinsic::nvvm_read_ptx_sreg_clock,
                           {});
}

/// The number of the window that it is now, in its low 32 - WindowBits bits:
/// the start has no more of the clock. As 64 bits ptxas reads the clock in 6
/// cycles; as 32 bits in 34, by way of uniform registers.
Value *AccessProbes::windowOf(IRBuilder<> &B, const Thread &T) {
  Type *I64 = B.getInt64Ty();
  Value *Now =
      B.CreateIntrinsic(I64, Intrinsic::nvvm_read_ptx_sreg_clock64, {});
  Value *Since = B.CreateSub(Now, B.CreateZExt(T.Start, I64));
  return B.CreateTrunc(B.CreateLShr(Since, WindowBits), B.getInt32Ty());
}

Value *AccessProbes::idle(IRBuilder<> &B) {
  return B.CreateLoad(B.getInt32Ty(), B.CreateConstInBoundsGEP1_64(
                                          B.getInt8Ty(), &Config,
                                          offsetof(ProbeConfig, MemoryIdle)));
}

/// Whether lanes can come to \p I one by one and go on together.
static bool canJoin(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || !Call->isConvergent() ||
      Call->getIntrinsicID() == Intrinsic::nvvm_activemask)
    return false;
  auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand()); // Instrument.cpp's
  return !Asm || !StringRef(Asm->getAsmString()).contains("activemask");
}

/// Whether probes run, as the lanes that come to \p I have asked together
/// before; null: they cannot be known to.
static Value *askedBefore(const Instruction &I, const AccessProbes::Thread &T) {
  const Instruction *At = I.getPrevNode();
  SmallPtrSet<const BasicBlock *, 8> Seen;
  for (const BasicBlock *BB = I.getParent(); BB && Seen.insert(BB).second;
       BB = BB->getSinglePredecessor(), At = BB ? &BB->back() : nullptr) {
    for (; At; At = At->getPrevNode())
      if (canJoin(*At))
        return nullptr;
    if (Value *WasOn = T.WasOn.lookup(BB))
      return WasOn;
  }
  return nullptr;
}

void AccessProbes::insert(Instruction &I, Thread &T, unsigned Index,
                          bool Calls) {
  auto Access = analysis::accessOf(I);
  if (!Access)
    return; // a number that outlived its access
  IRBuilder<> B(&I);
  // No line: a probe is no code of the user's.
  B.SetCurrentDebugLocation(DebugLoc());
  Value *IsOn = askedBefore(I, T);
  if (!IsOn)
    IsOn = B.CreateIsNull(B.CreateAnd(windowOf(B, T), idle(B)));
  B.SetInsertPoint(SplitBlockAndInsertIfThen(IsOn, &I, false));
  B.SetCurrentDebugLocation(DebugLoc());
  T.WasOn[I.getParent()] = IsOn;
  auto *Pointer = const_cast<Value *>(Access->Pointer);
  Value *Mask =
      B.CreateIntrinsic(B.getInt32Ty(), Intrinsic::nvvm_activemask, {});
  // The code of the access computes 32 bits of an address in shared memory.
  const bool IsShort =
      !Portable &&
      Pointer->getType()->getPointerAddressSpace() == analysis::SharedSpace;
  Value *Address =
      B.CreatePtrToInt(Pointer, IsShort ? B.getInt32Ty() : B.getInt64Ty());
  CallInst *Call = B.CreateCall(
      probe({Access->Space, Access->Use, Access->Bytes}),
      {B.CreateZExt(Address, B.getInt64Ty()), T.Area, B.getInt32(Index), Mask});
  if (!Calls)
    putInPlace(Call);
}

AccessProbes::~AccessProbes() {
  for (auto &[Key, Probe] : Probes)
    if (Probe->use_empty())
      Probe->eraseFromParent();
}

void AccessProbes::insertAtExit(Instruction &I, const Thread &T) {
  IRBuilder<> B(&I);
  B.SetCurrentDebugLocation(DebugLoc());
  // Of a start's high half windowOf() knows nothing.
  Value *Low = B.CreateAnd(windowOf(B, T), (1u << (32 - WindowBits)) - 1);
  Value *IsLater =
      B.CreateAnd(B.CreateIsNotNull(Low), B.CreateIsNotNull(idle(B)));
  B.SetInsertPoint(SplitBlockAndInsertIfThen(IsLater, &I, false));
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Area = B.CreateIntToPtr(T.Area, B.getPtrTy(analysis::GlobalSpace));
  Type *I64 = B.getInt64Ty();
  B.CreateStore(B.getInt64(1),
                B.CreateConstInBoundsGEP1_64(I64, Area, SketchCells));
}

} // namespace reconverge::instrument
