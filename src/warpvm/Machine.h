//===- warpvm/Machine.h - Run device bitcode a warp at a time ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_MACHINE_H
#define RECONVERGE_WARPVM_MACHINE_H

#include "core/Counts.h"
#include "core/Findings.h"
#include "core/LaunchShape.h"
#include "core/Races.h"
#include "core/Vectors.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace reconverge::warpvm {

enum class Tier { Fused, Blocks };
enum class PolicyKind { Frontier, PostDominator };
/// How kernels are compiled: quickly, well, or quickly at first and well, in a
/// process beside this one, once they have run for some time.
enum class Effort { Auto, Well, Fast };

/// A branch whose warps go one way, as if the hardware herded them.
struct HerdedBranch {
  uint32_t Number;       ///< analysis::branchNumber
  bool ToFirst = false;  ///< who wants the second side may be sent to the
                         ///< first, where most lanes want that
  bool ToSecond = false; ///< and the other way round
};

/// What is herded in a kernel. As hardware would: those vote, or have one block
/// of memory, who run together, and it takes no instructions.
struct Herding {
  llvm::SmallVector<HerdedBranch> Branches; ///< by number
  llvm::SmallVector<uint32_t> Loads; ///< analysis::accessNumber, ascending
  /// Of 32 lanes, those who are too few for the first side; of others, as large
  /// a part.
  unsigned Threshold = 16;
  /// Bytes of the aligned blocks of global memory, one of which all lanes that
  /// load together (32; of 8 bytes 16, of more 8) are sent to: the most popular,
  /// of several that of the lowest lane.
  /// 32, 64 or 128. Allocations begin at a multiple of it and the memory behind
  /// them is there up to the next one, so that no such access faults.
  unsigned BlockBytes = 128;

  bool empty() const { return Branches.empty() && Loads.empty(); }
};

struct MachineOptions {
  unsigned WarpSize = 32; ///< 32 or 64
  unsigned Threads = 0;   ///< of the CPU; 0: one a core
  Tier Code = Tier::Fused;
  PolicyKind Policy = PolicyKind::Frontier;
  bool Counters = true;   ///< block and branch counts
  bool Accesses = false;  ///< with these: requests to memory
  uint64_t StepLimit = 0; ///< rounds of loops a warp may go; 0: no limit
  uint64_t Seed = 0;  ///< order of blocks, warps, lanes and, without counters,
                      ///< of a warp's splits; 0: natural, 1: reversed
  bool Check = false; ///< test every access before it is made
  /// Threads that meet at different barriers are a fault; collectives on which
  /// lanes do not agree are told of.
  bool Sync = false;
  /// Tell of reads of memory that nobody has written. Before any is given out,
  /// DeviceMemory::trackWrites() is to be called.
  bool Init = false;
  /// All that kernels may touch comes from DeviceMemory::instance(): any other
  /// pointer is the host's, and a launch that is given one runs checked.
  bool OwnMemory = false;
  /// An access just past an allocation, which a GPU's mapping lets pass, goes
  /// on in memory that is nobody's (DeviceMemory::openSlack). Not with Check.
  bool Tolerant = false;
  /// What is herded in a kernel, as it was loaded; null: nothing in any.
  std::function<Herding(const llvm::Function &)> Herd;
  std::string Isa; ///< "avx2": leave AVX-512 unused; "": all there is
  Effort Compile = Effort::Auto;
  /// The path of compile-kernel, for Auto, which is Well where there is none.
  std::string CompilerProgram;
  std::string CacheDir; ///< compiled kernels; empty: no cache on disk
  /// With Auto and a cache: Machine::leave() does something.
  bool Later = false;
  /// Gets a sentence for the user, once, from any thread; null: nobody does.
  std::function<void(llvm::StringRef)> Say;
  /// Code may be read when it is compiled: nobody asks for Kernel::function()
  /// and Program::module(), and what Machine::load() was given stays where it is
  /// until Program::forgetBitcode().
  bool ReadLate = false;
};

/// What the kernel did wrong; maps onto CUDA's error codes.
enum class FaultKind {
  IllegalAddress,
  Misaligned,
  BarrierDivergence,
  Deadlock,
  StepLimit,
  Assert,
  Trap,
  IllegalInstruction,
  OutOfMemory
};

/// The parts of a fault's message.
struct FaultDetails {
  std::string Text;  ///< what happened
  std::string Place; ///< "app.cu:12"; empty: not known
  std::optional<std::array<uint32_t, 3>> Block, Thread; ///< indices, if known
};

class FaultError : public llvm::ErrorInfo<FaultError> {
public:
  static char ID;
  FaultError(FaultKind Kind, std::string Message, FaultDetails Details = {})
      : Kind(Kind), Message(std::move(Message)), Details(std::move(Details)) {}
  void log(llvm::raw_ostream &OS) const override;
  std::error_code convertToErrorCode() const override;
  FaultKind kind() const { return Kind; }
  const FaultDetails &details() const { return Details; }

private:
  FaultKind Kind;
  std::string Message;
  FaultDetails Details;
};

class Program;

