//===- runtime/gpu/Backend.cpp - What the shim loads to count -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/Error.h"
#include "runtime/gpu/Counter.h"
#include "runtime/gpu/Cudart.h"
#include "runtime/gpu/Launch.h"
#include "runtime/profile/Process.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace reconverge;

static Error start() {
  Expected<gpu::Options> Options = gpu::optionsFromEnvironment();
  if (!Options)
    return Options.takeError();
  if (!Options->ProfilePath.empty() && Options->MachineFile.empty())
    Options->MachineFile = runtime::defaultMachineFile(
        reinterpret_cast<void *>(&reconverge_counting_backend));
  return gpu::Counter::get().configure(std::move(*Options));
}

extern "C" __attribute__((visibility("default")))
const reconverge_backend_symbol *
reconverge_counting_backend(size_t *Count, void *(*Next)(const char *)) {
  gpu::setCudart(Next);
  if (Error E = start()) {
    reportError(std::move(E), errs());
    return nullptr;
  }
  ArrayRef<reconverge_backend_symbol> Table = gpu::countingTable();
  *Count = Table.size();
  return Table.data();
}
