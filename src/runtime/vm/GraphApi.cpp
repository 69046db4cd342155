//===- runtime/vm/GraphApi.cpp - Graphs, by CUDA's calls ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Making, copying, asking, ordering and launching graphs (Graph.cpp). What
// their nodes do is set in GraphNodes.cpp.
//
// All dependencies are plain ones: a node begins when those before it are over.
// Programmatic ones, which let a kernel begin earlier, are refused by name.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Api.h"
#include "runtime/vm/Capture.h"
#include "runtime/vm/Graph.h"
#include "runtime/vm/Registry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::runtime {

using Guard = std::lock_guard<std::recursive_mutex>;

/// Finds what \p Handle stands for, then does \p B with it.
template <typename Body>
static cudaError_t withGraph(cudaGraph_t Handle, Body &&B) {
  return deviceCall([&]() -> cudaError_t {
    Guard Lock(deviceLock());
    Graph *G = graphOf(Handle);
    return G ? B(*G) : cudaErrorInvalidValue;
  });
}

template <typename Body>
static cudaError_t withNode(cudaGraphNode_t Handle, Body &&B) {
  return deviceCall([&]() -> cudaError_t {
    Guard Lock(deviceLock());
    GraphNode *N = nodeOf(Handle);
    return N ? B(*N) : cudaErrorInvalidValue;
  });
}

