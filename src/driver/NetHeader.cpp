//===- driver/NetHeader.cpp - A net as CUDA source ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/NetHeader.h"

#include "core/File.h"
#include "core/TensorNet.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::driver {

/// What people call the kernel, as far as it is an identifier.
static std::string nameOf(const PathNet &N) {
  // Of a template: "void name<...>(...)".
  const std::string Whole = demangle(N.Kernel);
  StringRef Own = Whole;
  Own.consume_front("void ");
  std::string Name;
  for (char C : Own.take_until([](char C) { return C == '(' || C == '<'; }))
    Name += isAlnum(C) ? C : '_';
  return Name.empty() || isDigit(Name.front()) ? "kernel_" + Name : Name;
}

template <typename T>
static void printList(raw_ostream &OS, ArrayRef<T> All, const char *Format) {
  OS << "    {";
  for (auto [I, Value] : enumerate(All))
    OS << (I == 0       ? ""
           : I % 6 == 0 ? ",\n     "
                        : ", ")
       << format(Format, Value);
  OS << "}";
}

static void printFloats(raw_ostream &OS, ArrayRef<float> All) {
  std::vector<double> Exact(All.begin(), All.end());
  printList(OS, ArrayRef(Exact), "%af");
}

void printNetHeader(const PathNet &N, raw_ostream &OS) {
  const TensorNet Tiles(N);
  const std::string Name = nameOf(N);
  const std::string Shape = "<" + std::to_string(N.Inputs.size()) + ", " +
                            std::to_string(N.Hidden.Biases.size()) + ", " +
                            std::to_string(N.Classes.size()) + ">";
  OS << "// Written by `reconverge train --header`: a net of\n//   "
     << demangle(N.Kernel) << "\n// in module " << N.Module
     << ". Class 0 takes longest. Inputs:\n";
  for (auto [I, Input] : enumerate(N.Inputs))
    OS << "//   " << I << "  what load " << Input.Load << " reads, "
       << Input.Place << "\n";
  OS << "#pragma once\n"
        "#ifndef RECONVERGE_WARP_WARP_NET_CUH // perhaps by a path of its own\n"
        "#include <reconverge/warp/warp_net.cuh>\n"
        "#endif\n\n// clang-format off\n";
  const auto Define = [&](StringRef Type, StringRef Suffix,
                          ArrayRef<std::vector<float>> Parts,
                          ArrayRef<uint32_t> Words) {
    OS << "[[maybe_unused]] static __device__ const reconverge::" << Type
       << Shape << " " << Name << Suffix << " = {\n";
    for (const std::vector<float> &Part : Parts) {
      printFloats(OS, Part);
      OS << (&Part == &Parts.back() && Words.empty() ? "};\n\n" : ",\n");
    }
    if (!Words.empty()) {
      printList(OS, Words, "0x%xu");
      OS << "};\n";
    }
  };
  Define("net_weights", "_net",
         {Tiles.Scale, Tiles.Shift, N.Hidden.Weights, N.Hidden.Biases,
          N.Output.Weights, N.Output.Biases},
         {});
  std::vector<float> Mix;
  for (const std::vector<float> &Row : Tiles.Mix)
    append_range(Mix, Row);
  Define("net_tiles", "_tiles", {Tiles.Scale, Tiles.Shift, Mix}, Tiles.words());
}

Error writeNetHeader(const PathNet &N, StringRef Path) {
  return writeOutput(Path, [&](raw_ostream &OS) { printNetHeader(N, OS); });
}

} // namespace reconverge::driver
