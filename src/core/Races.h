//===- core/Races.h - Accesses that nothing orders --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a launch shows of threads that touch the same byte. docs/races.md has
// the rules.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_RACES_H
#define RECONVERGE_CORE_RACES_H

#include "core/SourceLoc.h"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace reconverge {

enum class RaceSpace { Shared, Global };

/// One side of a race.
struct RaceAccess {
  enum Kind { Read, Write, Atomic };
  Kind What = Read;
  bool Volatile = false; ///< or ordered: `ld.relaxed`, `st.release`
  SourceChain Where;
  std::array<uint32_t, 3> Block = {}, Thread = {}; ///< indices
};

/// Two accesses to one byte by different threads, at least one of them a write,
/// with nothing that orders them. One for each pair of places.
struct Race {
  RaceAccess First, Second; ///< by their places; the threads: of the first time
  RaceSpace Space = RaceSpace::Global;
  bool SameValue = false; ///< two writes that always stored the same
  std::string Memory;     ///< the allocation or variable, in words
  uint64_t Offset = 0;    ///< bytes into it
  uint64_t Launch = 0;    ///< of the kernel, from 1; 0: of one launch
  uint64_t Times = 0;     ///< accesses that found the other side unordered
};

/// What changes places in a launch: runs beside others than the program says.
enum class Moved {
  Nothing,
  Threads, ///< one by one
  Blocks   ///< with all their threads
};

/// Whether some byte was written by one and touched by another, in whatever
/// order: by atomic operations on both sides, or in another way.
struct Sharing {
  bool ByAtomics = false, Otherwise = false;
};

/// What was seen of one launch, or of several of one kernel.
struct RaceFindings {
  uint64_t Launches = 0;   ///< looked at
  std::vector<Race> Races; ///< sorted by their places
  Sharing OfThreads;       ///< between any two threads
  /// Of these, of global memory, and between threads of two blocks; without
  /// writes of one value that nobody reads. Not in files.
  Sharing InGlobal, OfBlocks;
  /// There was no memory to follow all accesses: more may have been there.
  bool Incomplete = false;

  /// Whether what moves may change places, and no byte comes out otherwise but by
  /// the order of atomic operations. Shared memory says nothing of that: what
  /// moves threads refuses kernels that have it, or has proved of all blocks that
  /// theirs comes out alike.
  bool areIndependentUpToOrder(Moved What) const {
    return Launches && !Incomplete && !of(What).Otherwise;
  }
  const Sharing &of(Moved What) const {
    return What == Moved::Blocks ? OfBlocks : InGlobal;
  }
};

/// "read", "write", "atomic"; "shared", "global".
const char *wordOf(RaceAccess::Kind What);
const char *wordOf(RaceSpace Space);

/// A race in words; \p NameOf gives the name of a file to show.
std::string
textOf(const Race &R,
       const std::function<std::string(const std::string &)> &NameOf);

/// Adds what launch \p Launch (of the kernel, from 1) showed. Of one pair of
/// places there is one race; whose threads it names, who was first decides.
void addTo(RaceFindings &Sum, RaceFindings More, uint64_t Launch);

} // namespace reconverge

#endif
