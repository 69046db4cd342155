//===- examples/common/check.h - No CUDA call fails in silence --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CHECK_CUDA(call) runs a CUDA runtime call; if it fails, it prints file, line,
// the call as written, the error's name and its text, and ends the program
// with status 1. CHECK_LAUNCH() does the same for the launch just before it.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_EXAMPLES_CHECK_H
#define RECONVERGE_EXAMPLES_CHECK_H

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

inline void checkCuda(cudaError_t Status, const char *Call, const char *File,
                      int Line) {
  if (Status == cudaSuccess)
    return;
  std::fprintf(stderr, "%s:%d: %s: %s (%s)\n", File, Line, Call,
               cudaGetErrorName(Status), cudaGetErrorString(Status));
  std::exit(1);
}

#define CHECK_CUDA(...)                                                        \
  checkCuda((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK_LAUNCH()                                                         \
  checkCuda(cudaGetLastError(), "kernel launch", __FILE__, __LINE__)

#endif
