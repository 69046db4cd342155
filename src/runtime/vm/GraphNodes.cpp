//===- runtime/vm/GraphNodes.cpp - What graphs' nodes do ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA's calls that add a node of some kind, ask for what it does, and change
// it in a graph or in an executable one. For each kind:
//
//   parameters, as CUDA has them -> read(): checked -> work (Work.h)
//
// and the calls are that, with the place where the work goes: a new node, a
// node, or the clone of a node in an executable graph.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Api.h"
#include "runtime/vm/Capture.h"
#include "runtime/vm/Graph.h"
#include "runtime/vm/Registry.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace reconverge::runtime {

using Guard = std::lock_guard<std::recursive_mutex>;

//===----------------------------------------------------------------------===//
// From parameters to work
//===----------------------------------------------------------------------===//

/// What stays of the launch that \p Out was: its attributes.
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

static cudaError_t read(const cudaKernelNodeParams &P, KernelWork &Out) {
  return readKernel(P, Out);
}

static cudaError_t read(const cudaMemcpy3DParms &P, CopyWork &Out) {
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

static cudaError_t read(const cudaMemsetParams &P, SetWork &Out) {
  return readSet(P, Out);
}

template <typename Parameters>
static cudaError_t readHost(const Parameters &P, HostWork &Out) {
  if (!P.fn)
    return cudaErrorInvalidValue;
  Out = {P.fn, P.userData};
  return cudaSuccess;
}

static cudaError_t read(const cudaHostNodeParams &P, HostWork &Out) {
  return readHost(P, Out);
}

static cudaError_t read(cudaEvent_t Event, RecordWork &Out) {
  Out.Event = Event;
  return isEvent(Event) ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t read(cudaEvent_t Event, WaitWork &Out) {
  Out.Event = Event;
  return isEvent(Event) ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t read(cudaGraph_t Handle, ChildWork &Out) {
  Graph *G = graphOf(Handle);
  if (!G)
    return cudaErrorInvalidValue;
  Out.Inner = G->clone();
  return cudaSuccess;
}

/// \p P also gets the address.
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

static cudaError_t read(void *At, FreeWork &Out) {
  Out.At = At;
  return At ? cudaSuccess : cudaErrorInvalidValue;
}

//===----------------------------------------------------------------------===//
// Where it goes
//===----------------------------------------------------------------------===//

static cudaError_t add(cudaGraphNode_t *Out, cudaGraph_t Handle,
                       const cudaGraphNode_t *After, size_t Count,
                       function_ref<cudaError_t(Work &)> Read) {
  return deviceCall([&]() -> cudaError_t {
    Guard Lock(deviceLock());
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

/// A node of kind \p T that does what \p P says.
template <typename T, typename Parameters>
static cudaError_t addAs(cudaGraphNode_t *Out, cudaGraph_t Handle,
                         const cudaGraphNode_t *After, size_t Count,
                         const Parameters &P) {
  return add(Out, Handle, After, Count,
             [&](Work &What) { return read(P, What.emplace<T>()); });
}

/// Gives \p B the work of a node of kind \p T.
template <typename T, typename Body>
static cudaError_t withWork(cudaGraphNode_t Handle, Body &&B) {
  return deviceCall([&]() -> cudaError_t {
    Guard Lock(deviceLock());
    GraphNode *N = nodeOf(Handle);
    T *What = N ? std::get_if<T>(&N->What) : nullptr;
    return What ? B(*What) : cudaErrorInvalidValue;
  });
}

/// The same for the node's clone in an executable graph.
template <typename T, typename Body>
static cudaError_t withExecWork(cudaGraphExec_t Exec, cudaGraphNode_t Handle,
                                Body &&B) {
  return deviceCall([&]() -> cudaError_t {
    Guard Lock(deviceLock());
    std::shared_ptr<GraphExec> E = execOf(Exec);
    GraphNode *N = nodeOf(Handle);
    N = E && N ? E->Code->copyOf(*N) : nullptr;
    T *What = N ? std::get_if<T>(&N->What) : nullptr;
    return What ? B(*What) : cudaErrorInvalidValue;
  });
}

template <typename T, typename Parameters>
static cudaError_t set(cudaGraphNode_t Handle, const Parameters &P) {
  return withWork<T>(Handle, [&](T &What) { return read(P, What); });
}

template <typename T, typename Parameters>
static cudaError_t setExec(cudaGraphExec_t Exec, cudaGraphNode_t Handle,
                           const Parameters &P) {
  return withExecWork<T>(Exec, Handle, [&](T &What) { return read(P, What); });
}

static cudaError_t invalid() {
  return deviceCall([] { return cudaErrorInvalidValue; });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

cudaError_t api::cudaGraphAddKernelNode(cudaGraphNode_t *Out, cudaGraph_t G,
                                        const cudaGraphNode_t *After,
                                        size_t Count,
                                        const cudaKernelNodeParams *P) {
  return P ? addAs<KernelWork>(Out, G, After, Count, *P) : invalid();
}

cudaError_t api::cudaGraphKernelNodeGetParams(cudaGraphNode_t Node,
                                              cudaKernelNodeParams *P) {
  return withWork<KernelWork>(Node, [&](KernelWork &W) -> cudaError_t {
    if (!P)
      return cudaErrorInvalidValue;
    const auto &[X, Y, Z] = W.Shape.Grid;
    const auto &[BX, BY, BZ] = W.Shape.Block;
    *P = {const_cast<void *>(W.Stub),      dim3(X, Y, Z), dim3(BX, BY, BZ),
          unsigned(W.Shape.DynamicShared), W.arguments(), nullptr};
    return cudaSuccess;
  });
}

cudaError_t api::cudaGraphKernelNodeSetParams(cudaGraphNode_t Node,
                                              const cudaKernelNodeParams *P) {
  return P ? set<KernelWork>(Node, *P) : invalid();
}

cudaError_t api::cudaGraphExecKernelNodeSetParams(
    cudaGraphExec_t Exec, cudaGraphNode_t Node, const cudaKernelNodeParams *P) {
  return P ? setExec<KernelWork>(Exec, Node, *P) : invalid();
}

/// What a launch may be asked for besides its shape; hints are let pass.
cudaError_t
api::cudaGraphKernelNodeSetAttribute(cudaGraphNode_t Node,
                                     cudaKernelNodeAttrID Id,
                                     const cudaKernelNodeAttrValue *Value) {
  return withWork<KernelWork>(Node, [&](KernelWork &W) -> cudaError_t {
    if (!Value)
      return cudaErrorInvalidValue;
    if (Id == cudaLaunchAttributeClusterDimension &&
        (Value->clusterDim.x > 1 || Value->clusterDim.y > 1 ||
         Value->clusterDim.z > 1))
      return unsupported("a cluster launch");
    if (Id == cudaLaunchAttributePriority)
      W.Priority = Value->priority;
    if (Id == cudaLaunchAttributeCooperative) {
      KernelWork Checked;
      const auto &[X, Y, Z] = W.Shape.Grid;
      const auto &[BX, BY, BZ] = W.Shape.Block;
      if (cudaError_t Failed = checkLaunch(
              W.Stub, dim3(X, Y, Z), dim3(BX, BY, BZ), W.Shape.DynamicShared,
              Value->cooperative != 0, Checked))
        return Failed;
      W.Shape.Cooperative = Value->cooperative != 0;
    }
    return cudaSuccess;
  });
}

cudaError_t
api::cudaGraphKernelNodeGetAttribute(cudaGraphNode_t Node,
                                     cudaKernelNodeAttrID Id,
                                     cudaKernelNodeAttrValue *Value) {
  return withWork<KernelWork>(Node, [&](KernelWork &W) -> cudaError_t {
    if (!Value)
      return cudaErrorInvalidValue;
    std::memset(Value, 0, sizeof(*Value));
    if (Id == cudaLaunchAttributePriority)
      Value->priority = W.Priority;
    if (Id == cudaLaunchAttributeCooperative)
      Value->cooperative = W.Shape.Cooperative;
    return cudaSuccess;
  });
}

cudaError_t api::cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t From,
                                                   cudaGraphNode_t To) {
  return withWork<KernelWork>(From, [&](KernelWork &F) {
    return withWork<KernelWork>(To, [&](KernelWork &T) {
      T.Priority = F.Priority;
      T.Shape.Cooperative = F.Shape.Cooperative;
      return cudaSuccess;
    });
  });
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

cudaError_t api::cudaGraphAddMemcpyNode(cudaGraphNode_t *Out, cudaGraph_t G,
                                        const cudaGraphNode_t *After,
                                        size_t Count,
                                        const cudaMemcpy3DParms *P) {
  return P ? addAs<CopyWork>(Out, G, After, Count, *P) : invalid();
}

cudaError_t api::cudaGraphMemcpyNodeGetParams(cudaGraphNode_t Node,
                                              cudaMemcpy3DParms *P) {
  return withWork<CopyWork>(Node, [&](CopyWork &W) -> cudaError_t {
    if (!P)
      return cudaErrorInvalidValue;
    *P = W.What;
    return cudaSuccess;
  });
}

cudaError_t api::cudaGraphMemcpyNodeSetParams(cudaGraphNode_t Node,
                                              const cudaMemcpy3DParms *P) {
  return P ? set<CopyWork>(Node, *P) : invalid();
}

cudaError_t api::cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t Exec,
                                                  cudaGraphNode_t Node,
                                                  const cudaMemcpy3DParms *P) {
  return P ? setExec<CopyWork>(Exec, Node, *P) : invalid();
}

cudaError_t api::cudaGraphAddMemcpyNode1D(cudaGraphNode_t *Out, cudaGraph_t G,
                                          const cudaGraphNode_t *After,
                                          size_t Count, void *To,
                                          const void *From, size_t Bytes,
                                          cudaMemcpyKind Kind) {
  return addAs<CopyWork>(Out, G, After, Count,
                         copyOfBytes(To, From, Bytes, Kind));
}

cudaError_t api::cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t Node, void *To,
                                                const void *From, size_t Bytes,
                                                cudaMemcpyKind Kind) {
  return set<CopyWork>(Node, copyOfBytes(To, From, Bytes, Kind));
}

cudaError_t api::cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t Exec,
                                                    cudaGraphNode_t Node,
                                                    void *To, const void *From,
                                                    size_t Bytes,
                                                    cudaMemcpyKind Kind) {
  return setExec<CopyWork>(Exec, Node, copyOfBytes(To, From, Bytes, Kind));
}

cudaError_t api::cudaGraphAddMemcpyNodeToSymbol(
    cudaGraphNode_t *Out, cudaGraph_t G, const cudaGraphNode_t *After,
    size_t Count, const void *Symbol, const void *From, size_t Bytes,
    size_t Offset, cudaMemcpyKind Kind) {
  cudaMemcpy3DParms P;
  if (cudaError_t Failed = copyToSymbol(Symbol, From, Bytes, Offset, Kind, P))
    return recorded(Failed);
  return addAs<CopyWork>(Out, G, After, Count, P);
}

cudaError_t api::cudaGraphMemcpyNodeSetParamsToSymbol(
    cudaGraphNode_t Node, const void *Symbol, const void *From, size_t Bytes,
    size_t Offset, cudaMemcpyKind Kind) {
  cudaMemcpy3DParms P;
  if (cudaError_t Failed = copyToSymbol(Symbol, From, Bytes, Offset, Kind, P))
    return recorded(Failed);
  return set<CopyWork>(Node, P);
}

cudaError_t api::cudaGraphExecMemcpyNodeSetParamsToSymbol(
    cudaGraphExec_t Exec, cudaGraphNode_t Node, const void *Symbol,
    const void *From, size_t Bytes, size_t Offset, cudaMemcpyKind Kind) {
  cudaMemcpy3DParms P;
  if (cudaError_t Failed = copyToSymbol(Symbol, From, Bytes, Offset, Kind, P))
    return recorded(Failed);
  return setExec<CopyWork>(Exec, Node, P);
}

cudaError_t api::cudaGraphAddMemcpyNodeFromSymbol(
    cudaGraphNode_t *Out, cudaGraph_t G, const cudaGraphNode_t *After,
    size_t Count, void *To, const void *Symbol, size_t Bytes, size_t Offset,
    cudaMemcpyKind Kind) {
  cudaMemcpy3DParms P;
  if (cudaError_t Failed = copyFromSymbol(To, Symbol, Bytes, Offset, Kind, P))
    return recorded(Failed);
  return addAs<CopyWork>(Out, G, After, Count, P);
}

cudaError_t api::cudaGraphMemcpyNodeSetParamsFromSymbol(
    cudaGraphNode_t Node, void *To, const void *Symbol, size_t Bytes,
    size_t Offset, cudaMemcpyKind Kind) {
  cudaMemcpy3DParms P;
  if (cudaError_t Failed = copyFromSymbol(To, Symbol, Bytes, Offset, Kind, P))
    return recorded(Failed);
  return set<CopyWork>(Node, P);
}

cudaError_t api::cudaGraphExecMemcpyNodeSetParamsFromSymbol(
    cudaGraphExec_t Exec, cudaGraphNode_t Node, void *To, const void *Symbol,
    size_t Bytes, size_t Offset, cudaMemcpyKind Kind) {
  cudaMemcpy3DParms P;
  if (cudaError_t Failed = copyFromSymbol(To, Symbol, Bytes, Offset, Kind, P))
    return recorded(Failed);
  return setExec<CopyWork>(Exec, Node, P);
}

//===----------------------------------------------------------------------===//
// Sets, host functions, events, graphs within, nothing
//===----------------------------------------------------------------------===//

cudaError_t api::cudaGraphAddMemsetNode(cudaGraphNode_t *Out, cudaGraph_t G,
                                        const cudaGraphNode_t *After,
                                        size_t Count,
                                        const cudaMemsetParams *P) {
  return P ? addAs<SetWork>(Out, G, After, Count, *P) : invalid();
}

cudaError_t api::cudaGraphMemsetNodeGetParams(cudaGraphNode_t Node,
                                              cudaMemsetParams *P) {
  return withWork<SetWork>(Node, [&](SetWork &W) -> cudaError_t {
    if (!P)
      return cudaErrorInvalidValue;
    *P = {W.At, W.Pitch, W.Value, W.ElementSize, W.Width, W.Height};
    return cudaSuccess;
  });
}

cudaError_t api::cudaGraphMemsetNodeSetParams(cudaGraphNode_t Node,
                                              const cudaMemsetParams *P) {
  return P ? set<SetWork>(Node, *P) : invalid();
}

cudaError_t api::cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t Exec,
                                                  cudaGraphNode_t Node,
                                                  const cudaMemsetParams *P) {
  return P ? setExec<SetWork>(Exec, Node, *P) : invalid();
}

cudaError_t api::cudaGraphAddHostNode(cudaGraphNode_t *Out, cudaGraph_t G,
                                      const cudaGraphNode_t *After,
                                      size_t Count,
                                      const cudaHostNodeParams *P) {
  return P ? addAs<HostWork>(Out, G, After, Count, *P) : invalid();
}

cudaError_t api::cudaGraphHostNodeGetParams(cudaGraphNode_t Node,
                                            cudaHostNodeParams *P) {
  return withWork<HostWork>(Node, [&](HostWork &W) -> cudaError_t {
    if (!P)
      return cudaErrorInvalidValue;
    *P = {W.Function, W.Data};
    return cudaSuccess;
  });
}

cudaError_t api::cudaGraphHostNodeSetParams(cudaGraphNode_t Node,
                                            const cudaHostNodeParams *P) {
  return P ? set<HostWork>(Node, *P) : invalid();
}

cudaError_t api::cudaGraphExecHostNodeSetParams(cudaGraphExec_t Exec,
                                                cudaGraphNode_t Node,
                                                const cudaHostNodeParams *P) {
  return P ? setExec<HostWork>(Exec, Node, *P) : invalid();
}

#define RECONVERGE_EVENT_NODE(Name, T)                                         \
  cudaError_t api::cudaGraphAdd##Name##Node(                                   \
      cudaGraphNode_t *Out, cudaGraph_t G, const cudaGraphNode_t *After,       \
      size_t Count, cudaEvent_t Event) {                                       \
    return addAs<T>(Out, G, After, Count, Event);                              \
  }                                                                            \
  cudaError_t api::cudaGraph##Name##NodeGetEvent(cudaGraphNode_t Node,         \
                                                 cudaEvent_t *Event) {         \
    return withWork<T>(Node, [&](T &W) -> cudaError_t {                        \
      if (!Event)                                                              \
        return cudaErrorInvalidValue;                                          \
      *Event = W.Event;                                                        \
      return cudaSuccess;                                                      \
    });                                                                        \
  }                                                                            \
  cudaError_t api::cudaGraph##Name##NodeSetEvent(cudaGraphNode_t Node,         \
                                                 cudaEvent_t Event) {          \
    return set<T>(Node, Event);                                                \
  }                                                                            \
  cudaError_t api::cudaGraphExec##Name##NodeSetEvent(                          \
      cudaGraphExec_t Exec, cudaGraphNode_t Node, cudaEvent_t Event) {         \
    return setExec<T>(Exec, Node, Event);                                      \
  }
