//===- unittests/warpvm/MemoryTest.cpp - Loads, stores, atomics -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Harness.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace llvm;

namespace reconverge::warpvm {
namespace {

std::string replaced(std::string Text, StringRef What, StringRef By) {
  for (size_t At = 0; (At = Text.find(What.str(), At)) != std::string::npos;
       At += By.size())
    Text.replace(At, What.size(), By.str());
  return Text;
}

struct Width {
  const char *Type;
  unsigned Bytes;
};
const Width Widths[] = {
    {"i8", 1},          {"i16", 2},          {"half", 2},
    {"i32", 4},         {"float", 4},        {"i64", 8},
    {"double", 8},      {"ptr", 8},          {"i128", 16},
    {"<2 x i8>", 2},    {"<2 x half>", 4},   {"<2 x float>", 8},
    {"<4 x i16>", 8},   {"<4 x i32>", 16},   {"<2 x ptr>", 16},
    {"<8 x half>", 16}, {"<4 x double>", 32}};

/// Index i of a thread of a block of any shape, in order of threads.
const std::string Prologue = R"(
    entry:
      %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
      %nx = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
      %row = mul i32 %ty, %nx
      %i = add i32 %row, %tx
      %i64 = zext i32 %i to i64
      %pos = and i64 %i64, 63
      %moved = lshr i64 %mask, %pos
      %one = trunc i64 %moved to i1
      br i1 %one, label %on, label %gone
    on:
  )";

/// Copies straight, through a permutation on the reading side, and on the
/// writing side; for all widths, masks, and blocks in which the index does and
/// does not step by one.
TEST(Memory, EveryWidthStraightGatheredScattered) {
  for (const Width &T : Widths) {
    const std::string Text = replaced(
        "define ptx_kernel void @k(ptr %in, ptr %perm, i64 %mask, ptr %a, ptr "
        "%b, ptr %c) {" +
            Prologue + R"(
      %pi = getelementptr TYPE, ptr %in, i64 %i64
      %x = load TYPE, ptr %pi
      %pa = getelementptr TYPE, ptr %a, i64 %i64
      store TYPE %x, ptr %pa
      %pp = getelementptr i32, ptr %perm, i32 %i
      %j = load i32, ptr %pp
      %pg = getelementptr TYPE, ptr %in, i32 %j
      %y = load TYPE, ptr %pg
      %pb = getelementptr TYPE, ptr %b, i32 %i
      store TYPE %y, ptr %pb
      %pc = getelementptr TYPE, ptr %c, i32 %j
      store TYPE %x, ptr %pc
      br label %gone
    gone:
      ret void
    })",
        "TYPE", T.Type);
    for (const MachineOptions &O : allSetups()) {
      TestProgram P(Text, O);
      for (const MaskShape &Mask : maskShapes())
        for (auto [X, Y] :
             {std::pair(64u, 1u), {48u, 1u}, {8u, 8u}, {5u, 9u}}) {
          SCOPED_TRACE(std::string(T.Type) + ", " + describe(O) + ", mask " +
                       Mask.Name + ", " + std::to_string(X) + " x " +
                       std::to_string(Y));
          const unsigned N = X * Y, B = T.Bytes;
          std::vector<uint8_t> In(N * B), Straight(N * B, 0xcc),
              Gathered = Straight, Scattered = Straight;
          Random R(N);
          for (uint8_t &Byte : In)
            Byte = uint8_t(R.next() >> 20);
          std::vector<uint32_t> Perm(N);
          std::iota(Perm.begin(), Perm.end(), 0);
          for (unsigned I = N; I > 1; --I)
            std::swap(Perm[I - 1], Perm[R.below(I)]);
          auto WantStraight = Straight, WantGathered = Gathered,
               WantScattered = Scattered;
          for (unsigned I = 0; I < N; ++I)
            if (Mask.Bits >> (I % 64) & 1) {
              std::memcpy(&WantStraight[I * B], &In[I * B], B);
              std::memcpy(&WantGathered[I * B], &In[Perm[I] * B], B);
              std::memcpy(&WantScattered[Perm[I] * B], &In[I * B], B);
            }
          LaunchShape S;
          S.Block = {X, Y, 1};
          P.run(S, In.data(), Perm.data(), Mask.Bits, Straight.data(),
                Gathered.data(), Scattered.data());
          ASSERT_EQ(Straight, WantStraight);
          ASSERT_EQ(Gathered, WantGathered);
          ASSERT_EQ(Scattered, WantScattered);
        }
    }
  }
}

