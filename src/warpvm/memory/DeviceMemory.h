//===- warpvm/memory/DeviceMemory.h - What kernels may touch ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_MEMORY_DEVICEMEMORY_H
#define RECONVERGE_WARPVM_MEMORY_DEVICEMEMORY_H

#include "warpvm/memory/WriteShadow.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace reconverge::warpvm {

/// What asked for the memory; CUDA's calls treat each kind differently.
enum class MemoryKind : uint8_t {
  Device,     ///< cudaMalloc
  Pool,       ///< cudaMallocAsync
  Managed,    ///< cudaMallocManaged
  Host,       ///< cudaMallocHost, cudaHostAlloc
  Registered, ///< the program's own, given by cudaHostRegister
  Array,      ///< cudaMallocArray, cudaMalloc3DArray
  Variable,   ///< a __device__, __constant__ or __managed__ variable
  Scratch,    ///< a remedy's, while a launch is tried
  Heap        ///< of the kernels' own malloc
};
static constexpr unsigned MemoryKinds = unsigned(MemoryKind::Heap) + 1;

struct Allocation {
  uint64_t Base = 0;
  uint64_t Size = 0; ///< bytes, as asked for
  MemoryKind Kind = MemoryKind::Device;
  bool Live = false;     ///< false: freed, and not yet given to another
  bool Constant = false; ///< kernels may not write it
  bool Managed = false;  ///< by cudaMallocManaged, or a __managed__ variable
  uint64_t Serial = 0;   ///< counted from 1 among those of its kind
  std::string Name;      ///< of a variable
  bool contains(uint64_t Address, uint64_t Bytes) const {
    return Address >= Base && Bytes <= Size && Address - Base <= Size - Bytes;
  }
};

/// Whether \p A counts as written from its beginning: the host may write it
/// without a call, or it has initial values.
inline bool isBornWritten(const Allocation &A) {
  switch (A.Kind) {
  case MemoryKind::Device:
  case MemoryKind::Pool:
  case MemoryKind::Array:
  case MemoryKind::Heap:
    return A.Managed;
  default:
    return true;
  }
}

/// In words: "an allocation of 400 bytes by call 2 of cudaMalloc".
std::string nameOf(const Allocation &A);

/// Why an allocation cannot be had: CUDA's "out of memory".
class OutOfDeviceMemory : public llvm::ErrorInfo<OutOfDeviceMemory> {
public:
  static char ID;
  explicit OutOfDeviceMemory(std::string Message)
      : Message(std::move(Message)) {}
  void log(llvm::raw_ostream &OS) const override;
  std::error_code convertToErrorCode() const override;

private:
  std::string Message;
};

/// Device allocations in one reserved range of addresses, with pages between
/// them that fault. Every member may be called from any thread; none but
/// inRange() and openSlack() from a signal handler.
class DeviceMemory {
public:
  static constexpr uint64_t Alignment = 256; ///< bytes, as cudaMalloc promises

  /// \p Capacity: bytes that live allocations may take together, pinned host
  /// memory aside. \p Reserve: bytes of address space asked for; halved until
  /// the system grants them.
  static llvm::Expected<std::unique_ptr<DeviceMemory>>
  create(uint64_t Capacity, uint64_t Reserve = uint64_t(1) << 40);

  /// The process's own, made at first use and never destroyed; of
  /// defaultCapacity() bytes unless setCapacity() says otherwise. An address
  /// space that cannot be reserved leaves it with a capacity of none.
  static DeviceMemory &instance();

  /// Three quarters of the memory that this process may use (the machine's, or
  /// its control group's limit), at least 1 GiB.
  static uint64_t defaultCapacity();

  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  /// Zeroed memory of \p Size > 0 bytes, aligned to \p Align (a power of two,
  /// at least Alignment is given), its end as near to the guard page as the
  /// alignment allows. The error is an OutOfDeviceMemory.
  llvm::Expected<void *> allocate(uint64_t Size, MemoryKind Kind,
                                  uint64_t Align = Alignment,
                                  llvm::StringRef Name = "");

  /// Kernels may only read the variable at \p Pointer, if it is one of ours.
  void markConstant(const void *Pointer);
  /// The variable at \p Pointer is a __managed__ one.
  void markManaged(const void *Pointer);

  /// Writes \p Bytes of zeros, whoever's memory it is. Many in our own pages
  /// cost nothing until they are used: of the gigabytes that programs set for
  /// a GPU they often use little here.
  void zero(void *At, uint64_t Bytes) const;

