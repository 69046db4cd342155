//===- train/Train.h - Nets of rows of threads ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_TRAIN_TRAIN_H
#define RECONVERGE_TRAIN_TRAIN_H

#include "core/PathNet.h"
#include "core/ThreadRows.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace reconverge::train {

/// Rows below which nothing is trained.
inline constexpr size_t LeastRows = 64;

struct NetShape {
  size_t Hidden = 32; ///< units, a multiple of 8
  uint64_t Epochs = 150;
  uint64_t Seed = 1;
};

/// Whether this build can train: with dlib (RECONVERGE_TRAIN).
bool canTrain();

/// Which rows of \p All are to judge a net: of a quarter of its thread blocks,
/// drawn by \p Seed; a quarter of its rows if it has fewer than four.
std::vector<bool> drawHeldOut(const KernelRows &All, uint64_t Seed);

/// Trains a net on the rows of \p All that are not \p HeldOut, and judges it by
/// those that are. \p ClassOf: of each row, 0 for those that take longest. The
/// UserError names what is wrong with the rows: too few, a value that is no
/// number, a single class; or says that this build cannot train. Same rows, same
/// net, with the same library on one machine.
llvm::Expected<PathNet> trainNet(const KernelRows &All,
                                 llvm::ArrayRef<uint32_t> ClassOf,
                                 const std::vector<bool> &HeldOut,
                                 const NetShape &Shape = {});

/// What rows that \p N was not trained on say of it.
struct Judgement {
  uint64_t Rows = 0, Right = 0, OutOfRange = 0;
  uint64_t RightByTiles = 0; ///< as tensor cores compute it (core/TensorNet.h)
};
/// Of rows that were held out, as trainNet() was told.
Judgement judgeHeldOut(const PathNet &N, const KernelRows &All,
                       llvm::ArrayRef<uint32_t> ClassOf,
                       const std::vector<bool> &HeldOut);
/// Of another run of the same kernel: a row's class is the one whose time is
/// nearest to what it took, by ratio. The UserError: they are of another kernel.
llvm::Expected<Judgement> judge(const PathNet &N, const KernelRows &Rows);

} // namespace reconverge::train

#endif
