//===- runtime/vm/Memory.cpp - Allocating and asking ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All kinds of CUDA memory are the host's (warpvm/memory/DeviceMemory.cpp);
// they differ in which call may free them, what cudaPointerGetAttributes says, and
// which copies they may take part in. Sizes are exact: a copy of one byte more
// than was asked for is an error, as it is with CUDA.
//
// cudaHostRegister makes the program's own memory known under its own address.
//
// Memory comes and goes under deviceLock(): as on a device, such a call waits
// for a launch under way, whichever thread made it. Its kernel may use the
// memory, and a trial copies all of it and puts it back.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Memory.h"

#include "runtime/vm/Api.h"
#include "runtime/vm/Capture.h"
#include "runtime/vm/Device.h"
#include "runtime/vm/Registry.h"

#include "llvm/Support/MathExtras.h"

#include <map>
#include <mutex>

using namespace llvm;
using reconverge::warpvm::Allocation;
using reconverge::warpvm::DeviceMemory;
using reconverge::warpvm::MemoryKind;

namespace reconverge::runtime {

cudaError_t allocate(void **Pointer, uint64_t Size, MemoryKind Kind) {
  if (!Pointer)
    return cudaErrorInvalidValue;
  if (Size == 0) {
    *Pointer = nullptr;
    return cudaSuccess;
  }
  std::lock_guard<std::recursive_mutex> Lock(deviceLock());
  Expected<void *> Block = DeviceMemory::instance().allocate(Size, Kind);
  if (!Block) {
    consumeError(Block.takeError()); // its code says all that CUDA's can
    return cudaErrorMemoryAllocation;
  }
  *Pointer = *Block;
  return cudaSuccess;
}

Where whereIs(const void *Pointer, uint64_t Bytes) {
  DeviceMemory &Memory = DeviceMemory::instance();
  if (std::optional<Allocation> Found = Memory.lookup(Pointer))
    return Found->Live && Found->contains(uint64_t(Pointer), Bytes)
               ? Where::Device
               : Where::OutOfRange;
  return Memory.inRange(uint64_t(Pointer)) ? Where::OutOfRange : Where::Host;
}

//===----------------------------------------------------------------------===//
// Device memory
//===----------------------------------------------------------------------===//

cudaError_t api::cudaMalloc(void **Pointer, size_t Size) {
  if (Pointer)
    *Pointer = nullptr; // what a call that fails leaves there
  return unsafeCall(
      [&] { return allocate(Pointer, Size, MemoryKind::Device); });
}

cudaError_t api::cudaMallocManaged(void **Pointer, size_t Size,
                                   unsigned Flags) {
  return unsafeCall([&]() -> cudaError_t {
    if (Flags != cudaMemAttachGlobal && Flags != cudaMemAttachHost)
      return cudaErrorInvalidValue;
    return allocate(Pointer, Size, MemoryKind::Managed);
  });
}

/// Rows of \p Width bytes, each at a multiple of the pitch.
static cudaError_t allocateRows(void **Pointer, size_t *Pitch, size_t Width,
                                size_t Rows) {
  if (!Pointer || !Pitch || Width > limits::MaxPitch)
    return cudaErrorInvalidValue;
  const size_t Step = alignTo(Width, limits::PitchAlignment);
  if (Step && Rows > SIZE_MAX / Step)
    return cudaErrorMemoryAllocation;
  if (cudaError_t Failed = allocate(Pointer, Step * Rows, MemoryKind::Device))
    return Failed;
  *Pitch = Step;
  return cudaSuccess;
}

cudaError_t api::cudaMallocPitch(void **Pointer, size_t *Pitch, size_t Width,
                                 size_t Height) {
  return unsafeCall(
      [&] { return allocateRows(Pointer, Pitch, Width, Height); });
}

cudaError_t api::cudaMalloc3D(cudaPitchedPtr *Out, cudaExtent Extent) {
  return unsafeCall([&]() -> cudaError_t {
    if (!Out)
      return cudaErrorInvalidValue;
    if (Extent.depth && Extent.height > SIZE_MAX / Extent.depth)
      return cudaErrorMemoryAllocation;
    cudaPitchedPtr P = {nullptr, 0, Extent.width, Extent.height};
    if (cudaError_t Failed = allocateRows(&P.ptr, &P.pitch, Extent.width,
                                          Extent.height * Extent.depth))
      return Failed;
    *Out = P;
    return cudaSuccess;
  });
}

/// CUDA only returns a code; what the pointer is helps to find the mistake.
static cudaError_t cannotFree(StringRef Call, const void *Pointer) {
  sayOnce(Call + ": the pointer is " +
          DeviceMemory::instance().describe(uint64_t(Pointer)));
  return cudaErrorInvalidValue;
}

static bool release(void *Pointer) {
  std::lock_guard<std::recursive_mutex> Lock(deviceLock());
  return DeviceMemory::instance().release(Pointer);
}

cudaError_t api::cudaFree(void *Pointer) {
  return unsafeCall([&]() -> cudaError_t {
    if (!Pointer)
      return cudaSuccess;
    if (FreeWork Free{Pointer}; isGraphMemory(Pointer))
      return freeGraphMemory(Free);
    std::optional<Allocation> Found = DeviceMemory::instance().lookup(Pointer);
    const bool Ours = Found && (Found->Kind == MemoryKind::Device ||
                                Found->Kind == MemoryKind::Pool ||
                                Found->Kind == MemoryKind::Managed);
    if (!Ours || !release(Pointer))
      return cannotFree("cudaFree", Pointer);
    if (Found->Kind == MemoryKind::Pool)
      forgetPoolMemory(Pointer, Found->Size);
    return cudaSuccess;
  });
}

cudaError_t api::cudaMemGetInfo(size_t *Free, size_t *Total) {
  return deviceCall([&] {
    const DeviceMemory &Memory = DeviceMemory::instance();
    const uint64_t Capacity = Memory.capacity(), Used = Memory.used();
    if (Free)
      *Free = Capacity - std::min(Used, Capacity);
    if (Total)
      *Total = Capacity;
    return cudaSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Host memory
//===----------------------------------------------------------------------===//

namespace {
/// Flags of pinned and registered memory, by base address.
struct HostFlags {
  std::mutex Mutex;
  std::map<const void *, unsigned> Of;
};
} // namespace

static HostFlags &hostFlags() {
  static HostFlags &F = *new HostFlags;
  return F;
}

static void setHostFlags(const void *Base, unsigned Flags) {
  HostFlags &F = hostFlags();
  std::lock_guard<std::mutex> Lock(F.Mutex);
  F.Of[Base] = Flags;
}

static cudaError_t allocateHost(void **Pointer, size_t Size, unsigned Flags) {
  constexpr unsigned Known =
      cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  if (Flags & ~Known)
    return cudaErrorInvalidValue;
  if (cudaError_t Failed = allocate(Pointer, Size, MemoryKind::Host))
    return Failed;
  if (*Pointer) // all of it is mapped, as with unified addressing
    setHostFlags(*Pointer, Flags | cudaHostAllocMapped);
  return cudaSuccess;
}

cudaError_t api::cudaMallocHost(void **Pointer, size_t Size) {
  return unsafeCall(
      [&] { return allocateHost(Pointer, Size, cudaHostAllocDefault); });
}

cudaError_t api::cudaHostAlloc(void **Pointer, size_t Size, unsigned Flags) {
  return unsafeCall([&] { return allocateHost(Pointer, Size, Flags); });
}

cudaError_t api::cudaFreeHost(void *Pointer) {
  return unsafeCall([&]() -> cudaError_t {
    if (!Pointer)
      return cudaSuccess;
    std::optional<Allocation> Found = DeviceMemory::instance().lookup(Pointer);
    if (!Found || Found->Kind != MemoryKind::Host || !release(Pointer))
      return cannotFree("cudaFreeHost", Pointer);
    return cudaSuccess;
  });
}

cudaError_t api::cudaHostRegister(void *Pointer, size_t Size, unsigned Flags) {
  return unsafeCall([&]() -> cudaError_t {
    constexpr unsigned Known = cudaHostRegisterPortable |
                               cudaHostRegisterMapped |
                               cudaHostRegisterReadOnly;
    if (!Pointer || !Size || Size > UINT64_MAX - uint64_t(Pointer) ||
        (Flags & ~(Known | unsigned(cudaHostRegisterIoMemory))))
      return cudaErrorInvalidValue;
    if (Flags & cudaHostRegisterIoMemory)
      return unsupported("cudaHostRegisterIoMemory");
    std::lock_guard<std::recursive_mutex> Lock(deviceLock());
    if (whereIs(Pointer, Size) != Where::Host ||
        !DeviceMemory::instance().addRegistered(Pointer, Size))
      return cudaErrorHostMemoryAlreadyRegistered;
    setHostFlags(Pointer, Flags | cudaHostRegisterMapped);
    return cudaSuccess;
  });
}

cudaError_t api::cudaHostUnregister(void *Pointer) {
  return unsafeCall([&]() -> cudaError_t {
    if (!Pointer)
      return cudaErrorInvalidValue;
    std::lock_guard<std::recursive_mutex> Lock(deviceLock());
    return DeviceMemory::instance().removeRegistered(Pointer)
               ? cudaSuccess
               : cudaErrorHostMemoryNotRegistered;
  });
}

/// The live pinned or registered block that holds \p Pointer.
static std::optional<Allocation> hostBlock(const void *Pointer) {
  std::optional<Allocation> Found = DeviceMemory::instance().lookup(Pointer);
  if (Found && Found->Live &&
      (Found->Kind == MemoryKind::Host ||
       Found->Kind == MemoryKind::Registered))
    return Found;
  return std::nullopt;
}

cudaError_t api::cudaHostGetDevicePointer(void **Device, void *Host,
                                          unsigned Flags) {
  return deviceCall([&]() -> cudaError_t {
    if (!Device || Flags || !hostBlock(Host))
      return cudaErrorInvalidValue;
    *Device = Host;
    return cudaSuccess;
  });
}

cudaError_t api::cudaHostGetFlags(unsigned *Flags, void *Host) {
  return deviceCall([&]() -> cudaError_t {
    std::optional<Allocation> Block = hostBlock(Host);
    if (!Flags || !Block)
      return cudaErrorInvalidValue;
    HostFlags &F = hostFlags();
    std::lock_guard<std::mutex> Lock(F.Mutex);
    *Flags = F.Of[reinterpret_cast<void *>(Block->Base)];
    return cudaSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Questions and hints
//===----------------------------------------------------------------------===//

cudaError_t api::cudaPointerGetAttributes(cudaPointerAttributes *Attributes,
                                          const void *Pointer) {
  return call([&]() -> cudaError_t {
    if (!Attributes)
      return cudaErrorInvalidValue;
    void *Same = const_cast<void *>(Pointer);
    cudaPointerAttributes A = {};
    A.type = cudaMemoryTypeUnregistered;
    A.device = -2; // what CUDA says of memory that belongs to no device
    A.hostPointer = Same;
    std::optional<Allocation> Found = DeviceMemory::instance().lookup(Pointer);
    if (Found && Found->Live) {
      A.device = 0;
      A.devicePointer = Same;
      switch (Found->Kind) {
      case MemoryKind::Device:
      case MemoryKind::Pool:
      case MemoryKind::Array:
      case MemoryKind::Variable:
      case MemoryKind::Heap:
      case MemoryKind::Scratch:
      case MemoryKind::Managed:
        A.type = Found->Managed ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
        if (!Found->Managed)
          A.hostPointer = nullptr;
        break;
      case MemoryKind::Host:
      case MemoryKind::Registered:
        A.type = cudaMemoryTypeHost;
        break;
      }
    }
    *Attributes = A;
    return cudaSuccess;
  });
}

/// Managed memory needs no hints here; wrong ones are still errors.
static cudaError_t checkHint(const void *Pointer, size_t Bytes, int Device) {
  std::optional<Allocation> Found = DeviceMemory::instance().lookup(Pointer);
  if (!Found || !Found->Live || !Found->Managed ||
      !Found->contains(uint64_t(Pointer), Bytes))
    return cudaErrorInvalidValue;
  return Device == 0 || Device == cudaCpuDeviceId ? cudaSuccess
                                                  : cudaErrorInvalidDevice;
}

#if CUDART_VERSION >= 13000
static int deviceOf(cudaMemLocation L) {
  return L.type == cudaMemLocationTypeDevice ? L.id : cudaCpuDeviceId;
}

cudaError_t api::cudaMemAdvise(const void *Pointer, size_t Bytes,
                               cudaMemoryAdvise, cudaMemLocation Location) {
  return deviceCall(
      [&] { return checkHint(Pointer, Bytes, deviceOf(Location)); });
}

cudaError_t api::cudaMemPrefetchAsync(const void *Pointer, size_t Bytes,
                                      cudaMemLocation Location, unsigned,
                                      cudaStream_t Stream) {
  return streamCall(
      Stream, [&] { return checkHint(Pointer, Bytes, deviceOf(Location)); });
}
#else
cudaError_t api::cudaMemAdvise(const void *Pointer, size_t Bytes,
                               cudaMemoryAdvise, int Device) {
  return deviceCall([&] { return checkHint(Pointer, Bytes, Device); });
}

cudaError_t api::cudaMemPrefetchAsync(const void *Pointer, size_t Bytes,
                                      int Device, cudaStream_t Stream) {
  return streamCall(Stream, [&] { return checkHint(Pointer, Bytes, Device); });
}
#endif

} // namespace reconverge::runtime
