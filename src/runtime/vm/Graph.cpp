//===- runtime/vm/Graph.cpp - Work in an order of its own -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph keeps its nodes in the order in which they were added. It is run in
// the one order that follows dependencies and is otherwise that of adding: a
// stream's capture runs as the stream would have run, and every run is the
// same. An executable graph is a clone, so that changes to either leave the
// other as it is; a node's clone is known by the number that the node, and
// nothing else in the process, has.
//
// Work is done when it is enqueued (Streams.cpp), so a launch does one node
// after the other. A kernel's launch is one like any other: counted, tried and
// shuffled (Engine.cpp).
//
// Handles are looked up among the objects that there are; one that was
// destroyed is an error and no crash.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Graph.h"

#include "runtime/vm/Registry.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <map>
#include <queue>
#include <set>

using namespace llvm;

namespace reconverge::runtime {

namespace {
struct Handles {
  std::set<const Graph *> Graphs;
  std::set<const GraphNode *> Nodes;
  std::vector<std::unique_ptr<Graph>> Owned; ///< by the program
  uint64_t LastId = 0;
};
} // namespace

static Handles &handles() {
  static Handles &H = *new Handles;
  return H;
}

Graph *graphOf(cudaGraph_t Handle) {
  auto *G = reinterpret_cast<Graph *>(Handle);
  return handles().Graphs.count(G) ? G : nullptr;
}

GraphNode *nodeOf(cudaGraphNode_t Handle) {
  auto *N = reinterpret_cast<GraphNode *>(Handle);
  return handles().Nodes.count(N) ? N : nullptr;
}

Graph &adoptGraph(std::unique_ptr<Graph> G) {
  handles().Owned.push_back(std::move(G));
  return *handles().Owned.back();
}

std::unique_ptr<Graph> releaseGraph(Graph &G) {
  auto &Owned = handles().Owned;
  auto Found = find_if(Owned, [&](auto &Known) { return Known.get() == &G; });
  if (Found == Owned.end())
    return nullptr;
  std::unique_ptr<Graph> Taken = std::move(*Found);
  Owned.erase(Found);
  return Taken;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

GraphNode::GraphNode(Graph &Home, Work What)
    : Home(Home), What(std::move(What)), Id(++handles().LastId) {
  handles().Nodes.insert(this);
}

GraphNode::~GraphNode() { handles().Nodes.erase(this); }

cudaGraphNodeType GraphNode::type() const {
  struct {
    using T = cudaGraphNodeType;
    T operator()(const EmptyWork &) { return cudaGraphNodeTypeEmpty; }
    T operator()(const KernelWork &) { return cudaGraphNodeTypeKernel; }
    T operator()(const CopyWork &) { return cudaGraphNodeTypeMemcpy; }
    T operator()(const SetWork &) { return cudaGraphNodeTypeMemset; }
    T operator()(const HostWork &) { return cudaGraphNodeTypeHost; }
    T operator()(const RecordWork &) { return cudaGraphNodeTypeEventRecord; }
    T operator()(const WaitWork &) { return cudaGraphNodeTypeWaitEvent; }
    T operator()(const AllocWork &) { return cudaGraphNodeTypeMemAlloc; }
    T operator()(const FreeWork &) { return cudaGraphNodeTypeMemFree; }
    T operator()(const ChildWork &) { return cudaGraphNodeTypeGraph; }
  } TypeOf;
  return std::visit(TypeOf, What);
}

Graph::Graph() { handles().Graphs.insert(this); }

Graph::~Graph() { handles().Graphs.erase(this); }

GraphNode &Graph::add(Work What, ArrayRef<GraphNode *> After) {
  Nodes.push_back(std::make_unique<GraphNode>(*this, std::move(What)));
  Nodes.back()->After = After;
  return *Nodes.back();
}

void Graph::erase(GraphNode &Node) {
  for (auto &N : Nodes)
    llvm::erase(N->After, &Node);
  erase_if(Nodes, [&](auto &N) { return N.get() == &Node; });
}

std::vector<GraphNode *> Graph::dependentsOf(const GraphNode &Node) const {
  std::vector<GraphNode *> Found;
  for (auto &N : Nodes)
    if (is_contained(N->After, &Node))
      Found.push_back(N.get());
  return Found;
}

/// The position of each node.
static DenseMap<const GraphNode *, size_t> positions(const Graph &G) {
  DenseMap<const GraphNode *, size_t> At;
  for (auto [I, N] : enumerate(G.nodes()))
    At[N.get()] = I;
  return At;
}

std::optional<std::vector<GraphNode *>> Graph::inOrder() const {
  const auto At = positions(*this);
  std::vector<size_t> Left(Nodes.size());
  std::vector<std::vector<size_t>> Behind(Nodes.size());
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> Ready;
  for (auto [I, N] : enumerate(Nodes)) {
    Left[I] = N->After.size();
    for (GraphNode *Before : N->After)
      Behind[At.lookup(Before)].push_back(I);
    if (!Left[I])
      Ready.push(I);
  }
  std::vector<GraphNode *> Order;
  while (!Ready.empty()) {
    const size_t I = Ready.top();
    Ready.pop();
    Order.push_back(Nodes[I].get());
    for (size_t Next : Behind[I])
      if (!--Left[Next])
        Ready.push(Next);
  }
  if (Order.size() != Nodes.size())
    return std::nullopt;
  return Order;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The same work; a graph within is cloned, not shared.
static Work copied(const Work &What) {
  if (auto *Child = std::get_if<ChildWork>(&What))
    return ChildWork{Child->Inner->clone()};
  return What;
}

std::unique_ptr<Graph> Graph::clone() const {
  auto New = std::make_unique<Graph>();
  DenseMap<const GraphNode *, GraphNode *> Copy;
  for (auto &N : Nodes) {
    GraphNode &C = New->add(copied(N->What), {});
    C.CopyOf = N->Id;
    C.Enabled = N->Enabled;
    Copy[N.get()] = &C;
  }
  for (auto &N : Nodes)
    for (GraphNode *Before : N->After)
      Copy[N.get()]->After.push_back(Copy[Before]);
  return New;
}

GraphNode *Graph::copyOf(const GraphNode &Original) const {
  for (auto &N : Nodes) {
    if (N->CopyOf == Original.Id)
      return N.get();
    if (auto *Child = std::get_if<ChildWork>(&N->What))
      if (GraphNode *Found = Child->Inner->copyOf(Original))
        return Found;
  }
  return nullptr;
}

bool Graph::hasShapeOf(const Graph &Other,
                       cudaGraphExecUpdateResultInfo &Why) const {
  auto Differs = [&](cudaGraphExecUpdateResult What, const GraphNode *Node,
                     const GraphNode *Before = nullptr) {
    Why = {What, handleOf(Node), handleOf(Before)};
    return false;
  };
  if (Nodes.size() != Other.Nodes.size())
    return Differs(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
  const auto Mine = positions(*this), Theirs = positions(Other);
  for (auto [N, O] : zip(Nodes, Other.Nodes)) {
    if (N->After.size() != O->After.size())
      return Differs(cudaGraphExecUpdateErrorTopologyChanged, O.get());
    for (auto [Before, There] : zip(N->After, O->After))
      if (Mine.lookup(Before) != Theirs.lookup(There))
        return Differs(cudaGraphExecUpdateErrorTopologyChanged, O.get(), There);
    if (N->What.index() != O->What.index())
      return Differs(cudaGraphExecUpdateErrorNodeTypeChanged, O.get());
    if (std::holds_alternative<AllocWork>(O->What) ||
        std::holds_alternative<FreeWork>(O->What))
      return Differs(cudaGraphExecUpdateErrorNotSupported, O.get());
    if (auto *Child = std::get_if<ChildWork>(&N->What))
      if (!Child->Inner->hasShapeOf(*std::get<ChildWork>(O->What).Inner, Why))
        return false;
  }
  return true;
}

void Graph::takeWork(const Graph &Other) {
  for (auto [N, O] : zip(Nodes, Other.Nodes))
    if (auto *Child = std::get_if<ChildWork>(&N->What))
      Child->Inner->takeWork(*std::get<ChildWork>(O->What).Inner);
    else
      N->What = O->What;
}

//===----------------------------------------------------------------------===//
// Carrying out
//===----------------------------------------------------------------------===//

static std::map<const GraphExec *, std::shared_ptr<GraphExec>> &execs() {
  static auto &Live =
      *new std::map<const GraphExec *, std::shared_ptr<GraphExec>>;
  return Live;
}

cudaGraphExec_t addExec(GraphExec New) {
  auto E = std::make_shared<GraphExec>(std::move(New));
  execs()[E.get()] = E;
  return reinterpret_cast<cudaGraphExec_t>(E.get());
}

std::shared_ptr<GraphExec> execOf(cudaGraphExec_t Handle) {
  auto Found = execs().find(reinterpret_cast<GraphExec *>(Handle));
  return Found == execs().end() ? nullptr : Found->second;
}

void eraseExec(const GraphExec &E) { execs().erase(&E); }

cudaError_t run(Graph &G) {
  std::vector<GraphNode *> Order;
  {
    std::lock_guard<std::recursive_mutex> Lock(deviceLock());
    Order = *G.inOrder();
  }
  // The lock is not held from here on: a host function may wait for a thread
  // that needs it.
  for (GraphNode *N : Order)
    if (N->Enabled)
      if (cudaError_t Failed = carryOut(N->What))
        return Failed;
  return cudaSuccess;
}

cudaError_t carryOut(Work &What) {
  struct {
    using E = cudaError_t;
    E operator()(EmptyWork &) { return cudaSuccess; }
    E operator()(KernelWork &W) { return runKernel(W); }
    E operator()(CopyWork &W) { return runCopy(W.What); }
    E operator()(SetWork &W) { return runSet(W); }
    E operator()(HostWork &W) {
      W.Function(W.Data);
      return cudaSuccess;
    }
    E operator()(RecordWork &W) { return recordEvent(W.Event); }
    E operator()(WaitWork &) { return cudaSuccess; } // it is over by now
    E operator()(AllocWork &W) { return allocateGraphMemory(W); }
    E operator()(FreeWork &W) { return freeGraphMemory(W); }
    E operator()(ChildWork &W) { return run(*W.Inner); }
  } Do;
  return std::visit(Do, What);
}

} // namespace reconverge::runtime
