//===- remedies/common/Items.h - Threads as items ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A remedy that hands threads out anew takes a thread as an item: a number that
// any lane of any block can be given. A kernel for that takes three steps, in
// this order:
//
//   planItems()      says whether nothing but numbers ties a thread to its place
//   addParameters()  makes room for what the host tells (HiddenParameters.h)
//   becomeItem()     has every read of a number follow from the item
//
// Launch bounds stay those of the blocks that the program launches; a remedy
// that launches others says so (analysis::setLaunchBound). A cluster that the
// host alone asks for cannot be seen here.
//
// The number of an item is that of the thread in the launch that the program
// made, blocks in order and threads in order within a block:
//
//   ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x)
//       * threads of a block
//   + (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REMEDIES_COMMON_ITEMS_H
#define RECONVERGE_REMEDIES_COMMON_ITEMS_H

#include "remedies/common/Refusal.h"

#include "llvm/ADT/SmallVector.h"

#include <array>

namespace llvm {
class CallBase;
class Function;
class IRBuilderBase;
class Instruction;
class Value;
} // namespace llvm

namespace reconverge::remedies {

/// A kernel whose threads may run in any lane of any block: all that it asks of
/// its place is which thread of the launch it is. Atomics, fences and volatile
/// accesses are no tie: that no thread needs what another leaves in memory is
/// proved by trial (the race check), not here.
struct ItemsPlan {
  /// Of threadIdx, blockIdx, blockDim and gridDim, in program order; all that
  /// there are.
  llvm::SmallVector<llvm::CallBase *> Reads;
  /// A thread may end by `exit`, in the kernel or in a function that it calls.
  /// So may an item, but whoever runs items one after the other has lost the
  /// lane.
  bool Exits = false;
};

/// Whether it is the same if the launch's grid and blocks have one dimension.
bool asksForOneDimension(const ItemsPlan &Plan);

struct BlockPrologue;

/// \p Behind: what whole blocks do before their threads become items
/// (BlockPrologue.h); no part of the plan but for what items make again.
PlanOr<ItemsPlan> planItems(llvm::Function &Kernel,
                            const BlockPrologue *Behind = nullptr);

/// The launch as the program made it, or another: i32 values, none of them 0.
struct LaunchValues {
  std::array<llvm::Value *, 3> Grid, Block;
};

/// In the order of gridDim.x, y, z, blockDim.x, y, z, parameters of \p Kernel
/// from number \p First on.
LaunchValues launchFromParameters(llvm::Function &Kernel, unsigned First);

/// Of the launch that runs, whatever the program made: reads that no plan has.
LaunchValues readLaunch(llvm::IRBuilderBase &B);
/// The item (i64) that the thread would be if it stayed where it runs.
llvm::Value *readItem(llvm::IRBuilderBase &B);

/// Has the kernel be thread number \p Item (i64) of launch \p Of, of which it
/// is one, and of fewer than 2^64. Code is put at \p B, which Item and Of
/// dominate, and which dominates all reads; it stands behind the block's static
/// allocas, for the block may be split there. \p B then stands behind the new
/// code. The reads are erased. Blocks want numbers anew afterwards.
void becomeItem(const ItemsPlan &Plan, llvm::Value *Item,
                const LaunchValues &Of, llvm::IRBuilderBase &B);

/// The same of thread number \p Thread (i32) of block number \p Block (i64, or
/// i32 in grids below 2^32), which may be null where the plan has no read that
/// asks for them.
void becomeThread(const ItemsPlan &Plan, llvm::Value *Block,
                  llvm::Value *Thread, const LaunchValues &Of,
                  llvm::IRBuilderBase &B);

/// Where a kernel finds out who runs: the end of the entry, in front of all of
/// its code, but behind what takes its frame. Where the entry leads, the code
/// begins.
llvm::Instruction *splitEntry(llvm::Function &Kernel);

/// A kernel whose blocks may run in each other's places, whole: the weaker
/// plan, which barriers, shared memory and warps leave legal. It is launched
/// with blocks of the same shape and as much dynamic shared memory, in a grid
/// of any shape.
struct BlocksPlan {
  /// Of blockIdx and gridDim, in program order; all that there are.
  llvm::SmallVector<llvm::CallBase *> Reads;
  /// A thread may end by `exit`.
  bool Exits = false;
};

PlanOr<BlocksPlan> planBlocks(llvm::Function &Kernel);

/// The number of the block that runs (i64), in the launch that runs:
/// (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x.
llvm::Value *readBlock(llvm::IRBuilderBase &B);

/// Has the kernel be block number \p Block (as above) of launch \p Of, of which only
/// the grid counts. All else is as with becomeItem(); the number has to be the
/// same for all threads of the block that runs.
void becomeBlock(const BlocksPlan &Plan, llvm::Value *Block,
                 const LaunchValues &Of, llvm::IRBuilderBase &B);

} // namespace reconverge::remedies

#endif
