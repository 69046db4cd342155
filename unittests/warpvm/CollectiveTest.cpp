//===- unittests/warpvm/CollectiveTest.cpp - Lanes that exchange values ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every collective against a reference of a few lines, in groups of 32 threads,
// also in warps of 64. Three ways to meet: all threads at the top of a kernel;
// in a branch that only the lanes of a mask take, which name each other; and
// all together, but in tiles of eight that name only themselves.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <functional>
#include <optional>

using namespace llvm;

namespace reconverge::warpvm {
namespace {

/// What one group of 32 threads brings: x and y of each lane, and for the lane
/// that looks, who takes part with it.
struct Group {
  const uint32_t *X, *Y;
  uint32_t Members;
  bool has(unsigned Lane) const { return Members >> Lane & 1; }
  std::vector<unsigned> lanes() const {
    std::vector<unsigned> L;
    for (unsigned I = 0; I < 32; ++I)
      if (has(I))
        L.push_back(I);
    return L;
  }
};

struct Collective {
  std::string Name;
  std::string Text; ///< from %x, %y, %m to %r
  /// For one lane; nothing where CUDA says "undefined".
  std::function<std::optional<uint32_t>(const Group &, unsigned Lane)> Want;
};

/// PTX ISA, shfl.sync: where lane gets its value from, and whether in range.
std::pair<unsigned, bool> shuffleSource(const std::string &Mode, unsigned Lane,
                                        uint32_t Operand, uint32_t Clamp) {
  const int B = Operand & 31, Segment = Clamp >> 8 & 31, C = Clamp & 31;
  const int Max = (int(Lane) & Segment) | (C & ~Segment);
  const int Min = int(Lane) & Segment;
  int From = 0;
  bool In = false;
  if (Mode == "up") {
    From = int(Lane) - B;
    In = From >= Max;
  } else if (Mode == "down") {
    From = int(Lane) + B;
    In = From <= Max;
  } else if (Mode == "bfly") {
    From = int(Lane) ^ B;
    In = From <= Max;
  } else {
    From = Min | (B & ~Segment);
    In = From <= Max;
  }
  return {In ? unsigned(From) : Lane, In};
}

/// __shfl_*_sync with a width: the clamp that CUDA's headers make of it.
uint32_t clampOf(const std::string &Mode, unsigned Width) {
  return (32 - Width) << 8 | (Mode == "up" ? 0 : 31);
}

std::vector<Collective> collectives() {
  std::vector<Collective> All;
  for (const char *ModeName : {"up", "down", "bfly", "idx"})
    for (unsigned Width : {32u, 8u, 2u})
      for (const char *Operand : {"1", "5", "%y"})
        for (bool Predicate : {false, true}) {
          const std::string Mode = ModeName, By = Operand;
          const uint32_t Clamp = clampOf(Mode, Width);
          const std::string Call =
              "i32 %m, i32 %x, i32 " + By + ", i32 " + std::to_string(Clamp);
          std::string Text =
              Predicate ? "%q = call { i32, i1 } @llvm.nvvm.shfl.sync." + Mode +
                              ".i32p(" + Call +
                              ")\n%v = extractvalue { i32, i1 } %q, 0\n"
                              "%p = extractvalue { i32, i1 } %q, 1\n"
                              "%p1 = zext i1 %p to i32\n%p2 = shl i32 %p1, 31\n"
                              "%r = xor i32 %v, %p2"
                        : "%r = call i32 @llvm.nvvm.shfl.sync." + Mode +
                              ".i32(" + Call + ")";
          All.push_back(
              {"shfl." + Mode + (Predicate ? "p " : " ") + By + " width " +
                   std::to_string(Width),
               Text,
               [=](const Group &G, unsigned Lane) -> std::optional<uint32_t> {
                 const uint32_t B =
                     By == "%y" ? G.Y[Lane] : uint32_t(std::stoi(By));
                 auto [From, In] = shuffleSource(Mode, Lane, B, Clamp);
                 if (!G.has(From))
                   return std::nullopt;
                 return G.X[From] ^ (Predicate && In ? 1u << 31 : 0);
               }});
        }
  All.push_back(
      {"shfl.idx of a float",
       "%f = bitcast i32 %x to float\n"
       "%g = call float @llvm.nvvm.shfl.sync.idx.f32(i32 %m, float %f, i32 %y, "
       "i32 31)\n%r = bitcast float %g to i32",
       [](const Group &G, unsigned Lane) -> std::optional<uint32_t> {
         const unsigned From = G.Y[Lane] & 31;
         return G.has(From) ? std::optional(G.X[From]) : std::nullopt;
       }});

  auto Bits = [](const Group &G) {
    uint32_t True = 0;
    for (unsigned L : G.lanes())
      True |= (G.X[L] & 1) << L;
    return True;
  };
  auto Vote = [&](const char *Name, const char *Type, auto Of) {
    std::string Text = "%o = and i32 %x, 1\n%b = icmp ne i32 %o, 0\n";
    Text += StringRef(Type) == "i1"
                ? "%s = call i1 @llvm.nvvm.vote." + std::string(Name) +
                      ".sync(i32 %m, i1 %b)\n%r = zext i1 %s to i32"
                : "%r = call i32 @llvm.nvvm.vote." + std::string(Name) +
                      ".sync(i32 %m, i1 %b)";
    All.push_back({std::string("vote.") + Name, Text,
                   [=](const Group &G, unsigned) -> std::optional<uint32_t> {
                     return Of(Bits(G), G.Members);
                   }});
  };
  Vote("all", "i1", [](uint32_t B, uint32_t M) -> uint32_t { return B == M; });
  Vote("any", "i1", [](uint32_t B, uint32_t) -> uint32_t { return B != 0; });
  Vote("uni", "i1",
       [](uint32_t B, uint32_t M) -> uint32_t { return !B || B == M; });
  Vote("ballot", "i32", [](uint32_t B, uint32_t) -> uint32_t { return B; });

  All.push_back({"match.any i32",
                 "%k = and i32 %x, 3\n%r = call i32 "
                 "@llvm.nvvm.match.any.sync.i32(i32 %m, i32 %k)",
                 [](const Group &G, unsigned Lane) -> std::optional<uint32_t> {
                   uint32_t Same = 0;
                   for (unsigned L : G.lanes())
                     Same |= uint32_t((G.X[L] & 3) == (G.X[Lane] & 3)) << L;
                   return Same;
                 }});
  for (unsigned Shift : {0u, 31u}) // different keys, and nearly always the same
    All.push_back(
        {"match.all i64 >> " + std::to_string(Shift),
         "%k = lshr i32 %x, " + std::to_string(Shift) +
             "\n%w = zext i32 %k to i64\n%h = shl i64 %w, 32\n"
             "%q = call { i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32 %m, i64 "
             "%h)\n"
             "%v = extractvalue { i32, i1 } %q, 0\n"
             "%p = extractvalue { i32, i1 } %q, 1\n"
             "%p1 = sext i1 %p to i32\n%r = xor i32 %v, %p1",
         [=](const Group &G, unsigned Lane) -> std::optional<uint32_t> {
           for (unsigned L : G.lanes())
             if (G.X[L] >> Shift != G.X[Lane] >> Shift)
               return 0;
           return G.Members ^ ~0u;
         }});

  auto Redux = [&](const char *Name, auto Of) {
    All.push_back({std::string("redux.") + Name,
                   std::string("%r = call i32 @llvm.nvvm.redux.sync.") + Name +
                       "(i32 %x, i32 %m)",
                   [=](const Group &G, unsigned) -> std::optional<uint32_t> {
                     auto Lanes = G.lanes();
                     uint32_t Sum = G.X[Lanes.front()];
                     for (unsigned L : drop_begin(Lanes))
                       Sum = Of(Sum, G.X[L]);
                     return Sum;
                   }});
  };
  Redux("add", [](uint32_t A, uint32_t B) { return A + B; });
  Redux("and", [](uint32_t A, uint32_t B) { return A & B; });
  Redux("or", [](uint32_t A, uint32_t B) { return A | B; });
  Redux("xor", [](uint32_t A, uint32_t B) { return A ^ B; });
  Redux("umin", [](uint32_t A, uint32_t B) { return std::min(A, B); });
  Redux("umax", [](uint32_t A, uint32_t B) { return std::max(A, B); });
  Redux("min", [](uint32_t A, uint32_t B) {
    return uint32_t(std::min(int32_t(A), int32_t(B)));
  });
  Redux("max", [](uint32_t A, uint32_t B) {
    return uint32_t(std::max(int32_t(A), int32_t(B)));
  });
  All.push_back({"activemask", "%r = call i32 @llvm.nvvm.activemask()",
                 [](const Group &G, unsigned) -> std::optional<uint32_t> {
                   return G.Members;
                 }});
  return All;
}

enum class Meeting { All, Branch, Tiles };

/// `k(x, y, mask, out)`; out stays as it was for lanes that do not take part.
/// One kernel for all collectives: each writes a row of out.
std::string kernelOf(const std::vector<Collective> &All, Meeting How) {
  std::string Text = R"(
    define ptx_kernel void @k(ptr %px, ptr %py, i64 %mask, ptr %out) {
    entry:
      %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
      %n64 = zext i32 %n to i64
      %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
      %ax = getelementptr i32, ptr %px, i32 %tid
      %ay = getelementptr i32, ptr %py, i32 %tid
      %x = load i32, ptr %ax
      %y = load i32, ptr %ay
      %t64 = zext i32 %tid to i64
      %pos = and i64 %t64, 63
      %half = and i64 %pos, 32
      %bits = lshr i64 %mask, %half
      %own = trunc i64 %bits to i32
      %moved = lshr i64 %mask, %pos
      %one = trunc i64 %moved to i1
      %base = and i32 %lane, 24
      %tile = shl i32 255, %base
  )";
  std::string Members = How == Meeting::All      ? "-1"
                        : How == Meeting::Branch ? "%own"
                                                 : "%tile";
  for (auto [I, C] : enumerate(All)) {
    const std::string N = std::to_string(I);
    // Names of a piece end in its number.
    std::string Piece;
    for (size_t At = 0; At < C.Text.size();) {
      Piece += C.Text[At++];
      if (Piece.back() != '%')
        continue;
      std::string Name;
      while (At < C.Text.size() && isalnum(C.Text[At]))
        Name += C.Text[At++];
      if (Name == "m") {
        Piece.pop_back();
        Piece += Members;
      } else {
        Piece += Name == "x" || Name == "y" ? Name : Name + "." + N;
      }
    }
    const char *Condition = How == Meeting::Branch ? "%one" : "true";
    Text += "  br i1 " + std::string(Condition) + ", label %do" + N +
            ", label %next" + N + "\ndo" + N + ":\n" + Piece + "\n  %row" + N +
            " = mul i64 %n64, " + N + "\n  %at" + N + " = add i64 %row" + N +
            ", %t64\n  %p" + N + " = getelementptr i32, ptr %out, i64 %at" + N +
            "\n  store i32 %r." + N + ", ptr %p" + N + "\n  br label %next" +
            N + "\nnext" + N + ":\n";
  }
  return Text + "  ret void\n}";
}

void check(Meeting How) {
  const auto All = collectives();
  const std::string Text = kernelOf(All, How);
  Random R(3);
  for (const MachineOptions &O : allSetups()) {
    TestProgram P(Text, O);
    for (const MaskShape &Mask : maskShapes())
      for (unsigned Threads : {128u, 48u}) {
        SCOPED_TRACE(describe(O) + ", mask " + Mask.Name + ", " +
                     std::to_string(Threads) + " threads");
        std::vector<uint32_t> X(Threads), Y(Threads);
        for (unsigned T = 0; T < Threads; ++T) {
          X[T] = uint32_t(R.next() >> 16);
          Y[T] = R.below(32);
        }
        std::vector<uint32_t> Out(All.size() * Threads, 0xabababab);
        P.run(shape(1, Threads), X.data(), Y.data(), Mask.Bits, Out.data());
        for (unsigned T = 0; T < Threads; ++T) {
          const unsigned First = T / 32 * 32, Lane = T % 32;
          uint32_t There = ~0u;
          if (Threads - First < 32)
            There = (1u << (Threads - First)) - 1;
          const uint32_t Named = How == Meeting::All ? ~0u
                                 : How == Meeting::Branch
                                     ? uint32_t(Mask.Bits >> (T & 32))
                                     : 255u << (Lane & 24);
          // Behind a missing thread of a partial warp nothing is written.
          Group G{&X[First], &Y[First], There & Named};
          for (auto [I, C] : enumerate(All)) {
            const uint32_t Got = Out[I * Threads + T];
            if (!G.has(Lane)) {
              ASSERT_EQ(Got, 0xabababab) << C.Name << ", thread " << T;
              continue;
            }
            Group Seen = G;
            if (C.Name == "activemask" && How == Meeting::Tiles)
              Seen.Members = There;
            if (auto Want = C.Want(Seen, Lane)) {
              ASSERT_EQ(Got, *Want) << C.Name << ", thread " << T;
            }
          }
        }
        if (How != Meeting::Branch)
          break; // the mask does not matter
      }
  }
}

TEST(Collectives, OfAllLanes) { check(Meeting::All); }
TEST(Collectives, InABranch) { check(Meeting::Branch); }
TEST(Collectives, InTiles) { check(Meeting::Tiles); }

/// Both sides of a branch meet in a __syncwarp each, and exchange values behind
/// it through memory.
TEST(Collectives, SyncwarpInBothArms) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      @s = internal addrspace(3) global [64 x i32] undef, align 4
      define ptx_kernel void @k(ptr %out) {
      entry:
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %mine = getelementptr i32, ptr addrspace(3) @s, i32 %tid
        %o = and i32 %tid, 1
        %odd = icmp ne i32 %o, 0
        br i1 %odd, label %a, label %b
      a:
        %t = mul i32 %tid, 10
        store i32 %t, ptr addrspace(3) %mine
        call void @llvm.nvvm.bar.warp.sync(i32 -1)
        br label %join
      b:
        store i32 %tid, ptr addrspace(3) %mine
        call void @llvm.nvvm.bar.warp.sync(i32 -1)
        br label %join
      join:
        call void @llvm.nvvm.bar.warp.sync(i32 -1)
        %x = xor i32 %tid, 1
        %other = getelementptr i32, ptr addrspace(3) @s, i32 %x
        %v = load i32, ptr addrspace(3) %other
        %p = getelementptr i32, ptr %out, i32 %tid
        store i32 %v, ptr %p
        ret void
      })",
                  O);
    std::vector<uint32_t> Out(64);
    P.run(shape(1, 64), Out.data());
    for (unsigned T = 0; T < 64; ++T)
      EXPECT_EQ(Out[T], T % 2 ? T - 1 : (T + 1) * 10);
  }
}

