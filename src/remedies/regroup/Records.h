//===- remedies/regroup/Records.h - Data in the order of threads -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REGROUP_RECORDS_H
#define RECONVERGE_REMEDIES_REGROUP_RECORDS_H

#include "remedies/common/Refusal.h"
#include "remedies/regroup/Options.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Alignment.h"

namespace llvm {
class Function;
class Instruction;
class Type;
class Value;
} // namespace llvm

namespace reconverge::remedies::regroup {

/// Accesses of a kernel that are made to memory in the order in which threads
/// run, and what of each thread lies there: its columns.
struct RecordsPlan {
  struct Column {
    llvm::Type *T;
    uint32_t Size;   ///< bytes, a power of two
    uint32_t Offset; ///< bytes of a thread in the columns before
  };
  struct Access {
    llvm::Instruction *I; ///< a load or store
    unsigned Column;
  };
  std::vector<Column> Columns;
  /// Loads: gathered before the kernel. Stores: scattered behind it.
  std::vector<Access> Loads, Stores;
  /// Has a bit for each column that is stored to, from the lowest, in the order
  /// of Stored: whether the thread did.
  unsigned Flags = 0;
  std::vector<unsigned> Stored; ///< columns
  uint32_t Bytes = 0;           ///< of a thread, in all columns
};

/// The accesses of \p Kernel by its thread's number that may be moved; a refusal
/// if there is none.
PlanOr<RecordsPlan> planRecords(llvm::Function &Kernel, RecordLayout Of);

/// Adds a kernel \p Name, redirected, with the parameters of \p Kernel and
///
///   (..., u8 *records, index, units, ...)
///
/// that loads for each thread what the plan's loads of \p Kernel will load, and
/// no more. Loads that cannot be known before leave the plan; a refusal if none
/// is left of those, nor a store. Null: there is nothing to load.
PlanOr<llvm::Function *> makeGather(llvm::Function &Kernel,
                                    const llvm::Twine &Name, RecordsPlan &Plan);

/// The same that stores what the plan's stores would have; null: none.
llvm::Function *makeScatter(llvm::Function &Kernel, const llvm::Twine &Name,
                            const RecordsPlan &Plan);

/// Has the plan's accesses be made to columns. \p F: the kernel, redirected,
/// parameter \p Number of which is the address of the records. \p Ends: the
/// returns of its threads.
void useRecords(llvm::Function &F, unsigned Number, const RecordsPlan &Plan,
                llvm::ArrayRef<llvm::Instruction *> Ends);

/// Has the load or store \p I access \p Address, of which \p By is known. What
/// was said of its memory is forgotten.
void moveAccess(llvm::Instruction &I, llvm::Value *Address, llvm::Align By);

} // namespace reconverge::remedies::regroup

#endif
