//===- warpvm/emit/Frame.h - Where values live between regions --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_EMIT_FRAME_H
#define RECONVERGE_WARPVM_EMIT_FRAME_H

#include "warpvm/emit/Regions.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace reconverge::warpvm {

/// Slots of the values that one region leaves for another. Divergent values
/// have WarpSize elements each in the warp's frame (i1: a bit a lane), uniform
/// ones eight bytes in the split's scalars.
struct FrameLayout {
  struct Slot {
    bool Uniform;
    llvm::SmallVector<uint32_t, 1> Offsets; ///< bytes, or index of a scalar
  };
  llvm::DenseMap<const llvm::Value *, Slot> Slots;
  /// Where a call leaves its arguments and finds its result; their parts as
  /// CallLayout has them.
  struct Call {
    uint32_t Arguments = 0, Result = 0, Target = 0; ///< bytes into the frame
  };
  llvm::DenseMap<const llvm::CallBase *, Call> Calls;
  /// Values read in a block other than the one that defines them.
  llvm::DenseSet<const llvm::Value *> LeavesBlock;
  uint32_t FrameBytes = 0, NumScalars = 0;
  /// By region: the scalars that lanes bring along which someone may yet read,
  /// ascending.
  std::vector<llvm::SmallVector<uint32_t, 4>> LiveScalars;

  /// What comes of a clock's reading, by way of registers. Where nobody may
  /// read it any more, it says nothing of what happens next.
  struct OfClock {
    uint32_t Offset, LaneBits;
    llvm::SmallVector<uint32_t> LiveIn; ///< regions, ascending
  };
  std::vector<OfClock> Clocks;

  FrameLayout(llvm::Function &F, const RegionPlanner &Plan,
              const analysis::UniformityResult &Uniform, unsigned WarpSize);

private:
  void findLive(const RegionPlanner &Plan, const llvm::DataLayout &DL);
};

/// Vectors one behind the other: what passes between a call and a function.
/// Both sides derive it from the types alone.
struct CallLayout {
  llvm::SmallVector<llvm::Type *, 8> Parts; ///< scalar leaves
  llvm::SmallVector<uint32_t, 8> Offsets;   ///< bytes
  llvm::SmallVector<unsigned, 8> First;     ///< of each value: its first part
  uint32_t Bytes = 0;

  CallLayout(llvm::ArrayRef<llvm::Type *> Values, const llvm::DataLayout &DL,
             unsigned WarpSize);
  static CallLayout arguments(const llvm::FunctionType &T,
                              const llvm::DataLayout &DL, unsigned WarpSize) {
    return CallLayout(T.params(), DL, WarpSize);
  }
  static CallLayout result(const llvm::FunctionType &T,
                           const llvm::DataLayout &DL, unsigned WarpSize) {
    if (T.getReturnType()->isVoidTy())
      return CallLayout({}, DL, WarpSize);
    return CallLayout(T.getReturnType(), DL, WarpSize);
  }
};

/// A reading of a clock.
bool readsClock(const llvm::Instruction &I);

/// Values that every region computes for itself instead of keeping them in the
/// frame: addresses of locals, thread indices, integer extensions.
bool isRecomputed(const llvm::Instruction &I);

/// An address that only loads and stores use: computed where they are.
bool isFolded(const llvm::Instruction &I);

/// The values whose lanes an access through \p Pointer needs at its own place:
/// an address computation is repeated there instead of being kept.
void forEachAddressOperand(const llvm::Value *Pointer,
                           llvm::function_ref<void(const llvm::Value *)> Visit);

/// Strips an extension to 64 bits that a gather does by itself, or returns \p
/// V.
const llvm::Value *stripIndexExtension(const llvm::Value *V);

} // namespace reconverge::warpvm

#endif
