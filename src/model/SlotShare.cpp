//===- model/SlotShare.cpp - Issue slots as a share of time ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A slot that is not issued saves time only as far as the kernel waits for what
// issues it. With T(s) the kernel's time by the model if it keeps the part s of
// its instructions while memory moves what it moves (withCompute), and L what a
// launch of nothing takes, x of S slots are worth
//
//   share(x) = 1 - (T(1 - x / S) - L) / (T(1) - L),   gain(x) = T(1) / T(1 - x / S)
//
// Shares leave L out: a program is often profiled at a small size, and where it
// waits for its launches no branch would cost anything.
//
// It is a difference, no derivative: the norm over units bends, and where half
// of the instructions go another unit may be the busiest. So shares of parts add
// up to no less than the share of all together. Where T is not known a slot is a
// slot, x / S.
//
// Limitation: slots are taken to be like the kernel's mean ones, with its mix of
// pipes.
//
//===----------------------------------------------------------------------===//

#include "model/SlotShare.h"

#include "model/Demand.h"
#include "model/Time.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace reconverge::model {

SlotShare::SlotShare(const KernelProfile &K, double Slots,
                     const analysis::MachineLimits *Limits)
    : Slots(Slots), All(Slots), Limits(Limits) {
  if (!Limits)
    return;
  Now = demandOf(K);
  Cycles = cyclesWithout(0);
  if (Cycles > 0)
    All = Cycles * double(K.Launches);
  Launches = std::max<double>(1, double(K.Launches));
  for (const AccessInfo &A : K.Info.Accesses)
    Requests += double(K.Blocks[A.Block].Warps);
}

double SlotShare::cyclesWithout(double Saved) const {
  const double Kept = 1 - (Slots > 0 ? Saved / Slots : 0);
  const KernelTime T = // without any nothing is known
      timeOf(withCompute(Now, std::max(Kept, 1e-6)), *Limits);
  return T.isKnown() ? T.Cycles - Limits->LaunchCycles : 0;
}

double SlotShare::of(double Saved) const {
  if (Slots <= 0)
    return 0;
  return Cycles > 0 ? 1 - cyclesWithout(Saved) / Cycles : Saved / Slots;
}

double SlotShare::gain(double Saved) const {
  const double Launch = Cycles > 0 ? Limits->LaunchCycles / Cycles : 0;
  return (1 + Launch) / (1 - of(Saved) + Launch);
}

double SlotShare::gain(double Saved, const AddedWork &Added) const {
  if (Cycles <= 0)
    return gain(Saved - Added.Slots);
  const double Kept = 1 - (Saved - Added.Slots) / Slots;
  Demand D = withCompute(Now, std::max(Kept, 1e-6));
  if (Added.ChainsStay) {
    D.PathCycles = Now.PathCycles;
    D.PathLoads = Now.PathLoads;
  }
  D.PathCycles += Added.PathCycles / Launches;
  D.Wavefronts = std::max(0.0, D.Wavefronts + Added.Wavefronts / Launches);
  D.LoadSectors = std::max(0.0, D.LoadSectors + Added.LoadSectors / Launches);
  if (D.Touched.ThreadBlocks) { // a thread block has no more than the grid has
    const double First =
        double(D.Touched.BlockLoads) + Added.FirstSectors / Launches;
    const double Most =
        double(D.Touched.ThreadBlocks) * double(D.Touched.GridLoads);
    D.Touched.BlockLoads =
        uint64_t(std::clamp(First, double(D.Touched.BlockLoads),
                            std::max(Most, double(D.Touched.BlockLoads))));
  }
  for (double *Stores : {&D.StoreSectors, &D.MergedStores})
    *Stores = std::max(0.0, *Stores + Added.StoreSectors / Launches);
  D.ApartLoads = Added.ApartLoads;
  D.Apart = Added.Apart;
  if (Added.Requests < 0 && Requests > 0) { // not like the mean slot
    const size_t Lsu = size_t(Unit::Lsu);
    D.Busy[Lsu] =
        std::min(D.Busy[Lsu],
                 Now.Busy[Lsu] * std::max(0.0, 1 + Added.Requests / Requests));
  }
  if (Added.Machine && Now.HasMachineCode) {
    for (auto [Busy, All] : llvm::zip_equal(D.Busy, Added.Machine->Busy))
      Busy = All / Launches;
    D.PathCycles = Added.Machine->PathCycles / Launches;
    D.PathLoads = Added.Machine->PathLoads / Launches;
  }
  if (Now.Registers)
    D.Registers = unsigned(std::max(1, int(Now.Registers) + Added.Registers));
  D.StaticShared += Added.StaticShared;
  const double Before = Added.Seconds / Launches * Limits->ClockMHz * 1e6;
  return timeOf(Now, *Limits).Cycles / (timeOf(D, *Limits).Cycles + Before);
}

} // namespace reconverge::model
