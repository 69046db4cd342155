//===- benchmarks/vm/scalar/stopwatch.h - Time of the kernels ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs beside this file are the examples' kernels written as scalar
// C++: a loop over blocks, in it a loop over threads, split at each barrier.
// They are the baseline of `make bench`: compiled with -O3 for this CPU, run on
// one core, only the kernels timed. Each prints the line that the example
// prints ("checksum:" or "counts:"), which says that the work is the same, and
// "kernel seconds:".
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_STOPWATCH_H
#define RECONVERGE_BENCHMARKS_STOPWATCH_H

#include <chrono>
#include <cstdio>

class Stopwatch {
public:
  void start() { Since = Clock::now(); }
  void stop() { Total += std::chrono::duration<double>(Clock::now() - Since); }
  void print() const { std::printf("kernel seconds: %.6f\n", Total.count()); }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point Since;
  std::chrono::duration<double> Total{0};
};

#endif
