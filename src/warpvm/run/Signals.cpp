//===- warpvm/run/Signals.cpp - Faults that the hardware finds ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A wild access of compiled code meets a page without access (DeviceMemory,
// Arena). While a thread runs such code it has a guard, to which the signal's
// handler jumps; any other signal goes to who handled it before us.
//
//===----------------------------------------------------------------------===//

#include "warpvm/memory/DeviceMemory.h"
#include "warpvm/run/Launch.h"
#include "warpvm/run/Library.h"

#include <csignal>
#include <mutex>

namespace reconverge::warpvm {

static struct sigaction OldSegv, OldBus;

static void onSignal(int Signal, siginfo_t *Info, void *Context) {
  if (FaultGuard *Guard = currentGuard()) {
    if (Guard->Tolerant && DeviceMemory::instance().openSlack(
                               reinterpret_cast<uint64_t>(Info->si_addr)))
      return; // the access is made again
    Guard->Kind = FaultKind::IllegalAddress;
    Guard->Address = reinterpret_cast<uint64_t>(Info->si_addr);
    Guard->HasAddress = true;
    siglongjmp(Guard->Landing, 1);
  }
  const struct sigaction &Old = Signal == SIGSEGV ? OldSegv : OldBus;
  if ((Old.sa_flags & SA_SIGINFO) && Old.sa_sigaction) {
    Old.sa_sigaction(Signal, Info, Context);
  } else if (Old.sa_handler != SIG_DFL && Old.sa_handler != SIG_IGN) {
    Old.sa_handler(Signal);
  } else {
    // Back to the default; returning repeats the access and ends the process.
    signal(Signal, SIG_DFL);
  }
}

void installSignalHandlers() {
  static std::once_flag Once;
  std::call_once(Once, [] {
    struct sigaction Action = {};
    Action.sa_sigaction = onSignal;
    Action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &Action, &OldSegv);
    sigaction(SIGBUS, &Action, &OldBus);
  });
}

} // namespace reconverge::warpvm
