//===- core/RegisterUse.h - Registers of a kernel ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_REGISTERUSE_H
#define RECONVERGE_CORE_REGISTERUSE_H

namespace reconverge {

/// Of a thread of a kernel, as ptxas says.
struct RegisterUse {
  RegisterUse(unsigned Registers = 0, bool Spills = false)
      : Registers(Registers), Spills(Spills) {}
  operator unsigned() const { return Registers; }

  unsigned Registers;
  bool Spills; ///< values wait in local memory, for want of registers
};

} // namespace reconverge

#endif
