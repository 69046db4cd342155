//===- core/Recipe.h - What is launched in place of a kernel ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Some remedies change the launch and not only the code: they need a kernel
// before, scratch memory, another grid, arguments that the program knows
// nothing of. A recipe says so. It is plain data, without LLVM: a program that
// was built by decisions carries it as text (launch/RecipeText.h).
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_RECIPE_H
#define RECONVERGE_CORE_RECIPE_H

#include "core/TripCount.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reconverge {

/// A number that follows from a launch: Of times Times, divided by Per and
/// rounded up.
struct LaunchAmount {
  enum Base : uint32_t {
    One,
    Blocks,       ///< of the program's launch
    BlockThreads, ///< of one of its blocks
    Threads,      ///< of all its blocks
    Resident      ///< blocks of the step's kernel that the device runs at once
  };
  Base Of = One;
  uint64_t Times = 1, Per = 1;
  bool operator==(const LaunchAmount &) const = default;
};

/// Threads for each lane that runs at once, where a small example on the warp VM
/// stands for a launch of many more than that.
inline constexpr uint64_t ItemsOfExample = 16;

/// Memory of the recipe's own, from before the first step to after the last.
/// No launch shares it with another, so that launches in two streams, and
/// replays of a graph, do not meet.
struct RecipeScratch {
  /// Not Resident; made up to whole words of 4, so that 4 bytes for every n-th
  /// thread have room for the last.
  LaunchAmount Bytes;
  bool Zeroed = false; ///< before the first step
  /// Where the recipe reuses what it made, it stays for later launches of the
  /// same shape in the same stream. Zeroed only as RecipeStop::Counter.
  bool Kept = false;
  /// The user fills it: an order of threads or blocks (core/OrderFile.h), 4
  /// bytes each, that stays. Not Zeroed, not Kept.
  bool Given = false;
  bool operator==(const RecipeScratch &) const = default;
};

/// An array of which thread i accesses the cells i + k * Stride alone, for any k:
/// rows of cells, in which threads lie side by side. For a launch its columns
/// are copied into memory in the order in which the threads run. All of the
/// allocation counts as rows.
struct RecipeRows {
  uint32_t Pointer = 0; ///< the argument that points to the array
  TripCount Stride;     ///< cells from one row to the next
  uint32_t CellBytes = 4;
  bool Stored = false; ///< the kernel stores to it: there is a second copy
  /// No thread beyond the end of a row accesses it; else only launches of at
  /// most Stride threads are by the recipe.
  bool Guarded = false;
  /// Threads whose rows a copy has side by side: at least a warp, and so many
  /// that a row of theirs is whole lines of 128 bytes. Loads and stores of rows
  /// that share a line take up to 2.6 times as long (docs/regroup.md).
  uint32_t tile() const {
    const uint32_t Row = 32 * CellBytes;
    return Row % 128 == 0 ? 32 : Row % 64 == 0 ? 64 : 128;
  }
  /// What steps can be told, each in 64 bits: number Field of array N is
  /// N * Fields + Field.
  enum Field : uint32_t {
    Own,    ///< the copy: of a tile of threads their rows, then the next tile
    Before, ///< the second copy, as if no thread had moved
    Row0,   ///< row 0 of the first threads in the copy
    Step,   ///< bytes in a copy from one tile to the next
    First,  ///< address of the first cell of the first row that may be there
    Begin,  ///< of the allocation
    End,    ///< behind it
    Count,  ///< rows
    Pitch,  ///< bytes from one row to the next in the array
    Fields
  };
  bool operator==(const RecipeRows &) const = default;
};

/// A pointer among a launch's arguments: in argument Number, at byte At.
struct RecipePointer {
  uint32_t Number = 0;
  uint64_t At = 0;
  bool operator==(const RecipePointer &) const = default;
};

/// What a step's kernel gets for one of its parameters.
struct RecipeArgument {
  enum Kind : uint32_t {
    Program,   ///< the argument Number of the program's launch
    Scratch,   ///< the address of scratch Number
    Dimension, ///< i32: of the program's launch; 0 to 2 grid, 3 to 5 block
    Amount,    ///< i64: Value
    OfRows,    ///< i64 or an address: of RecipeRows, as Field says
    OfRange ///< i64: 2 N and 2 N + 1 are where RecipeAhead::Loaded's number N
            ///< may read, from and to
  };
  Kind What = Program;
  uint32_t Number = 0;
  LaunchAmount Value = {};
  bool operator==(const RecipeArgument &) const = default;
};

/// A launch of one kernel.
struct RecipeStep {
  std::string Kernel; ///< its name in the device code
  /// It writes scratch and nothing else, so that the kernel as it was may still
  /// be launched after it.
  bool Helper = false;
  enum Part : uint32_t {
    Always,
    Making,  ///< not where what an earlier launch made is reused
    Probing, ///< only where it is to be told whether that is still good
    Reusing  ///< only where what an earlier launch made is reused
  };
  Part When = Always;
  /// Blocks in one dimension; the program's grid as it is if OfProgram.
  struct Extent {
    bool OfProgram = true;
    LaunchAmount Amount = {};
    std::optional<LaunchAmount> Most = {}; ///< at most that; not Resident
    bool operator==(const Extent &) const = default;
  };
  Extent Grid, Block;
  bool DynamicShared = true; ///< as much of it as the program gives
  std::vector<RecipeArgument> Arguments;
  bool operator==(const RecipeStep &) const = default;
};

