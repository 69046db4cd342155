//===- driver/ProgramModules.cpp - Device code in a program ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/ProgramModules.h"

#include "analysis/CodeHash.h"
#include "core/ContainerIO.h"
#include "core/File.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstring>

using namespace llvm;

namespace reconverge::driver {

Expected<StringMap<std::string>> modulesOf(StringRef Program) {
  auto Read = readFile(Program);
  if (!Read)
    return Read.takeError();
  const StringRef File = (*Read)->getBuffer();
  char Magic[sizeof(ContainerMagic)];
  std::memcpy(Magic, &ContainerMagic, sizeof(Magic));
  const StringRef Begin(Magic, sizeof(Magic));
  StringMap<std::string> Modules;
  for (size_t At = File.find(Begin); At != StringRef::npos;
       At = File.find(Begin, At + 1)) {
    const StringRef Rest = File.drop_front(At);
    ContainerHeader Header;
    if (Rest.size() < sizeof(Header))
      break;
    std::memcpy(&Header, Rest.data(), sizeof(Header));
    // The bytes may stand there by chance: openContainer says whether.
    const StringRef Bytes = Rest.take_front(Header.TotalBytes);
    const SmallVector<char, 0> Copy(Bytes.begin(), Bytes.end()); // aligned
    Expected<ContainerView> View = openContainer(Copy.data(), Copy.size());
    if (!View) {
      consumeError(View.takeError());
      continue;
    }
    if (View->Foreign || View->Bitcode.empty())
      continue;
    if (Expected<std::string> Hash = analysis::codeHashOf(View->Bitcode))
      Modules[*Hash] = View->Bitcode.str();
    else
      consumeError(Hash.takeError());
  }
  return Modules;
}

} // namespace reconverge::driver
