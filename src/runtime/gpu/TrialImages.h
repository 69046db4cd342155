//===- runtime/gpu/TrialImages.h - Device code with candidates --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_TRIALIMAGES_H
#define RECONVERGE_RUNTIME_GPU_TRIALIMAGES_H

#include "runtime/gpu/Allocations.h"
#include "runtime/gpu/Images.h"
#include "runtime/trial/LaunchChoice.h"
#include "runtime/trial/Log.h"
#include "runtime/trial/Variant.h"

#include "analysis/Costs.h"
#include "core/Recipe.h"

#include <cuda_runtime_api.h>

#include <deque>
#include <map>
#include <mutex>
#include <set>

namespace reconverge::gpu {

/// A variable of device code, as the program registered it.
struct DeviceVariable {
  const void *Symbol; ///< the host's stand-in
  std::string Name;   ///< mangled
  uint64_t Bytes;
  bool Constant;
  void **Managed; ///< where the host has its address; null for others
  /// Their addresses stand for the ones in other compilers' code.
  EachForeign<char> Twins = {};
};

/// A copy of a kernel's code that counts its basic blocks.
struct CountingCode {
  std::string Name; ///< of the code, in its image; empty: there is none
  std::unique_ptr<CountedKernel> Kernel;
  KernelInfo Info; ///< with what each block costs
  char Stub = 0;   ///< its address is what launches it
};

/// A kernel that a recipe launches.
struct StepCode {
  std::string Name;
  char Stub = 0; ///< its address is what launches it
};

/// Other code for one kernel.
struct GpuCandidate : runtime::TriedCandidate {
  std::string Hash;   ///< of the kernel's module with it
  std::string Name;   ///< of the code, in its image
  std::string Refuse; ///< why there is none; empty: there is
  char Stub = 0;      ///< its address is what launches it
  CountingCode Counting;
  /// What is launched in place of the kernel; none: the code, as it would be.
  std::optional<Recipe> Launch;
  std::deque<StepCode> Others;       ///< kernels of Launch beside the code
  std::vector<const void *> Handles; ///< what launches each step of Launch
};

struct TrialImage;

/// A kernel that the plan names.
struct GpuTriedKernel {
  TrialImage *Home;
  llvm::Function *Code; ///< as it was compiled
  const void *Stub = nullptr;
  std::string Untried; ///< why its launches cannot be; empty: they can
  bool MayPrint;
  /// Names of the variables that it uses, in the order of the module.
  std::vector<std::string> Variables;
  std::deque<GpuCandidate> Candidates; ///< they stay where they are
  CountingCode Counting;
  runtime::LaunchChoice Choice;
};

/// Another compiler's code of a translation unit.
struct TheirCode {
  std::unique_ptr<llvm::MemoryBuffer> Image; ///< null: it was not asked for
  FatbinWrapper Wrapper;
};

/// The device code of a translation unit.
struct TrialImage {
  llvm::LLVMContext Context;
  std::unique_ptr<llvm::Module> Code; ///< as it was compiled
  std::string Hash;                   ///< of its code (analysis/CodeHash.h)
  std::unique_ptr<llvm::MemoryBuffer> Built; ///< with candidates
  FatbinWrapper Wrapper;
  EachForeign<TheirCode> Theirs;
  Image Counting; ///< the code of Built before probes went into its copies
  std::map<std::string, GpuTriedKernel, std::less<>> Kernels; ///< by name
};

/// All images of the process, as compilers registered them.
class TrialImages {
public:
  void configure(const TrialPlan *Plan, const Options &O,
                 analysis::MachineModel Costs, runtime::Remedies Apply);

  // What the program calls; each ends in the runtime below. Failed(module, why)
  // is told that no candidate of a module can be built.
  void **registerFatBinary(
      void *Wrapper,
      llvm::function_ref<void(llvm::StringRef, const llvm::Twine &)> Failed);
  void registerEnd(void **Handle);
  void unregister(void **Handle);
  void registerFunction(void **Handle, const char *Stub, char *DeviceFun,
                        const char *Name, int ThreadLimit, uint3 *Tid,
                        uint3 *Bid, dim3 *BlockDim, dim3 *GridDim,
                        int *WarpSize);
  void registerVariable(void **Handle, DeviceVariable V);

  /// What is launched by \p Stub; null if the plan does not name it.
  GpuTriedKernel *kernel(const void *Stub);
  /// The most local memory that a thread of a kernel launched so far has.
  uint64_t localBytes();
  /// In the order in which the program registered them.
  const std::deque<DeviceVariable> &variables(const TrialImage &I);

  /// Where kernels can write variables.
  std::vector<Area> areas();
  /// Device memory that all variables may take, others' as well.
  uint64_t variableBytes();

private:
  struct Registered {
    std::unique_ptr<TrialImage> Image; ///< null: not one that is tried
    std::deque<DeviceVariable> Variables;
  };
  llvm::Error load(TrialImage &I, llvm::StringRef Bitcode);
  llvm::Error loadTheirs(TrialImage &I, ForeignCompiler By);
  llvm::Error addCounting(TrialImage &I, llvm::Module &Whole);
  void registerTheirs(ForeignCompiler By, Registered &R);

  const TrialPlan *Plan = nullptr;
  Options Settings;
  std::optional<analysis::MachineModel> Costs;
  runtime::Remedies Apply;
  std::recursive_mutex Lock;
  std::map<void **, Registered> Images;             ///< by handle
  std::map<const void *, GpuTriedKernel *> Kernels; ///< by stub
  std::set<const void *> Launched;
  /// Of libraries that were unloaded.
  std::vector<std::unique_ptr<TrialImage>> Unloaded;
};

} // namespace reconverge::gpu

#endif
