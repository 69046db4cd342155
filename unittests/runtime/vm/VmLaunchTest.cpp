//===- VmLaunchTest.cpp - Registration, launches, symbols -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Codes are those that an H200 with CUDA 13.0 (driver 580) gave for the same
// calls.
//
//===----------------------------------------------------------------------===//

#include "FakeMachine.h"
#include "core/ContainerIO.h"
#include "runtime/vm/Api.h"

#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::runtime;

namespace {

constexpr char Code[] = R"(
target triple = "nvptx64-nvidia-cuda"
@table = addrspace(4) global [8 x i32] zeroinitializer
@counter = addrspace(1) global i32 0
define void @plain(ptr %p, i32 %n, double %x) #0 { ret void }
define void @bounded() { ret void }
define void @required() { ret void }
define void @shared4000() #1 { ret void }
define void @refused() #2 { ret void }
attributes #0 = { "target-cpu"="sm_80" }
attributes #1 = { "shared"="4000" }
attributes #2 = { "refuse" }
!nvvm.annotations = !{!0, !1, !2}
!0 = !{ptr @plain, !"kernel", i32 1}
!1 = !{ptr @bounded, !"maxntidx", i32 128}
!2 = !{ptr @required, !"reqntidx", i32 16, !"reqntidy", i32 4}
)";

char Plain, Bounded, Required, Shared4000, Refused, Missing, Unregistered,
    Table, Counter;

constexpr cudaError_t BadShape = CUDART_VERSION >= 13000
                                     ? cudaErrorInvalidValue
                                     : cudaErrorInvalidConfiguration;
constexpr cudaError_t BadHandle = CUDART_VERSION >= 13000
                                      ? cudaErrorInvalidResourceHandle
                                      : cudaErrorInvalidDeviceFunction;

class Launch : public testing::Test {
protected:
  Launch() : Unit(StringRef(Code)) {
    Engine::get().reset();
    cantFail(Engine::get().configure(
        {}, fake::factory([this](const fake::Launch &L, LaunchCounts *) {
          Seen.push_back(L);
          if (During)
            During();
          return Error::success();
        })));
    Unit.kernel(&Plain, "plain");
    Unit.kernel(&Bounded, "bounded");
    Unit.kernel(&Required, "required");
    Unit.kernel(&Shared4000, "shared4000");
    Unit.kernel(&Refused, "refused");
    Unit.kernel(&Missing, "missing");
    Unit.variable(&Table, "table", 32, true);
    Unit.variable(&Counter, "counter", 4, false);
  }
  ~Launch() override {
    api::cudaGetLastError();
    Engine::get().reset();
  }

  cudaError_t run(const void *Stub, dim3 Grid = 1, dim3 Block = 1,
                  size_t Bytes = 0, cudaStream_t Stream = nullptr) {
    return api::cudaLaunchKernel(Stub, Grid, Block, nullptr, Bytes, Stream);
  }

  fake::Object Unit;
  std::vector<fake::Launch> Seen;
  std::function<void()> During; ///< what a launch does, if anything
};

TEST_F(Launch, ReachesTheMachineAsAsked) {
  int N = 5;
  void *Args[] = {&N};
  ASSERT_EQ(api::cudaLaunchKernel(&Plain, dim3(2, 3, 4), dim3(8, 4, 2), Args,
                                  100, cudaStreamPerThread),
            cudaSuccess);
  ASSERT_EQ(Seen.size(), 1u);
  EXPECT_EQ(Seen[0].Kernel, "plain");
  EXPECT_EQ(Seen[0].Shape.Grid, (std::array<uint32_t, 3>{2, 3, 4}));
  EXPECT_EQ(Seen[0].Shape.Block, (std::array<uint32_t, 3>{8, 4, 2}));
  EXPECT_EQ(Seen[0].Shape.DynamicShared, 100u);
  EXPECT_EQ(Seen[0].Args, Args);
  EXPECT_FALSE(Seen[0].Counted); // nobody asked for a profile
}

