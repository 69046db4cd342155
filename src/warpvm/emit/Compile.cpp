//===- warpvm/emit/Compile.cpp - From a kernel to code in memory ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A short list of passes turns stack variables into SSA form and cleans up; the
// emitter's code is explicit vectors already, so the vectorisers would find
// nothing. Code that runs once is not worth that: Effort::Fast. Both give the
// same results, bit by bit: neither contracts nor reassociates.
//
// The object file goes to the cache on disk, keyed by everything that shaped
// it: bitcode, kernel, options, host CPU and this very library.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Compile.h"

#include "analysis/AnalysisManagers.h"
#include "core/CacheFolder.h"
#include "core/Error.h"
#include "warpvm/emit/CachedFile.h"

#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
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

#include <chrono>
#include <map>

using namespace llvm;

namespace reconverge::warpvm {

/// Of object files that are compiled fast, roughly, for an instruction before it
/// is optimised.
static constexpr uint64_t BytesPerInstruction = 15;

static void optimise(Module &M, TargetMachine &TM, bool Fast) {
  PassBuilder PB(&TM);
  analysis::AnalysisManagers Analyses(PB);
  FunctionPassManager FPM;
  FPM.addPass(SimplifyCFGPass());
  FPM.addPass(SROAPass(SROAOptions::PreserveCFG));
  FPM.addPass(EarlyCSEPass());
  if (!Fast) {
    FPM.addPass(InstCombinePass());
    FPM.addPass(JumpThreadingPass(200));
    FPM.addPass(SimplifyCFGPass());
    FPM.addPass(createFunctionToLoopPassAdaptor(
        LICMPass(100, 250, /*AllowSpeculation=*/true), /*UseMemorySSA=*/true));
    FPM.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
    FPM.addPass(ADCEPass());
  }
  FPM.addPass(SimplifyCFGPass());
  for (Function &F : M)
    if (!F.isDeclaration())
      FPM.run(F, Analyses.Functions);
}

Expected<std::unique_ptr<Compiler>>
Compiler::create(const MachineOptions &Options, Effort How,
                 ArrayRef<std::pair<const char *, void *>> Library) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  auto Builder = orc::JITTargetMachineBuilder::detectHost();
  if (!Builder)
    return Builder.takeError();
  const std::string &Isa = Options.Isa;
  if (Isa == "avx2") {
    Builder->setCPU("skylake"); // AVX2 with gathers that pay
    Builder->getFeatures() = SubtargetFeatures();
  } else if (!Isa.empty()) {
    return userError("unknown instruction set '" + Isa +
                         "' for the CPU executor",
                     "Known: avx2; leave it out for all that the CPU has.");
  }
  Builder->setCodeGenOptLevel(How == Effort::Fast ? CodeGenOptLevel::None
                                                  : CodeGenOptLevel::Default);
  Builder->setRelocationModel(Reloc::PIC_);
  // The default for a JIT, the large model, loads every constant's address.
  Builder->setCodeModel(CodeModel::Small);
  std::unique_ptr<Compiler> C(new Compiler);
  C->CacheDir = Options.CacheDir;
  C->How = How;
  auto TM = Builder->createTargetMachine();
  if (!TM)
    return TM.takeError();
  C->Target = std::move(*TM);
  C->Target->setO0WantsFastISel(true);
  // What the IR says is what runs: no further contraction.
  C->Target->Options.AllowFPOpFusion = FPOpFusion::Strict;
  auto Jit = orc::LLJITBuilder().setJITTargetMachineBuilder(*Builder).create();
  if (!Jit)
    return Jit.takeError();
  C->Jit = std::move(*Jit);
  orc::SymbolMap Symbols;
  for (auto [Name, Address] : Library)
    Symbols[C->Jit->mangleAndIntern(Name)] = {
        orc::ExecutorAddr::fromPtr(Address), JITSymbolFlags::Exported};
  Symbols[C->Jit->mangleAndIntern(EnterSymbol)] = {
      orc::ExecutorAddr::fromPtr(&LateRegions::enter),
      JITSymbolFlags::Exported};
  auto &Main = C->Jit->getMainJITDylib();
  if (Error E = Main.define(orc::absoluteSymbols(std::move(Symbols))))
    return std::move(E);
  auto Process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      C->Jit->getDataLayout().getGlobalPrefix());
  if (!Process)
    return Process.takeError();
  Main.addGenerator(std::move(*Process));
  return C;
}

