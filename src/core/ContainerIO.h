//===- core/ContainerIO.h - Write and check containers ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_CONTAINERIO_H
#define RECONVERGE_CORE_CONTAINERIO_H

#include "core/Container.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace reconverge {

/// The bytes of a container that holds \p Bitcode and \p Fatbin.
llvm::SmallVector<char, 0> makeContainer(llvm::StringRef Bitcode,
                                         llvm::StringRef Fatbin);

struct ContainerView {
  llvm::StringRef Bitcode, Fatbin; ///< into the container's own memory
  uint64_t Hash = 0;
};

/// Checks magic, version, sizes and hash of the container that starts at
/// \p Data, and returns views into it. \p Limit is how many bytes may be read
/// (unknown for one that is mapped into a program: pass SIZE_MAX).
llvm::Expected<ContainerView> openContainer(const void *Data, size_t Limit);

} // namespace reconverge

#endif
