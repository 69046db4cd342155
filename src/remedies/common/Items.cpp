//===- remedies/common/Items.cpp - Threads as items -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which thread an item is, from its number; only what the kernel reads is
// computed, once, in front of all reads:
//
//   block  = item / (bx * by * bz)                 64 bits
//   thread = item - block * (bx * by * bz)         32 bits, modulo 2^32
//   if ((by | bz | gy | gz) == 1)                  the same for all threads
//     threadIdx = {thread, 0, 0}, blockIdx = {block, 0, 0}
//   else
//     threadIdx = {thread % bx, thread / bx % by, thread / bx / by}
//     row = block / gx                             64 bits, below 2^32
//     blockIdx = {block % gx, row % gy, row / gy}
//
//   head:   block, thread, is it flat?     the condition has only the sizes
//     |  \                                 that are needed (by and bz if only
//     |   grid: % and /                    threadIdx is read)
//     |  /
//   tail:   phis, then what stood at the builder's place
//
// Why right: the inverse of the number's definition (Items.h), digit by digit
// of a mixed radix. CUDA lets gridDim.y and z be at most 65535, so a row is
// below 2^32, and a block has at most 1024 threads; the number of a block is
// below 2^63. (by | bz | gy | gz) == 1 means that each is 1, for none is 0.
//
// A kernel that reads only blockDim and gridDim gets no code. becomeBlock() is
// the same without the first two lines: the block's number is given.
//
// What it costs: a GPU has no division. For sm_90, ptxas 13.0 emits 17
// instructions for a 32-bit division and 69 for a 64-bit division. LLVM's code
// for NVPTX asks first whether both operands fit in 32 bits, and takes the
// short one if so. A test here would gain nothing. Reciprocals computed by the
// host would be more parameters, and so more registers. The usual launch of one
// dimension has just one division: the branch around the others is uniform over
// the launch. Where the shape is known (reqntid), constants in LaunchValues
// fold.
//
// A loop over items that asks for y or z is of launches that have them: there a
// number of 32 bits is divided by gx and bx by a reciprocal that the entry
// computes and a register keeps, and the only branch is for z:
//
//   m = (2^32 - 1) / d
//   q = n * m / 2^32, r = n - q d;   if r >= d: q + 1, r - d
//
// Why right: (2^32 - 1 - m d) + 1 <= d, so n m / 2^32 lies below n / d by less
// than n / 2^32 < 1, and q is the quotient or one less.
//
// The numbers are those of a thread of the original launch, so flags that rest
// on the ranges of reads (nsw, nneg) stay true. No range attribute or
// metadata is added to the new values.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Items.h"

#include "analysis/device/Intrinsics.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using PatternMatch::m_Zero;
using PatternMatch::match;

