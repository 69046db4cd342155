//===- instrument/Flush.cpp - Counters to memory ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread's counters go to memory once, when it leaves:
//
//   words take over what their bytes have (ProbeWords.cpp)
//   sampled block: all words of this thread go to its row
//   the block does not count otherwise: done
//   m = lanes that leave together
//   all 32:  each word is summed over the warp, and lane i keeps the sum of
//            word i, so that one atomic of the warp stores 32 words:
//
//              lane   0        1        ...          31
//              word   packed   packed   wide ...     wide
//              cell   1        2        ...          32    field 0
//                     words+1  words+2                     field 1, ...
//
//   fewer:   each word is summed over m, and the lowest lane of m stores it
//   some lane has seen others leave: exit counters, likewise
//
// All lanes of a group hit the same cells as all others of the grid, so there
// are replicas of the cells; each multiprocessor keeps to one. Blocks that
// stand for themselves alone (BlockSample.cpp) have one of their own.
//
// A warp diverged if a branch split in it, or if its lanes do not leave
// together. Lane 0 says so, once a warp.
//
// Words that are no registers are gone through in loops: few lines and registers,
// for a kernel with probes has the registers of the dearest place in it.
//
// Before sm_80 there is no reduction instruction: each lane stores its own.
//
//===----------------------------------------------------------------------===//

#include "instrument/Flush.h"