/// What Making steps leave in kept scratch may serve later launches, whatever
/// their data are: if it is old, they are slow, never wrong.
struct RecipeReuse {
  /// Launches that it is taken to serve, where nobody has seen that yet.
  static constexpr double UsesAtFirst = 10;
  /// Scratch, kept, in which Probing steps leave how many of Probed are no
  /// longer what they were: u32.
  uint32_t Differing = 0;
  LaunchAmount Probed = {}; ///< not Resident
  /// Nothing probes: it is made anew whenever a probe would be due. Differing
  /// and Probed are without a meaning.
  bool Renewed = false;
  bool operator==(const RecipeReuse &) const = default;
};

/// A launch runs the Making steps of the next one, too, beside its own: of one
/// whose arguments are as far from its own as its own are from those of the launch
/// before. If the next is another, they have made nothing that it uses.
struct RecipeAhead {
  /// A part of an argument that Making steps use: for launches that have all in
  /// common, they make the same.
  struct Part {
    RecipePointer Of;
    uint32_t Bytes = 8;
    bool Advances = false; ///< an integer or a pointer, of 1, 2, 4 or 8 bytes
    bool operator==(const Part &) const = default;
  };
  std::vector<Part> Parts;
  std::vector<uint32_t> Sizes; ///< bytes of each of the program's arguments
  /// Blocks, at most, of a step beside the launch that else has the program's grid:
  /// its code does with any number. Few leave room for the launch.
  LaunchAmount Blocks = {LaunchAmount::Resident, 1, 4};
  /// Where a pointer leads to: an allocation.
  struct Range {
    RecipePointer Of;
    uint32_t Bytes = 1; ///< that the allocation has at least
    bool operator==(const Range &) const = default;
  };
  /// What Making steps load from: nothing else, and not beyond the bounds that they
  /// are given as OfRange, since the program might not launch that.
  std::vector<Range> Loaded;
  bool operator==(const RecipeAhead &) const = default;
};

/// Launches count lanes for which they left work out, and what they count
/// decides which later ones take the kernel as it was (launch/Stops.cpp).
struct RecipeStop {
  /// Launches from one to the first that what it counts decides on.
  static constexpr unsigned Lag = 4;
  /// Scratch, kept and zeroed before the first launch, to which each adds its
  /// number: u32, modulo 2^32.
  uint32_t Counter = 0;
  LaunchAmount Most = {}; ///< that a launch may count; not Resident
  /// While launches count more, one in so many is by the recipe, to count.
  uint32_t Recheck = 16;
  bool operator==(const RecipeStop &) const = default;
};

/// Steps in order, in the stream of the program's launch.
struct Recipe {
  /// The kernel was one loop over the grid, and the steps do an iteration a
  /// thread: they take the program's launch for one of as many threads as this
  /// says, in blocks of the program's (launch::takenAs).
  std::optional<TripCount> Trips;
  std::vector<RecipeScratch> Scratch;
  std::vector<RecipeStep> Steps; ///< none: the kernel is launched as before
  /// Which launches it is for; others take the kernel as it was. So do launches
  /// without a thread, and those of which a step cannot be launched.
  uint64_t LeastThreads = 1, MostThreads = UINT64_MAX;
  uint64_t MostBlockThreads = UINT64_MAX;
  bool WholeWarps = false;   ///< blocks of others take the kernel as it was
  bool OneDimension = false; ///< so do grids and blocks of more
  /// Arrays, and pointers that have to lead elsewhere, as those of other arrays
  /// do: a launch with one that does not takes the kernel as it was.
  std::vector<RecipeRows> Rows;
  std::vector<RecipePointer> Elsewhere;
  std::optional<RecipeReuse> Reuse;
  std::optional<RecipeStop> Stop; ///< not together with Reuse or Given scratch
  std::optional<RecipeAhead> Ahead; ///< not together with these

  /// Whether what one launch makes serves only later ones.
  bool servesLater() const {
    for (const RecipeStep &Step : Steps)
      if (Step.When == RecipeStep::Reusing)
        return true;
    return false;
  }
  /// The scratch that the user fills; none: it has no such.
  std::optional<uint32_t> given() const {
    for (uint32_t I = 0; I != Scratch.size(); ++I)
      if (Scratch[I].Given)
        return I;
    return std::nullopt;
  }

  /// Of \p Step in the mean launch, before it is known how many reuse what one
  /// makes.
  double shareOf(const RecipeStep &Step) const {
    return Reuse && Step.When == RecipeStep::Making
               ? 1 / RecipeReuse::UsesAtFirst
               : 1;
  }
  /// Whether what is launched stays the same.
  bool isPlain() const { return Steps.empty(); }
  bool operator==(const Recipe &) const = default;
};

} // namespace reconverge

#endif
