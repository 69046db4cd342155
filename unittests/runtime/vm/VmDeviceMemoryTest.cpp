//===- VmDeviceMemoryTest.cpp - The memory that kernels may touch ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "warpvm/memory/DeviceMemory.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <thread>
#include <vector>

using namespace llvm;
using namespace reconverge::warpvm;

namespace {

constexpr uint64_t MiB = 1 << 20;

std::unique_ptr<DeviceMemory> make(uint64_t Capacity = 64 * MiB,
                                   uint64_t Reserve = 1024 * MiB) {
  auto Memory = DeviceMemory::create(Capacity, Reserve);
  EXPECT_TRUE(bool(Memory));
  return std::move(*Memory);
}

char *take(DeviceMemory &Memory, uint64_t Size,
           MemoryKind Kind = MemoryKind::Device,
           uint64_t Align = DeviceMemory::Alignment) {
  Expected<void *> Block = Memory.allocate(Size, Kind, Align);
  if (!Block) {
    ADD_FAILURE() << toString(Block.takeError());
    return nullptr;
  }
  return static_cast<char *>(*Block);
}

std::string refusal(Expected<void *> Block) {
  if (Block)
    return "";
  Error E = Block.takeError();
  EXPECT_TRUE(E.isA<OutOfDeviceMemory>());
  return toString(std::move(E));
}

TEST(DeviceMemory, BlocksAreAlignedZeroedAndWritable) {
  auto Memory = make();
  for (uint64_t Size : {1, 255, 256, 257, 4096, 5000, 1000000}) {
    char *Block = take(*Memory, Size);
    EXPECT_EQ(uint64_t(Block) % DeviceMemory::Alignment, 0u) << Size;
    for (uint64_t I = 0; I < Size; ++I)
      ASSERT_EQ(Block[I], 0) << I << " of " << Size;
    std::memset(Block, 7, Size);
    EXPECT_TRUE(Memory->inRange(uint64_t(Block)));
  }
  char *Aligned = take(*Memory, 100, MemoryKind::Variable, 65536);
  EXPECT_EQ(uint64_t(Aligned) % 65536, 0u);
}

// Bytes beside the zeros stay, whether the zeros are written or the pages given
// back; those are not there until somebody looks.
TEST(DeviceMemory, ZeroWritesZerosAndNothingElse) {
  auto Memory = make(256 * MiB);
  const uint64_t Size = 40 * MiB + 100;
  char *Block = take(*Memory, Size);
  for (auto [From, To] : {std::pair<uint64_t, uint64_t>{0, Size},
                          {1, Size - 1},
                          {5 * MiB + 3, 36 * MiB + 5},
                          {5 * MiB + 3, 6 * MiB + 5},
                          {77, 78}}) {
    std::memset(Block, 7, Size);
    Memory->zero(Block + From, To - From);
    EXPECT_EQ(uint64_t(std::count(Block, Block + Size, 7)), Size - (To - From));
    EXPECT_EQ(std::find(Block, Block + Size, 0), Block + From);
    EXPECT_EQ(uint64_t(std::count(Block + From, Block + To, 0)), To - From);
  }
  std::memset(Block, 7, Size);
  Memory->zero(Block, Size);
  unsigned char There = 0;
  ASSERT_EQ(mincore(Block + 20 * MiB - uint64_t(Block) % 4096, 1, &There), 0);
  EXPECT_FALSE(There & 1);

  // Memory of others is written, whatever lies there.
  std::vector<char> Own(20 * MiB, 7);
  Memory->zero(Own.data() + 1, Own.size() - 2);
  EXPECT_EQ(std::count(Own.begin(), Own.end(), 7), 2);
}

// EXPECT_DEATH and not a signal: a sanitizer turns the signal into an exit.
TEST(DeviceMemory, AccessPastTheEndFaultsWithinTheAlignment) {
  auto Memory = make();
  char *Block = take(*Memory, 1000);
  // 1000 bytes end 24 bytes before the guard page, 1024 bytes at it.
  EXPECT_DEATH(static_cast<volatile char *>(Block)[1024] = 1, "");
  char *Exact = take(*Memory, 8192);
  EXPECT_DEATH(static_cast<volatile char *>(Exact)[8192] = 1, "");
  EXPECT_DEATH(static_cast<volatile char *>(Exact)[-1] = 1, "");
}

TEST(DeviceMemory, UseAfterFreeFaults) {
  auto Memory = make();
  char *Block = take(*Memory, 1000);
  Block[0] = 1;
  EXPECT_TRUE(Memory->release(Block));
  take(*Memory, 1000); // does not get the same place
  EXPECT_DEATH(static_cast<volatile char *>(Block)[0] = 1, "");
}

TEST(DeviceMemory, LookupKnowsExactBounds) {
  auto Memory = make();
  char *Block = take(*Memory, 1000);
  for (uint64_t Offset : {0, 1, 999}) {
    auto Found = Memory->lookup(Block + Offset);
    ASSERT_TRUE(Found);
    EXPECT_EQ(Found->Base, uint64_t(Block));
    EXPECT_EQ(Found->Size, 1000u);
    EXPECT_TRUE(Found->Live);
  }
  EXPECT_FALSE(Memory->lookup(Block + 1000));
  EXPECT_FALSE(Memory->lookup(Block - 1));
  EXPECT_TRUE(Memory->isLive(Block, 1000));
  EXPECT_TRUE(Memory->isLive(Block + 10, 990));
  EXPECT_FALSE(Memory->isLive(Block + 10, 991));
  EXPECT_FALSE(Memory->isLive(Block, UINT64_MAX));
  int OnTheStack = 0;
  EXPECT_FALSE(Memory->lookup(&OnTheStack));
  EXPECT_FALSE(Memory->inRange(uint64_t(&OnTheStack)));

  Memory->release(Block);
  auto Freed = Memory->lookup(Block + 5);
  ASSERT_TRUE(Freed);
  EXPECT_FALSE(Freed->Live);
  EXPECT_FALSE(Memory->isLive(Block, 1));
}

TEST(DeviceMemory, OnlyTheBaseOfALiveBlockCanBeReleased) {
  auto Memory = make();
  char *Block = take(*Memory, 1000);
  int OnTheStack = 0;
  EXPECT_FALSE(Memory->release(Block + 1));
  EXPECT_FALSE(Memory->release(&OnTheStack));
  EXPECT_FALSE(Memory->release(nullptr));
  EXPECT_TRUE(Memory->release(Block));
  EXPECT_FALSE(Memory->release(Block));
}

TEST(DeviceMemory, CapacityIsKept) {
  auto Memory = make(MiB);
  EXPECT_EQ(Memory->capacity(), MiB);
  EXPECT_EQ(refusal(Memory->allocate(MiB + 1, MemoryKind::Device)),
            "1048577 bytes asked for, 1048576 of 1048576 left");
  char *Block = take(*Memory, MiB - 100);
  EXPECT_EQ(Memory->used(), MiB - 100);
  EXPECT_NE(refusal(Memory->allocate(101, MemoryKind::Managed)), "");
  take(*Memory, 100, MemoryKind::Variable);
  EXPECT_EQ(Memory->used(), MiB);
  take(*Memory, MiB, MemoryKind::Host); // pinned memory does not count
  EXPECT_EQ(Memory->used(), MiB);
  EXPECT_TRUE(Memory->release(Block));
  EXPECT_EQ(Memory->used(), 100u);
  take(*Memory, MiB - 100);
  Memory->setCapacity(2 * MiB);
  take(*Memory, MiB);
  EXPECT_NE(refusal(Memory->allocate(UINT64_MAX - 5, MemoryKind::Device)), "");
}

TEST(DeviceMemory, AddressesServeAgainOnlyWhenTheyRunOut) {
  // Room for eight blocks of one page and its guards.
  auto Memory = make(16 * 4096, 26 * 4096);
  std::vector<char *> Seen;
  for (int I = 0; I < 8; ++I) {
    Seen.push_back(take(*Memory, 4096));
    std::memset(Seen.back(), 1, 4096);
    ASSERT_TRUE(Memory->release(Seen.back()));
    for (int J = 0; J < I; ++J)
      EXPECT_NE(Seen[J], Seen[I]);
  }
  // The oldest comes back first, and is empty.
  char *Again = take(*Memory, 4096);
  EXPECT_EQ(Again, Seen[0]);
  EXPECT_EQ(Again[0], 0);
  EXPECT_EQ(Memory->lookup(Seen[1])->Live, false);
  // A block of several spans waits until neighbours are free.
  char *Big = take(*Memory, 3 * 4096);
  EXPECT_EQ(Big, Seen[1]);
  EXPECT_NE(refusal(Memory->allocate(14 * 4096, MemoryKind::Device)), "");
  EXPECT_TRUE(Memory->isLive(Again, 4096));
}

TEST(DeviceMemory, AllocatingForEverTakesBoundedAddresses) {
  auto Memory = make(64 * MiB, uint64_t(64) << 30);
  // Small blocks are bounded in number, ...
  char *First = take(*Memory, 64);
  ASSERT_TRUE(Memory->release(First));
  uint64_t Highest = 0;
  for (int I = 0; I < 50000; ++I) {
    char *Block = take(*Memory, 64);
    Highest = std::max(Highest, uint64_t(Block));
    ASSERT_TRUE(Memory->release(Block));
  }
  EXPECT_LT(Highest - uint64_t(First), uint64_t(17000) * 3 * 4096);
  // ... large ones in addresses: 4 GiB in quarantine, and some rest.
  for (int I = 0; I < 500; ++I) {
    char *Block = take(*Memory, 32 * MiB);
    Highest = std::max(Highest, uint64_t(Block));
    ASSERT_TRUE(Memory->release(Block));
    ASSERT_FALSE(Memory->lookup(Block)->Live); // the last ones are still known
  }
  EXPECT_LT(Highest - uint64_t(First), uint64_t(5) << 30);
}

TEST(DeviceMemory, ManyBlocksStayWithinTheSystemsMappings) {
  auto Memory = make();
  std::vector<char *> Blocks;
  for (int I = 0; I < 40000; ++I)
    Blocks.push_back(take(*Memory, 64));
  EXPECT_EQ(Memory->liveBlocks(), 40000u);
  for (size_t I = 0; I < Blocks.size(); ++I) {
    Blocks[I][63] = char(I);
    ASSERT_EQ(Memory->lookup(Blocks[I])->Base, uint64_t(Blocks[I]));
  }
  for (size_t I = 0; I < Blocks.size(); I += 2)
    ASSERT_TRUE(Memory->release(Blocks[I]));
  for (size_t I = 1; I < Blocks.size(); I += 2)
    ASSERT_EQ(Blocks[I][63], char(I));
  EXPECT_EQ(Memory->liveBlocks(), 20000u);
}

TEST(DeviceMemory, RegisteredMemoryIsKnownAndDoesNotOverlap) {
  auto Memory = make();
  static char Own[1000];
  EXPECT_TRUE(Memory->addRegistered(Own + 100, 500));
  EXPECT_FALSE(Memory->addRegistered(Own, 101));
  EXPECT_FALSE(Memory->addRegistered(Own + 599, 10));
  EXPECT_TRUE(Memory->addRegistered(Own, 100));
  EXPECT_TRUE(Memory->addRegistered(Own + 600, 10));
  EXPECT_EQ(Memory->lookup(Own + 300)->Kind, MemoryKind::Registered);
  EXPECT_FALSE(Memory->lookup(Own + 610));
  EXPECT_TRUE(Memory->removeRegistered(Own + 100));
  EXPECT_FALSE(Memory->removeRegistered(Own + 100));
  EXPECT_FALSE(Memory->lookup(Own + 300));
}

TEST(DeviceMemory, ReleaseAllKeepsPoolsAndVariables) {
  auto Memory = make();
  char *Device = take(*Memory, 10), *Host = take(*Memory, 10, MemoryKind::Host);
  char *Pool = take(*Memory, 10, MemoryKind::Pool);
  char *Variable = take(*Memory, 10, MemoryKind::Variable);
  Memory->releaseAll();
  EXPECT_FALSE(Memory->isLive(Device, 1));
  EXPECT_FALSE(Memory->isLive(Host, 1));
  EXPECT_TRUE(Memory->isLive(Pool, 10));
  EXPECT_TRUE(Memory->isLive(Variable, 10));
  EXPECT_EQ(Memory->used(), 20u);
}

TEST(DeviceMemory, AddressesAreSaidInWords) {
  auto Memory = make();
  char *Block = take(*Memory, 400);
  auto At = [&](char *P) { return Memory->describe(uint64_t(P)); };
  EXPECT_EQ(At(Block + 404), "4 bytes past the end of an allocation of 400 "
                             "bytes by call 1 of cudaMalloc");
  EXPECT_EQ(At(Block + 400), "0 bytes past the end of an allocation of 400 "
                             "bytes by call 1 of cudaMalloc");
  EXPECT_EQ(At(Block - 1),
            "1 byte before an allocation of 400 bytes by call 1 of cudaMalloc");
  EXPECT_EQ(At(Block + 8),
            "8 bytes into an allocation of 400 bytes by call 1 of cudaMalloc");
  Memory->release(Block);
  EXPECT_EQ(At(Block + 8), "8 bytes into a freed allocation of 400 bytes by "
                           "call 1 of cudaMalloc");
  int OnTheStack = 0;
  EXPECT_EQ(Memory->describe(uint64_t(&OnTheStack)),
            "not device memory: a host pointer, or no pointer at all");
  EXPECT_EQ(Memory->describe(0), "the null pointer");
  EXPECT_EQ(Memory->describe(16), "near the null pointer");
  EXPECT_EQ(make()->describe(0), "the null pointer");
}

/// The compiler's constants lie among a program's allocations.
TEST(DeviceMemory, TheNearestIsWhatTheProgramAskedFor) {
  auto Memory = make();
  char *Block = take(*Memory, 4096);
  auto *Table = static_cast<char *>(cantFail(Memory->allocate(
      4096, MemoryKind::Variable, DeviceMemory::Alignment, "Table")));
  Memory->markConstant(Table);
  EXPECT_EQ(Memory->describe(uint64_t(Table) + 4100),
            "4 bytes past the end of the __constant__ variable 'Table' of 4096 "
            "bytes");
  EXPECT_EQ(Memory->describe(uint64_t(Block) + 4096 + (1 << 20)),
            "1048576 bytes past the end of an allocation of 4096 bytes by call "
            "1 of cudaMalloc");
}

TEST(DeviceMemory, ThreadsAllocateAtOnce) {
  auto Memory = make();
  std::vector<std::thread> Threads;
  for (int T = 0; T < 4; ++T)
    Threads.emplace_back([&, T] {
      for (int I = 0; I < 500; ++I) {
        char *Block = take(*Memory, 100 + I);
        std::memset(Block, T, 100 + I);
        ASSERT_TRUE(Memory->isLive(Block, 100 + I));
        for (int J = 0; J < 100 + I; ++J)
          ASSERT_EQ(Block[J], T);
        ASSERT_TRUE(Memory->release(Block));
      }
    });
  for (std::thread &T : Threads)
    T.join();
  EXPECT_EQ(Memory->used(), 0u);
  EXPECT_EQ(Memory->liveBlocks(), 0u);
}

TEST(DeviceMemory, DefaultCapacityIsPlausible) {
  EXPECT_GE(DeviceMemory::defaultCapacity(), uint64_t(1) << 30);
  EXPECT_LT(DeviceMemory::defaultCapacity(), uint64_t(1) << 46);
  EXPECT_GT(DeviceMemory::instance().capacity(), 0u);
}

} // namespace
