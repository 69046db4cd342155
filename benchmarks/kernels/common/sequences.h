//===- benchmarks/kernels/common/sequences.h - DNA and reads ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generated inputs of the programs that compare sequences. A genome is random
// with repeats: a part of it are copies of earlier pieces, each a little changed.
// Reads are pieces of it, from both strands, with the errors of a sequencing
// technology. All whole numbers and arithmetic that is the same on all machines.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_SEQUENCES_H
#define RECONVERGE_BENCHMARKS_SEQUENCES_H

#include "bench.h"
#include "exact.h"

#include <algorithm>
#include <vector>

using Letters = std::vector<unsigned char>;

/// Sequences one after the other; sequence I is Text[Begin[I]] and on.
struct Sequences {
  Letters Text;
  std::vector<int> Begin = {0};

  int size() const { return int(Begin.size()) - 1; }
  int length(int I) const { return Begin[I + 1] - Begin[I]; }
  const unsigned char *operator[](int I) const {
    return Text.data() + Begin[I];
  }
  int longest() const {
    int Most = 0;
    for (int I = 0; I < size(); ++I)
      Most = std::max(Most, length(I));
    return Most;
  }
  void add(const Letters &One) {
    Text.insert(Text.end(), One.begin(), One.end());
    Begin.push_back(int(Text.size()));
  }
};

/// A length whose logarithm is as good as normal, as those of proteins and of
/// long reads are: half of all are above \p Median, a sixth above
/// Median * 2^Octaves; from \p Least to \p Most.
inline int drawLength(Random &Draw, int Median, float Octaves, int Least,
                      int Most) {
  float Normal = -6.0f; // the sum of twelve has a variance of 1
  for (int I = 0; I < 12; ++I)
    Normal += Draw.uniform();
  const int Length = int(float(Median) * power2(product(Octaves, Normal)));
  return std::min(std::max(Length, Least), Most);
}

/// A base: 0 to 3 for A, C, G, T, of which 41 % are C or G.
inline unsigned char drawBase(Random &Draw) {
  const unsigned Of = Draw.below(1000);
  return Of < 295 ? 0 : Of < 500 ? 1 : Of < 705 ? 2 : 3;
}
inline unsigned char otherBase(Random &Draw, unsigned char Base) {
  return (unsigned char)((Base + 1 + Draw.below(3)) & 3);
}

/// \p Length bases, about half of them in repeats of up to 400 that differ in a
/// base of twenty.
inline Letters drawGenome(Random Draw, int Length) {
  Letters Genome;
  while (int(Genome.size()) < Length) {
    const int Piece =
        std::min(50 + int(Draw.below(350)), Length - int(Genome.size()));
    const bool Copies = int(Genome.size()) > 400 && Draw.below(2);
    const int From =
        Copies ? int(Draw.below(uint32_t(Genome.size()) - 400)) : 0;
    for (int I = 0; I < Piece; ++I)
      Genome.push_back(!Copies          ? drawBase(Draw)
                       : Draw.below(20) ? Genome[From + I]
                                        : drawBase(Draw));
  }
  return Genome;
}

/// Errors a million bases.
struct ErrorModel {
  int Substituted, AtTheEnd; ///< wrong bases at a read's first and last base
  int Inserted, Deleted;
};
/// By synthesis: hardly any gaps, and more wrong bases towards the end.
inline constexpr ErrorModel ShortReads = {2000, 30000, 20, 20};
/// Of single molecules: gaps above all.
inline constexpr ErrorModel LongReads = {15000, 15000, 60000, 40000};

/// \p Length bases as read from \p Genome at \p From, on a strand; fewer if the
/// genome ends before.
inline Letters drawRead(Random &Draw, const Letters &Genome, int From,
                        int Length, const ErrorModel &Errors, bool Reverse) {
  Letters Read;
  const int Size = int(Genome.size());
  for (int At = From; int(Read.size()) < Length && At >= 0 && At < Size;) {
    const int Now = int(Read.size());
    const auto Step = [&] { At += Reverse ? -1 : 1; };
    const int Event = int(Draw.below(1000000));
    if (Event < Errors.Inserted) {
      Read.push_back(drawBase(Draw));
      continue;
    }
    if (Event < Errors.Inserted + Errors.Deleted) {
      Step();
      continue;
    }
    unsigned char Base = Genome[At];
    if (Reverse)
      Base = 3 - Base;
    // Rises with the square of the place.
    const int64_t More = int64_t(Errors.AtTheEnd - Errors.Substituted) * Now *
                         Now / (int64_t(Length) * Length);
    if (int(Draw.below(1000000)) < Errors.Substituted + int(More))
      Base = otherBase(Draw, Base);
    Read.push_back(Base);
    Step();
  }
  return Read;
}

#endif
