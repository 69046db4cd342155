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

cudaError_t setCluster(KernelWork &Out, dim3 Asked) {
  const DeviceFunction &F = *Out.Function;
  const ArrayRef<uint64_t> Said = F.Code->cluster();
  std::array<uint32_t, 3> Size{Asked.x, Asked.y, Asked.z};
  const bool Asks = Asked.x || Asked.y || Asked.z;
  if (!Asks && Said.empty()) {
    Out.Shape.Cluster = {0, 0, 0};
    return cudaSuccess;
  }
  if (!Asks)
    copy(Said, Size.begin());
  bool Fits = true, Differs = false;
  uint64_t Blocks = 1;
  for (unsigned D = 0; D < 3; ++D) {
    Size[D] = std::max(Size[D], 1u); // as it may be written
    Fits &= Out.Shape.Grid[D] % Size[D] == 0;
    Differs |= !Said.empty() && Said[D] != Size[D];
    Blocks *= Size[D];
  }
  const auto &[X, Y, Z] = Out.Shape.Grid;
  const std::string Cluster = text({Size[0], Size[1], Size[2]});
  if (Differs)
    return refused(
        F,
        "clusters of " + Cluster +
            " blocks, and its "
            "__cluster_dims__ are " +
            text({unsigned(Said[0]), unsigned(Said[1]), unsigned(Said[2])}),
        cudaErrorInvalidClusterSize);
  if (!Fits)
    return refused(F,
                   "a grid of " + text({X, Y, Z}) +
                       " blocks cannot be cut into clusters of " + Cluster,
                   cudaErrorInvalidClusterSize);
  if (Blocks > F.clusterLimit())
    return refused(
        F,
        "a cluster of " + Twine(Blocks) + " blocks, and it may have " +
            Twine(F.clusterLimit()) +
            ": cudaFuncSetAttribute() with "
            "cudaFuncAttributeNonPortableClusterSizeAllowed allows " +
            Twine(limits::BlocksPerClusterOptIn),
        cudaErrorInvalidClusterSize);
  Out.Shape.Cluster = Size;
  return cudaSuccess;
}

cudaError_t checkLaunch(const void *Stub, dim3 Grid, dim3 Block,
                        size_t SharedMem, bool Cooperative, KernelWork &Out,
                        dim3 Cluster) {
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
  return setCluster(Out, Cluster);
}

static cudaError_t launch(const void *Stub, dim3 Grid, dim3 Block, void **Args,
                          size_t SharedMem, cudaStream_t Stream,
                          bool Cooperative = false,
                          dim3 Cluster = dim3(0, 0, 0)) {
  if (!Stub)
    return cudaErrorInvalidDeviceFunction;
  if (!isStream(Stream))
    return cudaErrorInvalidResourceHandle;
  std::lock_guard<std::recursive_mutex> Lock(deviceLock());
  KernelWork W;
  if (cudaError_t Failed =
          checkLaunch(Stub, Grid, Block, SharedMem, Cooperative, W, Cluster))
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

void readAttributes(const cudaLaunchConfig_t &Config, bool &Cooperative,
                    dim3 &Cluster) {
  for (unsigned I = 0; Config.attrs && I < Config.numAttrs; ++I) {
    const cudaLaunchAttribute &A = Config.attrs[I];
    if (A.id == cudaLaunchAttributeCooperative)
      Cooperative = A.val.cooperative != 0;
    const auto &Of = A.val.clusterDim;
    if (A.id == cudaLaunchAttributeClusterDimension)
      Cluster = dim3(Of.x, Of.y, Of.z);
  }
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
    dim3 Cluster(0, 0, 0);
    readAttributes(*Config, Cooperative, Cluster);
    return launch(Stub, Config->gridDim, Config->blockDim, Args,
                  Config->dynamicSmemBytes, Config->stream, Cooperative,
                  Cluster);
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
