//===- core/OrderFile.h - Files of thread orders ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which the threads of a launch, or its thread blocks, are to run:
// unsigned numbers of 32 bits, little-endian, nothing else. Number I says which
// thread of the program's launch takes place I, both in linear order: blocks
// one after the other, x fastest. Each occurs once.
//
// In a folder there is one for each kernel and size of launch.
//
// Programs have this, too: no LLVM.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_ORDERFILE_H
#define RECONVERGE_CORE_ORDERFILE_H

#include <cstdint>
#include <string>

namespace reconverge {

/// The folder of orders by which a program that was built with
/// --permute=order=given runs.
inline constexpr char OrdersVariable[] = "RECONVERGE_ORDERS";

/// The name of the file for launches of \p Kernel, as device code has it, of so
/// many threads, or of so many blocks where blocks change places.
inline std::string orderFileName(const std::string &Kernel, uint64_t Units) {
  return Kernel + "." + std::to_string(Units) + ".order";
}

} // namespace reconverge

#endif