/// A bool is a byte in memory: stored as 0 or 1, its lowest bit read.
TEST(Memory, Booleans) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      define ptx_kernel void @k(ptr %in, ptr %out, ptr %back) {
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %pi = getelementptr i32, ptr %in, i32 %tid
        %x = load i32, ptr %pi
        %c = icmp ugt i32 %x, 5
        %po = getelementptr i8, ptr %out, i32 %tid
        store i1 %c, ptr %po
        %d = load i1, ptr %po
        %e = xor i1 %d, true
        %r = zext i1 %e to i32
        %pb = getelementptr i32, ptr %back, i32 %tid
        store i32 %r, ptr %pb
        ret void
      })",
                  O);
    std::vector<uint32_t> In(64), Back(64);
    std::vector<uint8_t> Out(64, 0xff);
    for (unsigned I = 0; I < 64; ++I)
      In[I] = I * 7 % 11;
    P.run(shape(1, 64), In.data(), Out.data(), Back.data());
    for (unsigned I = 0; I < 64; ++I) {
      EXPECT_EQ(Out[I], In[I] > 5);
      EXPECT_EQ(Back[I], In[I] <= 5);
    }
  }
}

/// Where lanes store to the same place in one instruction, the highest wins,
/// whether the address is the same for all or only happens to be.
TEST(Memory, HighestLaneWins) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P("define ptx_kernel void @k(i64 %mask, ptr %out) {" +
                      Prologue +
                      R"(
      store i32 %i, ptr %out
      %h = lshr i32 %i, 3
      %h1 = add i32 %h, 1
      %p = getelementptr i32, ptr %out, i32 %h1
      store i32 %i, ptr %p
      br label %gone
    gone:
      ret void
    })",
                  O);
    for (const MaskShape &Mask : maskShapes()) {
      std::vector<uint32_t> Out(9, 1000), Want = Out;
      for (unsigned I = 0; I < 64; ++I)
        if (Mask.Bits >> I & 1)
          Want[0] = Want[1 + I / 8] = I;
      P.run(shape(1, 64), Mask.Bits, Out.data());
      EXPECT_EQ(Out, Want) << Mask.Name;
    }
  }
}

/// Variables with initial values, some of them addresses of others.
TEST(Memory, VariablesAndTheirInitialValues) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      @table = addrspace(4) constant [4 x i32] [i32 10, i32 20, i32 30, i32 40]
      @box = addrspace(1) global { i8, i64, [2 x i16] } { i8 1, i64 -2, [2 x i16] [i16 3, i16 4] }
      @inside = addrspace(1) global ptr addrspacecast (ptr addrspace(4) getelementptr (i8, ptr addrspace(4) @table, i64 8) to ptr)
      @zero = addrspace(1) global [3 x i32] zeroinitializer
      @real = addrspace(1) global double 2.5
      define ptx_kernel void @k(ptr %out) {
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %k = and i32 %tid, 3
        %pt = getelementptr [4 x i32], ptr addrspace(4) @table, i32 0, i32 %k
        %a = load i32, ptr addrspace(4) %pt
        %q = load ptr, ptr addrspace(1) @inside
        %b = load i32, ptr %q
        %w = load i64, ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @box, i64 8)
        %w1 = trunc i64 %w to i32
        %h = load i16, ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @box, i64 18)
        %h1 = zext i16 %h to i32
        %z = load i32, ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @zero, i64 4)
        %d = load double, ptr addrspace(1) @real
        %d1 = fmul double %d, 2.0
        %d2 = fptosi double %d1 to i32
        %s1 = add i32 %a, %b
        %s2 = add i32 %s1, %w1
        %s3 = add i32 %s2, %h1
        %s4 = add i32 %s3, %z
        %s5 = add i32 %s4, %d2
        %p = getelementptr i32, ptr %out, i32 %tid
        store i32 %s5, ptr %p
        ret void
      })",
                  O);
    std::vector<uint32_t> Out(64);
    P.run(shape(1, 64), Out.data());
    for (unsigned I = 0; I < 64; ++I)
      EXPECT_EQ(Out[I], 10 * (I % 4 + 1) + 30 - 2 + 4 + 0 + 5);
    auto Variable = cantFail(P.program().variable("real"));
    ASSERT_EQ(Variable.second, 8u);
    *static_cast<double *>(Variable.first) = 50; // as cudaMemcpyToSymbol does
    P.run(shape(1, 64), Out.data());
    EXPECT_EQ(Out[0], 10u + 30 - 2 + 4 + 100);
    EXPECT_EQ(cantFail(P.program().variable("absent")).first, nullptr);
  }
}

