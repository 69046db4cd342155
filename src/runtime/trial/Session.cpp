//===- runtime/trial/Session.cpp - What is tried, and the log -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/trial/Session.h"

#include "analysis/Numbering.h"
#include "analysis/device/LibraryCalls.h"
#include "core/ContainerIO.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/FileSystem.h"

#include <bit>

using namespace llvm;

namespace reconverge::runtime {

Expected<std::unique_ptr<TrialLog>> TrialLog::open(StringRef Path) {
  auto Log = std::make_unique<TrialLog>();
  std::error_code EC;
  Log->OS = std::make_unique<raw_fd_ostream>(Path, EC, sys::fs::OF_Append);
  if (EC)
    return createStringError(EC, "cannot write " + Path + ": " + EC.message());
  return std::move(Log);
}

void TrialLog::add(const TrialEvent &E) {
  printTrialEvent(E, *OS);
  OS->flush();
}

bool LaunchChoice::wants(const LaunchShape &Shape, uint64_t Most) {
  ++Launches;
  if (Tried >= Most)
    return false;
  const bool IsNew = !is_contained(Shapes, Shape);
  if (Expected) {
    // How many should have been tried by now, this one included.
    const uint64_t Due =
        Expected > 1 ? 1 + (Launches - 1) * (Most - 1) / (Expected - 1) : Most;
    if (Tried >= Due && (!IsNew || 2 * Tried >= Most))
      return false;
  } else if (2 * Launches > Most && !IsNew && !std::has_single_bit(Launches)) {
    return false;
  }
  ++Tried;
  if (IsNew)
    Shapes.push_back(Shape);
  return true;
}

/// The same of a call of \p Callee, one of CUDA's own functions or any other.
static std::string hindranceOfCall(const Function &Callee) {
  switch (analysis::libraryCall(&Callee)) {
  case analysis::LibraryCall::Print:
    return "it prints";
  case analysis::LibraryCall::Allocate:
  case analysis::LibraryCall::Free:
    return "it takes or frees memory itself";
  case analysis::LibraryCall::Assert:
    return "it asserts";
  default:
    return "";
  }
}

std::string hindrance(const Function &Kernel) {
  for (const Function *Part : analysis::functionsOf(Kernel))
    for (const Instruction &I : instructions(*Part)) {
      const auto *Call = dyn_cast<CallBase>(&I);
      if (!Call || Call->isInlineAsm())
        continue;
      if (const Function *Callee = Call->getCalledFunction()) {
        if (std::string Why = hindranceOfCall(*Callee); !Why.empty())
          return Why;
        continue;
      }
      // A pointer: to whatever has its address taken. functionsOf knows those
      // with a body; CUDA's own have none.
      for (const Function &Other : *Kernel.getParent())
        if (Other.isDeclaration() && Other.hasAddressTaken())
          if (std::string Why = hindranceOfCall(Other); !Why.empty())
            return Why;
    }
  return "";
}

Expected<Variant> makeVariant(const Module &M, StringRef Name,
                              const Candidate &What, const Remedies &Apply) {
  Variant V;
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
