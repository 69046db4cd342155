//===- warpvm/emit/Compile.cpp - From a kernel to code in memory ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A short list of passes turns stack variables into SSA form and cleans up; the
// emitter's code is explicit vectors already, so the vectorisers would find
// nothing. Code that runs once is not worth that: by Effort::Fast it is a list
// of steps (Steps.cpp). Both give the same results, bit by bit: neither contracts
// nor reassociates.
//
// The object file goes to the cache on disk, keyed by everything that shaped
// it: bitcode, kernel, options, host CPU and this very code of the VM.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Compile.h"

#include "analysis/AnalysisManagers.h"
#include "core/CacheFolder.h"
#include "core/Error.h"
#include "warpvm/emit/CachedFile.h"
#include "warpvm/emit/Operations.h"
#include "warpvm/emit/Steps.h"
#include "warpvm/emit/WriteObject.h"

#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/xxhash.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <dlfcn.h>
#include <mutex>
#include <optional>
#ifdef __x86_64__
#define _Bool bool // that header is for C
#include <sys/platform/x86.h>
#undef _Bool
#endif

using namespace llvm;

namespace reconverge::warpvm {

static void optimise(Module &M, TargetMachine &TM) {
  analysis::AnalysisManagers Analyses(&TM);
  FunctionPassManager FPM;
  FPM.addPass(SimplifyCFGPass());
  FPM.addPass(SROAPass(SROAOptions::PreserveCFG));
  FPM.addPass(EarlyCSEPass());
  FPM.addPass(InstCombinePass());
  FPM.addPass(JumpThreadingPass(200));
  FPM.addPass(SimplifyCFGPass());
  FPM.addPass(createFunctionToLoopPassAdaptor(
      LICMPass(100, 250, /*AllowSpeculation=*/true), /*UseMemorySSA=*/true));
  FPM.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  FPM.addPass(ADCEPass());
  FPM.addPass(SimplifyCFGPass());
  for (Function &F : M)
    if (!F.isDeclaration())
      FPM.run(F, Analyses.Functions);
}

/// What is for this CPU. To ask it takes 0.1 ms and more where it is a virtual one,
/// and a process has two compilers.
static Expected<orc::JITTargetMachineBuilder> hostBuilder() {
  static std::mutex Asking;
  // Never destroyed: launches may come from exit handlers.
  static auto &Known = *new std::optional<orc::JITTargetMachineBuilder>;
  std::lock_guard<std::mutex> Lock(Asking);
  if (!Known)
    if (Error E = orc::JITTargetMachineBuilder::detectHost().moveInto(Known))
      return std::move(E);
  return *Known;
}

/// Another for CPUs of another model or with other features. The C library has
/// asked the CPU when the process began.
static Expected<std::string> nameOfCpu() {
#ifdef __x86_64__
  std::string Name =
      utohexstr(__x86_get_cpuid_feature_leaf(CPUID_INDEX_1)->cpuid_array[0]);
  for (unsigned Leaf = CPUID_INDEX_1; Leaf <= CPUID_INDEX_14_ECX_0; ++Leaf)
    for (unsigned Bits : __x86_get_cpuid_feature_leaf(Leaf)->active_array)
      Name += " " + utohexstr(Bits);
  return Name;
#else
  auto Builder = hostBuilder();
  if (!Builder)
    return Builder.takeError();
  return Builder->getCPU() + "\n" + Builder->getFeatures().getString();
#endif
}

Expected<std::unique_ptr<Compiler>>
Compiler::create(const MachineOptions &Options, Effort How,
                 ArrayRef<std::pair<const char *, void *>> Library) {
  const std::string &Isa = Options.Isa;
  if (!Isa.empty() && Isa != "avx2")
    return userError("unknown instruction set '" + Isa +
                         "' for the CPU executor",
                     "Known: avx2; leave it out for all that the CPU has.");
  Expected<std::string> Name = Isa.empty() ? nameOfCpu() : Isa;
  if (!Name)
    return Name.takeError();
  std::unique_ptr<Compiler> C(new Compiler);
  C->Isa = Isa;
  C->CpuName = std::move(*Name);
  C->CacheDir = Options.CacheDir;
  C->How = How;
  for (auto [Name, Address] : Library)
    C->Library[Name] = Address;
  return C;
}

/// Makes what code is made for.
Expected<orc::JITTargetMachineBuilder> Compiler::builder() const {
  auto Builder = hostBuilder();
  if (!Builder)
    return Builder.takeError();
  if (Isa == "avx2") {
    Builder->setCPU("skylake"); // AVX2 with gathers that pay
    Builder->getFeatures() = SubtargetFeatures();
  }
  Builder->setCodeGenOptLevel(How == Effort::Fast ? CodeGenOptLevel::None
                                                  : CodeGenOptLevel::Default);
  Builder->setRelocationModel(Reloc::PIC_);
  // The default for a JIT, the large model, loads every constant's address.
  Builder->setCodeModel(CodeModel::Small);
  return Builder;
}

/// Made for the first kernel that the cache has not.
Expected<TargetMachine *> Compiler::target() {
  if (!Target) {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    auto Host = builder();
    if (!Host)
      return Host.takeError();
    auto New = Host->createTargetMachine();
    if (!New)
      return New.takeError();
    Target = std::move(*New);
    Target->setO0WantsFastISel(true);
    // What the IR says is what runs: no further contraction.
    Target->Options.AllowFPOpFusion = FPOpFusion::Strict;
  }
  return Target.get();
}

std::string Compiler::hostInWords() const {
  auto Host = builder();
  if (!Host) {
    consumeError(Host.takeError());
    return "an unknown CPU";
  }
  const std::string Features = Host->getFeatures().getString();
  const bool Wide = StringRef(Features).contains("+avx512f");
  const std::string &Cpu = Host->getCPU();
  const bool Vectors =
      Cpu == "skylake" || StringRef(Features).contains("+avx2");
  return Cpu + (Wide ? ", AVX-512" : Vectors ? ", AVX2" : ", SSE");
}

std::string describe(const EmitOptions &Emit, Tier Code) {
  std::string Text = formatv(
      "{0} {1} {2:d} {3:d} {4:d} {5:d} {6:d} {7} {8} {9:d} {10:d} {11:d}",
      CacheFormat, Emit.WarpSize, Emit.Counters, Emit.Vectors, Emit.Budget,
      Emit.Check, Emit.Shuffled, Emit.RegionLimit, unsigned(Code), Emit.Races,
      Emit.Accesses, Emit.Sync + 2 * Emit.Init);
  raw_string_ostream OS(Text);
  const Herding &Herd = Emit.Herd;
  OS << ' ' << Herd.Threshold << ' ' << Herd.BlockBytes << ' '
     << Herd.Branches.size();
  for (const HerdedBranch &Each : Herd.Branches)
    OS << ' ' << Each.Number << ' ' << Each.ToFirst + 2 * Each.ToSecond;
  for (uint32_t Load : Herd.Loads)
    OS << ' ' << Load;
  return Text;
}

bool parseDescription(StringRef Text, EmitOptions &Emit, Tier &Code) {
  SmallVector<unsigned> Numbers;
  for (unsigned N; !(Text = Text.ltrim(' ')).empty(); Numbers.push_back(N))
    if (Text.consumeInteger(10, N))
      return false;
  constexpr size_t Fixed = 15;
  if (Numbers.size() < Fixed || (Numbers.size() - Fixed) / 2 < Numbers[14])
    return false;
  Emit.WarpSize = Numbers[1];
  Emit.Counters = Numbers[2];
  Emit.Vectors = Numbers[3];
  Emit.Budget = Numbers[4];
  Emit.Check = Numbers[5];
  Emit.Shuffled = Numbers[6];
  Emit.RegionLimit = Numbers[7];
  Code = Tier(Numbers[8]);
  Emit.Races = Numbers[9];
  Emit.Accesses = Numbers[10];
  Emit.Sync = Numbers[11] & 1;
  Emit.Init = Numbers[11] & 2;
  Emit.Herd.Threshold = Numbers[12];
  Emit.Herd.BlockBytes = Numbers[13];
  const auto Lists = ArrayRef(Numbers).drop_front(Fixed);
  for (size_t I = 0; I != Numbers[14]; ++I)
    Emit.Herd.Branches.push_back({Lists[2 * I], (Lists[2 * I + 1] & 1) != 0,
                                  (Lists[2 * I + 1] & 2) != 0});
  append_range(Emit.Herd.Loads, Lists.drop_front(2 * size_t(Numbers[14])));
  return Numbers[0] == CacheFormat &&
         (Code == Tier::Fused || Code == Tier::Blocks);
}

std::string Compiler::cachePath(StringRef ModuleHash, StringRef Name,
                                const EmitOptions &Emit, Tier Code) const {
  std::string Key =
      (ModuleHash + "\n" + Name + "\n" + describe(Emit, Code) + " " +
       Twine(How == Effort::Fast) + "\n" + CpuName + "\n" + BuildId)
          .str();
  return reconverge::cachePath(CacheDir, xxh3_64bits(Key));
}

Expected<std::unique_ptr<MemoryBuffer>>
Compiler::build(Function &Kernel, const EmitOptions &Emit, Tier Code) {
  auto For = target();
  if (!For)
    return For.takeError();
  TargetMachine &Host = **For;
  EmitOptions ForHost = Emit;
  ForHost.Scatter =
      Host.getMCSubtargetInfo()->checkFeatures("+avx512f,+avx512bw,+avx512vl");
  auto M = emitKernel(Kernel, ForHost, Code, Host);
  if (!M)
    return M.takeError();
  if (How == Effort::Fast) {
    if (Error E = makeLists(**M, Host))
      return std::move(E);
  } else {
    optimise(**M, Host);
  }
  return writeObject(**M, Host);
}

/// Those that lists may name; read from the cache when the first one is asked
/// for.
OperationLibrary &Compiler::operations() {
  if (!Operations)
    Operations.emplace(
        Code,
        CacheDir.empty() ? "" : cachePath("", "operations", {}, Tier::Fused),
        [this](StringRef Name) { return find(Name); });
  return *Operations;
}

/// The functions of \p M walk lists of steps, whose operations are there.
Error Compiler::makeLists(Module &M, TargetMachine &Host) {
  Module Missing("operations", M.getContext());
  Missing.setTargetTriple(M.getTargetTriple());
  Missing.setDataLayout(M.getDataLayout());
  makeSteps(M, [&](StringRef Name) { return operations().has(Name); }, Missing);
  if (Missing.empty())
    return Error::success();
  auto Object = writeObject(Missing, Host);
  if (!Object)
    return Object.takeError();
  return operations().add(std::move(*Object));
}

/// What code may use: the VM's own library, operations, and what the C library
/// and the compiler's have.
Expected<void *> Compiler::find(StringRef Name) {
  if (auto At = Library.find(Name); At != Library.end())
    return At->second;
  if (isOperationName(Name))
    return operations().find(Name);
  return dlsym(RTLD_DEFAULT, Name.str().c_str());
}

Expected<Compiled> Compiler::link(const MemoryBuffer &Object) {
  Compiled Result;
  Result.Bytes = Object.getBufferSize();
  if (Error E = Code.link(
          Object, [&](StringRef Name) { return find(Name); },
          [&](StringRef Name, void *At) {
            if (Name == PlanSymbol)
              Result.Plan = static_cast<const KernelPlan *>(At);
          }))
    return std::move(E);
  if (!Result.Plan)
    return internalError("an object file without " + PlanSymbol);
  return Result;
}

Expected<Compiled> Compiler::cached(StringRef Kernel, StringRef ModuleHash,
                                    const EmitOptions &Emit, Tier Code) {
  if (CacheDir.empty())
    return Compiled();
  auto Object = readWhole(cachePath(ModuleHash, Kernel, Emit, Code));
  if (!Object || (How == Effort::Fast && !operations().serves(*Object)))
    return Compiled();
  return link(*Object);
}

Expected<Compiled> Compiler::compile(Function &Kernel, StringRef ModuleHash,
                                     const EmitOptions &Emit, Tier Code) {
  auto Built = build(Kernel, Emit, Code);
  if (!Built)
    return Built.takeError();
  return adopt(std::move(*Built), Kernel.getName(), ModuleHash, Emit, Code);
}

Expected<Compiled> Compiler::adopt(std::unique_ptr<MemoryBuffer> Object,
                                   StringRef Kernel, StringRef ModuleHash,
                                   const EmitOptions &Emit, Tier Code) {
  if (!CacheDir.empty())
    writeWhole(cachePath(ModuleHash, Kernel, Emit, Code), Object->getBuffer());
  return link(*Object);
}

} // namespace reconverge::warpvm
