//===- driver/Progress.cpp - What long work is doing ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Progress.h"

#include "driver/Profile.h"
#include "report/Text.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::driver {

Progress::Progress(raw_ostream &OS, bool IsQuiet)
    : OS(OS), IsQuiet(IsQuiet), IsLive(!IsQuiet && OS.is_displayed()),
      Width(terminalFor(OS).Width) {}

void Progress::stage(const Twine &What) {
  clear();
  if (!IsQuiet)
    report::printWrapped(OS, ("reconverge: " + What).str(), Width, 2);
  OS.flush();
}

void Progress::update(const Twine &What) {
  if (!IsLive)
    return;
  // A line that wraps could not be taken back.
  const std::string Text = What.str();
  OS << "\r\033[K  " << StringRef(Text).take_front(Width > 4 ? Width - 4 : 0);
  OS.flush();
  IsShown = true;
}

void Progress::clear() {
  if (!IsShown)
    return;
  OS << "\r\033[K";
  OS.flush();
  IsShown = false;
}

} // namespace reconverge::driver
