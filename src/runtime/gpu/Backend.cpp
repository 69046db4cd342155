//===- runtime/gpu/Backend.cpp - What the shim loads to count or try ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/CacheFolder.h"
#include "core/Error.h"
#include "frontend/Installation.h"
#include "runtime/gpu/Counter.h"
#include "runtime/gpu/Cudart.h"
#include "runtime/gpu/Hardware.h"
#include "runtime/gpu/Launch.h"
#include "runtime/gpu/TrialTable.h"
#include "runtime/gpu/Trials.h"
#include "runtime/profile/Process.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace reconverge;

/// The file of the GPU that this runs on; of the H200 if we have none of it.
static std::string ownMachineFile() {
  std::string Default = runtime::installedFile(
      reinterpret_cast<void *>(&reconverge_counting_backend),
      runtime::DefaultMachineFile);
  std::string Own = frontend::machineFileOf(sys::path::parent_path(Default),
                                            gpu::nameOfFirst());
  return Own.empty() ? Default : Own;
}

/// The functions that what the environment asks for needs.
static Expected<ArrayRef<reconverge_backend_symbol>> start() {
  Expected<gpu::Options> Options = gpu::optionsFromEnvironment();
  if (!Options)
    return Options.takeError();
  boundCacheFolder(Options->CacheDir);
  const bool Counts =
      !Options->TrialPlan.empty() || !Options->ProfilePath.empty();
  if (Counts && Options->MachineFile.empty())
    Options->MachineFile = ownMachineFile();
  if (!Options->TrialPlan.empty()) {
    if (Error E = gpu::GpuTrials::get().configure(std::move(*Options)))
      return std::move(E);
    return gpu::trialTable();
  }
  if (Error E = gpu::Counter::get().configure(std::move(*Options)))
    return std::move(E);
  return gpu::countingTable();
}

extern "C" __attribute__((visibility("default")))
const reconverge_backend_symbol *
reconverge_counting_backend(size_t *Count, void *(*Next)(const char *)) {
  gpu::setCudart(Next);
  auto Table = start();
  if (!Table) {
    reportError(Table.takeError(), errs());
    return nullptr;
  }
  *Count = Table->size();
  return Table->data();
}
