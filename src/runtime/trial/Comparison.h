//===- runtime/trial/Comparison.h - Two results of one launch ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_TRIAL_COMPARISON_H
#define RECONVERGE_RUNTIME_TRIAL_COMPARISON_H

#include "core/Decision.h"
#include "runtime/trial/Values.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>
#include <vector>

namespace reconverge::runtime {

/// A stretch of an allocation. All results of a launch come in the same ones.
struct MemoryPage {
  uint64_t Base;                          ///< address of the allocation
  uint64_t Offset;                        ///< bytes into it
  llvm::function_ref<std::string()> Name; ///< of the allocation, in words
};

/// Pages that came out otherwise when the original ran in another order.
class OrderSpread {
public:
  /// \p Kernel writes the values.
  explicit OrderSpread(const llvm::Function &Kernel)
      : Types(writtenTypes(Kernel)) {}

  void add(const MemoryPage &Page, llvm::ArrayRef<uint8_t> Natural,
           llvm::ArrayRef<uint8_t> Other);

  uint64_t bytes() const { return Bytes; } ///< that vary
  /// Of these, those of which little can be told: in no set, and of no
  /// floating-point value that keeps half of its digits, as a sum does.
  uint64_t loose() const;
  /// Whether the allocation at \p Base varies and yet always holds the same
  /// words, in one place or another: who appends by atomics leaves such a set.
  bool isSet(uint64_t Base) const;
  uint64_t kept() const { return Kept; } ///< bytes of host memory it takes
  llvm::ArrayRef<ValueType> types() const { return Types; }

  struct Page {
    std::vector<std::vector<uint8_t>> Others; ///< its other results
    llvm::BitVector Varies;
    llvm::BitVector Loose; ///< but for those in a set
  };
  /// Null if no byte of the page at \p Address varies.
  const Page *page(uint64_t Address) const;

private:
  struct Allocation {
    uint64_t Loose = 0;   ///< bytes, but for a set
    uint64_t Balance = 0; ///< of all other results over the natural one
  };
  std::vector<ValueType> Types;
  llvm::DenseMap<uint64_t, Page> Pages;             ///< by address
  llvm::DenseMap<uint64_t, Allocation> Allocations; ///< by their base
  uint64_t Bytes = 0, Kept = 0;
};

/// Why nothing can be told of a candidate's result where the original varies so
/// many of the \p All bytes that are compared; empty if something can.
std::string whyUnstable(const OrderSpread &Spread, uint64_t All);

/// Compares a candidate's memory with the original's.
class Comparison {
public:
  explicit Comparison(const OrderSpread &Spread)
      : Spread(Spread), Types(Spread.types()) {}

  /// A page as the original and as the candidate left it.
  void add(const MemoryPage &Page, llvm::ArrayRef<uint8_t> Original,
           llvm::ArrayRef<uint8_t> Variant);

  /// Whether nothing that is added can change the verdict.
  bool isSettled() const { return First && !First->Ulps; }

  /// Of \p All bytes, those that were added among them. \p Unknown: why no
  /// verdict can be given; empty: one can.
  Verdict verdict(uint64_t All, llvm::StringRef Unknown) const;

private:
  bool isWithinSpread(const OrderSpread::Page *Page, uint64_t Address,
                      llvm::ArrayRef<uint8_t> Original,
                      llvm::ArrayRef<uint8_t> Variant, size_t At) const;

  /// What decides, if anything does.
  const Difference *whatDiffers() const;
  void addToSet(const MemoryPage &Page, llvm::ArrayRef<uint8_t> Original,
                llvm::ArrayRef<uint8_t> Variant);
  /// Adds the difference at \p At to those of which First is to tell. Where the
  /// value ends if it is one of rounding.
  std::optional<size_t> note(const MemoryPage &Page,
                             llvm::ArrayRef<uint8_t> Original,
                             llvm::ArrayRef<uint8_t> Variant, size_t At);
  Difference differenceAt(const MemoryPage &Page,
                          llvm::ArrayRef<uint8_t> Original,
                          llvm::ArrayRef<uint8_t> Variant, size_t At) const;

  /// Of an allocation that holds a set.
  struct Set {
    uint64_t Balance = 0;            ///< 0: the same words
    std::optional<Difference> First; ///< beyond what the original varies
  };
  const OrderSpread &Spread;
  llvm::ArrayRef<ValueType> Types;
  std::optional<Difference> First;     ///< beyond all that may be
  llvm::MapVector<uint64_t, Set> Sets; ///< by the allocation's base
};

} // namespace reconverge::runtime

#endif