RECONVERGE_EVENT_NODE(EventRecord, RecordWork)
RECONVERGE_EVENT_NODE(EventWait, WaitWork)
#undef RECONVERGE_EVENT_NODE

cudaError_t api::cudaGraphAddChildGraphNode(cudaGraphNode_t *Out, cudaGraph_t G,
                                            const cudaGraphNode_t *After,
                                            size_t Count, cudaGraph_t Child) {
  return addAs<ChildWork>(Out, G, After, Count, Child);
}

cudaError_t api::cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t Node,
                                                 cudaGraph_t *Out) {
  return withWork<ChildWork>(Node, [&](ChildWork &W) -> cudaError_t {
    if (!Out)
      return cudaErrorInvalidValue;
    *Out = handleOf(W.Inner.get());
    return cudaSuccess;
  });
}

cudaError_t api::cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t Exec,
                                                      cudaGraphNode_t Node,
                                                      cudaGraph_t Child) {
  return withExecWork<ChildWork>(Exec, Node, [&](ChildWork &W) -> cudaError_t {
    Graph *G = graphOf(Child);
    cudaGraphExecUpdateResultInfo Why;
    if (!G || !W.Inner->hasShapeOf(*G, Why))
      return cudaErrorInvalidValue;
    W.Inner->takeWork(*G);
    return cudaSuccess;
  });
}

