//===- runtime/gpu/SlotCount.cpp - What a launch costs --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/gpu/SlotCount.h"

#include "model/Demand.h"
#include "runtime/gpu/Cudart.h"

using namespace llvm;

namespace reconverge::gpu {

SlotCount::SlotCount(const CountingCode &Code, const LaunchShape &Shape,
                     uint64_t Least)
    : Code(Code), Shape(Shape),
      Where(LaunchCells::of(*Code.Kernel, Shape, Least)) {}

SlotCount::~SlotCount() {
  if (Cells)
    (void)cudart().Free(Cells); // an error of it is no one's
}

cudaError_t SlotCount::begin() {
  const Cudart &C = cudart();
  if (cudaError_t E = C.Malloc(&Cells, Where.count() * 8))
    return E;
  if (cudaError_t E = C.Memset(Cells, 0, Where.count() * 8))
    return E;
  if (cudaError_t E = C.GetSymbolAddress(&Config, &Code.Kernel->Home->Config))
    return E;
  const instrument::ProbeConfig Value = Where.config(Cells);
  if (cudaError_t E =
          C.Memcpy(Config, &Value, sizeof(Value), cudaMemcpyHostToDevice))
    return E;
  return C.DeviceSynchronize(); // the launch may be in a stream of its own
}

cudaError_t SlotCount::end(Demand &Asks) {
  const Cudart &C = cudart();
  std::vector<uint64_t> Counted(Where.count());
  if (cudaError_t E = C.Memset(Config, 0, sizeof(instrument::ProbeConfig)))
    return E;
  if (cudaError_t E = C.Memcpy(Counted.data(), Cells, Counted.size() * 8,
                               cudaMemcpyDeviceToHost))
    return E;
  Asks = model::demandOf(
      Code.Info, countsOf(*Code.Kernel, Counted, Shape, Where.Who), Shape);
  return cudaSuccess;
}

} // namespace reconverge::gpu
