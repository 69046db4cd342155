//===- warpvm/Outline.cpp - A module without its code ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file of a library's templates holds kernels by the hundred, of which a
// program launches a few, and most of these are in the cache, compiled. To read
// all their code is most of the time in which such a program starts. So what a
// launch asks of code before it is compiled is kept beside what is compiled: a
// line with the hash of the code, and one for each kernel: its static shared
// memory, where its parameters have pointers, and its name. Where that is found, functions are read when they are
// compiled (LoadedProgram::read).
//
// Why nothing is verified then: the outline goes by the hash of all bytes, and
// was written when the same bytes had been read and verified.
//
// Limitation: where a function's address is taken, the code of all functions
// says which ones have an address, and in which order. Such a module has no
// outline and is read as a whole.
//
//===----------------------------------------------------------------------===//

#include "warpvm/Outline.h"
#include "analysis/CodeHash.h"
#include "analysis/device/Annotations.h"
#include "core/CacheFolder.h"
#include "warpvm/emit/CachedFile.h"
#include "warpvm/prepare/Callees.h"
#include "warpvm/prepare/Prepare.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace reconverge::warpvm {

KernelOutline::KernelOutline(const Function &Kernel)
    : Shared(sharedLayout(Kernel).Bytes), Pointers(pointersFollowed(Kernel)) {}

static std::string pathOf(StringRef CacheDir, StringRef Bytes) {
  return cachePath(
      CacheDir, xxh3_64bits(("outline\n" + Bytes + "\n" + buildStamp()).str()));
}

std::optional<Outline> Outline::kept(StringRef CacheDir, StringRef Bytes) {
  auto File = CacheDir.empty() ? nullptr : readWhole(pathOf(CacheDir, Bytes));
  if (!File)
    return std::nullopt;
  Outline O;
  auto [Hash, Text] = File->getBuffer().split('\n');
  O.Hash = Hash.str();
  while (!Text.empty()) {
    StringRef Line;
    std::tie(Line, Text) = Text.split('\n');
    KernelOutline Kernel;
    if (Line.consumeInteger(10, Kernel.Shared))
      return std::nullopt;
    while (Line.consume_front(","))
      if (Line.consumeInteger(10, Kernel.Pointers.emplace_back()))
        return std::nullopt;
    if (!Line.consume_front(" "))
      return std::nullopt;
    O.Kernels[Line] = std::move(Kernel);
  }
  return O;
}

void Outline::keep(Module &M, StringRef CacheDir, StringRef Bytes) {
  if (CacheDir.empty() || !addressedFunctions(M).empty())
    return;
  std::string Text = analysis::codeHash(M) + "\n";
  for (const Function &F : M) {
    if (F.isDeclaration() || !analysis::isKernel(F))
      continue;
    const KernelOutline Kernel(F);
    Text += std::to_string(Kernel.Shared);
    for (uint64_t Offset : Kernel.Pointers)
      Text += "," + std::to_string(Offset);
    Text += (" " + F.getName() + "\n").str();
  }
  writeWhole(pathOf(CacheDir, Bytes), Text);
}

const KernelOutline *Outline::kernel(StringRef Name) const {
  auto At = Kernels.find(Name);
  return At == Kernels.end() ? nullptr : &At->second;
}

} // namespace reconverge::warpvm
