//===- runtime/vm/GraphCopies.cpp - Graphs' nodes that copy ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA has four ways to say what a node copies: rows and planes, bytes, and
// bytes to or from a device variable. Each becomes cudaMemcpy3D's parameters,
// which are what the node keeps (CopyWork) and gives back when asked.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Api.h"
#include "runtime/vm/GraphWork.h"

namespace reconverge::runtime {

//===----------------------------------------------------------------------===//
// Rows and planes
//===----------------------------------------------------------------------===//

cudaError_t api::cudaGraphAddMemcpyNode(cudaGraphNode_t *Out, cudaGraph_t G,
                                        const cudaGraphNode_t *After,
                                        size_t Count,
                                        const cudaMemcpy3DParms *P) {
  return P ? addAs<CopyWork>(Out, G, After, Count, *P) : missingParameters();
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
  return P ? setWork<CopyWork>(Node, *P) : missingParameters();
}

cudaError_t api::cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t Exec,
                                                  cudaGraphNode_t Node,
                                                  const cudaMemcpy3DParms *P) {
  return P ? setExecWork<CopyWork>(Exec, Node, *P) : missingParameters();
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

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
  return setWork<CopyWork>(Node, copyOfBytes(To, From, Bytes, Kind));
}

cudaError_t api::cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t Exec,
                                                    cudaGraphNode_t Node,
                                                    void *To, const void *From,
                                                    size_t Bytes,
                                                    cudaMemcpyKind Kind) {
  return setExecWork<CopyWork>(Exec, Node, copyOfBytes(To, From, Bytes, Kind));
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

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
  return setWork<CopyWork>(Node, P);
}

cudaError_t api::cudaGraphExecMemcpyNodeSetParamsToSymbol(
    cudaGraphExec_t Exec, cudaGraphNode_t Node, const void *Symbol,
    const void *From, size_t Bytes, size_t Offset, cudaMemcpyKind Kind) {
  cudaMemcpy3DParms P;
  if (cudaError_t Failed = copyToSymbol(Symbol, From, Bytes, Offset, Kind, P))
    return recorded(Failed);
  return setExecWork<CopyWork>(Exec, Node, P);
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
  return setWork<CopyWork>(Node, P);
}

cudaError_t api::cudaGraphExecMemcpyNodeSetParamsFromSymbol(
    cudaGraphExec_t Exec, cudaGraphNode_t Node, void *To, const void *Symbol,
    size_t Bytes, size_t Offset, cudaMemcpyKind Kind) {
  cudaMemcpy3DParms P;
  if (cudaError_t Failed = copyFromSymbol(To, Symbol, Bytes, Offset, Kind, P))
    return recorded(Failed);
  return setExecWork<CopyWork>(Exec, Node, P);
}

} // namespace reconverge::runtime