namespace reconverge::remedies {

using Numbers = std::array<Value *, 3>; ///< x, y, z; null: nobody asks

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

LaunchValues launchFromParameters(Function &Kernel, unsigned First) {
  LaunchValues Launch;
  for (unsigned D : {0u, 1u, 2u}) {
    Launch.Grid[D] = Kernel.getArg(First + D);
    Launch.Block[D] = Kernel.getArg(First + 3 + D);
  }
  return Launch;
}

static Numbers readAll(IRBuilderBase &B, std::array<Intrinsic::ID, 3> Ids) {
  Numbers Read;
  for (unsigned D : {0u, 1u, 2u})
    Read[D] = B.CreateIntrinsic(Ids[D], {}, {});
  return Read;
}

LaunchValues readLaunch(IRBuilderBase &B) {
  return {readAll(B, {Intrinsic::nvvm_read_ptx_sreg_nctaid_x,
                      Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
                      Intrinsic::nvvm_read_ptx_sreg_nctaid_z}),
          readAll(B, {Intrinsic::nvvm_read_ptx_sreg_ntid_x,
                      Intrinsic::nvvm_read_ptx_sreg_ntid_y,
                      Intrinsic::nvvm_read_ptx_sreg_ntid_z})};
}

static Value *wide(IRBuilderBase &B, Value *V) {
  return B.CreateZExt(V, B.getInt64Ty());
}

/// (z * sizes y + y) * sizes x + x, in bits of \p As.
static Value *linear(IRBuilderBase &B, const Numbers &Index,
                     const Numbers &Sizes, Type *As) {
  auto In = [&](Value *V) { return B.CreateZExt(V, As); };
  Value *Row =
      B.CreateAdd(B.CreateMul(In(Index[2]), In(Sizes[1])), In(Index[1]));
  return B.CreateAdd(B.CreateMul(Row, In(Sizes[0])), In(Index[0]));
}

static Value *threadsOf(IRBuilderBase &B, const LaunchValues &Of) {
  return B.CreateMul(B.CreateMul(Of.Block[0], Of.Block[1]), Of.Block[2]);
}

static Value *blockOf(IRBuilderBase &B, const LaunchValues &Here) {
  const Numbers Block = readAll(B, {Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                                    Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                    Intrinsic::nvvm_read_ptx_sreg_ctaid_z});
  return linear(B, Block, Here.Grid, B.getInt64Ty());
}

Value *readBlock(IRBuilderBase &B) { return blockOf(B, readLaunch(B)); }

Value *readItem(IRBuilderBase &B) {
  const LaunchValues Here = readLaunch(B);
  const Numbers Thread = readAll(B, {Intrinsic::nvvm_read_ptx_sreg_tid_x,
                                     Intrinsic::nvvm_read_ptx_sreg_tid_y,
                                     Intrinsic::nvvm_read_ptx_sreg_tid_z});
  Value *First = B.CreateMul(blockOf(B, Here), wide(B, threadsOf(B, Here)));
  return B.CreateAdd(First,
                     wide(B, linear(B, Thread, Here.Block, B.getInt32Ty())));
}

//===----------------------------------------------------------------------===//
// From an item to its numbers
//===----------------------------------------------------------------------===//

namespace {
/// A number to take apart, and what of it is asked for.
struct Place {
  Value *Number; ///< i32 or i64; null: nothing is asked for
  const Numbers &Sizes;
  std::array<bool, 3> Asked{};
  Numbers Index{};
  bool isAsked() const { return is_contained(Asked, true); }
};
} // namespace

static Intrinsic::ID idOf(const CallBase &Read) {
  return cast<IntrinsicInst>(Read).getIntrinsicID();
}

using DimensionOf = std::optional<unsigned>(Intrinsic::ID);

static std::array<bool, 3> askedFor(ArrayRef<CallBase *> Reads,
                                    DimensionOf Which) {
  std::array<bool, 3> Asked{};
  for (const CallBase *Read : Reads)
    if (auto D = Which(idOf(*Read)))
      Asked[*D] = true;
  return Asked;
}

static Value *narrow(IRBuilderBase &B, Value *V) {
  return B.CreateTrunc(V, B.getInt32Ty());
}

/// In a launch of one dimension.
static Numbers flatIndex(IRBuilderBase &B, const Place &Of) {
  return {Of.Asked[0] ? narrow(B, Of.Number) : nullptr, B.getInt32(0),
          B.getInt32(0)};
}

/// What \p B makes goes on having the place in the source that it has.
static void moveTo(IRBuilderBase &B, BasicBlock &BB, BasicBlock::iterator At) {
  const DebugLoc Where = B.getCurrentDebugLocation();
  B.SetInsertPoint(&BB, At);
  B.SetCurrentDebugLocation(Where);
}

/// Where the sizes of \p Places are known, before the loops that \p B may be
/// in; null if nothing is before.
static Instruction *beforeLoops(ArrayRef<const Place *> Places,
                                const IRBuilderBase &B) {
  BasicBlock &Entry = B.GetInsertBlock()->getParent()->getEntryBlock();
  const bool AreKnown = all_of(Places, [&](const Place *P) {
    return all_of(P->Sizes, [&](const Value *Size) {
      const auto *I = dyn_cast<Instruction>(Size);
      return !I || I->getParent() == &Entry;
    });
  });
  return AreKnown && B.GetInsertBlock() != &Entry ? Entry.getTerminator()
                                                  : nullptr;
}

/// Whether the launch has more than one thread or block in \p Dimensions; asked
/// at \p Before if that is somewhere.
static Value *hasMore(ArrayRef<const Place *> Places,
                      ArrayRef<unsigned> Dimensions, Instruction *Before,
                      IRBuilderBase &B) {
  const IRBuilderBase::InsertPointGuard Keep(B);
  if (Before)
    B.SetInsertPoint(Before);
  Value *Ones = B.getInt32(1);
  for (const Place *P : Places)
    for (unsigned D : Dimensions)
      Ones = B.CreateOr(Ones, P->Sizes[D]);
  return B.CreateICmpNE(Ones, B.getInt32(1));
}

namespace {
struct Division {
  Value *Quotient, *Remainder;
};
} // namespace

/// Of i32 values, with a reciprocal computed at \p Before.
static Division divideOften(IRBuilderBase &B, Value *Number, Value *By,
                            Instruction *Before) {
  Value *Reciprocal = nullptr;
  {
    const IRBuilderBase::InsertPointGuard Keep(B);
    B.SetInsertPoint(Before);
    Reciprocal = B.CreateUDiv(B.getInt32(~0u), By, "reciprocal");
  }
  Value *Low =
      B.CreateIntrinsic(Intrinsic::nvvm_mulhi_ui, {}, {Number, Reciprocal});
  Value *Left = B.CreateSub(Number, B.CreateMul(Low, By));
  Value *IsLess = B.CreateICmpUGE(Left, By);
  return {B.CreateAdd(Low, B.CreateZExt(IsLess, B.getInt32Ty())),
          B.CreateSelect(IsLess, B.CreateSub(Left, By), Left)};
}

/// In any launch.
static Numbers gridIndex(IRBuilderBase &B, const Place &Of) {
  Numbers Index{};
  Value *Columns = B.CreateZExt(Of.Sizes[0], Of.Number->getType());
  if (Of.Asked[0])
    Index[0] = narrow(B, B.CreateURem(Of.Number, Columns));
  if (!Of.Asked[1] && !Of.Asked[2])
    return Index;
  Value *Row = narrow(B, B.CreateUDiv(Of.Number, Columns));
  if (Of.Asked[1])
    Index[1] = B.CreateURem(Row, Of.Sizes[1]);
  if (Of.Asked[2])
    Index[2] = B.CreateUDiv(Row, Of.Sizes[1]);
  return Index;
}

using IndexOf = function_ref<Numbers(const Place &)>;

/// Finds the indices of \p Places, in launches of which \p IsGrid holds and in
/// others; the block is split at \p B, which goes on behind.
static void choose(Value *IsGrid, ArrayRef<Place *> Places, IRBuilderBase &B,
                   IndexOf InFlat, IndexOf InGrid) {
  SmallVector<Numbers, 2> Flat, Grid;
  for (const Place *P : Places)
    Flat.push_back(InFlat(*P));
  if (match(IsGrid, m_Zero())) {
    for (auto [P, OfFlat] : zip(Places, Flat))
      P->Index = OfFlat;
    return;
  }
  BasicBlock *Head = B.GetInsertBlock();
  Instruction *End = SplitBlockAndInsertIfThen(IsGrid, B.GetInsertPoint(),
                                               /*Unreachable=*/false);
  Head->getTerminator()->setDebugLoc(B.getCurrentDebugLocation());
  End->setDebugLoc(B.getCurrentDebugLocation());
  BasicBlock *Apart = End->getParent(), *Tail = End->getSuccessor(0);
  Apart->setName("item.grid");
  Tail->setName("item.tail");
  moveTo(B, *Apart, End->getIterator());
  for (const Place *P : Places)
    Grid.push_back(InGrid(*P));
  moveTo(B, *Tail, Tail->begin());
  for (auto [P, OfFlat, OfGrid] : zip(Places, Flat, Grid))
    for (unsigned D : {0u, 1u, 2u})
      if (P->Asked[D]) {
        PHINode *Index = B.CreatePHI(B.getInt32Ty(), 2);
        Index->addIncoming(OfFlat[D], Head);
        Index->addIncoming(OfGrid[D], Apart);
        P->Index[D] = Index;
      }
}

static void takeApart(ArrayRef<Place *> Places, IRBuilderBase &B) {
  Instruction *Before = beforeLoops(Places, B);
  const bool IsOften =
      Before &&
      any_of(Places,
             [](const Place *P) { return P->Asked[1] || P->Asked[2]; }) &&
      all_of(Places, [](const Place *P) {
        return P->Number->getType()->isIntegerTy(32);
      });
  if (!IsOften)
    return choose(
        hasMore(Places, {1, 2}, Before, B), Places, B,
        [&](const Place &P) { return flatIndex(B, P); },
        [&](const Place &P) { return gridIndex(B, P); });
  SmallDenseMap<const Place *, Division, 2> Columns;
  for (const Place *P : Places)
    Columns[P] = divideOften(B, P->Number, P->Sizes[0], Before);
  choose(
      hasMore(Places, {2}, Before, B), Places, B,
      [&](const Place &P) -> Numbers {
        return {Columns[&P].Remainder, Columns[&P].Quotient, B.getInt32(0)};
      },
      [&](const Place &P) -> Numbers {
        Value *Row = Columns[&P].Quotient;
        return {Columns[&P].Remainder,
                P.Asked[1] ? B.CreateURem(Row, P.Sizes[1]) : nullptr,
                P.Asked[2] ? B.CreateUDiv(Row, P.Sizes[1]) : nullptr};
      });
}

namespace {
/// The numbers that reads of a register in three dimensions have from now on.
struct Meaning {
  DimensionOf *Of;
  const Numbers &Index;
};
} // namespace

static void replaceReads(ArrayRef<CallBase *> Reads, ArrayRef<Meaning> Known,
                         IRBuilderBase &B) {
  for (CallBase *Read : Reads) {
    const auto *Now = find_if(
        Known, [&](const Meaning &M) { return M.Of(idOf(*Read)).has_value(); });
    assert(Now != Known.end() && "a plan has nothing else");
    Read->replaceAllUsesWith(Now->Index[*Now->Of(idOf(*Read))]);
    if (B.GetInsertPoint() == Read->getIterator())
      moveTo(B, *Read->getParent(), std::next(Read->getIterator()));
    Read->eraseFromParent();
  }
}

bool asksForOneDimension(const ItemsPlan &Plan) {
  const auto OfBlock = askedFor(Plan.Reads, analysis::blockIndexDimension),
             OfThread = askedFor(Plan.Reads, analysis::threadIndexDimension);
  return !(OfBlock[1] || OfBlock[2] || OfThread[1] || OfThread[2]);
}

Instruction *splitEntry(Function &F) {
  BasicBlock &Entry = F.getEntryBlock();
  Instruction *First = &*Entry.getFirstNonPHIOrDbgOrAlloca();
  BasicBlock *Body = Entry.splitBasicBlock(First->getIterator(), "body");
  // Allocas behind other code have to stay in the entry.
  for (Instruction &I : make_early_inc_range(*Body))
    if (auto *Frame = dyn_cast<AllocaInst>(&I);
        Frame && isa<ConstantInt>(Frame->getArraySize()))
      Frame->moveBefore(Entry.getTerminator());
  return Entry.getTerminator();
}

void becomeThread(const ItemsPlan &Plan, Value *BlockNumber,
                  Value *ThreadNumber, const LaunchValues &Of,
                  IRBuilderBase &B) {
  Place Block{BlockNumber, Of.Grid,
              askedFor(Plan.Reads, analysis::blockIndexDimension)},
      Thread{ThreadNumber, Of.Block,
             askedFor(Plan.Reads, analysis::threadIndexDimension)};
  SmallVector<Place *, 2> Places;
  if (Block.isAsked())
    Places.push_back(&Block);
  if (Thread.isAsked())
    Places.push_back(&Thread);
  if (!Places.empty())
    takeApart(Places, B);
  replaceReads(Plan.Reads,
               {{analysis::threadIndexDimension, Thread.Index},
                {analysis::blockIndexDimension, Block.Index},
                {analysis::blockSizeDimension, Of.Block},
                {analysis::gridSizeDimension, Of.Grid}},
               B);
}

void becomeItem(const ItemsPlan &Plan, Value *Item, const LaunchValues &Of,
                IRBuilderBase &B) {
  auto Asks = [&](DimensionOf Which) {
    return is_contained(askedFor(Plan.Reads, Which), true);
  };
  const bool OfThread = Asks(analysis::threadIndexDimension);
  Value *Block = nullptr, *Thread = nullptr;
  if (OfThread || Asks(analysis::blockIndexDimension)) {
    Value *Threads = threadsOf(B, Of);
    Block = B.CreateUDiv(Item, B.CreateZExt(Threads, Item->getType()),
                         "item.block");
    if (OfThread) {
      Value *First = B.CreateMul(narrow(B, Block), Threads);
      Thread = B.CreateSub(narrow(B, Item), First, "item.thread");
    }
  }
  becomeThread(Plan, Block, Thread, Of, B);
}

void becomeBlock(const BlocksPlan &Plan, Value *Number, const LaunchValues &Of,
                 IRBuilderBase &B) {
  Place Block{Number, Of.Grid,
              askedFor(Plan.Reads, analysis::blockIndexDimension)};
  if (Block.isAsked())
    takeApart({&Block}, B);
  replaceReads(Plan.Reads,
               {{analysis::blockIndexDimension, Block.Index},
                {analysis::gridSizeDimension, Of.Grid}},
               B);
}

} // namespace reconverge::remedies
