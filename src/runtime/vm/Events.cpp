//===- runtime/vm/Events.cpp - Events -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An event keeps the time at which it was recorded, by the device's clock
// (Engine.h). Since work is done when it is enqueued, that is the time at which
// all earlier work of the stream was over: cudaEventElapsedTime gives the
// milliseconds that it really took here, on the CPU.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Api.h"
#include "runtime/vm/Capture.h"
#include "runtime/vm/Engine.h"

#include <map>
#include <memory>
#include <mutex>

namespace reconverge::runtime {

namespace {
struct Event {
  unsigned Flags;
  bool Recorded = false;
  double Seconds = 0;
};

struct Events {
  std::mutex Mutex;
  std::map<cudaEvent_t, std::unique_ptr<Event>> Live;
};
} // namespace

static Events &events() {
  static Events &E = *new Events;
  return E;
}

/// Finds the event that \p Handle stands for, then does \p B with it.
template <typename Body>
static cudaError_t withEvent(cudaEvent_t Handle, Body &&B) {
  return deviceCall([&]() -> cudaError_t {
    std::lock_guard<std::mutex> Lock(events().Mutex);
    auto Found = events().Live.find(Handle);
    if (Found == events().Live.end())
      return cudaErrorInvalidResourceHandle;
    return B(*Found->second);
  });
}

static cudaError_t create(cudaEvent_t *Out, unsigned Flags) {
  constexpr unsigned Known =
      cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (!Out || (Flags & ~Known) ||
      ((Flags & cudaEventInterprocess) && !(Flags & cudaEventDisableTiming)))
    return cudaErrorInvalidValue;
  auto New = std::make_unique<Event>(Event{Flags});
  *Out = reinterpret_cast<cudaEvent_t>(New.get());
  std::lock_guard<std::mutex> Lock(events().Mutex);
  events().Live[*Out] = std::move(New);
  return cudaSuccess;
}

cudaError_t api::cudaEventCreate(cudaEvent_t *Out) {
  return deviceCall([&] { return create(Out, cudaEventDefault); });
}

cudaError_t api::cudaEventCreateWithFlags(cudaEvent_t *Out, unsigned Flags) {
  return deviceCall([&] { return create(Out, Flags); });
}

cudaError_t api::cudaEventDestroy(cudaEvent_t Handle) {
  return deviceCall([&] {
    if (anyCapture())
      forgetCapturedEvent(Handle);
    std::lock_guard<std::mutex> Lock(events().Mutex);
    return events().Live.erase(Handle) ? cudaSuccess
                                       : cudaErrorInvalidResourceHandle;
  });
}

bool isEvent(cudaEvent_t Handle) {
  std::lock_guard<std::mutex> Lock(events().Mutex);
  return events().Live.count(Handle);
}

cudaError_t recordEvent(cudaEvent_t Handle) {
  return withEvent(Handle, [&](Event &E) {
    E.Recorded = true;
    E.Seconds = deviceSeconds();
    return cudaSuccess;
  });
}

/// Records the event in \p Stream. \p External: in a stream that is being
/// captured, a node that does so at each launch; otherwise a mark of how far
/// the capture is.
static cudaError_t record(cudaEvent_t Handle, cudaStream_t Stream,
                          bool External) {
  return deviceCall([&]() -> cudaError_t {
    if (!isEvent(Handle) || !isStream(Stream))
      return cudaErrorInvalidResourceHandle;
    if (External)
      return enqueue(
          Stream, [&] { return recordEvent(Handle); },
          [&] { return RecordWork{Handle}; });
    if (anyCapture()) {
      if (auto Result = captureRecord(Handle, Stream))
        return *Result;
      forgetCapturedEvent(Handle);
    }
    return recordEvent(Handle);
  });
}

cudaError_t api::cudaEventRecord(cudaEvent_t Handle, cudaStream_t Stream) {
  return record(Handle, Stream, false);
}

cudaError_t api::cudaEventRecordWithFlags(cudaEvent_t Handle,
                                          cudaStream_t Stream, unsigned Flags) {
  if (Flags & ~unsigned(cudaEventRecordExternal))
    return recorded(cudaErrorInvalidValue);
  return record(Handle, Stream, Flags & cudaEventRecordExternal);
}

/// The program asks about the event; whatever it waits for is over.
static cudaError_t ask(cudaEvent_t Handle) {
  return deviceCall([&]() -> cudaError_t {
    if (!isEvent(Handle))
      return cudaErrorInvalidResourceHandle;
    return anyCapture() ? refuseCapturedEvent(Handle) : cudaSuccess;
  });
}

cudaError_t api::cudaEventQuery(cudaEvent_t Handle) { return ask(Handle); }

cudaError_t api::cudaEventSynchronize(cudaEvent_t Handle) {
  return ask(Handle);
}

cudaError_t api::cudaStreamWaitEvent(cudaStream_t Stream, cudaEvent_t Handle,
                                     unsigned Flags) {
  return deviceCall([&]() -> cudaError_t {
    if (!isEvent(Handle) || !isStream(Stream))
      return cudaErrorInvalidResourceHandle;
    if (Flags & ~unsigned(cudaEventWaitExternal))
      return cudaErrorInvalidValue;
    if (Flags & cudaEventWaitExternal)
      return enqueue(
          Stream, [] { return cudaSuccess; }, [&] { return WaitWork{Handle}; });
    if (anyCapture())
      if (auto Result = captureWait(Stream, Handle))
        return *Result;
    return cudaSuccess;
  });
}

cudaError_t api::cudaEventElapsedTime(float *Milliseconds, cudaEvent_t Start,
                                      cudaEvent_t End) {
  Event First, Second;
  if (!Milliseconds)
    return deviceCall([] { return cudaErrorInvalidValue; });
  for (cudaEvent_t Asked : {Start, End})
    if (cudaError_t Failed = ask(Asked))
      return Failed;
  if (cudaError_t Failed = withEvent(Start, [&](Event &E) {
        First = E;
        return cudaSuccess;
      }))
    return Failed;
  return withEvent(End, [&](Event &E) -> cudaError_t {
    Second = E;
    if (!First.Recorded || !Second.Recorded ||
        ((First.Flags | Second.Flags) & cudaEventDisableTiming))
      return cudaErrorInvalidResourceHandle;
    *Milliseconds = float((Second.Seconds - First.Seconds) * 1e3);
    return cudaSuccess;
  });
}

} // namespace reconverge::runtime
