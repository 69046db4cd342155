//===- runtime/vm/RepeatedLaunch.cpp - A launch, run again ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/vm/RepeatedLaunch.h"

using namespace llvm;
using reconverge::warpvm::Allocation;
using reconverge::warpvm::DeviceMemory;
using reconverge::warpvm::FaultError;
using reconverge::warpvm::FaultKind;

namespace reconverge::runtime {

RunEnd endOf(Error Failed) {
  RunEnd End;
  handleAllErrors(
      std::move(Failed),
      [&](const FaultError &F) {
        const bool Stuck =
            F.kind() == FaultKind::StepLimit || F.kind() == FaultKind::Deadlock;
        End.How = Stuck ? RunEnd::Hang : RunEnd::Fault;
        End.Why = F.message();
      },
      [&](const ErrorInfoBase &Other) {
        End.How = RunEnd::Refused;
        End.Why = Other.message();
      });
  return End;
}

LaunchMemory::LaunchMemory(uint64_t Budget)
    : Budget(Budget ? Budget : DeviceMemory::defaultCapacity() / 3) {}

void LaunchMemory::takeBefore() {
  Before = MemorySnapshot::take(DeviceMemory::instance(), Budget);
}

Error LaunchMemory::takeAfter() {
  if (Before)
    After = MemorySnapshot::take(DeviceMemory::instance(),
                                 Budget - Before->bytes(), &*Before);
  if (!After)
    return createStringError("copies of device memory would take more than " +
                             Twine(Budget >> 20) + " MiB");
  return Error::success();
}

void LaunchMemory::differences(PageVisitor Visit) const {
  After->differences([&](const Allocation &In, uint64_t Offset,
                         ArrayRef<uint8_t> Then, ArrayRef<uint8_t> Now) {
    Visit({In.Base, Offset, [&] { return warpvm::nameOf(In); }}, Then, Now);
  });
}

} // namespace reconverge::runtime
