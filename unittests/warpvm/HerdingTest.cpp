//===- unittests/warpvm/HerdingTest.cpp - Warps that are herded -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Votes by masks, and addresses by hand; under each set-up of the machine.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "analysis/Numbering.h"
#include "warpvm/emit/Compile.h"
#include "warpvm/memory/DeviceMemory.h"

#include <numeric>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::warpvm;

namespace {

/// A machine that herds what \p Herd says, by names of blocks and of loads.
class Herded {
public:
  Herded(const std::string &Text, MachineOptions O, Herding Parameters,
         StringRef Branch, bool ToFirst, bool ToSecond, StringRef Load = "") {
    O.Accesses = true;
    O.Herd = [=, Branch = Branch.str(), Load = Load.str()](const Function &F) {
      Herding Found = Parameters;
      for (const BasicBlock &BB : F) {
        if (BB.getName() == Branch)
          Found.Branches.push_back(
              {*analysis::branchNumber(BB), ToFirst, ToSecond});
        for (const Instruction &I : BB)
          if (!Load.empty() && I.getName() == Load)
            Found.Loads.push_back(*analysis::accessNumber(I));
      }
      return Found;
    };
    On = cantFail(Machine::create(O));
    P = std::make_unique<TestProgram>(Text, *On);
  }
  std::unique_ptr<Machine> On;
  std::unique_ptr<TestProgram> P;
};

/// Lane t takes the first side if bit t of %bits is set.
const char *const If = R"(
  define ptx_kernel void @k(i64 %bits, ptr %out) {
  entry:
    %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    %t = zext i32 %tid to i64
    %b = lshr i64 %bits, %t
    %c = trunc i64 %b to i1
    br i1 %c, label %first, label %second
  first:
    %f = add i32 %tid, 1000
    br label %join
  second:
    %s = add i32 %tid, 2000
    br label %join
  join:
    %r = phi i32 [ %f, %first ], [ %s, %second ]
    %p = getelementptr i32, ptr %out, i32 %tid
    store i32 %r, ptr %p
    ret void
  })";

} // namespace

TEST(HerdedBranch, MostLanesDecide) {
  struct Vote {
    uint64_t Bits;
    unsigned Threads, Threshold;
    bool Goes; ///< to the first side
  };
  const Vote Votes[] = {
      {0x0001ffff, 32, 16, true},  // 17 of 32
      {0x0000ffff, 32, 16, false}, // a tie: as if too few wanted it
      {0x00000001, 32, 16, false}, {0xfffffffe, 32, 16, true},
      {0x000000ff, 32, 7, true},  // 8 of 32 over 7
      {0x0000007f, 32, 7, false}, // 7 of 32 are not
      {0x00000007, 5, 16, true},  // 3 of 5
      {0x00000003, 4, 16, false}, // 2 of 4
      {0x00000001, 32, 0, true},  // whoever wants it
  };
  for (const MachineOptions &O : setups(32))
    for (const Vote &V : Votes) {
      SCOPED_TRACE(describe(O) + ", bits " + utohexstr(V.Bits) + " of " +
                   std::to_string(V.Threads) + ", threshold " +
                   std::to_string(V.Threshold));
      Herding Parameters;
      Parameters.Threshold = V.Threshold;
      Herded H(If, O, Parameters, "entry", true, true);
      std::vector<uint32_t> Out(V.Threads);
      H.P->run(shape(1, V.Threads), V.Bits, Out.data());
      for (unsigned T = 0; T < V.Threads; ++T)
        EXPECT_EQ(Out[T], T + (V.Goes ? 1000 : 2000)) << "thread " << T;
      EXPECT_EQ(H.P->branch("entry").Splits, 0u);
      EXPECT_EQ(H.P->block(V.Goes ? "first" : "second").Lanes, V.Threads);
      EXPECT_EQ(H.P->block(V.Goes ? "second" : "first").Warps, 0u);
    }
}

