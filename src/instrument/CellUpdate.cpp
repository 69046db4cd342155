//===- instrument/CellUpdate.cpp - Counters in memory ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An atomic operation whose result no one reads is `red` in PTX, and LLVM's
// code generator makes `atom` of it. The machine code is the same but for one
// thing: where a kernel calls functions (a division is enough), ptxas puts a
// YIELD into each loop, and at the top of each function, that has an `atom`.
// The loop may be waiting for a lock, so other lanes of the warp should have
// their turn.
//
// At a YIELD all lanes that wait at that place go on together. They may come
// from other iterations, and in a function from other calls:
//
//   if (x)              lanes 0-15 ---> YIELD \   all 32 together: who asks
//     probe(0);                                >  activemask for lanes of its
//   else                lanes 16-31 --> YIELD /   own side is told of both
//     probe(1);
//
// With `atom`, an H200 counted requests of one access for another, and kernels
// had more lanes than threads: their sums over the lanes of a warp had lanes of
// two sums. With `red` there is no YIELD that the code without probes lacks.
//
//===----------------------------------------------------------------------===//

#include "instrument/CellUpdate.h"

#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace reconverge::instrument {

void emitUpdate(IRBuilder<> &B, CellUpdate Update, Value *Pointer, Value *X,
                bool Portable) {
  const bool Adds = Update == CellUpdate::Add;
  if (Portable) {
    B.CreateAtomicRMW(Adds ? AtomicRMWInst::Add : AtomicRMWInst::UMax, Pointer,
                      X, Align(Adds ? 8 : 4), AtomicOrdering::Monotonic);
    return;
  }
  auto *Type = FunctionType::get(B.getVoidTy(),
                                 {Pointer->getType(), X->getType()}, false);
  auto *Asm = Adds ? InlineAsm::get(Type, "red.global.add.u64 [$0], $1;", "l,l",
                                    /*hasSideEffects=*/true)
                   : InlineAsm::get(Type, "red.global.max.u32 [$0], $1;", "l,r",
                                    /*hasSideEffects=*/true);
  B.CreateCall(Asm, {Pointer, X})->addFnAttr(Attribute::NoUnwind);
}

} // namespace reconverge::instrument
