//===- instrument/AccessAreas.cpp - What probes of accesses left ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the areas that AccessProbes.cpp's code writes.
//
//===----------------------------------------------------------------------===//

#include "instrument/AccessProbes.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace llvm;

namespace reconverge::instrument {

AccessCounts countsOfAccess(ArrayRef<uint64_t> Area, unsigned Index) {
  ArrayRef<uint64_t> Mine =
      Area.slice(HeaderCells + Index * CellsOfAccess, CellsOfAccess);
  AccessCounts C;
  C.Requests = Lo_32(Mine[0]);
  C.Lanes = Hi_32(Mine[0]);
  C.Sectors = Lo_32(Mine[1]);
  C.LeastSectors = Hi_32(Mine[1]);
  C.Wavefronts = Lo_32(Mine[2]);
  C.LeastWavefronts = Hi_32(Mine[2]);
  C.Turns = Mine[3];
  return C;
}

std::optional<double> loadedSectors(ArrayRef<uint64_t> Area) {
  if (Area[SketchCells])
    return std::nullopt;
  // The paper's estimate, and linear counting where most registers are empty.
  constexpr double N = SketchRegisters;
  double Sum = 0, Empty = 0;
  for (uint64_t Cell : Area.take_front(SketchCells))
    for (uint32_t Register : {Lo_32(Cell), Hi_32(Cell)}) {
      Sum += std::ldexp(1.0, -int(Register));
      Empty += Register == 0;
    }
  const double Estimate = 0.7213 / (1 + 1.079 / N) * N * N / Sum;
  return Estimate <= 2.5 * N && Empty > 0 ? N * std::log(N / Empty) : Estimate;
}

} // namespace reconverge::instrument
