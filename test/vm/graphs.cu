// REQUIRES: reconverge
// RUN: %reconverge cc -O1 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t %t.dot | FileCheck %s
// RUN: FileCheck %s --check-prefix=DOT < %t.dot
// RUN: env RECONVERGE_VM=compile=fast %reconverge profile --no-cache \
// RUN:   --device cpu -o - %t 2>/dev/null | FileCheck %s --check-prefix=PROFILE

// Graphs: captured from streams and made node by node, launched, changed,
// copied; what a capture forbids, by CUDA's codes.

#include "Inputs/check.h"
#include <cooperative_groups.h>
#include <cstring>
#include <thread>
#include <vector>

namespace cg = cooperative_groups;

struct Odd {
  char A;
  short B;
  double C;
};

__device__ int Variable[4];

__global__ void scale(int *P, int N, char By, Odd O) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    P[I] = P[I] * By + O.A + O.B + int(O.C);
}

__global__ void add(int *Out, const int *A, const int *B) {
  Out[threadIdx.x] = A[threadIdx.x] + B[threadIdx.x];
}

__global__ void push(int *List, int X) {
  List[++List[0]] = X;
}

__global__ void waits(int *Slots) {
  Slots[blockIdx.x] = int(blockIdx.x) + 1;
  cg::this_grid().sync();
  if (blockIdx.x == 0) {
    int Sum = 0;
    for (unsigned B = 0; B < gridDim.x; ++B)
      Sum += Slots[B];
    Slots[0] = Sum;
  }
}

static void CUDART_CB bump(void *N) { ++*static_cast<int *>(N); }

static void expectError(const char *What, cudaError_t Got, cudaError_t Want) {
  expect(What, Want, Got, Want);
  cudaGetLastError();
}

static cudaGraphExec_t instantiated(cudaGraph_t G) {
  cudaGraphExec_t E;
  CALL(cudaGraphInstantiate(&E, G, 0));
  return E;
}

static void launch(cudaGraphExec_t E, cudaStream_t S) {
  CALL(cudaGraphLaunch(E, S));
  CALL(cudaStreamSynchronize(S));
}

// Nothing happens during a capture; each launch does all of it, with the
// arguments as they were and memory as it is.
static void capturesStreams(cudaStream_t S) {
  constexpr int N = 100;
  int *D, Host[N], Back[N], Calls = 0;
  CALL(cudaMalloc(&D, sizeof(Host)));
  CALL(cudaMemset(D, 0xff, sizeof(Host)));
  for (int I = 0; I < N; ++I)
    Host[I] = I;
  std::memset(Back, 0, sizeof(Back));
  CALL(cudaStreamBeginCapture(S, cudaStreamCaptureModeGlobal));
  CALL(cudaMemcpyAsync(D, Host, sizeof(Host), cudaMemcpyHostToDevice, S));
  {
    Odd O = {1, 20, 300};
    char By = 3;
    scale<<<2, 64, 0, S>>>(D, N, By, O);
    CALL(cudaGetLastError());
    O.C = By = 0;
  }
  CALL(cudaMemsetAsync(D + 10, 0, 4, S));
  CALL(cudaMemcpyAsync(Back, D, sizeof(Back), cudaMemcpyDeviceToHost, S));
  CALL(cudaLaunchHostFunc(S, bump, &Calls));
  cudaGraph_t G;
  CALL(cudaStreamEndCapture(S, &G));
  CALL(cudaDeviceSynchronize());
  expect("captured", 0, Back[5], 0);
  expect("captured", 1, Calls, 0);
  size_t Count = 0;
  CALL(cudaGraphGetNodes(G, nullptr, &Count));
  expect("captured", 2, Count, 5);
  CALL(cudaGraphGetEdges(G, nullptr, nullptr, nullptr, &Count));
  expect("captured", 3, Count, 4);
  cudaGraphExec_t E = instantiated(G);
  CALL(cudaGraphDestroy(G));
  for (int Round = 1; Round <= 3; ++Round) {
    launch(E, S);
    expect("calls", Round, Calls, Round);
    for (int I = 0; I < N; ++I)
      expect("captured", 100 * Round + I, Back[I],
             I == 10 ? 0 : (I + Round - 1) * 3 + 321);
    for (int &H : Host)
      ++H;
  }
  CALL(cudaGraphExecDestroy(E));
  CALL(cudaFree(D));
}

