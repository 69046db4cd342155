//===- runtime/vm/GraphWork.h - What a graph's node is to do ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For CUDA's calls on nodes (GraphNodes.cpp, GraphCopies.cpp): what such a call
// asks for, and the three places where it may go, which are a new node, a node,
// and the clone of a node in an executable graph.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_RUNTIME_VM_GRAPHWORK_H
#define RECONVERGE_RUNTIME_VM_GRAPHWORK_H

#include "runtime/vm/Errors.h"
#include "runtime/vm/Graph.h"
#include "runtime/vm/Registry.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <mutex>

namespace reconverge::runtime {

// Each reads CUDA's parameters into \p Out or says why no node can do that.

/// What stays of the launch that \p Out was: its attributes.
cudaError_t readWork(const cudaKernelNodeParams &P, KernelWork &Out);
cudaError_t readWork(const cudaMemcpy3DParms &P, CopyWork &Out);
cudaError_t readWork(const cudaMemsetParams &P, SetWork &Out);
cudaError_t readWork(const cudaHostNodeParams &P, HostWork &Out);
cudaError_t readWork(cudaEvent_t Event, RecordWork &Out);
cudaError_t readWork(cudaEvent_t Event, WaitWork &Out);
cudaError_t readWork(cudaGraph_t Handle, ChildWork &Out);
/// \p P also gets the address.
cudaError_t readWork(cudaMemAllocNodeParams &P, AllocWork &Out);
cudaError_t readWork(void *At, FreeWork &Out);
#if CUDART_VERSION >= 13000
/// \p What is of the kind of \p P or, for a new node, empty.
cudaError_t readWork(cudaGraphNodeParams &P, Work &What);
#endif

/// Adds a node that does what \p Read says.
cudaError_t addNode(cudaGraphNode_t *Out, cudaGraph_t Handle,
                    const cudaGraphNode_t *After, size_t Count,
                    llvm::function_ref<cudaError_t(Work &)> Read);

/// Ends a call that lacks what it should read.
inline cudaError_t missingParameters() {
  return deviceCall([] { return cudaErrorInvalidValue; });
}

/// A node of kind \p T that does what \p P says.
template <typename T, typename Parameters>
cudaError_t addAs(cudaGraphNode_t *Out, cudaGraph_t Handle,
                  const cudaGraphNode_t *After, size_t Count,
                  const Parameters &P) {
  return addNode(Out, Handle, After, Count,
                 [&](Work &What) { return readWork(P, What.emplace<T>()); });
}

/// Gives \p B the work of a node of kind \p T.
template <typename T, typename Body>
cudaError_t withWork(cudaGraphNode_t Handle, Body &&B) {
  return deviceCall([&]() -> cudaError_t {
    std::lock_guard<std::recursive_mutex> Lock(deviceLock());
    GraphNode *N = nodeOf(Handle);
    T *What = N ? std::get_if<T>(&N->What) : nullptr;
    return What ? B(*What) : cudaErrorInvalidValue;
  });
}

/// The same for the node's clone in an executable graph.
template <typename T, typename Body>
cudaError_t withExecWork(cudaGraphExec_t Exec, cudaGraphNode_t Handle,
                         Body &&B) {
  return deviceCall([&]() -> cudaError_t {
    std::lock_guard<std::recursive_mutex> Lock(deviceLock());
    std::shared_ptr<GraphExec> E = execOf(Exec);
    GraphNode *N = nodeOf(Handle);
    N = E && N ? E->Code->copyOf(*N) : nullptr;
    T *What = N ? std::get_if<T>(&N->What) : nullptr;
    return What ? B(*What) : cudaErrorInvalidValue;
  });
}

template <typename T, typename Parameters>
cudaError_t setWork(cudaGraphNode_t Handle, const Parameters &P) {
  return withWork<T>(Handle, [&](T &What) { return readWork(P, What); });
}

template <typename T, typename Parameters>
cudaError_t setExecWork(cudaGraphExec_t Exec, cudaGraphNode_t Handle,
                        const Parameters &P) {
  return withExecWork<T>(Exec, Handle,
                         [&](T &What) { return readWork(P, What); });
}

} // namespace reconverge::runtime

#endif
