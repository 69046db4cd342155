//===- driver/Remedies.h - --<remedy>, pragmas, attributes ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_REMEDIES_H
#define RECONVERGE_DRIVER_REMEDIES_H

#include "driver/CommandLine.h"
#include "frontend/Toolchain.h"

namespace reconverge::driver {

/// Has Request.Compile do to device code after its pipeline, and before what it
/// does there already, what pragmas in the source and then Request.Remedies ask
/// for. The error names the remedy's parameter that is wrong. Remarks that
/// -Rpass= or -Rpass-missed= ask for go to Request.Diagnostics, if it is set.
llvm::Error requestRemedies(BuildRequest &Request,
                            const frontend::Toolchain &Tools);

} // namespace reconverge::driver

#endif
