//===- frontend/Target.cpp - The NVPTX code generator ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontend/Target.h"

#include "core/Error.h"

#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace llvm;

namespace reconverge::frontend {

/// The PTX version that clang wrote into the functions ("+ptx85"): the target
/// machine has to agree with it.
static std::string ptxFeature(const Module &M) {
  for (const Function &F : M) {
    SmallVector<StringRef> Features;
    F.getFnAttribute("target-features").getValueAsString().split(Features, ',');
    for (StringRef Feature : Features)
      if (Feature.starts_with("+ptx"))
        return Feature.str();
  }
  return "";
}

Expected<std::unique_ptr<TargetMachine>>
createTarget(const Module &M, unsigned Arch, unsigned OptLevel) {
  static std::once_flag Registered;
  std::call_once(Registered, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });

  std::string Message;
  const Target *T = TargetRegistry::lookupTarget(M.getTargetTriple(), Message);
  if (!T)
    return internalError("no code generator for '" + M.getTargetTriple() +
                         "': " + Message);
  TargetOptions Options;
  Options.AllowFPOpFusion = FPOpFusion::Strict;
  CodeGenOptLevel Level = OptLevel == 0   ? CodeGenOptLevel::None
                          : OptLevel == 1 ? CodeGenOptLevel::Less
                          : OptLevel == 2 ? CodeGenOptLevel::Default
                                          : CodeGenOptLevel::Aggressive;
  std::unique_ptr<TargetMachine> TM(T->createTargetMachine(
      M.getTargetTriple(), "sm_" + std::to_string(Arch), ptxFeature(M), Options,
      Reloc::PIC_, std::nullopt, Level));
  if (!TM)
    return internalError("no NVPTX target machine for sm_" + Twine(Arch));
  return TM;
}

} // namespace reconverge::frontend
