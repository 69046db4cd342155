//===- launch/Execute.h - Launching by a recipe -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_LAUNCH_EXECUTE_H
#define RECONVERGE_LAUNCH_EXECUTE_H

#include "core/LaunchShape.h"
#include "core/Recipe.h"

#include <optional>
#include <vector>

namespace reconverge::launch {

/// Addresses of memory.
struct MemoryRange {
  uint64_t Begin = 0, End = 0;
};

/// Where a recipe is executed: the warp VM, a trial on a GPU, or a program in
/// the end. All calls of one execution go to the stream of the program's
/// launch. What fails leaves no error for the program to find.
class Place {
public:
  /// Null if there is no room. Not zero: \p Bytes.
  virtual void *allocate(uint64_t Bytes, bool Zeroed) = 0;
  /// After what was launched so far.
  virtual void release(void *Scratch) = 0;
  /// Blocks of \p Step's kernel of so many threads that the device runs at
  /// once; 0: nobody can say.
  virtual uint64_t resident(const RecipeStep &Step, uint64_t BlockThreads,
                            uint64_t DynamicShared) = 0;
  /// The allocation that has the byte at \p Address; none: nobody can say.
  virtual std::optional<MemoryRange> rangeOf(uint64_t Address) = 0;
  /// Whether the launch was accepted.
  virtual bool launch(const RecipeStep &Step, const LaunchShape &Shape,
                      void **Args) = 0;
  /// What comes between beside() and join() runs from here on, beside what comes
  /// between here and beside(); false: nothing can, and neither is to be called.
  virtual bool fork() = 0;
  virtual void beside() = 0;
  virtual void join() = 0;

protected:
  ~Place() = default;
};

enum class Ended {
  Done,
  Original, ///< nothing was done: the kernel is to be launched as it was
  Failed    ///< a step could not be launched after one that did some work
};

/// Whether \p R is for launches of \p Shape; others take the original.
bool isFor(const Recipe &R, const LaunchShape &Shape);

/// What a launch makes for the next one (core/Recipe.h, RecipeAhead).
struct Foretelling {
  void **Args = nullptr; ///< of the next, whose shape is the same
  /// Scratch that it will keep, as Steps::Kept.
  std::vector<void *> *Kept = nullptr;
  bool Done = false; ///< set by execute()
};

/// Which steps are for a launch.
struct Steps {
  bool Making = true, Probing = false;
  Foretelling *Next = nullptr; ///< null: nothing is made for the next
  /// Scratch that is kept or given, by number, null where none was taken yet;
  /// what is taken stays there. Null: what is kept is scratch like any other,
  /// and where some is given the original runs.
  std::vector<void *> *Kept = nullptr;
};

/// Launches \p R on \p On in place of a launch of \p Shape, \p Args.
Ended execute(const Recipe &R, const LaunchShape &Shape, void **Args, Place &On,
              const Steps &Which = {});

/// What the first launch by a recipe makes for later ones, in a trial that runs as
/// those would.
class MadeBefore {
public:
  /// Launches \p R on \p On to make it, if it serves later ones alone, or \p
  /// ForLater and it serves them, too: what memory it leaves is to be brought
  /// back. None: it does not.
  static std::optional<Ended> make(MadeBefore &Into, const Recipe &R,
                                   const LaunchShape &Shape, void **Args,
                                   Place &On, bool ForLater = false);
  /// How later launches run. One that makes what the next will use is taken to be
  /// followed by one of the same arguments.
  Steps steps() {
    return {.Making = Kept.empty(),
            .Probing = false,
            .Next = Next.Args ? &Next : nullptr,
            .Kept = Kept.empty() ? nullptr : &Kept};
  }
  void release(Place &On);

private:
  std::vector<void *> Kept, OfNext;
  Foretelling Next;
};

/// \p A of a launch of \p Shape; none where that passes 2^64. \p Resident: the
/// value of LaunchAmount::Resident. For a grid it is what the device runs at
/// once; for an argument, the blocks that the step is launched with.
std::optional<uint64_t> amountOf(const LaunchAmount &A,
                                 const LaunchShape &Shape,
                                 uint64_t Resident = 0);

} // namespace reconverge::launch

#endif
