//===- frontend/DeviceLink.h - Relocatable device code ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_DEVICELINK_H
#define RECONVERGE_FRONTEND_DEVICELINK_H

#include "frontend/Options.h"
#include "frontend/TempDir.h"
#include "frontend/Toolchain.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace reconverge::frontend {

/// Completes the relocatable device code in \p Objects (objects and archives):
/// links its modules, optimises the whole by \p Options and writes an object
/// that carries it and registers it for all units. Returns that object's path,
/// in \p Temp; nothing if there is no such code, or it has been completed by an
/// object among \p Objects. The error names what no unit defines or two do.
llvm::Expected<std::optional<std::string>>
linkDeviceCode(const Toolchain &Tools, const CompileOptions &Options,
               const TempDir &Temp, llvm::ArrayRef<std::string> Objects);

} // namespace reconverge::frontend

#endif