std::string Compiler::target() const {
  StringRef Features = Target->getTargetFeatureString();
  bool Wide = Features.contains("+avx512f");
  StringRef Cpu = Target->getTargetCPU();
  return (Cpu + (Wide                                             ? ", AVX-512"
                 : Cpu == "skylake" || Features.contains("+avx2") ? ", AVX2"
                                                                  : ", SSE"))
      .str();
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

/// \p Part: of what is in the cache in several files.
std::string Compiler::cachePath(const CompileJob &J, StringRef Part) const {
  std::string Key =
      (J.ModuleHash + "\n" + J.Kernel + "\n" + describe(J.Emit, J.Code) + " " +
       Twine(How == Effort::Fast) + Part + "\n" + Target->getTargetCPU() +
       "\n" + Target->getTargetFeatureString() + "\n" + buildStamp())
          .str();
  return reconverge::cachePath(CacheDir, xxh3_64bits(Key));
}

Expected<EmittedKernel> Compiler::emit(Function &Kernel,
                                       const EmitOptions &Emit, Tier Code,
                                       bool Late) {
  EmitOptions ForHost = Emit;
  ForHost.Scatter = Target->getMCSubtargetInfo()->checkFeatures(
      "+avx512f,+avx512bw,+avx512vl");
  return emitKernel(Kernel, ForHost, Code, *Target, Late);
}

Expected<std::unique_ptr<MemoryBuffer>> Compiler::objectOf(Module &M) {
  optimise(M, *Target, How == Effort::Fast);
  SmallVector<char, 0> Object;
  raw_svector_ostream OS(Object);
  legacy::PassManager CodeGen;
  if (Target->addPassesToEmitFile(CodeGen, OS, nullptr,
                                  CodeGenFileType::ObjectFile))
    return internalError("this host's code generator writes no object files");
  CodeGen.run(M);
  return std::make_unique<SmallVectorMemoryBuffer>(std::move(Object),
                                                   M.getModuleIdentifier());
}

Expected<std::unique_ptr<MemoryBuffer>>
Compiler::build(Function &Kernel, const EmitOptions &Emit, Tier Code) {
  auto Emitted = emit(Kernel, Emit, Code, /*Late=*/false);
  if (!Emitted)
    return Emitted.takeError();
  return objectOf(*Emitted->Plan);
}

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

/// What makes pieces of a kernel; it has had no need to emit it yet, maybe.
struct Compiler::Pieces {
  CompileJob Job;
  std::string Kernel, ModuleHash; ///< what Job names
  EmittedKernel Emitted;
  orc::JITDylib &In;
  std::map<unsigned, const LateEntry *> Linked;

  Pieces(const CompileJob &J, EmittedKernel Emitted, orc::JITDylib &In)
      : Job(J), Kernel(J.Kernel), ModuleHash(J.ModuleHash),
        Emitted(std::move(Emitted)), In(In) {
    Job.Kernel = Kernel;
    Job.ModuleHash = ModuleHash;
  }
};

Expected<std::unique_ptr<MemoryBuffer>> Compiler::object(Pieces &Of,
                                                         unsigned N) {
  const std::string Path =
      CacheDir.empty() ? "" : cachePath(Of.Job, (" " + Twine(N)).str());
  if (!Path.empty())
    if (auto Kept = readWhole(Path))
      return Kept;
  if (Of.Emitted.Pieces.empty()) {
    auto F = Of.Job.Read();
    if (!F)
      return F.takeError();
    auto Again = emit(**F, Of.Job.Emit, Of.Job.Code, /*Late=*/true);
    if (!Again)
      return Again.takeError();
    Of.Emitted = std::move(*Again);
  }
  assert(N < Of.Emitted.Pieces.size() &&
         "a kernel is emitted as it was before");
  auto Object = objectOf(*Of.Emitted.Pieces[N]);
  Of.Emitted.Pieces[N] = nullptr;
  if (Object && !Path.empty())
    writeWhole(Path, (*Object)->getBuffer());
  return Object;
}

Expected<const LateEntry *> Compiler::piece(Pieces &Of, unsigned N) {
  if (auto Before = Of.Linked.find(N); Before != Of.Linked.end())
    return Before->second;
  auto Object = object(Of, N);
  if (!Object)
    return Object.takeError();
  if (Error E = Jit->addObjectFile(Of.In, std::move(*Object)))
    return std::move(E);
  auto Entries = Jit->lookup(Of.In, (PieceSymbol + Twine(N)).str());
  if (!Entries)
    return Entries.takeError();
  return Of.Linked[N] = Entries->toPtr<const LateEntry *>();
}

/// \p Emitted: the pieces that go with \p Object, if they are there.
Expected<Compiled> Compiler::link(std::unique_ptr<MemoryBuffer> Object,
                                  const CompileJob &J, std::mutex *Lock,
                                  EmittedKernel Emitted) {
  Compiled Result;
  Result.Bytes = Object->getBufferSize();
  auto Dylib = Jit->createJITDylib(("kernel" + Twine(Linked++)).str());
  if (!Dylib)
    return Dylib.takeError();
  Dylib->addToLinkOrder(Jit->getMainJITDylib());
  if (Error E = Jit->addObjectFile(*Dylib, std::move(Object)))
    return std::move(E);
  const auto Plan = Jit->mangleAndIntern(PlanSymbol),
             Table = Jit->mangleAndIntern(LateSymbol);
  orc::SymbolLookupSet Wanted(Plan);
  Wanted.add(Table, orc::SymbolLookupFlags::WeaklyReferencedSymbol);
  auto Found = Jit->getExecutionSession().lookup(
      orc::makeJITDylibSearchOrder(&*Dylib), std::move(Wanted));
  if (!Found)
    return Found.takeError();
  Result.Plan = (*Found)[Plan].getAddress().toPtr<const KernelPlan *>();
  if (auto *InPieces = (*Found)[Table].getAddress().toPtr<LateTable *>()) {
    assert(Lock && "only code without pieces is linked without a lock");
    Result.Bytes += InPieces->Instructions * BytesPerInstruction;
    auto Of = std::make_shared<Pieces>(J, std::move(Emitted), *Dylib);
    Result.Late = std::make_shared<LateRegions>(
        *InPieces,
        [this, Of, Lock](unsigned N) -> Expected<const LateEntry *> {
          std::lock_guard<std::mutex> Guard(*Lock);
          const auto Begin = std::chrono::steady_clock::now();
          auto Entries = piece(*Of, N);
          Late += std::chrono::duration<double>(
                      std::chrono::steady_clock::now() - Begin)
                      .count();
          return Entries;
        },
        J.End);
  }
  return Result;
}

Expected<Compiled> Compiler::cached(const CompileJob &J, std::mutex *Lock) {
  if (CacheDir.empty())
    return Compiled();
  auto Object = readWhole(cachePath(J));
  if (!Object)
    return Compiled();
  return link(std::move(Object), J, Lock);
}

Expected<Compiled> Compiler::compile(const CompileJob &J, std::mutex &Lock) {
  auto Found = cached(J, &Lock);
  if (!Found || Found->Plan)
    return Found;
  auto F = J.Read();
  if (!F)
    return F.takeError();
  auto Emitted = emit(**F, J.Emit, J.Code, /*Late=*/How == Effort::Fast);
  if (!Emitted)
    return Emitted.takeError();
  auto Object = objectOf(*Emitted->Plan);
  if (!Object)
    return Object.takeError();
  Emitted->Plan = nullptr;
  if (!CacheDir.empty())
    writeWhole(cachePath(J), (*Object)->getBuffer());
  return link(std::move(*Object), J, &Lock, std::move(*Emitted));
}

Expected<Compiled> Compiler::adopt(std::unique_ptr<MemoryBuffer> Object,
                                   const CompileJob &J) {
  if (!CacheDir.empty())
    writeWhole(cachePath(J), Object->getBuffer());
  return link(std::move(Object), J, nullptr);
}

} // namespace reconverge::warpvm
