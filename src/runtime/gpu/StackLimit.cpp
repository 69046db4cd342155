//===- runtime/gpu/StackLimit.cpp - Room for longer frames ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a kernel's calls recurse or go through pointers, nobody knows how much
// stack they need, and cudaLimitStackSize is what a thread gets. A program that
// is right under its limit overflows it when frames grow: probes keep counters
// over calls, in registers that the callee saves or in the frame.
//
//   limit' = limit * (shortest frame + added) / shortest frame
//
// The shortest frame of a function that calls has the return address and a
// saved register, 16 bytes as ptxas lays it out. What is added has one word for
// each counter and each value that probes carry along, and a few that the code
// around them makes the register allocator keep. Both err on the safe side.
//
// The stack is memory of the device, for as many threads as it can hold. Of
// what is free, half may go there. The limit that the program has set comes
// back after each launch: the program sees its own.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/StackLimit.h"

#include "analysis/Numbering.h"
#include "analysis/device/Annotations.h"
#include "instrument/ProbePlan.h"
#include "runtime/gpu/Cudart.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"

#include <algorithm>
#include <atomic>

using namespace llvm;

namespace reconverge::gpu {

static constexpr uint64_t ShortestFrame = 16;
static constexpr uint64_t WordsAround = 12;
static constexpr uint64_t MostOfAnyGpu = 512 << 10; ///< local memory, a thread

/// Whether the depth of calls among \p Functions is not known before they run.
static bool isDepthOpen(ArrayRef<const Function *> Functions) {
  for (const Function *From : Functions) {
    SmallPtrSet<const Function *, 8> Seen;
    SmallVector<const Function *> Work{From};
    while (!Work.empty())
      for (const Instruction &I : instructions(*Work.pop_back_val())) {
        auto *Call = dyn_cast<CallBase>(&I);
        if (!Call || Call->isInlineAsm())
          continue;
        const Function *Callee = Call->getCalledFunction();
        if (!Callee || Callee == From)
          return true; // through a pointer, or back
        if (Seen.insert(Callee).second)
          Work.push_back(Callee);
      }
  }
  return false;
}

uint64_t addedToFrames(ArrayRef<const Function *> Functions) {
  if (!isDepthOpen(Functions))
    return 0;
  uint64_t Most = 0;
  for (const Function *F : Functions) {
    if (F->isDeclaration() || analysis::isKernel(*F))
      continue;
    // A plan only looks, but has the blocks for who changes them.
    const instrument::ProbePlan Plan(const_cast<Function &>(*F));
    Most = std::max<uint64_t>(Most, Plan.Words + Plan.ExitCells +
                                        Plan.Groups.size() +
                                        Plan.Splits.size() + WordsAround);
  }
  return alignTo(4 * Most, 16);
}

uint64_t limitFor(uint64_t Limit, uint64_t Added) {
  return std::max(
      Limit,
      std::min(MostOfAnyGpu,
               alignTo(Limit * (ShortestFrame + Added) / ShortestFrame, 16)));
}

static std::atomic<uint64_t> Highest{0};

uint64_t RaisedStack::highest() { return Highest.load(); }

/// Threads that the calling thread's device holds at a time; 0: unknown.
static uint64_t residentThreads() {
  const Cudart &C = cudart();
  int Device = 0, Processors = 0, Threads = 0;
  if (C.GetDevice(&Device) ||
      C.DeviceGetAttribute(&Processors, cudaDevAttrMultiProcessorCount,
                           Device) ||
      C.DeviceGetAttribute(&Threads, cudaDevAttrMaxThreadsPerMultiProcessor,
                           Device))
    return 0;
  return uint64_t(Processors) * uint64_t(Threads);
}

RaisedStack::RaisedStack(uint64_t Added) {
  const Cudart &C = cudart();
  size_t Users = 0, Free = 0, Total = 0;
  const uint64_t Resident = Added ? residentThreads() : 0;
  if (!Resident || C.PeekAtLastError() ||
      C.DeviceGetLimit(&Users, cudaLimitStackSize) ||
      C.MemGetInfo(&Free, &Total))
    return;
  const uint64_t Affordable = Users + Free / 2 / Resident;
  const uint64_t Wanted = std::min(limitFor(Users, Added), Affordable);
  if (Wanted <= Users)
    return;
  if (C.DeviceSetLimit(cudaLimitStackSize, Wanted)) {
    (void)C.GetLastError(); // ours: there was none before
    return;
  }
  Before = Users;
  Highest = std::max<uint64_t>(Highest, Wanted);
}

RaisedStack::~RaisedStack() {
  if (Before)
    (void)cudart().DeviceSetLimit(cudaLimitStackSize, Before);
}

} // namespace reconverge::gpu