/// A thread that frees memory waits for the launch of another.
TEST_F(Launch, MemoryStaysUntilALaunchIsDone) {
  void *Memory = nullptr, *Pinned = nullptr;
  ASSERT_EQ(api::cudaMallocManaged(&Memory, 4096, cudaMemAttachGlobal),
            cudaSuccess);
  ASSERT_EQ(api::cudaMallocHost(&Pinned, 4096), cudaSuccess);
  std::atomic<int> Freed{0};
  std::vector<std::thread> Others;
  During = [&] {
    for (auto [Free, Pointer] : {std::pair(&api::cudaFree, Memory),
                                 std::pair(&api::cudaFreeHost, Pinned)})
      Others.emplace_back([&Freed, Free = Free, Pointer = Pointer] {
        EXPECT_EQ(Free(Pointer), cudaSuccess);
        ++Freed;
      });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(Freed, 0);
  };
  EXPECT_EQ(run(&Plain), cudaSuccess);
  for (std::thread &Other : Others)
    Other.join();
  EXPECT_EQ(Freed, 2);
}

TEST_F(Launch, TheMachineIsMadeAndTheCodeLoadedOnce) {
  const fake::Calls Before = fake::calls();
  EXPECT_EQ(api::cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(fake::calls().Machines, Before.Machines);
  for (int I = 0; I < 3; ++I) {
    EXPECT_EQ(run(&Plain), cudaSuccess);
    EXPECT_EQ(run(&Bounded), cudaSuccess);
  }
  EXPECT_EQ(fake::calls().Machines, Before.Machines + 1);
  EXPECT_EQ(fake::calls().Loads, Before.Loads + 1);
}

TEST_F(Launch, ConfigurationsNest) {
  dim3 Grid, Block;
  size_t Bytes;
  cudaStream_t Stream;
  EXPECT_EQ(api::__cudaPopCallConfiguration(&Grid, &Block, &Bytes, &Stream),
            cudaErrorMissingConfiguration);
  EXPECT_EQ(api::__cudaPushCallConfiguration(dim3(1, 2, 3), 4, 5, nullptr), 0u);
  EXPECT_EQ(
      api::__cudaPushCallConfiguration(6, dim3(7, 8, 9), 10, cudaStreamLegacy),
      0u);
  ASSERT_EQ(api::__cudaPopCallConfiguration(&Grid, &Block, &Bytes, &Stream),
            cudaSuccess);
  EXPECT_EQ(Grid.x, 6u);
  EXPECT_EQ(Block.z, 9u);
  EXPECT_EQ(Bytes, 10u);
  EXPECT_EQ(Stream, cudaStreamLegacy);
  ASSERT_EQ(api::__cudaPopCallConfiguration(&Grid, &Block, &Bytes, &Stream),
            cudaSuccess);
  EXPECT_EQ(Grid.y, 2u);
  EXPECT_EQ(Block.x, 4u);
  EXPECT_EQ(Stream, nullptr);
}

TEST_F(Launch, ShapesAreHeldToTheLimits) {
  EXPECT_EQ(run(&Plain, dim3(2147483647), 1), cudaSuccess);
  EXPECT_EQ(run(&Plain, dim3(1, 65535, 65535), dim3(1, 16, 64)), cudaSuccess);
  EXPECT_EQ(run(&Plain, 1, 1024), cudaSuccess);
  const size_t Good = Seen.size();
  EXPECT_EQ(run(&Plain, 0, 1), BadShape);
  EXPECT_EQ(run(&Plain, 1, 0), BadShape);
  EXPECT_EQ(run(&Plain, dim3(1, 0, 1), 1), BadShape);
  EXPECT_EQ(run(&Plain, 1, 1025), BadShape);
  EXPECT_EQ(run(&Plain, 1, dim3(32, 33)), BadShape);
  EXPECT_EQ(run(&Plain, 1, dim3(1, 1, 65)), BadShape);
  EXPECT_EQ(run(&Plain, 1, dim3(65536, 65536)), BadShape);
  EXPECT_EQ(run(&Plain, dim3(1, 65536), 1), BadShape);
  EXPECT_EQ(run(&Plain, dim3(1, 1, 65536), 1), BadShape);
  EXPECT_EQ(run(&Plain, dim3(2147483648u), 1), BadShape);
  EXPECT_EQ(api::cudaGetLastError(), BadShape);
  EXPECT_EQ(run(&Bounded, 1, 128), cudaSuccess);
  EXPECT_EQ(run(&Required, 1, dim3(16, 4)), cudaSuccess);
  EXPECT_EQ(run(&Required, 1, 65), cudaErrorInvalidValue);
  EXPECT_EQ(run(&Bounded, 1, 129), cudaErrorInvalidValue);
  EXPECT_EQ(Seen.size(), Good + 2);
}

TEST_F(Launch, SharedMemoryNeedsToBeOptedIn) {
  const auto Most = cudaFuncAttributeMaxDynamicSharedMemorySize;
  EXPECT_EQ(run(&Plain, 1, 1, 48 << 10), cudaSuccess);
  EXPECT_EQ(run(&Plain, 1, 1, (48 << 10) + 1), cudaErrorInvalidValue);
  EXPECT_EQ(run(&Plain, 1, 1, SIZE_MAX), cudaErrorInvalidValue);
  EXPECT_EQ(run(&Shared4000, 1, 1, (48 << 10) - 4000), cudaSuccess);
  EXPECT_EQ(run(&Shared4000, 1, 1, (48 << 10) - 3999), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaFuncSetAttribute(&Plain, Most, 227 << 10), cudaSuccess);
  EXPECT_EQ(run(&Plain, 1, 1, 227 << 10), cudaSuccess);
  EXPECT_EQ(run(&Plain, 1, 1, (227 << 10) + 1), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaFuncSetAttribute(&Plain, Most, (227 << 10) + 1),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaFuncSetAttribute(&Shared4000, Most, (227 << 10) - 3999),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaFuncSetAttribute(&Plain, Most, -1), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaFuncSetAttribute(&Unregistered, Most, 1), BadHandle);
}

TEST_F(Launch, WhatIsNoKernelIsAnError) {
  EXPECT_EQ(run(nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(run(&Unregistered), BadHandle);
  EXPECT_EQ(run(&Plain, 1, 1, 0, reinterpret_cast<cudaStream_t>(&Plain)),
            cudaErrorInvalidResourceHandle);
  EXPECT_TRUE(Seen.empty());
}

TEST_F(Launch, ThroughAConfigurationWithAttributes) {
  cudaLaunchAttribute Attribute = {};
  cudaLaunchConfig_t Config = {};
  Config.gridDim = 3;
  Config.blockDim = 64;
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  Attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  EXPECT_EQ(api::cudaLaunchKernelExC(&Config, &Plain, nullptr), cudaSuccess);
  ASSERT_EQ(Seen.size(), 1u);
  EXPECT_EQ(Seen[0].Shape.Grid[0], 3u);
  EXPECT_EQ(api::cudaLaunchKernelExC(nullptr, &Plain, nullptr),
            cudaErrorInvalidValue);
  EXPECT_FALSE(Seen[0].Shape.Cooperative);
}

TEST_F(Launch, InClusters) {
  cudaLaunchAttribute Attribute = {};
  Attribute.id = cudaLaunchAttributeClusterDimension;
  cudaLaunchConfig_t Config = {};
  Config.gridDim = dim3(36, 2);
  Config.blockDim = 64;
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  auto Run = [&](unsigned X, unsigned Y, unsigned Z) {
    Attribute.val.clusterDim = {X, Y, Z};
    testing::internal::CaptureStderr();
    const cudaError_t Code = api::cudaLaunchKernelExC(&Config, &Plain, nullptr);
    return std::pair(Code, testing::internal::GetCapturedStderr());
  };
  const std::pair Fine(cudaSuccess, std::string());
  EXPECT_EQ(Run(1, 1, 1), Fine);
  EXPECT_EQ(Run(2, 1, 1), Fine);
  EXPECT_EQ(Run(4, 2, 1), Fine);
  EXPECT_EQ(Seen.size(), 3u);
  EXPECT_EQ(Run(5, 1, 1),
            std::pair(cudaErrorInvalidClusterSize,
                      std::string("reconverge: kernel 'plain' is not launched: "
                                  "a grid of (36,2,1) blocks cannot be cut "
                                  "into clusters of (5,1,1)\n")));
  EXPECT_EQ(Run(18, 1, 1),
            std::pair(cudaErrorInvalidClusterSize,
                      std::string("reconverge: kernel 'plain' is not launched: "
                                  "a cluster of 18 blocks, and it may have 8: "
                                  "cudaFuncSetAttribute() with "
                                  "cudaFuncAttributeNonPortableClusterSize"
                                  "Allowed allows 16\n")));
  EXPECT_EQ(Run(12, 1, 1).first, cudaErrorInvalidClusterSize);
  EXPECT_EQ(Seen.size(), 3u);
  using Three = std::array<uint32_t, 3>;
  EXPECT_EQ(Seen[1].Shape.Cluster, Three({2, 1, 1}));
  EXPECT_EQ(Seen[2].Shape.Cluster, Three({4, 2, 1}));
  EXPECT_EQ(api::cudaFuncSetAttribute(
                &Plain, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
            cudaSuccess);
  EXPECT_EQ(Run(12, 1, 1), Fine);
  EXPECT_EQ(Run(18, 1, 1).first, cudaErrorInvalidClusterSize);
}

TEST_F(Launch, ClustersAtOnce) {
  cudaLaunchAttribute Attribute = {};
  Attribute.id = cudaLaunchAttributeClusterDimension;
  Attribute.val.clusterDim = {4, 1, 1};
  cudaLaunchConfig_t Config = {};
  Config.gridDim = 8;
  Config.blockDim = 1024;
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  int N = 0;
  EXPECT_EQ(api::cudaOccupancyMaxActiveClusters(&N, &Plain, &Config),
            cudaSuccess);
  EXPECT_EQ(N, 132 * 2 / 4);
  EXPECT_EQ(api::cudaOccupancyMaxPotentialClusterSize(&N, &Plain, &Config),
            cudaSuccess);
  EXPECT_EQ(N, 8);
  EXPECT_EQ(api::cudaOccupancyMaxActiveClusters(nullptr, &Plain, &Config),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaOccupancyMaxActiveClusters(&N, &Plain, nullptr),
            cudaErrorInvalidValue);
}

/// As many blocks as an H200 holds at once, and not one more.
TEST_F(Launch, Cooperatively) {
  cudaLaunchAttribute Attribute = {};
  Attribute.id = cudaLaunchAttributeCooperative;
  Attribute.val.cooperative = 1;
  cudaLaunchConfig_t Config = {};
  Config.gridDim = dim3(2, 132);
  Config.blockDim = 1024;
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  EXPECT_EQ(api::cudaLaunchKernelExC(&Config, &Plain, nullptr), cudaSuccess);
  EXPECT_EQ(api::cudaLaunchCooperativeKernel(&Plain, 32 * 132, 64, nullptr, 0,
                                             nullptr),
            cudaSuccess);
  ASSERT_EQ(Seen.size(), 2u);
  EXPECT_TRUE(Seen[0].Shape.Cooperative);
  EXPECT_TRUE(Seen[1].Shape.Cooperative);
  testing::internal::CaptureStderr();
  EXPECT_EQ(api::cudaLaunchCooperativeKernel(&Plain, 32 * 132 + 1, 64, nullptr,
                                             0, nullptr),
            cudaErrorCooperativeLaunchTooLarge);
  Config.dynamicSmemBytes = 40000; // of 228 KiB, less 1 KiB a block
  Config.blockDim = 128;
  Config.gridDim = 5 * 132 + 1;
  EXPECT_EQ(api::cudaLaunchKernelExC(&Config, &Plain, nullptr),
            cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "reconverge: kernel 'plain' is not launched: a cooperative launch "
            "of 4225 blocks, and the device holds 4224 of them at once\n"
            "reconverge: kernel 'plain' is not launched: a cooperative launch "
            "of 661 blocks, and the device holds 660 of them at once\n");
  EXPECT_EQ(Seen.size(), 2u);
}

#if CUDART_VERSION >= 13000
TEST_F(Launch, ByHandle) {
  cudaKernel_t Kernel = nullptr;
  ASSERT_EQ(api::cudaGetKernel(&Kernel, &Plain), cudaSuccess);
  EXPECT_EQ(run(Kernel), cudaSuccess);
  EXPECT_EQ(api::__cudaLaunchKernel(Kernel, 1, 1, nullptr, 0, nullptr),
            cudaSuccess);
  EXPECT_EQ(Seen.size(), 2u);
  const char *Name = nullptr;
  EXPECT_EQ(api::cudaFuncGetName(&Name, &Plain), cudaSuccess);
  EXPECT_STREQ(Name, "plain");
  size_t Offset = 99, Size = 99;
  EXPECT_EQ(api::cudaFuncGetParamInfo(&Plain, 2, &Offset, &Size), cudaSuccess);
  EXPECT_EQ(Offset, 16u);
  EXPECT_EQ(Size, 8u);
  EXPECT_EQ(api::cudaFuncGetParamInfo(&Plain, 3, &Offset, &Size),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaGetKernel(&Kernel, &Unregistered),
            cudaErrorInvalidDeviceFunction);
}
#endif

TEST_F(Launch, FunctionAttributes) {
  cudaFuncAttributes A;
  ASSERT_EQ(api::cudaFuncGetAttributes(&A, &Plain), cudaSuccess);
  EXPECT_EQ(A.maxThreadsPerBlock, 1024);
  EXPECT_EQ(A.ptxVersion, 80); // what the code was compiled for
  EXPECT_EQ(A.binaryVersion, 80);
  EXPECT_EQ(A.constSizeBytes, 32u);
  EXPECT_EQ(A.localSizeBytes, 16u);
  EXPECT_EQ(A.maxDynamicSharedSizeBytes, 49152);
  ASSERT_EQ(api::cudaFuncGetAttributes(&A, &Shared4000), cudaSuccess);
  EXPECT_EQ(A.sharedSizeBytes, 4000u);
  EXPECT_EQ(A.maxDynamicSharedSizeBytes, 49152 - 4000);
  EXPECT_EQ(A.ptxVersion, 90);
  ASSERT_EQ(api::cudaFuncGetAttributes(&A, &Bounded), cudaSuccess);
  EXPECT_EQ(A.maxThreadsPerBlock, 128);
  ASSERT_EQ(api::cudaFuncGetAttributes(&A, &Required), cudaSuccess);
  EXPECT_EQ(A.maxThreadsPerBlock, 64);
  EXPECT_EQ(api::cudaFuncGetAttributes(&A, &Unregistered), BadHandle);
  EXPECT_EQ(api::cudaFuncGetAttributes(nullptr, &Plain), cudaErrorInvalidValue);
}

TEST_F(Launch, OccupancyIsAnH200s) {
  auto Blocks = [](const void *Stub, int Threads, size_t Dynamic) {
    int N = -1;
    EXPECT_EQ(api::cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                  &N, Stub, Threads, Dynamic),
              cudaSuccess);
    return N;
  };
  struct {
    int Threads;
    size_t Dynamic;
    int Expected;
  } const Measured[] = {{1, 0, 32},       {33, 0, 32},     {64, 1000, 32},
                        {32, 16384, 13},  {64, 40000, 5},  {128, 0, 16},
                        {128, 16384, 13}, {192, 0, 10},    {192, 40000, 5},
                        {256, 0, 8},      {256, 40000, 5}, {1024, 0, 2},
                        {1024, 40000, 2}, {1025, 0, 0},    {32, 50000, 0}};
  for (const auto &M : Measured)
    EXPECT_EQ(Blocks(&Plain, M.Threads, M.Dynamic), M.Expected)
        << M.Threads << " threads, " << M.Dynamic << " bytes";
  EXPECT_EQ(Blocks(&Bounded, 129, 0), 12); // not held to launch bounds
  int N;
  EXPECT_EQ(
      api::cudaOccupancyMaxActiveBlocksPerMultiprocessor(&N, &Plain, 0, 0),
      cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                &N, &Unregistered, 32, 0),
            BadHandle);
  auto Available = [](const void *Stub, int Blocks) {
    size_t Bytes = 0;
    return api::cudaOccupancyAvailableDynamicSMemPerBlock(&Bytes, Stub, Blocks,
                                                          64)
               ? 0
               : Bytes;
  };
  EXPECT_EQ(Available(&Plain, 1), 49152u);
  EXPECT_EQ(Available(&Plain, 8), 29184u);
  EXPECT_EQ(Available(&Plain, 32), 7296u);
  EXPECT_EQ(Available(&Plain, 33), 0u);
}

TEST_F(Launch, VariablesAreReadAndWritten) {
  int Values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, Back[8] = {};
  const auto To = cudaMemcpyHostToDevice, From = cudaMemcpyDeviceToHost;
  EXPECT_EQ(api::cudaMemcpyToSymbol(&Table, Values, 32, 0, To), cudaSuccess);
  EXPECT_EQ(api::cudaMemcpyToSymbol(&Table, &Values[7], 4, 4, To), cudaSuccess);
  EXPECT_EQ(api::cudaMemcpyFromSymbol(Back, &Table, 32, 0, From), cudaSuccess);
  EXPECT_EQ(Back[0], 1);
  EXPECT_EQ(Back[1], 8);
  EXPECT_EQ(Back[7], 8);
  EXPECT_EQ(api::cudaMemcpyToSymbol(&Table, Values, 33, 0, To),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaMemcpyToSymbol(&Table, Values, 32, 4, To),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaMemcpyToSymbol(&Table, Values, 4, 33, To),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaMemcpyToSymbol(&Unregistered, Values, 4, 0, To),
            cudaErrorInvalidSymbol);
  EXPECT_EQ(api::cudaMemcpyToSymbol(&Table, Values, 4, 0, From),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(api::cudaMemcpyFromSymbol(Back, &Table, 4, 0, To),
            cudaErrorInvalidMemcpyDirection);
  size_t Size = 0;
  EXPECT_EQ(api::cudaGetSymbolSize(&Size, &Table), cudaSuccess);
  EXPECT_EQ(Size, 32u);
  void *Address = nullptr;
  ASSERT_EQ(api::cudaGetSymbolAddress(&Address, &Table), cudaSuccess);
  EXPECT_EQ(std::memcmp(Address, Back, 32), 0);
  cudaPointerAttributes A;
  ASSERT_EQ(api::cudaPointerGetAttributes(&A, Address), cudaSuccess);
  EXPECT_EQ(A.type, cudaMemoryTypeDevice);
  EXPECT_EQ(api::cudaFree(Address), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaGetSymbolAddress(&Address, &Unregistered),
            cudaErrorInvalidSymbol);
  EXPECT_EQ(api::cudaGetSymbolAddress(&Address, nullptr),
            cudaErrorInvalidSymbol);
}

TEST_F(Launch, ManagedVariablesGetTheirMemoryAtInit) {
  void *Pointer = nullptr;
  api::__cudaRegisterManagedVar(Unit.handle(), &Pointer, nullptr, "counter", 0,
                                4, 0, 0);
  EXPECT_TRUE(api::__cudaInitModule(Unit.handle()));
  ASSERT_NE(Pointer, nullptr);
  *static_cast<int *>(Pointer) = 42;
  int Back = 0;
  EXPECT_EQ(
      api::cudaMemcpyFromSymbol(&Back, &Counter, 4, 0, cudaMemcpyDeviceToHost),
      cudaSuccess);
  EXPECT_EQ(Back, 42);
}

TEST_F(Launch, CodeThatTheMachineRefusesIsSaidOnce) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(&Refused), cudaErrorNotSupported);
  EXPECT_EQ(run(&Refused), cudaErrorNotSupported);
  EXPECT_EQ(api::cudaGetLastError(), cudaErrorNotSupported);
  EXPECT_EQ(run(&Missing), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "reconverge: app.cu:7: kernel 'refused' uses a texture\n"
            "  The warp VM has none.\n"
            "reconverge: the device code holds no kernel 'missing'\n");
  EXPECT_EQ(run(&Plain), cudaSuccess); // the rest goes on
}

TEST_F(Launch, AnUnloadedLibrarysKernelsAreGone) {
  char Own;
  {
    fake::Object Library{StringRef(Code)};
    Library.kernel(&Own, "plain");
    EXPECT_EQ(run(&Own), cudaSuccess);
  }
  EXPECT_EQ(run(&Own), BadHandle);
  EXPECT_EQ(run(&Plain), cudaSuccess);
}

//===----------------------------------------------------------------------===//
// Device code that is not ours, or not whole
//===----------------------------------------------------------------------===//

TEST_F(Launch, AForeignBinaryIsSaidAtItsFirstUse) {
  static const char Bytes[64] = "some other format";
  testing::internal::CaptureStderr();
  fake::Object Foreign(Bytes);
  char Own;
  Foreign.kernel(&Own, "_Z6kernelPi");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(&Own), cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(run(&Own), cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "reconverge: the device code of 'kernel(int*)' was not built by "
            "reconverge: it holds code for GPUs only\n"
            "  Build all of the program, its libraries included, with "
            "'reconverge cc', or run it with --device gpu.\n");
}

TEST_F(Launch, ADamagedContainerNeverReachesTheMachine) {
  const unsigned Loads = fake::calls().Loads;
  const SmallVector<char, 0> Good = makeContainer(Code, "");
  alignas(8) static char Bad[8192];
  ASSERT_LT(Good.size(), sizeof(Bad));
  // A flipped bit in each field of the header and in the bitcode; where the fat
  // binary lies is nothing to the VM.
  for (size_t At = 8; At < Good.size(); At += At < 80 ? 4 : 97) {
    if (At >= offsetof(ContainerHeader, FatbinOffset) &&
        At < offsetof(ContainerHeader, Hash))
      continue;
    llvm::copy(Good, Bad);
    Bad[At] ^= 0x40;
    fake::Object Damaged(Bad);
    char Own;
    Damaged.kernel(&Own, "plain");
    testing::internal::CaptureStderr();
    EXPECT_EQ(run(&Own), cudaErrorInvalidKernelImage) << At;
    testing::internal::GetCapturedStderr();
  }
  EXPECT_EQ(fake::calls().Loads, Loads);
}

} // namespace
