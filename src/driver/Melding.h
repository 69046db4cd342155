//===- driver/Melding.h - --meld and explain --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_MELDING_H
#define RECONVERGE_DRIVER_MELDING_H

#include "driver/CommandLine.h"

namespace reconverge::driver {

/// Of --meld and --meld=<options>: has Request.Compile meld device code after
/// its pipeline. The error names the option that is wrong. Remarks that
/// -Rpass=, -Rpass-missed= or -Rpass-analysis= ask for go to
/// Request.Diagnostics, if it is set when the request is carried out.
llvm::Error requestMelding(BuildRequest &Request);

/// `reconverge explain`: the page of code \p Name ("RC101"), or, if that is
/// empty, of all codes, as docs/codes.md has them.
llvm::Error explain(llvm::StringRef Name, llvm::raw_ostream &OS);

} // namespace reconverge::driver

#endif
