//===- frontend/CompileUnit.cpp - Source files to a program ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every step writes into the temporary folder; only a complete result is moved
// to where the user wants it.
//
//===----------------------------------------------------------------------===//

#include "frontend/CompileUnit.h"

#include "core/ContainerIO.h"
#include "core/Error.h"
#include "core/File.h"
#include "frontend/Clang.h"
#include "frontend/DevicePipeline.h"
#include "frontend/Fatbin.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace reconverge::frontend {

/// A name for intermediate files: two sources of the same name in different
/// folders must not meet.
static std::string stemOf(const TempDir &Temp, StringRef Source) {
  std::string Stem = sys::path::stem(Source).str();
  std::string Unique = Stem;
  for (unsigned N = 1; sys::fs::exists(Temp.file(Unique + ".o")); ++N)
    Unique = Stem + "-" + std::to_string(N);
  return Unique;
}

static Error checkReadable(StringRef Source) {
  if (sys::fs::is_directory(Source))
    return userError(Source + " is a folder, not a source file");
  if (!sys::fs::exists(Source))
    return userError("no such file: " + Source);
  return readFile(Source).takeError();
}

static Error runClang(const Command &C, StringRef Subject, StringRef What) {
  Expected<ProcessResult> Result = runProcess(C);
  if (!Result)
    return Result.takeError();
  if (Result->Signal)
    return userError(Subject + ": " + What + " ended by signal " +
                     Twine(Result->Signal));
  if (Result->Exit)
    return userError(Subject + ": " + What + " failed");
  return Error::success();
}

Expected<std::unique_ptr<Module>>
compileDeviceCode(const Toolchain &Tools, const CompileOptions &Options,
                  const TempDir &Temp, StringRef Source, LLVMContext &Context) {
  if (Error E = checkReadable(Source))
    return std::move(E);
  std::string Bitcode = Temp.file(stemOf(Temp, Source) + ".device.bc");
  if (Error E = runClang(deviceCommand(Tools, Options, Source, Bitcode), Source,
                         "compilation"))
    return std::move(E);

  Expected<std::unique_ptr<MemoryBuffer>> Buffer = readFile(Bitcode);
  if (!Buffer)
    return Buffer.takeError();
  auto M = parseBitcodeFile(**Buffer, Context);
  if (!M)
    return internalError(Source + ": clang's bitcode cannot be read: " +
                         toString(M.takeError()));
  if (Error E = runDevicePipeline(**M, Options))
    return std::move(E);
  return M;
}

Error compileUnit(const Toolchain &Tools, const CompileOptions &Options,
                  const TempDir &Temp, StringRef Source, StringRef Object) {
  if (Error E = checkReadable(Source))
    return E;
  std::string Stem = stemOf(Temp, Source);
  std::string Container;
  if (inputKind(Source) == InputKind::Cuda) {
    LLVMContext Context;
    auto M = compileDeviceCode(Tools, Options, Temp, Source, Context);
    if (!M)
      return M.takeError();
    SmallVector<char, 0> Bitcode = writeBitcode(**M), Fatbin;
    if (Options.Fatbin)
      if (Error E =
              makeFatbin(**M, Options, Tools, Temp, Stem).moveInto(Fatbin))
        return E;
    Container = Temp.file(Stem + ".container");
    SmallVector<char, 0> Bytes = makeContainer({Bitcode.data(), Bitcode.size()},
                                               {Fatbin.data(), Fatbin.size()});
    if (Error E = writeFileAtomically(Container, [&](raw_ostream &OS) {
          OS.write(Bytes.data(), Bytes.size());
        }))
      return E;
  }
  std::string Whole = Temp.file(Stem + ".o");
  if (Error E = runClang(hostCommand(Tools, Options, Source, Container, Whole),
                         Source, "compilation"))
    return E;
  return Whole == Object ? Error::success() : moveIntoPlace(Whole, Object);
}

Error linkProgram(const Toolchain &Tools, const LinkOptions &Options,
                  const TempDir &Temp, ArrayRef<std::string> Objects,
                  StringRef Output) {
  for (const std::string &Object : Objects)
    if (!sys::fs::exists(Object))
      return userError("no such file: " + Object);
  if (!sys::fs::exists(Tools.Tree.shimPath()))
    return internalError("the installation is incomplete: " +
                         Tools.Tree.shimPath() + " is missing");
  std::string Whole = Temp.file("linked-program");
  if (Error E = runClang(linkCommand(Tools, Options, Objects, Whole), Output,
                         "linking"))
    return E;
  return moveIntoPlace(Whole, Output);
}

} // namespace reconverge::frontend
