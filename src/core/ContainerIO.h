//===- core/ContainerIO.h - Write and check containers ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_CONTAINERIO_H
#define RECONVERGE_CORE_CONTAINERIO_H

#include "core/Container.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace reconverge {

/// The versions of reconverge and of LLVM, which decide what bitcode means.
llvm::StringRef containerWriter();

/// The bytes of a container that holds \p Bitcode and \p Fatbin.
llvm::SmallVector<char, 0>
makeContainer(llvm::StringRef Bitcode, llvm::StringRef Fatbin,
              llvm::StringRef Writer = containerWriter());

struct ContainerView {
  llvm::StringRef Bitcode, Fatbin; ///< into the container's own memory
  llvm::StringRef Rest;            ///< all behind the header, these included
  uint64_t Hash = 0;               ///< of Rest, by the header
  /// Whole, but not sealed by this reconverge: LLVM's reader, which ends the
  /// process over some bitcode that is not its own, must not see it unguarded.
  bool Foreign = false;
};

/// Checks magic, version, sizes and hash of the container that starts at
/// \p Data, and returns views into it. \p Limit is how many bytes may be read
/// (unknown for one that is mapped into a program: pass SIZE_MAX).
llvm::Expected<ContainerView> openContainer(const void *Data, size_t Limit);
/// The same in two steps: the first reads the header alone.
llvm::Expected<ContainerView> openHeader(const void *Data, size_t Limit);
llvm::Error checkRest(const ContainerView &Opened);

/// \p Hash as bitcodeHash() writes it.
std::string hashText(uint64_t Hash);
/// What tells one module of device code from another: 16 hex digits.
std::string bitcodeHash(llvm::StringRef Bitcode);

} // namespace reconverge

#endif
