//===- core/OutputBuffers.h - Device memory as an output --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the driver asks a program for what device buffers hold in the end: by a
// file that the variable names, a line for each buffer,
//
//   <kernel, mangled> <argument, from 1> <file>
//
// The program leaves the bytes in <file>, or in <file>.why one line that says
// why there are none. Plain data, without LLVM: what stands in the program
// (runtime/outputs) has none.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_OUTPUTBUFFERS_H
#define RECONVERGE_CORE_OUTPUTBUFFERS_H

namespace reconverge {

inline constexpr char OutputsVariable[] = "RECONVERGE_OUTPUTS";
inline constexpr char WhyNoOutput[] = ".why";

} // namespace reconverge

#endif