/// Half of a warp of 64 is too few, though it is 32 lanes.
TEST(HerdedBranch, OfAWarpOf64) {
  for (const MachineOptions &O : setups(64))
    for (bool More : {false, true}) {
      SCOPED_TRACE(describe(O));
      Herded H(If, O, {}, "entry", true, true);
      std::vector<uint32_t> Out(64);
      H.P->run(shape(1, 64), 0xffffffff | uint64_t(More) << 63, Out.data());
      for (unsigned T = 0; T < 64; ++T)
        EXPECT_EQ(Out[T], T + (More ? 1000 : 2000)) << "thread " << T;
    }
}

TEST(HerdedBranch, LanesAreSentOneWayOnly) {
  for (const MachineOptions &O : setups(32))
    for (bool ToFirst : {false, true})
      for (uint64_t Bits : {0x000000ffu, 0xffffff00u}) {
        SCOPED_TRACE(describe(O) + ", bits " + utohexstr(Bits));
        Herded H(If, O, {}, "entry", ToFirst, !ToFirst);
        std::vector<uint32_t> Out(32);
        H.P->run(shape(1, 32), Bits, Out.data());
        const bool MostWantFirst = Bits == 0xffffff00u;
        for (unsigned T = 0; T < 32; ++T) {
          const bool First =
              MostWantFirst == ToFirst ? ToFirst : (Bits >> T & 1) != 0;
          EXPECT_EQ(Out[T], T + (First ? 1000 : 2000)) << "thread " << T;
        }
        EXPECT_EQ(H.P->branch("entry").Splits,
                  uint64_t(MostWantFirst != ToFirst));
      }
}

/// Lane t wants to go round t + 1 times.
TEST(HerdedBranch, EndsALoopForAll) {
  for (const MachineOptions &O : setups(32))
    for (bool Stay : {false, true}) {
      SCOPED_TRACE(describe(O));
      Herded H(R"(
        define ptx_kernel void @k(ptr %out) {
        entry:
          %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
          br label %loop
        loop:
          %n = phi i32 [ 0, %entry ], [ %n1, %loop ]
          %n1 = add i32 %n, 1
          %more = icmp ule i32 %n1, %tid
          br i1 %more, label %loop, label %done
        done:
          %p = getelementptr i32, ptr %out, i32 %tid
          store i32 %n1, ptr %p
          ret void
        })",
               O, {}, "loop", Stay, true);
      std::vector<uint32_t> Out(32);
      H.P->run(shape(1, 32), Out.data());
      // Kept: after 16 rounds 16 of 32 want more, which are too few. Not kept:
      // one leaves after each round, until the last of two is too few.
      for (unsigned T = 0; T < 32; ++T)
        EXPECT_EQ(Out[T], Stay ? 16 : std::min(T + 1, 31u)) << "thread " << T;
    }
}

namespace {

/// Lane t loads the word at offset %where[t] of %data.
const char *const Load = R"(
  define ptx_kernel void @k(ptr %where, ptr addrspace(1) %data, ptr %out) {
  entry:
    %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    %pw = getelementptr i32, ptr %where, i32 %tid
    %at = load i32, ptr %pw
    %odd = trunc i32 %at to i1
    br i1 %odd, label %done, label %get
  get:
    %pd = getelementptr i32, ptr addrspace(1) %data, i32 %at
    %x = load i32, ptr addrspace(1) %pd
    %po = getelementptr i32, ptr %out, i32 %tid
    store i32 %x, ptr %po
    br label %done
  done:
    ret void
  })";

struct Words {
  alignas(128) std::array<uint32_t, 1024> All;
  Words() {
    for (unsigned I = 0; I < All.size(); ++I)
      All[I] = I;
  }
};

} // namespace

