//===- frontend/Registers.cpp - Registers of kernels ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ptxas -v says "Used 25 registers" of each kernel: what the manual documents.
// The machine code has the number as well, in a section that it does not.
//
//===----------------------------------------------------------------------===//

#include "frontend/Registers.h"

#include "core/Error.h"
#include "core/File.h"
#include "frontend/Fatbin.h"
#include "frontend/Subprocess.h"

#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::frontend {

/// The largest number in \p Text that stands where ptxas writes registers; 0 if
/// there is none.
static unsigned mostRegisters(StringRef Text) {
  unsigned Most = 0;
  while (true) {
    auto [Before, After] = Text.split("Used ");
    if (After.empty())
      return Most;
    unsigned Count = 0;
    if (!After.consumeInteger(10, Count) && After.starts_with(" registers"))
      Most = std::max(Most, Count);
    Text = After;
  }
}

Expected<unsigned> countRegisters(const Module &M,
                                  const CompileOptions &Options,
                                  const Toolchain &Tools) {
  auto Ptx = emitPtx(M, Options);
  if (!Ptx)
    return Ptx.takeError();
  auto Temp = TempDir::create();
  if (!Temp)
    return Temp.takeError();
  const std::string Source = Temp->file("kernel.ptx");
  if (Error E =
          writeFileAtomically(Source, [&](raw_ostream &OS) { OS << *Ptx; }))
    return std::move(E);
  Command Ptxas;
  Ptxas.Arguments =
      ptxasArguments(Tools.Cuda, Options, Source, Temp->file("kernel.cubin"));
  Ptxas.Arguments.push_back("-v");
  Ptxas.Output = Temp->file("output");
  Ptxas.Errors = Temp->file("errors");
  auto Result = runProcess(Ptxas);
  if (!Result)
    return Result.takeError();
  unsigned Most = 0;
  for (const std::string &File : {Ptxas.Output, Ptxas.Errors}) {
    auto Text = readFile(File);
    if (!Text)
      return Text.takeError();
    Most = std::max(Most, mostRegisters((*Text)->getBuffer()));
  }
  if (!Result->ok() || !Most)
    return userError("ptxas has not counted registers (status " +
                     Twine(Result->status()) + ")");
  return Most;
}

} // namespace reconverge::frontend
