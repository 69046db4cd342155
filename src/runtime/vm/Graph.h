//===- runtime/vm/Graph.h - Work in an order of its own ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_GRAPH_H
#define RECONVERGE_RUNTIME_VM_GRAPH_H

#include "runtime/vm/Work.h"

#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <optional>
#include <vector>

namespace reconverge::runtime {

/// What cudaGraphNode_t points to.
struct GraphNode {
  GraphNode(Graph &Home, Work What);
  ~GraphNode();
  GraphNode(const GraphNode &) = delete;
  GraphNode &operator=(const GraphNode &) = delete;

  Graph &Home;
  Work What;
  std::vector<GraphNode *> After; ///< what it depends on
  const uint64_t Id;              ///< of no other node, ever
  uint64_t CopyOf = 0;            ///< the Id of what it was cloned from
  bool Enabled = true;            ///< false: its work is left out

  cudaGraphNodeType type() const;
};

/// What cudaGraph_t points to. All members are called under deviceLock().
class Graph {
public:
  Graph();
  ~Graph();
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  GraphNode &add(Work What, llvm::ArrayRef<GraphNode *> After);
  void erase(GraphNode &Node);

  /// In the order in which they were added.
  llvm::ArrayRef<std::unique_ptr<GraphNode>> nodes() const { return Nodes; }
  std::vector<GraphNode *> dependentsOf(const GraphNode &Node) const;

  /// Every node behind all that it depends on, otherwise as they were added.
  /// Nothing if some depend on themselves.
  std::optional<std::vector<GraphNode *>> inOrder() const;

  /// The same nodes and dependencies, those of graphs within it too.
  std::unique_ptr<Graph> clone() const;
  /// The node of this graph, or of one within it, that was cloned from
  /// \p Original; null if there is none.
  GraphNode *copyOf(const GraphNode &Original) const;

  /// Whether \p Other has the same kinds of nodes and the same dependencies;
  /// the first difference comes back in \p Why.
  bool hasShapeOf(const Graph &Other, cudaGraphExecUpdateResultInfo &Why) const;
  /// Does from now on what \p Other does, which has the same shape.
  void takeWork(const Graph &Other);

private:
  std::vector<std::unique_ptr<GraphNode>> Nodes;
};

/// What cudaGraphExec_t points to.
struct GraphExec {
  std::unique_ptr<Graph> Code; ///< its own clone; it has an order
  unsigned long long Flags = 0;
};

/// Carries out the nodes of \p G, which has an order, one after the other. Not
/// under deviceLock().
cudaError_t run(Graph &G);

// What follows is called under deviceLock().

/// What handles point to; null if it was never made, or destroyed.
Graph *graphOf(cudaGraph_t Handle);
GraphNode *nodeOf(cudaGraphNode_t Handle);
std::shared_ptr<GraphExec> execOf(cudaGraphExec_t Handle);
inline cudaGraph_t handleOf(const Graph *G) {
  return reinterpret_cast<cudaGraph_t>(const_cast<Graph *>(G));
}
inline cudaGraphNode_t handleOf(const GraphNode *N) {
  return reinterpret_cast<cudaGraphNode_t>(const_cast<GraphNode *>(N));
}

/// \p G is the program's own from now on, until destroyGraph.
Graph &adoptGraph(std::unique_ptr<Graph> G);
/// Null if \p G is no such graph but, say, within another.
std::unique_ptr<Graph> releaseGraph(Graph &G);

#if CUDART_VERSION >= 13000
/// Whether dependencies with \p Data, which may be null, wait for all of what
/// they depend on.
bool isPlain(const cudaGraphEdgeData *Data, size_t Count);
#endif

cudaGraphExec_t addExec(GraphExec New);
void eraseExec(const GraphExec &E);

} // namespace reconverge::runtime

#endif
