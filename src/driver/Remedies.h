//===- driver/Remedies.h - --<remedy>, pragmas, attributes ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_REMEDIES_H
#define RECONVERGE_DRIVER_REMEDIES_H

#include "driver/CommandLine.h"
#include "frontend/Remedied.h"
#include "frontend/Toolchain.h"
#include "remedies/Table.h"

namespace reconverge::driver {

/// Has Request.Compile do to device code after its pipeline, and before what it
/// does there already, what pragmas in the source and then Request.Remedies ask
/// for. The error names the remedy's parameter that is wrong. Remarks that
/// -Rpass= or -Rpass-missed= ask for go to Request.Diagnostics, if it is set.
llvm::Error requestRemedies(BuildRequest &Request,
                            const frontend::Toolchain &Tools);

/// Applies \p What to a copy of \p Kernel that stands beside it and that
/// launches inside \p Bounds take. There is none where \p What leaves it alone.
llvm::Expected<remedies::Applied>
applyBeside(const Candidate &What, llvm::Function &Kernel,
            const frontend::LaunchBounds &Bounds,
            const remedies::Services &Services = {});

} // namespace reconverge::driver

#endif
