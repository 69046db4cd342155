//===- runtime/gpu/TrialCount.cpp - What a launch asks for ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/gpu/TrialCount.h"

#include "runtime/gpu/Cudart.h"

using namespace llvm;

namespace reconverge::gpu {

TrialCount::TrialCount(Kind What, const CountingCode &Code,
                       const LaunchShape &Shape, const Options &O,
                       uint64_t Windows)
    : Code(Code), Shape(Shape), What(What),
      Where(LaunchCells::of(*Code.Kernel, Shape, O.Blocks)) {
  if (What == Accesses)
    Areas = MemoryAreas::of(*Code.Kernel, Shape, Where.Who, O, Windows);
}

TrialCount::~TrialCount() {
  if (Cells)
    (void)cudart().Free(Cells); // an error of it is no one's
}

cudaError_t TrialCount::begin() {
  const Cudart &C = cudart();
  const size_t Bytes = (Where.count() + Areas.count()) * 8;
  if (cudaError_t E = C.Malloc(&Cells, Bytes))
    return E;
  if (cudaError_t E = C.Memset(Cells, 0, Bytes))
    return E;
  if (cudaError_t E = C.GetSymbolAddress(&Config, &Code.Kernel->Home->Config))
    return E;
  instrument::ProbeConfig Value = Where.config(Cells);
  if (Areas.count())
    Areas.tell(Value, static_cast<uint64_t *>(Cells) + Where.count());
  if (cudaError_t E =
          C.Memcpy(Config, &Value, sizeof(Value), cudaMemcpyHostToDevice))
    return E;
  return C.DeviceSynchronize(); // the launch may be in a stream of its own
}

cudaError_t TrialCount::end(LaunchCounts &Counts) {
  const Cudart &C = cudart();
  std::vector<uint64_t> Counted(Where.count() + Areas.count());
  if (cudaError_t E = C.Memset(Config, 0, sizeof(instrument::ProbeConfig)))
    return E;
  if (cudaError_t E = C.Memcpy(Counted.data(), Cells, Counted.size() * 8,
                               cudaMemcpyDeviceToHost))
    return E;
  if (What == Blocks)
    Counts = countsOf(*Code.Kernel, ArrayRef(Counted).take_front(Where.count()),
                      Shape, Where.Who);
  else
    Areas.addTo(Counts, *Code.Kernel,
                ArrayRef(Counted).drop_front(Where.count()));
  return cudaSuccess;
}

} // namespace reconverge::gpu
