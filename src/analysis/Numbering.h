//===- analysis/Numbering.h - Block and branch numbers ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks and branches get module-wide numbers, carried as metadata on the
// block's terminator (!rc.block, !rc.branch), and accesses to memory get some
// on the instruction (!rc.access), so that they survive inlining, splitting and
// every transform: two inlined copies of a device function share their numbers
// and their counts add up.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_ANALYSIS_NUMBERING_H
#define RECONVERGE_ANALYSIS_NUMBERING_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/PassManager.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
class Module;
} // namespace llvm

namespace reconverge::analysis {

/// The metadata that says a block's number and its n(b).
inline constexpr llvm::StringLiteral BlockKind = "rc.block";
inline constexpr llvm::StringLiteral CountKind = "rc.count";
/// ... and that of an access to memory.
inline constexpr llvm::StringLiteral AccessNumberKind = "rc.access";

/// Numbers every block, every conditional branch and switch, and every access
/// that accessOf (analysis/Accesses.h) knows, of every function with a body, in
/// program order, replacing numbers that are there.
/// Also hangs !rc.count (an i32: the block's n(b)) on each terminator, so that
/// the count of the IR as compiled survives the VM's own preparation.
void numberBlocks(llvm::Module &M);

/// After a transform: blocks and accesses get new numbers, in program order;
/// branches keep their numbers, and new ones get those that come next. Of
/// branches with the same number the first keeps it: their blocks are counted
/// apart from now on.
void renumberBlocks(llvm::Module &M);

std::optional<uint32_t> blockNumber(const llvm::BasicBlock &BB);
std::optional<uint32_t> branchNumber(const llvm::BasicBlock &BB);
std::optional<uint32_t> accessNumber(const llvm::Instruction &I);
/// n(b) as it was when the block was numbered.
std::optional<uint32_t> countedInstructions(const llvm::BasicBlock &BB);

/// \p Kernel and every function with a body that it can call, the kernel first,
/// then in module order. A call through a pointer can call any function whose
/// address is taken.
std::vector<const llvm::Function *> functionsOf(const llvm::Function &Kernel);

/// The numbers that a run of \p Kernel can meet: the kernel's own in program
/// order, then those of the functions it can call, in module order. Positions
/// in these lists are what KernelInfo and LaunchCounts index.
struct KernelNumbers {
  std::vector<uint32_t> Blocks, Branches, Accesses;
};
KernelNumbers numbersOf(const llvm::Function &Kernel);

} // namespace reconverge::analysis

#endif