#include "analysis/device/AddressSpace.h"
#include "instrument/BlockSample.h"
#include "instrument/CellUpdate.h"

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace reconverge::instrument {

namespace {
constexpr unsigned WarpLanes = 32;

class Flush {
public:
  Flush(Instruction &At, const ProbePlan &Plan, const ProbeVariables &V,
        unsigned Offset, GlobalVariable &Config,
        const InstrumentOptions &Options)
      : Plan(Plan), V(V), Offset(Offset), Config(Config),
        Reduces(Options.Arch >= 80), Portable(Options.Portable), B(&At),
        Sample(B, Config), I32(B.getInt32Ty()), I64(B.getInt64Ty()) {}
  void run();

private:
  Value *special(Intrinsic::ID Id) { return B.CreateIntrinsic(I32, Id, {}); }
  Value *product(Intrinsic::ID X, Intrinsic::ID Y, Intrinsic::ID Z) {
    return B.CreateMul(B.CreateMul(special(X), special(Y)), special(Z));
  }
  Value *setting(unsigned Position) {
    Value *P = B.CreateConstInBoundsGEP1_64(I64, &Config, Position);
    return B.CreateLoad(I64, P);
  }
  Value *pointer(Value *Address) {
    return B.CreateIntToPtr(Address, B.getPtrTy(analysis::GlobalSpace));
  }
  void add(Value *Cells, uint64_t Cell, Value *X) {
    addAt(B.CreateConstInBoundsGEP1_64(I64, Cells, Cell), X);
  }
  void addAt(Value *P, Value *X) {
    emitUpdate(B, CellUpdate::Add, P, B.CreateZExt(X, I64), Portable);
  }
  /// Of this thread.
  Value *word(unsigned W) { return V.word(B, W); }
  /// Over the lanes of \p Mask, or before sm_80 of this lane alone.
  Value *sum(Value *Mask, Value *X) {
    return Reduces ? B.CreateIntrinsic(I32, Intrinsic::nvvm_redux_sync_add,
                                       {X, Mask})
                   : X;
  }
  /// From here on, code runs if \p If holds; end() closes it.
  void begin(Value *If);
  void end();
  /// Emits code that goes through the words from \p First to before \p Last,
  /// which are no whole ones. \p Body gets the number of the word, the word and
  /// \p Start, and from the second on what it returned the last time. Returns
  /// the last.
  using WordBody = function_ref<Value *(Value *W, Value *Word, Value *Last)>;
  Value *forWords(unsigned First, unsigned Last, Value *Start, WordBody Body);
  Value *loop(unsigned First, unsigned Count, Value *Start,
              function_ref<Value *(Value *Position)> Word, WordBody Body);
  Value *fieldOf(Value *Word, ProbeCounter C) {
    if (!Plan.isPacked(C.Word))
      return Word;
    return B.CreateAnd(B.CreateLShr(Word, 8 * C.Field), 255);
  }

  void findThread();
  Value *stores(Value *Mask);
  void storeSum(Value *Cells, Value *Mask, Value *Word, Value *W, bool Packed);
  Value *anySplit(Value *Mask);
  void exitedLanes(Value *Cells, Value *Mask);
  void wholeWarp(Value *Cells);
  void partOfWarp(Value *Cells, Value *Mask);
  void sampledRow(Value *Rows);

  const ProbePlan &Plan;
  const ProbeVariables &V;
  const unsigned Offset;
  GlobalVariable &Config;
  const bool Reduces, Portable;
  IRBuilder<> B;
  BlockSampleCode Sample;
  Type *I32, *I64;
  Value *Lane = nullptr, *Thread = nullptr, *Threads = nullptr;
  SmallVector<Instruction *> Ends; ///< where open conditions end
};
} // namespace

void Flush::begin(Value *If) {
  Instruction *Before = &*B.GetInsertPoint();
  Ends.push_back(Before);
  B.SetInsertPoint(SplitBlockAndInsertIfThen(If, Before, false));
}

void Flush::end() { B.SetInsertPoint(Ends.pop_back_val()); }

/// Of \p Count words from \p First on; \p Word gives the one at a position
/// among these.
Value *Flush::loop(unsigned First, unsigned Count, Value *Start,
                   function_ref<Value *(Value *)> Word, WordBody Body) {
  if (Count == 1)
    return Body(B.getInt32(First), Word(B.getInt32(0)), Start);
  Instruction *After = &*B.GetInsertPoint();
  BasicBlock *Before = After->getParent();
  auto [BodyEnd, Index] =
      SplitBlockAndInsertSimpleForLoop(B.getInt32(Count), After);
  auto *I = cast<PHINode>(Index);
  B.SetInsertPoint(I->getNextNode());
  PHINode *Carried = PHINode::Create(I32, 2, "", I->getIterator());
  Carried->addIncoming(Start, Before);
  Value *Next = Body(B.CreateAdd(I, B.getInt32(First)), Word(I), Carried);
  // The body may have become several blocks.
  BasicBlock *Latch = I->getIncomingBlock(1);
  Carried->addIncoming(Next, Latch);
  // Unrolled, all words would be registers at once.
  LLVMContext &C = B.getContext();
  MDNode *Rolled = MDNode::getDistinct(
      C,
      {nullptr, MDNode::get(C, MDString::get(C, "llvm.loop.unroll.disable"))});
  Rolled->replaceOperandWith(0, Rolled);
  Latch->getTerminator()->setMetadata(LLVMContext::MD_loop, Rolled);
  B.SetInsertPoint(After);
  return Next;
}

Value *Flush::forWords(unsigned First, unsigned Last, Value *Start,
                       WordBody Body) {
  if (const unsigned End = std::min(Last, Plan.wideWords()); First < End) {
    Start = loop(
        First, End - First, Start,
        [&](Value *Position) {
          return V.wordInMemory(
              B, B.CreateAdd(Position, B.getInt32(First - Plan.WholeWords)));
        },
        Body);
    First = End;
  }
  while (First < Last) {
    constexpr unsigned Most = ProbeVariables::WordsOfBits;
    const unsigned N = First - Plan.wideWords();
    const unsigned Count = std::min(Most - N % Most, Last - First);
    Start = loop(
        First, Count, Start,
        [&](Value *Position) {
          return V.wordOfBits(B, N / Most,
                              B.CreateAdd(Position, B.getInt32(N % Most)));
        },
        Body);
    First += Count;
  }
  return Start;
}

/// Whether some branch split while this thread led.
Value *Flush::anySplit(Value *Mask) {
  SmallVector<ProbeCounter> Counters;
  for (const SplitProbe &S : Plan.Splits)
    Counters.push_back(S.Probe);
  return B.CreateIntrinsic(B.getInt1Ty(), Intrinsic::nvvm_vote_any_sync,
                           {Mask, V.isAny(B, Counters)});
}

void Flush::wholeWarp(Value *Cells) {
  Value *All = B.getInt32(~0u);
  Value *Split =
      Plan.IsKernel && !Plan.Splits.empty() ? anySplit(All) : nullptr;
  for (unsigned First = 0; First < Plan.Words; First += WarpLanes) {
    const unsigned Last = std::min(First + WarpLanes, Plan.Words);
    const unsigned InRegisters = std::clamp(Plan.WholeWords, First, Last);
    Value *Mine = B.getInt32(0);
    for (unsigned W = First; W != InRegisters; ++W)
      Mine = B.CreateSelect(B.CreateICmpEQ(Lane, B.getInt32(W - First)),
                            sum(All, word(W)), Mine);
    Value *MyWord = B.CreateAdd(Lane, B.getInt32(First));
    Mine = forWords(InRegisters, Last, Mine,
                    [&](Value *W, Value *Word, Value *Mine) {
                      return B.CreateSelect(B.CreateICmpEQ(MyWord, W),
                                            sum(All, Word), Mine);
                    });
    const bool AnyPacked = Plan.isPacked(Last - 1);
    Value *IsPacked =
        B.CreateAnd(B.CreateICmpUGE(MyWord, B.getInt32(Plan.wideWords())),
                    B.CreateICmpULT(MyWord, B.getInt32(Last)));
    auto CellOf = [&](unsigned Field) {
      // Wraps round before it is right where the word has such a field.
      Value *At = B.CreateAdd(MyWord, B.getInt32(Plan.cellOf({0, Field})));
      return B.CreateInBoundsGEP(I64, Cells, B.CreateZExt(At, I64));
    };
    Value *Low = B.CreateAnd(Mine, 255);
    Value *Zeroth = AnyPacked ? B.CreateSelect(IsPacked, Low, Mine) : Mine;
    begin(B.CreateIsNotNull(Zeroth));
    addAt(CellOf(0), Zeroth);
    end();
    for (unsigned Field = 1; AnyPacked && Field != 4; ++Field) {
      Value *X = B.CreateAnd(B.CreateLShr(Mine, 8 * Field), 255);
      begin(B.CreateAnd(IsPacked, B.CreateIsNotNull(X)));
      addAt(CellOf(Field), X);
      end();
    }
  }
  if (Split) {
    begin(B.CreateAnd(Split, B.CreateIsNull(Lane)));
    add(Cells, 0, B.getInt32(1));
    end();
  }
}

/// The lane of \p Mask that stores what sum() gives; before sm_80 each does.
Value *Flush::stores(Value *Mask) {
  if (!Reduces)
    return B.getTrue();
  return B.CreateIsNull(
      B.CreateAnd(Mask, special(Intrinsic::nvvm_read_ptx_sreg_lanemask_lt)));
}

/// Adds up \p Word, which is \p W-th, over \p Mask.
void Flush::storeSum(Value *Cells, Value *Mask, Value *Word, Value *W,
                     bool Packed) {
  Value *Sum = sum(Mask, Word);
  begin(stores(Mask));
  for (unsigned Field = 0; Field != (Packed ? 4 : 1); ++Field) {
    Value *At = B.CreateAdd(W, B.getInt32(Plan.cellOf({0, Field})));
    addAt(B.CreateInBoundsGEP(I64, Cells, B.CreateZExt(At, I64)),
          Packed ? B.CreateAnd(B.CreateLShr(Sum, 8 * Field), 255) : Sum);
  }
  end();
}

/// Most warps have seen no lane leave.
void Flush::exitedLanes(Value *Cells, Value *Mask) {
  if (!V.Gone)
    return;
  Value *Gone = B.CreateLoad(I32, V.Gone);
  begin(B.CreateIntrinsic(B.getInt1Ty(), Intrinsic::nvvm_vote_any_sync,
                          {Mask, B.CreateIsNotNull(Gone)}));
  for (const WarpGroup &G : Plan.Groups) {
    if (G.Exited == WarpGroup::Never)
      continue;
    Value *Idle = G.Exited == WarpGroup::Summed
                      ? B.CreateLoad(I32, V.Exits[G.ExitedCell])
                      : B.CreateMul(fieldOf(word(G.Probe.Word), G.Probe), Gone);
    Value *Sum = sum(Mask, Idle);
    begin(stores(Mask));
    add(Cells, Plan.exitCell(G.ExitedCell), Sum);
    end();
  }
  end();
}

void Flush::partOfWarp(Value *Cells, Value *Mask) {
  for (unsigned W = 0; W != Plan.WholeWords; ++W)
    storeSum(Cells, Mask, word(W), B.getInt32(W), false);
  auto Store = [&](bool Packed) {
    return [&, Packed](Value *W, Value *Word, Value *) -> Value * {
      storeSum(Cells, Mask, Word, W, Packed);
      return B.getInt32(0);
    };
  };
  forWords(Plan.WholeWords, Plan.wideWords(), B.getInt32(0), Store(false));
  forWords(Plan.wideWords(), Plan.Words, B.getInt32(0), Store(true));
  if (Plan.IsKernel) {
    Value *Last = B.CreateOr(Thread, WarpLanes - 1);
    Value *Tail = B.CreateSub(
        B.CreateShl(B.getInt32(1), B.CreateAnd(Threads, WarpLanes - 1)),
        B.getInt32(1));
    Value *Whole =
        B.CreateSelect(B.CreateICmpULT(Last, Threads), B.getInt32(~0u), Tail);
    Value *Diverged = B.CreateICmpNE(Mask, Whole);
    if (!Plan.Splits.empty())
      Diverged = B.CreateOr(Diverged, anySplit(Mask));
    begin(B.CreateAnd(Diverged, B.CreateIsNull(Lane)));
    add(Cells, 0, B.getInt32(1));
    end();
  }
}

void Flush::sampledRow(Value *Rows) {
  begin(B.CreateIsNotNull(Rows));
  Value *Row = Sample.row();
  Value *Row64 = B.CreateZExt(Row, I64);
  begin(Sample.hasRow(Row));
  findThread();
  Value *Threads64 = B.CreateZExt(Threads, I64);
  Value *First = B.CreateAdd(
      B.CreateMul(B.CreateMul(Row64, B.getInt64(Plan.Words)), Threads64),
      B.CreateZExt(Thread, I64));
  Value *P = B.CreateInBoundsGEP(I32, pointer(Rows), First);
  auto Store = [&](Value *W, Value *Word, Value *) -> Value * {
    B.CreateStore(Word,
                  B.CreateInBoundsGEP(
                      I32, P, B.CreateMul(B.CreateZExt(W, I64), Threads64)));
    return B.getInt32(0);
  };
  for (unsigned W = 0; W != Plan.WholeWords; ++W)
    Store(B.getInt32(W), word(W), nullptr);
  forWords(Plan.WholeWords, Plan.Words, B.getInt32(0), Store);
  end();
  end();
}

/// The number of this thread in its block, and how many there are.
void Flush::findThread() {
  using namespace Intrinsic;
  Threads = product(nvvm_read_ptx_sreg_ntid_x, nvvm_read_ptx_sreg_ntid_y,
                    nvvm_read_ptx_sreg_ntid_z);
  Thread = B.CreateAdd(
      special(nvvm_read_ptx_sreg_tid_x),
      B.CreateMul(special(nvvm_read_ptx_sreg_ntid_x),
                  B.CreateAdd(special(nvvm_read_ptx_sreg_tid_y),
                              B.CreateMul(special(nvvm_read_ptx_sreg_ntid_y),
                                          special(nvvm_read_ptx_sreg_tid_z)))));
}

void Flush::run() {
  using namespace Intrinsic;
  Sample.block();
  for (unsigned R = 0; R != Plan.narrowRegisters(); ++R)
    V.takeOver(B, R);
  // First, while the words are needed anyway.
  if (Plan.IsKernel)
    sampledRow(setting(3));
  // A block may be here for its row alone.
  begin(Sample.counts());
  Lane = special(nvvm_read_ptx_sreg_laneid);
  // Sets come in pairs; the other one is for a block's last warp.
  Value *Mask32 = B.CreateTrunc(setting(1), I32);
  Value *Replica =
      B.CreateSelect(Sample.isInTail(), B.CreateAdd(Mask32, B.getInt32(1)),
                     B.CreateAnd(special(nvvm_read_ptx_sreg_smid), Mask32));
  Value *SetSize = setting(2);
  Value *First = B.CreateAdd(
      B.CreateMul(B.CreateZExt(B.CreateShl(Replica, 1), I64), SetSize),
      B.getInt64(Offset));
  Value *Cells = B.CreateInBoundsGEP(I64, pointer(setting(0)), First);

  Value *Mask = B.CreateIntrinsic(I32, nvvm_activemask, {});
  auto Part = [&] {
    findThread();
    Value *Partial =
        B.CreateICmpUGE(B.CreateOr(Thread, WarpLanes - 1), Threads);
    Value *Mine = B.CreateInBoundsGEP(
        I64, Cells, B.CreateSelect(Partial, SetSize, B.getInt64(0)));
    partOfWarp(Mine, Mask);
    exitedLanes(Mine, Mask);
  };
  if (Reduces) {
    Instruction *Then, *Else;
    Instruction *Before = &*B.GetInsertPoint();
    SplitBlockAndInsertIfThenElse(B.CreateICmpEQ(Mask, B.getInt32(~0u)), Before,
                                  &Then, &Else);
    B.SetInsertPoint(Then);
    wholeWarp(Cells);
    exitedLanes(Cells, B.getInt32(~0u));
    B.SetInsertPoint(Else);
    Part();
    B.SetInsertPoint(Before);
  } else {
    Part();
  }
  end();
}

void emitFlush(Instruction &At, const ProbePlan &Plan,
               const ProbeVariables &Variables, unsigned Offset,
               GlobalVariable &Config, const InstrumentOptions &Options) {
  Flush(At, Plan, Variables, Offset, Config, Options).run();
}

} // namespace reconverge::instrument
