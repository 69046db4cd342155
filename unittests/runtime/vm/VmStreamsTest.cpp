//===- VmStreamsTest.cpp - Streams and events -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Codes are those that an H200 with CUDA 13.0 (driver 580) gave for the same
// calls.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Api.h"

#include "gtest/gtest.h"

#include <chrono>
#include <thread>

using namespace reconverge::runtime;

namespace {

TEST(Streams, AreMadeAskedAndDestroyed) {
  cudaStream_t S;
  int Least, Greatest, Priority;
  unsigned Flags;
  unsigned long long Id, OtherId;
  ASSERT_EQ(api::cudaDeviceGetStreamPriorityRange(&Least, &Greatest),
            cudaSuccess);
  EXPECT_EQ(Least, 0);
  EXPECT_EQ(Greatest, -5);
  ASSERT_EQ(api::cudaStreamCreateWithPriority(&S, cudaStreamNonBlocking, -99),
            cudaSuccess);
  EXPECT_EQ(api::cudaStreamGetPriority(S, &Priority), cudaSuccess);
  EXPECT_EQ(Priority, -5);
  EXPECT_EQ(api::cudaStreamGetFlags(S, &Flags), cudaSuccess);
  EXPECT_EQ(Flags, 1u);
  EXPECT_EQ(api::cudaStreamGetId(S, &Id), cudaSuccess);
  EXPECT_EQ(api::cudaStreamGetId(nullptr, &OtherId), cudaSuccess);
  EXPECT_NE(Id, OtherId);
  EXPECT_EQ(api::cudaStreamQuery(S), cudaSuccess);
  EXPECT_EQ(api::cudaStreamSynchronize(S), cudaSuccess);
  EXPECT_EQ(api::cudaStreamDestroy(S), cudaSuccess);
  EXPECT_EQ(api::cudaStreamQuery(S), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(api::cudaStreamDestroy(S), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(api::cudaMemsetAsync(nullptr, 0, 0, S),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(api::cudaStreamCreateWithFlags(&S, 8), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaStreamCreate(nullptr), cudaErrorInvalidValue);
}

TEST(Streams, TheDefaultOnesAlwaysAre) {
  unsigned Flags;
  for (cudaStream_t S :
       {cudaStream_t(nullptr), cudaStreamLegacy, cudaStreamPerThread}) {
    EXPECT_EQ(api::cudaStreamQuery(S), cudaSuccess);
    EXPECT_EQ(api::cudaStreamGetFlags(S, &Flags), cudaSuccess);
    EXPECT_EQ(Flags, 0u);
    EXPECT_EQ(api::cudaStreamDestroy(S), cudaErrorInvalidResourceHandle);
  }
}

TEST(Streams, NeverCapture) {
  auto Status = cudaStreamCaptureStatusActive;
  EXPECT_EQ(api::cudaStreamIsCapturing(nullptr, &Status), cudaSuccess);
  EXPECT_EQ(Status, cudaStreamCaptureStatusNone);
  EXPECT_EQ(api::cudaStreamIsCapturing(nullptr, nullptr),
            cudaErrorInvalidValue);
  auto Mode = cudaStreamCaptureModeRelaxed;
  EXPECT_EQ(api::cudaThreadExchangeStreamCaptureMode(&Mode), cudaSuccess);
  EXPECT_EQ(Mode, cudaStreamCaptureModeGlobal);
  EXPECT_EQ(api::cudaThreadExchangeStreamCaptureMode(&Mode), cudaSuccess);
  EXPECT_EQ(Mode, cudaStreamCaptureModeRelaxed);
}

TEST(Streams, CallbacksRunInPlace) {
  int Calls = 0;
  auto Callback = [](cudaStream_t S, cudaError_t E, void *Data) {
    EXPECT_EQ(S, nullptr);
    EXPECT_EQ(E, cudaSuccess);
    ++*static_cast<int *>(Data);
  };
  EXPECT_EQ(api::cudaStreamAddCallback(nullptr, Callback, &Calls, 0),
            cudaSuccess);
  EXPECT_EQ(Calls, 1);
  EXPECT_EQ(api::cudaStreamAddCallback(nullptr, Callback, &Calls, 1),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaStreamAddCallback(nullptr, nullptr, nullptr, 0),
            cudaErrorInvalidValue);
  auto Function = [](void *Data) { ++*static_cast<int *>(Data); };
  EXPECT_EQ(api::cudaLaunchHostFunc(nullptr, Function, &Calls), cudaSuccess);
  EXPECT_EQ(Calls, 2);
  EXPECT_EQ(api::cudaLaunchHostFunc(nullptr, nullptr, nullptr),
            cudaErrorInvalidValue);
}

TEST(Streams, ManagedMemoryIsAttached) {
  void *P;
  cudaStream_t S;
  ASSERT_EQ(api::cudaMallocManaged(&P, 100, cudaMemAttachGlobal), cudaSuccess);
  ASSERT_EQ(api::cudaStreamCreate(&S), cudaSuccess);
  EXPECT_EQ(api::cudaStreamAttachMemAsync(nullptr, P, 0, cudaMemAttachSingle),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaStreamAttachMemAsync(S, P, 0, cudaMemAttachSingle),
            cudaSuccess);
  EXPECT_EQ(api::cudaStreamDestroy(S), cudaSuccess);
  EXPECT_EQ(api::cudaFree(P), cudaSuccess);
}

TEST(Events, KeepRealTime) {
  cudaEvent_t Start, End;
  ASSERT_EQ(api::cudaEventCreate(&Start), cudaSuccess);
  ASSERT_EQ(api::cudaEventCreate(&End), cudaSuccess);
  const auto Before = std::chrono::steady_clock::now();
  ASSERT_EQ(api::cudaEventRecord(Start, nullptr), cudaSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_EQ(api::cudaEventRecord(End, nullptr), cudaSuccess);
  const std::chrono::duration<float, std::milli> Wall =
      std::chrono::steady_clock::now() - Before;
  float Milliseconds = 0;
  ASSERT_EQ(api::cudaEventElapsedTime(&Milliseconds, Start, End), cudaSuccess);
  EXPECT_GE(Milliseconds, 19.9f);
  EXPECT_LE(Milliseconds, Wall.count() + 0.1f);
  ASSERT_EQ(api::cudaEventElapsedTime(&Milliseconds, End, Start), cudaSuccess);
  EXPECT_LE(Milliseconds, -19.9f);
  EXPECT_EQ(api::cudaEventDestroy(Start), cudaSuccess);
  EXPECT_EQ(api::cudaEventDestroy(Start), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(api::cudaEventElapsedTime(&Milliseconds, Start, End),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(api::cudaEventDestroy(End), cudaSuccess);
}

TEST(Events, WrongUsesAreErrors) {
  cudaEvent_t A, NoTime, Other;
  float Milliseconds;
  ASSERT_EQ(api::cudaEventCreate(&A), cudaSuccess);
  ASSERT_EQ(api::cudaEventCreateWithFlags(&NoTime, cudaEventDisableTiming),
            cudaSuccess);
  EXPECT_EQ(api::cudaEventElapsedTime(&Milliseconds, A, A),
            cudaErrorInvalidResourceHandle); // not recorded
  EXPECT_EQ(api::cudaEventQuery(A), cudaSuccess);
  EXPECT_EQ(api::cudaEventSynchronize(A), cudaSuccess);
  EXPECT_EQ(api::cudaStreamWaitEvent(nullptr, A, 0), cudaSuccess);
  EXPECT_EQ(api::cudaEventRecord(A, nullptr), cudaSuccess);
  EXPECT_EQ(api::cudaEventRecord(NoTime, nullptr), cudaSuccess);
  EXPECT_EQ(api::cudaEventElapsedTime(&Milliseconds, A, NoTime),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(api::cudaEventElapsedTime(&Milliseconds, A, A), cudaSuccess);
  EXPECT_EQ(Milliseconds, 0.0f);
  EXPECT_EQ(api::cudaEventElapsedTime(nullptr, A, A), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaEventCreateWithFlags(&Other, 64), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaEventCreateWithFlags(&Other, cudaEventInterprocess),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaEventCreate(nullptr), cudaErrorInvalidValue);
  for (cudaEvent_t Bad : {cudaEvent_t(nullptr), cudaEvent_t(&A)}) {
    EXPECT_EQ(api::cudaEventRecord(Bad, nullptr),
              cudaErrorInvalidResourceHandle);
    EXPECT_EQ(api::cudaEventQuery(Bad), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(api::cudaStreamWaitEvent(nullptr, Bad, 0),
              cudaErrorInvalidResourceHandle);
    EXPECT_EQ(api::cudaEventDestroy(Bad), cudaErrorInvalidResourceHandle);
  }
  EXPECT_EQ(api::cudaStreamWaitEvent(nullptr, A, 5), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaEventDestroy(A), cudaSuccess);
  EXPECT_EQ(api::cudaEventDestroy(NoTime), cudaSuccess);
}

} // namespace
