//===- warpvm/memory/DeviceMemory.cpp - The memory that kernels may touch -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A wild access of a kernel must fault at no cost to good kernels, so that the
// hardware does the check. One range of addresses is reserved without access;
// allocations are carved out of it, page by page:
//
//                 span                             span
//   |<--------------------------->|<--------------------------------->|
//   | pages (read, write) | guards| pages (read, write)       | guards|
//   |    [     block     ]|   |   |             [    block   ]|   |   |
//
// 1. A block lies at the end of its pages, as near to the guards as its
//    alignment allows: an access past the end, the commonest mistake, is off by
//    less than 256 bytes before it faults. lookup() knows the exact bounds, for
//    those who test every access.
//    A GPU maps pages of 2 MiB: such an access goes through there unless the
//    block fills its last page, and public programs live by that. The first of
//    the two guards is slack: if it is hit where a GPU would let pass, it can
//    be opened, and the access goes on in zeros that belong to nobody. It is
//    closed after the launch, so that each kernel that does this is known.
// 2. Freed blocks lose their pages (the memory goes back to the system at once)
//    and their access, and wait in a quarantine, oldest first. New blocks come
//    from addresses that are not in quarantine, so that a use after free
//    faults, and is told apart from an address that was never handed out. The
//    quarantine is bounded in blocks (they take our memory) and in addresses
//    (touched once, they take the system's page tables); what leaves it is
//    used again.
// 3. Each guarded block costs the kernel two mappings, of which a process may
//    have 65,530 (vm.max_map_count). Past GuardedBlocks live ones, new blocks
//    go without a guard, so that neighbours share a mapping; lookup() still
//    knows them.
//
// The addresses are the host's own: a program that reads a device pointer on
// the host gets the data here and a fault with a GPU. That mistake costs
// nothing to the kernel and cannot be seen from here without slowing every
// copy, so it is let pass.
//
// Limitation: an access below a block by less than the rest of its first page
// does not fault by itself.
//
//===----------------------------------------------------------------------===//

#include "warpvm/memory/DeviceMemory.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;

namespace reconverge::warpvm {

static constexpr uint64_t GuardedBlocks = 16384;
static constexpr uint64_t QuarantineBlocks = 16384;
static constexpr uint64_t QuarantineBytes = uint64_t(4) << 30; ///< addresses
static constexpr uint64_t MappingBytes = 2 << 20; ///< a GPU's pages
static constexpr unsigned FreeSpansTried = 64; ///< before new addresses serve
static constexpr uint64_t HugeFrom = 4 << 20;  ///< bytes; where huge pages pay
static constexpr uint64_t GivenBackFrom = 16 << 20; ///< bytes of zeros

char OutOfDeviceMemory::ID = 0;

void OutOfDeviceMemory::log(raw_ostream &OS) const { OS << Message; }

std::error_code OutOfDeviceMemory::convertToErrorCode() const {
  return std::make_error_code(std::errc::not_enough_memory);
}

static Error outOfMemory(const Twine &Message) {
  return make_error<OutOfDeviceMemory>(Message.str());
}

//===----------------------------------------------------------------------===//
// Making and sizing
//===----------------------------------------------------------------------===//

/// What is counted of a request depends on the low bits of addresses (TagBits),
/// so these are the same in each run.
static constexpr uint64_t RangeAlignment = 8 << 20;

DeviceMemory::DeviceMemory(uint64_t Begin, uint64_t End, uint64_t Capacity)
    : RangeBegin(Begin), RangeEnd(End), PageSize(sysconf(_SC_PAGESIZE)),
      Bump(Begin + PageSize), Capacity(Capacity) {}

DeviceMemory::~DeviceMemory() {
  if (RangeEnd != RangeBegin)
    munmap(reinterpret_cast<void *>(RangeBegin), RangeEnd - RangeBegin);
}

Expected<std::unique_ptr<DeviceMemory>> DeviceMemory::create(uint64_t Capacity,
                                                             uint64_t Reserve) {
  const uint64_t Page = sysconf(_SC_PAGESIZE);
  const uint64_t Least = alignTo(Capacity + 2 * Page, Page);
  for (uint64_t Bytes = alignTo(std::max(Reserve, Least), Page); Bytes >= Least;
       Bytes = alignTo(Bytes / 2, Page)) {
    void *At = mmap(nullptr, Bytes + RangeAlignment, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (At != MAP_FAILED) {
      const uint64_t From = uint64_t(At), Begin = alignTo(From, RangeAlignment);
      if (Begin != From)
        munmap(At, Begin - From);
      if (const uint64_t Rest = From + RangeAlignment - Begin)
        munmap(reinterpret_cast<void *>(Begin + Bytes), Rest);
      return std::unique_ptr<DeviceMemory>(
          new DeviceMemory(Begin, Begin + Bytes, Capacity));
    }
    if (Bytes == Least)
      break;
    if (Bytes / 2 < Least)
      Bytes = 2 * Least; // the last try takes what is needed, no more
  }
  return outOfMemory("cannot reserve " + Twine(Least >> 20) +
                     " MiB of addresses for device memory");
}

DeviceMemory &DeviceMemory::instance() {
  static DeviceMemory *Instance = [] {
    Expected<std::unique_ptr<DeviceMemory>> Made = create(defaultCapacity());
    if (Made)
      return Made->release();
    consumeError(Made.takeError());
    return new DeviceMemory(0, 0, 0);
  }();
  return *Instance;
}

/// A control group's limit in bytes; none where the file says "max" or is
/// missing.
static std::optional<uint64_t> limitIn(const char *Path) {
  FILE *File = fopen(Path, "r");
  if (!File)
    return std::nullopt;
  unsigned long long Bytes = 0;
  const bool Found = fscanf(File, "%llu", &Bytes) == 1;
  fclose(File);
  return Found ? std::optional<uint64_t>(Bytes) : std::nullopt;
}

uint64_t DeviceMemory::defaultCapacity() {
  uint64_t Bytes =
      uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  for (const char *Path : {"/sys/fs/cgroup/memory.max",
                           "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (std::optional<uint64_t> Limit = limitIn(Path))
      Bytes = std::min(Bytes, *Limit);
  return std::max<uint64_t>(Bytes / 4 * 3, uint64_t(1) << 30);
}

bool DeviceMemory::trackWrites() {
  if (!Writes && RangeEnd != RangeBegin)
    Writes = WriteShadow::create(RangeBegin, RangeEnd);
  return Writes != nullptr;
}

void DeviceMemory::setCapacity(uint64_t Bytes) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Capacity = RangeEnd == RangeBegin ? 0 : Bytes;
}

uint64_t DeviceMemory::capacity() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Capacity;
}

uint64_t DeviceMemory::used() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Used;
}

uint64_t DeviceMemory::liveBlocks() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Live;
}

