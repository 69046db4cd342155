//===- driver/Words.cpp - Words that are almost right ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A slip is a letter that is wrong, missing or too many, of which there may be one
// in three, or two letters that have changed places, once. A word that is
// the beginning or a part of a longer one counts as half a slip more than none,
// from three letters on: two are part of everything.
//
//===----------------------------------------------------------------------===//

#include "driver/Words.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <optional>
#include <utility>

using namespace llvm;

namespace reconverge::driver {

/// In half slips; none: too far.
static std::optional<unsigned> distance(StringRef Word, StringRef Known) {
  const std::string A = Word.lower(), B = Known.lower();
  const unsigned Most = std::max<unsigned>(1, unsigned(A.size()) / 3);
  const unsigned Slips = StringRef(A).edit_distance(
      B, /*AllowReplacements=*/true, /*MaxEditDistance=*/Most);
  std::optional<unsigned> Best;
  if (Slips <= Most)
    Best = 2 * Slips;
  for (size_t I = 1; I < A.size(); ++I) {
    std::string Swapped = A;
    std::swap(Swapped[I - 1], Swapped[I]);
    if (Swapped == B)
      Best = 2;
  }
  if (A.size() >= 3 && StringRef(B).contains(A))
    Best = std::min(Best.value_or(1), 1u);
  return Best;
}

std::vector<std::string> nearestOf(StringRef Word,
                                   ArrayRef<std::string> Known) {
  constexpr size_t Most = 3;
  // As they come where they are equally near.
  std::vector<std::pair<unsigned, size_t>> Near;
  for (size_t I = 0; I != Known.size(); ++I)
    if (std::optional<unsigned> D = distance(Word, Known[I]))
      Near.push_back({*D, I});
  sort(Near);
  std::vector<std::string> Words;
  for (const auto &[D, I] : ArrayRef(Near).take_front(Most))
    Words.push_back(Known[I]);
  return Words;
}

std::string didYouMean(StringRef Word, ArrayRef<std::string> Known) {
  const std::vector<std::string> Near = nearestOf(Word, Known);
  std::string Text;
  for (size_t I = 0; I != Near.size(); ++I)
    Text += (I == 0                ? "Did you mean "
             : I + 1 < Near.size() ? ", "
                                   : " or ") +
            Near[I];
  return Text.empty() ? Text : Text + "? ";
}

} // namespace reconverge::driver
