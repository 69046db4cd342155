//===- warpvm/emit/Emitter.h - Vector code for one region -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_EMIT_EMITTER_H
#define RECONVERGE_WARPVM_EMIT_EMITTER_H

#include "analysis/Numbering.h"
#include "warpvm/Layout.h"
#include "warpvm/emit/EmitOptions.h"
#include "warpvm/emit/Frame.h"
#include "warpvm/emit/Regions.h"
#include "warpvm/prepare/Prepare.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/DemandedBits.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

#include <functional>

namespace reconverge::warpvm {

/// Everything that the regions of one function share.
/// Which bits of a function's values others ask for.
struct AskedBits {
  explicit AskedBits(llvm::Function &F)
      : Assumed(F), Tree(F), Of(F, Assumed, Tree) {}
  llvm::AssumptionCache Assumed;
  llvm::DominatorTree Tree;
  llvm::DemandedBits Of;
};

struct KernelContext {
  PreparedKernel &Kernel;
  const PreparedFunction &Function; ///< the kernel itself, or one it calls
  const RegionPlanner &Plan;
  const analysis::UniformityResult &Uniform;
  const FrameLayout &Frame;
  EmitOptions Options;
  llvm::DenseMap<uint32_t, unsigned> BlockPosition; ///< number -> position
  llvm::DenseMap<uint32_t, unsigned> BranchOffset;  ///< number -> counter
  llvm::DenseMap<uint32_t, unsigned> AccessPosition;
  unsigned SimpleAccesses; ///< KernelPlan's, among the counters
  /// Blocks that can run while other lanes wait at a return.
  llvm::DenseSet<const llvm::BasicBlock *> AfterExit;
  std::unique_ptr<AskedBits> Asked; ///< where writes are followed

  bool isKernel() const { return Function.F == Kernel.F; }
};

/// A value over the lanes: a scalar that holds for all active ones, or vectors
/// of WarpSize elements. Aggregates have a part for each scalar leaf.
struct Lanes {
  bool Uniform = false;
  llvm::SmallVector<llvm::Value *, 1> Parts;
  llvm::Value *operator*() const {
    assert(Parts.size() == 1 && "an aggregate has no single part");
    return Parts.front();
  }
};

/// Neighbours whose accesses are one vector access, or one scalar.
inline constexpr unsigned SegmentLanes = 16;
/// Bits of the widest access that a GPU makes whole.
inline constexpr unsigned WideBits = 128;

/// A memory operand: uniform base plus an optional index a lane, or (no base)
/// a pointer a lane.
struct Address {
  llvm::Value *Base = nullptr;     ///< scalar ptr
  llvm::Value *Index = nullptr;    ///< <W x i32> or <W x i64>, signed
  uint64_t Scale = 1;              ///< bytes an index step: 1, 2, 4 or 8
  llvm::Value *Pointers = nullptr; ///< <W x ptr>
  /// Likely step from a thread to the next along a row, bytes (Stride.h).
  std::optional<int64_t> Stride;
  bool isUniform() const { return Base && !Index; }
  bool stepsEvenly(uint64_t Bytes) const {
    return Stride == int64_t(Bytes) && (!Index || Bytes % Scale == 0);
  }
};

/// What redux.sync does: as the library knows it, on vectors, and the number
/// that idle lanes bring.
struct ReductionKind {
  Reduction Operation;
  llvm::Intrinsic::ID OnVectors;
  uint32_t Neutral;
};

/// One operand of an instruction through which it touches memory.
struct MemoryOperand {
  const llvm::Value *Pointer;
  AccessKind Kind;
  uint64_t Bytes = 0;
  uint64_t Alignment = 1;
  const llvm::Value *Length = nullptr; ///< of a block copy, instead of Bytes
};

class RegionEmitter {
public:
  RegionEmitter(KernelContext &C, unsigned RegionIndex, llvm::Module &Out);
  llvm::Expected<llvm::Function *> run();

private:
  // EmitControl.cpp: the function's frame, masks, PHIs, counters.
  void begin();
  llvm::Error emitBlocks();
  llvm::Error emitBody(llvm::BasicBlock *BB);
  void emitTerminator(llvm::BasicBlock *BB);
  void emitEdge(llvm::BasicBlock *From, llvm::BasicBlock *To, llvm::Value *EM);
  void countBlock(llvm::BasicBlock *BB);
  void countBranch(llvm::BasicBlock *BB,
                   llvm::ArrayRef<llvm::Value *> EdgeMasks);
  void finish();
  bool fallsInto(llvm::BasicBlock *From, llvm::BasicBlock *To) const;
  bool needsBlend(llvm::BasicBlock *From, llvm::BasicBlock *To) const;

