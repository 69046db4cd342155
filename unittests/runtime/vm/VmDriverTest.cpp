//===- VmDriverTest.cpp - Calls of CUDA's driver --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Codes are those that an H200 with a driver 580 gave for the same calls.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Api.h"
#include "runtime/vm/Driver.h"

#include "gtest/gtest.h"

#include <thread>

using namespace reconverge::runtime;

namespace {

/// Runs \p Body in a thread of its own, which has no context, with the driver
/// initialized.
template <typename Body> void inNewThread(Body &&B) {
  setDriverReady([] { return 1; });
  std::thread(B).join();
}

TEST(Driver, CallsNeedAContext) {
  inNewThread([] {
    CUcontext Context = nullptr;
    CUdeviceptr Address = 0;
    CUstream Stream;
    CUdevice Device;
    size_t Bytes;
    unsigned Type;
    EXPECT_EQ(api::cuMemAlloc(&Address, 4), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(api::cuCtxGetCurrent(&Context), CUDA_SUCCESS);
    EXPECT_EQ(Context, nullptr);
    EXPECT_EQ(api::cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(api::cuStreamCreate(&Stream, 0), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(api::cuStreamSynchronize(nullptr), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(api::cuCtxGetDevice(&Device), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(api::cuCtxPopCurrent(&Context), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(api::cuMemGetInfo(&Bytes, &Bytes), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(api::cuMemcpy(0, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(api::cuMemFree(0), CUDA_SUCCESS);
    EXPECT_EQ(api::cuMemFreeHost(nullptr), CUDA_SUCCESS);
    EXPECT_EQ(api::cuPointerGetAttribute(
                  &Type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 4096),
              CUDA_ERROR_INVALID_VALUE);
  });
}

TEST(Driver, TheRuntimeMakesItsContextCurrent) {
  inNewThread([] {
    CUcontext Own, Current;
    CUdevice Device = 7;
    unsigned Flags;
    ASSERT_EQ(api::cuDevicePrimaryCtxRetain(&Own, 0), CUDA_SUCCESS);
    ASSERT_EQ(api::cudaFree(nullptr), cudaSuccess);
    EXPECT_EQ(api::cuCtxGetCurrent(&Current), CUDA_SUCCESS);
    EXPECT_EQ(Current, Own);
    EXPECT_EQ(api::cuCtxGetDevice(&Device), CUDA_SUCCESS);
    EXPECT_EQ(Device, 0);
    EXPECT_EQ(api::cuCtxGetFlags(&Flags), CUDA_SUCCESS);
    EXPECT_EQ(Flags, unsigned(CU_CTX_MAP_HOST));
    EXPECT_EQ(api::cuCtxPopCurrent(&Current), CUDA_SUCCESS);
    EXPECT_EQ(api::cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(api::cuDevicePrimaryCtxSetFlags(0, 3), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(api::cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  });
}

TEST(Driver, ContextsAreAStack) {
  inNewThread([] {
    CUcontext A, B, Current;
    ASSERT_EQ(api::cuCtxCreate_v2(&A, 0, 0), CUDA_SUCCESS);
    ASSERT_EQ(api::cuCtxCreate_v2(&B, CU_CTX_SCHED_YIELD, 0), CUDA_SUCCESS);
    EXPECT_EQ(api::cuCtxGetCurrent(&Current), CUDA_SUCCESS);
    EXPECT_EQ(Current, B);
    EXPECT_EQ(api::cuCtxDestroy(B), CUDA_SUCCESS);
    EXPECT_EQ(api::cuCtxDestroy(B), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(api::cuCtxSetCurrent(B), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(api::cuCtxGetCurrent(&Current), CUDA_SUCCESS);
    EXPECT_EQ(Current, A);
    EXPECT_EQ(api::cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
    EXPECT_EQ(api::cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(api::cuCtxDestroy(A), CUDA_SUCCESS);
  });
}

TEST(Driver, MemoryIsTheRuntimes) {
  (void)api::cudaGetLastError();
  ASSERT_EQ(api::cudaFree(nullptr), cudaSuccess);
  CUdeviceptr A = 0, Base;
  size_t Bytes;
  char Host[64] = {};
  const auto OfHost = CUdeviceptr(Host);
  EXPECT_EQ(api::cuMemAlloc(&A, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(api::cuMemAlloc(&A, 64), CUDA_SUCCESS);
  EXPECT_EQ(api::cuMemFree(A + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api::cuMemFree(4096), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api::cuMemsetD16(A + 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api::cuMemsetD32(A + 2, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api::cuMemsetD8(A, 1, 0), CUDA_SUCCESS);
  EXPECT_EQ(api::cuMemAllocPitch(&Base, &Bytes, 3, 3, 3),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api::cuMemGetAddressRange(&Base, &Bytes, A + 5), CUDA_SUCCESS);
  EXPECT_EQ(Base, A);
  EXPECT_EQ(Bytes, 64u);
  EXPECT_EQ(api::cuMemGetAddressRange(&Base, &Bytes, OfHost),
            CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(api::cuMemcpyHtoD(OfHost, Host, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api::cuMemsetD32(A, 0x01020304, 16), CUDA_SUCCESS);
  EXPECT_EQ(api::cuMemsetD2D16(A, 32, 0x0506, 2, 2), CUDA_SUCCESS);
  EXPECT_EQ(api::cuMemcpyDtoH(Host, A, 64), CUDA_SUCCESS);
  EXPECT_EQ(Host[0], 6);
  EXPECT_EQ(Host[4], 4);
  EXPECT_EQ(Host[35], 5);
  EXPECT_EQ(api::cudaFree(pointerTo(A)), cudaSuccess);
  // An error of the driver is none of the runtime's.
  EXPECT_EQ(api::cudaGetLastError(), cudaSuccess);
}

TEST(Driver, CopiesRowsAndPlanes) {
  ASSERT_EQ(api::cudaFree(nullptr), cudaSuccess);
  CUdeviceptr A = 0;
  ASSERT_EQ(api::cuMemAlloc(&A, 64), CUDA_SUCCESS);
  char From[8] = {1, 2, 3, 4, 5, 6, 7, 8}, To[4] = {};
  CUDA_MEMCPY2D C = {};
  C.srcMemoryType = CU_MEMORYTYPE_HOST;
  C.srcHost = From;
  C.srcPitch = 4;
  C.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  C.dstDevice = A;
  C.dstPitch = 16;
  C.WidthInBytes = 4;
  C.Height = 2;
  EXPECT_EQ(api::cuMemcpy2D(&C), CUDA_SUCCESS);
  EXPECT_EQ(api::cuMemcpyDtoH(To, A + 16, 4), CUDA_SUCCESS);
  EXPECT_EQ(To[3], 8);
  C.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT_EQ(api::cuMemcpy2D(&C), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(api::cuMemcpy2D(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api::cuMemFree(A), CUDA_SUCCESS);
}

TEST(Driver, TellsOfPointers) {
  ASSERT_EQ(api::cudaFree(nullptr), cudaSuccess);
  CUdeviceptr A = 0, Start = 0;
  unsigned Type = 9;
  void *Host = &Type;
  ASSERT_EQ(api::cuMemAlloc(&A, 64), CUDA_SUCCESS);
  EXPECT_EQ(api::cuPointerGetAttribute(&Type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                       A + 5),
            CUDA_SUCCESS);
  EXPECT_EQ(Type, unsigned(CU_MEMORYTYPE_DEVICE));
  EXPECT_EQ(
      api::cuPointerGetAttribute(&Host, CU_POINTER_ATTRIBUTE_HOST_POINTER, A),
      CUDA_ERROR_INVALID_VALUE);
  CUpointer_attribute Both[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void *Out[] = {&Start, &Host};
  EXPECT_EQ(api::cuPointerGetAttributes(2, Both, Out, A + 5), CUDA_SUCCESS);
  EXPECT_EQ(Start, A);
  EXPECT_EQ(Host, nullptr);
  EXPECT_EQ(api::cuMemFree(A), CUDA_SUCCESS);
}

TEST(Driver, TellsOfErrorsAndTheDevice) {
  const char *Text = "";
  EXPECT_EQ(api::cuGetErrorName(CUDA_ERROR_NOT_FOUND, &Text), CUDA_SUCCESS);
  EXPECT_STREQ(Text, "CUDA_ERROR_NOT_FOUND");
  EXPECT_EQ(api::cuGetErrorString(CUDA_ERROR_NOT_FOUND, &Text), CUDA_SUCCESS);
  EXPECT_STREQ(Text, "named symbol not found");
  EXPECT_EQ(api::cuGetErrorString(CUresult(202), &Text), CUDA_SUCCESS);
  EXPECT_STREQ(Text, "context already current");
  EXPECT_EQ(api::cuGetErrorName(CUresult(12345), &Text),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(Text, nullptr);
  EXPECT_EQ(driverCode(cudaErrorInvalidPitchValue), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driverCode(cudaErrorIllegalAddress), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdevice Device;
  int Value = -1;
  EXPECT_EQ(api::cuDeviceGet(&Device, 7), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(api::cuDeviceGetAttribute(&Value, CUdevice_attribute(9999), 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api::cuDeviceGetAttribute(
                &Value, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(Value, 1024);
}

TEST(Driver, TakesNoHandleOfNobodys) {
  ASSERT_EQ(api::cudaFree(nullptr), cudaSuccess);
  CUevent Event;
  float Time;
  ASSERT_EQ(api::cuEventCreate(&Event, 0), CUDA_SUCCESS);
  EXPECT_EQ(api::cuEventElapsedTime(&Time, Event, Event),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(api::cuEventDestroy(Event), CUDA_SUCCESS);
  EXPECT_EQ(api::cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr,
                                nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(api::cuStreamQuery(reinterpret_cast<CUstream>(&Time)),
            CUDA_ERROR_INVALID_HANDLE);
}

} // namespace
