//===- remedies/refill/Rewrite.cpp - A kernel that refills lanes ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each edge into the loop, out of it and out of the kernel becomes. All
// lanes of a warp are in this until the last of them is dead.
//
//   entry:  everyone wants an item
//     |
//     |    go: <---------------------------------------+-----------+
//     |     |  \   does this lane run?                 |           |
//     |     |   header ... latches, exits              |           |
//     |     |  /                                       |           |
//     |    ran:       as many lanes run as are to? ----+           |
//     |     |  no                                                  |
//     |  refill: <--- does somebody wait at an exit? <-----+       |
//     |     |   \                                          | no    |
//     |     |    leave:  those go on there ------------\   |       |
//      \    |                                           \  |       |
//        fetch: who wants an item gets one, if there are refilled: +
//           |\    all dead                              /   as many?
//           | done:  return                            /
//         hand:  those run the prologue --------------/
//
//   1. Each edge to the header becomes one in state Runs, each edge to an exit
//      one in state Waits + its number, each return one in state Wants. In the
//      loop they lead to `ran`, elsewhere to `refilled`.
//   2. `ran` and `refilled` take a vote. While more lanes run than `limit`, those
//      do the next round. Else the others go on: first, together, all that wait
//      at an exit; and when these are back and still too few run, all that want
//      an item.
//      Of the edges to the header, those in the loop may lead there at once, so
//      that a warp makes several rounds from one vote to the next.
//   3. limit = alive - max(1, alive * threshold / 32), where alive lanes are
//      those that are not dead.
//
// Why right: each lane runs the original's blocks in the original's order for
// each of its items, and waits in between; its values wait in slots (Values.h).
// Each number below the items is in one slice, and is handed out once.
//
// Why it ends, if the original does: fewer lanes run than are alive when
// `refill` is reached, as limit < alive. So somebody waits at an exit and goes
// on, or somebody wants an item and gets one, or is dead from then on.
//
// Full masks are right: no lane leaves but with all others, from `fetch`. Votes
// have all lanes wait for each other, so a warp is together there whatever the
// hardware did in between.
//
// Where the votes stand: what parts a warp in the loop joins it again at `ran`,
// what parts it elsewhere at `refilled`, and both are in front of an edge back.
// ptxas has parted lanes join at blocks in front of them alone: with one vote at
// `go`, to which all would lead back, every vote found the warp parted, and took
// three times as long on an H200. And the two sides share no block, so that what
// only `fetch` changes is plainly the same for all lanes in between.
//
//===----------------------------------------------------------------------===//

#include "remedies/refill/Rewrite.h"

#include "remedies/common/Loops.h"
#include "remedies/refill/Prologue.h"
#include "remedies/refill/Rounds.h"
#include "remedies/refill/Values.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace reconverge::remedies::refill {

/// The loop with this header, whose exits nobody else comes to, and whose
/// values leave it by phis there.
static LoopShape prepareLoop(Function &F, BasicBlock *Header) {
  DominatorTree Dominance(F);
  LoopInfo Loops(Dominance);
  Loop *L = Loops.getLoopFor(Header);
  assert(L && L->getHeader() == Header && "the plan's loop is still one");
  formDedicatedExitBlocks(L, &Dominance, &Loops, nullptr,
                          /*PreserveLCSSA=*/false);
  formLCSSARecursively(*L, Dominance, &Loops, nullptr);
  LoopShape Shape(*L);
  // What every way out brings along was not made in the loop.
  for (BasicBlock *Exit : Shape.Exits)
    for (PHINode &Phi : make_early_inc_range(Exit->phis()))
      if (Value *Same = Phi.hasConstantValue();
          Same && !(isa<Instruction>(Same) &&
                    Shape.contains(*cast<Instruction>(Same)->getParent()))) {
        Phi.replaceAllUsesWith(Same);
        Phi.eraseFromParent();
      }
  return Shape;
}

static void rewriteEdges(const LoopShape &L, Slots &Values, Rounds &Around) {
  auto Meet = [&](IRBuilderBase &B, BasicBlock *From) {
    B.CreateBr(L.contains(*From) ? Around.Ran : Around.Refilled);
  };
  leadElsewhere(L.Header, [&](IRBuilderBase &B, BasicBlock *From) {
    Values.give(B, From, L.Header);
    if (L.contains(*From)) // it is in that state
      return Around.goRound(B, L.Header);
    Around.setState(B, Rounds::Runs);
    Meet(B, From);
  });
  for (auto [I, Exit] : enumerate(L.Exits))
    leadElsewhere(Exit,
                  [&, I = I, Exit = Exit](IRBuilderBase &B, BasicBlock *From) {
                    Values.give(B, From, Exit);
                    Around.setState(B, Rounds::Waits + unsigned(I));
                    Meet(B, From);
                  });
  for (BasicBlock &BB : *L.Header->getParent()) {
    auto *Return = dyn_cast_if_present<ReturnInst>(BB.getTerminator());
    if (!Return) // or it is one of the round's, and empty yet
      continue;
    IRBuilder<> B(Return);
    Values.forget(B);
    Around.setState(B, Rounds::Wants);
    Meet(B, &BB);
    Return->eraseFromParent();
  }
  Values.take(L.Header);
  for (BasicBlock *Exit : L.Exits)
    Values.take(Exit);
}

void rewrite(const RefillPlan &Plan, Function &Kernel, unsigned First,
             const RefillOptions &Options) {
  Instruction *Opened = splitEntry(Kernel);
  BasicBlock &Entry = Kernel.getEntryBlock(),
             &Prologue = *Opened->getSuccessor(0);
  Type *I32 = Type::getInt32Ty(Kernel.getContext());
  auto *Item = new AllocaInst(I32, Kernel.getDataLayout().getAllocaAddrSpace(),
                              "item", Entry.begin());
  IRBuilder<> B(&Prologue, Prologue.begin());
  Value *Mine = B.CreateLoad(I32, Item, "item");
  copyArguments(Kernel, First, B);
  becomeItemInOrder(Plan.Items, Mine, launchFromParameters(Kernel, First + 1),
                    B);
  if (Plan.Skipped.Work)
    separateSkips(Plan.Skipped, *Plan.Header);
  const LoopShape L = prepareLoop(Kernel, Plan.Header);
  hoistOutOfItems(Entry, L);
  Slots Values(Entry, L, Options.PlantedBug);
  Values.adopt(Item);
  IRBuilder<> AtStart(cast<Instruction>(Mine));
  Values.forget(AtStart);
  Rounds Around(Kernel, Entry, First, Options, Values,
                /*Flat=*/!Plan.Prologue);
  rewriteEdges(L, Values, Around);
  Around.write(L, Prologue, Item);
  Values.promote();
  removeDead(Kernel);
}

} // namespace reconverge::remedies::refill
