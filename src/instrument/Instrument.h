//===- instrument/Instrument.h - Code that counts -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_INSTRUMENT_INSTRUMENT_H
#define RECONVERGE_INSTRUMENT_INSTRUMENT_H

#include "instrument/ProbePlan.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/PassManager.h"

#include <functional>

namespace reconverge::instrument {

struct InstrumentOptions {
  unsigned Arch = 90; ///< sm_NN that the code is for
  /// Without inline PTX, for executors that do not know it; on a GPU that is
  /// slower, and counts can be wrong there (CellUpdate.cpp).
  bool Portable = false;
  /// Counts accesses to memory as well (from sm_80 on).
  bool Memory = true;
  /// Which functions count; empty: all.
  std::function<bool(const llvm::Function &)> Only;
};

/// The constant variable through which the host tells a kernel where its
/// counters are: a ProbeConfig. All zero at first: nothing is counted.
inline constexpr char ProbeConfigName[] = "__reconverge_probes";

struct ProbeConfig {
  /// Device address of 64-bit cells, [replica][set][cell], all zero; set 1 is
  /// for warps that lack lanes because the block's size is no multiple of 32.
  /// One replica more, the last, is of thread blocks in the sample's tail.
  uint64_t Counters = 0;
  uint64_t ReplicaMask = 0; ///< replicas - 1, replicas a power of two
  uint64_t Cells = 0;       ///< of one set: ModuleProbes::cells(kernel)
  /// Device address of 32-bit rows, [sampled block][word][thread], or 0. Of
  /// each Stride thread blocks in a row, the one whose number is in Sampled (a
  /// device address of 32-bit numbers) writes its threads' counters there.
  uint64_t Rows = 0, Sampled = 0, Stride = 1;
  uint32_t SampleBits = 0, Tail = ~0u; ///< who counts: a BlockSample
  /// Device address of areas (AccessProbes.h), so many bytes each; whose
  /// accesses to memory are counted: a MemorySample. All 0: no one's.
  uint64_t Memory = 0, MemoryStride = 0;
  uint32_t MemoryBits = 0, MemoryBlocks = 0;
  /// They count in the first window of time and then in one of each
  /// MemoryIdle + 1, a power of two (AccessProbes.cpp).
  uint64_t MemoryIdle = 0;
};

/// The plans of a module's functions and where their cells lie. Functions that
/// kernels call come first, so that a launch needs those and its own.
class ModuleProbes {
public:
  /// Of the functions of \p M that \p Only says, or of all. The cells and areas
  /// of a kernel hang on which others have probes.
  explicit ModuleProbes(
      llvm::Module &M, llvm::function_ref<bool(const llvm::Function &)> Only =
                           [](const llvm::Function &) { return true; });

  const ProbePlan &plan(const llvm::Function &F) const {
    return *Plans.find(&F)->second;
  }
  /// Of \p F's first cell.
  unsigned offset(const llvm::Function &F) const;
  /// Cells of one set that a launch of \p Kernel needs.
  unsigned cells(const llvm::Function &Kernel) const;

  /// The numbers of \p F's accesses to memory, each once.
  llvm::ArrayRef<uint32_t> accesses(const llvm::Function &F) const;
  /// The place of the first of them in an area.
  unsigned accessOffset(const llvm::Function &F) const;
  /// Accesses that an area for \p Kernel has room for.
  unsigned accessCount(const llvm::Function &Kernel) const;

private:
  llvm::MapVector<const llvm::Function *, std::unique_ptr<ProbePlan>> Plans;
  llvm::DenseMap<const llvm::Function *, unsigned> Offsets, AccessOffsets;
  llvm::DenseMap<const llvm::Function *, std::vector<uint32_t>> Accesses;
  unsigned Shared = 0, SharedAccesses = 0;
};

/// Inserts the probes of the functions of \p M, which is numbered and as it
/// goes to the code generator. Results of the code do not change.
void instrument(llvm::Module &M, const InstrumentOptions &Options = {});

class InstrumentPass : public llvm::PassInfoMixin<InstrumentPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
};

} // namespace reconverge::instrument

#endif
