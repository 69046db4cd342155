//===- benchmarks/kernels/ec/ec.cu - Errors of short reads ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Corrects the errors of a sequencer before an assembly: spectral alignment (P.
// A. Pevzner, H. Tang, M. S. Waterman, 2001) by votes, a thread a read. A tuple,
// k bases in a row, is solid if many reads have it; which are is asked of a
// filter (B. H. Bloom, 1970), a table of bits that is read in a few places for
// each question.
//
//   1. All tuples of the read are solid: it is right.
//   2. Each tuple that is not votes: for every change of one of its bases that
//      would make it solid, for that change.
//   3. The change with most votes is made, if it has at least `least`; again
//      from 1, at most MostFixes times.
//   4. A read that stays wrong is cut down to its longest run of solid tuples,
//      or given up if there is none of `least` tuples.
//
// Most reads need step 1 alone; one that has an error asks the filter 3k times
// for each tuple around it. What it asks for lies anywhere in the table.
//
//===----------------------------------------------------------------------===//
#include "../common/moved.h"

#include "../../../include/reconverge/device/feature.cuh"

#include <thread>

static constexpr int MostLength = 128, MostFixes = 3, Hashes = 4;

struct Filter {
  const unsigned *Words;
  int Bits; ///< the table has 2^Bits bits

  /// Word and bit of a tuple's place \p H.
  HD unsigned placeOf(uint64_t Tuple, int H) const {
    uint64_t X = (Tuple + uint64_t(H + 1) * 0x9e3779b97f4a7c15ull) *
                 0xbf58476d1ce4e5b9ull;
    X = (X ^ X >> 29) * 0x94d049bb133111ebull;
    return unsigned(X >> (64 - Bits));
  }
  HD bool has(uint64_t Tuple) const {
    for (int H = 0; H < Hashes; ++H) {
      const unsigned Place = placeOf(Tuple, H);
      if (!(Words[Place >> 5] >> (Place & 31) & 1))
        return false;
    }
    return true;
  }
};

struct Problem {
  const unsigned char *Reads; ///< of [read][base]
  Filter Solid;
  int Count, Length, Tuple, Least;
};

enum Fate : int { Right, Fixed, Trimmed, GivenUp };

/// What became of a read; its bases from Begin to End are good.
struct Outcome {
  int What, Fixes, Begin, End;
};

HD static uint64_t tupleAt(const unsigned char *Read, int At, int K) {
  uint64_t Tuple = 0;
  for (int I = 0; I < K; ++I)
    Tuple = Tuple << 2 | Read[At + I];
  return Tuple;
}

/// Has tuples vote; returns whether there was one that is not solid.
HD static bool vote(const Problem &P, const unsigned char *Read,
                    unsigned char (*Votes)[4]) {
  const int K = P.Tuple;
  const uint64_t Mask = (uint64_t(1) << 2 * K) - 1;
  bool Any = false;
  uint64_t Tuple = tupleAt(Read, 0, K - 1);
  for (int At = 0; At + K <= P.Length; ++At) {
    Tuple = (Tuple << 2 | Read[At + K - 1]) & Mask;
    if (P.Solid.has(Tuple))
      continue;
    if (!Any) {
      Any = true;
      for (int I = 0; I < P.Length; ++I)
        for (int B = 0; B < 4; ++B)
          Votes[I][B] = 0;
    }
    for (int I = 0; I < K; ++I) {
      const int Shift = 2 * (K - 1 - I);
      for (unsigned Other = 1; Other < 4; ++Other)
        if (P.Solid.has(Tuple ^ uint64_t(Other) << Shift))
          ++Votes[At + I][Read[At + I] ^ Other];
    }
  }
  return Any;
}

/// The longest run of solid tuples.
HD static Outcome trim(const Problem &P, const unsigned char *Read, int Fixes) {
  const uint64_t Mask = (uint64_t(1) << 2 * P.Tuple) - 1;
  uint64_t Tuple = tupleAt(Read, 0, P.Tuple - 1);
  int Run = 0, Longest = 0, End = 0;
  for (int At = 0; At + P.Tuple <= P.Length; ++At) {
    Tuple = (Tuple << 2 | Read[At + P.Tuple - 1]) & Mask;
    Run = P.Solid.has(Tuple) ? Run + 1 : 0;
    if (Run > Longest) {
      Longest = Run;
      End = At + P.Tuple;
    }
  }
  if (Longest < P.Least)
    return {GivenUp, Fixes, 0, 0};
  return {Trimmed, Fixes, End - P.Tuple - Longest + 1, End};
}

