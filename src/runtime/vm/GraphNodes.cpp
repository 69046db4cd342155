//===- runtime/vm/GraphNodes.cpp - What graphs' nodes do ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA's calls that add a node of some kind, ask for what it does, and change
// it in a graph or in an executable one. For each kind:
//
//   parameters, as CUDA has them -> readWork(): checked -> work (Work.h)
//
// and the calls are that, with the place where the work goes (GraphWork.h).
// Those for copies are in GraphCopies.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Api.h"
#include "runtime/vm/GraphWork.h"

#include <cstring>

namespace reconverge::runtime {

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

cudaError_t api::cudaGraphAddKernelNode(cudaGraphNode_t *Out, cudaGraph_t G,
                                        const cudaGraphNode_t *After,
                                        size_t Count,
                                        const cudaKernelNodeParams *P) {
  return P ? addAs<KernelWork>(Out, G, After, Count, *P) : missingParameters();
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
  return P ? setWork<KernelWork>(Node, *P) : missingParameters();
}

cudaError_t api::cudaGraphExecKernelNodeSetParams(
    cudaGraphExec_t Exec, cudaGraphNode_t Node, const cudaKernelNodeParams *P) {
  return P ? setExecWork<KernelWork>(Exec, Node, *P) : missingParameters();
}

/// What a launch may be asked for besides its shape; hints are let pass.
cudaError_t
api::cudaGraphKernelNodeSetAttribute(cudaGraphNode_t Node,
                                     cudaKernelNodeAttrID Id,
                                     const cudaKernelNodeAttrValue *Value) {
  return withWork<KernelWork>(Node, [&](KernelWork &W) -> cudaError_t {
    if (!Value)
      return cudaErrorInvalidValue;
    const auto &Of = Value->clusterDim;
    if (Id == cudaLaunchAttributeClusterDimension)
      if (cudaError_t Failed = setCluster(W, {Of.x, Of.y, Of.z}))
        return Failed;
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
    if (Id == cudaLaunchAttributeClusterDimension)
      Value->clusterDim = {W.Shape.Cluster[0], W.Shape.Cluster[1],
                           W.Shape.Cluster[2]};
    return cudaSuccess;
  });
}

cudaError_t api::cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t From,
                                                   cudaGraphNode_t To) {
  return withWork<KernelWork>(From, [&](KernelWork &F) {
    return withWork<KernelWork>(To, [&](KernelWork &T) {
      T.Priority = F.Priority;
      T.Shape.Cooperative = F.Shape.Cooperative;
      T.Shape.Cluster = F.Shape.Cluster;
      return cudaSuccess;
    });
  });
}

//===----------------------------------------------------------------------===//
// Sets, host functions, events, graphs within, nothing
//===----------------------------------------------------------------------===//

cudaError_t api::cudaGraphAddMemsetNode(cudaGraphNode_t *Out, cudaGraph_t G,
                                        const cudaGraphNode_t *After,
                                        size_t Count,
                                        const cudaMemsetParams *P) {
  return P ? addAs<SetWork>(Out, G, After, Count, *P) : missingParameters();
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
  return P ? setWork<SetWork>(Node, *P) : missingParameters();
}

cudaError_t api::cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t Exec,
                                                  cudaGraphNode_t Node,
                                                  const cudaMemsetParams *P) {
  return P ? setExecWork<SetWork>(Exec, Node, *P) : missingParameters();
}

cudaError_t api::cudaGraphAddHostNode(cudaGraphNode_t *Out, cudaGraph_t G,
                                      const cudaGraphNode_t *After,
                                      size_t Count,
                                      const cudaHostNodeParams *P) {
  return P ? addAs<HostWork>(Out, G, After, Count, *P) : missingParameters();
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
  return P ? setWork<HostWork>(Node, *P) : missingParameters();
}

cudaError_t api::cudaGraphExecHostNodeSetParams(cudaGraphExec_t Exec,
                                                cudaGraphNode_t Node,
                                                const cudaHostNodeParams *P) {
  return P ? setExecWork<HostWork>(Exec, Node, *P) : missingParameters();
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
    return setWork<T>(Node, Event);                                            \
  }                                                                            \
  cudaError_t api::cudaGraphExec##Name##NodeSetEvent(                          \
      cudaGraphExec_t Exec, cudaGraphNode_t Node, cudaEvent_t Event) {         \
    return setExecWork<T>(Exec, Node, Event);                                  \
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
  return addNode(Out, G, After, Count, [](Work &) { return cudaSuccess; });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

cudaError_t api::cudaGraphAddMemAllocNode(cudaGraphNode_t *Out, cudaGraph_t G,
                                          const cudaGraphNode_t *After,
                                          size_t Count,
                                          cudaMemAllocNodeParams *P) {
  if (!P)
    return missingParameters();
  return addNode(Out, G, After, Count, [&](Work &What) {
    return readWork(*P, What.emplace<AllocWork>());
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

cudaError_t api::cudaGraphAddNode(cudaGraphNode_t *Out, cudaGraph_t G,
                                  const cudaGraphNode_t *After,
                                  const cudaGraphEdgeData *Data, size_t Count,
                                  cudaGraphNodeParams *P) {
  if (!P)
    return missingParameters();
  if (!isPlain(Data, Count))
    return recorded(unsupported("a programmatic dependency of graph nodes"));
  return addNode(Out, G, After, Count,
                 [&](Work &What) { return readWork(*P, What); });
}

cudaError_t api::cudaGraphNodeSetParams(cudaGraphNode_t Handle,
                                        cudaGraphNodeParams *P) {
  return deviceCall([&]() -> cudaError_t {
    std::lock_guard<std::recursive_mutex> Lock(deviceLock());
    GraphNode *N = nodeOf(Handle);
    return mayChange(N, P) ? readWork(*P, N->What) : cudaErrorInvalidValue;
  });
}

cudaError_t api::cudaGraphExecNodeSetParams(cudaGraphExec_t Exec,
                                            cudaGraphNode_t Handle,
                                            cudaGraphNodeParams *P) {
  if (P && P->type == cudaGraphNodeTypeGraph)
    return api::cudaGraphExecChildGraphNodeSetParams(Exec, Handle,
                                                     P->graph.graph);
  return deviceCall([&]() -> cudaError_t {
    std::lock_guard<std::recursive_mutex> Lock(deviceLock());
    std::shared_ptr<GraphExec> E = execOf(Exec);
    GraphNode *N = nodeOf(Handle);
    N = E && N ? E->Code->copyOf(*N) : nullptr;
    return mayChange(N, P) ? readWork(*P, N->What) : cudaErrorInvalidValue;
  });
}
#endif

} // namespace reconverge::runtime
