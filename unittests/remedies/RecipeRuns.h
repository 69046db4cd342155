//===- unittests/remedies/RecipeRuns.h - Launches by recipes ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_UNITTESTS_REMEDIES_RECIPERUNS_H
#define RECONVERGE_UNITTESTS_REMEDIES_RECIPERUNS_H

#include "Harness.h"

#include "launch/Execute.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace reconverge::remedies {

/// Launches by a recipe on a machine of the tests.
class TestPlace : public launch::Place {
public:
  /// \p Allocations: of the program.
  explicit TestPlace(warpvm::TestProgram &P,
                     std::vector<launch::MemoryRange> Allocations = {})
      : P(P), Allocations(std::move(Allocations)) {}

  uint64_t resident(const RecipeStep &, uint64_t, uint64_t) override {
    return 2;
  }
  void *allocate(uint64_t Bytes, bool Zeroed) override {
    return Scratch.emplace_back(Bytes, Zeroed ? 0 : 0xcd).data();
  }
  void release(void *) override {}
  std::optional<launch::MemoryRange> rangeOf(uint64_t Address) override {
    for (const launch::MemoryRange &R : Allocations)
      if (Address >= R.Begin && Address < R.End)
        return R;
    return std::nullopt;
  }
  bool launch(const RecipeStep &Step, const LaunchShape &Shape,
              void **Args) override {
    if (llvm::Error E = P.launchWith(Step.Kernel, Shape, Args))
      Problem = llvm::toString(std::move(E));
    ++Launches;
    return true;
  }

  bool fork() override { return true; }
  void beside() override {}
  void join() override {}

  std::string Problem;
  unsigned Launches = 0;

private:
  warpvm::TestProgram &P;
  std::vector<launch::MemoryRange> Allocations;
  std::list<std::vector<uint8_t>> Scratch;
};

/// Runs \p P by \p Launch, all of its steps; what went wrong, or "". Where what
/// one launch makes serves only later ones, or the next, there are two of them;
/// \p Between brings memory back to what it was.
inline std::string runBy(const Recipe &Launch, warpvm::TestProgram &P,
                         const LaunchShape &Shape, void **Args,
                         llvm::function_ref<void()> Between,
                         std::vector<launch::MemoryRange> Allocations = {}) {
  TestPlace Place(P, std::move(Allocations));
  std::vector<void *> Kept(Launch.Scratch.size());
  std::vector<void *> OfNext = Kept;
  launch::Foretelling Next{Args, &OfNext};
  launch::Steps Which{.Making = true,
                      .Probing = true,
                      .Next = Launch.Ahead ? &Next : nullptr,
                      .Kept = &Kept};
  launch::Ended End = launch::execute(Launch, Shape, Args, Place, Which);
  if (Launch.servesLater() && End == launch::Ended::Done) {
    Between();
    Which.Making = false;
    End = launch::execute(Launch, Shape, Args, Place, Which);
  }
  if (Next.Done && End == launch::Ended::Done) {
    Between();
    End = launch::execute(Launch, Shape, Args, Place,
                          {.Making = false, .Kept = &OfNext});
  }
  if (!Place.Problem.empty())
    return Place.Problem;
  return End == launch::Ended::Done && Place.Launches >= Launch.Steps.size()
             ? ""
             : "it was not launched";
}

} // namespace reconverge::remedies

#endif
