//===- unittests/warpvm/Harness.cpp - Kernels from text, run and counted --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Harness.h"
#include "analysis/Numbering.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <tuple>

using namespace llvm;

namespace reconverge::warpvm {

MachineOptions optionsFor(unsigned WarpSize, Tier Code, PolicyKind Policy) {
  MachineOptions O;
  O.WarpSize = WarpSize;
  O.Threads = 1;
  O.Code = Code;
  O.Policy = Policy;
  O.StepLimit = uint64_t(1) << 32;
  O.Compile = Effort::Fast; // most of a test's time goes there
  return O;
}

std::string describe(const MachineOptions &O) {
  return (O.Code == Tier::Fused ? "fused, " : "blocks, ") +
         std::string(O.Policy == PolicyKind::Frontier ? "frontier" : "ipdom") +
         ", warps of " + std::to_string(O.WarpSize);
}

std::vector<MachineOptions> setups(unsigned WarpSize) {
  return {optionsFor(WarpSize, Tier::Fused, PolicyKind::Frontier),
          optionsFor(WarpSize, Tier::Blocks, PolicyKind::Frontier),
          optionsFor(WarpSize, Tier::Blocks, PolicyKind::PostDominator)};
}

std::vector<MachineOptions> allSetups() {
  auto All = setups(32);
  append_range(All, setups(64));
  return All;
}

Machine &machineFor(const MachineOptions &O) {
  using Key = std::tuple<unsigned, unsigned, int, int, bool, bool, bool, int,
                         uint64_t, uint64_t, std::string, std::string>;
  // Never destroyed: programs of other static objects may live longer.
  static auto &Machines = *new std::map<Key, std::unique_ptr<Machine>>;
  auto &M = Machines[{O.WarpSize, O.Threads, int(O.Code), int(O.Policy),
                      O.Counters, O.Accesses, O.Check, int(O.Compile),
                      O.StepLimit, O.Seed, O.Isa, O.CacheDir}];
  if (!M)
    M = cantFail(Machine::create(O));
  return *M;
}

SmallVector<char, 0> numberedBitcode(Module &M) {
  analysis::numberBlocks(M);
  SmallVector<char, 0> Bytes;
  raw_svector_ostream OS(Bytes);
  WriteBitcodeToFile(M, OS);
  return Bytes;
}

std::unique_ptr<Module> parseKernel(LLVMContext &C, const std::string &Text) {
  const std::string Full = R"(
    target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
    target triple = "nvptx64-nvidia-cuda"
  )" + Text;
  SMDiagnostic Diagnostic;
  if (auto M = parseAssemblyString(Full, Diagnostic, C))
    return M;
  std::string Message;
  raw_string_ostream Stream(Message);
  Diagnostic.print("kernel", Stream);
  ADD_FAILURE() << Message;
  return std::make_unique<Module>("empty", C);
}

TestProgram::TestProgram(const std::string &Text, Machine &On) : On(On) {
  LLVMContext C;
  load(*parseKernel(C, Text));
}

TestProgram::TestProgram(Module &M, Machine &On) : On(On) { load(M); }

void TestProgram::load(Module &M) {
  Bytes = numberedBitcode(M);
  auto Loaded =
      On.load(MemoryBufferRef(StringRef(Bytes.data(), Bytes.size()), "kernel"),
              [this](uint64_t Size, uint64_t, StringRef) -> Expected<void *> {
                Memory.emplace_back(Size / 8 + 9);
                // 64-aligned, which is more than any variable here asks for.
                auto At = reinterpret_cast<uintptr_t>(Memory.back().data());
                return reinterpret_cast<void *>((At + 63) / 64 * 64);
              });
  if (!Loaded) {
    ADD_FAILURE() << toString(Loaded.takeError());
    return;
  }
  P = std::move(*Loaded);
}

Error TestProgram::launchWith(StringRef Name, const LaunchShape &Shape,
                              void **Args) {
  Counts = {};
  auto K = P->kernel(Name);
  if (!K)
    return K.takeError();
  Last = *K;
  return On.launch(*Last, Shape, Args, {&Counts, Observer});
}

