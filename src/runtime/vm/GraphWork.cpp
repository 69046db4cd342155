//===- runtime/vm/GraphWork.cpp - What a graph's node is to do ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA's parameters of each kind of node become work, checked: what a stream
// would refuse is refused here, before any node is made or changed. CUDA 13's
// cudaGraphNodeParams are one of these kinds, said by a number.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/GraphWork.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace reconverge::runtime {

//===----------------------------------------------------------------------===//
// From parameters to work
//===----------------------------------------------------------------------===//

template <typename Parameters>
static cudaError_t readKernel(const Parameters &P, KernelWork &Out) {
  if (P.extra)
    return unsupported("a kernel node with its arguments in `extra`");
  KernelWork New;
  New.Priority = Out.Priority;
  if (cudaError_t Failed =
          checkLaunch(P.func, P.gridDim, P.blockDim, P.sharedMemBytes,
                      Out.Shape.Cooperative, New))
    return Failed;
  if (!P.kernelParams && !New.Function->Code->parameters().empty())
    return cudaErrorInvalidValue;
  New.keep(P.kernelParams);
  Out = std::move(New);
  return cudaSuccess;
}

cudaError_t readWork(const cudaKernelNodeParams &P, KernelWork &Out) {
  return readKernel(P, Out);
}

cudaError_t readWork(const cudaMemcpy3DParms &P, CopyWork &Out) {
  if (cudaError_t Failed = checkCopy(P))
    return Failed;
  Out.What = P;
  return cudaSuccess;
}

template <typename Parameters>
static cudaError_t readSet(const Parameters &P, SetWork &Out) {
  SetWork New;
  New.At = P.dst;
  New.Pitch = P.pitch;
  New.Value = P.value;
  New.ElementSize = P.elementSize;
  New.Width = P.width;
  New.Height = P.height;
  if (!P.width || !P.height)
    return cudaErrorInvalidValue;
  if (cudaError_t Failed = checkSet(New))
    return Failed;
  Out = New;
  return cudaSuccess;
}

cudaError_t readWork(const cudaMemsetParams &P, SetWork &Out) {
  return readSet(P, Out);
}

template <typename Parameters>
static cudaError_t readHost(const Parameters &P, HostWork &Out) {
  if (!P.fn)
    return cudaErrorInvalidValue;
  Out = {P.fn, P.userData};
  return cudaSuccess;
}

cudaError_t readWork(const cudaHostNodeParams &P, HostWork &Out) {
  return readHost(P, Out);
}

cudaError_t readWork(cudaEvent_t Event, RecordWork &Out) {
  Out.Event = Event;
  return isEvent(Event) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t readWork(cudaEvent_t Event, WaitWork &Out) {
  Out.Event = Event;
  return isEvent(Event) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t readWork(cudaGraph_t Handle, ChildWork &Out) {
  Graph *G = graphOf(Handle);
  if (!G)
    return cudaErrorInvalidValue;
  Out.Inner = G->clone();
  return cudaSuccess;
}

template <typename Parameters>
static cudaError_t readAlloc(Parameters &P, AllocWork &Out) {
  const cudaMemPoolProps &Pool = P.poolProps;
  if (!P.bytesize || Pool.allocType != cudaMemAllocationTypePinned ||
      Pool.location.type != cudaMemLocationTypeDevice || Pool.location.id != 0)
    return cudaErrorInvalidValue;
  if (Pool.handleTypes != cudaMemHandleTypeNone)
    return unsupported("memory of a graph for other processes");
  if (cudaError_t Failed = makeGraphMemory(P.bytesize, Out))
    return Failed;
  P.dptr = Out.Memory->At;
  return cudaSuccess;
}

cudaError_t readWork(cudaMemAllocNodeParams &P, AllocWork &Out) {
  return readAlloc(P, Out);
}

cudaError_t readWork(void *At, FreeWork &Out) {
  Out.At = At;
  return At ? cudaSuccess : cudaErrorInvalidValue;
}

#if CUDART_VERSION >= 13000
cudaError_t readWork(cudaGraphNodeParams &P, Work &What) {
  auto As = [&]<typename T>(T *) -> T * {
    if (std::holds_alternative<EmptyWork>(What))
      What.emplace<T>();
    return std::get_if<T>(&What);
  };
#define RECONVERGE_READ(T, Read)                                               \
  {                                                                            \
    auto *W = As(static_cast<T *>(nullptr));                                   \
    return W ? Read : cudaErrorInvalidValue;                                   \
  }
  switch (P.type) {
  case cudaGraphNodeTypeKernel:
    RECONVERGE_READ(KernelWork, readKernel(P.kernel, *W))
  case cudaGraphNodeTypeMemcpy:
    RECONVERGE_READ(CopyWork, readWork(P.memcpy.copyParams, *W))
  case cudaGraphNodeTypeMemset:
    RECONVERGE_READ(SetWork, readSet(P.memset, *W))
  case cudaGraphNodeTypeHost:
    RECONVERGE_READ(HostWork, readHost(P.host, *W))
  case cudaGraphNodeTypeEventRecord:
    RECONVERGE_READ(RecordWork, readWork(P.eventRecord.event, *W))
  case cudaGraphNodeTypeWaitEvent:
    RECONVERGE_READ(WaitWork, readWork(P.eventWait.event, *W))
  case cudaGraphNodeTypeGraph:
    RECONVERGE_READ(ChildWork, readWork(P.graph.graph, *W))
  case cudaGraphNodeTypeMemAlloc:
    RECONVERGE_READ(AllocWork, readAlloc(P.alloc, *W))
  case cudaGraphNodeTypeMemFree:
    RECONVERGE_READ(FreeWork, readWork(P.free.dptr, *W))
  case cudaGraphNodeTypeEmpty:
    return cudaSuccess;
  case cudaGraphNodeTypeExtSemaphoreSignal:
  case cudaGraphNodeTypeExtSemaphoreWait:
    return unsupported("a graph node for a semaphore of another library");
  case cudaGraphNodeTypeConditional:
    return unsupported("a conditional graph node");
  default:
    return cudaErrorInvalidValue;
  }
#undef RECONVERGE_READ
}
#endif

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

cudaError_t addNode(cudaGraphNode_t *Out, cudaGraph_t Handle,
                    const cudaGraphNode_t *After, size_t Count,
                    function_ref<cudaError_t(Work &)> Read) {
  return deviceCall([&]() -> cudaError_t {
    std::lock_guard<std::recursive_mutex> Lock(deviceLock());
    Graph *G = graphOf(Handle);
    if (!G || !Out || (Count && !After))
      return cudaErrorInvalidValue;
    std::vector<GraphNode *> Before;
    for (size_t I = 0; I < Count; ++I) {
      GraphNode *N = nodeOf(After[I]);
      if (!N || &N->Home != G || is_contained(Before, N))
        return cudaErrorInvalidValue;
      Before.push_back(N);
    }
    Work What;
    if (cudaError_t Failed = Read(What))
      return Failed;
    *Out = handleOf(&G->add(std::move(What), Before));
    return cudaSuccess;
  });
}

} // namespace reconverge::runtime
