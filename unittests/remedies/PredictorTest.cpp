//===- unittests/remedies/PredictorTest.cpp - Nets and trees as code ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code for inputs that are constants is itself one, which LLVM computes as a
// device would: it has to be what the host says.
//
//===----------------------------------------------------------------------===//

#include "remedies/regroup/Predictor.h"

#include "analysis/AnalysisManagers.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace llvm;

namespace reconverge::remedies::regroup {
namespace {

/// What the code that \p Write writes returns.
uint64_t valueOf(function_ref<Value *(IRBuilderBase &)> Write) {
  LLVMContext Context;
  Module M("m", Context);
  Function &F =
      *Function::Create(FunctionType::get(Type::getInt32Ty(Context), false),
                        GlobalValue::ExternalLinkage, "f", M);
  IRBuilder<> B(BasicBlock::Create(Context, "entry", &F));
  B.CreateRet(Write(B));
  analysis::AnalysisManagers Analyses;
  EarlyCSEPass().run(F, Analyses.Functions);
  const auto *Now = dyn_cast<ConstantInt>(
      cast<ReturnInst>(F.getEntryBlock().getTerminator())->getReturnValue());
  EXPECT_NE(Now, nullptr) << "not folded";
  return Now ? Now->getZExtValue() : ~0ull;
}

Constant *constant(IRBuilderBase &B, float Value) {
  return ConstantFP::get(B.getContext(), APFloat(Value));
}

TEST(Predictor, NetsSayWhatTheHostSays) {
  std::mt19937 Random(1);
  const auto Draw = [&] { return float(int(Random() % 2001) - 1000) / 300; };
  std::set<uint32_t> Seen;
  for (unsigned Which = 0; Which != 60; ++Which) {
    PathNet N;
    for (unsigned I = 0; I != 1 + Which % 5; ++I)
      N.Inputs.push_back({10 + I, "", Draw(), Draw(), 0, 0});
    N.Classes.resize(2 + Which % 9);
    const auto Fill = [&](PathNet::Layer &L, size_t From, size_t To) {
      for (size_t I = 0; I != From * To; ++I)
        L.Weights.push_back(Draw());
      for (size_t I = 0; I != To; ++I)
        L.Biases.push_back(Draw());
    };
    Fill(N.Hidden, N.Inputs.size(), 8);
    Fill(N.Output, 8, N.Classes.size());
    for (unsigned Row = 0; Row != 8; ++Row) {
      std::vector<float> Values;
      for (size_t I = 0; I != N.Inputs.size(); ++I)
        Values.push_back(Row == 7 && I == 0 ? std::nanf("") : Draw());
      const uint32_t Host = N.classOf(Values);
      Seen.insert(Host);
      EXPECT_EQ(valueOf([&](IRBuilderBase &B) {
                  return classBy(N, B, [&](uint32_t Load) {
                    return constant(B, Values[Load - 10]);
                  });
                }),
                Host);
    }
  }
  EXPECT_GT(Seen.size(), 5u) << "always the same class shows nothing";
}

TEST(Predictor, TreesSayWhatTheHostSays) {
  const PathTree T =
      *parsePathTree("17:0.5/100/thread:64/3:-2.5/50/250/17:9/400/300");
  EXPECT_EQ(bitsOf(T), 3u);
  const float Values[] = {-3,   -2.5f, 0.5f, 0.75f,        9,
                          9.5f, 64,    65,   std::nanf("")};
  std::set<uint64_t> Seen;
  for (float A : Values)
    for (float B17 : Values)
      for (float Number : Values) {
        const uint32_t Leaf = T.leafOf([&](const PathTree::Node &N) {
          return N.Of == PathTree::Node::Thread ? Number
                 : N.Access == 17               ? B17
                                                : A;
        });
        const uint64_t Rank = valueOf([&](IRBuilderBase &B) {
          return rankBy(
              T, B,
              [&](uint32_t Load) { return constant(B, Load == 17 ? B17 : A); },
              constant(B, Number));
        });
        EXPECT_EQ(Rank, T.ranks()[Leaf]);
        Seen.insert(Rank);
      }
  EXPECT_EQ(Seen.size(), 5u);
}

} // namespace
} // namespace reconverge::remedies::regroup
