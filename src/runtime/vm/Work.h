//===- runtime/vm/Work.h - What streams and graphs carry out ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One type for each kind of work. A stream does it as it is enqueued; while the
// stream is being captured it becomes a node of a graph, which does it at each
// launch (Graph.h).
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_RUNTIME_VM_WORK_H
#define RECONVERGE_RUNTIME_VM_WORK_H

#include "core/Profile.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

namespace reconverge::runtime {

struct DeviceFunction;
class Graph;

struct EmptyWork {};

/// A launch that a device accepts, with a copy of its arguments.
struct KernelWork {
  const void *Stub = nullptr; ///< as the program named the kernel
  DeviceFunction *Function = nullptr;
  LaunchShape Shape;
  std::vector<uint8_t> Values; ///< the parameters', one after the other
  int Priority = 0;
  cudaStream_t Stream = nullptr; ///< that it was launched or captured in

  /// Copies what \p Args points to.
  void keep(void **Args);
  /// Pointers into Values, one a parameter; good until the next change.
  void **arguments();

private:
  std::vector<void *> Pointers;
};

/// Rows and planes of bytes; extents and positions in elements where an end is
/// an array, as CUDA has them.
struct CopyWork {
  cudaMemcpy3DParms What = {};
};

/// Elements of 1, 2 or 4 bytes, in rows and planes.
struct SetWork {
  void *At = nullptr;
  size_t Pitch = 0, PlanePitch = 0; ///< bytes
  unsigned Value = 0, ElementSize = 1;
  size_t Width = 0, Height = 1, Depth = 1; ///< elements, rows, planes
};

struct HostWork {
  cudaHostFn_t Function = nullptr;
  void *Data = nullptr;
};

struct RecordWork {
  cudaEvent_t Event = nullptr;
};

struct WaitWork {
  cudaEvent_t Event = nullptr;
};

/// Memory that a graph allocates: it has its address from the beginning and is
/// the program's between an AllocWork and a FreeWork of it.
struct GraphMemory {
  void *At = nullptr;
  uint64_t Size = 0; ///< bytes
  GraphMemory(void *At, uint64_t Size) : At(At), Size(Size) {}
  ~GraphMemory();
  GraphMemory(const GraphMemory &) = delete;
  GraphMemory &operator=(const GraphMemory &) = delete;
};

struct AllocWork {
  std::shared_ptr<GraphMemory> Memory;
};

struct FreeWork {
  void *At = nullptr;
};

/// A graph within a graph: a copy of the node's own.
struct ChildWork {
  std::shared_ptr<Graph> Inner;
};

using Work = std::variant<EmptyWork, KernelWork, CopyWork, SetWork, HostWork,
                          RecordWork, WaitWork, AllocWork, FreeWork, ChildWork>;

/// Does \p What, now. Not under deviceLock().
cudaError_t carryOut(Work &What);
cudaError_t runKernel(KernelWork &What);
cudaError_t runCopy(const cudaMemcpy3DParms &What);
cudaError_t runSet(const SetWork &What);
cudaError_t recordEvent(cudaEvent_t Event); ///< its time becomes now
cudaError_t allocateGraphMemory(AllocWork &What);
cudaError_t freeGraphMemory(FreeWork &What);

/// Does a set in \p Stream, or adds it to the graph that this is captured into.
cudaError_t setIn(cudaStream_t Stream, const SetWork &What);

/// What makes a copy or a set impossible, before the first byte moves.
cudaError_t checkCopy(const cudaMemcpy3DParms &What);
cudaError_t checkSet(const SetWork &What);
bool isEvent(cudaEvent_t Event);

/// \p Count bytes in one row.
cudaMemcpy3DParms copyOfBytes(void *To, const void *From, size_t Count,
                              cudaMemcpyKind Kind);
/// \p Count bytes set to \p Value.
SetWork setOfBytes(void *To, int Value, size_t Count);
/// Those of each row and plane that \p Size says; an error if \p P has fewer.
cudaError_t setOfPlanes(const cudaPitchedPtr &P, int Value,
                        const cudaExtent &Size, SetWork &Out);
/// \p Count bytes of the variable that \p Symbol stands for, from \p Offset on.
cudaError_t copyToSymbol(const void *Symbol, const void *From, size_t Count,
                         size_t Offset, cudaMemcpyKind Kind,
                         cudaMemcpy3DParms &Out);
cudaError_t copyFromSymbol(void *To, const void *Symbol, size_t Count,
                           size_t Offset, cudaMemcpyKind Kind,
                           cudaMemcpy3DParms &Out);

/// The attributes of \p Config that change what a launch means; hints are let
/// pass.
void readAttributes(const cudaLaunchConfig_t &Config, bool &Cooperative,
                    dim3 &Cluster);
/// Makes \p Out a launch in clusters of \p Asked blocks (0: as the kernel says, or
/// in none), or says why no device does that. Under deviceLock().
cudaError_t setCluster(KernelWork &Out, dim3 Asked);
/// Fills in \p Out but for its arguments, or says why no device takes the
/// launch. Under deviceLock().
cudaError_t checkLaunch(const void *Stub, dim3 Grid, dim3 Block,
                        size_t SharedMem, bool Cooperative, KernelWork &Out,
                        dim3 Cluster = dim3(0, 0, 0));

/// Memory for an AllocWork.
cudaError_t makeGraphMemory(size_t Size, AllocWork &Out);
/// Whether \p At is memory of some graph that is allocated.
bool isGraphMemory(void *At);

} // namespace reconverge::runtime

#endif