/// A collective behind an early return has only the lanes that are left.
TEST(Collectives, AfterEarlyReturn) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      define ptx_kernel void @k(ptr %out) {
      entry:
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %third = urem i32 %tid, 3
        %c = icmp eq i32 %third, 0
        br i1 %c, label %gone, label %on
      on:
        %b = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 true)
        %s = call i32 @llvm.nvvm.redux.sync.add(i32 %tid, i32 -1)
        %r = add i32 %b, %s
        %p = getelementptr i32, ptr %out, i32 %tid
        store i32 %r, ptr %p
        br label %gone
      gone:
        ret void
      })",
                  O);
    std::vector<uint32_t> Out(64, 1);
    P.run(shape(1, 64), Out.data());
    for (unsigned T = 0; T < 64; ++T) {
      uint32_t Bits = 0, Sum = 0;
      for (unsigned L = 0; L < 32; ++L)
        if (unsigned Other = T / 32 * 32 + L; Other % 3) {
          Bits |= 1u << L;
          Sum += Other;
        }
      EXPECT_EQ(Out[T], T % 3 ? Bits + Sum : 1u) << "thread " << T;
    }
  }
}

/// Collectives inside a loop that lanes leave one by one.
TEST(Collectives, InALoopWithADivergentExit) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      define ptx_kernel void @k(ptr %in, ptr %out) {
      entry:
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %pi = getelementptr i32, ptr %in, i32 %tid
        %n = load i32, ptr %pi
        br label %head
      head:
        %i = phi i32 [ 0, %entry ], [ %i1, %body ]
        %s = phi i32 [ 0, %entry ], [ %s1, %body ]
        %c = icmp ult i32 %i, %n
        br i1 %c, label %body, label %done
      body:
        %m = call i32 @llvm.nvvm.activemask()
        %t = call i32 @llvm.nvvm.redux.sync.add(i32 1, i32 %m)
        %s1 = add i32 %s, %t
        %i1 = add i32 %i, 1
        br label %head
      done:
        %all = call i32 @llvm.nvvm.redux.sync.umax(i32 %n, i32 -1)
        %z = mul i32 %all, 1000
        %r = add i32 %s, %z
        %po = getelementptr i32, ptr %out, i32 %tid
        store i32 %r, ptr %po
        ret void
      })",
                  O);
    std::vector<uint32_t> In(64), Out(64);
    for (unsigned T = 0; T < 64; ++T)
      In[T] = T * 5 % 9;
    P.run(shape(1, 64), In.data(), Out.data());
    for (unsigned T = 0; T < 64; ++T) {
      const unsigned First = T / 32 * 32;
      unsigned Sum = 0, Most = 0;
      for (unsigned L = First; L < First + 32; ++L)
        Most = std::max(Most, In[L]);
      for (unsigned I = 0; I < In[T]; ++I)
        for (unsigned L = First; L < First + 32; ++L)
          Sum += In[L] > I;
      EXPECT_EQ(Out[T], Sum + 1000 * Most) << "thread " << T;
    }
  }
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// A rotation through shared memory, a round of a uniform loop each.
TEST(Barriers, InAUniformLoop) {
  for (const MachineOptions &O : allSetups())
    for (unsigned Threads : {1u, 33u, 96u}) {
      SCOPED_TRACE(describe(O) + ", " + std::to_string(Threads) + " threads");
      TestProgram P(R"(
        @s = external addrspace(3) global [0 x i32], align 4
        define ptx_kernel void @k(ptr %out, i32 %rounds) {
        entry:
          %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
          %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
          %t1 = add i32 %tid, 1
          %next = urem i32 %t1, %n
          %mine = getelementptr i32, ptr addrspace(3) @s, i32 %tid
          %other = getelementptr i32, ptr addrspace(3) @s, i32 %next
          br label %head
        head:
          %i = phi i32 [ 0, %entry ], [ %i1, %body ]
          %v = phi i32 [ %tid, %entry ], [ %w, %body ]
          %c = icmp ult i32 %i, %rounds
          br i1 %c, label %body, label %done
        body:
          store i32 %v, ptr addrspace(3) %mine
          call void @llvm.nvvm.barrier0()
          %w = load i32, ptr addrspace(3) %other
          call void @llvm.nvvm.barrier0()
          %i1 = add i32 %i, 1
          br label %head
        done:
          %p = getelementptr i32, ptr %out, i32 %tid
          store i32 %v, ptr %p
          ret void
        })",
                    O);
      std::vector<uint32_t> Out(Threads);
      P.run(shape(1, Threads, 4 * Threads), Out.data(), 7u);
      for (unsigned T = 0; T < Threads; ++T)
        ASSERT_EQ(Out[T], (T + 7) % Threads);
      const unsigned Warps = (Threads + O.WarpSize - 1) / O.WarpSize;
      EXPECT_EQ(P.block("body").Warps, 7u * Warps);
      EXPECT_EQ(P.block("body").Lanes, 7u * Threads);
    }
}

