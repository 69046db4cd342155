//===- warpvm/emit/OperationLibrary.cpp - Operations, compiled ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In the cache, the operations of all programs lie in one archive, an object
// file for each kernel that needed some first. What a process lacks it compiles
// and adds. Of processes that do so at once, the last one's archive stays;
// whoever then finds a list that needs more than there is makes it again.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/OperationLibrary.h"

#include "warpvm/emit/CachedFile.h"
#include "warpvm/emit/Operations.h"

#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/ObjectFile.h"

using namespace llvm;

namespace reconverge::warpvm {

/// Calls \p Each with the operations that \p Object defines, or those that it
/// needs, until it says false. False if it did, or if that is no object.
static bool forOperations(MemoryBufferRef Object, bool Defined,
                          function_ref<bool(StringRef)> Each) {
  auto Read = object::ObjectFile::createObjectFile(Object);
  if (!Read) {
    consumeError(Read.takeError());
    return false;
  }
  for (const object::SymbolRef &S : (*Read)->symbols()) {
    auto Name = S.getName();
    auto Flags = S.getFlags();
    if (!Name || !Flags) {
      consumeError(joinErrors(Name.takeError(), Flags.takeError()));
      return false;
    }
    const bool Needed = *Flags & object::SymbolRef::SF_Undefined;
    if (isOperationName(*Name) && Needed != Defined && !Each(*Name))
      return false;
  }
  return true;
}

OperationLibrary::OperationLibrary(orc::LLJIT &Jit, std::string Path)
    : Jit(Jit), Path(std::move(Path)) {
  auto Kept = this->Path.empty() ? nullptr : readWhole(this->Path);
  if (!Kept)
    return;
  auto Read = object::Archive::create(*Kept);
  if (!Read) {
    consumeError(Read.takeError());
    return;
  }
  for (const object::Archive::Symbol &S : (*Read)->symbols())
    Names.insert(S.getName());
  auto Members = orc::StaticLibraryDefinitionGenerator::Create(
      Jit.getObjLinkingLayer(), std::move(Kept));
  if (!Members) {
    Names.clear();
    consumeError(Members.takeError());
    return;
  }
  Jit.getMainJITDylib().addGenerator(std::move(*Members));
}

static std::vector<NewArchiveMember> membersOf(const MemoryBuffer *Kept) {
  std::vector<NewArchiveMember> Members;
  if (!Kept)
    return Members;
  auto Read = object::Archive::create(*Kept);
  if (!Read) {
    consumeError(Read.takeError());
    return Members;
  }
  Error E = Error::success();
  for (const object::Archive::Child &C : (*Read)->children(E)) {
    auto M = NewArchiveMember::getOldMember(C, /*Deterministic=*/true);
    if (M)
      Members.push_back(std::move(*M));
    else
      consumeError(M.takeError());
  }
  consumeError(std::move(E));
  return Members;
}

Error OperationLibrary::add(std::unique_ptr<MemoryBuffer> Object) {
  forOperations(*Object, /*Defined=*/true, [&](StringRef Name) {
    Names.insert(Name);
    return true;
  });
  if (!Path.empty()) {
    auto Kept = readWhole(Path);
    std::vector<NewArchiveMember> Members = membersOf(Kept.get());
    Members.emplace_back(Object->getMemBufferRef());
    auto All = writeArchiveToBuffer(Members, SymtabWritingMode::NormalSymtab,
                                    object::Archive::K_GNU,
                                    /*Deterministic=*/true, /*Thin=*/false);
    if (All)
      writeWhole(Path, (*All)->getBuffer());
    else
      consumeError(All.takeError());
  }
  return Jit.addObjectFile(Jit.getMainJITDylib(), std::move(Object));
}

bool OperationLibrary::serves(const MemoryBuffer &Object) const {
  return forOperations(Object.getMemBufferRef(), /*Defined=*/false,
                       [&](StringRef Name) { return has(Name); });
}

} // namespace reconverge::warpvm
