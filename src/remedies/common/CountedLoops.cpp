//===- remedies/common/CountedLoops.cpp - Loops of a profile -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop is what can be come to from a block and comes back to it. Without the
// blocks where it is entered, what is left of that are the loops in it; and so
// on, down to the smallest.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/CountedLoops.h"

#include "model/Slots.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace reconverge::remedies {

namespace {
using Edges = std::vector<std::vector<uint32_t>>;
} // namespace

/// Which of the blocks \p In can be come to from \p From by one edge or more.
static std::vector<bool> reached(uint32_t From, const std::vector<bool> &In,
                                 const Edges &By) {
  std::vector<bool> Seen(By.size());
  std::vector<uint32_t> Open = {From};
  while (!Open.empty()) {
    const uint32_t At = Open.back();
    Open.pop_back();
    for (uint32_t To : By[At])
      if (In[To] && !Seen[To]) {
        Seen[To] = true;
        Open.push_back(To);
      }
  }
  return Seen;
}

/// By regions of branches and by where the outermost loop is entered.
static std::vector<uint32_t> byBranches(const KernelInfo &Info,
                                        ArrayRef<uint32_t> Inner) {
  const auto &Entries = Info.Blocks[Inner.front()].Entries;
  std::vector<uint32_t> Around;
  for (uint32_t B = 0; B != Info.Blocks.size(); ++B)
    if (!Entries.empty() && Info.Blocks[B].Entries == Entries)
      Around.push_back(B);
  for (const BranchInfo &Branch : Info.Branches)
    if (Branch.Kind == BranchKind::LoopExit &&
        Branch.Region.size() > Inner.size() &&
        Branch.Region.size() < Around.size() &&
        all_of(Inner, [&](uint32_t B) { return model::inRegion(Branch, B); }))
      Around = Branch.Region;
  return Around;
}

std::vector<uint32_t> loopAround(const KernelInfo &Info,
                                 ArrayRef<uint32_t> Inner) {
  assert(!Inner.empty() && "around nothing is everything");
  Edges Next(Info.Blocks.size()), Before(Info.Blocks.size());
  for (uint32_t B = 0; B != Info.Blocks.size(); ++B)
    for (uint32_t To : Info.Blocks[B].Successors) {
      Next[B].push_back(To);
      Before[To].push_back(B);
    }
  if (all_of(Next, [](const auto &Of) { return Of.empty(); }))
    return byBranches(Info, Inner);
  std::vector<uint32_t> Around;
  std::vector<bool> In(Info.Blocks.size(), true);
  const uint32_t At = Inner.front();
  while (true) {
    const std::vector<bool> To = reached(At, In, Next),
                            From = reached(At, In, Before);
    for (uint32_t B = 0; B != In.size(); ++B)
      In[B] = To[B] && From[B];
    if (!all_of(Inner, [&](uint32_t B) { return In[B]; }) ||
        size_t(count(In, true)) <= Inner.size())
      return Around;
    Around.clear();
    for (uint32_t B = 0; B != In.size(); ++B)
      if (In[B])
        Around.push_back(B);
    const std::vector<bool> Loop = In;
    for (uint32_t B : Around)
      if (B == 0 || any_of(Before[B], [&](uint32_t P) { return !Loop[P]; }))
        In[B] = false;
    if (!In[At])
      return Around;
  }
}

double entering(const KernelProfile &K, ArrayRef<uint32_t> Loop) {
  double In = 0;
  for (uint32_t B = 0; B != K.Info.Blocks.size(); ++B) {
    auto IsIn = [&](uint32_t To) { return is_contained(Loop, To); };
    if (IsIn(B) || none_of(K.Info.Blocks[B].Successors, IsIn))
      continue;
    const auto Branch = find_if(K.Info.Branches, [&](const BranchInfo &Info) {
      return Info.Block == B;
    });
    if (Branch == K.Info.Branches.end()) {
      In += double(K.Blocks[B].Lanes);
      continue;
    }
    const auto &To = K.Branches[Branch - K.Info.Branches.begin()].LanesTo;
    for (size_t S = 0; S != To.size(); ++S)
      if (IsIn(Branch->Successors[S]))
        In += double(To[S]);
  }
  return In;
}

} // namespace reconverge::remedies
