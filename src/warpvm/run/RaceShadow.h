//===- warpvm/run/RaceShadow.h - Who touched a byte last --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_RACESHADOW_H
#define RECONVERGE_WARPVM_RUN_RACESHADOW_H

#include "warpvm/run/RaceClock.h"

#include "llvm/ADT/DenseMap.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace reconverge::warpvm {

/// Positions in the checker's list of sites.
inline constexpr uint32_t MaxSites = 1 << 20;

/// What an access does, as far as races go.
struct AccessRole {
  bool Writes = false;
  bool Strong = false;  ///< atomic, ordered or volatile
  bool Updates = false; ///< an atomic operation that reads and writes
  bool OfBlock = false; ///< atomic for the threads of the block alone
  bool operator==(const AccessRole &) const = default;
};

/// One access, in 12 bytes.
class AccessRecord {
public:
  AccessRecord() = default;
  AccessRecord(uint32_t Block, uint32_t Thread, uint32_t Site, Time At)
      : Who(uint64_t(Block) << 32 | uint64_t(Thread) << 20 | Site), At(At) {}
  bool any() const { return At != 0; }
  uint32_t block() const { return uint32_t(Who >> 32); }
  uint32_t thread() const { return Who >> 20 & 0xfff; }
  uint32_t site() const { return Who & (MaxSites - 1); }
  Time at() const { return At; }
  bool sameThread(const AccessRecord &Other) const {
    return Who >> 20 == Other.Who >> 20;
  }
  bool operator==(const AccessRecord &) const = default;

private:
  uint64_t Who = 0;
  Time At = 0;
} __attribute__((packed));

/// An access that is being made: one lane's part of one 4-byte word, or less.
struct NewAccess {
  AccessRecord Record;
  AccessRole Role;
  const BlockClocks &Clocks;
};

/// Of accesses to memory, what later ones must be compared with.
class Shadow {
public:
  /// Of each site.
  using Roles = std::vector<AccessRole>;
  /// An earlier access that a new one conflicts with.
  struct Conflict {
    AccessRecord With;
    bool Ordered;
    /// Both are plain writes of what nobody has read: if they store the same,
    /// neither is noticed by anyone.
    bool MayAgree;
  };
  /// \p MaxBytes: that it may take itself.
  Shadow(const Roles &SiteRoles, uint64_t MaxBytes)
      : SiteRoles(SiteRoles), MaxBytes(MaxBytes) {}

  /// \p A touches \p Bytes > 0 at \p Address. A conflict may be reported for
  /// each byte, by \p Report(const Conflict &), which says whether both wrote
  /// the same. Where that was so, it is asked of all later writes, too, of the
  /// same thread as well. False if there is no memory to remember it.
  template <typename Reporter>
  bool touch(uint64_t Address, uint64_t Bytes, const NewAccess &A,
             const Reporter &Report);
  /// Nobody has touched [Address, Address + Bytes).
  void forget(uint64_t Address, uint64_t Bytes);
  void clear();

private:
  static constexpr unsigned WordBytes = 4;
  static constexpr uint64_t PageBytes = 4096;
  static constexpr uint32_t NoMore = 0, Divided = 1u << 29;

  struct Cell {
    AccessRecord Written;                ///< by a plain write, the last
    std::array<AccessRecord, 2> Readers; ///< plain ones, of two threads
    uint32_t More : 30 = NoMore; ///< place in Strongs, or in Bytes if Divided
    uint32_t WasRead : 1 = 0;    ///< or touched by a strong access
    uint32_t Agreed : 1 = 0;     ///< written by several threads, all the same
  };
  using StrongCell = std::array<AccessRecord, 2>;
  struct Page {
    Cell Words[PageBytes / WordBytes];
  };

  uint64_t usedBytes() const;
  /// Null: there is no memory for it.
  Cell *cellOf(uint64_t Address) {
    const uint64_t Number = Address / PageBytes;
    if (Number != LastNumber && !turnTo(Number))
      return nullptr;
    return &Last->Words[Address % PageBytes / WordBytes];
  }
  bool turnTo(uint64_t Page);
  void divide(Cell &C);
  template <typename Reporter>
  void visit(Cell &C, const NewAccess &A, const Reporter &Report);
  template <typename Reporter>
  bool compare(const AccessRecord &Old, const NewAccess &A, bool MayAgree,
               const Reporter &Report);
  void keepRead(std::array<AccessRecord, 2> &Slots, const NewAccess &A);
  void keepStrong(Cell &C, const NewAccess &A);
  static bool isOrdered(const AccessRecord &Old, const NewAccess &A) {
    return A.Clocks.orders(A.Record.thread(), Old.block(), Old.thread(),
                           Old.at());
  }

