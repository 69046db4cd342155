//===- warpvm/Outline.cpp - A module without its code ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file of a library's templates holds kernels by the hundred, of which a
// program launches a few, and most of these are in the cache, compiled. To read
// it is most of the time in which such a program starts. So what has to be known
// before a kernel is compiled is kept beside what is compiled, a line each:
//
//   4b7e0d6c52f3a918               the hash of the code
//   v 4,4,0 00000041 name          a variable: size, alignment, whether it is
//                                  constant; its bytes, - if nobody gives it a
//                                  value, 0 if all are, * if addresses are in it
//   k 128,256,90 0,8,8,4 0 name    a kernel: static shared memory, launch bound,
//                                  architecture; its parameters, and where they
//                                  have pointers that it may follow
//
// Where that is found the module is read when a first kernel is compiled, and of
// it the functions that this kernel reaches (LoadedProgram::read). Where a
// variable begins with an address, the module is there from the start.
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
#include "analysis/device/AddressSpace.h"
#include "analysis/device/Annotations.h"
#include "analysis/device/Architecture.h"
#include "core/CacheFolder.h"
#include "warpvm/emit/CachedFile.h"
#include "warpvm/prepare/Callees.h"
#include "warpvm/prepare/Initializers.h"
#include "warpvm/prepare/Prepare.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace reconverge::warpvm {

KernelOutline::KernelOutline(const Function &Kernel)
    : Shared(sharedLayout(Kernel).Bytes), Bound(analysis::launchBound(Kernel)),
      Architecture(analysis::architectureOf(Kernel).value_or(0)),
      Parameters(parameterLayout(Kernel)), Pointers(pointersFollowed(Kernel)) {
  SmallVector<StringRef, 3> Sizes;
  Kernel.getFnAttribute(analysis::ClusterAttribute)
      .getValueAsString()
      .split(Sizes, ", ", -1, /*KeepEmpty=*/false);
  for (StringRef Size : Sizes)
    Size.getAsInteger(10, Cluster.emplace_back());
}

VariableOutline::VariableOutline(const GlobalVariable &GV)
    : Name(GV.getName()),
      Constant(GV.getAddressSpace() == analysis::ConstantSpace) {
  const DataLayout &DL = GV.getParent()->getDataLayout();
  Size = DL.getTypeAllocSize(GV.getValueType()).getFixedValue();
  Align = GV.getAlign().value_or(DL.getABITypeAlign(GV.getValueType())).value();
}

