//===- frontend/Record.h - What passes did, for LLVM's tools ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_RECORD_H
#define RECONVERGE_FRONTEND_RECORD_H

#include "frontend/Options.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace llvm {
class LLVMContext;
} // namespace llvm

namespace reconverge::frontend {

/// Keeps the remarks of passes that run in a context, as YAML, while it lives.
class Record {
public:
  explicit Record(llvm::LLVMContext &Context) : Context(Context) {}
  ~Record();
  Record(const Record &) = delete;
  Record &operator=(const Record &) = delete;

  /// Begins, if \p Options want it; an error is that of a pattern of passes.
  llvm::Error start(const RecordOptions &Options);
  /// Writes what there is until now to Options.File.
  llvm::Error write() const;

private:
  llvm::LLVMContext &Context;
  RecordOptions Options;
  std::string Text;
  llvm::raw_string_ostream OS{Text};
};

} // namespace reconverge::frontend

#endif
