//===- driver/ForeignImages.h - Other compilers' code, for trials -*- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_FOREIGNIMAGES_H
#define RECONVERGE_DRIVER_FOREIGNIMAGES_H

#include "core/Trials.h"
#include "driver/CommandLine.h"
#include "frontend/TempDir.h"

#include "llvm/ADT/StringSet.h"

namespace reconverge::driver {

/// Every other compiler's code of those sources of \p Request of which the
/// device code is one of \p Modules (hashes, 16 hex digits), in files of \p
/// Temp. Where there is none, a note on \p OS says why.
llvm::Expected<std::vector<ForeignImage>>
foreignImages(const BuildRequest &Request, const llvm::StringSet<> &Modules,
              const frontend::TempDir &Temp, llvm::raw_ostream &OS);

/// The program of \p Request, which is linked with NVIDIA's runtime, as \p By
/// builds it, in the file \p Output. False, with a note on \p OS, if it does
/// not.
bool buildBy(ForeignCompiler By, const BuildRequest &Request,
             llvm::StringRef Output, llvm::raw_ostream &OS);

} // namespace reconverge::driver

#endif