static const BasicBlock *findBlock(Kernel &K, StringRef Name) {
  for (const BasicBlock &BB : K.function())
    if (BB.getName() == Name)
      return &BB;
  return nullptr;
}

const BlockCounts &TestProgram::block(StringRef Name) const {
  static const BlockCounts None;
  const BasicBlock *BB = Last ? findBlock(*Last, Name) : nullptr;
  auto Numbers = analysis::numbersOf(Last->function());
  auto At = BB ? llvm::find(Numbers.Blocks, analysis::blockNumber(*BB))
               : Numbers.Blocks.end();
  if (At == Numbers.Blocks.end() || Counts.Blocks.empty()) {
    ADD_FAILURE() << "no counts of block " << Name.str();
    return None;
  }
  return Counts.Blocks[At - Numbers.Blocks.begin()];
}

const BranchCounts &TestProgram::branch(StringRef Name) const {
  static const BranchCounts None;
  const BasicBlock *BB = Last ? findBlock(*Last, Name) : nullptr;
  auto Numbers = analysis::numbersOf(Last->function());
  auto At = BB ? llvm::find(Numbers.Branches, analysis::branchNumber(*BB))
               : Numbers.Branches.end();
  if (At == Numbers.Branches.end() || Counts.Branches.empty()) {
    ADD_FAILURE() << "no counts of the branch of block " << Name.str();
    return None;
  }
  return Counts.Branches[At - Numbers.Branches.begin()];
}

Fault faultOf(Error E) {
  Fault F;
  handleAllErrors(
      std::move(E),
      [&](const FaultError &Raised) {
        F.Happened = true;
        F.Kind = Raised.kind();
        raw_string_ostream OS(F.Message);
        Raised.log(OS);
      },
      [](const ErrorInfoBase &Other) {
        ADD_FAILURE() << "no fault but: " << Other.message();
      });
  return F;
}

LaunchShape shape(unsigned Blocks, unsigned Threads, uint64_t Shared) {
  LaunchShape S;
  S.Grid = {Blocks, 1, 1};
  S.Block = {Threads, 1, 1};
  S.DynamicShared = Shared;
  return S;
}

ArrayRef<MaskShape> maskShapes() {
  static const MaskShape Shapes[] = {
      {"full", ~uint64_t(0)},
      {"none", 0},
      {"first lane", 1},
      {"lane 37", uint64_t(1) << 37},
      {"alternating", 0x5555555555555555},
      {"prefix", 0x00000fffffffffff},
      {"suffix", 0xfffffffff0000000},
      {"random", 0x1d3a95c07e62f84b},
  };
  return Shapes;
}

std::string differenceOf(const LaunchCounts &A, const LaunchCounts &B) {
  auto Block = [](const BlockCounts &C) {
    return "warps " + std::to_string(C.Warps) + ", lanes " +
           std::to_string(C.Lanes) + ", partial " +
           std::to_string(C.PartialIdle) + ", exited " +
           std::to_string(C.ExitedIdle);
  };
  auto Branch = [](const BranchCounts &C) {
    std::string Text = "warps " + std::to_string(C.Warps) + ", splits " +
                       std::to_string(C.Splits) + ", lanes";
    for (uint64_t N : C.LanesTo)
      Text += " " + std::to_string(N);
    return Text;
  };
  if (A.Blocks.size() != B.Blocks.size() ||
      A.Branches.size() != B.Branches.size())
    return "lists of different lengths";
  for (size_t I = 0; I < A.Blocks.size(); ++I)
    if (Block(A.Blocks[I]) != Block(B.Blocks[I]))
      return "block " + std::to_string(I) + ": " + Block(A.Blocks[I]) +
             " against " + Block(B.Blocks[I]);
  for (size_t I = 0; I < A.Branches.size(); ++I)
    if (Branch(A.Branches[I]) != Branch(B.Branches[I]))
      return "branch " + std::to_string(I) + ": " + Branch(A.Branches[I]) +
             " against " + Branch(B.Branches[I]);
  if (A.Warps != B.Warps || A.DivergentWarps != B.DivergentWarps)
    return "divergent warps: " + std::to_string(A.DivergentWarps) +
           " against " + std::to_string(B.DivergentWarps);
  return "";
}

} // namespace reconverge::warpvm
