//===- remedies/regroup/Predictor.cpp - Classes of threads, as code -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All questions of a tree are asked, and selects take the answer from its leaves
// to its root: at most 31 comparisons, and no branch that could part a warp. A
// net is written out, a fused multiplication and addition a weight, which is a
// constant: the same operations in the same order as on a host (core/PathNet.h).
//
// A class is below the number of classes whatever is read, NaN included, so that a
// wrong tree or net makes a slow order and nothing else.
//
//===----------------------------------------------------------------------===//

#include "remedies/regroup/Predictor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace reconverge::remedies::regroup {

unsigned bitsOf(const PathTree &T) { return Log2_32_Ceil(T.leaves()); }

Value *rankBy(const PathTree &T, IRBuilderBase &B,
              function_ref<Value *(uint32_t)> ReadOf, Value *Number) {
  const std::vector<uint32_t> Ranks = T.ranks();
  std::vector<Value *> Of(T.Nodes.size());
  // Subtrees come behind their root.
  for (size_t I = T.Nodes.size(); I-- != 0;) {
    const PathTree::Node &N = T.Nodes[I];
    if (N.Of == PathTree::Node::Leaf) {
      Of[I] = B.getInt32(Ranks[I]);
      continue;
    }
    Value *Asked = N.Of == PathTree::Node::Thread ? Number : ReadOf(N.Access);
    Value *IsLeft =
        B.CreateFCmpOLE(Asked, ConstantFP::get(B.getFloatTy(), N.Value));
    Of[I] = B.CreateSelect(IsLeft, Of[I + 1], Of[N.Right]);
  }
  return Of.front();
}

unsigned bitsOf(const PathNet &N) {
  return Log2_32_Ceil(uint32_t(N.Classes.size()));
}

static Value *floatOf(IRBuilderBase &B, float Value) {
  return ConstantFP::get(B.getFloatTy(), Value);
}

static Value *fused(IRBuilderBase &B, Value *X, float Factor, Value *Plus) {
  return B.CreateIntrinsic(Intrinsic::fma, {B.getFloatTy()},
                           {X, floatOf(B, Factor), Plus});
}

static SmallVector<Value *> outputsOf(IRBuilderBase &B, const PathNet::Layer &L,
                                      ArrayRef<Value *> Values) {
  SmallVector<Value *> All;
  for (size_t To = 0; To != L.Biases.size(); ++To) {
    Value *Sum = floatOf(B, L.Biases[To]);
    for (auto [From, Value] : enumerate(Values))
      Sum = fused(B, Value, L.Weights[To * Values.size() + From], Sum);
    All.push_back(Sum);
  }
  return All;
}

Value *classBy(const PathNet &N, IRBuilderBase &B,
               function_ref<Value *(uint32_t)> ReadOf) {
  SmallVector<Value *> X;
  for (const PathNet::Input &I : N.Inputs)
    X.push_back(fused(B, ReadOf(I.Load), I.Scale, floatOf(B, I.Shift)));
  SmallVector<Value *> H = outputsOf(B, N.Hidden, X);
  for (Value *&V : H)
    V = B.CreateSelect(B.CreateFCmpOGT(V, floatOf(B, 0)), V,
                       B.CreateFMul(V, floatOf(B, PathNet::Leak)));
  const SmallVector<Value *> O = outputsOf(B, N.Output, H);
  Value *Best = B.getInt32(0), *Most = O.front();
  for (uint32_t C = 1; C != O.size(); ++C) {
    Value *IsMore = B.CreateFCmpOGT(O[C], Most);
    Best = B.CreateSelect(IsMore, B.getInt32(C), Best);
    Most = B.CreateSelect(IsMore, O[C], Most);
  }
  return Best;
}

} // namespace reconverge::remedies::regroup