  /// False if \p Pointer is not the base of a live allocation.
  bool release(void *Pointer);

  /// Frees all that cudaDeviceReset frees: everything but pools' memory,
  /// variables and the kernels' heap.
  void releaseAll();

  /// Whether a GPU, whose mapping has pages of 2 MiB, would let pass an access
  /// to \p Address although it is past the end of a live allocation.
  bool tolerates(uint64_t Address) const;

  /// Makes the page behind an allocation accessible if \p Address lies there
  /// and is tolerated. For the handler of a kernel's own SIGSEGV: who makes
  /// such an access holds no lock of ours.
  bool openSlack(uint64_t Address);

  /// Closes what openSlack opened and keeps what lies there. Returns the
  /// allocations past whose end accesses were let pass since the last call, in
  /// order of addresses.
  std::vector<Allocation> closeSlack();

  /// Makes the program's own memory known as Registered. False if a part of it
  /// is registered already.
  bool addRegistered(void *Pointer, uint64_t Size);
  bool removeRegistered(void *Pointer);

  /// The allocation that holds \p Address, live or freed, by its exact bounds.
  std::optional<Allocation> lookup(uint64_t Address) const;
  std::optional<Allocation> lookup(const void *Address) const {
    return lookup(uint64_t(Address));
  }

  /// Whether all \p Bytes from \p Address lie in one live allocation.
  bool isLive(const void *Address, uint64_t Bytes) const;

  /// \p Address in words, by the allocation that holds it or is nearest: "4
  /// bytes past the end of an allocation of 400 bytes".
  std::string describe(uint64_t Address) const;

  /// Another number whenever some allocation came or went; takes no lock.
  uint64_t generation() const {
    return Generation.load(std::memory_order_acquire);
  }

  /// Calls \p Visit for each live allocation, in order of addresses; no other
  /// thread may allocate or free meanwhile.
  void forEachLive(llvm::function_ref<void(const Allocation &)> Visit) const;

  /// Whether \p Address lies in the reserved range; takes no lock.
  bool inRange(uint64_t Address) const {
    return Address - RangeBegin < RangeEnd - RangeBegin;
  }

  /// From now on it is known which bytes are written; false if the system has no
  /// addresses for that. Before any memory is given out.
  bool trackWrites();
  /// Null: nobody asks.
  WriteShadow *writes() const { return Writes.get(); }

  void setCapacity(uint64_t Bytes);
  uint64_t capacity() const;
  uint64_t used() const; ///< bytes of live allocations that count against it
  uint64_t liveBlocks() const;

private:
  void mark(const void *Pointer, bool Allocation::*What);
  struct Block {
    uint64_t PagesEnd = 0; ///< end of the accessible pages
    uint64_t SpanEnd = 0;  ///< end of what is taken, slack and guard included
    Allocation What;
  };
  using BlockMap = std::map<uint64_t, Block>; ///< by first page

  DeviceMemory(uint64_t Begin, uint64_t End, uint64_t Capacity);
  std::optional<uint64_t> takeFree(uint64_t Bytes, uint64_t Step, size_t Tries);
  std::optional<uint64_t> takeSpan(uint64_t Bytes, uint64_t Align);
  void reclaimOldest();
  void retire(BlockMap::iterator Block);
  BlockMap::const_iterator blockAt(uint64_t Address) const;
  BlockMap::const_iterator toleratingBlock(uint64_t Address) const;

  const uint64_t RangeBegin, RangeEnd, PageSize;
  mutable std::mutex Mutex;
  BlockMap Blocks; ///< live and freed
  std::map<uint64_t, Allocation> Registered;
  std::map<uint64_t, uint64_t> Free; ///< spans to be used again: begin, end
  std::map<uint64_t, uint64_t> Quarantine; ///< freed blocks, oldest first
  std::set<uint64_t> Opened; ///< first pages of blocks whose slack is open
  uint64_t NextFreed = 0;    ///< next key of Quarantine
  uint64_t Quarantined = 0;  ///< bytes of addresses in it
  uint64_t Bump;             ///< never used from here on
  uint64_t Capacity, Used = 0, Live = 0;
  uint64_t Serials[MemoryKinds] = {}; ///< allocations so far, by kind
  std::unique_ptr<WriteShadow> Writes;
  std::atomic<uint64_t> Generation{0};
};

/// Whether the process has anything at \p Address.
bool isMapped(uint64_t Address);

} // namespace reconverge::warpvm

#endif
