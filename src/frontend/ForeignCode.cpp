//===- frontend/ForeignCode.cpp - Others' code for our programs -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program of ours can carry another compiler's code of its kernels in the
// place of our own (core/ForeignCompiler.h). The host side stays as it is.
//
//   source --nvcc -ptx-------+
//   source --stock clang -S--+--> PTX --ptxas--> cubin --names match?-->
//                                                               fat binary
//
// Each is asked for PTX only, so that machine code is made by one home for all
// (Fatbin.cpp), with the options that nvcc itself gives ptxas.
//
// Why it works: the runtime finds kernels and variables in an image by the
// names that the host code registers; those are mangled names of the same ABI,
// and parameters are laid out by the same ABI.
//
// Where it does not: what has internal linkage. nvcc gives a static kernel the
// name of an external one, a static variable its plain name, and an anonymous
// namespace a name with a hash of the file; clang's host code registers its
// own. What is registered is known from our own device code of the same source,
// so every name is looked up in the machine code's symbol table, and a missing
// one is an error here and not when the program runs.
//
// nvcc's options are not clang's. It is given what decides what the code means:
// macros, include folders, the standard, arithmetic; what else clang is told
// (warnings, code generation of the host) is left out. clang itself is given
// all. Its arithmetic is its own: square roots, and what else libdevice asks
// __nvvm_reflect about, are approximate whatever it is told, so that its result
// may differ from ours.
//
//===----------------------------------------------------------------------===//

#include "frontend/ForeignCode.h"

#include "analysis/Marks.h"
#include "analysis/device/AddressSpace.h"
#include "analysis/device/Annotations.h"
#include "core/Error.h"
#include "frontend/Clang.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace reconverge::frontend {

//===----------------------------------------------------------------------===//
// What they are told
//===----------------------------------------------------------------------===//

/// Of clang's options, those that nvcc takes too.
static void appendCommon(std::vector<std::string> &To,
                         ArrayRef<std::string> Options) {
  for (size_t I = 0; I != Options.size(); ++I) {
    StringRef Word = Options[I];
    bool WithValue = Word == "-I" || Word == "-D" || Word == "-U" ||
                     Word == "-include" || Word == "-isystem";
    if (WithValue && I + 1 != Options.size()) {
      To.insert(To.end(), {Options[I], Options[I + 1]});
      ++I;
    } else if (Word.consume_front("-std=")) {
      Word.consume_front("gnu");
      Word.consume_front("c");
      To.push_back(("-std=c" + Word).str());
    } else if (Word.starts_with("-I") || Word.starts_with("-D") ||
               Word.starts_with("-U")) {
      To.push_back(Options[I]);
    }
  }
}

/// What decides what the code means, for each of nvcc's tasks.
static void appendMeaning(std::vector<std::string> &To, const Toolchain &Tools,
                          const CompileOptions &Options) {
  auto Flag = [&](StringRef Name, bool Value) {
    To.push_back((Name + (Value ? "=true" : "=false")).str());
  };
  To.push_back("-O" + std::to_string(Options.OptLevel));
  // What clang allows without being asked.
  To.insert(To.end(), {"--extended-lambda", "--expt-relaxed-constexpr"});
  Flag("-ftz", Options.Math.FlushDenormals);
  Flag("-prec-div", Options.Math.PreciseDivision);
  Flag("-prec-sqrt", Options.Math.PreciseSqrt);
  Flag("-fmad", Options.Math.Contract);
  if (Options.Math.FastTranscendentals)
    To.push_back("-use_fast_math");
  appendCommon(To, Options.ClangArguments);
  To.insert(To.end(), {"-isystem", Tools.Tree.includeDir()}); // as Clang.cpp
}

static std::vector<std::string> nvccPtx(const Toolchain &Tools,
                                        const CompileOptions &Options,
                                        StringRef Source, StringRef Output) {
  std::vector<std::string> Words = {Tools.Cuda.tool("nvcc"),
                                    "-ptx",
                                    "-x",
                                    "cu",
                                    "-arch=compute_" +
                                        std::to_string(Options.Arch),
                                    "-lineinfo"};
  appendMeaning(Words, Tools, Options);
  Words.insert(Words.end(), {Source.str(), "-o", Output.str()});
  return Words;
}

std::vector<std::string> nvccProgram(const Toolchain &Tools,
                                     const CompileOptions &Options,
                                     StringRef Output) {
  std::vector<std::string> Words = {Tools.Cuda.tool("nvcc"),
                                    "-arch=sm_" + std::to_string(Options.Arch)};
  appendMeaning(Words, Tools, Options);
  for (const std::string &Option : Options.PtxasArguments)
    Words.insert(Words.end(), {"-Xptxas", Option});
  Words.insert(Words.end(), {"-o", Output.str()});
  return Words;
}

