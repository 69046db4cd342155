//===- launch/Stopwatch.h - Times of launches in streams --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_LAUNCH_STOPWATCH_H
#define RECONVERGE_LAUNCH_STOPWATCH_H

#include "launch/Switch.h"

#include <cuda_runtime_api.h>

#include <vector>

namespace reconverge::launch {

/// Times between two places of a stream, by events that are asked later and
/// never waited for. Of one device. Errors stay for the caller to clear.
class Stopwatch {
public:
  struct Timing {
    Form Of = Form::Recipe;
    bool Makes = false; ///< an order, which later launches may reuse
    bool Aside = false; ///< no turn of the switch's
    cudaEvent_t Begin = nullptr, End = nullptr;
  };
  /// In \p Stream, from here on; false: it cannot be measured.
  bool begin(Timing &T, cudaStream_t Stream);
  /// To here; false: nothing will be known of it.
  bool end(const Timing &T, cudaStream_t Stream);
  /// \p T will not be ended.
  void drop(const Timing &T) { Free.push_back(T); }
  struct Known {
    Timing Of;
    double Milliseconds; ///< below zero: it cannot be known
  };
  /// What is known by now and was not before.
  std::vector<Known> poll();

private:
  std::vector<Timing> Running, Free;
};

/// While one lives, this thread may make and ask events beside a capture of
/// another thread's.
class BesideCapture {
public:
  BesideCapture() { (void)cudaThreadExchangeStreamCaptureMode(&Mode); }
  ~BesideCapture() { (void)cudaThreadExchangeStreamCaptureMode(&Mode); }
  BesideCapture(const BesideCapture &) = delete;
  BesideCapture &operator=(const BesideCapture &) = delete;

private:
  cudaStreamCaptureMode Mode = cudaStreamCaptureModeRelaxed;
};

} // namespace reconverge::launch

#endif
