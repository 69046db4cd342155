//===- warpvm/emit/WriteObject.cpp - From IR to an object file ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel's code reads vectors of constants at some thousand places. Where those
// lie in sections of their own, each place is a relocation, and a program that
// takes its kernels from the cache spends most of its time on them:
//
//   .text    vpaddd .LC7(%rip), ...   + R_X86_64_PC32   .rodata.cst64
//
// In one section with the code, the assembler knows how far it is. So the streamer
// that code goes to takes sections that are only read for the section of code. What
// holds addresses has relocations anyway and stays where it is.
//
// A symbol, too, takes the linker's time, and nobody asks for those of regions and
// constants, some hundred a kernel. Private ones are known to the assembler alone.
//
// The rest is what LLVM does to write an object file, by its own parts: there is no
// way to hand it a streamer.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/WriteObject.h"

#include "core/Error.h"

#include "llvm/CodeGen/AsmPrinter.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCELFStreamer.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCSectionELF.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Target/TargetLoweringObjectFile.h"

using namespace llvm;

namespace reconverge::warpvm {

namespace {
class OneSection : public MCELFStreamer {
public:
  using MCELFStreamer::MCELFStreamer;
  using MCELFStreamer::switchSection;
  void switchSection(MCSection *To, uint32_t Subsection) override {
    const unsigned Flags = static_cast<MCSectionELF *>(To)->getFlags();
    const bool OnlyRead =
        (Flags & (ELF::SHF_ALLOC | ELF::SHF_WRITE)) == ELF::SHF_ALLOC;
    MCELFStreamer::switchSection(
        OnlyRead ? getContext().getObjectFileInfo()->getTextSection() : To,
        Subsection);
  }
};
} // namespace

Expected<std::unique_ptr<MemoryBuffer>> writeObject(Module &M,
                                                    TargetMachine &Host) {
  for (GlobalValue &G : M.global_values())
    if (G.hasInternalLinkage())
      G.setLinkage(GlobalValue::PrivateLinkage);
  auto &LLVMHost = static_cast<LLVMTargetMachine &>(Host);
  legacy::PassManager Passes;
  TargetPassConfig *Config = LLVMHost.createPassConfig(Passes);
  Config->setDisableVerify(true);
  Passes.add(Config);
  auto *Machine = new MachineModuleInfoWrapperPass(&LLVMHost);
  Passes.add(Machine);
  MCContext &Context = Machine->getMMI().getContext();
  Host.getObjFileLowering()->Initialize(Context, Host);
  if (Config->addISelPasses())
    return internalError("this host's code generator selects no instructions");
  Config->addMachinePasses();
  Config->setInitialized();

  SmallVector<char, 0> Bytes;
  raw_svector_ostream OS(Bytes);
  const Target &For = Host.getTarget();
  std::unique_ptr<MCAsmBackend> Backend(For.createMCAsmBackend(
      *Host.getMCSubtargetInfo(), *Host.getMCRegisterInfo(),
      Host.Options.MCOptions));
  std::unique_ptr<MCCodeEmitter> Emitter(
      For.createMCCodeEmitter(*Host.getMCInstrInfo(), Context));
  auto Writer = Backend->createObjectWriter(OS);
  Passes.add(For.createAsmPrinter(
      Host,
      std::make_unique<OneSection>(Context, std::move(Backend),
                                   std::move(Writer), std::move(Emitter))));
  Passes.add(createFreeMachineFunctionPass());
  Passes.run(M);
  return std::make_unique<SmallVectorMemoryBuffer>(
      std::move(Bytes), M.getModuleIdentifier(),
      /*RequiresNullTerminator=*/false);
}

} // namespace reconverge::warpvm
