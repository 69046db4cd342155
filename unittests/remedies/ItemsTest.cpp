//===- unittests/remedies/ItemsTest.cpp - Threads as items ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that write down every number that they read, each thread at its own
// place. Handed out anew, in another launch and another order, their threads
// write the same. And the arithmetic alone, for launches that nobody can wait
// for.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "remedies/common/HiddenParameters.h"
#include "remedies/common/Items.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <algorithm>
#include <numeric>

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

constexpr unsigned Words = 12; ///< that a thread writes

/// Declarations, and the kernel's head.
std::string prelude() {
  std::string Text = R"(
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
)";
  for (const char *Register : {"tid", "ctaid", "ntid", "nctaid"})
    for (const char *Dimension : {"x", "y", "z"})
      Text += "declare i32 @llvm.nvvm.read.ptx.sreg." + std::string(Register) +
              "." + Dimension + "()\n";
  return Text +
         "define ptx_kernel void @k(ptr addrspace(1) %out, i32 %n) {\nentry:\n";
}

/// %NAME = REGISTER, as in "tid.x".
std::string read(const std::string &Name, const std::string &Register) {
  return "  %" + Name + " = call i32 @llvm.nvvm.read.ptx.sreg." + Register +
         "()\n";
}

/// All twelve: tx, ty, tz, cx, cy, cz, bx, by, bz, gx, gy, gz.
std::string readAll() {
  std::string Text;
  for (auto [Letter, Register] :
       {std::pair("t", "tid."), std::pair("c", "ctaid."),
        std::pair("b", "ntid."), std::pair("g", "nctaid.")})
    for (const char *D : {"x", "y", "z"})
      Text += read(std::string(Letter) + D, std::string(Register) + D);
  return Text;
}

/// Stores all twelve from %at on.
std::string storeAll() {
  std::string Text;
  unsigned Word = 0;
  for (const char *Letter : {"t", "c", "b", "g"})
    for (const char *D : {"x", "y", "z"}) {
      const std::string At = "%at" + std::to_string(Word);
      Text += "  " + At + " = getelementptr i32, ptr addrspace(1) %at, i32 " +
              std::to_string(Word++) + "\n  store i32 %" + Letter + D +
              ", ptr addrspace(1) " + At + "\n";
    }
  return Text;
}

/// %at = &out[number of the thread in its launch]
const std::string OwnPlace = R"(
  %p0 = mul i32 %cz, %gy
  %p1 = add i32 %p0, %cy
  %p2 = mul i32 %p1, %gx
  %p3 = add i32 %p2, %cx
  %p4 = mul i32 %p3, %bz
  %p5 = add i32 %p4, %tz
  %p6 = mul i32 %p5, %by
  %p7 = add i32 %p6, %ty
  %p8 = mul i32 %p7, %bx
  %p9 = add i32 %p8, %tx
  %place = zext i32 %p9 to i64
  %at = getelementptr [12 x i32], ptr addrspace(1) %out, i64 %place
)";

const std::string Straight =
    readAll() + OwnPlace + storeAll() + "  ret void\n}\n";

// Reads again in the arms of a branch and in a loop.
//   for (k = 0; k <= threadIdx.y; ++k)
//     out[2] = (k odd ? blockIdx.x : threadIdx.z) + gridDim.x * out[2]
const std::string InBlocks = readAll() + OwnPlace + storeAll() + R"(
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %latch ]
  %odd = and i32 %k, 1
  %c = icmp ne i32 %odd, 0
  br i1 %c, label %t, label %f
t:
)" + read("again", "ctaid.x") +
                             R"(
  br label %latch
f:
)" + read("other", "tid.z") + R"(
  br label %latch
latch:
  %v = phi i32 [ %again, %t ], [ %other, %f ]
)" + read("grid", "nctaid.x") +
                             read("last", "tid.y") + R"(
  %old = load i32, ptr addrspace(1) %at2
  %m = mul i32 %old, %grid
  %new = add i32 %m, %v
  store i32 %new, ptr addrspace(1) %at2
  %k1 = add i32 %k, 1
  %more = icmp ule i32 %k1, %last
  br i1 %more, label %loop, label %done
done:
  ret void
}
)";

// for (i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
//      i += blockDim.x * gridDim.x)
//   atomicAdd(&out[i], i + threadIdx.x);
const std::string GridStride = read("cx", "ctaid.x") + read("bx", "ntid.x") +
                               read("tx", "tid.x") + R"(
  %i0 = mul nsw i32 %cx, %bx
  %i1 = add nsw i32 %i0, %tx
  br label %head
head:
  %i = phi i32 [ %i1, %entry ], [ %next, %body ]
  %in = icmp ult i32 %i, %n
  br i1 %in, label %body, label %done
