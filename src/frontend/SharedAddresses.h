//===- frontend/SharedAddresses.h - Addresses of both ways -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_SHAREDADDRESSES_H
#define RECONVERGE_FRONTEND_SHAREDADDRESSES_H

namespace llvm {
class TargetPassConfig;
} // namespace llvm

namespace reconverge::frontend {

/// The code generator then moves an address that both ways from a branch compute
/// in front of it.
void hoistSharedAddresses(llvm::TargetPassConfig &Passes);

} // namespace reconverge::frontend

#endif
