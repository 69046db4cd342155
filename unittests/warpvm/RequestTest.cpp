//===- unittests/warpvm/RequestTest.cpp - What a request comes to ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers in tables were worked out by hand from the rules in
// docs/memory.md, before there was code to compare them with.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/Request.h"
#include "Harness.h"

#include "llvm/Support/MathExtras.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

using namespace llvm;

namespace reconverge::warpvm {
namespace {

constexpr Mask All = 0xffffffff;
using ByLane = std::function<uint64_t(unsigned)>;

/// lane -> lane times \p Bytes.
ByLane step(uint64_t Bytes, uint64_t From = 0) {
  return [=](unsigned Lane) { return From + Lane * Bytes; };
}
ByLane same(uint64_t At) {
  return [=](unsigned) { return At; };
}

struct Counted {
  AccessCounts Counts;
  TouchedSectors Touched;
};

Counted count(MemorySpace Space, MemoryUse Use, uint32_t Bytes,
              const ByLane &At, Mask Lanes = All, unsigned WarpSize = 32) {
  uint64_t Addresses[MaxWarp];
  for (unsigned Lane = 0; Lane < WarpSize; ++Lane)
    // Nobody may look at an idle lane's.
    Addresses[Lane] = Lanes >> Lane & 1 ? At(Lane) : 0xdeadbeefdeadbeef;
  bool Aligned = isPowerOf2_32(Bytes);
  for (unsigned Lane = 0; Lane < WarpSize; ++Lane)
    Aligned &= !(Lanes >> Lane & 1) || Addresses[Lane] % Bytes == 0;
  Counted C, Unsaid;
  C.Counts = countRequest(
      {Space, Use, Bytes, WarpSize, Lanes, Aligned, Addresses}, C.Touched);
  // Whoever knows that lanes are aligned may say so; it changes no count.
  const AccessCounts Same = countRequest(
      {Space, Use, Bytes, WarpSize, Lanes, false, Addresses}, Unsaid.Touched);
  EXPECT_EQ(Same.Sectors, C.Counts.Sectors);
  EXPECT_EQ(Same.Wavefronts, C.Counts.Wavefronts);
  EXPECT_EQ(C.Counts.Requests, 1u);
  EXPECT_EQ(C.Counts.Lanes, uint64_t(popcount(Lanes)));
  return C;
}

struct Row {
  const char *What;
  uint32_t Bytes;
  ByLane At;
  Mask Lanes;
  uint64_t Sectors, LeastSectors, Wavefronts, LeastWavefronts;
};

void check(MemorySpace Space, ArrayRef<Row> Rows, unsigned WarpSize = 32) {
  for (const Row &R : Rows) {
    SCOPED_TRACE(R.What);
    const AccessCounts C =
        count(Space, MemoryUse::Load, R.Bytes, R.At, R.Lanes, WarpSize).Counts;
    EXPECT_EQ(C.Sectors, R.Sectors);
    EXPECT_EQ(C.LeastSectors, R.LeastSectors);
    EXPECT_EQ(C.Wavefronts, R.Wavefronts);
    EXPECT_EQ(C.LeastWavefronts, R.LeastWavefronts);
    EXPECT_EQ(C.Turns, 0u);
  }
}

TEST(Request, SharedStrides) {
  // Lane l takes word l*s; bank l*s mod 32.
  check(MemorySpace::Shared,
        {{"stride 1", 4, step(4), All, 0, 0, 1, 1},
         {"stride 2: words 0 and 32 share a bank", 4, step(8), All, 0, 0, 2, 1},
         {"stride 3: 3 and 32 have no divisor", 4, step(12), All, 0, 0, 1, 1},
         {"stride 8: four banks", 4, step(32), All, 0, 0, 8, 1},
         {"stride 32: one bank", 4, step(128), All, 0, 0, 32, 1},
         {"stride 33: a padded row", 4, step(132), All, 0, 0, 1, 1},
         {"broadcast", 4, same(400), All, 0, 0, 1, 1},
         {"reversed", 4, [](unsigned L) { return 4 * (31 - L); }, All, 0, 0, 1,
          1},
         {"bytes, side by side", 1, step(1), All, 0, 0, 1, 1},
         {"bytes, a bank apart", 1, step(128, 3), All, 0, 0, 32, 1},
         {"two lanes, one bank", 4, step(128), 0x80000001, 0, 0, 2, 1},
         {"one lane", 4, step(4), 0x10, 0, 0, 1, 1}});
}

TEST(Request, SharedAtRandom) {
  // Bank 5: words 5, 37, 69, 101, and 5 once more. Bank 6: 6 and 38. The rest
  // have word 0.
  static const uint64_t Words[] = {5, 37, 69, 101, 5, 6, 38, 7};
  check(
      MemorySpace::Shared,
      {{"four words of bank 5", 4,
        [](unsigned L) { return L < 8 ? 4 * Words[L] : 0; }, All, 0, 0, 4, 1}});
}

TEST(Request, SharedWideLanesGoInParts) {
  check(
      MemorySpace::Shared,
      {{"8 bytes: two halves", 8, step(8), All, 0, 0, 2, 2},
       {"8 bytes, every other: banks met twice", 8, step(16), All, 0, 0, 4, 2},
       {"8 bytes, broadcast", 8, same(64), All, 0, 0, 1, 1},
       {"8 bytes, lower half", 8, step(8), 0xffff, 0, 0, 1, 1},
       {"8 bytes, lanes 15 and 16", 8, step(8), 0x18000, 0, 0, 1, 1},
       {"16 bytes: four quarters", 16, step(16), All, 0, 0, 4, 4},
       {"16 bytes, every other", 16, step(32), All, 0, 0, 8, 4},
       {"16 bytes, first quarter", 16, step(16), 0xff, 0, 0, 1, 1},
       {"16 bytes, a lane of each quarter, one bank", 16, step(16), 0x01010101,
        0, 0, 4, 2},
       // Not whole on any GPU: two of 16 bytes, in eight parts.
       {"32 bytes", 32, step(32), All, 0, 0, 8, 8}});
}

// As an H200 counted them (l1tex__data_pipe_lsu_wavefronts_mem_shared).
TEST(Request, SharedWideLoadsTakeTwoPartsAtOnce) {
  auto Of = [](unsigned Bytes, unsigned (*Index)(unsigned)) {
    return [=](unsigned L) { return uint64_t(Bytes) * Index(L); };
  };
  auto Bit0 = [](unsigned L) { return L / 2; };
  auto Bit1 = [](unsigned L) { return L / 4 * 2 + L % 2; };
  auto Bit2 = [](unsigned L) { return L / 8 * 4 + L % 4; };
  auto Half = [](unsigned L) { return L % 16; };
  auto Last = [](unsigned L) { return unsigned(L == 31); };
  auto Self = [](unsigned L) { return L; };
  auto Mixed = [](unsigned L) { return L < 16 ? L / 2 : L; };
  const Mask Even = 0x55555555, Fourth = 0x11111111;
  check(MemorySpace::Shared,
        {{"lanes beside", 8, Of(8, Bit0), All, 0, 0, 1, 1},
         {"two farther", 8, Of(8, Bit1), All, 0, 0, 1, 1},
         {"four farther", 8, Of(8, Bit2), All, 0, 0, 2, 2},
         {"halves alike", 8, Of(8, Half), All, 0, 0, 2, 2},
         {"the last alone", 8, Of(8, Last), All, 0, 0, 2, 2},
         {"one half only", 8, Of(8, Mixed), All, 0, 0, 2, 2},
         {"even lanes", 8, Of(8, Bit0), Even, 0, 0, 1, 1},
         {"even lanes, two words of a bank", 8, Of(8, Self), Even, 0, 0, 2, 1},
         {"16 bytes, broadcast", 16, same(0), All, 0, 0, 2, 2},
         {"16 bytes, lanes beside", 16, Of(16, Bit0), All, 0, 0, 2, 2},
         {"16 bytes, two farther", 16, Of(16, Bit1), All, 0, 0, 2, 2},
         {"16 bytes, four farther", 16, Of(16, Bit2), All, 0, 0, 4, 4},
         {"16 bytes, the last alone", 16, Of(16, Last), All, 0, 0, 4, 4},
         {"16 bytes, a half", 16, same(0), 0xffff, 0, 0, 1, 1},
         {"16 bytes, every fourth", 16, Of(16, Self), Fourth, 0, 0, 4, 2}});
}

TEST(Request, SharedWideStoresTakeEachPartAlone) {
  auto Waves = [](unsigned Bytes, const ByLane &At, Mask Lanes = All) {
    return count(MemorySpace::Shared, MemoryUse::Store, Bytes, At, Lanes)
        .Counts.Wavefronts;
  };
  EXPECT_EQ(Waves(8, same(0)), 2u);
  EXPECT_EQ(Waves(8, same(0), 0x10001), 2u);
  EXPECT_EQ(Waves(16, same(0)), 4u);
  EXPECT_EQ(Waves(16, same(0), 0x101), 2u);
}

TEST(Request, GlobalStrides) {
  check(
      MemorySpace::Global,
      {{"stride 1", 4, step(4, 0x1000), All, 4, 4, 1, 1},
       {"stride 1, a word late", 4, step(4, 0x1004), All, 5, 4, 1, 1},
       {"stride 2", 4, step(8, 0x1000), All, 8, 4, 2, 1},
       {"stride 3: 12 l / 32 is 0 to 11", 4, step(12), All, 12, 4, 1, 1},
       {"stride 8", 4, step(32), All, 32, 4, 8, 1},
       {"stride 32", 4, step(128), All, 32, 4, 32, 1},
       {"stride 33: tags of 32 lines", 4, step(132), All, 32, 4, 8, 1},
       {"broadcast", 4, same(0x1000), All, 1, 4, 1, 1},
       {"reversed", 4, [](unsigned L) { return 0x1000 + 4 * (31 - L); }, All, 4,
        4, 1, 1},
       {"bytes", 1, step(1, 64), All, 1, 1, 1, 1},
       {"8 bytes", 8, step(8), All, 8, 8, 2, 2},
       {"16 bytes", 16, step(16), All, 16, 16, 4, 4},
       {"16 bytes, broadcast: in quarters", 16, same(16), All, 1, 16, 4, 4},
       {"32 bytes: split by a GPU, yet one", 32, step(32), All, 32, 32, 8, 8}});
}

TEST(Request, GlobalMisaligned) {
  check(
      MemorySpace::Global,
      {{"8 bytes from 28: two sectors", 8, same(28), 1, 2, 1, 1, 1},
       {"8 bytes from 124: two lines", 8, same(124), 1, 2, 1, 1, 1},
       {"4 bytes from 30 + 32 l", 4, step(32, 30), All, 33, 4, 8, 1},
       {"40 bytes from 28: sectors 0, 1 and 2", 40, same(28), 1, 3, 2, 1, 1}});
}

TEST(Request, GlobalPartial) {
  check(MemorySpace::Global,
        {{"first and last lane", 4, step(4), 0x80000001, 2, 1, 1, 1},
         {"even lanes", 4, step(4), 0x55555555, 4, 2, 1, 1},
         {"lanes 5 to 12: bytes 20 to 51", 4, step(4), 0x1fe0, 2, 1, 1, 1},
         {"one lane", 4, step(4), 0x80, 1, 1, 1, 1}});
}

TEST(Request, GlobalFarApart) {
  // Sectors 0, 128, 1, 128; words 0 and 1024 have one bank.
  static const uint64_t Few[] = {0, 4096, 40, 4100};
  // One after the other in time, not in space: sectors 0, 64 and so on, each
  // met twice.
  check(MemorySpace::Global,
        {{"four lanes", 4, [](unsigned L) { return Few[L]; }, 0xf, 3, 1, 2, 1},
         {"across 2 KiB", 4, step(4, 2048 - 64), All, 4, 4, 1, 1},
         {"a MiB apart", 4, step(1 << 20), All, 32, 4, 32, 1},
         {"to and fro", 4,
          [](unsigned L) { return uint64_t(L % 16) * 2048 + L / 16 * 4; }, All,
          16, 4, 16, 1}});
}

TEST(Request, GlobalTags) {
  // Data banks differ in all: word l of its line. Banks of the tags, by line:
  //   0 1 2 3 4 5 6 7  8  9 10 11 12 13 14 15   16:
  //   0 1 2 3 1 0 3 2  2  3  0  1  3  2  1  0    3
  const auto Lines = [](unsigned Apart) {
    return [=](unsigned L) { return L * (128 * Apart + 4); };
  };
  check(
      MemorySpace::Global,
      {{"two neighbours", 4, Lines(1), 0x3, 2, 1, 1, 1},
       {"four", 4, Lines(1), 0xf, 4, 1, 1, 1},
       {"five: 4 is with 1", 4, Lines(1), 0x1f, 5, 1, 2, 1},
       {"7 and 8", 4, Lines(1), 0x180, 2, 1, 2, 1},
       {"16: four in each", 4, Lines(1), 0xffff, 16, 2, 4, 1},
       {"0, 5 and 10", 4, Lines(5), 0x7, 3, 1, 3, 1},
       {"0, 16 and 32", 4, Lines(16), 0x7, 3, 1, 1, 1},
       // Lines 0 and 5 in the halves: each a part, and the same bank.
       {"8 bytes, halves 5 lines apart", 8,
        [](unsigned L) { return L / 16 * 640 + L % 16 * 8; }, All, 8, 8, 2, 2},
       // 0, 5, 10, 15 in lanes 0 to 3: one part.
       {"8 bytes, 5 lines apart", 8, [](unsigned L) { return L * (640 + 8); },
        0xf, 4, 1, 4, 1}});
}

TEST(Request, LocalMemoryIsInterleaved) {
  check(MemorySpace::Local,
        {{"one offset", 4, same(8), All, 4, 4, 1, 1},
         {"8 bytes: two words of each", 8, same(8), All, 8, 8, 2, 2},
         {"16 bytes", 16, same(0), All, 16, 16, 4, 4},
         {"bytes lie in words of their own", 1, same(5), All, 4, 1, 1, 1},
         {"lanes 0 to 7", 4, same(8), 0xff, 1, 1, 1, 1},
         {"every lane another offset", 4, step(4), All, 32, 4, 32, 1},
         {"halves", 4, [](unsigned L) { return L / 16 * 4; }, All, 4, 4, 2, 1},
         {"8 bytes, halves a word apart: words 0, 1 and 1, 2", 8,
          [](unsigned L) { return L / 16 * 4; }, All, 8, 8, 3, 2}});
}

TEST(Request, WarpsOf64) {
  constexpr Mask All64 = ~Mask(0);
  check(MemorySpace::Global, {{"stride 1", 4, step(4), All64, 8, 8, 2, 2}}, 64);
  check(MemorySpace::Shared,
        {{"stride 1: two parts", 4, step(4), All64, 0, 0, 2, 2},
         {"stride 2", 4, step(8), All64, 0, 0, 4, 2}},
        64);
  check(MemorySpace::Local, {{"one offset", 4, same(0), All64, 8, 8, 2, 2}},
        64);
}

TEST(Request, Atomics) {
  struct AtomicRow {
    const char *What;
    MemorySpace Space;
    ByLane At;
    Mask Lanes;
    uint64_t Turns, Sectors, Wavefronts, LeastWavefronts;
  };
  const ByLane Pairs = [](unsigned L) { return L / 2 * 4; };
  // 16 lanes at word 0, 8 at word 32 (the same bank), 8 at word 1.
  const ByLane Uneven = [](unsigned L) {
    return L < 16 ? 0 : L < 24 ? 128 : 4;
  };
  const AtomicRow Rows[] = {
      {"shared, one address", MemorySpace::Shared, same(12), All, 32, 0, 32, 1},
      {"shared, 32 addresses", MemorySpace::Shared, step(4), All, 1, 0, 1, 1},
      {"shared, pairs", MemorySpace::Shared, Pairs, All, 2, 0, 2, 1},
      {"shared, one bank", MemorySpace::Shared, step(128), All, 1, 0, 32, 1},
      {"shared, uneven", MemorySpace::Shared, Uneven, All, 16, 0, 24, 1},
      {"shared, one lane", MemorySpace::Shared, same(12), 0x100, 1, 0, 1, 1},
      {"global, one address", MemorySpace::Global, same(12), All, 32, 1, 1, 1},
      {"global, 32 addresses", MemorySpace::Global, step(4), All, 1, 4, 1, 1},
      {"global, pairs", MemorySpace::Global, Pairs, All, 2, 2, 1, 1},
      {"global, uneven", MemorySpace::Global, Uneven, All, 16, 2, 2, 1},
      {"global, three of a pair", MemorySpace::Global, Pairs, 0xb, 2, 1, 1, 1}};
  for (const AtomicRow &R : Rows) {
    SCOPED_TRACE(R.What);
    const AccessCounts C =
        count(R.Space, MemoryUse::Atomic, 4, R.At, R.Lanes).Counts;
    EXPECT_EQ(C.Turns, R.Turns);
    EXPECT_EQ(C.Sectors, R.Sectors);
    EXPECT_EQ(C.Wavefronts, R.Wavefronts);
    EXPECT_EQ(C.LeastWavefronts, R.LeastWavefronts);
  }
}

TEST(Request, SaysWhichSectors) {
  auto Groups = [](const Counted &C) {
    std::vector<std::pair<uint64_t, uint64_t>> Found;
    for (const SectorGroup &G : C.Touched)
      Found.push_back({G.Number, G.Sectors});
    return Found;
  };
  using Expected = std::vector<std::pair<uint64_t, uint64_t>>;
  // Sectors 128 to 131; of 64 in a group, the first of the third.
  EXPECT_EQ(
      Groups(count(MemorySpace::Global, MemoryUse::Load, 4, step(4, 0x1000))),
      (Expected{{2, 0xf}}));
  EXPECT_EQ(Groups(count(MemorySpace::Global, MemoryUse::Load, 4,
                         step(4, 2048 - 64))),
            (Expected{{0, uint64_t(3) << 62}, {1, 3}}));
  EXPECT_EQ(
      Groups(count(MemorySpace::Global, MemoryUse::Store, 8, same(2044), 1)),
      (Expected{{0, uint64_t(1) << 63}, {1, 1}}));
  EXPECT_TRUE(
      count(MemorySpace::Local, MemoryUse::Load, 4, same(0)).Touched.empty());
  EXPECT_TRUE(
      count(MemorySpace::Shared, MemoryUse::Load, 4, same(0)).Touched.empty());
}

/// The rules once more, as plainly as can be.
AccessCounts countPlainly(MemorySpace Space, MemoryUse Use, uint32_t Bytes,
                          Mask Lanes, const uint64_t *At) {
  AccessCounts C;
  C.Requests = 1;
  C.Lanes = popcount(Lanes);
  std::set<uint64_t> Sectors, Lines;
  std::map<uint64_t, std::set<uint64_t>> Tags; // lines, by bank of the tags
  std::map<uint64_t, uint64_t> LanesAt;
  auto Agree = [&](unsigned Bit) {
    for (unsigned Lane = 0; Lane < 32; ++Lane)
      if ((Lanes >> Lane & 1) && (Lanes >> (Lane ^ Bit) & 1) &&
          At[Lane] != At[Lane ^ Bit])
        return false;
    return Space == MemorySpace::Shared && Use == MemoryUse::Load;
  };
  unsigned PartLanes = Bytes <= 4 ? 32 : Bytes <= 8 ? 16 : 8;
  if (Bytes > 4 && (Agree(1) || Agree(2)))
    PartLanes *= 2;
  for (unsigned Part = 0; Part < 32; Part += PartLanes) {
    std::map<uint64_t, std::set<uint64_t>> Words; // by bank
    std::map<uint64_t, uint64_t> Served;          // lanes, by bank
    for (unsigned Lane = Part; Lane < Part + PartLanes; ++Lane) {
      if (!(Lanes >> Lane & 1))
        continue;
      // Each thread has local memory of its own.
      ++LanesAt[Space == MemorySpace::Local ? Lane : At[Lane]];
      std::set<uint64_t> Mine;
      for (uint64_t Byte = At[Lane]; Byte < At[Lane] + Bytes; ++Byte) {
        Mine.insert(Byte / 4);
        const uint64_t Where =
            Space == MemorySpace::Local ? Byte / 4 * 128 + Lane * 4 : Byte;
        Sectors.insert(Where / 32);
        Lines.insert(Where / 128);
        auto Parity = [&](uint64_t Of) { // of bits of the line's number
          unsigned Odd = 0;
          for (unsigned Bit = 0; Bit < 16; ++Bit)
            Odd ^= Where / 128 >> Bit & Of >> Bit & 1;
          return Odd;
        };
        Tags[Parity(0b0111101010110101) + 2 * Parity(0b1101010111011010)]
            .insert(Where / 128);
      }
      for (uint64_t Word : Mine) {
        Words[Word % 32].insert(Word);
        ++Served[Word % 32];
      }
    }
    uint64_t Most = 0;
    const bool TakesTurns =
        Space == MemorySpace::Shared && Use == MemoryUse::Atomic;
    for (auto &[Bank, Of] : Words)
      Most = std::max<uint64_t>(Most, TakesTurns ? Served[Bank] : Of.size());
    C.Wavefronts += Most;
    C.LeastWavefronts += Most != 0;
  }
  if (Use == MemoryUse::Atomic)
    for (auto [Address, N] : LanesAt)
      C.Turns = std::max(C.Turns, N);
  if (Space == MemorySpace::Shared)
    return C;
  C.Sectors = Sectors.size();
  C.LeastSectors = (C.Lanes * Bytes + 31) / 32;
  if (Space == MemorySpace::Global)
    for (auto &[Bank, Of] : Tags)
      C.Wavefronts = std::max<uint64_t>(C.Wavefronts, Of.size());
  if (Space == MemorySpace::Local) {
    C.Wavefronts = Lines.size();
    C.LeastWavefronts =
        std::min<uint64_t>(Lines.size(), (C.Lanes * Bytes + 127) / 128);
  }
  return C;
}

/// Requests at random, of all shapes, as compiled code tells them: what the
/// host's vector code says is what the rules say.
TEST(Request, AtRandomAsCompiledCodeTellsThem) {
  using Access =
      void (*)(WarpContext *, Mask, const uint64_t *, const AccessSite *);
  Access Tell = nullptr;
  for (auto [Name, Address] : accessSymbols())
    if (StringRef(Name) == "rcvm_access")
      Tell = reinterpret_cast<Access>(Address);
  ASSERT_TRUE(Tell);
  constexpr uint64_t Base = 1 << 20, LocalBytes = 1 << 12;
  Random R(1);
  for (unsigned Round = 0; Round < 20000; ++Round) {
    const auto Space = std::array{MemorySpace::Global, MemorySpace::Shared,
                                  MemorySpace::Local}[R.below(3)];
    const auto Use = std::array{MemoryUse::Load, MemoryUse::Store,
                                MemoryUse::Atomic}[R.below(3)];
    const uint32_t Bytes = 1u << R.below(5);
    const bool Aligned = R.chance(80);
    Mask Lanes = R.chance(40) ? All : R.next() & All;
    if (R.chance(20))
      Lanes &= R.next() & R.next();
    Lanes |= Lanes ? 0 : 0x400;
    // Steps, rows of a tile, a few places, pairs of lanes, anywhere.
    const unsigned Kind = R.below(5), Step = R.below(70), Row = R.below(100);
    const unsigned Apart = 1u << R.below(3);
    const uint64_t From = R.below(1 << 10), Reach = 1 + R.below(3000);
    uint64_t Offsets[32], Addresses[MaxWarp] = {};
    for (unsigned Lane = 0; Lane < 32; ++Lane) {
      uint64_t At = Kind == 0 ? From + Lane * Step
                    : Kind == 1
                        ? From + Lane / 16 * Row * 16 + Lane % 16 * Bytes
                    : Kind == 2 ? From + R.below(3) * Bytes
                    : Kind == 3 ? From + (Lane & ~Apart) * Step
                                : From + R.below(unsigned(Reach));
      if (Aligned)
        At -= At % Bytes;
      Offsets[Lane] = At %= LocalBytes - 16;
      Addresses[Lane] = !(Lanes >> Lane & 1) ? R.next()
                        : Space == MemorySpace::Local
                            ? Base + Lane * LocalBytes + At
                            : Base + At;
    }
    AccessCounts Told;
    SectorSet Touched;
    WarpContext C = {};
    C.Shared = C.Local = reinterpret_cast<uint8_t *>(Base);
    C.Accesses = &Told;
    C.Touched = &Touched;
    C.WarpSize = 32;
    const AccessSite Site = {0,          Bytes,  uint32_t(Space), uint32_t(Use),
                             LocalBytes, Aligned};
    Tell(&C, Lanes, Addresses, &Site);
    const AccessCounts Want = countPlainly(Space, Use, Bytes, Lanes, Offsets);
    SCOPED_TRACE("round " + std::to_string(Round) + ", " + wordOf(Space) + " " +
                 wordOf(Use) + " of " + std::to_string(Bytes));
    ASSERT_EQ(Told.Requests, 1u);
    ASSERT_EQ(Told.Lanes, Want.Lanes);
    ASSERT_EQ(Told.Sectors, Want.Sectors);
    ASSERT_EQ(Told.LeastSectors, Want.LeastSectors);
    ASSERT_EQ(Told.Wavefronts, Want.Wavefronts);
    ASSERT_EQ(Told.LeastWavefronts, Want.LeastWavefronts);
    ASSERT_EQ(Told.Turns, Want.Turns);
    if (Space == MemorySpace::Global) {
      ASSERT_EQ(Touched.loads() + Touched.stores(),
                Want.Sectors * (Use == MemoryUse::Atomic ? 2 : 1));
    }
  }
}

/// The same of requests with one address for all.
TEST(Request, OneAddressAsCompiledCodeTellsIt) {
  using Access = void (*)(WarpContext *, Mask, uint64_t, const AccessSite *);
  Access Tell = nullptr;
  for (auto [Name, Address] : accessSymbols())
    if (StringRef(Name) == "rcvm_access_same")
      Tell = reinterpret_cast<Access>(Address);
  ASSERT_TRUE(Tell);
  constexpr uint64_t Base = 1 << 20;
  Random R(1);
  for (unsigned Round = 0; Round < 1000; ++Round) {
    const auto Use = std::array{MemoryUse::Load, MemoryUse::Store}[R.below(2)];
    const auto Space =
        std::array{MemorySpace::Shared, MemorySpace::Global}[R.below(2)];
    const uint32_t Bytes = 1u << R.below(5);
    const Mask Lanes = R.chance(30) ? All : (R.next() & R.next() & All) | 0x400;
    const uint64_t At = R.below(64) * Bytes;
    AccessCounts Told;
    SectorSet Touched;
    WarpContext C = {};
    C.Shared = reinterpret_cast<uint8_t *>(Base);
    C.Accesses = &Told;
    C.Touched = &Touched;
    C.WarpSize = 32;
    const AccessSite Site = {0, Bytes, uint32_t(Space), uint32_t(Use), 0, true};
    Tell(&C, Lanes, Base + At, &Site);
    uint64_t Offsets[32];
    std::fill_n(Offsets, 32, At);
    const AccessCounts Want = countPlainly(Space, Use, Bytes, Lanes, Offsets);
    SCOPED_TRACE(std::string(wordOf(Space)) + " " + wordOf(Use) + " of " +
                 std::to_string(Bytes));
    ASSERT_EQ(Told.Lanes, Want.Lanes);
    ASSERT_EQ(Told.Sectors, Want.Sectors);
    ASSERT_EQ(Told.Wavefronts, Want.Wavefronts);
    ASSERT_EQ(Told.LeastWavefronts, Want.LeastWavefronts);
  }
}

TEST(SectorSet, KnowsEachSectorOnce) {
  SectorSet Block;
  Block.add({7, 0xf}, MemoryUse::Load);
  Block.add({7, 0x1e}, MemoryUse::Load);
  Block.add({9, 0x1}, MemoryUse::Store);
  Block.add({9, 0x2}, MemoryUse::Atomic);
  // Loads: 5 sectors of group 7. An atomic reads and writes, at the second
  // cache: it is no load of the block's.
  EXPECT_EQ(Block.blockLoads(), 5u);
  EXPECT_EQ(Block.loads(), 6u);
  EXPECT_EQ(Block.stores(), 2u);
  SectorSet Grid;
  Grid.add({7, 0x1}, MemoryUse::Load);
  Grid.add(Block);
  Grid.add(Block);
  EXPECT_EQ(Grid.loads(), 6u);
  EXPECT_EQ(Grid.stores(), 2u);
  Block.clear();
  EXPECT_EQ(Block.loads() + Block.stores(), 0u);
  Block.add({7, 0x1}, MemoryUse::Load);
  EXPECT_EQ(Block.loads(), 1u);
  // More than it began with.
  for (uint64_t Group = 0; Group < 5000; ++Group)
    for (unsigned Twice = 0; Twice < 2; ++Twice)
      Block.add({Group * 4096, 0x3}, MemoryUse::Store);
  EXPECT_EQ(Block.stores(), 10000u);
  EXPECT_EQ(Block.loads(), 1u);
}

} // namespace
} // namespace reconverge::warpvm