/// Pointers that are numbers, and numbers that are pointers.
TEST(Memory, PointersAmongInitialValues) {
  TestProgram P(R"(
    @mark = addrspace(1) global ptr inttoptr (i64 4660 to ptr)
    @marks = addrspace(1) global [2 x { i32, ptr }] [{ i32, ptr } { i32 1, ptr inttoptr (i64 -1 to ptr) }, { i32, ptr } { i32 2, ptr null }]
    @beyond = addrspace(1) global ptr getelementptr (i8, ptr inttoptr (i64 4096 to ptr), i64 -6)
    @base = addrspace(1) global [8 x i8] zeroinitializer
    @other = alias [8 x i8], ptr addrspace(1) @base
    @end = addrspace(1) global ptr addrspacecast (ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @other, i64 8) to ptr)
    @number = addrspace(1) global i64 ptrtoint (ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @base, i64 3) to i64)
    @low = addrspace(1) global i32 trunc (i64 ptrtoint (ptr addrspace(1) @base to i64) to i32)
    define ptx_kernel void @k() {
      ret void
    })",
                optionsFor(32, Tier::Fused, PolicyKind::Frontier));
  auto Word = [&](const char *Name, unsigned Index = 0) {
    auto Variable = cantFail(P.program().variable(Name));
    return static_cast<const uint64_t *>(Variable.first)[Index];
  };
  EXPECT_EQ(Word("mark"), 0x1234u);
  EXPECT_EQ(Word("marks", 1), ~uint64_t(0));
  EXPECT_EQ(Word("marks", 3), 0u);
  EXPECT_EQ(Word("beyond"), 4090u);
  const auto Base = uint64_t(cantFail(P.program().variable("base")).first);
  EXPECT_EQ(Word("end"), Base + 8);
  EXPECT_EQ(Word("number"), Base + 3);
  EXPECT_EQ(uint32_t(Word("low")), uint32_t(Base));
}

/// Static variables lie before dynamic shared memory and do not overlap it.
TEST(Memory, StaticAndDynamicShared) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      @bytes = internal addrspace(3) global [5 x i8] undef, align 1
      @words = internal addrspace(3) global [64 x i32] undef, align 4
      @more = external addrspace(3) global [0 x i64], align 16
      define ptx_kernel void @k(ptr %out) {
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %w = getelementptr i32, ptr addrspace(3) @words, i32 %tid
        %m = getelementptr i64, ptr addrspace(3) @more, i32 %tid
        %t64 = zext i32 %tid to i64
        %big = shl i64 %t64, 33
        store i32 %tid, ptr addrspace(3) %w
        store i64 %big, ptr addrspace(3) %m
        store i8 99, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @bytes, i64 4)
        call void @llvm.nvvm.barrier0()
        %x = sub i32 63, %tid
        %w2 = getelementptr i32, ptr addrspace(3) @words, i32 %x
        %m2 = getelementptr i64, ptr addrspace(3) @more, i32 %x
        %a = load i32, ptr addrspace(3) %w2
        %b = load i64, ptr addrspace(3) %m2
        %c = load i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @bytes, i64 4)
        %c1 = zext i8 %c to i64
        %a1 = zext i32 %a to i64
        %s = add i64 %a1, %b
        %r = add i64 %s, %c1
        %p = getelementptr i64, ptr %out, i32 %tid
        store i64 %r, ptr %p
        ret void
      })",
                  O);
    std::vector<uint64_t> Out(64);
    P.run(shape(2, 64, 64 * 8), Out.data());
    for (uint64_t I = 0; I < 64; ++I)
      EXPECT_EQ(Out[I], (63 - I) + ((63 - I) << 33) + 99);
    EXPECT_EQ(cantFail(P.program().kernel("k"))->staticShared(), 272u);
  }
}

