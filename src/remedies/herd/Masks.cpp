//===- remedies/herd/Masks.cpp - Which lanes come to a block --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A vote by "who is converged" (activemask) would hang on the hardware, the
// driver and the day. So each vote has a mask that follows from the program:
//
//   entry                  the warp's threads that the block has, by its size
//   A dominates B, and who leaves A comes to B
//     in the same round of the loop around both      M(B) = M(A)
//   B has one way in, the branch at the end of A,
//     in the same round; a ballot over M(A)          M(B) = M(A) & who takes it
//   B begins a loop       M(B) = who comes from outside, then those of them that
//                         go back; if all leave it together, always the former
//
// The first rule is tried for the nearest A first. "Who leaves A comes to B" is
// said of lanes that go on at all: one that traps ends the kernel, one that runs
// for ever never let it end. It also holds, whatever the ways are, if no branch
// between the two parts a warp. Else nothing is known of B: two ways lead to it
// from branches that part the warp, and each knows of its own lanes only.
//
// Why votes do not hang: by these rules all lanes of a mask come to the vote
// that has it, in the same order of votes. Why they may be trusted with any
// scheduling: a vote has its lanes wait for each other.
//
// A branch counts as one that parts no warp only by values that no other thread
// can change meanwhile: loads of memory that is written do not count.
//
//===----------------------------------------------------------------------===//

#include "remedies/herd/Masks.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace reconverge::remedies::herd {