// Two streams, forked and joined by events; the graph has the diamond.
static void forksAndJoins(cudaStream_t S) {
  int *A = managed<int>(96), *B = A + 32, *Sum = A + 64;
  cudaStream_t Side;
  cudaEvent_t Fork, Join;
  CALL(cudaStreamCreateWithFlags(&Side, cudaStreamNonBlocking));
  CALL(cudaEventCreate(&Fork));
  CALL(cudaEventCreate(&Join));
  CALL(cudaStreamBeginCapture(S, cudaStreamCaptureModeThreadLocal));
  CALL(cudaMemsetAsync(Sum, 0, 128, S));
  CALL(cudaEventRecord(Fork, S));
  CALL(cudaStreamWaitEvent(Side, Fork, 0));
  cudaStreamCaptureStatus Captures;
  CALL(cudaStreamIsCapturing(Side, &Captures));
  expect("status", 0, Captures, cudaStreamCaptureStatusActive);
  CALL(cudaMemsetAsync(A, 1, 128, S));
  CALL(cudaMemsetAsync(B, 2, 128, Side));
  CALL(cudaEventRecord(Join, Side));
  CALL(cudaStreamWaitEvent(S, Join, 0));
  add<<<1, 32, 0, S>>>(Sum, A, B);
  cudaGraph_t G, Info = nullptr;
  unsigned long long Id = 0;
  const cudaGraphNode_t *After = nullptr;
  size_t Count = 0;
  CALL(cudaStreamGetCaptureInfo(S, &Captures, &Id, &Info, &After, nullptr,
                                &Count));
  expect("info", 0, Count, 1);
  cudaGraphNodeType Type;
  CALL(cudaGraphNodeGetType(After[0], &Type));
  expect("info", 1, Type, cudaGraphNodeTypeKernel);
  CALL(cudaStreamEndCapture(S, &G));
  expect("info", 2, Info == G, true);
  CALL(cudaStreamIsCapturing(Side, &Captures));
  expect("status", 1, Captures, cudaStreamCaptureStatusNone);
  Count = 0;
  CALL(cudaGraphGetNodes(G, nullptr, &Count));
  expect("diamond", 0, Count, 4);
  CALL(cudaGraphGetEdges(G, nullptr, nullptr, nullptr, &Count));
  expect("diamond", 1, Count, 4);
  CALL(cudaGraphGetRootNodes(G, nullptr, &Count));
  expect("diamond", 2, Count, 1);
  cudaGraphExec_t E = instantiated(G);
  launch(E, S);
  for (int I = 0; I < 32; ++I)
    expect("sum", I, Sum[I], 0x03030303);
  CALL(cudaGraphExecDestroy(E));
  CALL(cudaGraphDestroy(G));
  CALL(cudaStreamDestroy(Side));
  CALL(cudaEventDestroy(Fork));
  CALL(cudaEventDestroy(Join));
}

/// Ends a capture that went wrong.
static void expectInvalid(cudaStream_t S, const char *What) {
  cudaStreamCaptureStatus Captures;
  CALL(cudaStreamIsCapturing(S, &Captures));
  expect(What, -1, Captures, cudaStreamCaptureStatusInvalidated);
  cudaGraph_t G = reinterpret_cast<cudaGraph_t>(8);
  expectError(What, cudaStreamEndCapture(S, &G),
              cudaErrorStreamCaptureInvalidated);
  expect(What, -2, G == nullptr, true);
}

