//===- warpvm/run/RaceShadow.cpp - Who touched a byte last ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shadow memory: for each word of 4 bytes that is touched, a cell of 40 bytes
// with the accesses that later ones have to be compared with. A word of which a
// part is touched alone gets a cell for each byte. Pages of cells are made as
// they are needed.
//
//   plain write   the last one. An older one need not be kept (FastTrack,
//                 Flanagan and Freund 2009): either it comes before the last,
//                 and what is ordered behind the last is behind it too, or the
//                 two race, which has been said.
//   plain reads   two, by different threads: any writer conflicts with one of
//                 them at least. A read that comes before a new one makes room
//                 for it. If neither comes before the new read, the first is
//                 kept, and beside it the one of the other two whose thread is
//                 further from the first one's (another warp, another block),
//                 because nearby threads are more likely to be ordered later.
//                 A plain write clears both.
//   strong ones   two, likewise; writes are kept in preference to reads. A
//                 plain write clears both. A strong write clears neither plain
//                 reads nor the plain write. Strong is what is atomic, ordered
//                 or volatile.
//
// Who conflicts: two accesses of different threads, one of which writes. Strong
// ones do not race with one another, whatever their order, unless one is atomic
// for its block alone and the other thread is of another block.
//
// Limitation: of three or more unordered readers, or strong accesses, two are
// remembered. A writer that is ordered behind both and not behind a third
// passes.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/RaceShadow.h"

#include <algorithm>

namespace reconverge::warpvm {

/// 0: threads of one warp; 1: of one block; 2: of two.
static unsigned distance(const AccessRecord &A, const AccessRecord &B) {
  if (A.block() != B.block())
    return 2;
  return A.thread() / BlockClocks::GroupSize !=
         B.thread() / BlockClocks::GroupSize;
}

uint64_t Shadow::usedBytes() const {
  return Pages.size() * sizeof(Page) + Strongs.size() * sizeof(StrongCell) +
         Bytes.size() * sizeof(Bytes.front());
}

Shadow::Cell *Shadow::cellOf(uint64_t Address) {
  const uint64_t Number = Address / PageBytes;
  if (Number != LastNumber) {
    auto Found = Pages.find(Number);
    if (Found == Pages.end()) {
      if (usedBytes() + sizeof(Page) > MaxBytes)
        return nullptr;
      Found = Pages.try_emplace(Number, std::make_unique<Page>()).first;
    }
    LastNumber = Number;
    Last = Found->second.get();
  }
  return &Last->Words[Address % PageBytes / WordBytes];
}

/// Gives each byte of the word a cell of its own.
void Shadow::divide(Cell &C) {
  std::array<Cell, WordBytes> Parts;
  for (Cell &Part : Parts) {
    Part = C;
    if (C.More != NoMore) {
      Part.More = uint32_t(Strongs.size());
      Strongs.push_back(StrongCell(Strongs[C.More]));
    }
  }
  C = Cell();
  C.More = uint32_t(Bytes.size()) | Divided;
  Bytes.push_back(Parts);
}

bool Shadow::touch(uint64_t Address, uint64_t NumBytes, const NewAccess &A,
                   Reporter Report) {
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

void Shadow::forget(uint64_t Address, uint64_t NumBytes) {
  for (uint64_t At = Address / WordBytes * WordBytes; At < Address + NumBytes;
       At += WordBytes)
    if (Pages.contains(At / PageBytes))
      *cellOf(At) = Cell();
    else
      At = (At / PageBytes + 1) * PageBytes - WordBytes;
}

void Shadow::clear() {
  Pages.clear();
  LastNumber = ~uint64_t(0);
  Last = nullptr;
  Strongs.resize(1);
  Bytes.clear();
}

bool Shadow::isOrdered(const AccessRecord &Old, const NewAccess &A) const {
  return A.Clocks.orders(A.Record.thread(), Old.block(), Old.thread(),
                         Old.at());
}

/// \p Old may conflict with \p A.
void Shadow::compare(const AccessRecord &Old, const NewAccess &A,
                     Reporter Report) {
  if (!Old.any() || Old.sameThread(A.Record))
    return;
  const AccessRole &Role = SiteRoles[Old.site()];
  if (!Role.Writes && !A.Role.Writes)
    return;
  const bool NeverRace =
      Role.Strong && A.Role.Strong &&
      (Old.block() == A.Record.block() || !(Role.OfBlock || A.Role.OfBlock));
  Report({Old, NeverRace || isOrdered(Old, A)});
}

void Shadow::keepRead(std::array<AccessRecord, 2> &Slots, const NewAccess &A) {
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

void Shadow::keepStrong(Cell &C, const NewAccess &A) {
  if (C.More == NoMore) {
    C.More = uint32_t(Strongs.size());
    Strongs.emplace_back();
  }
  StrongCell &Slots = Strongs[C.More];
  auto Writes = [&](const AccessRecord &R) {
    return SiteRoles[R.site()].Writes;
  };
  for (AccessRecord &Old : Slots)
    if (Old.any() && Old.sameThread(A.Record) &&
        (A.Role.Writes || !Writes(Old))) {
      Old = A.Record;
      return;
    }
  for (AccessRecord &Old : Slots)
    if (!Old.any() || (A.Role.Writes && !Writes(Old))) {
      Old = A.Record;
      return;
    }
  if (A.Role.Writes || !(Writes(Slots[0]) || Writes(Slots[1])))
    keepRead(Slots, A);
}

void Shadow::visit(Cell &C, const NewAccess &A, Reporter Report) {
  compare(C.Written, A, Report);
  if (A.Role.Writes)
    for (const AccessRecord &Old : C.Readers)
      compare(Old, A, Report);
  if (C.More != NoMore)
    for (const AccessRecord &Old : StrongCell(Strongs[C.More]))
      compare(Old, A, Report);
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

} // namespace reconverge::warpvm
