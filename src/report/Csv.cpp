//===- report/Csv.cpp - A report's places as comma-separated values -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report/Writers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::report {

/// RFC 4180: in quotes, those inside doubled.
static std::string quoted(StringRef Text) {
  std::string Out = "\"";
  for (char C : Text)
    Out += C == '"' ? std::string("\"\"") : std::string(1, C);
  return Out + "\"";
}

/// As many digits as reading it back needs.
static std::string number(double X) {
  std::string Text;
  raw_string_ostream(Text) << json::Value(X);
  return Text;
}

void printCsv(const View &V, raw_ostream &OS) {
  OS << "self,total,recoverable_in_warp,recoverable_in_block,"
        "recoverable_in_grid,file,line,column,condition,copies,kernels,warps,"
        "split,advice\r\n";
  for (const PlaceView &P : V.Places) {
    std::vector<std::string> Kernels;
    for (uint32_t Kernel : P.Kernels)
      Kernels.push_back(V.Kernels[Kernel].Name);
    auto Recover = [&](double Recoverable::*Scope) {
      return P.Regrouped ? number(*P.Regrouped.*Scope) : "";
    };
    OS << number(P.Self) << ',' << number(P.Total) << ','
       << Recover(&Recoverable::InWarp) << ',' << Recover(&Recoverable::InBlock)
       << ',' << Recover(&Recoverable::InGrid) << ',' << quoted(P.Where.File)
       << ',' << P.Where.Line << ',' << P.Where.Column << ',' << quoted(P.What)
       << ',' << P.Copies << ',' << quoted(join(Kernels, "; ")) << ','
       << P.Warps << ',' << number(P.Split) << ','
       << quoted(join(P.Advice, "; ")) << "\r\n";
  }
}

} // namespace reconverge::report
