//===- analysis/Marks.h - Features that the source names --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// reconverge::feature(x) in a kernel says that x foretells what the thread does
// (include/reconverge/device/feature.cuh). The kernel itself has nothing of it. A
// copy beside it, its twin, has the marks, which are calls of
//
//   reconverge.feature(i32 number, float x)
//
// and is there for whoever needs to know x before the kernel runs; nobody launches
// it.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_ANALYSIS_MARKS_H
#define RECONVERGE_ANALYSIS_MARKS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace llvm {
class Function;
class Instruction;
class Module;
class Value;
} // namespace llvm

namespace reconverge::analysis {

inline constexpr llvm::StringLiteral MarkName = "reconverge.feature";
/// The attribute of a kernel, and of its copies, that has the name of its twin;
/// and that of the twin.
inline constexpr llvm::StringLiteral TwinAttribute = "reconverge-twin",
                                     IsTwinAttribute = "reconverge-is-twin";

/// Of a mark, its number; and what it says.
std::optional<uint32_t> markNumber(const llvm::Instruction &I);
llvm::Value &markedValue(const llvm::Instruction &Mark);

/// The twin of \p Kernel, which has the same parameters; null: there is none.
llvm::Function *twinOf(const llvm::Function &Kernel);
bool isTwin(const llvm::Function &F);
/// Takes them away: there is no code for a GPU to be made of them.
void eraseTwins(llvm::Module &M);

} // namespace reconverge::analysis

#endif
