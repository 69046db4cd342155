//===- runtime/vm/Capture.cpp - Streams that become graphs ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// While a stream is being captured, what is enqueued in it is not done but
// becomes a node of a graph:
//
//   place of a stream  the capture that it takes part in, and the nodes that
//                      its next one comes behind
//   place of an event  the same, as it was when the event was recorded
//   record             place of the event := place of the stream
//   wait               the stream joins the event's capture if it takes part in
//                      none; its next node comes behind the event's as well
//   end                every node must lie before the first stream's next one
//   destroy            the stream takes part no longer; what it added must lie
//                      before another stream's next one
//
// A call that cannot be part of a graph fails and invalidates the captures that
// it concerns: they go on until they are ended, and then give no graph.
//
// - A capturing stream cannot be waited for, or asked; nor can an event that
//   was recorded in one.
// - Only a relaxed capture may be ended by another thread than the one that
//   began it. Otherwise that is an error, but the end too, as on an H100.
// - The legacy default stream waits for all blocking streams. It cannot be used
//   while one of them is being captured.
// - Calls that may wait for the whole device (allocations, copies that end
//   before they return) are not for threads that capture, unless in relaxed
//   mode, nor for any thread during a global one; cudaThreadExchangeStream-
//   CaptureMode says otherwise for a thread.
//
// Limitation: the default stream of programs compiled with per-thread default
// streams is the legacy one here, so that it cannot be captured under the
// handle 0; cudaStreamPerThread can.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Capture.h"

#include "runtime/vm/Api.h"
#include "runtime/vm/Graph.h"
#include "runtime/vm/Registry.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <atomic>
#include <map>
#include <thread>

using namespace llvm;

