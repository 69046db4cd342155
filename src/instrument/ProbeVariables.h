//===- instrument/ProbeVariables.h - A thread's counters --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function's counters while it runs, and what else its probes remember:
// variables of a thread, i32 each. How words are kept says ProbeWords.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_INSTRUMENT_PROBEVARIABLES_H
#define RECONVERGE_INSTRUMENT_PROBEVARIABLES_H

#include "instrument/ProbePlan.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

namespace reconverge::instrument {

class ProbeVariables {
public:
  /// Of \p F, all 0 where \p B is.
  ProbeVariables(const ProbePlan &Plan, llvm::Function &F,
                 llvm::IRBuilder<> &B);

  std::vector<llvm::AllocaInst *> Exits;  ///< of Summed groups; others null
  std::vector<llvm::AllocaInst *> Rounds; ///< of splits Around: the mask of the
                                          ///< iteration before; others null
  llvm::AllocaInst *Mask = nullptr;       ///< who runs this together; or null
  llvm::AllocaInst *Gone = nullptr;       ///< lanes seen leaving; or null

  /// Adds 1 to \p C where \p Condition holds; null: always. Emitted by
  /// settle(), for all counters since the last at once.
  void count(ProbeCounter C, llvm::Value *Condition);
  void settle(llvm::IRBuilder<> &B);

  /// Of the registers before narrow words from \p First to \p Last: whether a
  /// byte is half full.
  llvm::Value *isHalfFull(llvm::IRBuilder<> &B, unsigned First,
                          unsigned Last) const;
  /// Has the words behind register \p R take over what its bytes have.
  void takeOver(llvm::IRBuilder<> &B, unsigned R) const;

  /// Word \p W, bytes of a packed one. Of narrow words all that they have once
  /// these have taken over. In memory, read anew each time: that takes a
  /// register for as short as can be.
  llvm::Value *word(llvm::IRBuilder<> &B, unsigned W) const;
  /// The same of words in memory, and of packed ones from register \p R,
  /// numbered there by a value.
  llvm::Value *wordInMemory(llvm::IRBuilder<> &B, llvm::Value *Position) const;
  llvm::Value *wordOfBits(llvm::IRBuilder<> &B, unsigned R,
                          llvm::Value *Position) const;
  static constexpr unsigned WordsOfBits = 8; ///< 32 bits, 4 to a word

  /// Whether one of \p Counters is not 0.
  llvm::Value *isAny(llvm::IRBuilder<> &B,
                     llvm::ArrayRef<ProbeCounter> Counters) const;

  /// Makes registers of all that need not be in memory.
  void promote(llvm::Function &F);

private:
  llvm::AllocaInst *make(llvm::Function &F, llvm::IRBuilder<> &B,
                         const llvm::Twine &Name);
  llvm::Value *inMemory(llvm::IRBuilder<> &B, unsigned W) const;
  /// Of a counter in a packed word: in which register, and its bit there.
  struct Bit {
    unsigned Register;
    uint32_t Mask;
  };
  Bit bitOf(ProbeCounter C) const;

  const ProbePlan &Plan;
  std::vector<llvm::AllocaInst *> Whole; ///< words
  std::vector<llvm::AllocaInst *> Bytes; ///< before narrow words, in order
  /// Of packed words: field F of the N-th here is bit 8 * F + N.
  std::vector<llvm::AllocaInst *> Bits;
  llvm::AllocaInst *Memory = nullptr; ///< an array of words; or null
  llvm::SmallVector<llvm::AllocaInst *> Registers; ///< all but Memory
  /// What counts next: a variable, and what to add to it when.
  struct Term {
    llvm::Value *Condition;
    uint32_t By;
  };
  llvm::MapVector<llvm::Value *, llvm::SmallVector<Term, 3>> Pending;
  llvm::MapVector<unsigned, llvm::Value *> PendingInMemory;
};

} // namespace reconverge::instrument

#endif