  // EmitValues.cpp
  Lanes get(const llvm::Value *V);
  llvm::Value *vec(const llvm::Value *V); ///< one part, as a vector
  llvm::Value *scalar(const llvm::Value *V);
  Lanes constant(const llvm::Constant *C);
  void define(const llvm::Instruction *I, Lanes L);
  Lanes asVectors(Lanes L);
  Lanes asDeclared(const llvm::Value *V, Lanes L);
  llvm::AllocaInst *variable(const llvm::Value *V, unsigned Part);
  llvm::Value *loadFrame(const llvm::Value *V, unsigned Part);
  void storeFrame(const llvm::Value *V, unsigned Part, llvm::Value *X,
                  llvm::Value *Active);
  llvm::Value *loadLanesAt(llvm::Value *P, llvm::Type *T);
  void storeLanesAt(llvm::Value *P, llvm::Value *X, llvm::Value *Active);
  llvm::Value *splat(llvm::Value *X);
  llvm::Type *vectorOf(llvm::Type *T);
  llvm::Type *laneType(llvm::Type *T); ///< pointers lose their address space
  llvm::Value *maskVector(llvm::Value *M); ///< iW -> <W x i1>
  llvm::Value *maskBits(llvm::Value *V);   ///< <W x i1> -> iW, poison frozen
  llvm::Value *laneIds(llvm::Type *Element);
  llvm::Value *localAddress(const llvm::AllocaInst &A);
  llvm::Value *threadId(const llvm::IntrinsicInst &I);
  llvm::Value *contextField(size_t Offset, llvm::Type *T);
  llvm::Error refuse(const llvm::Instruction &I, const llvm::Twine &What);

  // EmitArithmetic.cpp
  /// An instruction's operands: scalars if all are, else vectors.
  struct Operands {
    bool Uniform = true;
    llvm::SmallVector<Lanes, 4> Each;
  };
  llvm::Error emitInstruction(llvm::Instruction &I);
  llvm::Error emitPlain(llvm::Instruction &I);
  bool emitPart(llvm::Instruction &I);
  llvm::Value *operand(const Operands &O, unsigned J);
  Lanes emitSelect(llvm::SelectInst &I, const Operands &O);
  llvm::Value *emitBinary(llvm::BinaryOperator &I, const Operands &O);
  llvm::Value *emitCast(llvm::CastInst &I, llvm::Value *X, bool Uniform);
  llvm::Value *emitDivision(unsigned Opcode, llvm::Value *A, llvm::Value *B,
                            const llvm::Value *Divisor);
  llvm::Value *emitGep(const llvm::GEPOperator &G);

  // EmitMemory.cpp
  Address address(const llvm::Value *Pointer, uint64_t AccessBytes);
  llvm::Value *pointers(const Address &A);
  llvm::Error emitLoad(llvm::LoadInst &I);
  llvm::Error emitStore(llvm::StoreInst &I);
  Lanes loadLanes(const Address &A, llvm::Type *T, llvm::Align Al,
                  bool Volatile);
  llvm::Value *gatherNarrow(const Address &A, llvm::Type *T);
  llvm::Value *stepsBy(const Address &A, uint64_t Bytes);
  llvm::Value *segmentPointer(const Address &A, unsigned Segment);
  llvm::Value *segmentMask(unsigned Segment);
  llvm::Value *loadSegments(const Address &A, llvm::Type *T, llvm::Align Al,
                            bool Same);
  void storeSegments(const Address &A, llvm::Value *X, llvm::Align Al);
  llvm::Value *either(llvm::Value *Condition,
                      llvm::function_ref<llvm::Value *()> Fast,
                      llvm::function_ref<llvm::Value *()> Slow);
  void storeLanes(const Address &A, Lanes V, llvm::Type *T, llvm::Align Al,
                  bool Volatile);
  void compilerFence();

