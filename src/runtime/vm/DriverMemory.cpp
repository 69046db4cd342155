//===- runtime/vm/DriverMemory.cpp - Memory, as CUDA's driver has it ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocations and what is known of an address. The driver has addresses as
// numbers, and refuses sizes of none.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Driver.h"

#include "runtime/vm/Api.h"
#include "warpvm/memory/DeviceMemory.h"

#include <optional>

using reconverge::warpvm::Allocation;
using reconverge::warpvm::DeviceMemory;
using reconverge::warpvm::MemoryKind;

namespace reconverge::runtime {

//===----------------------------------------------------------------------===//
// Allocating
//===----------------------------------------------------------------------===//

/// Ends a call that allocates \p Size bytes: \p Allocate sets a pointer.
template <typename Body>
static CUresult allocateBy(CUdeviceptr *Out, size_t Size, Body &&Allocate) {
  return contextCall([&]() -> cudaError_t {
    void *Block = nullptr;
    if (!Out || !Size)
      return cudaErrorInvalidValue;
    if (cudaError_t Failed = Allocate(&Block))
      return Failed;
    *Out = CUdeviceptr(Block);
    return cudaSuccess;
  });
}

CUresult api::cuMemGetInfo(size_t *Free, size_t *Total) {
  return contextCall([&] { return api::cudaMemGetInfo(Free, Total); });
}

CUresult api::cuMemAlloc(CUdeviceptr *Out, size_t Size) {
  return allocateBy(Out, Size,
                    [&](void **Block) { return api::cudaMalloc(Block, Size); });
}

CUresult api::cuMemAllocPitch(CUdeviceptr *Out, size_t *Pitch, size_t Width,
                              size_t Height, unsigned ElementSize) {
  if (ElementSize != 4 && ElementSize != 8 && ElementSize != 16)
    return contextCall([] { return CUDA_ERROR_INVALID_VALUE; });
  return allocateBy(Out, Width && Height, [&](void **Block) {
    return api::cudaMallocPitch(Block, Pitch, Width, Height);
  });
}

CUresult api::cuMemAllocManaged(CUdeviceptr *Out, size_t Size, unsigned Flags) {
  return allocateBy(Out, Size, [&](void **Block) {
    return api::cudaMallocManaged(Block, Size, Flags);
  });
}

CUresult api::cuMemFree(CUdeviceptr Address) {
  // Nothing needs no context.
  return Address
             ? contextCall([&] { return api::cudaFree(pointerTo(Address)); })
             : driverCall([] { return CUDA_SUCCESS; });
}

CUresult api::cuMemAllocHost(void **Out, size_t Size) {
  return contextCall([&] {
    return Size ? api::cudaMallocHost(Out, Size) : cudaErrorInvalidValue;
  });
}

CUresult api::cuMemHostAlloc(void **Out, size_t Size, unsigned Flags) {
  return contextCall([&] {
    return Size ? api::cudaHostAlloc(Out, Size, Flags) : cudaErrorInvalidValue;
  });
}

CUresult api::cuMemFreeHost(void *Pointer) {
  return Pointer ? contextCall([&] { return api::cudaFreeHost(Pointer); })
                 : driverCall([] { return CUDA_SUCCESS; });
}

CUresult api::cuMemHostRegister(void *Pointer, size_t Size, unsigned Flags) {
  return contextCall(
      [&] { return api::cudaHostRegister(Pointer, Size, Flags); });
}

CUresult api::cuMemHostUnregister(void *Pointer) {
  return contextCall([&] { return api::cudaHostUnregister(Pointer); });
}

CUresult api::cuMemHostGetDevicePointer(CUdeviceptr *Out, void *Host,
                                        unsigned Flags) {
  return allocateBy(Out, 1, [&](void **Device) {
    return api::cudaHostGetDevicePointer(Device, Host, Flags);
  });
}

CUresult api::cuMemHostGetFlags(unsigned *Flags, void *Host) {
  return contextCall([&] { return api::cudaHostGetFlags(Flags, Host); });
}

//===----------------------------------------------------------------------===//
// In the order of a stream
//===----------------------------------------------------------------------===//

CUresult api::cuMemAllocAsync(CUdeviceptr *Out, size_t Size, CUstream Stream) {
  return allocateBy(Out, Size, [&](void **Block) {
    return api::cudaMallocAsync(Block, Size, Stream);
  });
}

CUresult api::cuMemAllocFromPoolAsync(CUdeviceptr *Out, size_t Size,
                                      CUmemoryPool Pool, CUstream Stream) {
  return allocateBy(Out, Size, [&](void **Block) {
    return api::cudaMallocFromPoolAsync(Block, Size, Pool, Stream);
  });
}

CUresult api::cuMemFreeAsync(CUdeviceptr Address, CUstream Stream) {
  return contextCall(
      [&] { return api::cudaFreeAsync(pointerTo(Address), Stream); });
}

CUresult api::cuDeviceGetDefaultMemPool(CUmemoryPool *Pool, CUdevice Device) {
  return driverCall(
      [&] { return api::cudaDeviceGetDefaultMemPool(Pool, Device); });
}

CUresult api::cuDeviceGetMemPool(CUmemoryPool *Pool, CUdevice Device) {
  return driverCall([&] { return api::cudaDeviceGetMemPool(Pool, Device); });
}

CUresult api::cuDeviceSetMemPool(CUdevice Device, CUmemoryPool Pool) {
  return driverCall([&] { return api::cudaDeviceSetMemPool(Device, Pool); });
}

CUresult api::cuMemPoolTrimTo(CUmemoryPool Pool, size_t Bytes) {
  return driverCall([&] { return api::cudaMemPoolTrimTo(Pool, Bytes); });
}

CUresult api::cuMemPoolGetAttribute(CUmemoryPool Pool,
                                    CUmemPool_attribute Attribute, void *Out) {
  return driverCall([&] {
    return api::cudaMemPoolGetAttribute(Pool, cudaMemPoolAttr(Attribute), Out);
  });
}

CUresult api::cuMemPoolSetAttribute(CUmemoryPool Pool,
                                    CUmemPool_attribute Attribute,
                                    void *Value) {
  return driverCall([&] {
    return api::cudaMemPoolSetAttribute(Pool, cudaMemPoolAttr(Attribute),
                                        Value);
  });
}

CUresult api::cuMemPoolDestroy(CUmemoryPool Pool) {
  return driverCall([&] { return api::cudaMemPoolDestroy(Pool); });
}

//===----------------------------------------------------------------------===//
// Asking
//===----------------------------------------------------------------------===//

static std::optional<Allocation> liveAt(CUdeviceptr Address) {
  std::optional<Allocation> Found = DeviceMemory::instance().lookup(Address);
  return Found && Found->Live ? Found : std::nullopt;
}

CUresult api::cuMemGetAddressRange(CUdeviceptr *Base, size_t *Size,
                                   CUdeviceptr Address) {
  return contextCall([&] {
    std::optional<Allocation> Found = liveAt(Address);
    if (!Found)
      return CUDA_ERROR_NOT_FOUND;
    if (Base)
      *Base = Found->Base;
    if (Size)
      *Size = Found->Size;
    return CUDA_SUCCESS;
  });
}

static bool isHosts(const Allocation &A) {
  return A.Kind == MemoryKind::Host || A.Kind == MemoryKind::Registered;
}

template <typename Value> static CUresult answer(void *Out, Value V) {
  *static_cast<Value *>(Out) = V;
  return CUDA_SUCCESS;
}

/// \p Attribute of \p Address, which lies in \p A.
static CUresult attributeOf(const Allocation &A, CUdeviceptr Address,
                            CUpointer_attribute Attribute, void *Out) {
  switch (Attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    return answer(Out, currentContext());
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    return answer(
        Out, unsigned(isHosts(A) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE));
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    return answer(Out, Address);
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    if (!isHosts(A) && !A.Managed)
      return CUDA_ERROR_INVALID_VALUE;
    return answer(Out, pointerTo(Address));
  case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: // they are always synchronous
  case CU_POINTER_ATTRIBUTE_MAPPED:
    return answer(Out, true);
  case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    return answer(Out, (unsigned long long)(A.Base));
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    return answer(Out, A.Managed);
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    return answer(Out, 0);
  case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
  case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    return answer(Out, false);
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    return answer(Out, CUdeviceptr(A.Base));
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    return answer(Out, size_t(A.Size));
  case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    return answer(Out, 0ull);
  case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    return answer(Out, unsigned(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE));
  default:
    return driverCode(unsupported("an attribute of a pointer"));
  }
}

CUresult api::cuPointerGetAttribute(void *Out, CUpointer_attribute Attribute,
                                    CUdeviceptr Address) {
  return driverCall([&] {
    std::optional<Allocation> Found = liveAt(Address);
    if (!Found || !Out)
      return CUDA_ERROR_INVALID_VALUE;
    return attributeOf(*Found, Address, Attribute, Out);
  });
}

/// Bytes of the answer to \p Attribute, all zero for an address of nobody's.
static size_t sizeOf(CUpointer_attribute Attribute) {
  switch (Attribute) {
  case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
  case CU_POINTER_ATTRIBUTE_MAPPED:
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
  case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
  case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    return sizeof(bool);
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
  case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    return sizeof(int);
  default:
    return sizeof(void *);
  }
}

CUresult api::cuPointerGetAttributes(unsigned Count,
                                     CUpointer_attribute *Attributes,
                                     void **Out, CUdeviceptr Address) {
  return driverCall([&]() -> CUresult {
    if (!Attributes || !Out)
      return CUDA_ERROR_INVALID_VALUE;
    std::optional<Allocation> Found = liveAt(Address);
    for (unsigned I = 0; I != Count; ++I) {
      std::memset(Out[I], 0, sizeOf(Attributes[I]));
      if (!Found)
        continue;
      CUresult Failed = attributeOf(*Found, Address, Attributes[I], Out[I]);
      // Of many, one that this pointer has not stays zero.
      if (Failed && Failed != CUDA_ERROR_INVALID_VALUE)
        return Failed;
    }
    return CUDA_SUCCESS;
  });
}

} // namespace reconverge::runtime
