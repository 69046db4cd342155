//===- driver/Foresight.cpp - What kernels' code tells of remedies --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Foresight.h"

#include "core/Remedied.h"
#include "driver/Profile.h"
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
/// What ptxas makes of code; nothing where there is none.
class Ptxas {
public:
  Ptxas(StringRef CudaPath, const analysis::MachineModel *Prices)
      : Prices(Prices) {
    auto Found = frontend::findCudaToolkit(
        CudaPath, [](StringRef Name) { return sys::Process::GetEnv(Name); });
    if (Found)
      Cuda = std::move(*Found);
    else
      consumeError(Found.takeError());
  }
  remedies::LastCompiler compiler() const {
    if (!Cuda)
      return {};
    return {[this](const Module &M) { return compile(M); }, Prices};
  }

private:
  std::optional<analysis::MachineCode> compile(const Module &M) const {
    if (frontend::interruption())
      return std::nullopt;
    auto Temp = frontend::TempDir::create();
    auto Code =
        Temp ? frontend::machineCodeOf(M, {}, *Cuda, *Temp) : Temp.takeError();
    if (Code)
      return std::move(*Code);
    consumeError(Code.takeError()); // it is then forecast without
    return std::nullopt;
  }

  const analysis::MachineModel *Prices;
  std::optional<frontend::CudaToolkit> Cuda;
};
} // namespace

static Foresight foreseenOf(const KernelProfile &K, StringRef Bitcode,
                            const remedies::LastCompiler &Ptxas) {
  LLVMContext Context;
  auto M = parseBitcodeFile({Bitcode, "device code"}, Context);
  if (!M) {
    consumeError(M.takeError());
    return {};
  }
  const Function *F = (*M)->getFunction(K.Info.Name);
  if (!F || F->isDeclaration())
    return {};
  // Of a kernel with a remedy: a second one's kernels would have its names.
  if (F->getName().contains(RemediedSuffix))
    return {};
  return {remedies::foreseen(*F, K, Ptxas), remedies::asked(*F)};
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
  const auto Machine = machineOf(Counted);
  const Ptxas Compiler(CudaPath, Machine ? &*Machine : nullptr);
  for (size_t K = 0; K != All.size(); ++K)
    if (auto Code = Modules->find(Counted.Kernels[K].Info.Module);
        Code != Modules->end())
      All[K] =
          foreseenOf(Counted.Kernels[K], Code->second,
                     Slots[K] >= LeastShare * Run ? Compiler.compiler()
                                                  : remedies::LastCompiler());
  return All;
}

} // namespace reconverge::driver
