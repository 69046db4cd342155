//===- benchmarks/kernels/common/bench.h - Run, check, time ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every benchmark kernel has around it:
//
//   Bench B(argc, argv, "sb1");
//   long N = B.integer("size", 4096, 1, 1 << 28);   // small: for the warp VM
//   B.ready();                                      // no argument left over
//   DeviceArray<int> Data(Input);
//   B.run([&] { Data.set(Input); }, [&] { kernel<<<...>>>(...); });
//   return B.finish(Data.get() == reference(Input), checksum(Data.get()));
//
// run() launches once, then `repeat` times more with fresh input and the time
// of each launch taken by CUDA events. finish() prints
//
//   sb1 size=4096 block=64 seed=1: right
//   kernel-ms: 0.117 0.116 0.118             (with repeat=3)
//   checksum: 0123456789abcdef
//
// and returns main's exit code: 1 if the result is wrong.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_BENCH_H
#define RECONVERGE_BENCHMARKS_BENCH_H

#include "../../../examples/common/check.h"
#include "../../../examples/common/checksum.h"
#include "../../../examples/common/options.h"
#include "../../../examples/common/random.h"
#include "gate.h"

#include <algorithm>
#include <string>
#include <vector>

/// An array on the device, filled from one on the host.
template <typename T> class DeviceArray {
public:
  explicit DeviceArray(const std::vector<T> &Values) : Count(Values.size()) {
    CHECK_CUDA(cudaMalloc(&Data, Count * sizeof(T)));
    set(Values);
  }
  ~DeviceArray() { cudaFree(Data); }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;

  void set(const std::vector<T> &Values) {
    CHECK_CUDA(cudaMemcpy(Data, Values.data(), Count * sizeof(T),
                          cudaMemcpyHostToDevice));
  }
  void clear() { CHECK_CUDA(cudaMemset(Data, 0, Count * sizeof(T))); }
  std::vector<T> get() const {
    std::vector<T> Values(Count);
    CHECK_CUDA(cudaMemcpy(Values.data(), Data, Count * sizeof(T),
                          cudaMemcpyDeviceToHost));
    return Values;
  }
  operator T *() { return Data; }

private:
  T *Data = nullptr;
  size_t Count;
};

class Bench {
public:
  Bench(int argc, char **argv, std::string Name)
      : Args(argc, argv), Title(std::move(Name)) {}

  long integer(const std::string &Name, long Default, long Least, long Most) {
    const long Value = Args.integer(Name, Default, Least, Most);
    Title += " " + Name + "=" + std::to_string(Value);
    return Value;
  }
  /// The file of the argument output, for what a metric of quality judges; ""
  /// if none is to be written (output.h).
  std::string output() { return Args.text("output"); }
  /// The seed, the number of timed launches, and no argument more.
  void ready() {
    Seed = Args.integer("seed", 1, 0, 1 << 30);
    Repeat = Args.integer("repeat", 0, 0, 100000);
    Check = Args.integer("check", 1, 0, 1);
    Args.done();
  }
  Random random(uint64_t Stream = 0) const { return Random(Seed, Stream); }
  bool checks() const { return Check; }
  long repeats() const { return Repeat; }
  /// A time that finish() prints, of a program that has its own run().
  void took(float Ms) { Times.push_back(Ms); }

  template <typename Reset, typename Launch>
  void run(Reset Fresh, Launch Kernel) {
    Kernel();
    CHECK_LAUNCH();
    CHECK_CUDA(cudaDeviceSynchronize());
    if (!Repeat)
      return;
    for (long I = 0; I < Repeat; ++I) {
      Fresh();
      Times.push_back(milliseconds(Kernel));
    }
  }

  /// Calls \p Launch with the first of each of \p Batches of \p Count items, one
  /// behind the other, and how many it has: all as many but the last.
  template <typename Launch>
  static void inBatches(long Count, long Batches, Launch Kernel) {
    const long Each = (Count + Batches - 1) / Batches;
    for (long First = 0; First < Count; First += Each)
      Kernel(First, std::min(Each, Count - First));
  }

  /// What a launch takes, alone on the device.
  template <typename Launch> static float milliseconds(Launch Kernel) {
    cudaEvent_t From, To;
    CHECK_CUDA(cudaEventCreate(&From));
    CHECK_CUDA(cudaEventCreate(&To));
    CHECK_CUDA(cudaDeviceSynchronize());
    StreamGate Gate([](cudaHostFn_t Wait, void *Data) {
      CHECK_CUDA(cudaLaunchHostFunc(nullptr, Wait, Data));
    });
    CHECK_CUDA(cudaEventRecord(From));
    Kernel();
    CHECK_LAUNCH();
    CHECK_CUDA(cudaEventRecord(To));
    Gate.open();
    CHECK_CUDA(cudaEventSynchronize(To));
    float Ms = 0;
    CHECK_CUDA(cudaEventElapsedTime(&Ms, From, To));
    CHECK_CUDA(cudaEventDestroy(From));
    CHECK_CUDA(cudaEventDestroy(To));
    return Ms;
  }

  int finish(bool Right, uint64_t Sum) const {
    std::printf("%s seed=%ld: %s\n", Title.c_str(), Seed,
                !Check  ? "not checked"
                : Right ? "right"
                        : "WRONG");
    if (!Times.empty()) {
      std::printf("kernel-ms:");
      for (float Ms : Times)
        std::printf(" %.6f", Ms);
      std::printf("\n");
    }
    std::printf("checksum: %016llx\n", static_cast<unsigned long long>(Sum));
    return Check && !Right;
  }

private:
  Options Args;
  std::string Title;
  long Seed = 1, Repeat = 0;
  bool Check = true;
  std::vector<float> Times;
};

#endif
