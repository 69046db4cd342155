//===- core/Forecast.cpp - What a remedy should gain ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/Forecast.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge {

std::string placeOfFeature(const KernelInfo &K, uint32_t Number) {
  const auto In = [&](const auto &All) -> std::string {
    for (const auto &Info : All)
      if (Info.Id == Number && !Info.Where.empty())
        return (sys::path::filename(Info.Where.front().File) + ":" +
                Twine(Info.Where.front().Line))
            .str();
    return "";
  };
  return K.Marks.empty() ? In(K.Accesses) : In(K.Marks);
}

std::string textOfSum(const EstimateForecast &F) {
  std::string Text;
  raw_string_ostream OS(Text);
  // Rounding costs a place in the order, nothing else.
  for (auto [Load, Weight] : zip_equal(F.Loads, F.Sum.PerUnit))
    if (Weight != 0)
      OS << "estimate=" << Load << ':' << format("%.6g", Weight) << ';';
  if (F.Sum.PerThread != 0)
    OS << "estimate=thread:" << format("%.6g", F.Sum.PerThread) << ';';
  if (!Text.empty())
    OS << "estimate=base:" << format("%.6g", F.Sum.Base);
  return Text;
}

std::string textOfTree(const EstimateForecast &F) {
  return F.Tree.leaves() > 1 ? "tree=" + textOf(F.Tree) : "";
}

std::string textOfBest(const EstimateForecast &F, double &Gain) {
  std::string Sum = textOfSum(F), Tree = textOfTree(F);
  const bool TakesTree =
      !Tree.empty() && (Sum.empty() || F.ByTree.Gain > F.BySum.Gain);
  Gain = TakesTree ? F.ByTree.Gain : Sum.empty() ? 0 : F.BySum.Gain;
  return TakesTree ? Tree : Sum;
}

} // namespace reconverge