static std::string pathOf(StringRef CacheDir, StringRef Bytes) {
  return cachePath(CacheDir,
                   xxh3_64bits(("outline\n" + Bytes + "\n" + BuildId).str()));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Takes "1,2,3 " from \p Line; false if that is not what is there.
static bool takeNumbers(StringRef &Line, function_ref<void(uint64_t)> Each) {
  for (bool More = !Line.starts_with(" "); More;
       More = Line.consume_front(",")) {
    uint64_t Number;
    if (Line.consumeInteger(10, Number))
      return false;
    Each(Number);
  }
  return Line.consume_front(" ");
}

static bool takeThree(StringRef &Line, uint64_t (&Three)[3]) {
  unsigned Count = 0;
  return takeNumbers(Line,
                     [&](uint64_t N) {
                       if (Count < 3)
                         Three[Count] = N;
                       ++Count;
                     }) &&
         Count == 3;
}

static bool takeKernel(StringRef &Line, KernelOutline &K) {
  uint64_t Three[3];
  if (!takeThree(Line, Three))
    return false;
  K.Shared = Three[0];
  K.Bound = Three[1];
  K.Architecture = Three[2];
  if (!takeNumbers(Line, [&](uint64_t N) { K.Cluster.push_back(N); }) ||
      (!K.Cluster.empty() && K.Cluster.size() != 3))
    return false;
  SmallVector<uint64_t, 16> Flat;
  if (!takeNumbers(Line, [&](uint64_t N) { Flat.push_back(N); }) ||
      Flat.size() % 2)
    return false;
  for (size_t I = 0; I < Flat.size(); I += 2)
    K.Parameters.push_back({Flat[I], Flat[I + 1]});
  return takeNumbers(Line, [&](uint64_t N) { K.Pointers.push_back(N); });
}

std::optional<Outline> Outline::kept(StringRef CacheDir, StringRef Bytes) {
  auto File = CacheDir.empty() ? nullptr : readWhole(pathOf(CacheDir, Bytes));
  if (!File)
    return std::nullopt;
  Outline O;
  O.Initial.emplace();
  auto [Hash, Text] = File->getBuffer().split('\n');
  O.Hash = Hash.str();
  while (!Text.empty()) {
    StringRef Line;
    std::tie(Line, Text) = Text.split('\n');
    if (Line.consume_front("k ")) {
      KernelOutline K;
      if (!takeKernel(Line, K))
        return std::nullopt;
      O.Kernels[Line] = std::move(K);
      continue;
    }
    uint64_t Three[3];
    if (!Line.consume_front("v ") || !takeThree(Line, Three))
      return std::nullopt;
    auto [Value, Name] = Line.split(' ');
    VariableOutline &V = O.Variables.emplace_back();
    V.Name = Name.str();
    V.Size = Three[0];
    V.Align = Three[1];
    V.Constant = Three[2];
    std::string Initial(Value == "0" ? V.Size : 0, '\0');
    if (Value == "*")
      O.Initial.reset();
    else if (Value != "-" && Value != "0" &&
             (!tryGetFromHex(Value, Initial) || Initial.size() != V.Size))
      return std::nullopt;
    if (O.Initial)
      O.Initial->push_back(Value == "-" ? std::nullopt
                                        : std::optional(std::move(Initial)));
  }
  return O;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The bytes with which \p GV begins, as kept() reads them.
static std::string initialText(const GlobalVariable &GV, uint64_t Size) {
  if (!GV.hasInitializer())
    return "-";
  std::vector<uint8_t> Bytes(Size);
  bool HasAddress = false;
  Error E = writeInitializer(*GV.getInitializer(), Bytes.data(),
                             GV.getParent()->getDataLayout(),
                             [&](const GlobalValue &Other) {
                               HasAddress = true;
                               return Bytes.data();
                             });
  if (E) {
    consumeError(std::move(E)); // loading says it
    return "*";
  }
  if (HasAddress)
    return "*";
  return all_of(Bytes, [](uint8_t B) { return B == 0; }) ? "0" : toHex(Bytes);
}

void Outline::keep(Module &M, StringRef CacheDir, StringRef Bytes) {
  if (CacheDir.empty() || !addressedFunctions(M).empty())
    return;
  std::string Text = analysis::codeHash(M) + "\n";
  raw_string_ostream OS(Text);
  for (const GlobalVariable *GV : deviceVariables(M)) {
    const VariableOutline V(*GV);
    OS << "v " << V.Size << ',' << V.Align << ',' << unsigned(V.Constant) << ' '
       << initialText(*GV, V.Size) << ' ' << V.Name << '\n';
  }
  for (const Function &F : M) {
    if (F.isDeclaration() || !analysis::isKernel(F))
      continue;
    const KernelOutline K(F);
    OS << "k " << K.Shared << ',' << K.Bound << ',' << K.Architecture << ' ';
    OS << join(map_range(K.Cluster, [](uint64_t N) { return utostr(N); }), ",")
       << ' ';
    ListSeparator Comma(",");
    for (auto [Offset, Size] : K.Parameters)
      OS << Comma << Offset << ',' << Size;
    OS << ' ';
    ListSeparator Next(",");
    for (uint64_t Offset : K.Pointers)
      OS << Next << Offset;
    OS << ' ' << F.getName() << '\n';
  }
  writeWhole(pathOf(CacheDir, Bytes), Text);
}

const KernelOutline *Outline::kernel(StringRef Name) const {
  auto At = Kernels.find(Name);
  return At == Kernels.end() ? nullptr : &At->second;
}

} // namespace reconverge::warpvm
