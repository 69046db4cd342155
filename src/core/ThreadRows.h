//===- core/ThreadRows.h - Threads, a row each ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of threads before they run, and what they then took: what any
// model of the one by the other is fitted to and tried on. `profile --paths`
// writes them, `train` reads them.
//
// The file: RowsMagic, the size of what follows and its hash (xxh3), then for
// each kernel its texts, loads and rows, sizes before them. Numbers are
// little-endian.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_THREADROWS_H
#define RECONVERGE_CORE_THREADROWS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace reconverge {

/// Threads of one launch, in the order of ThreadVectors.
struct ThreadRows {
  size_t Loads = 0;             ///< that were noted
  std::vector<float> Read;      ///< Loads of each thread, as they were read
  std::vector<uint64_t> Number; ///< of each thread, linear in the grid
  std::vector<double> Took;     ///< Lat of each thread, cycles
  size_t size() const { return Took.size(); }
  llvm::ArrayRef<float> read(size_t Row) const {
    return llvm::ArrayRef(Read).slice(Row * Loads, Loads);
  }
  void add(llvm::ArrayRef<float> Values, uint64_t Thread, double Cycles) {
    Read.insert(Read.end(), Values.begin(), Values.end());
    Number.push_back(Thread);
    Took.push_back(Cycles);
  }
};

/// The same of a kernel, by which code knows it.
struct KernelRows {
  std::string Kernel; ///< mangled
  std::string Module; ///< hash of its module's code (analysis/CodeHash.h)
  std::vector<uint32_t> Loads;     ///< numbers (AccessInfo::Id)
  std::vector<std::string> Places; ///< of each load, "app.cu:12"; may be empty
  uint64_t OfBlock = 1;            ///< threads of a thread block
  ThreadRows Rows;
};

/// Same rows, same bytes.
std::string printRows(llvm::ArrayRef<KernelRows> Kernels);
llvm::Error writeRows(llvm::ArrayRef<KernelRows> Kernels, llvm::StringRef Path);
/// The UserError names \p File and says what is wrong with it: another version,
/// or damaged.
llvm::Expected<std::vector<KernelRows>> parseRows(llvm::StringRef Bytes,
                                                  llvm::StringRef File);
llvm::Expected<std::vector<KernelRows>> readRows(llvm::StringRef Path);

} // namespace reconverge

#endif
