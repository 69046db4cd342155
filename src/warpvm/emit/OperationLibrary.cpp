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

#include "llvm/Object/Archive.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/ObjectFile.h"

using namespace llvm;

namespace reconverge::warpvm {

OperationLibrary::OperationLibrary(
    Linker &Code, std::string Path,
    unique_function<Expected<void *>(StringRef)> Outside)
    : Code(Code), Path(std::move(Path)), Outside(std::move(Outside)) {
  Kept = this->Path.empty() ? nullptr : readWhole(this->Path);
  if (!Kept)
    return;
  auto Read = object::Archive::create(*Kept);
  if (!Read) {
    consumeError(Read.takeError());
    return;
  }
  for (const object::Archive::Symbol &S : (*Read)->symbols()) {
    auto Member = S.getMember();
    auto Object = Member ? Member->getMemoryBufferRef() : Member.takeError();
    if (Object)
      Places[S.getName()].Object = *Object;
    else
      consumeError(Object.takeError());
  }
}

Error OperationLibrary::link(MemoryBufferRef Object) {
  return Code.link(
      Object, [&](StringRef Name) { return Outside(Name); },
      [&](StringRef Name, void *At) { Places[Name].Linked = At; });
}

Expected<void *> OperationLibrary::find(StringRef Name) {
  auto At = Places.find(Name);
  if (At == Places.end())
    return nullptr;
  if (!At->second.Linked)
    if (Error E = link(At->second.Object))
      return std::move(E);
  return Places[Name].Linked;
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
  if (!Path.empty()) {
    auto Others = readWhole(Path);
    std::vector<NewArchiveMember> Members = membersOf(Others.get());
    Members.emplace_back(Object->getMemBufferRef());
    auto All = writeArchiveToBuffer(Members, SymtabWritingMode::NormalSymtab,
                                    object::Archive::K_GNU,
                                    /*Deterministic=*/true, /*Thin=*/false);
    if (All)
      writeWhole(Path, (*All)->getBuffer());
    else
      consumeError(All.takeError());
  }
  return link(*Object);
}

bool OperationLibrary::serves(const MemoryBuffer &Object) const {
  auto Read = object::ObjectFile::createObjectFile(Object.getMemBufferRef());
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
    if (Needed && isOperationName(*Name) && !has(*Name))
      return false;
  }
  return true;
}

} // namespace reconverge::warpvm
