//===- instrument/ProbeVariables.cpp - A thread's counters ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   whole words     register, register, ...
//   narrow words    register: | byte | byte | byte | byte |
//                                |      |      |      |     taken over before
//                                v      v      v      v     they overflow
//   in memory       array:    [ word | word | word | word | word | ... ]
//   packed words    register: 32 bits, which run once:
//                             field 3    field 2    field 1    field 0
//                             76543210   76543210   76543210   76543210  word
//
//===----------------------------------------------------------------------===//

#include "instrument/ProbeVariables.h"

#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace reconverge::instrument {

static constexpr unsigned BytesOfRegister = ProbePlan::BytesOfRegister;

AllocaInst *ProbeVariables::make(Function &F, IRBuilder<> &B,
                                 const Twine &Name) {
  auto *A = new AllocaInst(B.getInt32Ty(), 0, Name, F.getEntryBlock().begin());
  B.CreateStore(B.getInt32(0), A);
  Registers.push_back(A);
  return A;
}

ProbeVariables::ProbeVariables(const ProbePlan &Plan, Function &F,
                               IRBuilder<> &B)
    : Plan(Plan) {
  for (unsigned W = 0; W != Plan.WholeWords; ++W)
    Whole.push_back(make(F, B, "rc.word"));
  for (unsigned R = 0; R != Plan.narrowRegisters(); ++R)
    Bytes.push_back(make(F, B, "rc.bytes"));
  for (unsigned W = 0; W < Plan.PackedWords; W += WordsOfBits)
    Bits.push_back(make(F, B, "rc.bits"));
  // Zeroed four at a time.
  if (unsigned Words = alignTo(Plan.wideWords() - Plan.WholeWords, 4)) {
    auto *Four = FixedVectorType::get(B.getInt32Ty(), 4);
    Memory = new AllocaInst(ArrayType::get(B.getInt32Ty(), Words), 0, nullptr,
                            Align(16), "rc.words", F.getEntryBlock().begin());
    for (unsigned W = 0; W != Words; W += 4)
      B.CreateAlignedStore(
          Constant::getNullValue(Four),
          B.CreateConstInBoundsGEP1_64(B.getInt32Ty(), Memory, W), Align(16));
  }
  Exits.resize(Plan.ExitCells);
  for (const WarpGroup &G : Plan.Groups)
    if (G.Exited == WarpGroup::Summed)
      Exits[G.ExitedCell] = make(F, B, "rc.exited");
  if (Plan.ExitCells)
    Gone = make(F, B, "rc.gone");
  for (const SplitProbe &S : Plan.Splits)
    Rounds.push_back(S.Around ? make(F, B, "rc.round") : nullptr);
  if (is_contained(Plan.FindsMask, true))
    Mask = make(F, B, "rc.mask");
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

Value *ProbeVariables::inMemory(IRBuilder<> &B, unsigned W) const {
  return B.CreateConstInBoundsGEP1_64(B.getInt32Ty(), Memory,
                                      W - Plan.WholeWords);
}

ProbeVariables::Bit ProbeVariables::bitOf(ProbeCounter C) const {
  const unsigned N = C.Word - Plan.wideWords();
  return {N / WordsOfBits, 1u << (8 * C.Field + N % WordsOfBits)};
}

void ProbeVariables::count(ProbeCounter C, Value *Condition) {
  const unsigned W = C.Word;
  if (Plan.isPacked(W)) {
    const Bit Its = bitOf(C);
    Pending[Bits[Its.Register]].push_back({Condition, Its.Mask});
  } else if (W < Plan.WholeWords) {
    Pending[Whole[W]].push_back({Condition, 1});
  } else if (Plan.isNarrow(W)) {
    const unsigned N = W - Plan.WholeWords;
    Pending[Bytes[N / BytesOfRegister]].push_back(
        {Condition, 1u << 8 * (N % BytesOfRegister)});
  } else {
    PendingInMemory[W] = Condition;
  }
}

void ProbeVariables::settle(IRBuilder<> &B) {
  for (auto &[Variable, Terms] : Pending) {
    uint32_t Always = 0;
    for (const Term &T : Terms)
      Always += T.Condition ? 0 : T.By;
    Value *Sum = B.CreateLoad(B.getInt32Ty(), Variable);
    for (const Term &T : Terms)
      if (T.Condition) {
        Sum = B.CreateAdd(Sum,
                          B.CreateSelect(T.Condition, B.getInt32(T.By + Always),
                                         B.getInt32(Always)));
        Always = 0;
      }
    B.CreateStore(Always ? B.CreateAdd(Sum, B.getInt32(Always)) : Sum,
                  Variable);
  }
  for (auto [W, Condition] : PendingInMemory) {
    Value *By =
        Condition ? B.CreateZExt(Condition, B.getInt32Ty()) : B.getInt32(1);
    // Volatile, or the code generator would make a register of it after all.
    Value *P = inMemory(B, W);
    B.CreateStore(B.CreateAdd(B.CreateLoad(B.getInt32Ty(), P, true), By), P,
                  true);
  }
  Pending.clear();
  PendingInMemory.clear();
}

Value *ProbeVariables::isHalfFull(IRBuilder<> &B, unsigned First,
                                  unsigned Last) const {
  Value *All = nullptr;
  for (unsigned R = First; R <= Last; ++R) {
    Value *Mine = B.CreateLoad(B.getInt32Ty(), Bytes[R]);
    All = All ? B.CreateOr(All, Mine) : Mine;
  }
  return B.CreateIsNotNull(B.CreateAnd(All, 0x80808080));
}

void ProbeVariables::takeOver(IRBuilder<> &B, unsigned R) const {
  Value *Mine = B.CreateLoad(B.getInt32Ty(), Bytes[R]);
  for (unsigned N = 0; N != BytesOfRegister; ++N) {
    const unsigned W = Plan.WholeWords + R * BytesOfRegister + N;
    if (!Plan.isNarrow(W))
      break;
    Value *P = inMemory(B, W);
    Value *Byte = B.CreateAnd(B.CreateLShr(Mine, 8 * N), 255);
    // One after the other: four at once are four registers in a row, and what
    // ptxas spills for them it stores where it counts.
    Value *Before = B.CreateLoad(B.getInt32Ty(), P, /*isVolatile=*/true);
    B.CreateStore(B.CreateAdd(Before, Byte), P, /*isVolatile=*/true);
  }
  B.CreateStore(B.getInt32(0), Bytes[R]);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Value *ProbeVariables::wordInMemory(IRBuilder<> &B, Value *Position) const {
  return B.CreateLoad(B.getInt32Ty(),
                      B.CreateInBoundsGEP(B.getInt32Ty(), Memory, Position),
                      /*isVolatile=*/true);
}

Value *ProbeVariables::wordOfBits(IRBuilder<> &B, unsigned R,
                                  Value *Position) const {
  return B.CreateAnd(
      B.CreateLShr(B.CreateLoad(B.getInt32Ty(), Bits[R]), Position),
      0x01010101);
}

Value *ProbeVariables::word(IRBuilder<> &B, unsigned W) const {
  if (W < Plan.WholeWords)
    return B.CreateLoad(B.getInt32Ty(), Whole[W]);
  if (Plan.isInMemory(W))
    return B.CreateLoad(B.getInt32Ty(), inMemory(B, W), /*isVolatile=*/true);
  const unsigned N = W - Plan.wideWords();
  return wordOfBits(B, N / WordsOfBits, B.getInt32(N % WordsOfBits));
}

Value *ProbeVariables::isAny(IRBuilder<> &B,
                             ArrayRef<ProbeCounter> Counters) const {
  std::vector<uint32_t> Asked(Bits.size());
  Value *Any = B.getInt32(0);
  for (ProbeCounter C : Counters)
    if (Plan.isPacked(C.Word))
      Asked[bitOf(C).Register] |= bitOf(C).Mask;
    else
      Any = B.CreateOr(Any, word(B, C.Word));
  for (auto [Register, Mask] : zip_equal(Bits, Asked))
    if (Mask)
      Any = B.CreateOr(
          Any, B.CreateAnd(B.CreateLoad(B.getInt32Ty(), Register), Mask));
  return B.CreateIsNotNull(Any);
}

void ProbeVariables::promote(Function &F) {
  DominatorTree Dominators(F);
  PromoteMemToReg(Registers, Dominators);
}

} // namespace reconverge::instrument
