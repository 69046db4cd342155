//===- unittests/warpvm/MemoryModelTest.cpp - What PTX forbids to see -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shapes by which memory models are told apart, each thread of a shape in a
// block and on a CPU thread of its own. A round is a cell of its own for each
// lane; blocks meet before each, so that they race. What PTX's model forbids
// must never be seen. What it allows may be, and is not asked for: how often
// depends on the machine.
//
// Store buffering is the one shape that x86 itself shows (a store waits in the
// core while a later load goes ahead). The others guard against a compiler that
// moves or cuts accesses.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace reconverge::warpvm {
namespace {

constexpr unsigned Lanes = 32;

/// What a shape's threads read, in the order of threads and accesses.
using Seen = ArrayRef<uint32_t>;

/// A thread's text: "Wx1" stores 1 to x, "Rx" loads it, "F" is the fence.
struct Shape {
  const char *Name;
  std::vector<std::string> Threads;
  bool (*Forbidden)(Seen);
};

/// IR for accesses and fences; T is the type, P the address, V the value.
struct Words {
  const char *Name;
  const char *Store, *Load, *Fence;
};

void replaceAll(std::string &Text, StringRef What, StringRef By) {
  for (size_t At = 0; (At = Text.find(What.str(), At)) != std::string::npos;
       At += By.size())
    Text.replace(At, What.size(), By.str());
}

/// The kernel of \p S: rounds of cells, in each of which block b is thread b.
/// The loop in which blocks meet is none that the scheduler takes for waiting,
/// or one CPU thread would run both of them in turn.
/// Each x and y has a cache line of its own: stores wait for lines, so that
/// there is time for a load to overtake them.
std::string kernelOf(const Shape &S, const Words &By) {
  std::string Text = R"(
    define ptx_kernel void @k(ptr %cells, ptr %seen, ptr %met, i32 %rounds, ptr %scratch) {
    entry:
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
      %first = icmp eq i32 %t, 0
      br label %round
    round:
      %i = phi i32 [ 0, %entry ], [ %i1, %next ]
      %i1 = add i32 %i, 1
      br i1 %first, label %come, label %wait
    come:
      %c = atomicrmw add ptr %met, i32 1 seq_cst
      br label %wait
    wait:
      store i32 0, ptr %scratch
      %m = load i32, ptr %met
      %all = mul i32 %i1, )" +
                     std::to_string(S.Threads.size()) + R"(
      %here = icmp uge i32 %m, %all
      br i1 %here, label %act, label %wait
    act:
      %cell = mul i32 %i, 64
      %mine = add i32 %cell, %t
      %x = getelementptr [64 x i8], ptr %cells, i32 %mine
      %y = getelementptr [64 x i8], ptr %x, i32 32
      %first.read = mul i32 %i, 256
      %read = add i32 %first.read, %t
      %r = getelementptr i32, ptr %seen, i32 %read
      switch i32 %b, label %next [)";
  for (size_t B = 0; B < S.Threads.size(); ++B)
    Text += " i32 " + std::to_string(B) + ", label %t" + std::to_string(B);
  Text += " ]\n";
  unsigned Reads = 0;
  for (auto [B, Thread] : enumerate(S.Threads)) {
    Text += "t" + std::to_string(B) + ":\n";
    SmallVector<StringRef> Acts;
    SplitString(Thread, Acts);
    SmallVector<unsigned> Mine;
    for (StringRef Act : Acts) {
      std::string Line = Act[0] == 'W'   ? By.Store
                         : Act[0] == 'R' ? By.Load
                                         : By.Fence;
      if (Act[0] != 'F')
        replaceAll(Line, "P", "%" + Act.substr(1, 1).str());
      if (Act[0] == 'W')
        replaceAll(Line, "V", Act.substr(2));
      if (Act[0] == 'R') {
        Mine.push_back(Reads++);
        Line = "%v" + std::to_string(Mine.back()) + " = " + Line;
      }
      Text += Line + "\n";
    }
    for (unsigned R : Mine) {
      const std::string N = std::to_string(R);
      Text += "%r" + N + " = getelementptr i32, ptr %r, i32 " +
              std::to_string(R * 32) + "\nstore i32 %v" + N + ", ptr %r" + N +
              "\n";
    }
    Text += "br label %next\n";
  }
  return Text + R"(
    next:
      %more = icmp ult i32 %i1, %rounds
      br i1 %more, label %round, label %done
    done:
      ret void
    })";
}