/// Some lanes return before the barrier, in all mask shapes: it opens for those
/// that are left, and its reductions are over them.
TEST(Barriers, ReduceOverThreadsThatAreLeft) {
  for (const MachineOptions &O : allSetups()) {
    TestProgram P(R"(
      define ptx_kernel void @k(ptr %in, i64 %mask, ptr %out) {
      entry:
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %t64 = zext i32 %tid to i64
        %pos = and i64 %t64, 63
        %moved = lshr i64 %mask, %pos
        %one = trunc i64 %moved to i1
        br i1 %one, label %on, label %gone
      on:
        %pi = getelementptr i32, ptr %in, i32 %tid
        %x = load i32, ptr %pi
        %count = call i32 @llvm.nvvm.barrier0.popc(i32 %x)
        %all = call i32 @llvm.nvvm.barrier0.and(i32 %x)
        %any = call i32 @llvm.nvvm.barrier0.or(i32 %x)
        %a = icmp ne i32 %all, 0
        %b = icmp ne i32 %any, 0
        %a1 = zext i1 %a to i32
        %b1 = zext i1 %b to i32
        %a2 = shl i32 %a1, 16
        %b2 = shl i32 %b1, 17
        %r1 = or i32 %count, %a2
        %r = or i32 %r1, %b2
        %po = getelementptr i32, ptr %out, i32 %tid
        store i32 %r, ptr %po
        br label %gone
      gone:
        ret void
      })",
                  O);
    for (const MaskShape &Mask : maskShapes())
      for (unsigned Threads : {128u, 80u})
        for (unsigned Kind = 0; Kind < 3; ++Kind) {
          SCOPED_TRACE(describe(O) + ", mask " + Mask.Name);
          std::vector<uint32_t> In(Threads), Out(Threads, 5);
          unsigned Count = 0, Left = 0;
          for (unsigned T = 0; T < Threads; ++T) {
            In[T] = Kind == 0 ? 0 : Kind == 1 ? 256 : T % 3 * 8;
            Left += Mask.Bits >> (T % 64) & 1;
            Count += (Mask.Bits >> (T % 64) & 1) && In[T];
          }
          P.run(shape(2, Threads), In.data(), Mask.Bits, Out.data());
          for (unsigned T = 0; T < Threads; ++T)
            ASSERT_EQ(Out[T],
                      Mask.Bits >> (T % 64) & 1
                          ? Count | (Count == Left) << 16 | (Count != 0) << 17
                          : 5u)
                << "thread " << T;
        }
  }
}

} // namespace
} // namespace reconverge::warpvm
