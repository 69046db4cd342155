//===- reconverge/version.cuh - Which release this is -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_VERSION_CUH
#define RECONVERGE_VERSION_CUH

#define RECONVERGE_VERSION_MAJOR 0
#define RECONVERGE_VERSION_MINOR 1
#define RECONVERGE_VERSION_PATCH 0

/// One number to compare: 1002003 is 1.2.3.
#define RECONVERGE_VERSION                                                     \
  (RECONVERGE_VERSION_MAJOR * 1000000 + RECONVERGE_VERSION_MINOR * 1000 +      \
   RECONVERGE_VERSION_PATCH)

#endif
