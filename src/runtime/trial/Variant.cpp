//===- runtime/trial/Variant.cpp - A candidate's code ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/trial/Variant.h"

#include "core/ContainerIO.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::runtime {

Expected<KernelVariant> makeVariant(const Module &M, StringRef Name,
                                    const Candidate &What,
                                    const Remedies &Apply) {
  KernelVariant V;
  raw_svector_ostream OS(V.Bitcode);
  WriteBitcodeToFile(M, OS);
  LLVMContext Context;
  auto Copy = parseBitcodeFile(
      MemoryBufferRef({V.Bitcode.data(), V.Bitcode.size()}, "variant"),
      Context);
  if (!Copy)
    return Copy.takeError();
  auto Result = Apply(What, *(*Copy)->getFunction(Name));
  if (!Result)
    return Result.takeError();
  if (!Result->Changed) {
    constexpr size_t Most = 3;
    ArrayRef<std::string> Missed(Result->Missed);
    return createStringError(Missed.empty()
                                 ? "no branch of it diverges"
                                 : join(Missed.take_front(Most), "; "));
  }
  V.Bitcode.clear();
  WriteBitcodeToFile(**Copy, OS);
  V.Hash = bitcodeHash({V.Bitcode.data(), V.Bitcode.size()});
  return V;
}

} // namespace reconverge::runtime