  // EmitLanes.cpp
  void forEachLane(llvm::function_ref<void(llvm::Value *Lane)> Body);
  llvm::Value *spill(llvm::Value *Vector);    ///< to an array that lanes index
  llvm::Value *spilled(const llvm::Value *V); ///< null if uniform
  llvm::Value *inLane(const llvm::Value *V, llvm::Value *Array,
                      llvm::Value *Lane);
  llvm::Value *lanePart(llvm::Value *Array, llvm::Type *T, llvm::Value *Lane);
  void emitMemIntrinsic(llvm::MemIntrinsic &I);

  // EmitWide.cpp
  /// A lane's value of \p T (a vector, or 128 bits) in memory as one integer;
  /// null if an access of it has no such form.
  llvm::IntegerType *packedType(llvm::Type *T) const;
  Lanes takeApart(llvm::Value *Packed, llvm::Type *T, bool Uniform);
  llvm::Value *pack(const Lanes &L, llvm::Type *T, llvm::IntegerType *Unit);
  llvm::Value *allStepWide(const Address &A);
  llvm::LoadInst *loadWhole(llvm::Value *At, llvm::Align Al, bool Ordered);
  void storeWhole(llvm::Value *X, llvm::Value *At, llvm::Align Al,
                  bool Ordered);
  llvm::Value *loadWide(const Address &A, llvm::Align Al, bool Ordered);
  void storeWide(const Address &A, llvm::Value *Packed, llvm::Align Al,
                 bool Ordered);

  // EmitImages.cpp
  bool emitImage(llvm::CallInst &I); ///< false if it is none
  // EmitCluster.cpp
  llvm::Value *clusterBase();
  void emitSpaceTest(llvm::IntrinsicInst &I);
  bool emitClusterCall(llvm::IntrinsicInst &I); ///< false if it is none

  // EmitAtomics.cpp
  llvm::Error emitAtomic(llvm::Instruction &I);

  // EmitHerd.cpp
  llvm::Value *herded(const llvm::BasicBlock &BB, llvm::Value *First);
  bool isHerded(const llvm::Instruction &I) const;
  Address loadAddress(const llvm::LoadInst &I, uint64_t Bytes);

  // EmitCheck.cpp
  void emitChecks(llvm::Instruction &I);
  /// Constant data that tells a library call where \p I is in the source.
  llvm::Constant *faultSite(const llvm::Instruction &I,
                            const MemoryOperand *Touches = nullptr,
                            ReadUse Use = ReadUse::Value,
                            llvm::StringRef What = "");

  // EmitNotes.cpp
  uint32_t askedBytes(const llvm::Instruction &I) const;
  void emitWrites(llvm::Instruction &I);
  void emitBirth(const llvm::LifetimeIntrinsic &I);
  void emitAgreement(llvm::IntrinsicInst &I);

  // EmitAccesses.cpp
  void emitAccessCounts(llvm::Instruction &I);
  void countSimple(unsigned Position);
  llvm::Value *liesInBanks(const Address &A);

  // EmitRaces.cpp
  void emitRaces(llvm::Instruction &I);
  llvm::Value *storedValues(const llvm::Instruction &I);

  // EmitCalls.cpp
  llvm::FunctionCallee helper(llvm::StringRef Name, llvm::Type *Result,
                              llvm::ArrayRef<llvm::Type *> Arguments);
  llvm::Error emitCall(llvm::CallInst &I);
  void emitCallSite(llvm::CallInst &I);
  void emitReturn(llvm::ReturnInst &I);
  void emitResult(llvm::CallInst &I, const llvm::CallBase &Call);
  Lanes argument(const llvm::Argument &A);
  void emitLaneCalls(llvm::CallInst &I, llvm::StringRef Symbol);
  llvm::Error emitLibraryCall(llvm::CallInst &I, llvm::StringRef Name);