static void forbidsInCaptures() {
  cudaStream_t S, Other, Free;
  cudaEvent_t Event, Old;
  cudaGraph_t G;
  void *P;
  int X = 0;
  CALL(cudaStreamCreate(&S));
  CALL(cudaStreamCreate(&Other));
  CALL(cudaStreamCreateWithFlags(&Free, cudaStreamNonBlocking));
  CALL(cudaEventCreate(&Event));
  CALL(cudaEventCreate(&Old));
  CALL(cudaEventRecord(Old, S));
  CALL(cudaMalloc(&P, 64));
  const auto Global = cudaStreamCaptureModeGlobal;

  expectError("legacy", cudaStreamBeginCapture(nullptr, Global),
              cudaErrorStreamCaptureUnsupported);
  expectError("none", cudaStreamEndCapture(S, &G), cudaErrorIllegalState);

  CALL(cudaStreamBeginCapture(S, Global));
  expectError("twice", cudaStreamBeginCapture(S, Global),
              cudaErrorIllegalState);
  expectError("synchronize", cudaStreamSynchronize(S),
              cudaErrorStreamCaptureUnsupported);
  expectInvalid(S, "synchronize");

  CALL(cudaStreamBeginCapture(S, Global));
  expectError("query", cudaStreamQuery(S), cudaErrorStreamCaptureUnsupported);
  expectInvalid(S, "query");

  void *Q = P;
  CALL(cudaStreamBeginCapture(S, Global));
  expectError("allocate", cudaMalloc(&Q, 64),
              cudaErrorStreamCaptureUnsupported);
  expect("allocate", 1, Q == nullptr, true);
  expectInvalid(S, "allocate");

  CALL(cudaStreamBeginCapture(S, cudaStreamCaptureModeRelaxed));
  CALL(cudaMalloc(&Q, 64));
  CALL(cudaStreamEndCapture(S, &G));
  CALL(cudaGraphDestroy(G));
  CALL(cudaFree(Q));

  // The thread may say that it knows better.
  cudaStreamCaptureMode Mode = cudaStreamCaptureModeRelaxed;
  CALL(cudaStreamBeginCapture(S, Global));
  CALL(cudaThreadExchangeStreamCaptureMode(&Mode));
  expect("mode", 0, Mode, Global);
  CALL(cudaMalloc(&Q, 64));
  CALL(cudaThreadExchangeStreamCaptureMode(&Mode));
  CALL(cudaStreamEndCapture(S, &G));
  CALL(cudaGraphDestroy(G));
  CALL(cudaFree(Q));

  // A thread of its own mind is not held up by another's local capture.
  for (auto M : {Global, cudaStreamCaptureModeThreadLocal}) {
    CALL(cudaStreamBeginCapture(S, M));
    cudaError_t There = cudaSuccess;
    std::thread([&] {
      void *Mine;
      There = cudaMalloc(&Mine, 64);
    }).join();
    expectError("thread", There,
                M == Global ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
    if (M == Global) {
      expectInvalid(S, "thread");
    } else {
      CALL(cudaStreamEndCapture(S, &G));
      CALL(cudaGraphDestroy(G));
    }
  }

  CALL(cudaStreamBeginCapture(S, Global));
  expectError("copy", cudaMemcpy(&X, P, 4, cudaMemcpyDeviceToHost),
              cudaErrorStreamCaptureImplicit);
  expectInvalid(S, "copy");

  CALL(cudaStreamBeginCapture(S, cudaStreamCaptureModeRelaxed));
  expectError("legacy", cudaMemsetAsync(P, 0, 4, nullptr),
              cudaErrorStreamCaptureImplicit);
  expectInvalid(S, "legacy");

  // One that the legacy stream does not wait for leaves it alone.
  CALL(cudaStreamBeginCapture(Free, cudaStreamCaptureModeRelaxed));
  CALL(cudaMemsetAsync(P, 0, 4, nullptr));
  CALL(cudaStreamEndCapture(Free, &G));
  CALL(cudaGraphDestroy(G));

  CALL(cudaStreamBeginCapture(S, Global));
  expectError("isolation", cudaStreamWaitEvent(S, Old, 0),
              cudaErrorStreamCaptureIsolation);
  expectInvalid(S, "isolation");

  CALL(cudaStreamBeginCapture(S, Global));
  CALL(cudaEventRecord(Event, S));
  expectError("event", cudaEventSynchronize(Event), cudaErrorCapturedEvent);
  expectInvalid(S, "event");

  CALL(cudaStreamBeginCapture(S, Global));
  CALL(cudaStreamBeginCapture(Other, Global));
  CALL(cudaEventRecord(Event, S));
  expectError("merge", cudaStreamWaitEvent(Other, Event, 0),
              cudaErrorStreamCaptureMerge);
  cudaStreamEndCapture(S, &G);
  cudaStreamEndCapture(Other, &G);
  cudaGetLastError();

  CALL(cudaStreamBeginCapture(S, Global));
  CALL(cudaEventRecord(Event, S));
  CALL(cudaStreamWaitEvent(Other, Event, 0));
  CALL(cudaMemsetAsync(P, 0, 4, Other));
  expectError("unjoined", cudaStreamEndCapture(S, &G),
              cudaErrorStreamCaptureUnjoined);

  // A stream may be destroyed once its work is joined, and not before.
  for (bool Joins : {true, false}) {
    cudaStream_t Side;
    CALL(cudaStreamCreateWithFlags(&Side, cudaStreamNonBlocking));
    CALL(cudaStreamBeginCapture(S, Global));
    CALL(cudaEventRecord(Event, S));
    CALL(cudaStreamWaitEvent(Side, Event, 0));
    CALL(cudaMemsetAsync(P, 0, 4, Side));
    CALL(cudaEventRecord(Event, Side));
    if (Joins)
      CALL(cudaStreamWaitEvent(S, Event, 0));
    CALL(cudaStreamDestroy(Side));
    if (!Joins) {
      expectInvalid(S, "destroyed");
      continue;
    }
    CALL(cudaStreamEndCapture(S, &G));
    CALL(cudaGraphDestroy(G));
  }

  CALL(cudaStreamBeginCapture(S, Global));
  CALL(cudaEventRecord(Event, S));
  CALL(cudaStreamWaitEvent(Other, Event, 0));
  expectError("unmatched", cudaStreamEndCapture(Other, &G),
              cudaErrorStreamCaptureUnmatched);
  cudaStreamEndCapture(S, &G);
  cudaGetLastError();

  CALL(cudaStreamBeginCapture(S, Global));
  cudaError_t There = cudaSuccess;
  std::thread([&] { There = cudaStreamEndCapture(S, &G); }).join();
  expectError("wrong thread", There, cudaErrorStreamCaptureWrongThread);
  expectError("over", cudaStreamEndCapture(S, &G), cudaErrorIllegalState);

  // All of it is over: nothing is being captured, everything works.
  CALL(cudaMemcpy(&X, P, 4, cudaMemcpyDeviceToHost));
  CALL(cudaDeviceSynchronize());
  CALL(cudaStreamDestroy(S));
  CALL(cudaStreamDestroy(Other));
  CALL(cudaStreamDestroy(Free));
}

static cudaGraphNode_t addPush(cudaGraph_t G, int *List, int X,
                               std::vector<cudaGraphNode_t> After) {
  void *Args[] = {&List, &X};
  cudaKernelNodeParams P = {};
  P.func = reinterpret_cast<void *>(push);
  P.gridDim = P.blockDim = dim3(1);
  P.kernelParams = Args;
  cudaGraphNode_t Node;
  CALL(cudaGraphAddKernelNode(&Node, G, After.data(), After.size(), &P));
  return Node;
}

/// The values that a list holds, as decimal digits.
static int digits(const int *List) {
  int All = 0;
  for (int I = 1; I <= List[0]; ++I)
    All = All * 10 + List[I];
  return All;
}

// Node by node: each behind those that it depends on; changed in the executable
// graph, updated from another, disabled, copied.
static void madeOfNodes(cudaStream_t S, const char *Picture) {
  int *List = managed<int>(32), *Words = managed<int>(32);
  int Calls = 0, Host[4] = {5, 6, 7, 8};
  cudaGraph_t G, Other, Clone;
  CALL(cudaGraphCreate(&G, 0));
  cudaGraphNode_t Clear, End, Set, Copy, Call, Nothing;
  cudaMemsetParams M = {};
  M.dst = List;
  M.elementSize = 4;
  M.width = 1;
  M.height = 1;
  CALL(cudaGraphAddMemsetNode(&Clear, G, nullptr, 0, &M));
  // Added in another order than they are to run.
  cudaGraphNode_t Third = addPush(G, List, 3, {Clear});
  cudaGraphNode_t Second = addPush(G, List, 2, {Clear});
  cudaGraphNode_t First = addPush(G, List, 1, {Clear});
  cudaGraphNode_t From[] = {Second, First}, To[] = {Third, Second};
  CALL(cudaGraphAddDependencies(G, From, To, nullptr, 2));
  CALL(cudaGraphAddEmptyNode(&Nothing, G, &Third, 1));
  M.dst = Words;
  M.pitch = 16;
  M.value = 0xabcd1234;
  M.width = 2;
  M.height = 3;
  CALL(cudaGraphAddMemsetNode(&Set, G, &Nothing, 1, &M));
  CALL(cudaGraphAddMemcpyNode1D(&Copy, G, &Set, 1, Words + 4, Host, 8,
                                cudaMemcpyHostToDevice));
  cudaHostNodeParams H = {bump, &Calls};
  CALL(cudaGraphAddHostNode(&Call, G, &Copy, 1, &H));
  CALL(cudaGraphCreate(&Other, 0));
  addPush(Other, List, 9, {});
  CALL(cudaGraphAddChildGraphNode(&End, G, &Call, 1, Other));
  if (Picture)
    CALL(cudaGraphDebugDotPrint(G, Picture, 0));

  size_t Count = 0;
  CALL(cudaGraphNodeGetDependencies(Third, nullptr, nullptr, &Count));
  expect("dependencies", 0, Count, 2);
  cudaGraphNode_t Found[4];
  Count = 4;
  CALL(cudaGraphNodeGetDependentNodes(Second, Found, nullptr, &Count));
  expect("dependents", 0, Count, 1);
  expect("dependents", 1, Found[0] == Third, true);

  std::memset(Words, 0, 128);
  cudaGraphExec_t E = instantiated(G);
  launch(E, S);
  expect("order", 0, digits(List), 1239);
  expect("calls", 0, Calls, 1);
  const int Want[] = {int(0xabcd1234), int(0xabcd1234), 0, 0, 5, 6, 0, 0,
                      int(0xabcd1234), int(0xabcd1234), 0, 0};
  for (int I = 0; I < 12; ++I)
    expect("words", I, Words[I], Want[I]);

  // What the graph's nodes say does not change what was made of it.
  int Seven = 7;
  void *Args[] = {&List, &Seven};
  cudaKernelNodeParams P;
  CALL(cudaGraphKernelNodeGetParams(Second, &P));
  expect("parameters", 0, *static_cast<int *>(P.kernelParams[1]), 2);
  P.kernelParams = Args;
  CALL(cudaGraphKernelNodeSetParams(Second, &P));
  launch(E, S);
  expect("order", 1, digits(List), 1239);
  Seven = 8;
  CALL(cudaGraphExecKernelNodeSetParams(E, Second, &P));
  launch(E, S);
  expect("order", 2, digits(List), 1839);
  CALL(cudaGraphNodeSetEnabled(E, First, 0));
  launch(E, S);
  expect("order", 3, digits(List), 839);
  CALL(cudaGraphNodeSetEnabled(E, First, 1));
  CALL(cudaGraphExecMemcpyNodeSetParams1D(E, Copy, Words + 4, Host + 2, 8,
                                          cudaMemcpyHostToDevice));
  launch(E, S);
  expect("words", 4, Words[4], 7);

  // From another graph of the same shape; and not from one of another.
  cudaGraphExecUpdateResultInfo Why;
  CALL(cudaGraphExecUpdate(E, G, &Why));
  expect("update", 0, Why.result, cudaGraphExecUpdateSuccess);
  launch(E, S);
  expect("order", 4, digits(List), 1739);
  expect("words", 40, Words[4], 5);
  expectError("update", cudaGraphExecUpdate(E, Other, &Why),
              cudaErrorGraphExecUpdateFailure);
  expect("update", 1, Why.result, cudaGraphExecUpdateErrorTopologyChanged);

  // A copy of the graph goes its own way.
  CALL(cudaGraphClone(&Clone, G));
  cudaGraphNode_t There;
  CALL(cudaGraphNodeFindInClone(&There, Third, Clone));
  CALL(cudaGraphDestroyNode(There));
  CALL(cudaGraphGetNodes(Clone, nullptr, &Count));
  expect("clone", 0, Count, 8);
  CALL(cudaGraphGetNodes(G, nullptr, &Count));
  expect("clone", 1, Count, 9);
  CALL(cudaGraphRemoveDependencies(G, From, To, nullptr, 1));
  CALL(cudaGraphNodeGetDependencies(Third, nullptr, nullptr, &Count));
  expect("dependencies", 1, Count, 1);

  // Nothing comes before itself.
  cudaGraphNode_t A[] = {Third}, B[] = {Clear};
  cudaGraphExec_t Never;
  if (cudaGraphAddDependencies(G, A, B, nullptr, 1) == cudaSuccess)
    expectError("cycle", cudaGraphInstantiate(&Never, G, 0),
                cudaErrorInvalidValue);
  cudaGetLastError();
  CALL(cudaGraphExecDestroy(E));
  for (cudaGraph_t Done : {G, Other, Clone})
    CALL(cudaGraphDestroy(Done));
}

// A graph within a capture, a cooperative kernel, a variable, an event that is
// recorded at each launch, a node of any kind, a capture into a graph.
static void mixes(cudaStream_t S) {
  int *List = managed<int>(32), *Slots = managed<int>(8), Values[4] = {1, 2, 3, 4},
      Back[4] = {};
  cudaGraph_t Inner, G;
  CALL(cudaGraphCreate(&Inner, 0));
  addPush(Inner, List, 4, {});
  cudaGraphExec_t InnerExec = instantiated(Inner);
  cudaEvent_t Event;
  CALL(cudaEventCreate(&Event));
  List[0] = 0;
  CALL(cudaStreamBeginCapture(S, cudaStreamCaptureModeGlobal));
  CALL(cudaGraphLaunch(InnerExec, S));
  push<<<1, 1, 0, S>>>(List, 5);
  void *Args[] = {&Slots};
  CALL(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(waits), 8, 32, Args,
                                   0, S));
  CALL(cudaMemcpyToSymbolAsync(Variable, Values, 16, 0, cudaMemcpyHostToDevice,
                               S));
  CALL(cudaMemcpyFromSymbolAsync(Back, Variable, 8, 8, cudaMemcpyDeviceToHost,
                                 S));
  CALL(cudaEventRecordWithFlags(Event, S, cudaEventRecordExternal));
  CALL(cudaStreamEndCapture(S, &G));
  cudaGraphNode_t Last;
  {
    int Six = 6;
    void *More[] = {&List, &Six};
    cudaGraphNodeParams P = {};
    P.type = cudaGraphNodeTypeKernel;
    P.kernel.func = reinterpret_cast<void *>(push);
    P.kernel.gridDim = P.kernel.blockDim = dim3(1);
    P.kernel.kernelParams = More;
    size_t Count = 6;
    cudaGraphNode_t Nodes[6];
    CALL(cudaGraphGetNodes(G, Nodes, &Count));
    expect("nodes", 0, Count, 6);
    CALL(cudaGraphAddNode(&Last, G, Nodes + 5, nullptr, 1, &P));
  }
  CALL(cudaStreamBeginCaptureToGraph(S, G, &Last, nullptr, 1,
                                     cudaStreamCaptureModeGlobal));
  push<<<1, 1, 0, S>>>(List, 7);
  cudaGraph_t Same;
  CALL(cudaStreamEndCapture(S, &Same));
  expect("same graph", 0, Same == G, true);
  cudaGraphExec_t E = instantiated(G);
  launch(E, S);
  expect("mixed", 0, digits(List), 4567);
  expect("mixed", 1, Slots[0], 36);
  expect("mixed", 2, Back[0] * 10 + Back[1], 34);
  CALL(cudaEventSynchronize(Event));
  float Milliseconds = -1;
  CALL(cudaEventElapsedTime(&Milliseconds, Event, Event));
  expect("mixed", 3, Milliseconds, 0);
  CALL(cudaGraphExecDestroy(E));
  CALL(cudaGraphExecDestroy(InnerExec));
  CALL(cudaGraphDestroy(Inner));
  CALL(cudaGraphDestroy(G));
}

