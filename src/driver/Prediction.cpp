//===- driver/Prediction.cpp - What a candidate should gain ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model gives each side a time and says between what it lies by what is not
// known of caches. That is the same for both sides, so the least of one goes
// with the least of the other. Around both ends lies what the model is usually
// off by.
//
//===----------------------------------------------------------------------===//

#include "driver/Prediction.h"

#include "model/Time.h"

#include <algorithm>

namespace reconverge::driver {

bool Prediction::add(Range &Sum, const Demands &Asked) const {
  if (!Limits) {
    const double Slots = slotsOf(Asked);
    Sum.Least += Slots;
    Sum.Likely += Slots;
    Sum.Most += Slots;
    return Slots > 0;
  }
  const KernelTime T = OfMany ? model::timeOfMany(Asked, *Limits)
                              : model::timeOf(Asked, *Limits);
  Sum.Least += T.Least;
  Sum.Likely += T.Cycles;
  Sum.Most += T.Most;
  return T.isKnown();
}

void Prediction::add(const TrialEvent &End) {
  for (const Demands *Side : {&End.Original, &End.Variant})
    for (const Demand &D : *Side)
      ByMachineCode &= D.HasMachineCode;
  IsWhole &= add(Original, End.Original) && add(Variant, End.Variant);
}

void Prediction::tell(TrialResult &R) const {
  if (!IsWhole || Variant.Likely <= 0)
    return;
  const auto [Low, High] = std::minmax({Original.Least / Variant.Least,
                                        Original.Likely / Variant.Likely,
                                        Original.Most / Variant.Most});
  const double Error = !Limits         ? 1
                       : ByMachineCode ? model::UsualError
                                       : model::UsualErrorByIr;
  R.Predicted = Original.Likely / Variant.Likely;
  R.PredictedLow = Low / Error;
  R.PredictedHigh = High * Error;
}

} // namespace reconverge::driver