  // EmitRegisters.cpp, EmitMath.cpp; false if it is none
  bool emitSpecialRegister(llvm::IntrinsicInst &I);
  bool emitMath(llvm::IntrinsicInst &I);

  // EmitCollectives.cpp
  bool emitCollective(llvm::IntrinsicInst &I); ///< false if it is none
  void emitShuffle(llvm::IntrinsicInst &I);
  void
  emitVote(llvm::IntrinsicInst &I,
           llvm::function_ref<llvm::Value *(llvm::Value *, llvm::Value *)> Of);
  void emitReduction(llvm::IntrinsicInst &I, const ReductionKind &Kind);
  void emitMatch(llvm::IntrinsicInst &I);
  void
  definePerGroup(llvm::IntrinsicInst &I,
                 llvm::function_ref<llvm::Value *(unsigned, llvm::Value *)> Of);
  llvm::Value *inSecondGroup();
  llvm::Value *groupBits(llvm::Value *Bits, unsigned G);
  llvm::Value *ownGroupBits(llvm::Value *Bits);
  void emitBarrier(llvm::IntrinsicInst &I);
  void emitTileProduct(llvm::CallInst &I, uint64_t Form);

  KernelContext &C;
  const Region &R;
  unsigned RegionIndex, W;
  llvm::Module &Out;
  llvm::IRBuilder<> B;
  llvm::IntegerType *MaskTy;
  llvm::Type *PtrTy, *I32, *I64;

  llvm::Function *Fn = nullptr;
  llvm::Value *FramePtr = nullptr, *ScalarPtr = nullptr, *Ctx = nullptr,
              *OutPtr = nullptr, *ActiveArg = nullptr;
  llvm::BasicBlock *EntryBB = nullptr;
  llvm::Instruction *EntryEnd = nullptr; ///< entry-block code goes before it
  llvm::Value *M = nullptr;              ///< mask of the body being emitted

  llvm::DenseMap<const llvm::Value *, Lanes> Local;    ///< this body's values
  llvm::DenseMap<const llvm::Value *, Lanes> Incoming; ///< loaded on entry
  llvm::DenseMap<std::pair<const llvm::Value *, unsigned>, llvm::AllocaInst *>
      Variables;
  llvm::DenseMap<std::pair<size_t, llvm::Type *>, llvm::Value *> Fields;
  llvm::DenseMap<const llvm::BasicBlock *, llvm::AllocaInst *> InMask;
  /// Of the load that is being emitted, if it is herded: where lanes are sent.
  std::pair<const llvm::LoadInst *, Address> HerdedTo = {};
  llvm::AllocaInst *SplitSeen = nullptr; ///< i1: a branch sent lanes apart
  llvm::SmallVector<llvm::AllocaInst *> OutMasks; ///< parallel to R.Targets
};

/// Whether \p P points into shared memory for certain.
bool isShared(const llvm::Value *P);

// EmitCheck.cpp
llvm::SmallVector<MemoryOperand, 2> memoryOperands(const llvm::Instruction &I,
                                                   const llvm::DataLayout &DL);

// EmitNotes.cpp
/// What becomes of what \p I reads.
ReadUse useOf(const llvm::Instruction &I);

/// The variable that a pointer is known to point into, whatever its value.
struct KnownObject {
  ObjectSpace Space = ObjectSpace::Unknown;
  std::string Name;              ///< as in the source
  uint64_t Offset = 0, Size = 0; ///< within its space, bytes
};
KnownObject knownObject(const llvm::Value *Pointer, const KernelContext &C);

/// A constant string.
llvm::Constant *textConstant(llvm::StringRef Text, llvm::Module &Out);

/// The scalar leaves of \p T, in order.
llvm::SmallVector<llvm::Type *, 2> leavesOf(llvm::Type *T);

} // namespace reconverge::warpvm

#endif