void canonicalize(Function &F) {
  DominatorTree Dominance(F);
  LoopInfo Loops(Dominance);
  // Inner loops first: a way out of two must be the outer one's alone in the end.
  const SmallVector<Loop *, 4> InOrder = Loops.getLoopsInPreorder();
  for (Loop *L : reverse(InOrder)) {
    if (!L->getLoopPreheader())
      InsertPreheaderForLoop(L, &Dominance, &Loops, nullptr,
                             /*PreserveLCSSA=*/false);
    formDedicatedExitBlocks(L, &Dominance, &Loops, nullptr,
                            /*PreserveLCSSA=*/false);
  }
  for (Loop *L : Loops)
    formLCSSARecursively(*L, Dominance, &Loops, nullptr);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static analysis::UniformityResult withoutLoads(Function &F) {
  analysis::UniformityOptions Strict;
  Strict.UniformLoads = false;
  return analysis::computeUniformity(F, Strict);
}

MaskRules::MaskRules(Function &F)
    : Dominance(F), Loops(Dominance), Uniform(withoutLoads(F)) {
  Cycles.compute(F);
}

/// Whether all lanes that come together to \p From, which dominates \p At, come
/// to it together, in the same round of the loop \p Around them, or none does.
bool MaskRules::meets(const BasicBlock &From, const BasicBlock &At,
                      const Loop *Around) const {
  SmallPtrSet<const BasicBlock *, 16> Seen;
  SmallVector<const BasicBlock *> Todo = {&From};
  bool Escapes = false, Parts = false;
  while (!Todo.empty()) {
    const BasicBlock *BB = Todo.pop_back_val();
    Parts |= Uniform.isDivergentBranch(*BB);
    Escapes |= isa<ReturnInst>(BB->getTerminator());
    for (const BasicBlock *To : successors(BB)) {
      if (To == &At)
        continue;
      if (Around && (!Around->contains(To) || To == Around->getHeader()))
        Escapes = true;
      else if (Seen.insert(To).second)
        Todo.push_back(To);
    }
    if (Escapes && Parts)
      return false;
  }
  return true;
}

/// Of \p BB, to which a lane comes from \p From alone, or from several blocks if
/// that is null, and which begins no loop, in loop \p Around.
std::optional<MaskRule> MaskRules::ruleBetween(BasicBlock &BB, BasicBlock *From,
                                               const Loop *Around) {
  const auto *Node = Dominance.getNode(&BB);
  if (!Node)
    return std::nullopt;
  for (Node = Node->getIDom(); Node; Node = Node->getIDom()) {
    BasicBlock *A = Node->getBlock();
    if (Around && !Around->contains(A))
      break;
    if (Loops.getLoopFor(A) == Around && meets(*A, BB, Around) && known(*A))
      return MaskRule{MaskRule::Same, A};
  }
  if (!From || Loops.getLoopFor(From) != Around)
    return std::nullopt;
  const auto *Br = dyn_cast<BranchInst>(From->getTerminator());
  if (!known(*From))
    return std::nullopt;
  if (!Uniform.isDivergentBranch(*From))
    return MaskRule{MaskRule::Same, From};
  if (!Br || !Br->isConditional())
    return std::nullopt;
  return MaskRule{MaskRule::Side, From};
}

/// Whether the lanes that come to \p L leave it together.
bool MaskRules::keepsLanes(const Loop &L) const {
  SmallVector<BasicBlock *> Exiting;
  L.getExitingBlocks(Exiting);
  return all_of(Exiting, [&](const BasicBlock *BB) {
    return !Uniform.isDivergentBranch(*BB) && Loops.getLoopFor(BB) == &L &&
           (BB == L.getHeader() || meets(*L.getHeader(), *BB, &L));
  });
}

/// Lanes that stay may still be told apart from those that left: one way back.
std::optional<MaskRule> MaskRules::ruleOfHeader(const Loop &L) {
  BasicBlock *Before = L.getLoopPreheader(), *Latch = L.getLoopLatch();
  if (!Before || !known(*Before))
    return std::nullopt;
  if (keepsLanes(L))
    return MaskRule{MaskRule::Same, Before};
  if (!Latch || Loops.getLoopFor(Latch) != &L ||
      (Uniform.isDivergentBranch(*Latch) &&
       !isa<BranchInst>(Latch->getTerminator())))
    return std::nullopt;
  const MaskRule Rule{MaskRule::Rounds, Before};
  Rules[L.getHeader()] = Rule; // the latch asks for it
  if (known(*Latch))
    return Rule;
  for (const BasicBlock *BB : L.blocks())
    Rules.erase(BB); // what was known by that rule
  return std::nullopt;
}

std::optional<MaskRule> MaskRules::ruleOf(BasicBlock &BB) {
  if (BB.isEntryBlock())
    return MaskRule{MaskRule::All};
  for (const Cycle *C = Cycles.getCycle(&BB); C; C = C->getParentCycle())
    if (!C->isReducible())
      return std::nullopt; // a round of it begins anywhere
  const Loop *L = Loops.getLoopFor(&BB);
  if (L && L->getHeader() == &BB)
    return ruleOfHeader(*L);
  return ruleBetween(BB, BB.getSinglePredecessor(), L);
}

bool MaskRules::known(BasicBlock &BB) {
  const auto Found = Rules.find(&BB);
  if (Found != Rules.end())
    return Found->second.has_value();
  const auto Rule = ruleOf(BB);
  Rules[&BB] = Rule;
  return Rule.has_value();
}

//===----------------------------------------------------------------------===//
// In code
//===----------------------------------------------------------------------===//

Masks::Masks(Function &F) : F(F), Rules(F) {
  for (BasicBlock &BB : F)
    Rules.known(BB); // while it is as it was
}

/// 32 in a full warp, fewer in a block's last one.
Value *Masks::allLanes() {
  BasicBlock &Entry = F.getEntryBlock();
  IRBuilder<> B(&Entry, Entry.getFirstNonPHIOrDbgOrAlloca());
  auto Read = [&](Intrinsic::ID Id) { return B.CreateIntrinsic(Id, {}, {}); };
  Value *SizeX = Read(Intrinsic::nvvm_read_ptx_sreg_ntid_x),
        *SizeY = Read(Intrinsic::nvvm_read_ptx_sreg_ntid_y),
        *SizeZ = Read(Intrinsic::nvvm_read_ptx_sreg_ntid_z),
        *X = Read(Intrinsic::nvvm_read_ptx_sreg_tid_x),
        *Y = Read(Intrinsic::nvvm_read_ptx_sreg_tid_y),
        *Z = Read(Intrinsic::nvvm_read_ptx_sreg_tid_z);
  Value *Thread =
      B.CreateAdd(X, B.CreateMul(SizeX, B.CreateAdd(Y, B.CreateMul(SizeY, Z))));
  Value *Threads = B.CreateMul(SizeX, B.CreateMul(SizeY, SizeZ));
  Value *Left = B.CreateSub(Threads, B.CreateAnd(Thread, ~31u));
  Value *Lanes = B.CreateBinaryIntrinsic(Intrinsic::umin, Left, B.getInt32(32));
  return B.CreateLShr(B.getInt32(-1), B.CreateSub(B.getInt32(32), Lanes),
                      "herd.warp");
}

Value *Masks::at(BasicBlock &BB) {
  if (Value *Mask = Known.lookup(&BB))
    return Mask;
  [[maybe_unused]] const bool CanTell = Rules.known(BB);
  assert(CanTell && "legality asks first");
  const MaskRule Rule = Rules.of(BB);
  Value *Mask = nullptr;
  switch (Rule.How) {
  case MaskRule::All:
    Mask = allLanes();
    break;
  case MaskRule::Same:
    Mask = at(*Rule.From);
    break;
  case MaskRule::Side:
    Mask = sideOf(*Rule.From, BB);
    break;
  case MaskRule::Rounds: {
    Value *Before = at(*Rule.From);
    IRBuilder<> B(&BB, BB.begin());
    PHINode *Phi = B.CreatePHI(B.getInt32Ty(), 2, "herd.lanes");
    Phi->addIncoming(Before, Rule.From);
    Open.push_back({Phi, Rules.latchOf(BB)});
    Mask = Phi;
    break;
  }
  }
  return Known[&BB] = Mask;
}

/// Of those who come to \p From, who goes on to \p To.
Value *Masks::sideOf(BasicBlock &From, const BasicBlock &To) {
  if (United.contains(&From))
    return at(From);
  Value *Votes = votesAt(From);
  if (IfTrue.lookup(&From) == &To)
    return Votes;
  IRBuilder<> B(cast<Instruction>(Votes)->getNextNode());
  return B.CreateXor(at(From), Votes, "herd.others");
}

Value *Masks::votesAt(BasicBlock &BB) {
  if (Value *Found = Votes.lookup(&BB))
    return Found;
  auto *Br = cast<BranchInst>(BB.getTerminator());
  Value *Mask = at(BB);
  IRBuilder<> B(Br);
  IfTrue[&BB] = Br->getSuccessor(0);
  return Votes[&BB] = B.CreateIntrinsic(Intrinsic::nvvm_vote_ballot_sync, {},
                                        {Mask, Br->getCondition()}, nullptr,
                                        "herd.votes");
}

Value *Masks::sizeOf(Value *Mask) {
  Value *&Size = Sizes[Mask];
  if (Size)
    return Size;
  auto *I = cast<Instruction>(Mask);
  IRBuilder<> B(I->getParent(), isa<PHINode>(I)
                                    ? I->getParent()->getFirstNonPHIIt()
                                    : std::next(I->getIterator()));
  return Size =
             B.CreateUnaryIntrinsic(Intrinsic::ctpop, I, nullptr, "herd.here");
}

/// 32 lanes > threshold size, in whole numbers: lanes > threshold size / 32.
Value *Masks::tooFewOf(Value *Mask, unsigned Threshold) {
  Value *&Bound = Bounds[{Mask, Threshold}];
  if (Bound)
    return Bound;
  IRBuilder<> B(cast<Instruction>(sizeOf(Mask))->getNextNode());
  return Bound = B.CreateLShr(B.CreateMul(sizeOf(Mask), B.getInt32(Threshold)),
                              5, "herd.few");
}

void Masks::finish() {
  // What a latch asks for may open more.
  for (size_t I = 0; I != Open.size(); ++I) {
    const auto [Phi, Latch] = Open[I];
    Phi->addIncoming(Rules.isDivided(*Latch) ? sideOf(*Latch, *Phi->getParent())
                                             : at(*Latch),
                     Latch);
  }
}

} // namespace reconverge::remedies::herd