//===----------------------------------------------------------------------===//
// Spans of addresses
//===----------------------------------------------------------------------===//

/// \p Bytes of addresses from the first of \p Tries free spans that has them at
/// a multiple of \p Step.
std::optional<uint64_t> DeviceMemory::takeFree(uint64_t Bytes, uint64_t Step,
                                               size_t Tries) {
  for (auto Span = Free.begin(); Span != Free.end() && Tries; ++Span, --Tries) {
    const auto [Begin, End] = *Span;
    const uint64_t At = alignTo(Begin, Step);
    if (At >= End || Bytes > End - At)
      continue;
    Free.erase(Span);
    if (At != Begin)
      Free[Begin] = At;
    if (At + Bytes != End)
      Free[At + Bytes] = End;
    return At;
  }
  return std::nullopt;
}

/// \p Bytes of addresses (whole pages), so placed that a block that ends with
/// the span's pages can have \p Align.
std::optional<uint64_t> DeviceMemory::takeSpan(uint64_t Bytes, uint64_t Align) {
  const uint64_t Step = std::max(Align, PageSize);
  if (std::optional<uint64_t> At = takeFree(Bytes, Step, FreeSpansTried))
    return At;
  const uint64_t Fresh = alignTo(Bump, Step);
  if (Fresh < RangeEnd && Bytes <= RangeEnd - Fresh) {
    Bump = Fresh + Bytes;
    return Fresh;
  }
  while (true) {
    if (std::optional<uint64_t> At = takeFree(Bytes, Step, Free.size()))
      return At;
    if (Quarantine.empty())
      return std::nullopt;
    reclaimOldest();
  }
}

