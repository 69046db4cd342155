//===- unittests/remedies/TensorNetTest.cpp - A net by whole warps --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel all of whose lanes compute a drawn net on tensor cores, on the warp VM,
// whose products have an H100's bits (test/vm/tensor-core-bits.cu): the classes have
// to be those that the host says, for each shape of net and whatever is read.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "core/TensorNet.h"
#include "remedies/regroup/Predictor.h"

#include "llvm/IR/IRBuilder.h"

#include <cmath>
#include <random>
#include <set>

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies::regroup {
namespace {

constexpr unsigned Threads = 64, Blocks = 2, Items = Threads * Blocks;

/// Inputs at in[i * inputs] and behind, the class to out[i].
constexpr const char *Text = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
define void @k(ptr %in, ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = mul i32 %b, 64
  %i = add i32 %first, %t
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{ptr @k, !"kernel", i32 1}
)";

class Nets {
public:
  explicit Nets(unsigned Seed) : Engine(Seed) {}
  float draw(float Most) {
    return Most * (float(int(Engine() % 2001) - 1000) / 1000);
  }
  PathNet net(size_t Inputs, size_t Hidden, size_t Classes, float Most) {
    PathNet N;
    for (size_t I = 0; I != Inputs; ++I)
      N.Inputs.push_back({uint32_t(I), "", draw(Most), draw(1), 0, 0});
    N.Classes.resize(Classes);
    const auto Fill = [&](PathNet::Layer &L, size_t From, size_t To) {
      for (size_t I = 0; I != From * To; ++I)
        L.Weights.push_back(draw(Most));
      for (size_t I = 0; I != To; ++I)
        L.Biases.push_back(draw(1));
    };
    Fill(N.Hidden, Inputs, Hidden);
    Fill(N.Output, Hidden, Classes);
    return N;
  }
  std::mt19937 Engine;
};

void addClasses(Module &M, const PathNet &N) {
  Function &F = *M.getFunction("k");
  IRBuilder<> B(F.getEntryBlock().getTerminator());
  Value *Item = B.CreateZExt(B.GetInsertPoint()->getPrevNode(), B.getInt64Ty());
  Value *First = B.CreateMul(Item, B.getInt64(N.Inputs.size()));
  SmallVector<Value *> Read;
  for (size_t I = 0; I != N.Inputs.size(); ++I)
    Read.push_back(B.CreateLoad(
        B.getFloatTy(), B.CreateGEP(B.getFloatTy(), F.getArg(0),
                                    B.CreateAdd(First, B.getInt64(I)))));
  Value *Class = classByTiles(N, B, [&](uint32_t Load) { return Read[Load]; });
  B.CreateStore(Class, B.CreateGEP(B.getInt32Ty(), F.getArg(1), Item));
}

/// How many different classes there were.
size_t compare(const PathNet &N, ArrayRef<float> In,
               const MachineOptions &Options) {
  LLVMContext Context;
  const std::unique_ptr<Module> M = parseKernel(Context, Text);
  addClasses(*M, N);
  TestProgram P(*M, machineFor(Options));
  std::vector<uint32_t> Out(Items, ~0u);
  P.run(shape(Blocks, Threads), In.data(), Out.data());
  const TensorNet Host(N);
  for (size_t I = 0; I != Items; ++I)
    EXPECT_EQ(Out[I],
              Host.classOf(In.slice(I * N.Inputs.size(), N.Inputs.size())))
        << "item " << I << " of " << N.Inputs.size() << "-"
        << N.Hidden.Biases.size() << "-" << N.Classes.size() << ", "
        << describe(Options);
  return std::set<uint32_t>(Out.begin(), Out.end()).size();
}

TEST(TensorNet, HasTheHostsClassesOnTheMachine) {
  Nets Drawn(1);
  const size_t Shapes[][3] = {{1, 8, 2},    {2, 32, 9}, {4, 32, 32},
                              {5, 16, 8},   {9, 32, 9}, {13, 24, 17},
                              {16, 64, 32}, {16, 8, 12}};
  size_t Seen = 0, Which = 0;
  const std::vector<MachineOptions> Setups =
      allSetups(); // a shape each, in turns
  for (const auto &[Inputs, Hidden, Classes] : Shapes) {
    // Also where z leaves its bounds.
    const PathNet N =
        Drawn.net(Inputs, Hidden, Classes, Which % 3 == 2 ? 40 : 1.5f);
    std::vector<float> In;
    for (size_t I = 0; I != Items * Inputs; ++I)
      In.push_back(Drawn.draw(Which % 3 == 1 ? 1000 : 3));
    In[Inputs * 3] = std::nanf("");
    In[Inputs * 40] = INFINITY;
    In[Inputs * 77] = -INFINITY;
    Seen += compare(N, In, Setups[Which++ % Setups.size()]);
  }
  EXPECT_GT(Seen, 30u) << "always the same class shows nothing";
}

TEST(TensorNet, SaysNearlyAlwaysWhatTheNetSays) {
  Nets Drawn(2);
  unsigned Same = 0, All = 0;
  for (unsigned Which = 0; Which != 20; ++Which) {
    PathNet N = Drawn.net(2 + Which % 8, 32, 9, 1);
    // What nearly equal inputs differ by decides: W has large, opposed weights.
    for (size_t U = 0; U != 32; ++U)
      N.Hidden.Weights[U * N.Inputs.size() + 1] =
          0.1f * Drawn.draw(1) - (N.Hidden.Weights[U * N.Inputs.size()] *= 300);
    N.Inputs[0].Scale = N.Inputs[1].Scale = 1;
    const TensorNet Tiles(N);
    for (unsigned Row = 0; Row != 100; ++Row) {
      std::vector<float> In;
      for (size_t I = 0; I != N.Inputs.size(); ++I)
        In.push_back(Drawn.draw(2));
      In[1] = In[0] + Drawn.draw(0.01f);
      Same += Tiles.classOf(In) == N.classOf(In);
      ++All;
    }
  }
  EXPECT_GT(Same, All * 97 / 100);
}

TEST(TensorNet, TakesAColumnThatSaysNothing) {
  Nets Drawn(3);
  PathNet N = Drawn.net(3, 8, 4, 1);
  for (size_t U = 0; U != 8; ++U) {
    N.Hidden.Weights[3 * U + 1] = 0;
    N.Hidden.Weights[3 * U + 2] = 2 * N.Hidden.Weights[3 * U];
  }
  const TensorNet Tiles(N);
  for (const auto &Row : Tiles.Mix)
    for (float X : Row)
      EXPECT_TRUE(std::isfinite(X));
  for (float X : {-2.0f, 0.1f, 3.0f})
    EXPECT_EQ(Tiles.classOf({X, 5, X}), Tiles.classOf({X, -7, X}));
}

} // namespace
} // namespace reconverge::remedies::regroup
