//===- runtime/vm/Backend.cpp - The CPU backend that the shim loads -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libReconvergeVM.so: LLVM, the warp VM and the runtime functions over it, with
// one exported name. The only file here that knows the real machine; the rest
// is tested with a machine of its own.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Backend.h"

#include "core/Error.h"
#include "runtime/vm/Engine.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <dlfcn.h>

using namespace llvm;
using namespace reconverge;

/// share/reconverge/machines/h200.json, found from where this library lies:
/// lib/reconverge/libReconvergeVM.so.
static std::string defaultMachineFile() {
  Dl_info Here;
  if (!dladdr(reinterpret_cast<void *>(&reconverge_backend), &Here))
    return "";
  SmallString<256> Path;
  if (sys::fs::real_path(Here.dli_fname, Path))
    Path = Here.dli_fname;
  sys::path::remove_filename(Path);
  sys::path::append(Path, "..", "..", "share", "reconverge");
  sys::path::append(Path, "machines", "h200.json");
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  return Path.str().str();
}

static Error start() {
  Expected<runtime::BackendOptions> Options = runtime::optionsFromEnvironment();
  if (!Options)
    return Options.takeError();
  if (!Options->ProfilePath.empty() && Options->MachineFile.empty())
    Options->MachineFile = defaultMachineFile();
  return runtime::Engine::get().configure(std::move(*Options),
                                          warpvm::Machine::create);
}

extern "C" __attribute__((visibility("default")))
const reconverge_backend_symbol *
reconverge_backend(size_t *Count) {
  if (Error E = start()) {
    reportError(std::move(E), errs());
    return nullptr;
  }
  ArrayRef<reconverge_backend_symbol> Table = runtime::backendTable();
  *Count = Table.size();
  return Table.data();
}
