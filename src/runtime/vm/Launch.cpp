//===- runtime/vm/Launch.cpp - From <<<...>>> to a launch -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kernel<<<grid, block, bytes, stream>>>(args) becomes, on the host:
//
//   __cudaPushCallConfiguration(grid, block, bytes, stream);
//   stub(args):  __cudaPopCallConfiguration(&...);
//                cudaLaunchKernel(stub, grid, block, pointers to args, ...);
//
// The arguments are evaluated between push and stub and may launch kernels
// themselves, hence a stack. A launch is checked against the device's limits in
// the order and with the codes of the toolkit that we were built with, then run
// to its end.
//
// The blocks of a cooperative launch may wait for one another. The VM begins
// further blocks wherever those that it has wait, so that any number would do;
// as many are accepted as the device that we claim to be holds at once.
//
// Limitation: a kernel that waits for something that the host does after the
// launch waits for ever, since launches are synchronous.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Api.h"
#include "runtime/vm/Capture.h"
#include "runtime/vm/Device.h"
#include "runtime/vm/Engine.h"
#include "runtime/vm/Functions.h"
#include "runtime/vm/Registry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Demangle/Demangle.h"

using namespace llvm;

namespace reconverge::runtime {

/// A grid or block that no device runs; a handle that is no kernel's. CUDA 13
/// returns other codes than CUDA 12 for both (seen on an H200, driver 580).
static constexpr cudaError_t BadShape = CUDART_VERSION >= 13000
                                            ? cudaErrorInvalidValue
                                            : cudaErrorInvalidConfiguration;
static constexpr cudaError_t BadHandle = CUDART_VERSION >= 13000
                                             ? cudaErrorInvalidResourceHandle
                                             : cudaErrorInvalidDeviceFunction;

//===----------------------------------------------------------------------===//
// The configuration between push and stub
//===----------------------------------------------------------------------===//

namespace {
struct Configuration {
  dim3 Grid, Block;
  size_t SharedMem;
  cudaStream_t Stream;
};
/// Plain storage: kernels are launched from static destructors too, when a
/// vector of this thread would be gone.
struct Configurations {
  static constexpr unsigned Most = 32;
  alignas(Configuration) char Storage[Most][sizeof(Configuration)];
  unsigned Depth;
};
} // namespace

static thread_local Configurations Pending;

unsigned api::__cudaPushCallConfiguration(dim3 Grid, dim3 Block,
                                          size_t SharedMem,
                                          CUstream_st *Stream) {
  if (Pending.Depth == Configurations::Most)
    return recorded(cudaErrorLaunchMaxDepthExceeded);
  new (Pending.Storage[Pending.Depth++])
      Configuration{Grid, Block, SharedMem, Stream};
  return 0; // anything else keeps the stub from being called
}

cudaError_t api::__cudaPopCallConfiguration(dim3 *Grid, dim3 *Block,
                                            size_t *SharedMem, void *Stream) {
  return call([&]() -> cudaError_t {
    if (!Pending.Depth)
      return cudaErrorMissingConfiguration;
    const auto &Top = *reinterpret_cast<const Configuration *>(
        Pending.Storage[--Pending.Depth]);
    *Grid = Top.Grid;
    *Block = Top.Block;
    *SharedMem = Top.SharedMem;
    *static_cast<cudaStream_t *>(Stream) = Top.Stream;
    return cudaSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

static cudaError_t checkShape(dim3 Grid, dim3 Block) {
  using namespace limits;
  if (!Grid.x || !Grid.y || !Grid.z || !Block.x || !Block.y || !Block.z)
    return BadShape;
  if (Grid.x > GridX || Grid.y > GridY || Grid.z > GridZ || Block.x > BlockX ||
      Block.y > BlockY || Block.z > BlockZ)
    return BadShape;
  if (uint64_t(Block.x) * Block.y * Block.z > ThreadsPerBlock)
    return BadShape;
  return cudaSuccess;
}

/// CUDA only returns a code; the numbers say what is wrong.
static cudaError_t refused(const DeviceFunction &F, const Twine &Why,
                           cudaError_t Code) {
  sayOnce("kernel '" + demangle(F.Name) + "' is not launched: " + Why);
  return Code;
}

static std::string text(dim3 D) {
  return ("(" + Twine(D.x) + "," + Twine(D.y) + "," + Twine(D.z) + ")").str();
}

cudaError_t checkLaunch(const void *Stub, dim3 Grid, dim3 Block,
                        size_t SharedMem, bool Cooperative, KernelWork &Out) {
  if (!Stub)
    return cudaErrorInvalidDeviceFunction;
  DeviceFunction *F = nullptr;
  if (cudaError_t Failed = findFunction(Stub, F, BadHandle))
    return Failed;
  if (cudaError_t Failed = checkShape(Grid, Block))
    return refused(*F,
                   "no device has a grid of " + text(Grid) + " blocks of " +
                       text(Block) + " threads",
                   Failed);
  const LaunchShape Shape{{Grid.x, Grid.y, Grid.z},
                          {Block.x, Block.y, Block.z},
                          SharedMem,
                          Cooperative};
  if (const uint64_t Threads = Shape.blockThreads(); Threads > F->MaxThreads)
    return refused(*F,
                   "a block of " + Twine(Threads) +
                       " threads, and its __launch_bounds__ allow " +
                       Twine(F->MaxThreads),
                   cudaErrorInvalidValue);
  if (SharedMem > F->MaxDynamicShared)
    return refused(*F,
                   Twine(SharedMem) +
                       " bytes of dynamic shared memory, and it may have " +
                       Twine(F->MaxDynamicShared),
                   cudaErrorInvalidValue);
  // nvcc refuses such a kernel; our compiler does not see the limit.
  if (F->Code->staticShared() > limits::SharedPerBlock) {
    Engine::get().refuse("kernel '" + demangle(F->Name) + "' has " +
                         Twine(F->Code->staticShared()) +
                         " bytes of static shared memory; a block may have " +
                         Twine(limits::SharedPerBlock));
    return cudaErrorInvalidKernelImage;
  }
  if (const uint64_t Blocks = Shape.blocks(),
      Most = uint64_t(limits::Multiprocessors) *
             blocksAtOnce(*F, unsigned(Shape.blockThreads()), SharedMem);
      Cooperative && Blocks > Most)
    return refused(*F,
                   "a cooperative launch of " + Twine(Blocks) +
                       " blocks, and the device holds " + Twine(Most) +
                       " of them at once",
                   cudaErrorCooperativeLaunchTooLarge);
  Out.Stub = Stub;
  Out.Function = F;
  Out.Shape = Shape;
  return cudaSuccess;
}

static cudaError_t launch(const void *Stub, dim3 Grid, dim3 Block, void **Args,
                          size_t SharedMem, cudaStream_t Stream,
                          bool Cooperative = false) {
  if (!Stub)
    return cudaErrorInvalidDeviceFunction;
  if (!isStream(Stream))
    return cudaErrorInvalidResourceHandle;
  std::lock_guard<std::recursive_mutex> Lock(deviceLock());
  KernelWork W;
  if (cudaError_t Failed =
          checkLaunch(Stub, Grid, Block, SharedMem, Cooperative, W))
    return Failed;
  return enqueue(
      Stream,
      [&] { return Engine::get().launch(*W.Function, W.Shape, Args, Stream); },
      [&] {
        W.keep(Args);
        W.Stream = Stream;
        return std::move(W);
      });
}

//===----------------------------------------------------------------------===//
// Launches for later
//===----------------------------------------------------------------------===//

void KernelWork::keep(void **Args) {
  Values.clear();
  for (auto [I, Slot] : enumerate(Function->Code->parameters())) {
    const auto *From = static_cast<const uint8_t *>(Args[I]);
    Values.insert(Values.end(), From, From + Slot.second);
  }
}

void **KernelWork::arguments() {
  Pointers.clear();
  uint8_t *At = Values.data();
  for (auto [Offset, Size] : Function->Code->parameters()) {
    Pointers.push_back(At);
    At += Size;
  }
  return Pointers.data();
}

cudaError_t runKernel(KernelWork &W) {
  std::lock_guard<std::recursive_mutex> Lock(deviceLock());
  return Engine::get().launch(*W.Function, W.Shape, W.arguments(), W.Stream);
}

//===----------------------------------------------------------------------===//
// The calls
//===----------------------------------------------------------------------===//

cudaError_t checkCluster(const void *Stub, dim3 Grid, dim3 Cluster) {
  // No dimension has 0, though it may be written so.
  auto Divides = [](unsigned Blocks, unsigned Of) {
    return Of % std::max(Blocks, 1u) == 0;
  };
  const uint64_t Blocks = uint64_t(std::max(Cluster.x, 1u)) *
                          std::max(Cluster.y, 1u) * std::max(Cluster.z, 1u);
  const bool Fits = Divides(Cluster.x, Grid.x) && Divides(Cluster.y, Grid.y) &&
                    Divides(Cluster.z, Grid.z);
  DeviceFunction *F = knownFunction(Stub);
  if (!F || (Fits && Blocks <= limits::BlocksPerCluster))
    return cudaSuccess; // what is no kernel, the launch says
  return refused(*F,
                 Fits ? "a cluster of " + Twine(Blocks) +
                            " blocks, and a device has clusters of at most " +
                            Twine(limits::BlocksPerCluster)
                      : "a grid of " + text(Grid) +
                            " blocks cannot be cut into clusters of " +
                            text(Cluster),
                 cudaErrorInvalidClusterSize);
}

/// The attributes that change what a launch means; hints are let pass.
static cudaError_t readAttributes(const cudaLaunchConfig_t &Config,
                                  const void *Stub, bool &Cooperative) {
  for (unsigned I = 0; Config.attrs && I < Config.numAttrs; ++I) {
    const cudaLaunchAttribute &A = Config.attrs[I];
    if (A.id == cudaLaunchAttributeCooperative)
      Cooperative = A.val.cooperative != 0;
    const auto &Of = A.val.clusterDim;
    if (A.id == cudaLaunchAttributeClusterDimension)
      if (cudaError_t Failed =
              checkCluster(Stub, Config.gridDim, {Of.x, Of.y, Of.z}))
        return Failed;
  }
  return cudaSuccess;
}

cudaError_t api::cudaLaunchKernel(const void *Stub, dim3 Grid, dim3 Block,
                                  void **Args, size_t SharedMem,
                                  cudaStream_t Stream) {
  return deviceCall(
      [&] { return launch(Stub, Grid, Block, Args, SharedMem, Stream); });
}

cudaError_t api::cudaLaunchKernelExC(const cudaLaunchConfig_t *Config,
                                     const void *Stub, void **Args) {
  return deviceCall([&]() -> cudaError_t {
    if (!Config)
      return cudaErrorInvalidValue;
    bool Cooperative = false;
    if (cudaError_t Failed = readAttributes(*Config, Stub, Cooperative))
      return Failed;
    return launch(Stub, Config->gridDim, Config->blockDim, Args,
                  Config->dynamicSmemBytes, Config->stream, Cooperative);
  });
}

cudaError_t api::cudaLaunchCooperativeKernel(const void *Stub, dim3 Grid,
                                             dim3 Block, void **Args,
                                             size_t SharedMem,
                                             cudaStream_t Stream) {
  return deviceCall([&] {
    return launch(Stub, Grid, Block, Args, SharedMem, Stream,
                  /*Cooperative=*/true);
  });
}

#if CUDART_VERSION >= 13000
cudaError_t api::__cudaLaunchKernel(cudaKernel_t Kernel, dim3 Grid, dim3 Block,
                                    void **Args, size_t SharedMem,
                                    cudaStream_t Stream) {
  return deviceCall(
      [&] { return launch(Kernel, Grid, Block, Args, SharedMem, Stream); });
}
#endif

} // namespace reconverge::runtime
