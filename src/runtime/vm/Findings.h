//===- runtime/vm/Findings.h - What goes to `reconverge test` ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_FINDINGS_H
#define RECONVERGE_RUNTIME_VM_FINDINGS_H

#include "core/Findings.h"
#include "core/Profile.h"
#include "warpvm/Machine.h"

#include "llvm/ADT/StringSet.h"

#include <memory>
#include <mutex>
#include <string>

namespace reconverge::runtime {

/// The file that this process has in the folder of a test; a process that is
/// forked off has another. May be called from any thread.
class FindingsLog {
public:
  /// Begins the file.
  static llvm::Expected<std::unique_ptr<FindingsLog>>
  open(llvm::StringRef Folder);

  /// The log of this process, if RECONVERGE_FINDINGS asks for one; else null.
  static FindingsLog *current();
  static void setCurrent(std::unique_ptr<FindingsLog> Log);

  /// The kernel of the mangled name \p Kernel is launched.
  void launch(llvm::StringRef Kernel);
  /// Each finding is written once.
  void add(Finding F);
  /// The process ends by itself.
  void end();

private:
  explicit FindingsLog(llvm::StringRef Folder) : Folder(Folder) {}
  llvm::Error begin();
  void write(llvm::StringRef Line);
  bool isOwner();

  std::mutex Mutex;
  std::string Folder, Path;
  int Owner = 0; ///< the process that Path is of
  uint64_t Launches = 0;
  llvm::StringSet<> Kernels;
  std::vector<Finding> Found;
};

Finding findingOf(const warpvm::FaultError &E, std::string Kernel);
/// What running a launch in other orders showed; none if it is all the same.
std::vector<Finding> findingsOf(const OrderTrials &T, llvm::StringRef Kernel);

} // namespace reconverge::runtime

#endif
