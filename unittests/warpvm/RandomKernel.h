//===- unittests/warpvm/RandomKernel.h - Kernels made by dice ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_UNITTESTS_WARPVM_RANDOMKERNEL_H
#define RECONVERGE_UNITTESTS_WARPVM_RANDOMKERNEL_H

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace reconverge::warpvm {

struct RandomKernelOptions {
  unsigned Depth = 3;      ///< of nested statements
  unsigned Statements = 4; ///< at most, in one list
  bool Irreducible = true; ///< jumps into loops
  bool Inline = true;      ///< one function, not a kernel that calls another
  bool Returns = true;     ///< before the end, in the midst of others
  bool Barriers = true;    ///< where all threads of a block come
  bool Local = true;       ///< an array of the thread's own
  bool Shared = true;      ///< words of the thread's own in shared memory
  bool Optimise = false;   ///< simplifycfg, instcombine and loop passes on top
  bool Table = false;   ///< blocks copy `in` to shared memory, and read there
  unsigned Twins = 0;   ///< percent of the statements that are an if-else
                        ///< whose sides are much alike
  bool Records = false; ///< words of its own in global memory by constants,
                        ///< and no memory has two names
  bool Rows = false;    ///< words of its own in global memory are in rows as
                        ///< long as the grid: word * threads + thread
  bool RowsByInts = false; ///< that sum is one of 32 bits
  unsigned Loops = 0;      ///< percent that are a loop, beyond those by chance
};

/// Options as various as the seeds.
RandomKernelOptions randomOptions(uint64_t Seed);

/// Threads that a block of any launch may have, and bytes that each owns.
inline constexpr unsigned RandomKernelMaxThreads = 128;
inline constexpr unsigned RandomKernelOutBytes = 64;
inline constexpr unsigned RandomKernelInWords = 256;
inline constexpr unsigned RandomKernelSums = 16;
inline constexpr unsigned RandomKernelSharedWords = 4; ///< of a thread
/// The function that the kernel calls.
inline constexpr const char *RandomKernelBody = "body";

/// A device module with kernel `k(ptr in, ptr out, ptr sums, i32 n)`:
///   in    RandomKernelInWords words, only read
///   out   RandomKernelOutBytes for each thread of the grid, its own
///   sums  RandomKernelSums words that every thread adds to
///   n     the same for all
/// Threads share nothing else, so that each does alone what it does in a warp.
/// Every loop ends. The same seed and options give the same module.
std::unique_ptr<llvm::Module> randomKernel(llvm::LLVMContext &C, uint64_t Seed,
                                           const RandomKernelOptions &Options);

/// Runs the kernel of \p Device for each thread of the grid, one after the
/// other, as scalar code of the host that the VM has no part in.
void runScalar(const llvm::Module &Device, unsigned Blocks, unsigned Threads,
               const std::vector<uint32_t> &In, std::vector<uint32_t> &Out,
               std::vector<uint32_t> &Sums, uint32_t N);

} // namespace reconverge::warpvm

#endif
