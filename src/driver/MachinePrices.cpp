//===- driver/MachinePrices.cpp - Kernels priced by ptxas -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   program's file --containers--> device bitcode --ptxas--> machine code
//        profile's kernels, by module and name <--cycles by block and pipe--'
//
// ptxas runs once for each module of which a kernel was launched. What shared
// libraries bring is in other files, and stays priced by its IR.
//
//===----------------------------------------------------------------------===//

#include "driver/MachinePrices.h"

#include "analysis/Costs.h"
#include "analysis/MachineCode.h"
#include "driver/ProgramModules.h"
#include "frontend/MachineCode.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"

#include <map>

using namespace llvm;

namespace reconverge::driver {

namespace {
using Kernels = std::vector<KernelProfile *>;

/// Prices the kernels of one module.
class ModulePrices {
public:
  ModulePrices(const frontend::CudaToolkit &Cuda, const frontend::TempDir &Temp,
               const analysis::MachineModel &Machine)
      : Cuda(Cuda), Temp(Temp), Machine(Machine) {}

  /// An error: none of them is priced.
  Error price(StringRef Bitcode, const Kernels &Of,
              function_ref<void(const KernelProfile &, Error)> Failed) const {
    LLVMContext Context;
    auto M = parseBitcodeFile({Bitcode, "device code"}, Context);
    if (!M)
      return M.takeError();
    auto Code = frontend::machineCodeOf(**M, {}, Cuda, Temp);
    if (!Code)
      return Code.takeError();
    for (KernelProfile *K : Of) {
      const Function *F = (*M)->getFunction(K->Info.Name);
      if (!F || F->isDeclaration())
        Failed(*K, createStringError("its module has no such kernel"));
      else if (Error E =
                   analysis::priceByMachineCode(K->Info, *F, *Code, Machine))
        Failed(*K, std::move(E));
    }
    return Error::success();
  }

private:
  const frontend::CudaToolkit &Cuda;
  const frontend::TempDir &Temp;
  const analysis::MachineModel &Machine;
};
} // namespace

Error priceByPtxas(Profile &Counted, StringRef Program, StringRef CudaPath,
                   const analysis::MachineModel &Machine) {
  auto Cuda = frontend::findCudaToolkit(
      CudaPath, [](StringRef Name) { return sys::Process::GetEnv(Name); });
  if (!Cuda)
    return Cuda.takeError();
  auto Temp = frontend::TempDir::create();
  if (!Temp)
    return Temp.takeError();
  auto Modules = modulesOf(Program);
  if (!Modules)
    return Modules.takeError();
  std::map<std::string, Kernels> ByModule;
  for (KernelProfile &K : Counted.Kernels)
    ByModule[K.Info.Module].push_back(&K);
  auto Failed = [&](const KernelProfile &K, Error E) {
    Counted.Notes.push_back(
        "no machine code of " + K.Info.Display +
        " is known, it is priced by its IR: " + toString(std::move(E)));
  };
  const ModulePrices Prices(*Cuda, *Temp, Machine);
  for (const auto &[Hash, Of] : ByModule) {
    const auto Found = Modules->find(Hash);
    Error E = Found == Modules->end()
                  ? createStringError("its code is not in " + Program)
                  : Prices.price(Found->second, Of, Failed);
    if (!E)
      continue;
    const std::string Why = toString(std::move(E));
    for (const KernelProfile *K : Of)
      Failed(*K, createStringError(Why));
  }
  return Error::success();
}

} // namespace reconverge::driver