body:
  %at = getelementptr i32, ptr addrspace(1) %out, i32 %i
  %v = add i32 %i, %tx
  %old = atomicrmw add ptr addrspace(1) %at, i32 %v monotonic
)" + read("gx", "nctaid.x") + read("b", "ntid.x") +
                               R"(
  %step = mul i32 %gx, %b
  %next = add i32 %i, %step
  br label %head
done:
  ret void
}
)";

//===----------------------------------------------------------------------===//
// Launches in another order
//===----------------------------------------------------------------------===//

/// Behind the kernel's own: the order, its length, and the launch.
Function &addOrder(Function &Kernel) {
  LLVMContext &C = Kernel.getContext();
  Type *I32 = Type::getInt32Ty(C);
  return addParameters(Kernel,
                       {PointerType::get(C, 1), Type::getInt64Ty(C), I32, I32,
                        I32, I32, I32, I32},
                       {"order", "items", "gx", "gy", "gz", "bx", "by", "bz"});
}

/// if (place >= items) return; become order[place];
void handOut(Module &M) {
  Function &Old = *M.getFunction("k");
  auto Plan = planItems(Old);
  ASSERT_TRUE(std::holds_alternative<ItemsPlan>(Plan))
      << std::get<Refusal>(Plan).Kind->code();
  const unsigned Own = Old.arg_size();
  Function &Kernel = addOrder(Old);
  BasicBlock *Work = &Kernel.getEntryBlock();
  LLVMContext &C = M.getContext();
  auto *Idle = BasicBlock::Create(C, "idle", &Kernel, Work);
  ReturnInst::Create(C, Idle);
  IRBuilder<> B(BasicBlock::Create(C, "place", &Kernel, Idle));
  Value *Place = readItem(B);
  B.CreateCondBr(B.CreateICmpULT(Place, Kernel.getArg(Own + 1)), Work, Idle);
  B.SetInsertPoint(Work, Work->getFirstInsertionPt());
  Value *Item = B.CreateLoad(
      B.getInt64Ty(), B.CreateGEP(B.getInt64Ty(), Kernel.getArg(Own), Place));
  becomeItem(std::get<ItemsPlan>(Plan), Item,
             launchFromParameters(Kernel, Own + 2), B);
  ASSERT_FALSE(verifyModule(M, &errs()));
}

LaunchShape shapeOf(std::array<uint32_t, 3> Grid,
                    std::array<uint32_t, 3> Block) {
  LaunchShape S;
  S.Grid = Grid;
  S.Block = Block;
  return S;
}

/// Of a launch, and more in every dimension than one.
const LaunchShape Launches[] = {
    shapeOf({7, 1, 1}, {33, 1, 1}), shapeOf({5, 3, 1}, {9, 7, 1}),
    shapeOf({3, 5, 2}, {5, 3, 7}),  shapeOf({1, 4, 1}, {1, 1, 6}),
    shapeOf({1, 1, 3}, {1, 8, 1}),  shapeOf({4, 1, 1}, {1, 1, 1}),
    shapeOf({1, 1, 1}, {1, 1, 1}),  shapeOf({2, 1, 1}, {32, 4, 2})};

/// Launches that have room for \p Items, and some more.
std::vector<LaunchShape> roomFor(uint64_t Items) {
  return {shapeOf({uint32_t(divideCeil(Items, 96)), 1, 1}, {96, 1, 1}),
          shapeOf({3, 2, uint32_t(divideCeil(Items, 6 * 70))}, {5, 7, 2})};
}

std::vector<std::vector<uint64_t>> ordersOf(uint64_t Items) {
  std::vector<uint64_t> Natural(Items);
  std::iota(Natural.begin(), Natural.end(), 0);
  std::vector<uint64_t> Reversed(Natural.rbegin(), Natural.rend()),
      Any = Natural;
  Random R(Items);
  for (uint64_t I = Items; I > 1; --I)
    std::swap(Any[I - 1], Any[R.below(unsigned(I))]);
  return {Natural, Reversed, Any};
}

constexpr uint32_t Untouched = 0xdeadbeef, N = 1000;

using Memory = std::vector<uint32_t>;
Memory freshMemory(const LaunchShape &S) {
  return Memory(std::max<uint64_t>(S.threads() * Words, N), Untouched);
}

Memory runAsItIs(TestProgram &P, const LaunchShape &S) {
  Memory Out = freshMemory(S);
  P.run(S, Out.data(), N);
  return Out;
}

Memory runHandedOut(TestProgram &P, const LaunchShape &S,
                    const LaunchShape &Place,
                    const std::vector<uint64_t> &Order) {
  Memory Out = freshMemory(S);
  P.run(Place, Out.data(), N, Order.data(), uint64_t(Order.size()), S.Grid[0],
        S.Grid[1], S.Grid[2], S.Block[0], S.Block[1], S.Block[2]);
  return Out;
}