/// A structure passed by value, which each thread changes for itself.
TEST(Memory, ByValueParameterIsEachThreadsOwn) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      %pair = type { i8, [4 x i32] }
      define ptx_kernel void @k(i8 %first, ptr byval(%pair) align 4 %s, ptr %out) {
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %k = and i32 %tid, 3
        %e = getelementptr %pair, ptr %s, i32 0, i32 1, i32 %k
        %v = load i32, ptr %e
        %w = add i32 %v, %tid
        store i32 %w, ptr %e
        %e0 = getelementptr %pair, ptr %s, i32 0, i32 1, i32 0
        %z = load i32, ptr %e0
        %x = load i32, ptr %e
        %f = zext i8 %first to i32
        %y = mul i32 %z, 1000
        %r1 = add i32 %x, %y
        %r = add i32 %r1, %f
        %p = getelementptr i32, ptr %out, i32 %tid
        store i32 %r, ptr %p
        ret void
      })",
                  O);
    struct {
      uint8_t A = 1;
      uint32_t B[4] = {5, 6, 7, 8};
    } S;
    std::vector<uint32_t> Out(64);
    P.run(shape(1, 64), uint8_t(200), S, Out.data());
    for (unsigned T = 0; T < 64; ++T) {
      const unsigned X = 5 + T % 4 + T, Z = T % 4 ? 5 : X;
      EXPECT_EQ(Out[T], X + 1000 * Z + 200);
    }
  }
}

TEST(Memory, CopyMoveAndSetIntrinsics) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P("define ptx_kernel void @k(ptr %in, i64 %mask, ptr %out) {\n"
                  "top:\n  %local = alloca [32 x i8], align 4\n"
                  "  br label %entry" +
                      Prologue + R"(
      %at = mul i64 %i64, 16
      %from = getelementptr i8, ptr %in, i64 %at
      %to = getelementptr i8, ptr %out, i64 %at
      %n = and i64 %i64, 15
      %b = trunc i64 %i64 to i8
      call void @llvm.memset.p0.i64(ptr %local, i8 %b, i64 32, i1 false)
      call void @llvm.memcpy.p0.p0.i64(ptr %local, ptr %from, i64 %n, i1 false)
      %up = getelementptr i8, ptr %local, i64 1
      call void @llvm.memmove.p0.p0.i64(ptr %up, ptr %local, i64 14, i1 false)
      call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %local, i64 16, i1 false)
      br label %gone
    gone:
      ret void
    })",
                  O);
    for (const MaskShape &Mask : maskShapes()) {
      std::vector<uint8_t> In(64 * 16), Out(64 * 16, 0xee), Want = Out;
      for (unsigned I = 0; I < In.size(); ++I)
        In[I] = uint8_t(I * 37 + I / 256);
      for (unsigned T = 0; T < 64; ++T) {
        if (!(Mask.Bits >> T & 1))
          continue;
        uint8_t Local[32];
        std::memset(Local, int(T), 32);
        std::memcpy(Local, &In[T * 16], T & 15);
        std::memmove(Local + 1, Local, 14);
        std::memcpy(&Want[T * 16], Local, 16);
      }
      P.run(shape(1, 64), In.data(), Mask.Bits, Out.data());
      EXPECT_EQ(Out, Want) << Mask.Name;
    }
  }
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

struct Atomic {
  const char *Operation, *Type;
  uint64_t (*Apply)(uint64_t Old, uint64_t X); ///< on the type's own bits
};

template <typename T> T as(uint64_t Bits) {
  T X;
  std::memcpy(&X, &Bits, sizeof(T));
  return X;
}
template <typename T> uint64_t bits(T X) {
  uint64_t B = 0;
  std::memcpy(&B, &X, sizeof(T));
  return B;
}