/// The block that was freed first gives its addresses back, joined with free
/// neighbours.
void DeviceMemory::reclaimOldest() {
  const uint64_t Begin = Quarantine.begin()->second;
  Quarantine.erase(Quarantine.begin());
  auto Block = Blocks.find(Begin);
  assert(Block != Blocks.end() && "quarantine and blocks are kept together");
  uint64_t End = Block->second.SpanEnd;
  Quarantined -= End - Begin;
  Blocks.erase(Block);
  auto After = Free.lower_bound(Begin);
  if (After != Free.end() && After->first == End) {
    End = After->second;
    After = Free.erase(After);
  }
  if (After != Free.begin() && std::prev(After)->second == Begin)
    std::prev(After)->second = End;
  else
    Free[Begin] = End;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static bool countsAgainstCapacity(MemoryKind Kind) {
  return Kind != MemoryKind::Host && Kind != MemoryKind::Registered;
}

Expected<void *> DeviceMemory::allocate(uint64_t Size, MemoryKind Kind,
                                        uint64_t Align, StringRef Name) {
  assert(Size > 0 && isPowerOf2_64(Align) && "an allocation has a size");
  Align = std::max(Align, Alignment);
  std::lock_guard<std::mutex> Lock(Mutex);
  const bool Counts = countsAgainstCapacity(Kind);
  const uint64_t Room =
      Counts ? Capacity - std::min(Used, Capacity) : RangeEnd - RangeBegin;
  if (Size > Room)
    return outOfMemory(Twine(Size) + " bytes asked for, " + Twine(Room) +
                       " of " + Twine(Capacity) + " left");

  // Sizes are below the range's now: none of these sums can wrap.
  const uint64_t Padded = alignTo(Size, Align);
  const uint64_t Pages = alignTo(Padded, PageSize);
  const uint64_t Guard = Live < GuardedBlocks ? 2 * PageSize : 0;
  std::optional<uint64_t> Begin = takeSpan(Pages + Guard, Align);
  if (!Begin)
    return outOfMemory("no " + Twine(Size) +
                       " bytes of addresses left in a row");
  void *At = reinterpret_cast<void *>(*Begin);
  if (mprotect(At, Pages, PROT_READ | PROT_WRITE)) {
    Free[*Begin] = *Begin + Pages + Guard;
    return outOfMemory("the system has no " + Twine(Size) + " bytes to give");
  }
  if (Pages >= HugeFrom)
    madvise(At, Pages, MADV_HUGEPAGE); // advice: a refusal changes nothing

  Block New;
  New.PagesEnd = *Begin + Pages;
  New.SpanEnd = New.PagesEnd + Guard;
  New.What = {alignDown(New.PagesEnd - Size, Align),
              Size,
              Kind,
              /*Live=*/true,
              /*Constant=*/false,
              /*Managed=*/Kind == MemoryKind::Managed,
              ++Serials[unsigned(Kind)],
              Name.str()};
  Blocks[*Begin] = New;
  ++Generation;
  Used += Counts ? Size : 0;
  ++Live;
  return reinterpret_cast<void *>(New.What.Base);
}

void DeviceMemory::zero(void *At, uint64_t Bytes) const {
  const uint64_t From = uint64_t(At), To = From + Bytes,
                 Begin = alignTo(From, MappingBytes),
                 End = alignDown(To, MappingBytes);
  void *Pages = reinterpret_cast<void *>(Begin);
  if (Bytes < GivenBackFrom || !inRange(From) ||
      madvise(Pages, End - Begin, MADV_DONTNEED)) {
    std::memset(At, 0, Bytes);
    return;
  }
  std::memset(At, 0, Begin - From);
  std::memset(reinterpret_cast<void *>(End), 0, To - End);
}

void DeviceMemory::mark(const void *Pointer, bool Allocation::*What) {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto Found = blockAt(uint64_t(Pointer));
  if (Found != Blocks.end() &&
      Found->second.What.contains(uint64_t(Pointer), 1))
    Blocks.find(Found->first)->second.What.*What = true;
  ++Generation;
}

void DeviceMemory::markConstant(const void *Pointer) {
  mark(Pointer, &Allocation::Constant);
}

void DeviceMemory::markManaged(const void *Pointer) {
  mark(Pointer, &Allocation::Managed);
}

/// Takes pages and access from a live block and puts it into quarantine.
void DeviceMemory::retire(BlockMap::iterator Block) {
  auto &[Begin, Old] = *Block;
  void *At = reinterpret_cast<void *>(Begin);
  // Where the system has no mapping left to split, the pages stay accessible:
  // empty, and still known as freed.
  madvise(At, Old.SpanEnd - Begin, MADV_DONTNEED);
  if (Writes)
    Writes->forget(Begin, Old.SpanEnd - Begin);
  (void)mprotect(At, Old.SpanEnd - Begin, PROT_NONE);
  Opened.erase(Begin);
  Old.What.Live = false;
  ++Generation;
  Used -= countsAgainstCapacity(Old.What.Kind) ? Old.What.Size : 0;
  --Live;
  Quarantine[NextFreed++] = Begin;
  Quarantined += Old.SpanEnd - Begin;
}

bool DeviceMemory::release(void *Pointer) {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto Found = blockAt(uint64_t(Pointer));
  if (Found == Blocks.end() || !Found->second.What.Live ||
      Found->second.What.Base != uint64_t(Pointer))
    return false;
  retire(Blocks.find(Found->first));
  // However large, the last one stays.
  while (Quarantine.size() > QuarantineBlocks ||
         (Quarantined > QuarantineBytes && Quarantine.size() > 1))
    reclaimOldest();
  return true;
}

void DeviceMemory::releaseAll() {
  std::lock_guard<std::mutex> Lock(Mutex);
  for (auto Block = Blocks.begin(); Block != Blocks.end(); ++Block) {
    const Allocation &What = Block->second.What;
    if (What.Live && What.Kind != MemoryKind::Pool &&
        What.Kind != MemoryKind::Variable && What.Kind != MemoryKind::Heap)
      retire(Block);
  }
  Registered.clear();
  ++Generation;
}

//===----------------------------------------------------------------------===//
// Past the end
//===----------------------------------------------------------------------===//

DeviceMemory::BlockMap::const_iterator
DeviceMemory::toleratingBlock(uint64_t Address) const {
  const auto Found = blockAt(Address);
  if (Found == Blocks.end())
    return Found;
  const auto &[PagesEnd, SpanEnd, What] = Found->second;
  const uint64_t End = What.Base + What.Size;
  const bool Mapped =
      Address - End < alignTo(What.Size, MappingBytes) - What.Size;
  return What.Live && Address >= End && Mapped && PagesEnd < SpanEnd &&
                 Address < PagesEnd + PageSize
             ? Found
             : Blocks.end();
}

bool DeviceMemory::tolerates(uint64_t Address) const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return inRange(Address) && toleratingBlock(Address) != Blocks.end();
}