// Memory that a graph allocates, uses and frees; and such that it leaves.
static void allocates(cudaStream_t S) {
  int *Inside, Back[32] = {};
  cudaGraph_t G;
  CALL(cudaStreamBeginCapture(S, cudaStreamCaptureModeGlobal));
  CALL(cudaMallocAsync(&Inside, 128, S));
  CALL(cudaMemsetAsync(Inside, 1, 128, S));
  add<<<1, 32, 0, S>>>(Inside, Inside, Inside);
  CALL(cudaMemcpyAsync(Back, Inside, 128, cudaMemcpyDeviceToHost, S));
  CALL(cudaFreeAsync(Inside, S));
  CALL(cudaStreamEndCapture(S, &G));
  cudaGraphExec_t E = instantiated(G);
  for (int Round = 0; Round < 2; ++Round) {
    std::memset(Back, 0, sizeof(Back));
    launch(E, S);
    expect("inside", Round, Back[31], 0x02020202);
  }
  CALL(cudaGraphExecDestroy(E));
  CALL(cudaGraphDestroy(G));

  CALL(cudaGraphCreate(&G, 0));
  cudaMemAllocNodeParams P = {};
  P.poolProps.allocType = cudaMemAllocationTypePinned;
  P.poolProps.location.type = cudaMemLocationTypeDevice;
  P.bytesize = 128;
  cudaGraphNode_t Node, Set;
  CALL(cudaGraphAddMemAllocNode(&Node, G, nullptr, 0, &P));
  cudaMemsetParams M = {};
  M.dst = P.dptr;
  M.value = 77;
  M.elementSize = 2;
  M.width = 64;
  M.height = 1;
  CALL(cudaGraphAddMemsetNode(&Set, G, &Node, 1, &M));
  CALL(cudaGraphInstantiate(&E, G, 0));
  launch(E, S);
  short Half = 0;
  CALL(cudaMemcpy(&Half, static_cast<short *>(P.dptr) + 63, 2,
                  cudaMemcpyDeviceToHost));
  expect("left", 0, Half, 77);
  expectError("twice", cudaGraphLaunch(E, S), cudaErrorInvalidValue);
  CALL(cudaFree(P.dptr));
  launch(E, S);
  CALL(cudaFreeAsync(P.dptr, S));
  CALL(cudaStreamSynchronize(S));
  CALL(cudaGraphExecDestroy(E));
  CALL(cudaGraphDestroy(G));
}

// CHECK: 0 wrong
// DOT: digraph
// DOT: n1 [label="push(int*, int)\n<<<(1,1,1), (1,1,1), 0>>>"];
// DOT: n2 -> n1;
// DOT: subgraph
// The launches of graphs are counted like others.
// PROFILE: "display": "scale"
// PROFILE: "launches": 3,
// PROFILE-NEXT: "threads": 384,
// PROFILE: "display": "push"
// PROFILE: "launches": 27,
// PROFILE-NEXT: "threads": 27,
int main(int Count, char **Arguments) {
  cudaStream_t S;
  CALL(cudaStreamCreate(&S));
  capturesStreams(S);
  forksAndJoins(S);
  forbidsInCaptures();
  madeOfNodes(S, Count > 1 ? Arguments[1] : nullptr);
  mixes(S);
  allocates(S);
  CALL(cudaStreamDestroy(S));
  return summary();
}
