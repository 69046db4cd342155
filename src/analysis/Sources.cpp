//===- analysis/Sources.cpp - Where uniformity begins ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// | source                                     | level                        |
// | ------------------------------------------ | ---------------------------- |
// | constants, kernel arguments, sizes of grid | Grid                         |
// |   and block, grid id, warp size            |                              |
// | block index, cluster index, SM id, address | Block                        |
// |   of shared memory, barrier reductions     |                              |
// | warp id                                    | Warp                         |
// | threadIdx.x, lane id                       | Affine, stride 1             |
// | threadIdx.y and .z, lane masks             | Divergent (thread id)        |
// | votes, ballots, match.all, reductions over | Warp; Divergent (shuffle)    |
// |   a warp, activemask                       |   without UniformLoads       |
// | shuffles, match.any                        | Divergent (shuffle)          |
// | atomics                                    | Divergent (atomic)           |
// | clocks, counters                           | Divergent (clock)            |
// | addresses of local variables               | Divergent (local memory)     |
// | arguments of device functions              | Divergent (argument)         |
// | inline assembly                            | Divergent (inline assembly)  |
// | mathematics: LLVM's and NVVM's intrinsics  | that of the operands         |
// |   without memory, libdevice (__nv_*)       |                              |
// | any other call                             | Divergent (call)             |
//
// threadIdx.y and .z are not Affine: how they vary over a warp depends on the
// shape of the block. A warp's votes are the same for all lanes that vote in
// one instruction, but lanes of a warp that run it apart see different results,
// hence Divergent for an executor that may do so.
//
// A load is as uniform as its address if nothing writes the memory while the
// kernel runs: constant and parameter memory, constant globals, loads marked
// !invariant.load, ld.global.nc (ldg) and ldu, a by-value parameter that the
// kernel only reads, and what a kernel reads through a pointer argument that is
// noalias and readonly (`const T *__restrict__`), which is what lets nvcc and
// LLVM use ld.global.nc. With UniformLoads, a load of other memory through a
// uniform address is Warp: another warp may read it at another time.
//
// By-value parameters are the caller's copy for each thread. One that the
// kernel writes, or whose address escapes, is local memory.
//
//===----------------------------------------------------------------------===//

#include "analysis/Sources.h"
#include "analysis/device/AddressSpace.h"
#include "analysis/device/Annotations.h"
#include "analysis/device/Intrinsics.h"
#include "analysis/device/LibraryCalls.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::analysis {

static Uniformity divergent(Cause Why) { return {Level::Divergent, Why, {}}; }

/// Every use of the address \p V only reads through it, and none lets it out.
static bool onlyRead(const Value &V, unsigned Depth = 0) {
  if (Depth > 16)
    return false;
  return all_of(V.uses(), [&](const Use &U) {
    const auto *I = dyn_cast<Instruction>(U.getUser());
    if (!I)
      return false;
    switch (I->getOpcode()) {
    case Instruction::Load:
      return true;
    case Instruction::GetElementPtr:
    case Instruction::BitCast:
    case Instruction::AddrSpaceCast:
      return onlyRead(*I, Depth + 1);
    case Instruction::Call: {
      if (const auto *Copy = dyn_cast<MemTransferInst>(I))
        return &U == &Copy->getRawSourceUse();
      const auto *Marker = dyn_cast<IntrinsicInst>(I);
      return Marker && Marker->isAssumeLikeIntrinsic();
    }
    default:
      return false;
    }
  });
}

/// A by-value parameter whose contents stay what the launch passed.
static bool isReadOnlyByVal(const Argument &A) {
  return A.hasByValAttr() && (A.onlyReadsMemory() || onlyRead(A));
}

Uniformity argumentLevel(const Argument &A) {
  if (!isKernel(*A.getParent()))
    return divergent(Cause::Argument);
  if (A.hasByValAttr() && !isReadOnlyByVal(A))
    return divergent(Cause::Local);
  return {};
}

static Uniformity constantLevel(const Constant &C, unsigned Depth) {
  if (const auto *G = dyn_cast<GlobalValue>(&C)) {
    if (G->isThreadLocal())
      return divergent(Cause::Local);
    switch (G->getAddressSpace()) {
    case SharedSpace:
      return {Level::Block, Cause::None, {}};
    case LocalSpace:
      return divergent(Cause::Local);
    default:
      return {};
    }
  }
  if (isa<ConstantData>(C) || isa<BlockAddress>(C))
    return {};
  if (Depth > 64)
    return divergent(Cause::Local);
  Uniformity Result;
  for (const Use &Operand : C.operands())
    if (const auto *Part = dyn_cast<Constant>(Operand))
      if (auto U = constantLevel(*Part, Depth + 1); U.L > Result.L)
        Result = U;
  return Result;
}

Uniformity constantLevel(const Constant &C) { return constantLevel(C, 0); }

/// Nothing writes what lies behind \p Object while a kernel runs.
static bool isInvariantMemory(const Value &Object) {
  if (const auto *G = dyn_cast<GlobalVariable>(&Object))
    return G->isConstant() || G->getAddressSpace() == ConstantSpace;
  if (const auto *A = dyn_cast<Argument>(&Object)) {
    if (!isKernel(*A->getParent()))
      return false;
    if (A->hasByValAttr())
      return isReadOnlyByVal(*A);
    return A->hasNoAliasAttr() && A->onlyReadsMemory();
  }
  return false;
}

