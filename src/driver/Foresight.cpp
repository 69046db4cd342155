//===- driver/Foresight.cpp - What kernels' code tells of remedies --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Foresight.h"

#include "driver/ProgramModules.h"
#include "frontend/MachineCode.h"
#include "frontend/Subprocess.h"
#include "model/Slots.h"
#include "remedies/Table.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"

#include <optional>

using namespace llvm;

namespace reconverge::driver {

/// Share of a run's issue slots of a kernel for whose candidates ptxas is run.
static constexpr double LeastShare = 0.02;

namespace {
/// How many registers code takes, by ptxas; nothing where there is none.
class Ptxas {
public:
  explicit Ptxas(StringRef CudaPath) {
    auto Found = frontend::findCudaToolkit(
        CudaPath, [](StringRef Name) { return sys::Process::GetEnv(Name); });
    if (Found)
      Cuda = std::move(*Found);
    else
      consumeError(Found.takeError());
  }
  remedies::Services services() const {
    if (!Cuda)
      return {};
    return {[this](const Module &M) { return registersOf(M); }};
  }

private:
  std::optional<unsigned> registersOf(const Module &M) const {
    if (frontend::interruption())
      return std::nullopt;
    auto Temp = frontend::TempDir::create();
    auto Code =
        Temp ? frontend::machineCodeOf(M, {}, *Cuda, *Temp) : Temp.takeError();
    if (Code && Code->Registers.size() == 1)
      return Code->Registers.begin()->second;
    if (!Code)
      consumeError(Code.takeError()); // it is then forecast without
    return std::nullopt;
  }

  std::optional<frontend::CudaToolkit> Cuda;
};
} // namespace

static Foresight foreseenOf(const KernelProfile &K, StringRef Bitcode,
                            const remedies::Services &Services) {
  LLVMContext Context;
  auto M = parseBitcodeFile({Bitcode, "device code"}, Context);
  if (!M) {
    consumeError(M.takeError());
    return {};
  }
  const Function *F = (*M)->getFunction(K.Info.Name);
  if (!F || F->isDeclaration())
    return {};
  return {remedies::foreseen(*F, K, Services), remedies::asked(*F)};
}

std::vector<Foresight> foresee(const Profile &Counted, StringRef Program,
                               StringRef CudaPath) {
  std::vector<Foresight> All(Counted.Kernels.size());
  auto Modules = modulesOf(Program);
  if (!Modules) {
    consumeError(Modules.takeError());
    return All;
  }
  double Run = 0;
  std::vector<double> Slots;
  for (const KernelProfile &K : Counted.Kernels)
    Run += Slots.emplace_back(model::slotsOf(K.Info, K.Blocks));
  const Ptxas Counter(CudaPath);
  for (size_t K = 0; K != All.size(); ++K)
    if (auto Code = Modules->find(Counted.Kernels[K].Info.Module);
        Code != Modules->end())
      All[K] = foreseenOf(Counted.Kernels[K], Code->second,
                          Slots[K] >= LeastShare * Run ? Counter.services()
                                                       : remedies::Services());
  return All;
}

} // namespace reconverge::driver