/// Even words alone, as lanes whose word is odd do not load.
TEST(HerdedLoad, GoesToTheMostPopularBlock) {
  const unsigned Idle = 1, Alone = 770; // in the block from word 768 on
  struct Try {
    const char *What;
    unsigned Block; ///< bytes
    std::vector<unsigned> Where, Want;
    uint64_t Sectors;
  };
  const Try Tries[] = {
      {"two of three", 128, {0, 34, 36}, {32, 34, 36}, 1},
      {"of two, the lowest lane's", 128, {34, 0, 64, 96}, {34, 32, 32, 32}, 1},
      {"of two, by lanes", 128, {0, 34, 66, 36, 64}, {32, 34, 34, 36, 32}, 1},
      {"who does not load has no vote",
       128,
       {Idle, Idle, Idle, 4, 34, 36},
       {~0u, ~0u, ~0u, 36, 34, 36},
       1},
      {"blocks of 32", 32, {8, 10, 16, 6}, {8, 10, 8, 14}, 1},
      {"blocks of 64", 64, {16, 30, 2, 14}, {16, 30, 18, 30}, 2},
      {"far away", 128, {Alone, Alone + 28, 6}, {770, 798, 774}, 2},
      {"together already", 128, {0, 2, 4, 6}, {0, 2, 4, 6}, 1},
  };
  for (const MachineOptions &O : allSetups())
    for (const Try &T : Tries) {
      SCOPED_TRACE(describe(O) + ": " + T.What);
      Herding Parameters;
      Parameters.BlockBytes = T.Block;
      Herded H(Load, O, Parameters, "", false, false, "x");
      Words Data;
      std::vector<uint32_t> Where(T.Where.begin(), T.Where.end());
      std::vector<uint32_t> Out(Where.size(), ~0u);
      H.P->run(shape(1, Where.size()), Where.data(), Data.All.data(),
               Out.data());
      EXPECT_EQ(Out, std::vector<uint32_t>(T.Want.begin(), T.Want.end()));
      EXPECT_EQ(H.P->counts().Accesses[1].Sectors, T.Sectors);
    }
}

/// Loads of 16 bytes go to memory eight lanes at a time: lanes 0 to 7 are sent
/// to block 1, lanes 8 to 15 stay in block 3, where they are.
TEST(HerdedLoad, WideOnesInPartsOfAWarp) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    Herded H(R"(
      define ptx_kernel void @k(ptr %where, ptr addrspace(1) %data, ptr %out) {
      entry:
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %pw = getelementptr i32, ptr %where, i32 %tid
        %at = load i32, ptr %pw
        %pd = getelementptr <4 x i32>, ptr addrspace(1) %data, i32 %at
        %x = load <4 x i32>, ptr addrspace(1) %pd
        %po = getelementptr <4 x i32>, ptr %out, i32 %tid
        store <4 x i32> %x, ptr %po
        ret void
      })",
             O, {}, "", false, false, "x");
    Words Data;
    std::vector<uint32_t> Where(16), Want;
    for (unsigned T = 0; T < 16; ++T) {
      Where[T] = T >= 8 ? 16 + T : T < 5 ? 8 + T : 40 + T;
      const unsigned To = T >= 8 ? 16 + T : 8 + T;
      for (unsigned I = 0; I < 4; ++I)
        Want.push_back(4 * To + I);
    }
    alignas(16) std::array<uint32_t, 64> Out;
    H.P->run(shape(1, 16), Where.data(), Data.All.data(), Out.data());
    EXPECT_EQ(std::vector<uint32_t>(Out.begin(), Out.end()), Want);
    EXPECT_EQ(H.P->counts().Accesses[1].Sectors, 8u);
  }
}

