//===- unittests/warpvm/RandomKernelScalar.cpp - Without the VM -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body of a random kernel knows of its thread by its arguments alone, so it
// runs on the host as it stands, thread after thread.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "RandomKernel.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace reconverge::warpvm {

void runScalar(const Module &Device, unsigned Blocks, unsigned Threads,
               const std::vector<uint32_t> &In, std::vector<uint32_t> &Out,
               std::vector<uint32_t> &Sums, uint32_t N) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  // Code for the JIT lives in a context of its own.
  auto Context = std::make_unique<LLVMContext>();
  SmallVector<char, 0> Bytes;
  auto Copy = CloneModule(Device);
  Bytes = numberedBitcode(*Copy);
  auto M = cantFail(parseBitcodeFile(
      MemoryBufferRef(StringRef(Bytes.data(), Bytes.size()), "body"),
      *Context));
  M->getFunction("k")->eraseFromParent();
  for (Function &F : make_early_inc_range(*M))
    if (F.getIntrinsicID() == Intrinsic::nvvm_barrier0) {
      for (User *U : make_early_inc_range(F.users()))
        cast<Instruction>(U)->eraseFromParent();
      F.eraseFromParent();
    }
  static auto &Jit = *[] {
    auto Host = cantFail(orc::JITTargetMachineBuilder::detectHost());
    Host.setCodeGenOptLevel(CodeGenOptLevel::None);
    return new std::unique_ptr<orc::LLJIT>(cantFail(
        orc::LLJITBuilder().setJITTargetMachineBuilder(Host).create()));
  }();
  static unsigned Linked = 0;
  M->setDataLayout(Jit->getDataLayout());
  M->setTargetTriple(Jit->getTargetTriple().str());
  auto &Library =
      cantFail(Jit->createJITDylib("scalar" + std::to_string(Linked++)));
  Library.addToLinkOrder(*Jit->getProcessSymbolsJITDylib());
  cantFail(Jit->addIRModule(
      Library, orc::ThreadSafeModule(std::move(M), std::move(Context))));
  auto *Body = cantFail(Jit->lookup(Library, RandomKernelBody))
                   .toPtr<void(uint32_t, uint32_t, uint32_t, const uint32_t *,
                               uint32_t *, uint32_t *, uint32_t, uint32_t *,
                               uint32_t)>();
  for (unsigned Block = 0; Block < Blocks; ++Block) {
    std::vector<uint32_t> Shared(RandomKernelMaxThreads *
                                 RandomKernelSharedWords);
    for (unsigned Thread = 0; Thread < Threads; ++Thread)
      Body(Thread, Block, Threads, In.data(), Out.data(), Sums.data(), N,
           Shared.data(), Blocks * Threads);
  }
  cantFail(Jit->getExecutionSession().removeJITDylib(Library));
}

} // namespace reconverge::warpvm