cudaError_t api::cudaGraphAddEmptyNode(cudaGraphNode_t *Out, cudaGraph_t G,
                                       const cudaGraphNode_t *After,
                                       size_t Count) {
  return add(Out, G, After, Count, [](Work &) { return cudaSuccess; });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

cudaError_t api::cudaGraphAddMemAllocNode(cudaGraphNode_t *Out, cudaGraph_t G,
                                          const cudaGraphNode_t *After,
                                          size_t Count,
                                          cudaMemAllocNodeParams *P) {
  if (!P)
    return invalid();
  return add(Out, G, After, Count, [&](Work &What) {
    return readAlloc(*P, What.emplace<AllocWork>());
  });
}

cudaError_t api::cudaGraphMemAllocNodeGetParams(cudaGraphNode_t Node,
                                                cudaMemAllocNodeParams *P) {
  return withWork<AllocWork>(Node, [&](AllocWork &W) -> cudaError_t {
    if (!P)
      return cudaErrorInvalidValue;
    std::memset(P, 0, sizeof(*P));
    P->poolProps.allocType = cudaMemAllocationTypePinned;
    P->poolProps.location.type = cudaMemLocationTypeDevice;
    P->bytesize = W.Memory->Size;
    P->dptr = W.Memory->At;
    return cudaSuccess;
  });
}

cudaError_t api::cudaGraphAddMemFreeNode(cudaGraphNode_t *Out, cudaGraph_t G,
                                         const cudaGraphNode_t *After,
                                         size_t Count, void *At) {
  return addAs<FreeWork>(Out, G, After, Count, At);
}

cudaError_t api::cudaGraphMemFreeNodeGetParams(cudaGraphNode_t Node, void *At) {
  return withWork<FreeWork>(Node, [&](FreeWork &W) -> cudaError_t {
    if (!At)
      return cudaErrorInvalidValue;
    *static_cast<void **>(At) = W.At;
    return cudaSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Any kind
//===----------------------------------------------------------------------===//

#if CUDART_VERSION >= 13000
/// What nodes can be made to do otherwise; memory has its address for good.
static bool mayChange(const GraphNode *N, const cudaGraphNodeParams *P) {
  return N && P && N->type() == P->type &&
         P->type != cudaGraphNodeTypeMemAlloc &&
         P->type != cudaGraphNodeTypeMemFree;
}

/// \p What is of the kind of \p P or, for a new node, empty.
static cudaError_t readAny(cudaGraphNodeParams &P, Work &What) {
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
    RECONVERGE_READ(CopyWork, read(P.memcpy.copyParams, *W))
  case cudaGraphNodeTypeMemset:
    RECONVERGE_READ(SetWork, readSet(P.memset, *W))
  case cudaGraphNodeTypeHost:
    RECONVERGE_READ(HostWork, readHost(P.host, *W))
  case cudaGraphNodeTypeEventRecord:
    RECONVERGE_READ(RecordWork, read(P.eventRecord.event, *W))
  case cudaGraphNodeTypeWaitEvent:
    RECONVERGE_READ(WaitWork, read(P.eventWait.event, *W))
  case cudaGraphNodeTypeGraph:
    RECONVERGE_READ(ChildWork, read(P.graph.graph, *W))
  case cudaGraphNodeTypeMemAlloc:
    RECONVERGE_READ(AllocWork, readAlloc(P.alloc, *W))
  case cudaGraphNodeTypeMemFree:
    RECONVERGE_READ(FreeWork, read(P.free.dptr, *W))
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

cudaError_t api::cudaGraphAddNode(cudaGraphNode_t *Out, cudaGraph_t G,
                                  const cudaGraphNode_t *After,
                                  const cudaGraphEdgeData *Data, size_t Count,
                                  cudaGraphNodeParams *P) {
  if (!P)
    return invalid();
  if (!isPlain(Data, Count))
    return recorded(unsupported("a programmatic dependency of graph nodes"));
  return add(Out, G, After, Count,
             [&](Work &What) { return readAny(*P, What); });
}

cudaError_t api::cudaGraphNodeSetParams(cudaGraphNode_t Handle,
                                        cudaGraphNodeParams *P) {
  return deviceCall([&]() -> cudaError_t {
    Guard Lock(deviceLock());
    GraphNode *N = nodeOf(Handle);
    return mayChange(N, P) ? readAny(*P, N->What) : cudaErrorInvalidValue;
  });
}

cudaError_t api::cudaGraphExecNodeSetParams(cudaGraphExec_t Exec,
                                            cudaGraphNode_t Handle,
                                            cudaGraphNodeParams *P) {
  if (P && P->type == cudaGraphNodeTypeGraph)
    return api::cudaGraphExecChildGraphNodeSetParams(Exec, Handle,
                                                     P->graph.graph);
  return deviceCall([&]() -> cudaError_t {
    Guard Lock(deviceLock());
    std::shared_ptr<GraphExec> E = execOf(Exec);
    GraphNode *N = nodeOf(Handle);
    N = E && N ? E->Code->copyOf(*N) : nullptr;
    return mayChange(N, P) ? readAny(*P, N->What) : cudaErrorInvalidValue;
  });
}
#endif

} // namespace reconverge::runtime
