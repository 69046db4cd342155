//===- VmMemoryTest.cpp - Allocating, freeing, asking ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Codes are those that an H200 with CUDA 13.0 (driver 580) gave for the same
// calls.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Api.h"

#include "gtest/gtest.h"

#include <cstdint>

using namespace reconverge::runtime;

namespace {

char Host[4096];

TEST(Memory, AllocationsOfNothingAndTooMuch) {
  void *P = Host;
  EXPECT_EQ(api::cudaMalloc(&P, 0), cudaSuccess);
  EXPECT_EQ(P, nullptr);
  P = Host;
  EXPECT_EQ(api::cudaMallocManaged(&P, 0, cudaMemAttachGlobal), cudaSuccess);
  EXPECT_EQ(api::cudaMallocHost(&P, 0), cudaSuccess);
  EXPECT_EQ(P, nullptr);
  EXPECT_EQ(api::cudaMalloc(nullptr, 8), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaMalloc(&P, uint64_t(1) << 50), cudaErrorMemoryAllocation);
  EXPECT_EQ(api::cudaMalloc(&P, SIZE_MAX), cudaErrorMemoryAllocation);
  EXPECT_EQ(api::cudaHostAlloc(&P, 16, 0xff00), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaMallocManaged(&P, 16, 7), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaGetLastError(), cudaErrorInvalidValue);
}

TEST(Memory, EachKindHasItsFree) {
  void *Device, *Managed, *Pinned;
  ASSERT_EQ(api::cudaMalloc(&Device, 100), cudaSuccess);
  ASSERT_EQ(api::cudaMallocManaged(&Managed, 100, cudaMemAttachGlobal),
            cudaSuccess);
  ASSERT_EQ(api::cudaMallocHost(&Pinned, 100), cudaSuccess);
  EXPECT_EQ(api::cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(api::cudaFreeHost(nullptr), cudaSuccess);
  EXPECT_EQ(api::cudaFree(static_cast<char *>(Device) + 8),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaFree(Host), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaFree(Pinned), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaFreeHost(Device), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaFreeHost(Host), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaFree(Device), cudaSuccess);
  EXPECT_EQ(api::cudaFree(Device), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaFree(Managed), cudaSuccess);
  EXPECT_EQ(api::cudaFreeHost(Pinned), cudaSuccess);
  EXPECT_EQ(api::cudaFreeHost(Pinned), cudaErrorInvalidValue);
}

TEST(Memory, FreeMemoryGoesDownAndUp) {
  size_t Before, During, Total;
  ASSERT_EQ(api::cudaMemGetInfo(&Before, &Total), cudaSuccess);
  EXPECT_LE(Before, Total);
  void *P;
  ASSERT_EQ(api::cudaMalloc(&P, 1000000), cudaSuccess);
  ASSERT_EQ(api::cudaMemGetInfo(&During, nullptr), cudaSuccess);
  EXPECT_EQ(Before - During, 1000000u);
  EXPECT_EQ(api::cudaFree(P), cudaSuccess);
  ASSERT_EQ(api::cudaMemGetInfo(&During, nullptr), cudaSuccess);
  EXPECT_EQ(Before, During);
}

TEST(Memory, RowsHaveAPitch) {
  void *P;
  size_t Pitch;
  ASSERT_EQ(api::cudaMallocPitch(&P, &Pitch, 100, 10), cudaSuccess);
  EXPECT_EQ(Pitch, 512u);
  EXPECT_EQ(api::cudaFree(P), cudaSuccess);
  ASSERT_EQ(api::cudaMallocPitch(&P, &Pitch, 513, 10), cudaSuccess);
  EXPECT_EQ(Pitch, 1024u);
  EXPECT_EQ(api::cudaFree(P), cudaSuccess);
  EXPECT_EQ(api::cudaMallocPitch(&P, &Pitch, 0, 10), cudaSuccess);
  EXPECT_EQ(api::cudaMallocPitch(&P, &Pitch, 512, SIZE_MAX / 256),
            cudaErrorMemoryAllocation);
  cudaPitchedPtr Box;
  ASSERT_EQ(api::cudaMalloc3D(&Box, cudaExtent{100, 10, 3}), cudaSuccess);
  EXPECT_EQ(Box.pitch, 512u);
  EXPECT_EQ(Box.xsize, 100u);
  EXPECT_EQ(Box.ysize, 10u);
  EXPECT_EQ(api::cudaMemset(Box.ptr, 1, 512 * 30), cudaSuccess);
  EXPECT_EQ(api::cudaFree(Box.ptr), cudaSuccess);
}

TEST(Memory, PointersKnowWhatTheyAre) {
  cudaPointerAttributes A;
  void *P;
  ASSERT_EQ(api::cudaMalloc(&P, 100), cudaSuccess);
  char *Inside = static_cast<char *>(P) + 4;
  ASSERT_EQ(api::cudaPointerGetAttributes(&A, Inside), cudaSuccess);
  EXPECT_EQ(A.type, cudaMemoryTypeDevice);
  EXPECT_EQ(A.device, 0);
  EXPECT_EQ(A.devicePointer, Inside);
  EXPECT_EQ(A.hostPointer, nullptr);
  ASSERT_EQ(api::cudaPointerGetAttributes(&A, Inside + 96), cudaSuccess);
  EXPECT_EQ(A.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(api::cudaFree(P), cudaSuccess);
  ASSERT_EQ(api::cudaPointerGetAttributes(&A, P), cudaSuccess);
  EXPECT_EQ(A.type, cudaMemoryTypeUnregistered);

  ASSERT_EQ(api::cudaMallocManaged(&P, 100, cudaMemAttachGlobal), cudaSuccess);
  ASSERT_EQ(api::cudaPointerGetAttributes(&A, P), cudaSuccess);
  EXPECT_EQ(A.type, cudaMemoryTypeManaged);
  EXPECT_EQ(A.devicePointer, P);
  EXPECT_EQ(A.hostPointer, P);
  EXPECT_EQ(api::cudaFree(P), cudaSuccess);

  ASSERT_EQ(api::cudaPointerGetAttributes(&A, Host), cudaSuccess);
  EXPECT_EQ(A.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(A.device, -2);
  EXPECT_EQ(A.devicePointer, nullptr);
  EXPECT_EQ(A.hostPointer, Host);
  ASSERT_EQ(api::cudaPointerGetAttributes(&A, nullptr), cudaSuccess);
  EXPECT_EQ(api::cudaPointerGetAttributes(nullptr, Host),
            cudaErrorInvalidValue);
}

TEST(Memory, PinnedMemoryHasADevicePointerAndFlags) {
  void *P, *Device = nullptr;
  unsigned Flags = 0;
  cudaPointerAttributes A;
  ASSERT_EQ(api::cudaMallocHost(&P, 100), cudaSuccess);
  EXPECT_EQ(api::cudaHostGetDevicePointer(&Device, P, 0), cudaSuccess);
  EXPECT_EQ(Device, P);
  EXPECT_EQ(api::cudaHostGetFlags(&Flags, P), cudaSuccess);
  EXPECT_EQ(Flags, unsigned(cudaHostAllocMapped));
  ASSERT_EQ(api::cudaPointerGetAttributes(&A, P), cudaSuccess);
  EXPECT_EQ(A.type, cudaMemoryTypeHost);
  EXPECT_EQ(A.device, 0);
  EXPECT_EQ(api::cudaFreeHost(P), cudaSuccess);
  EXPECT_EQ(api::cudaHostGetDevicePointer(&Device, Host, 0),
            cudaErrorInvalidValue);
  ASSERT_EQ(api::cudaMalloc(&P, 100), cudaSuccess);
  EXPECT_EQ(api::cudaHostGetDevicePointer(&Device, P, 0),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaFree(P), cudaSuccess);
}

TEST(Memory, OwnMemoryIsRegisteredOnce) {
  void *Device = nullptr;
  cudaPointerAttributes A;
  EXPECT_EQ(api::cudaHostRegister(Host, 4096, 0), cudaSuccess);
  EXPECT_EQ(api::cudaHostRegister(Host, 4096, 0),
            cudaErrorHostMemoryAlreadyRegistered);
  ASSERT_EQ(api::cudaPointerGetAttributes(&A, Host), cudaSuccess);
  EXPECT_EQ(A.type, cudaMemoryTypeHost);
  EXPECT_EQ(api::cudaHostGetDevicePointer(&Device, Host, 0), cudaSuccess);
  EXPECT_EQ(Device, Host);
  EXPECT_EQ(api::cudaHostUnregister(Host), cudaSuccess);
  EXPECT_EQ(api::cudaHostUnregister(Host), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(api::cudaHostRegister(Host, 0, 0), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaHostRegister(nullptr, 10, 0), cudaErrorInvalidValue);
}

#if CUDART_VERSION >= 13000
TEST(Memory, HintsAreForManagedMemory) {
  const cudaMemLocation Here = {cudaMemLocationTypeDevice, 0};
  const cudaMemLocation There = {cudaMemLocationTypeDevice, 9};
  void *Device, *Managed;
  ASSERT_EQ(api::cudaMalloc(&Device, 100), cudaSuccess);
  ASSERT_EQ(api::cudaMallocManaged(&Managed, 100, cudaMemAttachGlobal),
            cudaSuccess);
  const auto Advice = cudaMemAdviseSetReadMostly;
  EXPECT_EQ(api::cudaMemAdvise(Device, 100, Advice, Here),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaMemAdvise(Managed, 100, Advice, Here), cudaSuccess);
  EXPECT_EQ(api::cudaMemPrefetchAsync(Managed, 100, Here, 0, nullptr),
            cudaSuccess);
  EXPECT_EQ(api::cudaMemPrefetchAsync(Managed, 101, Here, 0, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaMemPrefetchAsync(Managed, 100, There, 0, nullptr),
            cudaErrorInvalidDevice);
  EXPECT_EQ(api::cudaFree(Device), cudaSuccess);
  EXPECT_EQ(api::cudaFree(Managed), cudaSuccess);
}
#endif

TEST(Pools, CountWhatIsTaken) {
  cudaMemPool_t Default;
  ASSERT_EQ(api::cudaDeviceGetDefaultMemPool(&Default, 0), cudaSuccess);
  auto Used = [](cudaMemPool_t Pool) {
    uint64_t Bytes = 99;
    EXPECT_EQ(api::cudaMemPoolGetAttribute(Pool, cudaMemPoolAttrUsedMemCurrent,
                                           &Bytes),
              cudaSuccess);
    return Bytes;
  };
  int Reuse = 0;
  EXPECT_EQ(api::cudaMemPoolGetAttribute(
                Default, cudaMemPoolReuseFollowEventDependencies, &Reuse),
            cudaSuccess);
  EXPECT_EQ(Reuse, 1);
  void *P;
  EXPECT_EQ(api::cudaMallocAsync(&P, 0, nullptr), cudaSuccess);
  EXPECT_EQ(P, nullptr);
  ASSERT_EQ(api::cudaMallocAsync(&P, 100, nullptr), cudaSuccess);
  EXPECT_EQ(Used(Default), 100u);
  EXPECT_EQ(api::cudaFreeAsync(P, nullptr), cudaSuccess);
  EXPECT_EQ(Used(Default), 0u);
  EXPECT_EQ(api::cudaFreeAsync(P, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaFreeAsync(nullptr, nullptr), cudaSuccess);
  // Either kind of memory, by either call.
  ASSERT_EQ(api::cudaMallocAsync(&P, 100, nullptr), cudaSuccess);
  EXPECT_EQ(api::cudaFree(P), cudaSuccess);
  EXPECT_EQ(Used(Default), 0u);
  ASSERT_EQ(api::cudaMalloc(&P, 64), cudaSuccess);
  EXPECT_EQ(api::cudaFreeAsync(P, nullptr), cudaSuccess);
  EXPECT_EQ(api::cudaMemPoolTrimTo(Default, 0), cudaSuccess);
  EXPECT_EQ(api::cudaMemPoolDestroy(Default), cudaErrorInvalidValue);

  cudaMemPoolProps Props = {};
  Props.allocType = cudaMemAllocationTypePinned;
  Props.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t Own;
  ASSERT_EQ(api::cudaMemPoolCreate(&Own, &Props), cudaSuccess);
  ASSERT_EQ(api::cudaMallocFromPoolAsync(&P, 300, Own, nullptr), cudaSuccess);
  EXPECT_EQ(Used(Own), 300u);
  EXPECT_EQ(Used(Default), 0u);
  EXPECT_EQ(api::cudaMemPoolDestroy(Own), cudaSuccess);
  EXPECT_EQ(api::cudaMemPoolDestroy(Own), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaFree(P), cudaSuccess); // memory outlives its pool
}

} // namespace
