//===- warpvm/Program.h - Programs and kernels as loaded --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_PROGRAM_H
#define RECONVERGE_WARPVM_PROGRAM_H

#include "warpvm/Machine.h"
#include "warpvm/Outline.h"
#include "warpvm/run/Calls.h"
#include "warpvm/run/Code.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace reconverge::warpvm {

/// The ways in which a kernel is compiled, each at its first use.
struct Variant {
  bool Vectors = false; ///< block vectors are recorded
  bool Free = false;    ///< splits may run in any order
  bool Checked = false; ///< every access is tested
  bool Limited = false; ///< loops have a limit, whatever the options say
  bool Watched = false; ///< races are looked for
  bool Noted = false;   ///< ... and what MachineOptions::Sync and Init ask for

  static constexpr unsigned Count = 64;
  static Variant at(unsigned Index) {
    return {bool(Index & 1), bool(Index & 2),  bool(Index & 4),
            bool(Index & 8), bool(Index & 16), bool(Index & 32)};
  }
  Variant with(bool Vectors) const {
    Variant V = *this;
    V.Vectors = Vectors;
    return V;
  }
  unsigned index() const {
    return Vectors + 2 * Free + 4 * Checked + 8 * Limited + 16 * Watched +
           32 * Noted;
  }
};

class LoadedProgram;

/// A kernel, its codes so far, and what a launch has to know of it.
class LoadedKernel : public Kernel {
public:
  LoadedKernel(llvm::StringRef Name, LoadedProgram &Home, KernelOutline Known)
      : Name(Name), Home(Home), Known(std::move(Known)) {}

  llvm::StringRef name() const override { return Name; }
  llvm::Function &function() const override;
  uint64_t staticShared() const override { return Known.Shared; }
  unsigned launchBound() const override { return Known.Bound; }
  unsigned architecture() const override { return Known.Architecture; }
  llvm::ArrayRef<uint64_t> cluster() const override { return Known.Cluster; }
  uint64_t localBytes() const override;
  bool compiledWell() const override;
  llvm::ArrayRef<std::pair<uint64_t, uint64_t>> parameters() const override {
    return Known.Parameters;
  }

  /// The parameters' bytes, as compiled code reads them.
  std::vector<uint8_t> packed(void **Args) const;
  /// Whether some parameter among \p Params that the kernel may follow points to
  /// memory that only the host has. A word of a class is in doubt: the first
  /// launches with one that looks so are told.
  bool takesHostPointer(llvm::ArrayRef<uint8_t> Params);

  std::string Name;
  LoadedProgram &Home;
  KernelOutline Known;
  /// By Variant::index(); null: not yet. What is compiled may outlive us.
  std::shared_ptr<CodeSlot> Slots[Variant::Count];
  const KernelPlan *Explaining[Variant::Count] = {}; ///< checked
  std::optional<Herding>
      Herd;             ///< as MachineOptions::Herd has it, once launched
  unsigned Doubted = 0; ///< launches with a word of a class in doubt
  double Ran = 0;       ///< seconds that launches before this one took
  /// What a block took in the last launch, on average.
  double BlockSeconds = std::numeric_limits<double>::infinity();
  void *const *Globals = nullptr;
};

/// A module with addresses for all that has one.
class LoadedProgram : public Program {
public:
  llvm::StringRef hash() const override { return Hash; }
  llvm::Module &module() const override {
    assert(M && "nobody asks for what is read late");
    return *M;
  }

  llvm::Expected<Kernel *> kernel(llvm::StringRef Name) override;
  llvm::Expected<std::pair<void *, uint64_t>>
  variable(llvm::StringRef Name) override;
  llvm::Error resetVariables() override;
  /// The kernel of that name, with its code and that of all that it reaches.
  llvm::Expected<llvm::Function *> read(llvm::StringRef Kernel);
  void forgetBitcode() override;
  /// The module's bitcode, which outlives us; null if it was forgotten, or is
  /// damaged.
  std::shared_ptr<const std::string> bitcode();
  /// Sees to it that what was given is sound, before it is read or copied.
  llvm::Error check();
  /// Reads the module, if it is not there, and sees to it that it is sound.
  llvm::Error readModule(llvm::MemoryBufferRef From);

  /// What load() was given; without Known, Kept's.
  llvm::MemoryBufferRef Given;
  std::function<llvm::Error()> Check; ///< DeviceCode's, until it has passed
  std::shared_ptr<const std::string> Kept;  ///< once asked for
  bool IsGone = false;                      ///< Given is
  std::mutex Keeping;                       ///< of these
  std::optional<llvm::LLVMContext> Context; ///< of the module
  std::unique_ptr<llvm::Module> M; ///< with Known: once something is compiled
  std::optional<Outline> Known;    ///< if code is read when it is compiled
  std::string Hash;                ///< of the code, by which decisions know it
  std::string Bytes;               ///< DeviceCode::Name: what is cached goes by
  std::vector<VariableOutline> Variables;
  llvm::SmallVector<llvm::Function *, 8> Functions; ///< that have an address
  std::optional<FunctionAddresses> Places;
  std::vector<void *> Addresses; ///< of variables, then of functions
  llvm::StringMap<std::unique_ptr<LoadedKernel>> Kernels;

private:
  llvm::Error readFunction(llvm::Function &F);
};

/// Programs of a machine with \p Options: what Machine::load() and
/// Machine::loadVariant() give.
llvm::Expected<std::unique_ptr<Program>>
loadProgram(DeviceCode Code, const VariableAllocator &Allocate,
            const MachineOptions &Options);
llvm::Expected<std::unique_ptr<Program>>
loadVariantOf(LoadedProgram &Original, llvm::MemoryBufferRef Bitcode);

} // namespace reconverge::warpvm

#endif