/// Runs \p S, spelt \p By, and expects that nothing forbidden is seen.
void check(const Shape &S, const Words &By, unsigned Rounds) {
  SCOPED_TRACE(std::string(S.Name) + ", " + By.Name);
  MachineOptions O = optionsFor(32, Tier::Fused, PolicyKind::Frontier);
  O.Threads = S.Threads.size();
  O.Compile = Effort::Well; // what moves code is what is tested
  TestProgram P(kernelOf(S, By), O);
  std::vector<uint32_t> Cells(16 * 64 * Rounds), Read(256 * Rounds);
  uint32_t Met = 0, Scratch = 0;
  P.run(shape(S.Threads.size(), Lanes), Cells.data(), Read.data(), &Met,
        uint32_t(Rounds), &Scratch);
  unsigned Times = 0;
  for (unsigned I = 0; I < Rounds; ++I)
    for (unsigned L = 0; L < Lanes; ++L) {
      uint32_t Values[8];
      for (unsigned R = 0; R < 8; ++R)
        Values[R] = Read[256 * I + 32 * R + L];
      Times += S.Forbidden(Values);
    }
  EXPECT_EQ(Times, 0u) << "of " << Rounds * Lanes;
}

const Shape MessagePassing = {"message passing",
                              {"Wx1 F Wy1", "Ry F Rx"},
                              [](Seen R) { return R[0] == 1 && R[1] == 0; }};
const Shape StoreBuffering = {"store buffering",
                              {"Wx1 F Ry", "Wy1 F Rx"},
                              [](Seen R) { return R[0] == 0 && R[1] == 0; }};
const Shape LoadBuffering = {"load buffering",
                             {"Rx F Wy1", "Ry F Wx1"},
                             [](Seen R) { return R[0] == 1 && R[1] == 1; }};
const Shape Coherence = {"coherence of two loads",
                         {"Wx1 Wx2", "Rx Rx"},
                         [](Seen R) { return R[1] < R[0]; }};
const Shape OwnStore = {"a load after a store",
                        {"Wx1 Rx", "Wx2 Rx"},
                        [](Seen R) { return R[0] == 0 || R[1] == 0; }};
const Shape IndependentReads = {
    "independent reads of independent writes",
    {"Wx1", "Wy1", "Rx F Ry", "Ry F Rx"},
    [](Seen R) { return R[0] == 1 && R[1] == 0 && R[2] == 1 && R[3] == 0; }};

#define PTX(SCOPE) "syncscope(\"ptx." SCOPE "\")"
#define RELAXED(SCOPE)                                                         \
  "store atomic i32 V, ptr P " PTX(SCOPE) " monotonic, align 4",               \
      "load atomic i32, ptr P " PTX(SCOPE) " monotonic, align 4"
const Words Strong[] = {
    {"fence.sc.gpu", RELAXED("gpu"), "fence " PTX("gpu") " seq_cst"},
    {"fence.sc.sys", RELAXED("sys"), "fence " PTX("sys") " seq_cst"},
    {"__threadfence", "store volatile i32 V, ptr P", "load volatile i32, ptr P",
     "call void @llvm.nvvm.membar.gl()"},
    {"__threadfence_system", "store volatile i32 V, ptr P",
     "load volatile i32, ptr P", "call void @llvm.nvvm.membar.sys()"},
};
const Words Weak[] = {
    {"fence.acq_rel.gpu", RELAXED("gpu"), "fence " PTX("gpu") " acq_rel"},
    {"release and acquire",
     "store atomic i32 V, ptr P " PTX("gpu") " release, align 4",
     "load atomic i32, ptr P " PTX("gpu") " acquire, align 4", ""},
};

TEST(MemoryModel, FencesOfSequentialConsistency) {
  for (const Words &By : Strong)
    check(StoreBuffering, By, 40);
  for (const Words &By : {Strong[0], Strong[2]})
    for (const Shape &S : {MessagePassing, LoadBuffering})
      check(S, By, 30);
  check(IndependentReads, Strong[0], 3);
}

TEST(MemoryModel, AcquireAndRelease) {
  for (const Words &By : Weak)
    for (const Shape &S : {MessagePassing, LoadBuffering})
      check(S, By, 30);
}

TEST(MemoryModel, OneLocation) {
  for (const Words &By : {Strong[0], Strong[2]})
    for (const Shape &S : {Coherence, OwnStore})
      check(S, By, 30);
}

//===----------------------------------------------------------------------===//
// Whole accesses
//===----------------------------------------------------------------------===//

