//===- core/TripCount.h - Iterations of a loop over the grid ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_TRIPCOUNT_H
#define RECONVERGE_CORE_TRIPCOUNT_H

#include <cstdint>
#include <vector>

namespace reconverge {

/// A number from a launch's arguments, like how many iterations all of its
/// threads do together: what `width * height` is made of, operands first. A
/// value has Bits bits, and those above are 0.
struct TripCount {
  enum Kind : uint32_t {
    Constant,  ///< Value
    Argument,  ///< an integer at byte Value of argument number Number
    Dimension, ///< number Number of the launch: 0 to 2 grid, 3 to 5 block
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    Shl,
    LShr,
    AShr,
    UMin,
    UMax,
    SMin,
    SMax,
    Trunc, ///< from Number bits, as the two below
    ZExt,
    SExt
  };
  struct Term {
    Kind What = Constant;
    uint32_t Bits = 32; ///< of the result: 8, 16, 32 or 64
    uint32_t Number = 0;
    uint64_t Value = 0;
    bool operator==(const Term &) const = default;
  };
  std::vector<Term> Terms;
  bool operator==(const TripCount &) const = default;
};

} // namespace reconverge

#endif
