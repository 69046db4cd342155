//===- frontend/HostConstants.h - Constants of host code --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How plugin/Nvcc.cpp, which is in clang, tells the device pipeline of
// constants that the source does not give to the device: by a section that is
// named so.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_FRONTEND_HOSTCONSTANTS_H
#define RECONVERGE_FRONTEND_HOSTCONSTANTS_H

namespace reconverge::frontend {

inline constexpr char HostConstantSection[] = "reconverge.host";

} // namespace reconverge::frontend

#endif
