//===- runtime/vm/Backend.cpp - The CPU backend that the shim loads -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libReconvergeVM.so: LLVM, the warp VM and the functions over it, for the shims
// of cudart and of CUDA's driver, of which a process may have both. The only file here that knows the real machine; the rest
// is tested with a machine of its own.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Backend.h"

#include "core/Error.h"
#include "core/File.h"
#include "runtime/profile/Process.h"
#include "runtime/vm/Driver.h"
#include "runtime/vm/Engine.h"
#include "runtime/vm/Errors.h"
#include "runtime/vm/Findings.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace reconverge;

static Error start() {
  Expected<runtime::BackendOptions> Options = runtime::optionsFromEnvironment();
  if (!Options)
    return Options.takeError();
  const void *Here = reinterpret_cast<void *>(&reconverge_backend);
  if (Options->needsCosts() && Options->MachineFile.empty())
    Options->MachineFile =
        runtime::installedFile(Here, runtime::DefaultMachineFile);
  Options->Machine.CompilerProgram =
      runtime::installedFile(Here, "lib/reconverge/compile-kernel");
  Options->Machine.Say = [](StringRef What) { runtime::sayOnce(What); };
  if (!Options->HasCache)
    Options->Machine.CacheDir = defaultCacheFolder();
  boundCacheFolder(Options->Machine.CacheDir, Options->CacheBytes);
  return runtime::Engine::get().configure(std::move(*Options),
                                          warpvm::Machine::create);
}

/// The same for all who ask: whether it works here.
static bool started() {
  static const bool Works = [] {
    Error E = start();
    if (!E)
      return true;
    reportError(std::move(E), errs());
    return false;
  }();
  return Works;
}

static const reconverge_backend_symbol *
tableOf(ArrayRef<reconverge_backend_symbol> Table, size_t *Count) {
  *Count = Table.size();
  return started() ? Table.data() : nullptr;
}

extern "C" __attribute__((visibility("default")))
const reconverge_backend_symbol *
reconverge_backend(size_t *Count) {
  return tableOf(runtime::backendTable(), Count);
}

extern "C" __attribute__((visibility("default")))
const reconverge_backend_symbol *
reconverge_driver_backend(size_t *Count, int (*Ready)(void)) {
  runtime::setDriverReady(Ready);
  return tableOf(runtime::driverTable(), Count);
}

extern "C" __attribute__((visibility("default"))) int
reconverge_backend_has_clock() {
  return runtime::Engine::get().options().ModelClock;
}

extern "C" __attribute__((visibility("default"))) int
reconverge_backend_lacks(const char *Name) {
  if (!runtime::FindingsLog::current())
    return 0;
  runtime::sayUnsupported(Twine(Name) + " is not supported on the CPU");
  return 1;
}