#define INTEGER(TYPE, U, S)                                                    \
  {"xchg", TYPE, [](uint64_t A, uint64_t X) { return X; }},                    \
      {"add", TYPE, [](uint64_t A, uint64_t X) { return bits(U(A + X)); }},    \
      {"sub", TYPE, [](uint64_t A, uint64_t X) { return bits(U(A - X)); }},    \
      {"and", TYPE, [](uint64_t A, uint64_t X) { return A & X; }},             \
      {"nand", TYPE,                                                           \
       [](uint64_t A, uint64_t X) { return bits(U(~(A & X))); }},              \
      {"or", TYPE, [](uint64_t A, uint64_t X) { return A | X; }},              \
      {"xor", TYPE, [](uint64_t A, uint64_t X) { return A ^ X; }},             \
      {"max", TYPE,                                                            \
       [](uint64_t A, uint64_t X) {                                            \
         return bits(std::max(as<S>(A), as<S>(X)));                            \
       }},                                                                     \
      {"min", TYPE,                                                            \
       [](uint64_t A, uint64_t X) {                                            \
         return bits(std::min(as<S>(A), as<S>(X)));                            \
       }},                                                                     \
      {"umax", TYPE, [](uint64_t A, uint64_t X) { return std::max(A, X); }},   \
      {"umin", TYPE, [](uint64_t A, uint64_t X) { return std::min(A, X); }},   \
      {"uinc_wrap", TYPE,                                                      \
       [](uint64_t A, uint64_t X) { return A >= X ? 0 : A + 1; }},             \
  {                                                                            \
    "udec_wrap", TYPE,                                                         \
        [](uint64_t A, uint64_t X) { return A == 0 || A > X ? X : A - 1; }     \
  }
const Atomic Atomics[] = {
    INTEGER("i32", uint32_t, int32_t),
    INTEGER("i64", uint64_t, int64_t),
    {"fadd", "float",
     [](uint64_t A, uint64_t X) { return bits(as<float>(A) + as<float>(X)); }},
    {"fsub", "float",
     [](uint64_t A, uint64_t X) { return bits(as<float>(A) - as<float>(X)); }},
    {"fadd", "double",
     [](uint64_t A, uint64_t X) {
       return bits(as<double>(A) + as<double>(X));
     }},
};

