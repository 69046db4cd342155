//===- frontend/MachineCode.cpp - Device IR to machine code ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which machine instructions an instruction of the IR becomes, ptxas says in
// the line table of its cubin, if each instruction of the IR has a line of its
// own:
//
//   copy of the module --one line an instruction--> PTX with .loc
//       --ptxas -lineinfo--> cubin: .text.<function>, .debug_line
//
// Lines are numbered through the module, so the lines of a sequence of the
// table also say which function it is of. (Its addresses are relative to the
// function's section.) ptxas' messages are not shown, but for an error.
//
//===----------------------------------------------------------------------===//

#include "frontend/MachineCode.h"

#include "analysis/Numbering.h"
#include "core/Error.h"
#include "core/File.h"
#include "frontend/Fatbin.h"
#include "frontend/Registers.h"
#include "frontend/Subprocess.h"

#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugLine.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace reconverge::frontend {

using analysis::MachineCode;
using analysis::MachineInstruction;

/// Bytes of a machine instruction.
static constexpr uint64_t Width = 16;

//===----------------------------------------------------------------------===//
// A line for each instruction
//===----------------------------------------------------------------------===//

/// Gives the instructions of \p M the lines 1, 2, ... in order.
static void numberLines(Module &M) {
  StripDebugInfo(M);
  DIBuilder Builder(M);
  DIFile *File = Builder.createFile("kernel.ll", "/");
  Builder.createCompileUnit(dwarf::DW_LANG_C, File, "", /*isOptimized=*/true,
                            "", 0, "", DICompileUnit::DebugDirectivesOnly);
  DISubroutineType *Type =
      Builder.createSubroutineType(Builder.getOrCreateTypeArray({}));
  unsigned Line = 0;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    DISubprogram *Scope = Builder.createFunction(
        File, F.getName(), "", File, 1, Type, 1, DINode::FlagZero,
        DISubprogram::SPFlagDefinition | DISubprogram::SPFlagOptimized);
    F.setSubprogram(Scope);
    for (Instruction &I : instructions(F))
      I.setDebugLoc(DILocation::get(M.getContext(), ++Line, 1, Scope));
  }
  Builder.finalize();
  if (!M.getModuleFlag("Debug Info Version"))
    M.addModuleFlag(Module::Warning, "Debug Info Version",
                    DEBUG_METADATA_VERSION);
}

//===----------------------------------------------------------------------===//
// Reading a cubin
//===----------------------------------------------------------------------===//

namespace {
/// The line of each address, by function.
using LineRows = std::vector<DWARFDebugLine::Row>;

struct Cubin {
  StringMap<StringRef> Texts; ///< machine code by function
  std::vector<LineRows> Sequences;
};
} // namespace

static Expected<Cubin> readCubin(MemoryBufferRef File) {
  auto Object = object::ObjectFile::createELFObjectFile(File);
  if (!Object)
    return Object.takeError();
  Cubin C;
  StringMap<std::unique_ptr<MemoryBuffer>> Sections;
  for (const object::SectionRef &S : (*Object)->sections()) {
    Expected<StringRef> Name = S.getName();
    if (!Name)
      return Name.takeError();
    Expected<StringRef> Contents = S.getContents();
    if (!Contents)
      return Contents.takeError();
    if (Name->consume_front(".text."))
      C.Texts[*Name] = *Contents;
    else if (*Name == ".debug_line")
      Sections["debug_line"] = MemoryBuffer::getMemBuffer(
          *Contents, "", /*RequiresNullTerminator=*/false);
  }
  const auto Dwarf = DWARFContext::create(Sections, /*AddrSize=*/8);
  const DWARFObject &In = Dwarf->getDWARFObj();
  DWARFDataExtractor Data(In, In.getLineSection(), /*IsLittleEndian=*/true, 8);
  DWARFDebugLine::SectionParser Parser(Data, *Dwarf, Dwarf->normal_units());
  Error Broken = Error::success();
  auto Note = [&](Error E) {
    Broken = joinErrors(std::move(Broken), std::move(E));
  };
  while (!Parser.done()) {
    LineRows Rows;
    for (const auto &Row : Parser.parseNext(Note, Note).Rows) {
      Rows.push_back(Row);
      if (Row.EndSequence)
        C.Sequences.push_back(std::exchange(Rows, {}));
    }
  }
  if (Broken)
    return std::move(Broken);
  return C;
}