bool DeviceMemory::openSlack(uint64_t Address) {
  if (!inRange(Address))
    return false;
  std::lock_guard<std::mutex> Lock(Mutex);
  const auto Found = toleratingBlock(Address);
  if (Found == Blocks.end() ||
      mprotect(reinterpret_cast<void *>(Found->second.PagesEnd), PageSize,
               PROT_READ | PROT_WRITE))
    return false;
  Opened.insert(Found->first);
  return true;
}

std::vector<Allocation> DeviceMemory::closeSlack() {
  std::lock_guard<std::mutex> Lock(Mutex);
  std::vector<Allocation> Closed;
  for (uint64_t Begin : Opened) {
    const Block &Of = Blocks.find(Begin)->second;
    (void)mprotect(reinterpret_cast<void *>(Of.PagesEnd), PageSize, PROT_NONE);
    Closed.push_back(Of.What);
  }
  Opened.clear();
  return Closed;
}

//===----------------------------------------------------------------------===//
// The program's own memory
//===----------------------------------------------------------------------===//

bool DeviceMemory::addRegistered(void *Pointer, uint64_t Size) {
  std::lock_guard<std::mutex> Lock(Mutex);
  const uint64_t Begin = uint64_t(Pointer), End = Begin + Size;
  auto After = Registered.lower_bound(Begin);
  if (After != Registered.end() && After->first < End)
    return false;
  if (After != Registered.begin()) {
    const Allocation &Before = std::prev(After)->second;
    if (Before.Base + Before.Size > Begin)
      return false;
  }
  Allocation &New = Registered[Begin];
  New.Base = Begin;
  New.Size = Size;
  New.Kind = MemoryKind::Registered;
  New.Live = true;
  ++Generation;
  return true;
}

bool DeviceMemory::removeRegistered(void *Pointer) {
  std::lock_guard<std::mutex> Lock(Mutex);
  ++Generation;
  return Registered.erase(uint64_t(Pointer)) != 0;
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

/// The block whose span holds \p Address.
DeviceMemory::BlockMap::const_iterator
DeviceMemory::blockAt(uint64_t Address) const {
  auto After = Blocks.upper_bound(Address);
  if (After == Blocks.begin())
    return Blocks.end();
  auto Before = std::prev(After);
  return Address < Before->second.SpanEnd ? Before : Blocks.end();
}

std::optional<Allocation> DeviceMemory::lookup(uint64_t Address) const {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (inRange(Address)) {
    auto Found = blockAt(Address);
    if (Found != Blocks.end() && Found->second.What.contains(Address, 1))
      return Found->second.What;
    return std::nullopt;
  }
  auto After = Registered.upper_bound(Address);
  if (After != Registered.begin() &&
      std::prev(After)->second.contains(Address, 1))
    return std::prev(After)->second;
  return std::nullopt;
}

bool DeviceMemory::isLive(const void *Address, uint64_t Bytes) const {
  std::optional<Allocation> Found = lookup(Address);
  return Found && Found->Live && Found->contains(uint64_t(Address), Bytes);
}

void DeviceMemory::forEachLive(
    function_ref<void(const Allocation &)> Visit) const {
  std::lock_guard<std::mutex> Lock(Mutex);
  for (auto &[Begin, Block] : Blocks)
    if (Block.What.Live)
      Visit(Block.What);
  for (auto &[Begin, What] : Registered)
    Visit(What);
}

} // namespace reconverge::warpvm
