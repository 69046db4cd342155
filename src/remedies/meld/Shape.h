//===- remedies/meld/Shape.h - Regions of the same shape -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_MELD_SHAPE_H
#define RECONVERGE_REMEDIES_MELD_SHAPE_H

#include "remedies/meld/Structure.h"

#include <array>

namespace reconverge::remedies::meld {

/// Regions of more nodes are not compared.
inline constexpr unsigned MaxNodes = 256;

struct NodePair {
  std::array<unsigned, 2> Number; ///< by side
  bool Swapped; ///< successor 0 goes with the other side's successor 1
};
using Shape = std::vector<NodePair>;

/// All nodes of \p A, in order, each with the node of \p B that lies at the
/// same place. Empty if the two are not isomorphic.
Shape sameShape(const Region &A, const Region &B);

} // namespace reconverge::remedies::meld

#endif