/// One kernel, compiled on first use.
class Kernel {
public:
  virtual ~Kernel() = default;
  virtual llvm::StringRef name() const = 0;
  virtual llvm::Function &function() const = 0; ///< as loaded, numbered
  virtual uint64_t staticShared() const = 0;    ///< bytes
  virtual uint64_t localBytes() const = 0;      ///< bytes a thread
  virtual unsigned launchBound() const = 0;     ///< analysis::launchBound
  /// Blocks of a cluster, three numbers; none: it does not say.
  virtual llvm::ArrayRef<uint64_t> cluster() const = 0;
  /// NN of sm_NN that it was compiled for; 0: it does not say.
  virtual unsigned architecture() const = 0;
  /// Whether launches that begin now run code that was compiled well.
  virtual bool compiledWell() const { return true; }
  /// Byte offset and size of each parameter, as the host stub passes them.
  virtual llvm::ArrayRef<std::pair<uint64_t, uint64_t>> parameters() const = 0;
};

/// Gives memory for module variables: size, alignment, name.
using VariableAllocator =
    std::function<llvm::Expected<void *>(uint64_t, uint64_t, llvm::StringRef)>;

/// Optimised device bitcode of one translation unit.
struct DeviceCode {
  /*implicit*/ DeviceCode(llvm::MemoryBufferRef Bitcode) : Bitcode(Bitcode) {}
  llvm::MemoryBufferRef Bitcode;
  /// What tells it from any other; empty: a hash of it does.
  std::string Name;
  /// Called before it is read, once; null: it is sound. What is in the cache runs
  /// without.
  std::function<llvm::Error()> Check;
};

/// Device code of one translation unit, loaded.
class Program {
public:
  virtual ~Program() = default;
  virtual llvm::StringRef hash() const = 0; ///< 16 hex digits
  virtual llvm::Module &module() const = 0;
  /// Null if there is none of that (mangled) name.
  virtual llvm::Expected<Kernel *> kernel(llvm::StringRef Name) = 0;
  /// Address and size of a __device__ or __constant__ variable.
  virtual llvm::Expected<std::pair<void *, uint64_t>>
  variable(llvm::StringRef Name) = 0;
  /// What Machine::load() was given goes away: its library is unloaded. What is
  /// compiled may be launched yet.
  virtual void forgetBitcode() {}
  /// Gives all variables their initial values again.
  virtual llvm::Error resetVariables() { return llvm::Error::success(); }
};

/// What a launch shall tell, and how it differs from what the machine's options
/// say.
struct LaunchOptions {
  /// What it executed, and what threads did alone; null: nobody asks.
  LaunchCounts *Counts = nullptr;
  VectorObserver *Observer = nullptr;
  /// On one CPU thread, slowly, all accesses of shared and global memory are
  /// watched: which of them race, and whether threads share what they write at
  /// all (docs/races.md). Of a launch that fails it has what came before.
  RaceFindings *Races = nullptr;
  /// What MachineOptions::Sync and Init tell of; null: nobody asks. Of a launch
  /// that fails it has what came before.
  std::vector<Finding> *Notes = nullptr;
  bool Quiet = false; ///< what the kernel prints is thrown away
  /// For launches beside the program's own, which are not tested once more (as
  /// MachineOptions::Check and OwnMemory ask): the order in place of the
  /// machine's. 0: the natural one. Any other is run as a machine with that
  /// seed, under the frontier policy and without counters does: nothing may be
  /// asked for, and loops have a limit, if a generous one, as an order may be
  /// the one in which the kernel hangs.
  std::optional<uint64_t> Seed = std::nullopt;
  /// Rounds of loops a warp may go, in place of the machine's; more are a
  /// fault. 0: no limit.
  std::optional<uint64_t> StepLimit = std::nullopt;
};

/// The executor. One a process; launches are run one after the other.
class Machine {
public:
  virtual ~Machine() = default;
  static llvm::Expected<std::unique_ptr<Machine>>
  create(const MachineOptions &Options);

  /// CPU, vector extensions and threads, in words.
  virtual std::string describe() const = 0;

  /// Waits for what is compiled beside the program.
  virtual void finishCompiling() {}

  /// \p P goes away, or the process ends: what of it has run, and not in good
  /// code, is compiled into the cache by a process that outlives this one.
  virtual void leave(Program &P) {}

  /// Parses device bitcode, gives its variables memory and initial values.
  virtual llvm::Expected<std::unique_ptr<Program>>
  load(DeviceCode Code, const VariableAllocator &Allocate) = 0;

  /// Parses a module that holds other code for kernels of \p Original. It works
  /// on that program's variables and functions, which it must declare in the
  /// same order, and gives none a value.
  virtual llvm::Expected<std::unique_ptr<Program>>
  loadVariant(llvm::MemoryBufferRef Bitcode, Program &Original) = 0;

  /// Runs the kernel to its end. \p Args points to each parameter's bytes, as
  /// cudaLaunchKernel has them. A FaultError is the kernel's own doing; a
  /// UserError names a construct that the VM does not support.
  virtual llvm::Error launch(Kernel &K, const LaunchShape &Shape, void **Args,
                             const LaunchOptions &How) = 0;
};

} // namespace reconverge::warpvm

#endif