bool isThere(ForeignCompiler By, const Toolchain &Tools) {
  switch (By) {
  case ForeignCompiler::Nvcc:
    return sys::fs::can_execute(Tools.Cuda.tool("nvcc"));
  case ForeignCompiler::Clang:
    return true; // it compiles all our programs
  }
  llvm_unreachable("one of the other compilers");
}

std::vector<std::string> ptxArguments(ForeignCompiler By,
                                      const Toolchain &Tools,
                                      const CompileOptions &Options,
                                      StringRef Source, StringRef Output) {
  switch (By) {
  case ForeignCompiler::Nvcc:
    return nvccPtx(Tools, Options, Source, Output);
  case ForeignCompiler::Clang:
    return deviceCommand(Tools, Options, {Source.str(), InputKind::Cuda},
                         Output, Stage::Assembly)
        .Arguments;
  }
  llvm_unreachable("one of the other compilers");
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Name and size of everything that the machine code defines.
static Expected<StringMap<uint64_t>> symbolsOf(MemoryBufferRef Cubin) {
  auto File = object::ELFObjectFile<object::ELF64LE>::create(Cubin);
  if (!File)
    return internalError("ptxas' machine code cannot be read: " +
                         toString(File.takeError()));
  StringMap<uint64_t> Symbols;
  for (const object::ELFSymbolRef &Symbol : File->symbols()) {
    Expected<StringRef> Name = Symbol.getName();
    if (!Name)
      return Name.takeError();
    Expected<uint32_t> Flags = Symbol.getFlags();
    if (!Flags)
      return Flags.takeError();
    if (!Name->empty() && !(*Flags & object::SymbolRef::SF_Undefined))
      Symbols[*Name] = Symbol.getSize();
  }
  return Symbols;
}

Error checkNames(const Module &M, MemoryBufferRef Cubin, StringRef Source,
                 ForeignCompiler By, bool MayLackKernels) {
  Expected<StringMap<uint64_t>> Symbols = symbolsOf(Cubin);
  if (!Symbols)
    return Symbols.takeError();
  const std::string Name = nameOf(By);
  auto Missing = [&](const GlobalValue &V, const char *What) {
    return userError(Source + ": " + Name + "'s code has no " + What + " '" +
                         demangle(V.getName()) +
                         "' under the name that the host code registers; it "
                         "names what is static or in an anonymous namespace in "
                         "its own way",
                     "Give it external linkage, or build without "
                     "--device-code=" +
                         Name + ".");
  };
  for (const Function &F : M)
    if (!MayLackKernels && !F.isDeclaration() && analysis::isKernel(F) &&
        !analysis::isTwin(F) && !Symbols->contains(F.getName()))
      return Missing(F, "kernel");
  for (const GlobalVariable &G : M.globals()) {
    if (G.isDeclaration() || !G.isExternallyInitialized())
      continue;
    auto Found = Symbols->find(G.getName());
    if (Found == Symbols->end())
      return Missing(G, "variable");
    uint64_t Bytes = M.getDataLayout().getTypeAllocSize(G.getValueType());
    if (Found->second != Bytes)
      return userError(Source + ": variable '" + demangle(G.getName()) +
                           "' has " + Twine(Found->second) + " bytes in " +
                           Name + "'s code and " + Twine(Bytes) + " in ours",
                       "Make its type the same for both compilers, or build "
                       "without --device-code=" +
                           Name + ".");
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Single kernels
//===----------------------------------------------------------------------===//

static constexpr char Attribute[] = "reconverge-device-code";

void markFor(Function &Kernel, ForeignCompiler By) {
  Kernel.addFnAttr(Attribute, nameOf(By));
}

std::optional<ForeignCompiler> compilerOf(const Function &Kernel) {
  return foreignNamed(Kernel.getFnAttribute(Attribute).getValueAsString());
}

const GlobalVariable *unsharedVariable(const Module &M) {
  for (const GlobalVariable &G : M.globals())
    if (!G.isDeclaration() && !G.isConstant() && !G.isExternallyInitialized() &&
        !G.use_empty() &&
        (G.getAddressSpace() == analysis::GlobalSpace ||
         G.getAddressSpace() == analysis::GenericSpace) &&
        !G.getName().starts_with("llvm."))
      return &G;
  return nullptr;
}

} // namespace reconverge::frontend