/// Lanes collide on four places, in ascending order within a warp, warps in
/// order: the places and every returned value are known.
TEST(Atomics, EveryOperationWithCollisions) {
  for (const Atomic &A : Atomics)
    for (bool Shared : {false, true}) {
      const bool Real = A.Operation[0] == 'f';
      const unsigned Bytes =
          StringRef(A.Type).ends_with("32") || StringRef(A.Type) == "float" ? 4
                                                                            : 8;
      std::string Text =
          "@s = internal addrspace(3) global [4 x i64] undef\n"
          "define ptx_kernel void @k(ptr %in, i64 %mask, ptr %at, "
          "ptr %out) {" +
          Prologue + R"(
      %pi = getelementptr TYPE, ptr %in, i64 %i64
      %x = load TYPE, ptr %pi
      %four = and i32 %i, 3
      %p = getelementptr TYPE, ptrSPACE BASE, i32 %four
      %init = getelementptr TYPE, ptr %at, i32 %four
      %first = icmp ult i32 %i, 0
      %old = atomicrmw OP ptrSPACE %p, TYPE %x seq_cst
      %po = getelementptr TYPE, ptr %out, i64 %i64
      store TYPE %old, ptr %po
      br label %gone
    gone:
      COPY
      ret void
    })";
      Text = replaced(Text, "SPACE", Shared ? " addrspace(3)" : "");
      Text = replaced(Text, "BASE", Shared ? "@s" : "%at");
      std::string Copy;
      if (Shared) // what is there at the end; shared memory begins as zeros
        for (unsigned I = 0; I < 4; ++I) {
          const std::string N = std::to_string(I);
          Copy +=
              "%c" + N +
              " = load volatile TYPE, ptr addrspace(3) getelementptr (TYPE, "
              "ptr addrspace(3) @s, i64 " +
              N + ")\n  %d" + N + " = getelementptr TYPE, ptr %at, i64 " + N +
              "\n  store TYPE %c" + N + ", ptr %d" + N + "\n";
        }
      Text = replaced(Text, "COPY", Copy);
      Text = replaced(Text, "OP", A.Operation);
      Text = replaced(Text, "TYPE", A.Type);
      for (const MachineOptions &O : allSetups()) {
        TestProgram P(Text, O);
        for (const MaskShape &Mask : maskShapes()) {
          SCOPED_TRACE(std::string(A.Operation) + " " + A.Type +
                       (Shared ? ", shared, " : ", ") + describe(O) +
                       ", mask " + Mask.Name);
          Random R(9);
          std::vector<uint8_t> In(64 * Bytes), At(4 * Bytes), Out(64 * Bytes);
          auto Store = [&](std::vector<uint8_t> &To, unsigned I, uint64_t X) {
            std::memcpy(&To[I * Bytes], &X, Bytes);
          };
          auto Load = [&](const std::vector<uint8_t> &From, unsigned I) {
            uint64_t X = 0;
            std::memcpy(&X, &From[I * Bytes], Bytes);
            return X;
          };
          for (unsigned T = 0; T < 64; ++T) {
            uint64_t X = R.chance(50) ? R.below(20) : R.next();
            if (Real)
              X = Bytes == 4 ? bits(float(R.below(1000)))
                             : bits(double(R.below(1000)));
            Store(In, T, X);
          }
          if (!Shared)
            for (unsigned I = 0; I < 4; ++I)
              Store(At, I, Real ? 0 : I * 1000003);
          auto WantAt = At, WantOut = Out;
          for (unsigned T = 0; T < 64; ++T)
            if (Mask.Bits >> T & 1) {
              const uint64_t Old = Load(WantAt, T % 4);
              Store(WantOut, T, Old);
              Store(WantAt, T % 4, A.Apply(Old, Load(In, T)));
            }
          P.run(shape(1, 64), In.data(), Mask.Bits, At.data(), Out.data());
          ASSERT_EQ(Out, WantOut);
          if (!Shared || Mask.Bits == ~uint64_t(0))
            ASSERT_EQ(At, WantAt);
        }
      }
    }
}

/// What CUDA's headers make of atomicInc, atomicDec and scoped atomics.
TEST(Atomics, NvvmIntrinsics) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      declare i32 @llvm.nvvm.atomic.load.inc.32.p0(ptr, i32)
      declare i32 @llvm.nvvm.atomic.load.dec.32.p0(ptr, i32)
      declare i32 @llvm.nvvm.atomic.add.gen.i.cta.i32.p0(ptr, i32)
      declare float @llvm.nvvm.atomic.add.gen.f.sys.f32.p0(ptr, float)
      declare i32 @llvm.nvvm.atomic.cas.gen.i.cta.i32.p0(ptr, i32, i32)
      define ptx_kernel void @k(ptr %out) {
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %p1 = getelementptr i32, ptr %out, i32 1
        %p2 = getelementptr i32, ptr %out, i32 2
        %p3 = getelementptr i32, ptr %out, i32 3
        %p4 = getelementptr i32, ptr %out, i32 4
        %a = call i32 @llvm.nvvm.atomic.load.inc.32.p0(ptr %out, i32 9)
        %b = call i32 @llvm.nvvm.atomic.load.dec.32.p0(ptr %p1, i32 6)
        %c = call i32 @llvm.nvvm.atomic.add.gen.i.cta.i32.p0(ptr %p2, i32 %tid)
        %d = call float @llvm.nvvm.atomic.add.gen.f.sys.f32.p0(ptr %p3, float 0.5)
        %t1 = add i32 %tid, 1
        %e = call i32 @llvm.nvvm.atomic.cas.gen.i.cta.i32.p0(ptr %p4, i32 %tid, i32 %t1)
        ret void
      })",
                  O);
    std::vector<uint32_t> Out(5);
    P.run(shape(1, 64), Out.data());
    EXPECT_EQ(Out, (std::vector<uint32_t>{64 % 10, 6, 63 * 32,
                                          uint32_t(bits(32.0f)), 64}));
  }
}