/// \p Out has the read as it is left.
HD static Outcome correct(const Problem &P, int I, unsigned char *Out) {
  unsigned char Read[MostLength], Votes[MostLength][4];
  for (int B = 0; B < P.Length; ++B)
    Read[B] = P.Reads[size_t(I) * P.Length + B];
  int Fixes = 0;
  bool Wrong = vote(P, Read, Votes);
  while (Wrong && Fixes < MostFixes) {
    int Most = 0, Place = 0;
    for (int C = 0; C < 4 * P.Length; ++C)
      if (Votes[C >> 2][C & 3] > Most) {
        Most = Votes[C >> 2][C & 3];
        Place = C;
      }
    if (Most < P.Least)
      break;
    Read[Place >> 2] = (unsigned char)(Place & 3);
    ++Fixes;
    Wrong = vote(P, Read, Votes);
  }
  for (int B = 0; B < P.Length; ++B)
    Out[B] = Read[B];
  if (Wrong)
    return trim(P, Read, Fixes);
  return {Fixes ? Fixed : Right, Fixes, 0, P.Length};
}

/// What foretells how long a read takes: which of its tuples are not solid, which is
/// step 1 alone. One error makes a run of k such tuples, fewer at the ends.
__device__ static void foretell(const Problem &P, int I) {
  const unsigned char *Read = P.Reads + size_t(I) * P.Length;
  const uint64_t Mask = (uint64_t(1) << 2 * P.Tuple) - 1;
  const int Tuples = P.Length - P.Tuple + 1;
  uint64_t Tuple = tupleAt(Read, 0, P.Tuple - 1);
  int Weak = 0, First = Tuples, Last = -1, Runs = 0, Run = 0, Longest = 0,
      Solid = 0, LongestSolid = 0;
  for (int At = 0; At < Tuples; ++At) {
    Tuple = (Tuple << 2 | Read[At + P.Tuple - 1]) & Mask;
    const bool IsWeak = !P.Solid.has(Tuple);
    Weak += IsWeak;
    Runs += IsWeak && !Run;
    Run = IsWeak ? Run + 1 : 0;
    Solid = IsWeak ? 0 : Solid + 1;
    Longest = Run > Longest ? Run : Longest;
    LongestSolid = Solid > LongestSolid ? Solid : LongestSolid;
    First = IsWeak && First == Tuples ? At : First;
    Last = IsWeak ? At : Last;
  }
  reconverge::feature(Weak);
  reconverge::feature(First);
  reconverge::feature(Last);
  reconverge::feature(Runs);
  reconverge::feature(Longest);
  reconverge::feature(LongestSolid);
}

__global__ void correctReads(Problem P, unsigned char *Out, Outcome *Outcomes) {
  const int I = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (I >= P.Count)
    return;
  foretell(P, I);
  Outcomes[I] = correct(P, I, Out + size_t(I) * P.Length);
}

//===----------------------------------------------------------------------===//
// A sequencer's reads
//===----------------------------------------------------------------------===//

struct Sequenced {
  Letters Reads, Truth; ///< of [read][base]
};

static Sequenced sequence(Random Draw, const Letters &Genome, int Count,
                          int Length) {
  static constexpr ErrorModel None = {0, 0, 0, 0};
  Sequenced S;
  for (int I = 0; I < Count; ++I) {
    const bool Reverse = Draw.below(2);
    const int Room = int(Genome.size()) - 2 * Length;
    const int From = Length + int(Draw.below(uint32_t(Room)));
    for (bool Errors : {true, false}) {
      const Letters Read = drawRead(Draw, Genome, From, Length,
                                    Errors ? ShortReads : None, Reverse);
      Letters &Into = Errors ? S.Reads : S.Truth;
      Into.insert(Into.end(), Read.begin(), Read.end());
    }
  }
  return S;
}

