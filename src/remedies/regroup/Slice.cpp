//===- remedies/regroup/Slice.cpp - What threads will do ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exact slice of a kernel (common/Slice.h): what its ways at some branches
// depend on, and where the gather reads, or what loads read from which is
// estimated how long a thread takes. What is noted, in bits of the key:
//
//   if, switch       the side
//   ... in a loop    how often it is not the first side
//   exit of a loop   rounds, of all its executions: from SCEV where that knows
//                    their number, else counted
//
// Numbers become 6 bits, 63 less a coarse logarithm, so that the longest come
// first: below 4 exact, then four steps for each power of two.
//
//===----------------------------------------------------------------------===//

#include "remedies/regroup/Slice.h"

#include "analysis/device/AddressSpace.h"
#include "remedies/common/Features.h"
#include "remedies/common/HiddenParameters.h"
#include "remedies/common/Items.h"
#include "remedies/common/Notes.h"
#include "remedies/common/Slice.h"
#include "remedies/regroup/Points.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace reconverge::remedies::regroup {

/// Writes notes, in front of the return of \p End.
static void write(Function &F, unsigned First, BasicBlock &End,
                  const Points &Noted) {
  IRBuilder<> B(End.getTerminator());
  Type *I32 = B.getInt32Ty();
  auto Global = [&](unsigned I) {
    return B.CreateAddrSpaceCast(
        F.getArg(First + I),
        PointerType::get(B.getContext(), analysis::GlobalSpace));
  };
  Value *Item = readItem(B), *Class = Noted.classOf(B, Item);
  B.CreateStore(Class, B.CreateGEP(I32, Global(0), Item));
  if (!Noted.hasPlace())
    return;
  Value *Line = Noted.lineOf(B, Item);
  B.CreateStore(Line, B.CreateGEP(I32, Global(1), Item));
  // One warp in 16 says what the range is: that is near enough, and the range
  // is a few words, which all would ask for at once.
  Instruction *Asked = SplitBlockAndInsertIfThen(
      B.CreateICmpEQ(B.CreateAnd(Item, 15 << 5), B.getInt64(0)),
      B.GetInsertPoint(), /*Unreachable=*/false);
  B.SetInsertPoint(Asked);
  Value *Range = B.CreateGEP(
      I32, Global(2), B.CreateShl(B.CreateZExt(Class, B.getInt64Ty()), 1));
  Value *Reads = B.CreateICmpNE(Line, B.getInt32(0));
  raise(B, Range, B.CreateSelect(Reads, B.CreateNot(Line), B.getInt32(0)));
  raise(B, B.CreateGEP(I32, Range, B.getInt64(1)),
        B.CreateSelect(Reads, Line, B.getInt32(1)));
}

PlanOr<KeyKernel> makeKeyKernel(Function &Kernel, const Twine &Name,
                                const Key &Of) {
  ValueToValueMapTy Map;
  Function &Whole = Of.hasFeatures() ? withFeatures(Kernel) : Kernel;
  Function &Copy = copyToReduce(Whole, Name, Map);
  const unsigned OfProgram = unsigned(Kernel.arg_size());
  Type *Pointer = PointerType::getUnqual(Kernel.getContext());
  Function &F = addParameters(Copy, {Pointer, Pointer, Pointer},
                              {"classes", "lines", "range"});
  Points Noted(F, Of, /*Marked=*/&Whole != &Kernel);
  if (std::optional<Refusal> Why = reduceTo(
          F, Kernel, [&] { return Noted.note(); },
          [&] { return Noted.lastNeeded(); },
          [&](BasicBlock &End) { write(F, OfProgram, End, Noted); }))
    return *Why;
  return KeyKernel{&F, Noted.classBits()};
}

} // namespace reconverge::remedies::regroup
