//===- runtime/gpu/Features.cpp - What foretells threads, read ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In front of a launch that is sampled, in its stream and its shape: a kernel
// that writes a row a thread (remedies/common/Features.h).
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/Counter.h"
#include "runtime/gpu/Cudart.h"
#include "runtime/profile/VectorSample.h"

using namespace llvm;

namespace reconverge::gpu {

/// Of all threads, on the device; of those that are kept, here. Where there is no
/// room for them there are none.
cudaError_t Counter::readFeatures(const CountedKernel &K,
                                  const LaunchShape &Shape, void **Args,
                                  DeviceMemory &Memory, cudaStream_t Stream,
                                  runtime::VectorSample &Vectors) {
  if (K.FeatureName.empty())
    return cudaSuccess;
  const Cudart &C = cudart();
  const size_t Bytes = Shape.threads() * K.FeatureLoads.size() * sizeof(float);
  size_t Free = 0, Total = 0;
  if (C.MemGetInfo(&Free, &Total) || Bytes > Free / 2 ||
      grow(Memory.Features, Memory.FeatureBytes, Bytes)) {
    (void)C.GetLastError(); // it is ours
    return cudaSuccess;
  }
  SmallVector<void *> All(Args, Args + K.Code->arg_size());
  All.push_back(&Memory.Features);
  const auto &[Grid, Block] = std::pair(Shape.Grid, Shape.Block);
  if (cudaError_t E = C.LaunchKernel(
          &K.FeatureStub, dim3(Grid[0], Grid[1], Grid[2]),
          dim3(Block[0], Block[1], Block[2]), All.data(), 0, Stream))
    return E;
  cudaError_t Failed = cudaSuccess;
  Vectors.note(K.FeatureLoads, [&](uint64_t First, MutableArrayRef<float> To) {
    const cudaError_t E = C.MemcpyAsync(
        To.data(), static_cast<const float *>(Memory.Features) + First,
        To.size() * sizeof(float), cudaMemcpyDeviceToHost, Stream);
    Failed = Failed ? Failed : E;
  });
  return Failed ? Failed : C.StreamSynchronize(Stream);
}

} // namespace reconverge::gpu
