//===- instrument/ProbePlan.h - Which counters suffice ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is counted while a function runs, where, and how everything else
// follows from it. Made from numbered code (analysis/Numbering.h), the same
// each time; Instrument.h inserts the probes, Decode.h reads the counters.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_INSTRUMENT_PROBEPLAN_H
#define RECONVERGE_INSTRUMENT_PROBEPLAN_H

#include <cstdint>
#include <optional>
#include <vector>

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
} // namespace llvm

namespace reconverge::instrument {

/// A counter of each thread: bits [8 * Field, 8 * Field + 8) of a packed word,
/// or the whole of a wide one. (How a thread keeps words while it runs is said
/// at ProbePlan::WholeWords.)
struct ProbeCounter {
  unsigned Word = 0, Field = 0;
};

/// A way that threads can take. Blocks are positions in ProbePlan::Code; the
/// position behind the last stands for the outside: threads enter from there
/// and return to it.
struct FlowEdge {
  unsigned From = 0, To = 0;
  unsigned Successor = 0; ///< operand number at From's terminator
  std::optional<ProbeCounter> Probe;
  unsigned Site = 0;        ///< block in which the probe stands
  bool Conditional = false; ///< the probe asks where From's branch will go
};

/// Blocks that a warp runs equally often, counted once. Uniform code has no
/// group: all lanes of a warp run it together. (Not so where its branch can
/// diverge and lanes may have parted before: ProbePlan.cpp.)
struct WarpGroup {
  unsigned Site = 0; ///< the first block, which has the probe
  ProbeCounter Probe;
  /// Idle lanes that have returned, when the group runs: none; as many as at
  /// the end; or to be summed up as it runs.
  enum { Never, AtEnd, Summed } Exited = Never;
  unsigned ExitedCell = 0; ///< position among the exit counters, unless Never
};

struct SplitProbe {
  unsigned Block = 0; ///< that the branch ends
  ProbeCounter Probe;
  /// The side at which the probe stands; none: it votes before the branch.
  std::optional<unsigned> Side;
  /// The side is the header of a loop that the branch goes round.
  bool Around = false;
};

struct ProbePlan {
  explicit ProbePlan(llvm::Function &F);

  bool IsKernel = false;
  std::vector<llvm::BasicBlock *> Code; ///< reachable blocks, function order
  std::vector<FlowEdge> Edges;          ///< the first one enters the function
  std::vector<WarpGroup> Groups;
  std::vector<SplitProbe> Splits; ///< of branches that can diverge
  static constexpr unsigned NoGroup = ~0u;
  std::vector<unsigned> GroupOf; ///< a block each
  std::vector<bool> FindsMask;   ///< it is to be found out there who runs it
  /// The block's branch can send a part of the lanes straight to a return.
  std::vector<bool> Leaves;

  /// Wide ones first: of those, WholeWords that are registers while the thread
  /// runs, then NarrowWords that are in memory with a byte of a register before
  /// each, then those in memory alone.
  unsigned PackedWords = 0, Words = 0;
  unsigned WholeWords = 0, NarrowWords = 0;
  unsigned ExitCells = 0;

  /// At the start of block \p Header narrow words take over what their bytes
  /// have, if a byte of these registers is half full.
  struct Carry {
    unsigned Header;
    unsigned First, Last; ///< registers, Last included
  };
  std::vector<Carry> Carries;

  static constexpr unsigned BytesOfRegister = 4;
  /// Registers for the bytes before narrow words.
  unsigned narrowRegisters() const {
    return (NarrowWords + BytesOfRegister - 1) / BytesOfRegister;
  }
  bool isNarrow(unsigned Word) const {
    return Word >= WholeWords && Word < WholeWords + NarrowWords;
  }
  /// Wide, and not a register.
  bool isInMemory(unsigned Word) const {
    return Word >= WholeWords && !isPacked(Word);
  }

  /// How block counts follow from edges with probes: each step gives the count
  /// of \p Edge from the others at \p Node.
  struct Step {
    unsigned Node, Edge;
  };
  std::vector<Step> Solution;

  /// 64-bit cells that the sums of one set take: divergent warps; field 0 of
  /// all words; fields 1 to 3 of packed ones, one after the other; one an exit
  /// counter. Neighbouring lanes of a flush hit neighbouring cells.
  unsigned cells() const { return Words ? exitCell(ExitCells) : 0; }
  unsigned wideWords() const { return Words - PackedWords; }
  bool isPacked(unsigned Word) const { return Word >= wideWords(); }
  unsigned cellOf(ProbeCounter C) const {
    return C.Field ? 1 + Words + (C.Field - 1) * PackedWords +
                         (C.Word - wideWords())
                   : 1 + C.Word;
  }
  unsigned exitCell(unsigned N) const {
    return 1 + Words + 3 * PackedWords + N;
  }
};

/// Nothing but a return stands in \p BB.
bool onlyReturns(const llvm::BasicBlock &BB);

/// Where threads leave \p BB: its terminator, or a thread's end before it.
llvm::Instruction &endOfPath(llvm::BasicBlock &BB);

} // namespace reconverge::instrument

#endif
