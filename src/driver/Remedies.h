//===- driver/Remedies.h - --meld, --remap, pragmas, explain ----*- C++ -*-===//
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

/// `reconverge explain`: the page of code \p Name ("RC101"), or, if that is
/// empty, of all codes, as docs/codes.md has them.
llvm::Error explain(llvm::StringRef Name, llvm::raw_ostream &OS);

} // namespace reconverge::driver

#endif