template <typename Body>
static cudaError_t withExec(cudaGraphExec_t Handle, Body &&B) {
  return deviceCall([&]() -> cudaError_t {
    Guard Lock(deviceLock());
    std::shared_ptr<GraphExec> E = execOf(Handle);
    return E ? B(*E) : cudaErrorInvalidValue;
  });
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

cudaError_t api::cudaGraphCreate(cudaGraph_t *Out, unsigned Flags) {
  return deviceCall([&]() -> cudaError_t {
    Guard Lock(deviceLock());
    if (!Out || Flags)
      return cudaErrorInvalidValue;
    *Out = handleOf(&adoptGraph(std::make_unique<Graph>()));
    return cudaSuccess;
  });
}

cudaError_t api::cudaGraphDestroy(cudaGraph_t Handle) {
  return withGraph(Handle, [](Graph &G) {
    return releaseGraph(G) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t api::cudaGraphClone(cudaGraph_t *Out, cudaGraph_t Handle) {
  return withGraph(Handle, [&](Graph &G) -> cudaError_t {
    if (!Out)
      return cudaErrorInvalidValue;
    *Out = handleOf(&adoptGraph(G.clone()));
    return cudaSuccess;
  });
}

cudaError_t api::cudaGraphNodeFindInClone(cudaGraphNode_t *Out,
                                          cudaGraphNode_t Original,
                                          cudaGraph_t Clone) {
  return withNode(Original, [&](GraphNode &N) -> cudaError_t {
    Graph *G = graphOf(Clone);
    GraphNode *Found = G && Out ? G->copyOf(N) : nullptr;
    if (!Found)
      return cudaErrorInvalidValue;
    *Out = handleOf(Found);
    return cudaSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Nodes and dependencies
//===----------------------------------------------------------------------===//

/// As CUDA gives lists: their number where \p Out is null; otherwise as many as
/// there is room for, the rest of the room null, and the number given.
static cudaError_t list(ArrayRef<GraphNode *> Found, cudaGraphNode_t *Out,
                        size_t *Count) {
  if (!Count)
    return cudaErrorInvalidValue;
  if (Out)
    for (size_t I = 0; I < *Count; ++I)
      Out[I] = I < Found.size() ? handleOf(Found[I]) : nullptr;
  *Count = Out ? std::min(*Count, Found.size()) : Found.size();
  return cudaSuccess;
}

cudaError_t api::cudaGraphGetNodes(cudaGraph_t Handle, cudaGraphNode_t *Out,
                                   size_t *Count) {
  return withGraph(Handle, [&](Graph &G) {
    std::vector<GraphNode *> All;
    for (auto &N : G.nodes())
      All.push_back(N.get());
    return list(All, Out, Count);
  });
}

cudaError_t api::cudaGraphGetRootNodes(cudaGraph_t Handle, cudaGraphNode_t *Out,
                                       size_t *Count) {
  return withGraph(Handle, [&](Graph &G) {
    std::vector<GraphNode *> Roots;
    for (auto &N : G.nodes())
      if (N->After.empty())
        Roots.push_back(N.get());
    return list(Roots, Out, Count);
  });
}

cudaError_t api::cudaGraphNodeGetType(cudaGraphNode_t Handle,
                                      cudaGraphNodeType *Type) {
  return withNode(Handle, [&](GraphNode &N) -> cudaError_t {
    if (!Type)
      return cudaErrorInvalidValue;
    *Type = N.type();
    return cudaSuccess;
  });
}

cudaError_t api::cudaGraphDestroyNode(cudaGraphNode_t Handle) {
  return withNode(Handle, [](GraphNode &N) {
    N.Home.erase(N);
    return cudaSuccess;
  });
}

#if CUDART_VERSION >= 13000
bool isPlain(const cudaGraphEdgeData *Data, size_t Count) {
  constexpr cudaGraphEdgeData Plain = {};
  return !Data || all_of(ArrayRef(Data, Count), [&](const auto &D) {
    return std::memcmp(&D, &Plain, sizeof(D)) == 0;
  });
}

static void clear(cudaGraphEdgeData *Data, size_t Count) {
  if (Data)
    std::fill_n(Data, Count, cudaGraphEdgeData{});
}

cudaError_t api::cudaGraphGetEdges(cudaGraph_t Handle, cudaGraphNode_t *From,
                                   cudaGraphNode_t *To, cudaGraphEdgeData *Data,
                                   size_t *Count) {
  return withGraph(Handle, [&](Graph &G) -> cudaError_t {
    if (!Count || !From != !To)
      return cudaErrorInvalidValue;
    std::vector<GraphNode *> Begins, Ends;
    for (auto &N : G.nodes())
      for (GraphNode *Before : N->After) {
        Begins.push_back(Before);
        Ends.push_back(N.get());
      }
    size_t Same = *Count;
    clear(Data, From ? *Count : 0);
    list(Begins, From, &Same);
    return list(Ends, To, Count);
  });
}

cudaError_t api::cudaGraphNodeGetDependencies(cudaGraphNode_t Handle,
                                              cudaGraphNode_t *Out,
                                              cudaGraphEdgeData *Data,
                                              size_t *Count) {
  return withNode(Handle, [&](GraphNode &N) {
    clear(Data, Out && Count ? *Count : 0);
    return list(N.After, Out, Count);
  });
}

cudaError_t api::cudaGraphNodeGetDependentNodes(cudaGraphNode_t Handle,
                                                cudaGraphNode_t *Out,
                                                cudaGraphEdgeData *Data,
                                                size_t *Count) {
  return withNode(Handle, [&](GraphNode &N) {
    clear(Data, Out && Count ? *Count : 0);
    return list(N.Home.dependentsOf(N), Out, Count);
  });
}

/// Does \p Change with each pair of nodes of \p Handle, once all are good.
template <typename Check, typename Change>
static cudaError_t changeEdges(cudaGraph_t Handle, const cudaGraphNode_t *From,
                               const cudaGraphNode_t *To,
                               const cudaGraphEdgeData *Data, size_t Count,
                               Check &&IsGood, Change &&Do) {
  return withGraph(Handle, [&](Graph &G) -> cudaError_t {
    if (Count && (!From || !To))
      return cudaErrorInvalidValue;
    if (!isPlain(Data, Count))
      return unsupported("a programmatic dependency of graph nodes");
    for (bool Checked : {false, true})
      for (size_t I = 0; I < Count; ++I) {
        GraphNode *Before = nodeOf(From[I]), *N = nodeOf(To[I]);
        if (Checked)
          Do(Before, N);
        else if (!Before || !N || Before == N || &Before->Home != &G ||
                 &N->Home != &G || !IsGood(Before, N))
          return cudaErrorInvalidValue;
      }
    return cudaSuccess;
  });
}

cudaError_t api::cudaGraphAddDependencies(cudaGraph_t Handle,
                                          const cudaGraphNode_t *From,
                                          const cudaGraphNode_t *To,
                                          const cudaGraphEdgeData *Data,
                                          size_t Count) {
  return changeEdges(
      Handle, From, To, Data, Count,
      [](GraphNode *Before, GraphNode *N) {
        return !is_contained(N->After, Before);
      },
      [](GraphNode *Before, GraphNode *N) { N->After.push_back(Before); });
}

cudaError_t api::cudaGraphRemoveDependencies(cudaGraph_t Handle,
                                             const cudaGraphNode_t *From,
                                             const cudaGraphNode_t *To,
                                             const cudaGraphEdgeData *Data,
                                             size_t Count) {
  return changeEdges(
      Handle, From, To, Data, Count,
      [](GraphNode *Before, GraphNode *N) {
        return is_contained(N->After, Before);
      },
      [](GraphNode *Before, GraphNode *N) { llvm::erase(N->After, Before); });
}
#endif

//===----------------------------------------------------------------------===//
// Pictures
//===----------------------------------------------------------------------===//

static std::string labelOf(const GraphNode &N) {
  struct {
    using T = std::string;
    T operator()(const EmptyWork &) { return "empty"; }
    T operator()(const KernelWork &W) {
      const auto &[X, Y, Z] = W.Shape.Grid;
      const auto &[BX, BY, BZ] = W.Shape.Block;
      return (demangle(W.Function->Name) + "\\n<<<(" + Twine(X) + "," +
              Twine(Y) + "," + Twine(Z) + "), (" + Twine(BX) + "," + Twine(BY) +
              "," + Twine(BZ) + "), " + Twine(W.Shape.DynamicShared) + ">>>")
          .str();
    }
    T operator()(const CopyWork &W) {
      const cudaExtent &E = W.What.extent;
      return ("memcpy\\n" + Twine(E.width) + " x " + Twine(E.height) + " x " +
              Twine(E.depth))
          .str();
    }
    T operator()(const SetWork &W) {
      return ("memset\\n" + Twine(W.Width) + " x " + Twine(W.Height) + " of " +
              Twine(W.ElementSize) + " bytes to " + Twine(W.Value))
          .str();
    }
    T operator()(const HostWork &) { return "host function"; }
    T operator()(const RecordWork &) { return "event record"; }
    T operator()(const WaitWork &) { return "event wait"; }
    T operator()(const AllocWork &W) {
      return ("allocation\\n" + Twine(W.Memory->Size) + " bytes").str();
    }
    T operator()(const FreeWork &) { return "free"; }
    T operator()(const ChildWork &) { return "graph"; }
  } Label;
  return std::visit(Label, N.What);
}

/// Nodes have names that are the same for each run: where they stand.
static void print(raw_ostream &OS, const Graph &G, const std::string &Prefix) {
  DenseMap<const GraphNode *, std::string> Names;
  for (auto [I, N] : enumerate(G.nodes()))
    Names[N.get()] = Prefix + "n" + std::to_string(I);
  for (auto &N : G.nodes()) {
    const std::string &Name = Names[N.get()];
    OS << "  " << Name << " [label=\"" << labelOf(*N) << "\"];\n";
    for (GraphNode *Before : N->After)
      OS << "  " << Names[Before] << " -> " << Name << ";\n";
    if (auto *Child = std::get_if<ChildWork>(&N->What)) {
      OS << "  subgraph cluster_" << Name << " {\n  label=\"" << Name
         << "\";\n";
      print(OS, *Child->Inner, Name + "_");
      OS << "  }\n";
    }
  }
}

cudaError_t api::cudaGraphDebugDotPrint(cudaGraph_t Handle, const char *Path,
                                        unsigned) {
  return withGraph(Handle, [&](Graph &G) -> cudaError_t {
    if (!Path)
      return cudaErrorInvalidValue;
    std::error_code Failed;
    raw_fd_ostream OS(Path, Failed);
    if (Failed)
      return cudaErrorOperatingSystem;
    OS << "digraph graph_1 {\n  node [shape=box];\n";
    print(OS, G, "");
    OS << "}\n";
    OS.close();
    if (!OS.has_error())
      return cudaSuccess;
    OS.clear_error();
    return cudaErrorOperatingSystem;
  });
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// Whether \p G, and each graph within it, has an order.
static bool hasOrder(const Graph &G) {
  return G.inOrder() && all_of(G.nodes(), [](const auto &N) {
           auto *Child = std::get_if<ChildWork>(&N->What);
           return !Child || hasOrder(*Child->Inner);
         });
}

static cudaError_t instantiate(cudaGraphExec_t *Out, cudaGraph_t Handle,
                               unsigned long long Flags) {
  return withGraph(Handle, [&](Graph &G) -> cudaError_t {
    constexpr unsigned long long Known =
        cudaGraphInstantiateFlagAutoFreeOnLaunch |
        cudaGraphInstantiateFlagUpload | cudaGraphInstantiateFlagDeviceLaunch |
        cudaGraphInstantiateFlagUseNodePriority;
    if (!Out || (Flags & ~Known) || !hasOrder(G))
      return cudaErrorInvalidValue;
    if (Flags & cudaGraphInstantiateFlagDeviceLaunch)
      return unsupported("a graph that kernels launch");
    *Out = addExec({G.clone(), Flags});
    return cudaSuccess;
  });
}

cudaError_t api::cudaGraphInstantiate(cudaGraphExec_t *Out, cudaGraph_t Handle,
                                      unsigned long long Flags) {
  return instantiate(Out, Handle, Flags);
}

cudaError_t api::cudaGraphInstantiateWithFlags(cudaGraphExec_t *Out,
                                               cudaGraph_t Handle,
                                               unsigned long long Flags) {
  return instantiate(Out, Handle, Flags);
}

cudaError_t
api::cudaGraphInstantiateWithParams(cudaGraphExec_t *Out, cudaGraph_t Handle,
                                    cudaGraphInstantiateParams *Parameters) {
  if (!Parameters)
    return deviceCall([] { return cudaErrorInvalidValue; });
  Parameters->errNode_out = nullptr;
  const cudaError_t Result = instantiate(Out, Handle, Parameters->flags);
  Parameters->result_out =
      Result ? cudaGraphInstantiateError : cudaGraphInstantiateSuccess;
  return Result;
}

cudaError_t api::cudaGraphExecGetFlags(cudaGraphExec_t Handle,
                                       unsigned long long *Flags) {
  return withExec(Handle, [&](GraphExec &E) -> cudaError_t {
    if (!Flags)
      return cudaErrorInvalidValue;
    *Flags = E.Flags;
    return cudaSuccess;
  });
}

cudaError_t api::cudaGraphExecDestroy(cudaGraphExec_t Handle) {
  return withExec(Handle, [](GraphExec &E) {
    eraseExec(E);
    return cudaSuccess;
  });
}

cudaError_t api::cudaGraphExecUpdate(cudaGraphExec_t Handle, cudaGraph_t From,
                                     cudaGraphExecUpdateResultInfo *Why) {
  return withExec(Handle, [&](GraphExec &E) -> cudaError_t {
    Graph *G = graphOf(From);
    if (!G || !Why)
      return cudaErrorInvalidValue;
    *Why = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
    if (!E.Code->hasShapeOf(*G, *Why))
      return cudaErrorGraphExecUpdateFailure;
    E.Code->takeWork(*G);
    return cudaSuccess;
  });
}

/// A node of an executable graph by the one that it was made from.
static cudaError_t withEnabled(cudaGraphExec_t Handle, cudaGraphNode_t Original,
                               function_ref<cudaError_t(bool &)> Do) {
  return withExec(Handle, [&](GraphExec &E) -> cudaError_t {
    GraphNode *N = nodeOf(Original);
    N = N ? E.Code->copyOf(*N) : nullptr;
    if (!N || !(std::holds_alternative<KernelWork>(N->What) ||
                std::holds_alternative<CopyWork>(N->What) ||
                std::holds_alternative<SetWork>(N->What)))
      return cudaErrorInvalidValue;
    return Do(N->Enabled);
  });
}

cudaError_t api::cudaGraphNodeSetEnabled(cudaGraphExec_t Handle,
                                         cudaGraphNode_t Node,
                                         unsigned Enabled) {
  return withEnabled(Handle, Node, [&](bool &Is) {
    Is = Enabled != 0;
    return cudaSuccess;
  });
}

cudaError_t api::cudaGraphNodeGetEnabled(cudaGraphExec_t Handle,
                                         cudaGraphNode_t Node,
                                         unsigned *Enabled) {
  return withEnabled(Handle, Node, [&](bool &Is) -> cudaError_t {
    if (!Enabled)
      return cudaErrorInvalidValue;
    *Enabled = Is;
    return cudaSuccess;
  });
}

/// Frees what the last launch of \p G allocated and nobody freed.
static void freeLeftOvers(Graph &G) {
  for (auto &N : G.nodes())
    if (auto *A = std::get_if<AllocWork>(&N->What))
      if (isGraphMemory(A->Memory->At)) {
        FreeWork Free{A->Memory->At};
        freeGraphMemory(Free);
      }
}

/// A launch into a stream that is being captured becomes a graph within.
cudaError_t api::cudaGraphLaunch(cudaGraphExec_t Handle, cudaStream_t Stream) {
  return deviceCall([&]() -> cudaError_t {
    std::shared_ptr<GraphExec> E;
    {
      Guard Lock(deviceLock());
      E = execOf(Handle);
    }
    if (!E)
      return cudaErrorInvalidValue;
    return enqueue(
        Stream,
        [&] {
          if (E->Flags & cudaGraphInstantiateFlagAutoFreeOnLaunch)
            freeLeftOvers(*E->Code);
          return run(*E->Code);
        },
        [&] { return ChildWork{E->Code->clone()}; });
  });
}

cudaError_t api::cudaGraphUpload(cudaGraphExec_t Handle, cudaStream_t Stream) {
  return withExec(Handle, [&](GraphExec &) {
    return isStream(Stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

} // namespace reconverge::runtime
