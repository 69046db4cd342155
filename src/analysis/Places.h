//===- analysis/Places.h - Files of the user's source -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_PLACES_H
#define RECONVERGE_ANALYSIS_PLACES_H

#include "core/SourceLoc.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/Support/Path.h"

#include <string>

namespace reconverge::analysis {

/// On a load that stands where the program reads, but where its value need not
/// be asked for (frontend/LoadPairs.cpp).
inline constexpr llvm::StringLiteral RestoredKind = "reconverge.restored";

/// The path of the file that holds \p Place (a DILocation or DIScope). The
/// front end keeps it in two parts, cut where the file and the folder in which
/// it was compiled part.
template <typename PlaceT> std::string sourcePath(const PlaceT &Place) {
  llvm::StringRef File = Place.getFilename();
  if (llvm::sys::path::is_absolute(File) || Place.getDirectory().empty())
    return File.str();
  llvm::SmallString<256> Path(Place.getDirectory());
  llvm::sys::path::append(Path, File);
  return std::string(Path);
}

/// \p Where and what it was inlined into, innermost first; empty if null.
SourceChain sourceChain(const llvm::DILocation *Where);

} // namespace reconverge::analysis

#endif
