//===- remedies/regroup/Predictor.h - Classes of threads, as code *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REGROUP_PREDICTOR_H
#define RECONVERGE_REMEDIES_REGROUP_PREDICTOR_H

#include "core/PathNet.h"
#include "core/PathTree.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace reconverge::remedies::regroup {

/// Bits that the classes of \p T take.
unsigned bitsOf(const PathTree &T);

unsigned bitsOf(const PathNet &N);

/// The class of a thread, below N.Classes.size(): u32, the same as N.classOf().
llvm::Value *classBy(const PathNet &N, llvm::IRBuilderBase &B,
                     llvm::function_ref<llvm::Value *(uint32_t Load)> ReadOf);

/// The same by tensor cores, as TensorNet(N).classOf(): for code that all lanes of a
/// warp come to.
llvm::Value *
classByTiles(const PathNet &N, llvm::IRBuilderBase &B,
             llvm::function_ref<llvm::Value *(uint32_t Load)> ReadOf);

/// Whether \p V is where that code has its weights, of which it reads no others.
bool isNetTable(const llvm::Value &V);

/// The rank of the leaf of a thread, below T.leaves(): u32. \p ReadOf has what
/// the load of that number read, \p Number the thread's, both float.
llvm::Value *rankBy(const PathTree &T, llvm::IRBuilderBase &B,
                    llvm::function_ref<llvm::Value *(uint32_t Load)> ReadOf,
                    llvm::Value *Number);

} // namespace reconverge::remedies::regroup

#endif
