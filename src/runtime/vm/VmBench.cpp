//===- runtime/vm/VmBench.cpp - One launch on the warp VM, tried ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A candidate's fault comes back as an error here and not as a signal, and its
// loops have a limit: what all warps of the original did together. So no trial
// ends the process.
//
// Costs are issue slots by the machine file, from exact block counts of the
// runs themselves; CPU time says nothing about a GPU's, and none is taken.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/VmBench.h"

#include "model/Slots.h"

using namespace llvm;

namespace reconverge::runtime {

SmallVector<TriedCandidate *> VmBench::candidates() {
  SmallVector<TriedCandidate *> All;
  for (VmCandidate &C : K.Candidates)
    All.push_back(&C);
  return All;
}

Expected<RunEnd> VmBench::runNatural() {
  Expected<RunEnd> End = OnVm::runNatural();
  if (!End || !End->isWell())
    return End;
  if (!K.Info)
    K.Info = analysis::describeKernel(L.Kernel.function(), Settings.Costs,
                                      L.Home.hash());
  uint64_t Steps = 0;
  for (const BlockCounts &B : Counts.Blocks)
    Steps += B.Warps;
  StepLimit = 2 * Steps + 1000;
  End->Slots = model::slotsOf(*K.Info, Counts.Blocks);
  return End;
}

Error VmBench::build(TriedCandidate &Tried) {
  auto &C = static_cast<VmCandidate &>(Tried);
  if (C.Code)
    return Error::success();
  auto V =
      makeVariant(L.Home.module(), L.Kernel.name(), C.What, Settings.Apply);
  if (!V)
    return V.takeError();
  for (const VmCandidate &Other : K.Candidates)
    if (Other.Code && Other.Hash == V->Hash)
      return createStringError("the same code as " + Other.What.text());
  C.Hash = V->Hash;
  auto Code = L.On.loadVariant(
      MemoryBufferRef({V->Bitcode.data(), V->Bitcode.size()}, "variant"),
      L.Home);
  if (!Code)
    return Code.takeError();
  C.Code = std::move(*Code);
  auto Kernel = C.Code->kernel(L.Kernel.name());
  if (!Kernel)
    return Kernel.takeError();
  C.Kernel = *Kernel;
  C.Info = analysis::describeKernel(C.Kernel->function(), Settings.Costs,
                                    C.Code->hash());
  return Error::success();
}

RunEnd VmBench::run(TriedCandidate &Tried, const RunOptions &) {
  auto &C = static_cast<VmCandidate &>(Tried);
  LaunchCounts Counted;
  RunEnd End =
      endOf(L.On.launchTrial(*C.Kernel, L.Shape, L.Args, StepLimit, &Counted));
  End.Slots = model::slotsOf(C.Info, Counted.Blocks);
  return End;
}

} // namespace reconverge::runtime