/// The filter of all tuples that at least \p Often reads have. There is a place
/// of ten bits for each.
static std::vector<unsigned> filterOf(const Problem &P, int Often, int &Bits) {
  // A thread sorts the tuples whose lowest bits are its number.
  constexpr unsigned Parts = 16;
  std::vector<uint64_t> Of[Parts], SolidOf[Parts], Solid;
  for (int I = 0; I < P.Count; ++I)
    for (int At = 0; At + P.Tuple <= P.Length; ++At) {
      const uint64_t Tuple =
          tupleAt(P.Reads + size_t(I) * P.Length, At, P.Tuple);
      Of[Tuple % Parts].push_back(Tuple);
    }
  std::vector<std::thread> Sorters;
  for (unsigned Part = 0; Part < Parts; ++Part)
    Sorters.emplace_back([&All = Of[Part], &Into = SolidOf[Part], Often] {
      std::sort(All.begin(), All.end());
      for (auto From = All.begin(), To = From; From != All.end(); From = To) {
        To = std::upper_bound(From, All.end(), *From);
        if (To - From >= Often)
          Into.push_back(*From);
      }
    });
  for (unsigned Part = 0; Part < Parts; ++Part) {
    Sorters[Part].join();
    Solid.insert(Solid.end(), SolidOf[Part].begin(), SolidOf[Part].end());
  }
  for (Bits = 5; (size_t(1) << Bits) < 10 * Solid.size();)
    ++Bits;
  std::vector<unsigned> Words(size_t(1) << (Bits - 5));
  const Filter F = {nullptr, Bits};
  for (uint64_t Tuple : Solid)
    for (int H = 0; H < Hashes; ++H) {
      const unsigned Place = F.placeOf(Tuple, H);
      Words[Place >> 5] |= 1u << (Place & 31);
    }
  return Words;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "ec");
  const int Count = int(Run.integer("reads", 1500, 1, 1 << 24));
  const int Length = int(Run.integer("length", 48, 32, MostLength));
  const int K = int(Run.integer("tuple", 16, 10, 30));
  const int Cover = int(Run.integer("cover", 25, 1, 1000));
  const int Least = int(Run.integer("least", 4, 1, 30));
  const int Block = int(Run.integer("block", 128, 1, 1024));
  const long Batches = Run.integer("batches", 1, 1, 1024);
  Run.ready();

  // As many bases as reads cover so many times.
  const int64_t Bases = int64_t(Count) * Length / Cover;
  const Letters Genome =
      drawGenome(Run.random(1), int(std::max<int64_t>(Bases, 4 * Length)));
  const Sequenced S = sequence(Run.random(), Genome, Count, Length);
  Problem Here = {S.Reads.data(), {nullptr, 0}, Count, Length, K, Least};
  const std::vector<unsigned> Solid =
      filterOf(Here, std::max(2, Cover / 8), Here.Solid.Bits);
  Here.Solid.Words = Solid.data();
  const std::vector<int> Order = itemOrder(Count);
  DeviceArray<unsigned char> Reads(inOrder(S.Reads, Order, Length)),
      Out(Letters(S.Reads.size(), 0));
  DeviceArray<unsigned> Words(Solid);
  DeviceArray<Outcome> Outcomes{std::vector<Outcome>(Count)};
  Problem There = Here;
  There.Reads = Reads;
  There.Solid.Words = Words;
  Run.run([&] { Out.clear(); },
          [&] {
            Run.inBatches(Count, Batches, [&](long First, long Each) {
              Problem Batch = There;
              Batch.Reads += First * Length;
              Batch.Count = int(Each);
              correctReads<<<int(Each + Block - 1) / Block, Block>>>(
                  Batch, Out + First * Length, Outcomes + First);
            });
          });
  const Letters Got = backInPlace(Out.get(), Order, Length);
  const std::vector<Outcome> Fates = backInPlace(Outcomes.get(), Order);
  int Changed = 0, AsInGenome = 0;
  for (int I = 0; I < Count; ++I) {
    const auto Read = Got.begin() + size_t(I) * Length;
    Changed += Fates[I].What == Fixed;
    AsInGenome +=
        Fates[I].What == Fixed &&
        std::equal(Read, Read + Length, S.Truth.begin() + size_t(I) * Length);
  }
  std::printf("%d reads fixed, %d of them as they are in the genome\n", Changed,
              AsInGenome);
  bool Same = true;
  for (int I = 0; I < Count && Run.checks(); ++I) {
    Letters Want(Length);
    const Outcome O = correct(Here, I, Want.data());
    Same &=
        O.What == Fates[I].What && O.Fixes == Fates[I].Fixes &&
        O.Begin == Fates[I].Begin && O.End == Fates[I].End &&
        std::equal(Want.begin(), Want.end(), Got.begin() + size_t(I) * Length);
  }
  return Run.finish(Same, checksum(Fates, checksum(Got)));
}
