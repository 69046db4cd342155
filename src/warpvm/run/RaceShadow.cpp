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
// Agreement. A byte that nobody has read, not even who wrote it, may be written
// by several threads. Once a second one has written what was there, each later
// write is asked for the same, that of the last writer included: it could come
// before the others' in another order. What the first thread wrote before that
// does not matter: it is the last of its writes that stays, in any order.
//
// Limitation: of three or more unordered readers, or strong accesses, two are
// remembered. A writer that is ordered behind both and not behind a third
// passes.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/RaceShadow.h"

#include <algorithm>

namespace reconverge::warpvm {

uint64_t Shadow::usedBytes() const {
  return Pages.size() * sizeof(Page) + Strongs.size() * sizeof(StrongCell) +
         Bytes.size() * sizeof(Bytes.front());
}

/// Makes page \p Number the last one; false if there is no memory for it.
bool Shadow::turnTo(uint64_t Number) {
  auto Found = Pages.find(Number);
  if (Found == Pages.end()) {
    if (usedBytes() + sizeof(Page) > MaxBytes)
      return false;
    Found = Pages.try_emplace(Number, std::make_unique<Page>()).first;
  }
  LastNumber = Number;
  Last = Found->second.get();
  return true;
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

void Shadow::forget(uint64_t Address, uint64_t NumBytes) {
  for (uint64_t At = Address / WordBytes * WordBytes; At < Address + NumBytes;
       At += WordBytes)
    if (Pages.contains(At / PageBytes))
      *cellOf(At) = Cell();
    else
      At = (At / PageBytes + 1) * PageBytes - WordBytes;
}

void Shadow::clear() {
  // The next block touches the same ones: new ones would be cleared as well,
  // by the system.
  for (auto &Entry : Pages)
    std::fill(std::begin(Entry.second->Words), std::end(Entry.second->Words),
              Cell());
  LastNumber = ~uint64_t(0);
  Last = nullptr;
  Strongs.resize(1);
  Bytes.clear();
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

} // namespace reconverge::warpvm