  const Roles &SiteRoles;
  const uint64_t MaxBytes;
  llvm::DenseMap<uint64_t, std::unique_ptr<Page>> Pages;
  uint64_t LastNumber = ~uint64_t(0);
  Page *Last = nullptr;
  std::vector<StrongCell> Strongs{1}; ///< the first is nobody's
  std::vector<std::array<Cell, WordBytes>> Bytes;
};

//===----------------------------------------------------------------------===//
// For each lane's access: inlined
//===----------------------------------------------------------------------===//

/// 0: threads of one warp; 1: of one block; 2: of two.
inline unsigned distance(const AccessRecord &A, const AccessRecord &B) {
  if (A.block() != B.block())
    return 2;
  return A.thread() / BlockClocks::GroupSize !=
         B.thread() / BlockClocks::GroupSize;
}

/// \p Old may conflict with \p A. True if both wrote the same.
template <typename Reporter>
[[gnu::always_inline]] inline bool
Shadow::compare(const AccessRecord &Old, const NewAccess &A, bool MayAgree,
                const Reporter &Report) {
  if (!Old.any() || Old.sameThread(A.Record))
    return false;
  const AccessRole &Role = SiteRoles[Old.site()];
  if (!Role.Writes && !A.Role.Writes)
    return false;
  const bool NeverRace =
      Role.Strong && A.Role.Strong &&
      (Old.block() == A.Record.block() || !(Role.OfBlock || A.Role.OfBlock));
  return Report({Old, NeverRace || isOrdered(Old, A), MayAgree});
}

inline void Shadow::keepRead(std::array<AccessRecord, 2> &Slots,
                             const NewAccess &A) {
  for (AccessRecord &Old : Slots)
    if (Old.sameThread(A.Record) && Old.any()) {
      Old = A.Record;
      return;
    }
  for (AccessRecord &Old : Slots)
    if (!Old.any() || isOrdered(Old, A)) {
      Old = A.Record;
      return;
    }
  if (distance(Slots[0], A.Record) > distance(Slots[0], Slots[1]))
    Slots[1] = A.Record;
}

template <typename Reporter>
void Shadow::visit(Cell &C, const NewAccess &A, const Reporter &Report) {
  const bool MayAgree = A.Role.Writes && !A.Role.Strong && !C.WasRead;
  // Of the thread that was the last to write, nothing is compared below.
  if (C.Agreed && (A.Role.Writes || A.Role.Strong) &&
      C.Written.sameThread(A.Record))
    Report({C.Written, /*Ordered=*/true, MayAgree});
  C.Agreed |= compare(C.Written, A, MayAgree, Report);
  if (A.Role.Writes)
    for (const AccessRecord &Old : C.Readers)
      compare(Old, A, /*MayAgree=*/false, Report);
  if (C.More != NoMore)
    for (const AccessRecord &Old : StrongCell(Strongs[C.More]))
      compare(Old, A, /*MayAgree=*/false, Report);
  C.WasRead |= A.Role.Strong || !A.Role.Writes;
  if (A.Role.Strong) {
    keepStrong(C, A);
  } else if (A.Role.Writes) {
    C.Written = A.Record;
    C.Readers = {};
    if (C.More != NoMore)
      Strongs[C.More] = {};
  } else {
    keepRead(C.Readers, A);
  }
}

template <typename Reporter>
bool Shadow::touch(uint64_t Address, uint64_t NumBytes, const NewAccess &A,
                   const Reporter &Report) {
  const uint64_t End = Address + NumBytes;
  while (Address < End) {
    const uint64_t Next =
        std::min(End, (Address / WordBytes + 1) * uint64_t(WordBytes));
    Cell *C = cellOf(Address);
    if (!C)
      return false;
    if (!(C->More & Divided) && Next - Address < WordBytes)
      divide(*C);
    if (!(C->More & Divided)) {
      visit(*C, A, Report);
    } else {
      for (uint64_t Byte = Address; Byte < Next; ++Byte)
        visit(Bytes[C->More & ~Divided][Byte % WordBytes], A, Report);
    }
    Address = Next;
  }
  return true;
}

} // namespace reconverge::warpvm

#endif