class HandedOut : public testing::TestWithParam<const std::string *> {};

TEST_P(HandedOut, ThreadsDoTheSame) {
  LLVMContext C;
  auto Before = parseKernel(C, prelude() + *GetParam());
  auto After = CloneModule(*Before);
  handOut(*After);
  ASSERT_FALSE(HasFatalFailure());
  for (const MachineOptions &Options : setups(32)) {
    TestProgram Old(*Before, machineFor(Options));
    TestProgram New(*After, machineFor(Options));
    for (const LaunchShape &S : Launches) {
      const Memory Expected = runAsItIs(Old, S);
      EXPECT_NE(Expected, freshMemory(S)) << "nothing is written";
      for (const LaunchShape &Place : roomFor(S.threads()))
        for (const auto &Order : ordersOf(S.threads()))
          EXPECT_EQ(Expected, runHandedOut(New, S, Place, Order))
              << describe(Options) << ", grid " << S.Grid[0] << "x" << S.Grid[1]
              << "x" << S.Grid[2];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, HandedOut,
                         testing::Values(&Straight, &InBlocks, &GridStride));

/// What is compared has a word of every thread: an item left out, or done
/// twice in another's place, shows.
TEST(HandedOut, AWrongOrderIsSeen) {
  LLVMContext C;
  auto M = parseKernel(C, prelude() + Straight);
  auto After = CloneModule(*M);
  handOut(*After);
  TestProgram Old(*M, machineFor(setups(32)[0]));
  TestProgram New(*After, machineFor(setups(32)[0]));
  const LaunchShape &S = Launches[2];
  auto Order = ordersOf(S.threads())[2];
  Order[17] = Order[18];
  EXPECT_NE(runAsItIs(Old, S),
            runHandedOut(New, S, roomFor(S.threads())[0], Order));
}

//===----------------------------------------------------------------------===//
// The arithmetic alone
//===----------------------------------------------------------------------===//

using Numbers = std::array<uint32_t, Words>;

/// As CUDA defines them; the item is one of the launch.
Numbers numbersOf(uint64_t Item, const LaunchShape &S) {
  const uint64_t Block = Item / S.blockThreads(),
                 Thread = Item % S.blockThreads(),
                 Plane = uint64_t(S.Grid[0]) * S.Grid[1];
  return {uint32_t(Thread % S.Block[0]),
          uint32_t(Thread / S.Block[0] % S.Block[1]),
          uint32_t(Thread / S.Block[0] / S.Block[1]),
          uint32_t(Block % S.Grid[0]),
          uint32_t(Block % Plane / S.Grid[0]),
          uint32_t(Block / Plane),
          S.Block[0],
          S.Block[1],
          S.Block[2],
          S.Grid[0],
          S.Grid[1],
          S.Grid[2]};
}

/// Item order[place] writes at out[place], whatever it is.
void writeAtPlace(Module &M) {
  Function &Old = *M.getFunction("k");
  auto Plan = std::get<ItemsPlan>(planItems(Old));
  Function &Kernel = addOrder(Old);
  auto *At = &*Kernel.getEntryBlock().getFirstInsertionPt();
  IRBuilder<> B(At);
  Value *Place = readItem(B);
  Value *Item = B.CreateLoad(
      B.getInt64Ty(), B.CreateGEP(B.getInt64Ty(), Kernel.getArg(2), Place));
  Value *Own = B.CreateGEP(ArrayType::get(B.getInt32Ty(), Words),
                           Kernel.getArg(0), Place);
  Kernel.getArg(0)->replaceUsesWithIf(
      Own, [&](Use &U) { return U.getUser() != Own; });
  becomeItem(Plan, Item, launchFromParameters(Kernel, 4), B);
  ASSERT_FALSE(verifyModule(M, &errs()));
}

/// Where something may go over: powers of two, ends of blocks and of rows.
std::vector<uint64_t> notableItems(const LaunchShape &S) {
  const uint64_t Last = S.threads() - 1, Row = S.Grid[0] * S.blockThreads();
  std::vector<uint64_t> All{0, 1, Last, Last / 2, Last - S.blockThreads()};
  std::vector<uint64_t> Edges{S.blockThreads(), Row, Row * S.Grid[1]};
  for (unsigned Bit : {31, 32, 33, 62, 63})
    Edges.push_back(uint64_t(1) << Bit);
  for (uint64_t Edge : Edges)
    for (uint64_t Item : {Edge - 1, Edge, Edge + 1})
      All.push_back(Item);
  Random R(Last);
  for (int I = 0; I < 64; ++I)
    All.push_back(R.next() % Last);
  erase_if(All, [&](uint64_t Item) { return Item > Last; });
  return All;
}

constexpr uint32_t MostX = INT32_MAX, MostY = 65535;

void expectNumbers(TestProgram &P, const LaunchShape &S) {
  const std::vector<uint64_t> Items = notableItems(S);
  std::vector<Numbers> Out(Items.size());
  P.run(shape(unsigned(Items.size()), 1), Out.data(), N, Items.data(),
        uint64_t(Items.size()), S.Grid[0], S.Grid[1], S.Grid[2], S.Block[0],
        S.Block[1], S.Block[2]);
  for (auto [Item, Found] : zip(Items, Out))
    EXPECT_EQ(Found, numbersOf(Item, S)) << Item;
}

TEST(Numbers, OfLargeLaunches) {
  LLVMContext C;
  auto M = parseKernel(C, prelude() + readAll() +
                              "%at = bitcast ptr addrspace(1) %out to ptr "
                              "addrspace(1)\n" +
                              storeAll() + "  ret void\n}\n");
  writeAtPlace(*M);
  ASSERT_FALSE(testing::Test::HasFatalFailure());
  TestProgram P(*M, machineFor(setups(32)[0]));
  const LaunchShape Large[] = {
      shapeOf({MostX, 1, 1}, {1024, 1, 1}),
      shapeOf({MostX, 1, 1}, {8, 16, 8}),
      shapeOf({MostX, 3, 1}, {1023, 1, 1}),
      shapeOf({1, MostY, MostY}, {31, 33, 1}),
      shapeOf({MostX, MostY, 1}, {1, 1, 64}),
      shapeOf({65537, MostY, MostY}, {7, 9, 11}),
      shapeOf({MostX, MostY, MostY}, {1, 1, 1}),
      shapeOf({1u << 16, 1u << 15, 1u << 15}, {4, 4, 4}),
      // 45761 * 20857 * 9 is 2^33 + 1: a product would take it for flat.
      shapeOf({5, 45761, 20857}, {1, 9, 1}),
  };
  for (const LaunchShape &S : Large)
    expectNumbers(P, S);
  for (const LaunchShape &S : Launches)
    if (S.threads() > 1)
      expectNumbers(P, S);
}

//===----------------------------------------------------------------------===//
// The code
//===----------------------------------------------------------------------===//

/// How many instructions of \p Opcode, of \p Bits, the kernel has.
unsigned countOf(const Module &M, unsigned Opcode, unsigned Bits) {
  return unsigned(
      count_if(instructions(*M.getFunction("k")), [&](const Instruction &I) {
        return I.getOpcode() == Opcode && I.getType()->isIntegerTy(Bits);
      }));
}

std::unique_ptr<Module> itemKernel(LLVMContext &C, const std::string &Body) {
  auto M = parseKernel(C, prelude() + Body);
  writeAtPlace(*M);
  return M;
}

TEST(Code, IsOfWhatIsRead) {
  LLVMContext C;
  auto X = itemKernel(C, GridStride);
  EXPECT_EQ(countOf(*X, Instruction::UDiv, 64), 1u) << "the block";
  EXPECT_EQ(countOf(*X, Instruction::URem, 64), 1u) << "blockIdx.x of a grid";
  EXPECT_EQ(countOf(*X, Instruction::URem, 32), 1u) << "threadIdx.x of a grid";
  EXPECT_EQ(countOf(*X, Instruction::UDiv, 32), 0u);
  auto All = itemKernel(C, Straight);
  EXPECT_EQ(countOf(*All, Instruction::UDiv, 64), 2u);
  EXPECT_EQ(countOf(*All, Instruction::URem, 64), 1u);
  EXPECT_EQ(countOf(*All, Instruction::UDiv, 32), 3u);
  EXPECT_EQ(countOf(*All, Instruction::URem, 32), 3u);
}

TEST(Code, OfSizesAloneIsNone) {
  LLVMContext C;
  auto M = itemKernel(C, read("b", "ntid.x") + read("g", "nctaid.z") + R"(
  %s = add i32 %b, %g
  store i32 %s, ptr addrspace(1) %out
  ret void
})");
  EXPECT_EQ(M->getFunction("k")->size(), 1u);
  EXPECT_EQ(countOf(*M, Instruction::UDiv, 64), 0u);
}

TEST(Code, OfAKernelThatReadsNothingStaysAsItIs) {
  LLVMContext C;
  auto M = itemKernel(C, "  store i32 1, ptr addrspace(1) %out\n  ret void\n}");
  EXPECT_EQ(M->getFunction("k")->size(), 1u);
}

TEST(Code, IsTheSameEachTime) {
  LLVMContext C;
  auto Text = [&] {
    auto M = parseKernel(C, prelude() + InBlocks);
    handOut(*M);
    std::string Text;
    raw_string_ostream(Text) << *M;
    return Text;
  };
  EXPECT_EQ(Text(), Text());
}

} // namespace
} // namespace reconverge::remedies