/// \p Text, the code of \p F, with what \p Rows says each instruction is for.
static std::vector<MachineInstruction>
instructionsOf(const Function &F, StringRef Text, const LineRows &Rows,
               ArrayRef<const Instruction *> OfLine) {
  std::vector<MachineInstruction> All;
  size_t At = 0;
  for (uint64_t Address = 0; Address + Width <= Text.size(); Address += Width) {
    while (At + 1 < Rows.size() && Rows[At + 1].Address.Address <= Address)
      ++At;
    const unsigned Line = Rows[At].Line;
    const Instruction *For = Line < OfLine.size() ? OfLine[Line] : nullptr;
    All.push_back({For && For->getFunction() == &F ? For : nullptr,
                   support::endian::read64le(Text.data() + Address),
                   support::endian::read64le(Text.data() + Address + 8)});
  }
  return All;
}

Expected<MachineCode> machineCodeOf(const Module &M,
                                    const CompileOptions &Options,
                                    const CudaToolkit &Cuda,
                                    const TempDir &Temp) {
  std::vector<const Instruction *> OfLine = {nullptr};
  for (const Function &F : M)
    for (const Instruction &I : instructions(F))
      if (!isa<DbgInfoIntrinsic>(I)) // stripped from the copy
        OfLine.push_back(&I);
  std::unique_ptr<Module> Copy = CloneModule(M);
  numberLines(*Copy);
  MachineCode Code;
  const std::string File = Temp.file("lines.cubin");
  auto Counts = assemble(*Copy, Options, Cuda, File);
  if (!Counts)
    return Counts.takeError();
  for (const auto &Entry : *Counts)
    Code.Registers[Entry.getKey()] = Entry.getValue();
  Expected<std::unique_ptr<MemoryBuffer>> Buffer = readFile(File);
  if (!Buffer)
    return Buffer.takeError();
  Expected<Cubin> C = readCubin(**Buffer);
  if (!C)
    return C.takeError();
  for (const LineRows &Rows : C->Sequences) {
    // The first row may have the line with which a table begins: 1.
    const unsigned Last = Rows.back().Line;
    if (Last == 0 || Last >= OfLine.size())
      continue;
    const Function &F = *OfLine[Last]->getFunction();
    if (auto Text = C->Texts.find(F.getName()); Text != C->Texts.end())
      Code.Functions[F.getName()] =
          instructionsOf(F, Text->second, Rows, OfLine);
  }
  return Code;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static Expected<MachineCode> machineCodeHere(const Module &M) {
  auto Cuda = findCudaToolkit(
      "", [](StringRef Name) { return sys::Process::GetEnv(Name); });
  if (!Cuda)
    return Cuda.takeError();
  auto Temp = TempDir::create();
  if (!Temp)
    return Temp.takeError();
  return machineCodeOf(M, {}, *Cuda, *Temp);
}

PreservedAnalyses MachineCodePrinterPass::run(Module &M,
                                              ModuleAnalysisManager &) {
  if (none_of(M, [](const Function &F) {
        return !F.isDeclaration() &&
               analysis::blockNumber(F.getEntryBlock()).has_value();
      }))
    analysis::numberBlocks(M);
  Expected<MachineCode> Code = machineCodeHere(M);
  if (!Code) {
    OS << toString(Code.takeError()) << '\n';
    return PreservedAnalyses::all();
  }
  for (const Function &F : M) {
    const auto Found = Code->Functions.find(F.getName());
    if (Found == Code->Functions.end())
      continue;
    auto NumberOf = [](const BasicBlock *BB) {
      return std::to_string(analysis::blockNumber(*BB).value_or(~0u));
    };
    OS << "machine code of " << F.getName() << ", "
       << Code->Registers.lookup(F.getName()) << " registers\n";
    for (const auto &[BB, B] : analysis::machineBlocksOf(F, Found->second)) {
      OS << "  block " << NumberOf(BB);
      if (B.Copies != 1)
        OS << ", " << B.Copies << " copies";
      if (B.IssuedBy != BB)
        OS << ", issued by " << NumberOf(B.IssuedBy);
      OS << ':';
      for (const MachineInstruction &I : B.Code) {
        OS << (analysis::isGuarded(I) ? " @" : " ");
        if (const StringRef Opcode = analysis::opcodeOf(I); !Opcode.empty())
          OS << Opcode;
        else
          OS << format_hex(I.Low & 0xfff, 5);
      }
      OS << '\n';
    }
  }
  return PreservedAnalyses::all();
}

} // namespace reconverge::frontend
