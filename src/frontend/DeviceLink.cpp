//===- frontend/DeviceLink.cpp - Relocatable device code ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With -rdc=true a unit may call device functions and use variables of others.
// Its object carries the device bitcode as it is before optimisation, in a
// container of its own section (__nv_relfatbin: clang's choice, and nvcc's),
// and does not register it: its constructor calls
//
//   __cudaRegisterLinkedBinary<id>(register my kernels, my container, ...)
//
// which nobody defines, so that such an object links nowhere but here. The link
//
//   1. collects the containers and those undefined names of all objects,
//   members
//      of archives included, because what is a member's the host linker decides
//      only later;
//   2. links the modules into one, and sends it through the device pipeline:
//   from
//      there on it is a unit like any other, numbers, decisions and all;
//   3. embeds it in an object that defines the names: the first call registers
//      the container, each call its unit's kernels and variables with it. The
//      end of the registration is told by a constructor that runs after those
//      (their priority is plugin/Nvcc.cpp's): an archive's members may be
//      missing.
//
// An object of step 3 may be among the objects of a later link (-dlink, then
// the link by any compiler): the names are defined then, and nothing is left to
// do.
//
// What is static in a unit stays its own: clang names it by the unit (-cuid).
//
//===----------------------------------------------------------------------===//

#include "frontend/DeviceLink.h"

#include "analysis/CodeHash.h"
#include "core/ContainerIO.h"
#include "core/Error.h"
#include "core/File.h"
#include "frontend/Clang.h"
#include "frontend/CompileUnit.h"
#include "frontend/DevicePipeline.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace llvm;

