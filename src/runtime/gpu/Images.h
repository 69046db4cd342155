//===- runtime/gpu/Images.h - The program's device code ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_IMAGES_H
#define RECONVERGE_RUNTIME_GPU_IMAGES_H

#include "core/Container.h"
#include "instrument/Instrument.h"
#include "runtime/gpu/Options.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace reconverge::gpu {

/// Whether \p Wrapper holds a container of ours.
bool isContainer(const FatbinWrapper *Wrapper);

/// The device code of a translation unit, as it was compiled (without probes)
/// and as it is registered.
struct Image {
  llvm::LLVMContext Context;
  std::unique_ptr<llvm::Module> Code;
  std::unique_ptr<instrument::ModuleProbes> Probes;
  std::string Hash; ///< of the code, 16 hex digits
  std::unique_ptr<llvm::MemoryBuffer> Built;
  FatbinWrapper Wrapper;
  char Config; ///< its address stands for the variable ProbeConfigName
  /// Loads that are features, by the name of the kernel; as built.
  llvm::StringMap<std::vector<uint32_t>> Features;
};

/// A kernel that counts.
struct CountedKernel {
  Image *Home;
  llvm::Function *Code;
  /// It and what it calls.
  std::vector<const llvm::Function *> Functions;
  /// For each of Functions: where its blocks stand in numbersOf(kernel).Blocks,
  /// and its branches in .Branches; NoPosition without a number.
  static constexpr unsigned NoPosition = ~0u;
  std::vector<std::vector<unsigned>> BlockAt, BranchAt;
  /// The same of ModuleProbes::accesses, in .Accesses.
  std::vector<std::vector<unsigned>> AccessAt;
  size_t Blocks = 0, Branches = 0, Accesses = 0; ///< sizes of these lists
  uint64_t AddedToFrames = 0;                    ///< StackLimit.h
  std::string PlainName;   ///< of its code without probes, or empty
  char PlainStub = 0;      ///< its address stands for that
  std::string FeatureName; ///< of the kernel that reads features, or empty
  std::vector<uint32_t> FeatureLoads;
  char FeatureStub = 0; ///< its address stands for that
};

/// Registers the code of \p Wrapper with the runtime below; with probes if it
/// is ours, as it is if it is not, or if that fails (which \p Say is told).
void **registerImage(void *Wrapper, const Options &O,
                     llvm::function_ref<void(const llvm::Twine &)> Say);
void unregisterImage(void **Handle);

/// Notes what kernel \p Stub stands for.
void registerKernel(void **Handle, const void *Stub, llvm::StringRef Name,
                    const Options &O);

/// Registers the variable that tells the kernels of \p I where to count.
void registerProbes(void **Handle, Image &I);

/// \p F, a kernel of \p I, which has its code and its probes.
std::unique_ptr<CountedKernel> describeCounted(Image &I, llvm::Function &F);

/// Null if its code has no probes.
const CountedKernel *findKernel(const void *Stub);

} // namespace reconverge::gpu

#endif
