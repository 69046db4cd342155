//===- runtime/vm/Features.h - What foretells threads, read -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_FEATURES_H
#define RECONVERGE_RUNTIME_VM_FEATURES_H

#include "runtime/profile/VectorSample.h"
#include "runtime/vm/RepeatedLaunch.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <string>

namespace reconverge::runtime {

/// Reads the features of threads (remedies/common/Features.h) in front of
/// launches. What a kernel's are is found out once.
class FeatureReader {
public:
  /// Shows \p Sample the features of all threads of \p L, which is about to
  /// run; none of a kernel that has none or whose cannot be known before. The
  /// error: reading them failed, if for want of memory.
  llvm::Error read(const RepeatedLaunch &L, VectorSample &Sample);

private:
  struct Reading {
    std::unique_ptr<warpvm::Program> Code;
    warpvm::Kernel *Kernel = nullptr; ///< null: there are none
    std::vector<uint32_t> Loads;
  };
  static llvm::Error make(const RepeatedLaunch &L, Reading &New);
  static llvm::Error launch(const RepeatedLaunch &L, const Reading &By,
                            VectorSample &Sample);
  llvm::DenseMap<const warpvm::Kernel *, Reading> Known;
};

} // namespace reconverge::runtime

#endif
