//===- unittests/remedies/OccupancyTest.cpp ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/Occupancy.h"

#include "cuda_occupancy.h"
#include "gtest/gtest.h"

using namespace reconverge::remedies;
using reconverge::model::BlockNeeds;

// Known values: 64 warps an SM, 16 a partition with 16384 registers.
TEST(Occupancy, RegistersOfAnSm90) {
  auto Blocks = [](unsigned Threads, unsigned Registers) {
    return blocksOn(processorFor(90), {Threads, 0, Registers});
  };
  EXPECT_EQ(Blocks(256, 0), 8u);
  EXPECT_EQ(Blocks(256, 32), 8u);
  EXPECT_EQ(Blocks(256, 33), 6u); // units of 256 a warp
  EXPECT_EQ(Blocks(256, 40), 6u); // 75 %
  EXPECT_EQ(Blocks(256, 41), 5u);
  EXPECT_EQ(Blocks(256, 255), 1u);
  EXPECT_EQ(Blocks(1024, 64), 1u);
  EXPECT_EQ(Blocks(1024, 65), 0u);
}

TEST(Occupancy, OlderArchitectures) {
  EXPECT_EQ(processorFor(88).Arch, 87u);
  EXPECT_EQ(processorFor(100).Arch, 90u);
  EXPECT_EQ(processorFor(90).mostShared(), 227u * 1024);
  EXPECT_EQ(processorFor(86).mostShared(), 99u * 1024);
  EXPECT_EQ(processorFor(61).mostShared(), 48u * 1024);
}

/// What NVIDIA's calculator says.
static int theirs(const Processor &P, const BlockNeeds &Needs) {
  cudaOccDeviceProp Device;
  Device.computeMajor = int(P.Arch / 10);
  Device.computeMinor = int(P.Arch % 10);
  Device.maxThreadsPerBlock = 1024;
  Device.maxThreadsPerMultiprocessor = int(P.Room.Threads);
  Device.regsPerBlock = Device.regsPerMultiprocessor = 65536;
  Device.warpSize = 32;
  Device.sharedMemPerBlock = 48 * 1024;
  Device.sharedMemPerMultiprocessor = P.Room.SharedBytes;
  Device.numSms = 1;
  Device.sharedMemPerBlockOptin = P.mostShared();
  Device.reservedSharedMemPerBlock = P.Room.SharedReserved;
  cudaOccFuncAttributes Kernel;
  Kernel.maxThreadsPerBlock = 1024;
  Kernel.numRegs = int(Needs.Registers);
  Kernel.maxDynamicSharedSizeBytes = P.mostShared();
  Kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  Kernel.numBlockBarriers = 1;
  cudaOccDeviceState State;
  State.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
  State.cacheConfig = CACHE_PREFER_SHARED;
  cudaOccResult Result;
  if (cudaOccMaxActiveBlocksPerMultiprocessor(&Result, &Device, &Kernel, &State,
                                              int(Needs.Threads), Needs.Shared))
    return -1;
  return Result.activeBlocksPerMultiprocessor;
}

// Every architecture, over all numbers of registers and sizes around the units
// of allocation.
TEST(Occupancy, AsNvidiasCalculatorHasIt) {
  for (unsigned Arch : {50, 52, 60, 61, 70, 75, 80, 86, 87, 89, 90}) {
    const Processor &P = processorFor(Arch);
    ASSERT_EQ(P.Arch, Arch);
    for (unsigned Threads :
         {32, 33, 64, 96, 160, 200, 256, 384, 512, 768, 1024})
      for (unsigned Registers = 1; Registers < 256; ++Registers)
        for (uint64_t Shared :
             {0, 1, 127, 128, 129, 1024, 7000, 10800, 24576, 49152})
          ASSERT_EQ(int(blocksOn(P, {Threads, Shared, Registers})),
                    theirs(P, {Threads, Shared, Registers}))
              << "sm_" << Arch << ", " << Threads << " threads, " << Registers
              << " registers, " << Shared << " bytes";
  }
}
