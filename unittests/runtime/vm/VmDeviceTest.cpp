//===- VmDeviceTest.cpp - What the VM claims to be ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Codes are those that an H200 with CUDA 13.0 (driver 580) gave for the same
// calls, unless a comment says otherwise.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Api.h"
#include "warpvm/memory/DeviceMemory.h"

#include "gtest/gtest.h"

using namespace reconverge::runtime;

namespace {

TEST(Device, ThereIsOne) {
  int Value = -1;
  EXPECT_EQ(api::cudaGetDeviceCount(&Value), cudaSuccess);
  EXPECT_EQ(Value, 1);
  EXPECT_EQ(api::cudaGetDevice(&Value), cudaSuccess);
  EXPECT_EQ(Value, 0);
  EXPECT_EQ(api::cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(api::cudaSetDevice(7), cudaErrorInvalidDevice);
  EXPECT_EQ(api::cudaSetDevice(-1), cudaErrorInvalidDevice);
  EXPECT_EQ(api::cudaGetDevice(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaGetDeviceCount(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaInitDevice(0, 0, 0), cudaSuccess);
  EXPECT_EQ(api::cudaSetValidDevices(nullptr, 0), cudaSuccess);
}

TEST(Device, PropertiesAndAttributesAgree) {
  cudaDeviceProp P;
  ASSERT_EQ(api::cudaGetDeviceProperties(&P, 0), cudaSuccess);
  EXPECT_EQ(api::cudaGetDeviceProperties(&P, 1), cudaErrorInvalidDevice);
  EXPECT_STREQ(P.name, "Reconverge warp VM (CPU)");
  EXPECT_EQ(P.totalGlobalMem,
            reconverge::warpvm::DeviceMemory::instance().capacity());
  auto Get = [](cudaDeviceAttr A) {
    int Value = -77;
    EXPECT_EQ(api::cudaDeviceGetAttribute(&Value, A, 0), cudaSuccess) << A;
    return Value;
  };
  EXPECT_EQ(P.warpSize, 32);
  EXPECT_EQ(Get(cudaDevAttrWarpSize), 32);
  EXPECT_EQ(P.maxThreadsPerBlock, 1024);
  EXPECT_EQ(Get(cudaDevAttrMaxThreadsPerBlock), 1024);
  EXPECT_EQ(P.maxThreadsDim[2], 64);
  EXPECT_EQ(Get(cudaDevAttrMaxBlockDimZ), 64);
  EXPECT_EQ(P.maxGridSize[0], 2147483647);
  EXPECT_EQ(Get(cudaDevAttrMaxGridDimX), 2147483647);
  EXPECT_EQ(P.sharedMemPerBlock, 49152u);
  EXPECT_EQ(Get(cudaDevAttrMaxSharedMemoryPerBlock), 49152);
  EXPECT_EQ(P.sharedMemPerBlockOptin, 232448u);
  EXPECT_EQ(Get(cudaDevAttrMaxSharedMemoryPerBlockOptin), 232448);
  EXPECT_EQ(P.sharedMemPerMultiprocessor, 233472u);
  EXPECT_EQ(P.multiProcessorCount, 132);
  EXPECT_EQ(Get(cudaDevAttrMultiProcessorCount), 132);
  EXPECT_EQ(P.major * 10 + P.minor, 90);
  EXPECT_EQ(Get(cudaDevAttrComputeCapabilityMajor), 9);
  EXPECT_EQ(P.cooperativeLaunch, 1);
  EXPECT_EQ(Get(cudaDevAttrCooperativeLaunch), 1);
  EXPECT_EQ(P.maxTexture2D[1], 65536);
  EXPECT_EQ(Get(cudaDevAttrMaxTexture2DHeight), 65536);
  EXPECT_EQ(P.clusterLaunch, 1);
  // What the VM refuses it does not claim.
  EXPECT_EQ(Get(cudaDevAttrMaxTextureCubemapWidth), 0);
}

TEST(Device, WrongAttributesAreErrors) {
  int Value = -77;
  EXPECT_EQ(api::cudaDeviceGetAttribute(&Value, cudaDevAttrWarpSize, 3),
            cudaErrorInvalidDevice);
  EXPECT_EQ(api::cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaDeviceGetAttribute(&Value, cudaDevAttrMax, 0),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaDeviceGetAttribute(&Value, cudaDeviceAttr(0), 0),
            cudaErrorInvalidValue);
  EXPECT_EQ(Value, -77);
}

TEST(Device, SettingsAreKept) {
  size_t Bytes = 0;
  EXPECT_EQ(api::cudaDeviceSetLimit(cudaLimitStackSize, 2048), cudaSuccess);
  EXPECT_EQ(api::cudaDeviceGetLimit(&Bytes, cudaLimitStackSize), cudaSuccess);
  EXPECT_EQ(Bytes, 2048u);
  EXPECT_EQ(api::cudaDeviceSetLimit(cudaLimit(77), 1), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaDeviceGetLimit(nullptr, cudaLimitStackSize),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaDeviceGetLimit(&Bytes, cudaLimitDevRuntimeSyncDepth),
            cudaErrorUnsupportedLimit);
  unsigned Flags = 0;
  EXPECT_EQ(api::cudaGetDeviceFlags(&Flags), cudaSuccess);
  EXPECT_EQ(Flags, 8u);
  EXPECT_EQ(api::cudaSetDeviceFlags(cudaDeviceScheduleSpin), cudaSuccess);
  EXPECT_EQ(api::cudaGetDeviceFlags(&Flags), cudaSuccess);
  EXPECT_EQ(Flags, 9u);
  EXPECT_EQ(api::cudaSetDeviceFlags(0xffff), cudaErrorInvalidValue);
  cudaFuncCache Cache;
  EXPECT_EQ(api::cudaDeviceSetCacheConfig(cudaFuncCachePreferL1), cudaSuccess);
  EXPECT_EQ(api::cudaDeviceGetCacheConfig(&Cache), cudaSuccess);
  EXPECT_EQ(Cache, cudaFuncCachePreferL1);
  EXPECT_EQ(api::cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(api::cudaGetDeviceFlags(&Flags), cudaSuccess);
  EXPECT_EQ(Flags, 8u);
}

TEST(Device, HasNoPeers) {
  int Value = -1;
  EXPECT_EQ(api::cudaDeviceCanAccessPeer(&Value, 0, 0), cudaSuccess);
  EXPECT_EQ(Value, 0);
  EXPECT_EQ(api::cudaDeviceCanAccessPeer(&Value, 0, 1), cudaErrorInvalidDevice);
  EXPECT_EQ(api::cudaDeviceEnablePeerAccess(0, 0),
            cudaErrorPeerAccessUnsupported);
  EXPECT_EQ(api::cudaDeviceEnablePeerAccess(1, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(api::cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
  char Id[32];
  EXPECT_EQ(api::cudaDeviceGetPCIBusId(Id, 3, 0), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaDeviceGetPCIBusId(Id, 32, 0), cudaSuccess);
  EXPECT_EQ(api::cudaDeviceGetByPCIBusId(&Value, Id), cudaSuccess);
  EXPECT_EQ(api::cudaDeviceGetByPCIBusId(&Value, "nonsense"),
            cudaErrorInvalidValue);
}

TEST(Device, VersionsAreTheToolkits) {
  int Runtime = 0, Driver = 0;
  EXPECT_EQ(api::cudaRuntimeGetVersion(&Runtime), cudaSuccess);
  EXPECT_EQ(api::cudaDriverGetVersion(&Driver), cudaSuccess);
  EXPECT_EQ(Runtime, CUDART_VERSION);
  EXPECT_EQ(Driver, CUDART_VERSION);
}

} // namespace
