//===- VmFaultTest.cpp - Kernels that fault -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fault lasts for the life of the process, so each test has one of its own: a
// child that exits with 0 if all its checks held. Codes are those of an H200
// with CUDA 13.0 (driver 580).
//
//===----------------------------------------------------------------------===//

#include "FakeMachine.h"
#include "core/Error.h"
#include "runtime/vm/Api.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <thread>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::runtime;

namespace {

constexpr char Code[] = "define void @k() { ret void }\n"
                        "@v = addrspace(1) global i32 0\n";
char Kernel, Variable;

/// Makes the kernel fail as \p Failure says, launches it, does \p Check, and
/// exits: with 0 if no expectation failed.
template <typename Body>
[[noreturn]] void child(std::function<Error()> Failure, Body &&Check) {
  Engine::get().reset();
  cantFail(Engine::get().configure(
      {}, fake::factory([&](const fake::Launch &, LaunchCounts *) {
        return Failure();
      })));
  fake::Object Unit{StringRef(Code)};
  Unit.kernel(&Kernel, "k");
  Unit.variable(&Variable, "v", 4, false);
  Check();
  std::_Exit(testing::Test::HasFailure() ? 1 : 0);
}

cudaError_t launch() {
  return api::cudaLaunchKernel(&Kernel, 1, 1, nullptr, 0, nullptr);
}

std::function<Error()> fault(warpvm::FaultKind Kind) {
  return [Kind] {
    return make_error<warpvm::FaultError>(
        Kind, "app.cu:12: kernel 'k', block (0,0,0), thread (3,0,0): wrong");
  };
}

TEST(Faults, SurfaceAfterTheLaunchAndStay) {
  auto Check = [] {
    void *P, *Q;
    cudaEvent_t Event;
    EXPECT_EQ(api::cudaMalloc(&P, 100), cudaSuccess);
    EXPECT_EQ(api::cudaEventCreate(&Event), cudaSuccess);
    EXPECT_EQ(launch(), cudaSuccess); // as a launch that has not run yet
    const auto E = cudaErrorIllegalAddress;
    EXPECT_EQ(api::cudaGetLastError(), E);
    EXPECT_EQ(api::cudaGetLastError(), cudaSuccess);
    int Value;
    size_t Bytes;
    cudaStream_t Stream;
    cudaPointerAttributes A;
    cudaDeviceProp Props;
    // What needs the device ...
    EXPECT_EQ(api::cudaDeviceSynchronize(), E);
    EXPECT_EQ(api::cudaGetLastError(), E);
    EXPECT_EQ(api::cudaMalloc(&Q, 8), E);
    EXPECT_EQ(api::cudaMallocHost(&Q, 8), E);
    EXPECT_EQ(api::cudaFree(P), E);
    EXPECT_EQ(api::cudaMemcpy(&Value, P, 4, cudaMemcpyDeviceToHost), E);
    EXPECT_EQ(api::cudaMemset(P, 0, 4), E);
    EXPECT_EQ(api::cudaMemGetInfo(&Bytes, &Bytes), E);
    EXPECT_EQ(api::cudaEventRecord(Event, nullptr), E);
    EXPECT_EQ(api::cudaEventQuery(Event), E);
    EXPECT_EQ(api::cudaEventDestroy(Event), E);
    EXPECT_EQ(api::cudaStreamCreate(&Stream), E);
    EXPECT_EQ(api::cudaStreamSynchronize(nullptr), E);
    EXPECT_EQ(api::cudaDeviceGetLimit(&Bytes, cudaLimitStackSize), E);
    EXPECT_EQ(api::cudaGetSymbolAddress(&Q, &Variable), E);
    EXPECT_EQ(api::cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                  &Value, &Kernel, 32, 0),
              E);
    EXPECT_EQ(launch(), E);
    EXPECT_EQ(api::cudaGetLastError(), E);
    // ... and what does not.
    EXPECT_EQ(api::cudaGetDevice(&Value), cudaSuccess);
    EXPECT_EQ(api::cudaSetDevice(0), cudaSuccess);
    EXPECT_EQ(api::cudaGetDeviceCount(&Value), cudaSuccess);
    EXPECT_EQ(api::cudaGetDeviceProperties(&Props, 0), cudaSuccess);
    EXPECT_EQ(api::cudaDeviceGetAttribute(&Value, cudaDevAttrWarpSize, 0),
              cudaSuccess);
    EXPECT_EQ(api::cudaRuntimeGetVersion(&Value), cudaSuccess);
    EXPECT_EQ(api::cudaPointerGetAttributes(&A, &Value), cudaSuccess);
    EXPECT_EQ(api::cudaDeviceReset(), cudaSuccess);
    EXPECT_EQ(api::cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(api::cudaDeviceSynchronize(), E);
    std::thread([] {
      EXPECT_EQ(api::cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    }).join();
  };
  EXPECT_EXIT(child(fault(warpvm::FaultKind::IllegalAddress), Check),
              testing::ExitedWithCode(0),
              "^reconverge: app.cu:12: kernel 'k', block \\(0,0,0\\), thread "
              "\\(3,0,0\\): wrong\n$");
}

class FaultCodes
    : public testing::TestWithParam<std::pair<warpvm::FaultKind, cudaError_t>> {
};

TEST_P(FaultCodes, AreCudas) {
  auto [Kind, Code] = GetParam();
  auto Check = [Code = Code] {
    EXPECT_EQ(launch(), cudaSuccess);
    EXPECT_EQ(api::cudaDeviceSynchronize(), Code);
  };
  EXPECT_EXIT(child(fault(Kind), Check), testing::ExitedWithCode(0), "wrong");
}

INSTANTIATE_TEST_SUITE_P(
    Faults, FaultCodes,
    testing::Values(
        std::pair(warpvm::FaultKind::IllegalAddress, cudaErrorIllegalAddress),
        std::pair(warpvm::FaultKind::Misaligned, cudaErrorMisalignedAddress),
        std::pair(warpvm::FaultKind::Assert, cudaErrorAssert),
        std::pair(warpvm::FaultKind::Trap, cudaErrorLaunchFailure),
        std::pair(warpvm::FaultKind::BarrierDivergence, cudaErrorLaunchFailure),
        std::pair(warpvm::FaultKind::Deadlock, cudaErrorLaunchTimeout),
        std::pair(warpvm::FaultKind::StepLimit, cudaErrorLaunchTimeout)));

TEST(Faults, AMachineWithoutMemoryIsNoFault) {
  auto Check = [] {
    EXPECT_EQ(launch(), cudaErrorLaunchOutOfResources);
    EXPECT_EQ(api::cudaGetLastError(), cudaErrorLaunchOutOfResources);
    EXPECT_EQ(api::cudaDeviceSynchronize(), cudaSuccess);
  };
  EXPECT_EXIT(child(fault(warpvm::FaultKind::OutOfMemory), Check),
              testing::ExitedWithCode(0), "wrong");
}

TEST(Faults, AnUnsupportedConstructIsNoFault) {
  auto Failure = [] {
    return userError("app.cu:3: wmma is not supported", "Use --device gpu.");
  };
  auto Check = [] {
    for (int I = 0; I < 2; ++I) {
      EXPECT_EQ(launch(), cudaErrorNotSupported);
      EXPECT_EQ(api::cudaGetLastError(), cudaErrorNotSupported);
      EXPECT_EQ(api::cudaDeviceSynchronize(), cudaSuccess);
    }
  };
  EXPECT_EXIT(child(Failure, Check), testing::ExitedWithCode(0),
              "^reconverge: app.cu:3: wmma is not supported\n"
              "  Use --device gpu.\n$");
}

TEST(Faults, AMachineThatDoesNotStartIsAnError) {
  auto Body = [] {
    Engine::get().reset();
    cantFail(Engine::get().configure(
        {},
        [](const warpvm::MachineOptions &)
            -> Expected<std::unique_ptr<warpvm::Machine>> {
          return userError("this CPU has no AVX2");
        }));
    fake::Object Unit{StringRef(Code)};
    Unit.kernel(&Kernel, "k");
    EXPECT_EQ(launch(), cudaErrorInitializationError);
    EXPECT_EQ(launch(), cudaErrorInitializationError);
    std::_Exit(testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(Body(), testing::ExitedWithCode(0),
              "^reconverge: the device code of 'k' cannot be run: this CPU has "
              "no AVX2\n$");
}

} // namespace