namespace reconverge::frontend {

static constexpr StringLiteral Section = "__nv_relfatbin";
static constexpr StringLiteral Registers = "__cudaRegisterLinkedBinary";

namespace {
struct Found {
  /// Bitcode and the object that it is of, in the order of the command line.
  std::vector<std::pair<std::string, std::string>> Units;
  std::set<std::string> Wanted; ///< names that units call
  StringSet<> Defined;          ///< those that there are
};
} // namespace

/// The containers that a section holds, one after the other (`ld -r` joins
/// sections, with zeros between).
static Error readSection(StringRef Bytes, const std::string &Object,
                         Found &Into) {
  while (true) {
    Bytes = Bytes.drop_while([](char C) { return !C; });
    if (Bytes.empty())
      return Error::success();
    // Containers are read in place, where they are aligned.
    const SmallVector<char, 0> Copy(Bytes.begin(), Bytes.end());
    Expected<ContainerView> View = openContainer(Copy.data(), Copy.size());
    if (!View)
      return userError(Object + ": " + toString(View.takeError()));
    if (View->Foreign)
      return userError(Object + ": its device code was compiled by another "
                                "version of Reconverge",
                       "Compile it again.");
    Into.Units.push_back({View->Bitcode.str(), Object});
    Bytes = Bytes.drop_front(
        reinterpret_cast<const ContainerHeader *>(Copy.data())->TotalBytes);
  }
}

static Error readObject(MemoryBufferRef Buffer, const std::string &Name,
                        Found &Into) {
  auto Object = object::ObjectFile::createObjectFile(Buffer);
  if (!Object) { // a linker script, bitcode, ...: the linker's to judge
    consumeError(Object.takeError());
    return Error::success();
  }
  for (const object::SymbolRef &Symbol : (*Object)->symbols()) {
    Expected<StringRef> Called = Symbol.getName();
    Expected<uint32_t> Flags = Symbol.getFlags();
    if (!Called || !Flags) {
      consumeError(Called.takeError());
      consumeError(Flags.takeError());
      continue;
    }
    if (!Called->starts_with(Registers))
      continue;
    if (*Flags & object::SymbolRef::SF_Undefined)
      Into.Wanted.insert(Called->str());
    else
      Into.Defined.insert(*Called);
  }
  for (const object::SectionRef &Part : (*Object)->sections()) {
    Expected<StringRef> Called = Part.getName();
    if (!Called) {
      consumeError(Called.takeError());
      continue;
    }
    if (*Called != Section)
      continue;
    Expected<StringRef> Bytes = Part.getContents();
    if (!Bytes)
      return userError(Name + ": " + toString(Bytes.takeError()));
    if (Error E = readSection(*Bytes, Name, Into))
      return E;
  }
  return Error::success();
}

static Error readFileOf(const std::string &Path, Found &Into) {
  Expected<std::unique_ptr<MemoryBuffer>> File = readFile(Path);
  if (!File)
    return File.takeError();
  MemoryBufferRef Buffer = (*File)->getMemBufferRef();
  if (!Buffer.getBuffer().contains(Registers)) // most have nothing of it
    return Error::success();
  if (!Buffer.getBuffer().starts_with(object::ArchiveMagic))
    return readObject(Buffer, Path, Into);
  auto Archive = object::Archive::create(Buffer);
  if (!Archive)
    return userError(Path + ": " + toString(Archive.takeError()));
  Error E = Error::success();
  for (const object::Archive::Child &Member : (*Archive)->children(E)) {
    Expected<MemoryBufferRef> Inner = Member.getMemoryBufferRef();
    if (!Inner) {
      consumeError(std::move(E));
      return userError(Path + ": " + toString(Inner.takeError()));
    }
    if (Error Bad = readObject(
            *Inner, (Path + "(" + Inner->getBufferIdentifier() + ")").str(),
            Into)) {
      consumeError(std::move(E));
      return Bad;
    }
  }
  return E ? userError(Path + ": " + toString(std::move(E))) : Error::success();
}

/// All units' code as one module.
static Expected<std::unique_ptr<Module>> linkUnits(const Found &Units,
                                                   LLVMContext &Context) {
  std::string Said;
  Context.setDiagnosticHandlerCallBack(
      [](const DiagnosticInfo *Info, void *Into) {
        raw_string_ostream OS(*static_cast<std::string *>(Into));
        DiagnosticPrinterRawOStream Printer(OS);
        if (Info->getSeverity() == DS_Error)
          Info->print(Printer);
      },
      &Said);
  auto Whole = std::make_unique<Module>("linked device code", Context);
  Linker Join(*Whole);
  for (auto &[Bitcode, Object] : Units.Units) {
    auto Unit = parseBitcodeFile(MemoryBufferRef(Bitcode, Object), Context);
    if (!Unit)
      return userError(Object + ": " + toString(Unit.takeError()));
    if (Whole->getTargetTriple().empty()) {
      Whole->setTargetTriple((*Unit)->getTargetTriple());
      Whole->setDataLayout((*Unit)->getDataLayout());
    }
    if (Join.linkInModule(std::move(*Unit)))
      return userError(Object + ": its device code does not link: " + Said);
  }
  Context.setDiagnosticHandlerCallBack(nullptr, nullptr);
  return Whole;
}

/// C of the object that carries \p Container and registers it for \p Names.
static std::string registration(const Found &Units, StringRef Container) {
  std::string Text;
  raw_string_ostream OS(Text);
  OS << "__asm__(\".section .nv_fatbin,\\\"a\\\",@progbits\\n.p2align 4\\n"
        "reconverge_linked:\\n.incbin \\\""
     << Container << "\\\"\\n.previous\\n\");\n"
     << R"(extern const char reconverge_linked[]
    __attribute__((visibility("hidden")));
void **__cudaRegisterFatBinary(const void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
static struct {
  int magic, version;
  const void *data, *unused;
} wrapper __attribute__((section(".nvFatBinSegment"))) = {
    )"
     << FatbinWrapper::ItsMagic << R"(, 1, reconverge_linked, 0};
static void **handle;
static void add(void (*globals)(void **)) {
  if (!handle)
    handle = __cudaRegisterFatBinary(&wrapper);
  globals(handle);
}
__attribute__((constructor(102))) static void end(void) {
  if (handle)
    __cudaRegisterFatBinaryEnd(handle);
}
__attribute__((destructor(102))) static void leave(void) {
  if (handle)
    __cudaUnregisterFatBinary(handle);
}
)";
  for (const std::string &Name : Units.Wanted)
    OS << "void " << Name
       << "(void (*globals)(void **), void *unit, void *id, void (*done)(void "
          "*)) {\n  add(globals);\n}\n";
  return Text;
}

Expected<std::optional<std::string>>
linkDeviceCode(const Toolchain &Tools, const CompileOptions &Options,
               const TempDir &Temp, ArrayRef<std::string> Objects) {
  Found Units;
  for (const std::string &Object : Objects)
    if (Error E = readFileOf(Object, Units))
      return std::move(E);
  if (Units.Units.empty() || all_of(Units.Wanted, [&](StringRef Name) {
        return Units.Defined.contains(Name);
      }))
    return std::nullopt;

  LLVMContext Context;
  sayOnce(Context, Tools.Cuda.Root);
  auto M = linkUnits(Units, Context);
  if (!M)
    return M.takeError();
  if (Error E = completeDeviceCode(**M, Options))
    return std::move(E);
  if (Options.Transform)
    if (Error E = Options.Transform(**M))
      return std::move(E);
  analysis::sealCodeHash(**M);
  const std::string Stem = "linked-device-code";
  Expected<std::string> Container =
      writeContainer(**M, Options, Tools, Temp, /*Source=*/"", Stem);
  if (!Container)
    return Container.takeError();
  const std::string Text = Temp.file(Stem + ".c"),
                    Object = Temp.file(Stem + ".o");
  if (Error E = writeFileAtomically(Text, [&](raw_ostream &OS) {
        OS << registration(Units, *Container);
      }))
    return std::move(E);
  CompileOptions Host;
  Host.HostArguments = {"-fPIC"}; // it may become a part of a shared object
  if (Error E = compileUnit(Tools, Host, Temp, SourceFile(Text), Object))
    return std::move(E);
  return Object;
}

} // namespace reconverge::frontend
