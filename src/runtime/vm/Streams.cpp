//===- runtime/vm/Streams.cpp - Streams -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work is done when it is enqueued, by the calling thread: a stream is then
// always empty, synchronising returns at once, and callbacks run in place. A
// stream remembers only what can be asked of it. While it is being captured
// (Capture.cpp), work becomes a graph's instead. Handles are checked against
// the streams that there are, so that a destroyed one is an error and no crash.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Streams.h"

#include "runtime/vm/Api.h"
#include "runtime/vm/Capture.h"
#include "runtime/vm/Device.h"
#include "runtime/vm/Memory.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

namespace reconverge::runtime {

namespace {
struct Stream {
  unsigned Flags;
  int Priority;
  unsigned long long Id;
};

struct Streams {
  std::mutex Mutex;
  std::map<cudaStream_t, std::unique_ptr<Stream>> Live;
  unsigned long long NextId = 3; ///< 1 and 2 are the default streams'
};
} // namespace

static Streams &streams() {
  static Streams &S = *new Streams;
  return S;
}

static bool isDefault(cudaStream_t Handle) {
  return !Handle || Handle == cudaStreamLegacy || Handle == cudaStreamPerThread;
}

bool isStream(cudaStream_t Handle) {
  if (isDefault(Handle))
    return true;
  Streams &S = streams();
  std::lock_guard<std::mutex> Lock(S.Mutex);
  return S.Live.count(Handle);
}

bool isBlocking(cudaStream_t Handle) {
  Streams &S = streams();
  std::lock_guard<std::mutex> Lock(S.Mutex);
  auto Found = S.Live.find(Handle);
  return Found == S.Live.end() ||
         !(Found->second->Flags & cudaStreamNonBlocking);
}

/// What \p Handle stands for; \p Handle is a stream or nullopt is returned.
static bool describe(cudaStream_t Handle, Stream &Out) {
  if (isDefault(Handle)) {
    Out = {cudaStreamDefault, limits::PriorityLeast,
           Handle == cudaStreamPerThread ? 2ull : 1ull};
    return true;
  }
  Streams &S = streams();
  std::lock_guard<std::mutex> Lock(S.Mutex);
  auto Found = S.Live.find(Handle);
  if (Found == S.Live.end())
    return false;
  Out = *Found->second;
  return true;
}

//===----------------------------------------------------------------------===//
// Making and asking
//===----------------------------------------------------------------------===//

static cudaError_t create(cudaStream_t *Out, unsigned Flags, int Priority) {
  if (!Out || (Flags & ~unsigned(cudaStreamNonBlocking)))
    return cudaErrorInvalidValue;
  Streams &S = streams();
  std::lock_guard<std::mutex> Lock(S.Mutex);
  auto New = std::make_unique<Stream>(Stream{
      Flags,
      std::clamp(Priority, limits::PriorityGreatest, limits::PriorityLeast),
      S.NextId++});
  *Out = reinterpret_cast<cudaStream_t>(New.get());
  S.Live[*Out] = std::move(New);
  return cudaSuccess;
}

cudaError_t api::cudaStreamCreate(cudaStream_t *Out) {
  return deviceCall([&] { return create(Out, cudaStreamDefault, 0); });
}

cudaError_t api::cudaStreamCreateWithFlags(cudaStream_t *Out, unsigned Flags) {
  return deviceCall([&] { return create(Out, Flags, 0); });
}

cudaError_t api::cudaStreamCreateWithPriority(cudaStream_t *Out, unsigned Flags,
                                              int Priority) {
  return deviceCall([&] { return create(Out, Flags, Priority); });
}

cudaError_t api::cudaStreamDestroy(cudaStream_t Handle) {
  return deviceCall([&] {
    if (anyCapture())
      forgetCapturedStream(Handle);
    Streams &S = streams();
    std::lock_guard<std::mutex> Lock(S.Mutex);
    return S.Live.erase(Handle) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

/// Stores what \p Get takes from the stream.
template <typename Value, typename Getter>
static cudaError_t ask(cudaStream_t Handle, Value *Out, Getter Get) {
  return deviceCall([&]() -> cudaError_t {
    Stream S;
    if (!describe(Handle, S))
      return cudaErrorInvalidResourceHandle;
    if (!Out)
      return cudaErrorInvalidValue;
    *Out = Get(S);
    return cudaSuccess;
  });
}

cudaError_t api::cudaStreamGetFlags(cudaStream_t Handle, unsigned *Flags) {
  return ask(Handle, Flags, [](const Stream &S) { return S.Flags; });
}

cudaError_t api::cudaStreamGetPriority(cudaStream_t Handle, int *Priority) {
  return ask(Handle, Priority, [](const Stream &S) { return S.Priority; });
}

cudaError_t api::cudaStreamGetId(cudaStream_t Handle, unsigned long long *Id) {
  return ask(Handle, Id, [](const Stream &S) { return S.Id; });
}

#if CUDART_VERSION >= 13000
cudaError_t api::cudaStreamGetDevice(cudaStream_t Handle, int *Device) {
  return ask(Handle, Device, [](const Stream &) { return 0; });
}
#endif

cudaError_t api::cudaDeviceGetStreamPriorityRange(int *Least, int *Greatest) {
  return deviceCall([&] {
    if (Least)
      *Least = limits::PriorityLeast;
    if (Greatest)
      *Greatest = limits::PriorityGreatest;
    return cudaSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Working
//===----------------------------------------------------------------------===//

cudaError_t api::cudaStreamSynchronize(cudaStream_t Handle) {
  return streamCall(Handle, [] { return cudaSuccess; });
}

cudaError_t api::cudaStreamQuery(cudaStream_t Handle) {
  return streamCall(Handle, [] { return cudaSuccess; });
}

cudaError_t api::cudaStreamAddCallback(cudaStream_t Handle,
                                       cudaStreamCallback_t Callback,
                                       void *Data, unsigned Flags) {
  return streamCall(Handle, [&]() -> cudaError_t {
    if (!Callback || Flags)
      return cudaErrorInvalidValue;
    Callback(Handle, cudaSuccess, Data);
    return cudaSuccess;
  });
}

cudaError_t api::cudaLaunchHostFunc(cudaStream_t Handle, cudaHostFn_t Function,
                                    void *Data) {
  return deviceCall([&]() -> cudaError_t {
    if (!Function)
      return cudaErrorInvalidValue;
    return enqueue(
        Handle,
        [&] {
          Function(Data);
          return cudaSuccess;
        },
        [&] { return HostWork{Function, Data}; });
  });
}

cudaError_t api::cudaStreamAttachMemAsync(cudaStream_t Handle, void *Pointer,
                                          size_t Length, unsigned Flags) {
  return streamCall(Handle, [&]() -> cudaError_t {
    const bool Attached = Flags == cudaMemAttachGlobal ||
                          Flags == cudaMemAttachHost ||
                          Flags == cudaMemAttachSingle;
    if (!Attached || (Flags == cudaMemAttachSingle && isDefault(Handle)) ||
        whereIs(Pointer, Length) != Where::Device)
      return cudaErrorInvalidValue;
    return cudaSuccess;
  });
}

} // namespace reconverge::runtime
