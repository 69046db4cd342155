//===- remedies/regroup/Predictor.cpp - Classes of threads, as code -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All questions of a tree are asked, and selects take the answer from its leaves
// to its root: at most 31 comparisons, and no branch that could part a warp. A
// class is below the number of classes whatever is read, so that a wrong tree
// makes a slow order and nothing else.
//
//===----------------------------------------------------------------------===//

#include "remedies/regroup/Predictor.h"

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

} // namespace reconverge::remedies::regroup
