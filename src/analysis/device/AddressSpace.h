//===- analysis/device/AddressSpace.h - Kinds of memory ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_DEVICE_ADDRESSSPACE_H
#define RECONVERGE_ANALYSIS_DEVICE_ADDRESSSPACE_H

namespace reconverge::analysis {

/// The address spaces of NVPTX, as pointers and variables in IR have them.
enum AddressSpace : unsigned {
  GenericSpace = 0, ///< any of the others
  GlobalSpace = 1,
  SharedSpace = 3, ///< of a thread block
  ConstantSpace = 4,
  LocalSpace = 5,         ///< of a thread
  ClusterSharedSpace = 7, ///< shared memory of a cluster's blocks
  ParameterSpace = 101    ///< of a kernel
};

} // namespace reconverge::analysis

#endif
