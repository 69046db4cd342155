//===- runtime/gpu/Registers.cpp - What ptxas allots ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel with three bodies has the registers of the dearest, which is the one
// that counts accesses to memory: its calls keep many values alive at once. All
// thread blocks would pay for what few of them run, with fewer warps at a time.
// So the code is compiled without these probes first, and what that takes is
// the limit of the code with them, where values then go to local memory.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/Registers.h"

#include "analysis/device/Annotations.h"
#include "core/Error.h"
#include "core/File.h"
#include "frontend/Fatbin.h"
#include "frontend/Subprocess.h"

#include "llvm/IR/Constants.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace reconverge::gpu {

/// A call needs about so many, and with fewer no more warps fit: a
/// multiprocessor has 65536 for 2048 threads.
static constexpr unsigned Least = 32, Granule = 8;

//   ptxas info    : Compiling entry function '_Z1kPi' for 'sm_90'
//   ptxas info    : Function properties for ...
//   ptxas info    : Used 40 registers, used 1 barriers, ...
RegisterCounts parseRegisters(StringRef Log) {
  RegisterCounts Counts;
  StringRef Kernel;
  while (!Log.empty()) {
    StringRef Line;
    std::tie(Line, Log) = Log.split('\n');
    if (auto [_, Name] = Line.split("Compiling entry function '");
        !Name.empty())
      Kernel = Name.split('\'').first;
    unsigned Number = 0;
    StringRef Used = Line.split(": Used ").second;
    if (!Kernel.empty() && !Used.consumeInteger(10, Number) &&
        Used.starts_with(" registers"))
      Counts[std::exchange(Kernel, "")] = Number;
  }
  return Counts;
}

Expected<RegisterCounts> registersOf(const Module &M,
                                     const frontend::CompileOptions &Options,
                                     const frontend::CudaToolkit &Cuda,
                                     const frontend::TempDir &Temp) {
  Expected<std::string> Ptx = frontend::emitPtx(M, Options);
  if (!Ptx)
    return Ptx.takeError();
  const std::string File = Temp.file("registers.ptx");
  const std::string Log = Temp.file("registers.log");
  if (Error E = writeFileAtomically(File, [&](raw_ostream &OS) { OS << *Ptx; }))
    return std::move(E);
  frontend::Command Run;
  Run.Arguments = frontend::ptxasArguments(Cuda, Options, File,
                                           Temp.file("registers.cubin"));
  Run.Arguments.push_back("-v");
  Run.Output = Log + ".out";
  Run.Errors = Log;
  auto Result = frontend::runProcess(Run);
  if (!Result)
    return Result.takeError();
  if (!Result->ok())
    return userError("ptxas failed (status " + Twine(Result->status()) + ")");
  RegisterCounts Counts;
  for (const std::string &Path : {Run.Output, Run.Errors}) {
    Expected<std::unique_ptr<MemoryBuffer>> Text = readFile(Path);
    if (!Text)
      return Text.takeError();
    for (auto &Entry : parseRegisters((*Text)->getBuffer()))
      Counts[Entry.getKey()] = Entry.getValue();
  }
  return Counts;
}

void limitRegisters(Module &M, const RegisterCounts &Counts) {
  LLVMContext &C = M.getContext();
  for (Function &F : M) {
    auto Found = Counts.find(F.getName());
    if (Found == Counts.end() || !analysis::isKernel(F))
      continue;
    const unsigned Most = std::max<unsigned>(
        Least, unsigned(alignTo(Found->getValue(), Granule)));
    M.getOrInsertNamedMetadata(analysis::AnnotationsName)
        ->addOperand(MDNode::get(
            C, {ValueAsMetadata::get(&F), MDString::get(C, "maxnreg"),
                ConstantAsMetadata::get(
                    ConstantInt::get(Type::getInt32Ty(C), Most))}));
  }
}

} // namespace reconverge::gpu
