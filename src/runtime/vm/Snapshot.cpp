//===- runtime/vm/Snapshot.cpp - Device memory as it was ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program may hold gigabytes that it never touched, and a kernel writes few
// of the pages that it may write. So:
//
// 1. A page that the system has not given out yet (it says so in
//    /proc/self/pagemap) is zero, and is not even looked at; one that is all
//    zero is not copied.
// 2. A second snapshot shares the pages that are still what the first one had:
//    before-state and result of a launch take little more than the first.
// 3. Comparing and restoring go page by page with memcmp, at the speed of
//    memory. Only pages that differ are written, so that the others stay
//    untouched and memory that may not be written is not.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Snapshot.h"

#include "llvm/Support/MathExtras.h"

#include <cassert>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;
using reconverge::warpvm::Allocation;
using reconverge::warpvm::MemoryKind;

namespace reconverge::runtime {

static uint64_t pageSize() {
  static const uint64_t Size = sysconf(_SC_PAGESIZE);
  return Size;
}

static const uint8_t *zeroPage() {
  static const std::vector<uint8_t> Zeros(pageSize());
  return Zeros.data();
}

namespace {
/// Asks the system which pages it has given out, many at a time.
class PageMap {
public:
  PageMap() : File(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
  ~PageMap() {
    if (File >= 0)
      close(File);
  }
  PageMap(const PageMap &) = delete;
  PageMap &operator=(const PageMap &) = delete;

  /// Whether the page at \p Address may hold data; true where it cannot be
  /// known.
  bool holdsData(uint64_t Address) {
    const uint64_t Page = Address / pageSize();
    if (Page - First >= Known)
      read(Page);
    constexpr uint64_t Present = uint64_t(1) << 63, Swapped = Present >> 1;
    return Page - First >= Known ||
           (Entries[Page - First] & (Present | Swapped));
  }

private:
  void read(uint64_t Page) {
    First = Page;
    Known = 0;
    if (File < 0)
      return;
    ssize_t Got = pread(File, Entries, sizeof(Entries), off_t(Page * 8));
    Known = Got > 0 ? uint64_t(Got) / 8 : 0;
  }

  int File;
  uint64_t First = 0, Known = 0;
  uint64_t Entries[512];
};
} // namespace

/// Visits the pages of \p A in order until one visit returns false; returns
/// whether none did.
bool MemorySnapshot::forEachPage(const Area &A, PageVisitor Visit) {
  PageMap Map;
  const uint64_t End = A.What.Base + A.What.Size;
  uint64_t At = A.What.Base;
  for (size_t Page = 0; At < End; ++Page) {
    const uint64_t Next = std::min(alignTo(At + 1, pageSize()), End);
    // Registered memory is the program's own, and may come from a file.
    const bool HoldsData =
        A.What.Kind == MemoryKind::Registered || Map.holdsData(At);
    if (!Visit(A, Page, reinterpret_cast<uint8_t *>(At), Next - At, HoldsData))
      return false;
    At = Next;
  }
  return true;
}

static uint64_t pagesOf(const Allocation &A) {
  return divideCeil(A.Base % pageSize() + A.Size, pageSize());
}

std::optional<MemorySnapshot>
MemorySnapshot::take(const warpvm::DeviceMemory &Memory, uint64_t Budget,
                     const MemorySnapshot *Earlier) {
  MemorySnapshot S;
  Memory.forEachLive([&](const Allocation &A) {
    if (!A.Constant)
      S.Areas.push_back({A, {}});
  });
  assert((!Earlier || Earlier->Areas.size() == S.Areas.size()) &&
         "allocations came or went between two snapshots");
  for (size_t I = 0; I != S.Areas.size(); ++I) {
    Area &Copy = S.Areas[I];
    const uint64_t Pages = pagesOf(Copy.What);
    S.Bytes += Pages * sizeof(uint8_t *);
    if (S.Bytes > Budget)
      return std::nullopt;
    Copy.Pages.resize(Pages);
    const bool Fits = forEachPage(Copy, [&](const Area &, size_t Page,
                                            uint8_t *At, uint64_t Bytes,
                                            bool HoldsData) {
      if (!HoldsData || !std::memcmp(At, zeroPage(), Bytes))
        return true;
      const uint8_t *Same = Earlier ? Earlier->Areas[I].Pages[Page] : nullptr;
      if (!Same || std::memcmp(At, Same, Bytes)) {
        S.Bytes += Bytes;
        if (S.Bytes > Budget)
          return false;
        auto *Own =
            static_cast<uint8_t *>(S.Copies->Allocate(Bytes, Align(64)));
        std::memcpy(Own, At, Bytes);
        Same = Own;
      }
      Copy.Pages[Page] = Same;
      return true;
    });
    if (!Fits)
      return std::nullopt;
  }
  return S;
}

uint64_t MemorySnapshot::extent() const {
  uint64_t Sum = 0;
  for (const Area &A : Areas)
    Sum += A.What.Size;
  return Sum;
}

void MemorySnapshot::restore() const {
  for (const Area &A : Areas)
    forEachPage(A, [](const Area &A, size_t Page, uint8_t *At, uint64_t Bytes,
                      bool HoldsData) {
      const uint8_t *Then = A.Pages[Page];
      if (!Then && !HoldsData)
        return true;
      Then = Then ? Then : zeroPage();
      if (std::memcmp(At, Then, Bytes))
        std::memcpy(At, Then, Bytes);
      return true;
    });
}

void MemorySnapshot::differences(Visitor Visit) const {
  for (const Area &A : Areas)
    forEachPage(A, [&](const Area &A, size_t Page, uint8_t *At, uint64_t Bytes,
                       bool HoldsData) {
      const uint8_t *Then = A.Pages[Page];
      if (!Then && !HoldsData)
        return true;
      Then = Then ? Then : zeroPage();
      if (std::memcmp(At, Then, Bytes))
        Visit(A.What, uint64_t(At) - A.What.Base, ArrayRef(Then, Bytes),
              ArrayRef(At, Bytes));
      return true;
    });
}

} // namespace reconverge::runtime