/// Lanes try to claim places; the lowest lane at each place gets it, and all
/// others see who did.
TEST(Atomics, CompareAndSwap) {
  for (bool Shared : {false, true})
    for (const MachineOptions &O : allSetups()) {
      SCOPED_TRACE(describe(O));
      std::string Text =
          replaced(R"(
        @s = internal addrspace(3) global [16 x i64] undef
        define ptx_kernel void @k(ptr %g, ptr %out) {
          %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
          %h = mul i32 %tid, 7
          %slot = and i32 %h, 15
          %t64 = zext i32 %tid to i64
          %mine = add i64 %t64, 1
          %p = getelementptr i64, SPACE, i32 %slot
          %q = cmpxchg PTR %p, i64 0, i64 %mine seq_cst seq_cst
          %old = extractvalue { i64, i1 } %q, 0
          %got = extractvalue { i64, i1 } %q, 1
          %w = select i1 %got, i64 1000, i64 %old
          %po = getelementptr i64, ptr %out, i32 %tid
          store i64 %w, ptr %po
          ret void
        })",
                   "SPACE", Shared ? "ptr addrspace(3) @s" : "ptr %g");
      Text = replaced(Text, "PTR", Shared ? "ptr addrspace(3)" : "ptr");
      TestProgram P(Text, O);
      std::vector<uint64_t> G(16), Out(64), Owner(16);
      P.run(shape(1, 64), G.data(), Out.data());
      for (unsigned T = 0; T < 64; ++T) {
        uint64_t &Of = Owner[T * 7 % 16];
        EXPECT_EQ(Out[T], Of ? Of : 1000);
        if (!Of)
          Of = T + 1;
      }
    }
}

/// Blocks on two CPU threads add to the same words.
TEST(Atomics, AcrossCpuThreads) {
  for (MachineOptions O : allSetups()) {
    O.Threads = 2;
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      define ptx_kernel void @k(ptr %sum, ptr %real) {
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %a = atomicrmw add ptr %sum, i32 %tid monotonic
        %b = atomicrmw fadd ptr %real, double 1.0 monotonic
        ret void
      })",
                  O);
    uint32_t Sum = 0;
    double Real = 0;
    P.run(shape(2000, 64), &Sum, &Real);
    EXPECT_EQ(Sum, 2000u * 63 * 32);
    EXPECT_EQ(Real, 128000.0);
  }
}

/// PTX's atom and red of {v2,v4}: the old values of all threads differ.
TEST(Memory, AddsRowsOfFloats) {
  TestProgram P(R"(
    declare { float, float } @"reconverge.atom~v2"(ptr addrspace(1), float, float)
    declare void @"reconverge.red~v4"(ptr addrspace(1), float, float, float, float)
    define ptx_kernel void @k(ptr addrspace(1) %sums, ptr %old) {
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %pair = call { float, float } @"reconverge.atom~v2"(ptr addrspace(1) %sums, float 1.0, float 2.0)
      %first = extractvalue { float, float } %pair, 0
      %second = extractvalue { float, float } %pair, 1
      %both = fadd float %first, %second
      %po = getelementptr float, ptr %old, i32 %t
      store float %both, ptr %po
      %x = uitofp i32 %t to float
      %behind = getelementptr float, ptr addrspace(1) %sums, i32 2
      call void @"reconverge.red~v4"(ptr addrspace(1) %behind, float %x, float 3.0, float 0.0, float -1.0)
      ret void
    })",
                optionsFor(32, Tier::Fused, PolicyKind::Frontier));
  std::vector<float> Sums(6), Old(64);
  P.run(shape(1, 64), Sums.data(), Old.data());
  EXPECT_EQ(Sums, (std::vector<float>{64, 128, 63 * 32, 192, 0, -64}));
  std::sort(Old.begin(), Old.end());
  for (unsigned I = 0; I < 64; ++I)
    EXPECT_EQ(Old[I], 3.0f * I);
}

} // namespace
} // namespace reconverge::warpvm