/// Block 0 stores values whose words are all alike, block 1 loads and compares,
/// lanes at cells that step by the width, that do not, or all at one.
std::string wholeKernel(StringRef Type, unsigned Words, StringRef Kind,
                        StringRef Index) {
  const unsigned Bytes = 4 * Words;
  std::string Text = R"(
    define ptx_kernel void @k(ptr %cells, ptr %torn) {
    entry:
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
      %writes = icmp eq i32 %b, 0
      %p = getelementptr [BYTES x i8], ptr %cells, i32 INDEX
      %permuted = mul i32 %t, 5
      %other = and i32 %permuted, 31
      %q = getelementptr [BYTES x i8], ptr %cells, i32 %other
      br label %round
    round:
      %i = phi i32 [ 0, %entry ], [ %i1, %next ]
      %i1 = add i32 %i, 1
      br i1 %writes, label %write, label %read
    write:
      %s = insertelement <WORDS x i32> poison, i32 %i, i32 0
      %v = shufflevector <WORDS x i32> %s, <WORDS x i32> poison,
                         <WORDS x i32> zeroinitializer
      %vt = bitcast <WORDS x i32> %v to TYPE
      store KIND TYPE %vt, ptr AT
      br label %next
    read:
      %xt = load KIND TYPE, ptr AT
      %x = bitcast TYPE %xt to <WORDS x i32>
      %y = shufflevector <WORDS x i32> %x, <WORDS x i32> poison,
                         <WORDS x i32> zeroinitializer
      %d = xor <WORDS x i32> %x, %y
      %any = call i32 @llvm.vector.reduce.or.vWORDSi32(<WORDS x i32> %d)
      %bad = icmp ne i32 %any, 0
      br i1 %bad, label %found, label %next
    found:
      store i32 1, ptr %torn
      br label %next
    next:
      call void @llvm.nvvm.membar.cta()
      %more = icmp ult i32 %i1, 20000
      br i1 %more, label %round, label %done
    done:
      ret void
    })";
  const bool Atomic = Kind.contains("atomic");
  replaceAll(Text, "ptr AT",
             ("ptr " + Twine(Index == "%other" ? "%q" : "%p") +
              (Atomic ? " monotonic, align " + Twine(Bytes) : Twine("")))
                 .str());
  replaceAll(Text, "INDEX", Index == "%other" ? "0" : Index);
  replaceAll(Text, "BYTES", std::to_string(Bytes));
  replaceAll(Text, "WORDS", std::to_string(Words));
  replaceAll(Text, "TYPE", Type);
  replaceAll(Text, "KIND", Kind);
  return Text;
}

TEST(MemoryModel, AlignedAccessesAreWhole) {
  struct {
    const char *Type, *Kind;
    unsigned Words;
  } const Accesses[] = {
      {"i128", "atomic", 4},          {"<4 x i32>", "volatile", 4},
      {"<2 x i64>", "", 4},           {"i64", "atomic", 2},
      {"<2 x float>", "volatile", 2},
  };
  for (const auto &A : Accesses)
    for (const char *Index : {"%t", "%other", "7"}) {
      SCOPED_TRACE(std::string(A.Kind) + " " + A.Type + " at " + Index);
      MachineOptions O = optionsFor(32, Tier::Fused, PolicyKind::Frontier);
      O.Threads = 2;
      TestProgram P(wholeKernel(A.Type, A.Words, A.Kind, Index), O);
      alignas(64) uint32_t Cells[4 * Lanes] = {};
      uint32_t Torn = 0;
      P.run(shape(2, Lanes), &Cells[0], &Torn);
      EXPECT_EQ(Torn, 0u);
    }
}

/// A structure of four floats is taken apart by the compiler in front of us;
/// the GPU's joins it again.
TEST(MemoryModel, NeighboursAreJoined) {
  MachineOptions O = optionsFor(32, Tier::Fused, PolicyKind::Frontier);
  O.Threads = 2;
  TestProgram P(R"(
    define ptx_kernel void @k(ptr %cells, ptr %torn) {
    entry:
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
      %writes = icmp eq i32 %b, 0
      %p0 = getelementptr [16 x i8], ptr %cells, i32 %t
      %p1 = getelementptr i8, ptr %p0, i64 4
      %p2 = getelementptr i8, ptr %p0, i64 8
      %p3 = getelementptr i8, ptr %p0, i64 12
      br label %round
    round:
      %i = phi i32 [ 0, %entry ], [ %i1, %next ]
      %i1 = add i32 %i, 1
      br i1 %writes, label %write, label %read
    write:
      store i32 %i, ptr %p0, align 16
      store i32 %i, ptr %p1, align 4
      store i32 %i, ptr %p2, align 8
      store i32 %i, ptr %p3, align 4
      br label %next
    read:
      %a = load i32, ptr %p0, align 16
      %b1 = load i32, ptr %p1, align 4
      %c = load i32, ptr %p2, align 8
      %d = load i32, ptr %p3, align 4
      %e = xor i32 %a, %b1
      %f = xor i32 %a, %c
      %g = xor i32 %a, %d
      %h = or i32 %e, %f
      %any = or i32 %h, %g
      %bad = icmp ne i32 %any, 0
      br i1 %bad, label %found, label %next
    found:
      store i32 1, ptr %torn
      br label %next
    next:
      call void @llvm.nvvm.membar.cta()
      %more = icmp ult i32 %i1, 20000
      br i1 %more, label %round, label %done
    done:
      ret void
    })",
                O);
  alignas(64) uint32_t Cells[4 * Lanes] = {};
  uint32_t Torn = 0;
  P.run(shape(2, Lanes), &Cells[0], &Torn);
  EXPECT_EQ(Torn, 0u);
}

} // namespace
} // namespace reconverge::warpvm
