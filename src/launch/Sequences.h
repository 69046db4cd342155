//===- launch/Sequences.h - Launches made ready by those before -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_LAUNCH_SEQUENCES_H
#define RECONVERGE_LAUNCH_SEQUENCES_H

#include "core/LaunchShape.h"
#include "launch/CudaPlace.h"
#include "launch/NextArguments.h"

#include <list>

namespace reconverge::launch {

/// Sequences of the launches of one recipe: one for each device, stream and shape.
/// Not for two threads at once.
class Sequences {
public:
  struct Sequence {
    explicit Sequence(const RecipeAhead &Of) : Arguments(Of) {}
    int Device = 0;
    unsigned long long Stream = 0; ///< its id, which no later stream has
    LaunchShape Shape;
    NextArguments Arguments;
    SideStream Beside;
    std::vector<void *> Kept[2]; ///< of this launch and the next
    unsigned Mine = 0;           ///< which of Kept is this launch's
    bool IsReady = false;        ///< it was made before
    bool LedIn = false;          ///< the launch before was there to make it
    bool InUse = false;
    Foretelling Next;
  };
  struct Counts {
    uint64_t Launches = 0, Ready = 0, Foretold = 0;
  };

  /// That of a launch, which is InUse until end(); null: it has none.
  Sequence *begin(const Recipe &R, const CudaCalls &Calls, int Device,
                  cudaStream_t Stream, const LaunchShape &Shape,
                  void *const *Args);
  /// Its launch takes the recipe: sets \p Which.
  void choose(Sequence &Of, Steps &Which);
  /// After its steps were launched, or \p Done was not.
  void end(Sequence &Of, bool Done);
  const Counts &counts() const { return Counted; }

private:
  std::list<Sequence> All;
  Counts Counted;
};

} // namespace reconverge::launch

#endif
