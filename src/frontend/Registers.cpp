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

#include <algorithm>

using namespace llvm;

namespace reconverge::frontend {

//   ptxas info    : Compiling entry function '_Z1kPi' for 'sm_90'
//   ptxas info    : Function properties for ...
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 40 registers, used 1 barriers, ...
RegisterCounts parseRegisters(StringRef Log) {
  RegisterCounts Counts;
  StringRef Kernel;
  bool Spills = false;
  while (!Log.empty()) {
    StringRef Line;
    std::tie(Line, Log) = Log.split('\n');
    if (auto [_, Name] = Line.split("Compiling entry function '");
        !Name.empty())
      Kernel = Name.split('\'').first;
    unsigned Number = 0;
    if (StringRef Stores = Line.split("frame, ").second;
        !Stores.consumeInteger(10, Number) &&
        Stores.starts_with(" bytes spill stores"))
      Spills = Number;
    StringRef Used = Line.split(": Used ").second;
    if (!Kernel.empty() && !Used.consumeInteger(10, Number) &&
        Used.starts_with(" registers"))
      Counts[std::exchange(Kernel, "")] = {Number,
                                           std::exchange(Spills, false)};
  }
  return Counts;
}

Expected<RegisterCounts> assemble(const Module &M,
                                  const CompileOptions &Options,
                                  const CudaToolkit &Cuda,
                                  const std::string &Cubin) {
  Expected<std::string> Ptx = emitPtx(M, Options);
  if (!Ptx)
    return Ptx.takeError();
  const std::string Source = Cubin + ".ptx";
  if (Error E =
          writeFileAtomically(Source, [&](raw_ostream &OS) { OS << *Ptx; }))
    return std::move(E);
  Command Ptxas;
  Ptxas.Arguments = ptxasArguments(Cuda, Options, Source, Cubin);
  Ptxas.Arguments.push_back("-v");
  Ptxas.Output = Cubin + ".out";
  Ptxas.Errors = Cubin + ".err";
  auto Result = runProcess(Ptxas);
  if (!Result)
    return Result.takeError();
  if (!Result->ok())
    return userError("ptxas failed (status " + Twine(Result->status()) + ")");
  RegisterCounts Counts;
  for (const std::string &File : {Ptxas.Output, Ptxas.Errors}) {
    auto Text = readFile(File);
    if (!Text)
      return Text.takeError();
    for (const auto &Entry : parseRegisters((*Text)->getBuffer()))
      Counts[Entry.getKey()] = Entry.getValue();
  }
  return Counts;
}

Expected<RegisterUse> countRegisters(const Module &M,
                                     const CompileOptions &Options,
                                     const Toolchain &Tools) {
  auto Temp = TempDir::create();
  if (!Temp)
    return Temp.takeError();
  auto Counts = assemble(M, Options, Tools.Cuda, Temp->file("kernel.cubin"));
  if (!Counts)
    return Counts.takeError();
  RegisterUse Most;
  for (const auto &Entry : *Counts) {
    const RegisterUse &Its = Entry.getValue();
    Most = {std::max(Most.Registers, Its.Registers), Most.Spills || Its.Spills};
  }
  if (!Most)
    return userError("ptxas has not counted registers");
  return Most;
}

} // namespace reconverge::frontend
