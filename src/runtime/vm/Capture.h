//===- runtime/vm/Capture.h - Streams that become graphs --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_CAPTURE_H
#define RECONVERGE_RUNTIME_VM_CAPTURE_H

#include "runtime/vm/Errors.h"
#include "runtime/vm/Streams.h"
#include "runtime/vm/Work.h"

#include <optional>

namespace reconverge::runtime {

/// Whether any stream is being captured. Takes no lock: where this is false,
/// none of what follows needs to be asked.
bool anyCapture();

/// Begins work in \p Stream. \p Captured: it is to be added to a graph. An
/// error ends the capture that it concerns, as CUDA says.
cudaError_t enterStream(cudaStream_t Stream, bool &Captured);

/// Adds \p What behind all that \p Stream, which is being captured, has done.
cudaError_t addToCapture(cudaStream_t Stream, Work What);

/// \p Stream is used in a way that no graph can hold: an error, and the end of
/// its capture, if it is being captured.
cudaError_t refuseInCapture(cudaStream_t Stream);

/// The same for calls that may wait for the whole device: what the captures
/// that go on in this thread, and in others, let it do.
cudaError_t refuseUnsafe();

/// Records \p Event in \p Stream, if that is being captured: others may then
/// wait for it. Nothing if it is not.
std::optional<cudaError_t> captureRecord(cudaEvent_t Event,
                                         cudaStream_t Stream);
/// \p Stream waits for \p Event, if either is being captured.
std::optional<cudaError_t> captureWait(cudaStream_t Stream, cudaEvent_t Event);
/// The program asks about \p Event: an error if it was last recorded in a
/// capture that goes on.
cudaError_t refuseCapturedEvent(cudaEvent_t Event);
/// \p Event was recorded outside captures, or destroyed.
void forgetCapturedEvent(cudaEvent_t Event);
/// \p Stream is destroyed, and with it the capture that it began.
void forgetCapturedStream(cudaStream_t Stream);

/// Enqueues work in \p Stream: \p Now does it, \p Later says what a graph is to
/// do once \p Check has found nothing wrong with it.
template <typename Body, typename Maker, typename Checker>
cudaError_t enqueue(cudaStream_t Stream, Body &&Now, Maker &&Later,
                    Checker &&Check) {
  if (!isStream(Stream))
    return cudaErrorInvalidResourceHandle;
  bool Captured = false;
  if (anyCapture())
    if (cudaError_t Failed = enterStream(Stream, Captured))
      return Failed;
  if (!Captured)
    return Now();
  if (cudaError_t Failed = Check())
    return Failed;
  return addToCapture(Stream, Later());
}

template <typename Body, typename Maker>
cudaError_t enqueue(cudaStream_t Stream, Body &&Now, Maker &&Later) {
  return enqueue(Stream, Now, Later, [] { return cudaSuccess; });
}

/// Ends a call that works in \p Stream and that no graph can hold.
template <typename Body> cudaError_t streamCall(cudaStream_t Stream, Body &&B) {
  return deviceCall([&]() -> cudaError_t {
    if (!isStream(Stream))
      return cudaErrorInvalidResourceHandle;
    if (anyCapture())
      if (cudaError_t Failed = refuseInCapture(Stream))
        return Failed;
    return B();
  });
}

/// Ends a call that works in the legacy default stream and waits for that.
template <typename Body> cudaError_t unsafeStreamCall(Body &&B) {
  return streamCall(nullptr, [&]() -> cudaError_t {
    if (anyCapture())
      if (cudaError_t Failed = refuseUnsafe())
        return Failed;
    return B();
  });
}

/// Ends a call that may wait for the whole device.
template <typename Body> cudaError_t unsafeCall(Body &&B) {
  return deviceCall([&]() -> cudaError_t {
    if (anyCapture())
      if (cudaError_t Failed = refuseUnsafe())
        return Failed;
    return B();
  });
}

} // namespace reconverge::runtime

#endif
