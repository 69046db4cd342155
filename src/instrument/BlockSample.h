//===- instrument/BlockSample.h - Who counts ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_INSTRUMENT_BLOCKSAMPLE_H
#define RECONVERGE_INSTRUMENT_BLOCKSAMPLE_H

#include "llvm/IR/IRBuilder.h"

#include <cstdint>

namespace reconverge::instrument {

/// The thread blocks of a launch that count: one of each 1 << Bits in a row,
/// which stands for all of these, and each of those from Tail on, which fill
/// no such row any more and stand for themselves.
struct BlockSample {
  static constexpr unsigned MostBits = 16;
  static constexpr uint32_t NoTail = ~0u;

  unsigned Bits = 0;
  uint32_t Tail = NoTail;

  /// Of a grid of \p Blocks: at least \p Least of them; all, if it has not
  /// twice as many.
  static BlockSample of(uint64_t Blocks, uint64_t Least);

  uint64_t stride() const { return uint64_t(1) << Bits; }
  bool counts(uint32_t Block) const;
};

/// Of the rows of a BlockSample, one of each 1 << Bits: the block that counts
/// in it has its accesses to memory counted, too. What fills no such group of
/// rows has none.
struct MemorySample {
  unsigned Bits = 0;
  uint32_t Blocks = 0; ///< so many are chosen

  /// At most \p Most of a grid of \p Blocks, of which \p Who counts.
  static MemorySample of(uint64_t Blocks, const BlockSample &Who,
                         uint64_t Most);

  /// Whether \p Row is chosen. Its area is the (Row >> Bits)-th.
  bool counts(uint32_t Row) const;
};

/// The same, asked by a thread of its own block.
class BlockSampleCode {
public:
  /// \p Config: the variable ProbeConfigName.
  BlockSampleCode(llvm::IRBuilder<> &B, llvm::GlobalVariable &Config)
      : B(B), Config(Config) {}

  /// The block's number, of 32 bits; emitted once, at the first call.
  llvm::Value *block();
  llvm::Value *isInTail();
  llvm::Value *counts();
  /// Whether the block's accesses to memory are counted, and the device address
  /// of its area.
  llvm::Value *countsMemory();
  llvm::Value *area();
  /// Whether the block writes its threads' counters to rows, in which row and
  /// of what table: see ProbeConfig::Rows, which is not 0 here.
  llvm::Value *row();
  llvm::Value *hasRow(llvm::Value *Row);

private:
  llvm::Value *setting(unsigned Position, llvm::Type *Type);
  llvm::Value *isChosen(llvm::Value *Number, llvm::Value *Bits);
  llvm::Value *memoryRow();

  llvm::IRBuilder<> &B;
  llvm::GlobalVariable &Config;
  llvm::Value *Block = nullptr;
};

} // namespace reconverge::instrument

#endif
