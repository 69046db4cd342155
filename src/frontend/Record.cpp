//===- frontend/Record.cpp - What passes did, for LLVM's tools ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontend/Record.h"

#include "core/Error.h"
#include "core/File.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LLVMRemarkStreamer.h"
#include "llvm/Remarks/RemarkStreamer.h"

using namespace llvm;

namespace reconverge::frontend {

Record::~Record() {
  Context.setLLVMRemarkStreamer(nullptr);
  Context.setMainRemarkStreamer(nullptr);
}

Error Record::start(const RecordOptions &Wanted) {
  Options = Wanted;
  if (!Options.Write)
    return Error::success();
  if (Error E = setupLLVMOptimizationRemarks(Context, OS, Options.Passes,
                                             "yaml", /*WithHotness=*/false))
    return userError("-foptimization-record-passes=" + Options.Passes + ": " +
                         toString(std::move(E)),
                     "Write an extended regular expression (POSIX).");
  return Error::success();
}

Error Record::write() const {
  if (!Options.Write)
    return Error::success();
  return writeFileAtomically(Options.File,
                             [&](raw_ostream &To) { To << Text; });
}

} // namespace reconverge::frontend
