//===- runtime/trial/Log.cpp - The log of trials --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/trial/Log.h"

#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace reconverge::runtime {

Expected<std::unique_ptr<TrialLog>> TrialLog::open(StringRef Path) {
  auto Log = std::make_unique<TrialLog>();
  std::error_code EC;
  Log->OS = std::make_unique<raw_fd_ostream>(Path, EC, sys::fs::OF_Append);
  if (EC)
    return createStringError(EC, "cannot write " + Path + ": " + EC.message());
  return std::move(Log);
}

void TrialLog::add(const TrialEvent &E) {
  printTrialEvent(E, *OS);
  OS->flush();
}

TrialEvent LaunchLog::event(TrialEvent::Kind What, const Candidate &Tried,
                            const Twine &Why) const {
  TrialEvent E = Common;
  E.What = What;
  E.Tried = Tried;
  E.Why = Why.str();
  return E;
}

void LaunchLog::strikeOff(TrialEvent::Kind What, TriedCandidate &C,
                          const Twine &Why) {
  C.StruckOff = true;
  add(What, C.What, Why);
}

} // namespace reconverge::runtime