/// A lane may be sent behind the end of an allocation, to what its alignment
/// leaves there, whether accesses are tested or not.
TEST(HerdedLoad, MayReadWhatPadsAnAllocation) {
  constexpr unsigned Size = 250;
  for (MachineOptions O : allSetups())
    for (bool Check : {false, true}) {
      O.Check = Check;
      SCOPED_TRACE(describe(O) + (Check ? ", checked" : ""));
      Herded H(Load, O, {}, "", false, false, "x");
      DeviceMemory &Device = DeviceMemory::instance();
      auto New = [&](std::vector<uint32_t> Words) {
        auto *At = static_cast<uint32_t *>(
            cantFail(Device.allocate(4 * Words.size(), MemoryKind::Device)));
        llvm::copy(Words, At);
        return At;
      };
      std::vector<uint32_t> All(Size);
      std::iota(All.begin(), All.end(), 1);
      uint32_t *Data = New(All), *Out = New({7, 7, 7});
      uint32_t *Where = New({224, 226, 30}); // the third goes to word 254
      H.P->run(shape(1, 3), Where, Data, Out);
      EXPECT_EQ((std::vector<uint32_t>{Out[0], Out[1], Out[2]}),
                (std::vector<uint32_t>{225, 227, 0}));
      for (uint32_t *Each : {Data, Out, Where})
        EXPECT_TRUE(Device.release(Each));
    }
}

/// Through one pointer, even lanes load from shared memory and odd ones from
/// global memory: these alone have votes, and are sent.
TEST(HerdedLoad, LeavesOtherMemoryAlone) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    Herded H(R"(
      @s = internal addrspace(3) global [4096 x i8] undef, align 128
      define ptx_kernel void @k(ptr %data, ptr %out) {
      entry:
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %far = mul i32 %tid, 512
        %mine = getelementptr i8, ptr addrspace(3) @s, i32 %far
        %plus = add i32 %tid, 100
        store i32 %plus, ptr addrspace(3) %mine
        %shared = addrspacecast ptr addrspace(3) %mine to ptr
        %global = getelementptr i8, ptr %data, i32 %far
        %odd = trunc i32 %tid to i1
        %p = select i1 %odd, ptr %global, ptr %shared
        %x = load i32, ptr %p
        %po = getelementptr i32, ptr %out, i32 %tid
        store i32 %x, ptr %po
        ret void
      })",
             O, {}, "", false, false, "x");
    Words Data; // 4096 bytes
    std::vector<uint32_t> Out(8);
    H.P->run(shape(1, 8), Data.All.data(), Out.data());
    EXPECT_EQ(Out,
              (std::vector<uint32_t>{100, 128, 102, 128, 104, 128, 106, 128}));
  }
}

/// The others' addresses are as ever, and so is what is found without herding.
TEST(HerdedLoad, IsTheOneThatIsNamed) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    Herded H(Load, O, {}, "", false, false);
    Words Data;
    const std::vector<uint32_t> Where = {0, 34, 36, 900};
    std::vector<uint32_t> Out(4);
    H.P->run(shape(1, 4), Where.data(), Data.All.data(), Out.data());
    EXPECT_EQ(Out, Where);
    EXPECT_EQ(H.P->counts().Accesses[1].Sectors, 3u);
  }
}

TEST(Herding, IsPartOfHowCodeIsDescribed) {
  EmitOptions Emit;
  Emit.Herd.Threshold = 9;
  Emit.Herd.BlockBytes = 64;
  Emit.Herd.Branches = {{3, true, false}, {70000, true, true}};
  Emit.Herd.Loads = {1, 12};
  EmitOptions Read;
  Tier Code;
  ASSERT_TRUE(parseDescription(describe(Emit, Tier::Blocks), Read, Code));
  EXPECT_EQ(describe(Read, Code), describe(Emit, Tier::Blocks));
  ASSERT_EQ(Read.Herd.Branches.size(), 2u);
  EXPECT_EQ(Read.Herd.Branches[1].Number, 70000u);
  EXPECT_FALSE(Read.Herd.Branches[0].ToSecond);
  EXPECT_EQ(Read.Herd.Loads, Emit.Herd.Loads);
  EXPECT_FALSE(parseDescription("8 32", Read, Code));
}
