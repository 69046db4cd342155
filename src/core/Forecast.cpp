//===- core/Forecast.cpp - What a remedy should gain ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/Forecast.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge {

std::string textOf(const EstimateForecast &F) {
  std::string Text;
  raw_string_ostream OS(Text);
  // Rounding costs a place in the order, nothing else.
  for (auto [Load, Weight] : zip_equal(F.Loads, F.By.PerUnit))
    if (Weight != 0)
      OS << "estimate=" << Load << ':' << format("%.6g", Weight) << ';';
  if (F.By.PerThread != 0)
    OS << "estimate=thread:" << format("%.6g", F.By.PerThread) << ';';
  if (!Text.empty())
    OS << "estimate=base:" << format("%.6g", F.By.Base);
  return Text;
}

} // namespace reconverge