bool isInvariantLoad(const LoadInst &Load) {
  if (!Load.isSimple())
    return false;
  if (Load.hasMetadata(LLVMContext::MD_invariant_load) ||
      Load.getPointerAddressSpace() == ConstantSpace ||
      Load.getPointerAddressSpace() == ParameterSpace)
    return true;
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(Load.getPointerOperand(), Objects);
  return !Objects.empty() &&
         all_of(Objects, [](const Value *V) { return isInvariantMemory(*V); });
}

static CallLevel fixed(Level L) {
  return {CallRule::Fixed, {L, Cause::None, {}}};
}
static CallLevel fixed(Cause Why) { return {CallRule::Fixed, divergent(Why)}; }

static CallLevel intrinsicLevel(const IntrinsicInst &I,
                                const UniformityOptions &Options) {
  switch (kindOf(I.getIntrinsicID())) {
  case IntrinsicKind::ThreadIndex:
    if (threadIndexDimension(I.getIntrinsicID()) != 0)
      return fixed(Cause::ThreadId);
    [[fallthrough]];
  case IntrinsicKind::LaneId:
    return {CallRule::Fixed, {Level::Affine, Cause::ThreadId, 1}};
  case IntrinsicKind::LaneMask:
    return fixed(Cause::ThreadId);
  case IntrinsicKind::WarpId:
    return fixed(Level::Warp);
  case IntrinsicKind::BlockIndex:
  case IntrinsicKind::SmId:
    return fixed(Level::Block);
  case IntrinsicKind::LaunchSize:
    return fixed(Level::Grid);
  case IntrinsicKind::Clock:
  case IntrinsicKind::Environment:
    return fixed(Cause::Clock);
  case IntrinsicKind::Vote:
  case IntrinsicKind::MatchAll:
  case IntrinsicKind::Reduction:
  case IntrinsicKind::ActiveMask:
    return Options.UniformLoads && Options.SameIteration
               ? fixed(Level::Warp)
               : fixed(Cause::Shuffle);
  case IntrinsicKind::MatchAny:
  case IntrinsicKind::Shuffle:
  case IntrinsicKind::Tile:
    return fixed(Cause::Shuffle);
  case IntrinsicKind::BlockBarrier:
    if (I.getType()->isVoidTy())
      break;
    return Options.SameIteration ? fixed(Level::Block) : fixed(Cause::Sync);
  case IntrinsicKind::ReadOnlyLoad:
    return {CallRule::ReadOnly, {}};
  case IntrinsicKind::Atomic:
    return fixed(Cause::Atomic);
  case IntrinsicKind::AddressCast:
    return {CallRule::Value, {}};
  default:
    break;
  }
  switch (I.getIntrinsicID()) {
  case Intrinsic::nvvm_move_i16:
  case Intrinsic::nvvm_move_i32:
  case Intrinsic::nvvm_move_i64:
  case Intrinsic::nvvm_move_ptr:
  case Intrinsic::ssa_copy:
  case Intrinsic::expect:
  case Intrinsic::launder_invariant_group:
  case Intrinsic::strip_invariant_group:
  case Intrinsic::annotation:
  case Intrinsic::ptr_annotation:
    return {CallRule::Value, {}};
  case Intrinsic::nvvm_reflect:
    return fixed(Level::Grid);
  case Intrinsic::threadlocal_address:
  case Intrinsic::frameaddress:
  case Intrinsic::returnaddress:
  case Intrinsic::addressofreturnaddress:
  case Intrinsic::sponentry:
  case Intrinsic::stacksave:
    return fixed(Cause::Local);
  default:
    break;
  }
  const bool Foreign =
      Function::isTargetIntrinsic(I.getIntrinsicID()) &&
      !Intrinsic::getBaseName(I.getIntrinsicID()).starts_with("llvm.nvvm.");
  if (!Foreign && I.doesNotAccessMemory() && !I.isConvergent())
    return {CallRule::Operands, {}};
  return fixed(I.doesNotAccessMemory() || !I.onlyReadsMemory() ? Cause::Call
                                                               : Cause::Load);
}

CallLevel callLevel(const CallBase &Call, const UniformityOptions &Options) {
  if (Call.isInlineAsm())
    return fixed(Cause::Asm);
  if (const auto *I = dyn_cast<IntrinsicInst>(&Call))
    return intrinsicLevel(*I, Options);
  if (const Function *F = Call.getCalledFunction()) {
    const LibraryCall Library = libraryCall(F);
    if (Library == LibraryCall::Reflect)
      return fixed(Level::Grid);
    if (Library == LibraryCall::Math)
      return {CallRule::Operands, {}};
    // A function of ours (PtxFunctions.h) that only computes.
    if (F->getName().starts_with("reconverge.") && F->doesNotAccessMemory() &&
        !F->isConvergent())
      return {CallRule::Operands, {}};
  }
  return fixed(Cause::Call);
}

} // namespace reconverge::analysis
