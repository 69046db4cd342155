//===- warpvm/memory/Describe.cpp - What an address is, in words ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages of faults name the allocation that an address is in or beside, by
// the call that made it: "12 bytes past the end of an allocation of 400 bytes
// by call 3 of cudaMalloc".
//
//===----------------------------------------------------------------------===//

#include "warpvm/memory/DeviceMemory.h"

#include "llvm/ADT/StringExtras.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;

namespace reconverge::warpvm {

static std::string bytes(uint64_t Count) {
  return utostr(Count) + (Count == 1 ? " byte" : " bytes");
}

std::string nameOf(const Allocation &A) {
  const char *Noun = "allocation", *Call = nullptr;
  switch (A.Kind) {
  case MemoryKind::Device:
    Call = "cudaMalloc";
    break;
  case MemoryKind::Pool:
    Call = "cudaMallocAsync";
    break;
  case MemoryKind::Managed:
    Call = "cudaMallocManaged";
    break;
  case MemoryKind::Array:
    Noun = "array";
    Call = "cudaMallocArray";
    break;
  case MemoryKind::Host:
    Noun = "pinned host allocation";
    break;
  case MemoryKind::Scratch:
    Noun = "remedy's scratch allocation";
    break;
  case MemoryKind::Heap:
    return "the heap of kernels, of " + bytes(A.Size);
  case MemoryKind::Registered:
    return "registered host memory of " + bytes(A.Size);
  case MemoryKind::Variable:
    return "the " +
           std::string(A.Constant  ? "__constant__"
                       : A.Managed ? "__managed__"
                                   : "__device__") +
           " variable " + (A.Name.empty() ? "" : "'" + A.Name + "' ") + "of " +
           bytes(A.Size);
  }
  // Pinned memory has several calls that make it.
  return std::string(A.Live ? (Call ? "an " : "a ") : "a freed ") + Noun +
         " of " + bytes(A.Size) +
         (Call ? " by call " + std::to_string(A.Serial) + " of " + Call : "");
}

std::string DeviceMemory::describe(uint64_t Address) const {
  if (Address < 4096)
    return Address ? "near the null pointer" : "the null pointer";
  if (std::optional<Allocation> Found = lookup(Address))
    return bytes(Address - Found->Base) + " into " + nameOf(*Found);
  if (!inRange(Address))
    return "not device memory: a host pointer, or no pointer at all";
  std::lock_guard<std::mutex> Lock(Mutex);
  // What the program asked for is nearer to its mind than the compiler's
  // constants are, unless the address is right beside one.
  constexpr uint64_t Beside = 4096;
  const Allocation *Above = nullptr, *Below = nullptr;
  for (auto &[Begin, Block] : Blocks) {
    const Allocation &A = Block.What;
    const bool Over = Address < A.Base;
    const uint64_t Distance =
        Over ? A.Base - Address : Address - (A.Base + A.Size);
    const bool Unasked =
        A.Kind == MemoryKind::Variable || A.Kind == MemoryKind::Heap;
    if (Unasked && Distance > Beside)
      continue;
    if (Over) {
      Above = &A;
      break; // in order of addresses
    }
    Below = &A;
  }
  const uint64_t Past =
      Below ? Address - (Below->Base + Below->Size) : UINT64_MAX;
  const uint64_t Short = Above ? Above->Base - Address : UINT64_MAX;
  if (!Below && !Above)
    return "device memory that was never allocated";
  if (Past <= Short)
    return bytes(Past) + " past the end of " + nameOf(*Below);
  return bytes(Short) + " before " + nameOf(*Above);
}

bool isMapped(uint64_t Address) {
  const uint64_t Page = sysconf(_SC_PAGESIZE);
  unsigned char Resident;
  return mincore(reinterpret_cast<void *>(Address / Page * Page), 1,
                 &Resident) == 0;
}

} // namespace reconverge::warpvm
