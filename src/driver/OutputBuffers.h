//===- driver/OutputBuffers.h - Device memory as an output ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_OUTPUTBUFFERS_H
#define RECONVERGE_DRIVER_OUTPUTBUFFERS_H

#include "core/Quality.h"
#include "driver/Run.h"

namespace reconverge::driver {

/// The buffers among the outputs that --quality asks for.
class OutputBuffers {
public:
  /// Finds their kernels in the file \p Program. The UserError names a kernel
  /// that is not there or is one of several, and an argument that is no
  /// pointer.
  static llvm::Expected<OutputBuffers>
  find(llvm::ArrayRef<QualityRequest> Asked, llvm::StringRef Program,
       const frontend::TempDir &Folder);

  bool empty() const { return All.empty(); }
  /// Has the next run, as \p Mode says, leave what they hold.
  llvm::Error ask(RunMode &Mode) const;
  /// What that run has left of the buffer \p How; the UserError says why there
  /// is nothing.
  llvm::Expected<std::string> read(const QualityRequest &How) const;

private:
  struct Buffer {
    std::string Output; ///< as it was asked
    std::string Kernel; ///< mangled
    unsigned Argument;
    std::string File;
  };
  std::vector<Buffer> All;
  std::string List; ///< file for what is asked of a run
};

} // namespace reconverge::driver

#endif