namespace reconverge::runtime {

namespace {
using Guard = std::lock_guard<std::recursive_mutex>;

struct Sequence {
  unsigned long long Id;
  std::unique_ptr<Graph> Own; ///< null: it adds to a graph of the program's
  Graph *Into;
  cudaStream_t Origin;
  std::thread::id Thread;
  cudaStreamCaptureMode Mode;
  std::vector<GraphNode *> Added;
  bool Invalid = false;
};

struct Place {
  std::shared_ptr<Sequence> In;
  std::vector<GraphNode *> After;
};

struct Captures {
  std::map<cudaStream_t, Place> Streams;
  std::map<cudaEvent_t, Place> Events;
  unsigned long long LastId = 0;
};
} // namespace

/// Under deviceLock().
static Captures &captures() {
  static Captures &C = *new Captures;
  return C;
}

static std::atomic<unsigned> Capturing{0}; ///< streams

bool anyCapture() { return Capturing.load(std::memory_order_relaxed) != 0; }

/// The stream of the calling thread stands for cudaStreamPerThread.
static cudaStream_t ownKey(cudaStream_t Stream) {
  static thread_local char OwnStream;
  return Stream == cudaStreamPerThread
             ? reinterpret_cast<cudaStream_t>(&OwnStream)
             : Stream;
}

static bool isLegacy(cudaStream_t Stream) {
  return !Stream || Stream == cudaStreamLegacy;
}

static Place *placeOf(cudaStream_t Stream) {
  auto Found = captures().Streams.find(ownKey(Stream));
  return Found == captures().Streams.end() ? nullptr : &Found->second;
}

static void setPlace(cudaStream_t Stream, Place P) {
  captures().Streams[ownKey(Stream)] = std::move(P);
  Capturing = unsigned(captures().Streams.size());
}

/// No stream and no event takes part in \p S any longer.
static void forget(const Sequence &S) {
  std::erase_if(captures().Streams,
                [&](auto &P) { return P.second.In.get() == &S; });
  std::erase_if(captures().Events,
                [&](auto &P) { return P.second.In.get() == &S; });
  Capturing = unsigned(captures().Streams.size());
}

//===----------------------------------------------------------------------===//
// What captures forbid
//===----------------------------------------------------------------------===//

static cudaError_t invalidate(Sequence &S, cudaError_t Why) {
  S.Invalid = true;
  return Why;
}

/// The legacy stream would have to wait for a stream that is being captured.
/// \p Ends: the capture is over with that.
static bool blocksLegacy(bool Ends) {
  bool Blocks = false;
  for (auto &[Stream, P] : captures().Streams)
    if (isBlocking(Stream)) {
      Blocks = true;
      P.In->Invalid |= Ends;
    }
  return Blocks;
}

static cudaError_t refuseLegacy() {
  return blocksLegacy(true) ? cudaErrorStreamCaptureImplicit : cudaSuccess;
}

cudaError_t refuseInCapture(cudaStream_t Stream) {
  Guard Lock(deviceLock());
  if (isLegacy(Stream))
    return refuseLegacy();
  if (Place *P = placeOf(Stream))
    return invalidate(*P->In, cudaErrorStreamCaptureUnsupported);
  return cudaSuccess;
}

static cudaStreamCaptureMode &threadMode() {
  static thread_local cudaStreamCaptureMode Mode = cudaStreamCaptureModeGlobal;
  return Mode;
}

cudaError_t refuseUnsafe() {
  Guard Lock(deviceLock());
  if (threadMode() == cudaStreamCaptureModeRelaxed)
    return cudaSuccess;
  cudaError_t Result = cudaSuccess;
  for (auto &[Stream, P] : captures().Streams) {
    const bool Mine = P.In->Thread == std::this_thread::get_id();
    if (Mine ? P.In->Mode != cudaStreamCaptureModeRelaxed
             : P.In->Mode == cudaStreamCaptureModeGlobal &&
                   threadMode() == cudaStreamCaptureModeGlobal)
      Result = invalidate(*P.In, cudaErrorStreamCaptureUnsupported);
  }
  return Result;
}

cudaError_t refuseCapturedEvent(cudaEvent_t Event) {
  Guard Lock(deviceLock());
  auto Found = captures().Events.find(Event);
  if (Found == captures().Events.end())
    return cudaSuccess;
  return invalidate(*Found->second.In, cudaErrorCapturedEvent);
}

//===----------------------------------------------------------------------===//
// Adding
//===----------------------------------------------------------------------===//

cudaError_t enterStream(cudaStream_t Stream, bool &Captured) {
  Guard Lock(deviceLock());
  if (isLegacy(Stream))
    return refuseLegacy();
  Place *P = placeOf(Stream);
  if (P && P->In->Invalid)
    return cudaErrorStreamCaptureInvalidated;
  Captured = P != nullptr;
  return cudaSuccess;
}

cudaError_t addToCapture(cudaStream_t Stream, Work What) {
  Guard Lock(deviceLock());
  Place &P = *placeOf(Stream);
  GraphNode &New = P.In->Into->add(std::move(What), P.After);
  P.In->Added.push_back(&New);
  P.After = {&New};
  return cudaSuccess;
}

std::optional<cudaError_t> captureRecord(cudaEvent_t Event,
                                         cudaStream_t Stream) {
  bool Captured = false;
  if (cudaError_t Failed = enterStream(Stream, Captured))
    return Failed;
  if (!Captured)
    return std::nullopt;
  Guard Lock(deviceLock());
  captures().Events[Event] = *placeOf(Stream);
  return cudaSuccess;
}

std::optional<cudaError_t> captureWait(cudaStream_t Stream, cudaEvent_t Event) {
  Guard Lock(deviceLock());
  bool Captured = false;
  if (cudaError_t Failed = enterStream(Stream, Captured))
    return Failed;
  auto Found = captures().Events.find(Event);
  if (Found == captures().Events.end()) {
    if (!Captured)
      return std::nullopt;
    return invalidate(*placeOf(Stream)->In, cudaErrorStreamCaptureIsolation);
  }
  const Place &There = Found->second;
  if (There.In->Invalid)
    return cudaErrorStreamCaptureInvalidated;
  if (isLegacy(Stream))
    return invalidate(*There.In, cudaErrorStreamCaptureImplicit);
  if (!Captured) {
    setPlace(Stream, There);
    return cudaSuccess;
  }
  Place &Here = *placeOf(Stream);
  if (Here.In != There.In) {
    invalidate(*There.In, cudaErrorStreamCaptureMerge);
    return invalidate(*Here.In, cudaErrorStreamCaptureMerge);
  }
  for (GraphNode *N : There.After)
    if (!is_contained(Here.After, N))
      Here.After.push_back(N);
  return cudaSuccess;
}

void forgetCapturedEvent(cudaEvent_t Event) {
  Guard Lock(deviceLock());
  captures().Events.erase(Event);
}

/// Whether each of \p Nodes is in \p After or lies before one of these.
static bool allLieBefore(ArrayRef<GraphNode *> Nodes,
                         ArrayRef<GraphNode *> After) {
  DenseSet<GraphNode *> Before;
  SmallVector<GraphNode *> Open(After);
  while (!Open.empty()) {
    GraphNode *N = Open.pop_back_val();
    if (Before.insert(N).second)
      Open.append(N->After.begin(), N->After.end());
  }
  return all_of(Nodes, [&](GraphNode *N) { return Before.contains(N); });
}

void forgetCapturedStream(cudaStream_t Stream) {
  Guard Lock(deviceLock());
  Place *P = placeOf(Stream);
  if (!P)
    return;
  const Place Last = *P;
  if (Last.In->Origin == ownKey(Stream))
    return forget(*Last.In);
  captures().Streams.erase(ownKey(Stream));
  Capturing = unsigned(captures().Streams.size());
  std::vector<GraphNode *> Others;
  for (auto &[Other, Q] : captures().Streams)
    if (Q.In == Last.In)
      append_range(Others, Q.After);
  if (!allLieBefore(Last.After, Others))
    Last.In->Invalid = true;
}

//===----------------------------------------------------------------------===//
// Beginning and ending
//===----------------------------------------------------------------------===//

static bool isMode(cudaStreamCaptureMode Mode) {
  return Mode >= cudaStreamCaptureModeGlobal &&
         Mode <= cudaStreamCaptureModeRelaxed;
}

static cudaError_t begin(cudaStream_t Stream, cudaStreamCaptureMode Mode,
                         Graph *Into, std::vector<GraphNode *> After) {
  if (!isStream(Stream))
    return cudaErrorInvalidResourceHandle;
  if (!isMode(Mode))
    return cudaErrorInvalidValue;
  if (isLegacy(Stream))
    return cudaErrorStreamCaptureUnsupported;
  if (placeOf(Stream))
    return cudaErrorIllegalState;
  auto S = std::make_shared<Sequence>();
  S->Id = ++captures().LastId;
  if (!Into)
    S->Own = std::make_unique<Graph>();
  S->Into = Into ? Into : S->Own.get();
  S->Origin = ownKey(Stream);
  S->Thread = std::this_thread::get_id();
  S->Mode = Mode;
  setPlace(Stream, {std::move(S), std::move(After)});
  return cudaSuccess;
}

cudaError_t api::cudaStreamBeginCapture(cudaStream_t Stream,
                                        cudaStreamCaptureMode Mode) {
  return deviceCall([&] {
    Guard Lock(deviceLock());
    return begin(Stream, Mode, nullptr, {});
  });
}

cudaError_t api::cudaStreamEndCapture(cudaStream_t Stream, cudaGraph_t *Out) {
  return deviceCall([&]() -> cudaError_t {
    Guard Lock(deviceLock());
    if (!isStream(Stream))
      return cudaErrorInvalidResourceHandle;
    if (Out)
      *Out = nullptr;
    Place *P = placeOf(Stream);
    if (!P)
      return cudaErrorIllegalState;
    std::shared_ptr<Sequence> S = P->In;
    if (S->Origin != ownKey(Stream))
      return invalidate(*S, cudaErrorStreamCaptureUnmatched);
    const bool Joined = allLieBefore(S->Added, P->After);
    forget(*S);
    if (S->Mode != cudaStreamCaptureModeRelaxed &&
        S->Thread != std::this_thread::get_id())
      return cudaErrorStreamCaptureWrongThread;
    if (S->Invalid)
      return cudaErrorStreamCaptureInvalidated;
    if (!Joined)
      return cudaErrorStreamCaptureUnjoined;
    if (!Out)
      return cudaErrorInvalidValue;
    *Out = handleOf(S->Own ? &adoptGraph(std::move(S->Own)) : S->Into);
    return cudaSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Asking
//===----------------------------------------------------------------------===//

static cudaStreamCaptureStatus statusOf(const Place *P) {
  return !P               ? cudaStreamCaptureStatusNone
         : P->In->Invalid ? cudaStreamCaptureStatusInvalidated
                          : cudaStreamCaptureStatusActive;
}

/// Finds \p Stream's place, null if it is not being captured, and gives it to
/// \p B.
template <typename Body>
static cudaError_t withPlace(cudaStream_t Stream, Body &&B) {
  return deviceCall([&]() -> cudaError_t {
    Guard Lock(deviceLock());
    if (!isStream(Stream))
      return cudaErrorInvalidResourceHandle;
    if (isLegacy(Stream) && blocksLegacy(false))
      return cudaErrorStreamCaptureImplicit;
    return B(isLegacy(Stream) ? nullptr : placeOf(Stream));
  });
}

cudaError_t api::cudaStreamIsCapturing(cudaStream_t Stream,
                                       cudaStreamCaptureStatus *Status) {
  return withPlace(Stream, [&](Place *P) -> cudaError_t {
    if (!Status)
      return cudaErrorInvalidValue;
    *Status = statusOf(P);
    return cudaSuccess;
  });
}

cudaError_t
api::cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *Mode) {
  return deviceCall([&]() -> cudaError_t {
    if (!Mode || !isMode(*Mode))
      return cudaErrorInvalidValue;
    std::swap(*Mode, threadMode());
    return cudaSuccess;
  });
}

#if CUDART_VERSION >= 13000
/// \p Count nodes of \p G.
static bool readNodes(const cudaGraphNode_t *List, size_t Count, const Graph &G,
                      std::vector<GraphNode *> &Out) {
  for (size_t I = 0; I < Count; ++I) {
    GraphNode *N = List ? nodeOf(List[I]) : nullptr;
    if (!N || &N->Home != &G || is_contained(Out, N))
      return false;
    Out.push_back(N);
  }
  return true;
}

cudaError_t api::cudaStreamBeginCaptureToGraph(
    cudaStream_t Stream, cudaGraph_t Handle, const cudaGraphNode_t *After,
    const cudaGraphEdgeData *Data, size_t Count, cudaStreamCaptureMode Mode) {
  return deviceCall([&]() -> cudaError_t {
    Guard Lock(deviceLock());
    Graph *G = graphOf(Handle);
    std::vector<GraphNode *> Nodes;
    if (!G || !readNodes(After, Count, *G, Nodes))
      return cudaErrorInvalidValue;
    if (!isPlain(Data, Count))
      return unsupported("a programmatic dependency of graph nodes");
    return begin(Stream, Mode, G, std::move(Nodes));
  });
}

cudaError_t api::cudaStreamGetCaptureInfo(
    cudaStream_t Stream, cudaStreamCaptureStatus *Status,
    unsigned long long *Id, cudaGraph_t *G, const cudaGraphNode_t **After,
    const cudaGraphEdgeData **Data, size_t *Count) {
  return withPlace(Stream, [&](Place *P) -> cudaError_t {
    if (!Status)
      return cudaErrorInvalidValue;
    *Status = statusOf(P);
    // The rest is left as it is where nothing is captured.
    if (*Status != cudaStreamCaptureStatusActive)
      return cudaSuccess;
    if (Id)
      *Id = P->In->Id;
    if (G)
      *G = handleOf(P->In->Into);
    static_assert(sizeof(GraphNode *) == sizeof(cudaGraphNode_t));
    if (After)
      *After = reinterpret_cast<const cudaGraphNode_t *>(P->After.data());
    if (Data)
      *Data = nullptr; // all dependencies are plain ones
    if (Count)
      *Count = P->After.size();
    return cudaSuccess;
  });
}

cudaError_t api::cudaStreamUpdateCaptureDependencies(
    cudaStream_t Stream, cudaGraphNode_t *After, const cudaGraphEdgeData *Data,
    size_t Count, unsigned Flags) {
  return withPlace(Stream, [&](Place *P) -> cudaError_t {
    if (!P)
      return cudaErrorIllegalState;
    if (P->In->Invalid)
      return cudaErrorStreamCaptureInvalidated;
    std::vector<GraphNode *> Nodes;
    if (Flags == cudaStreamAddCaptureDependencies)
      Nodes = P->After;
    else if (Flags != cudaStreamSetCaptureDependencies)
      return cudaErrorInvalidValue;
    if (!readNodes(After, Count, *P->In->Into, Nodes))
      return cudaErrorInvalidValue;
    if (!isPlain(Data, Count))
      return unsupported("a programmatic dependency of graph nodes");
    P->After = std::move(Nodes);
    return cudaSuccess;
  });
}
#endif

} // namespace reconverge::runtime
