//===- launch/Archive.h - What a program built by a recipe calls -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The static archive libReconvergeLaunch.a, for programs in which a kernel has
// a remedy that changes its launch. Its only needs are the CUDA runtime and the
// C++ runtime. frontend/RemediedLaunches.cpp writes the calls.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_LAUNCH_ARCHIVE_H
#define RECONVERGE_LAUNCH_ARCHIVE_H

#include <cstddef>
#include <cstdint>

extern "C" {

/// A recipe in a program, as constant data but for the last member.
struct reconverge_recipe {
  const char *Text;               ///< launch/RecipeText.h
  const void *Original;           ///< what launches the kernel as it was
  const void *const *StepHandles; ///< what launches each step's kernel
  void *Parsed;                   ///< null until the first launch
};

/// What stands for cudaLaunchKernel. Sizes are {x, y, z}; \p OwnStream: where
/// \p Stream is null, it is the thread's own and not the legacy one. Returns a
/// cudaError_t and, in \p IsOriginal, whether nothing was done: the caller then
/// launches the kernel as it was.
int reconverge_launch(reconverge_recipe *Recipe, const uint32_t *Grid,
                      const uint32_t *Block, void **Args, size_t Shared,
                      void *Stream, int OwnStream, int *IsOriginal);
}

#endif
