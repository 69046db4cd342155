//===- examples/histogram/text.h - English-like text ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text with the statistics that matter here: word lengths and letters of
// English, words drawn with frequency proportional to 1 / rank (G. Zipf, 1935),
// sentences, numbers, paragraphs. Long words are made from a stem and endings.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_EXAMPLES_TEXT_H
#define RECONVERGE_EXAMPLES_TEXT_H

#include "../common/random.h"

#include <string>
#include <vector>

inline std::vector<unsigned char> makeText(size_t Length, uint64_t Seed) {
  static const char *const Words[] = {
      "the",    "of",     "and",     "to",      "a",       "in",     "is",
      "that",   "it",     "was",     "for",     "on",      "as",     "with",
      "be",     "by",     "at",      "are",     "this",    "from",   "which",
      "or",     "had",    "not",     "but",     "were",    "have",   "one",
      "an",     "they",   "when",    "all",     "there",   "each",   "warp",
      "branch", "thread", "lane",    "water",   "kernel",  "number", "machine",
      "light",  "time",   "through", "memory",  "between", "people", "measure",
      "river",  "winter", "letter",  "distant", "quality", "jigsaw", "complex"};
  static const char *const Endings[] = {"s", "ed", "ing", "ation", "fully"};
  constexpr unsigned Count = sizeof(Words) / sizeof(Words[0]);

  // Cumulative weights 1/1 + 1/2 + ... in units of 2^-20.
  std::vector<uint32_t> Upto(Count);
  uint32_t Sum = 0;
  for (unsigned I = 0; I < Count; ++I)
    Upto[I] = Sum += (1u << 20) / (I + 1);

  Random Draw(Seed, 7);
  std::string Text;
  Text.reserve(Length + 64);
  bool SentenceStarts = true;
  while (Text.size() < Length) {
    std::string Word;
    if (Draw.below(40) == 0) {
      Word = std::to_string(Draw.below(10000));
    } else {
      const uint32_t At = Draw.below(Sum);
      unsigned I = 0;
      while (Upto[I] <= At)
        ++I;
      Word = Words[I];
      while (Word.size() > 3 && Draw.below(3) == 0 && Word.size() < 16)
        Word += Endings[Draw.below(5)];
      if (SentenceStarts || Draw.below(30) == 0)
        Word[0] = char(Word[0] - 'a' + 'A');
    }
    Text += Word;
    SentenceStarts = Draw.below(12) == 0;
    if (SentenceStarts)
      Text += Draw.below(6) ? ". " : ".\n\n";
    else
      Text += Draw.below(9) ? " " : ", ";
  }
  return {Text.begin(), Text.begin() + long(Length)};
}

#endif
