//===- warpvm/emit/EmitNotes.cpp - Calls that tell what is wrong ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With EmitOptions::Init each load, store, atomic and block copy is told to
// run/NoteCalls.cpp before it is made, with what becomes of what is read:
//
//   Value    it is used: all of its bytes that somebody asks for must have been
//            written, and not the padding of a class that is loaded as a word
//   Copy     it is stored again and nothing else: of a class with padding some
//            bytes need not have been written
//   Unknown  no part of the program asked for it: bits are put into a word and
//            the word is stored back (bit fields), or the load has no line,
//            because the optimiser has moved it to where it may not be needed
//
// An exchange whose old value nobody takes is a store. Where the lifetime of a
// local variable begins, what was written to it before is forgotten: a variable
// of a loop's body is another one in each round.
//
// With EmitOptions::Sync each collective with a mask is told likewise.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Emitter.h"
#include "warpvm/prepare/AccessNumbers.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::warpvm {

/// Uses that a value may pass through.
static constexpr unsigned MostSteps = 64;

/// Whether \p V goes into memory as it is, and nowhere else.
static bool isOnlyStored(const Value &V) {
  SmallVector<const Value *> Queue{&V};
  SmallPtrSet<const Value *, 16> Seen{&V};
  while (!Queue.empty()) {
    const Value *Next = Queue.pop_back_val();
    for (const Use &U : Next->uses()) {
      const User *By = U.getUser();
      if (auto *S = dyn_cast<StoreInst>(By)) {
        if (U.getOperandNo() != S->getPointerOperandIndex())
          continue;
        return false;
      }
      if (!isa<ExtractElementInst, InsertElementInst, ExtractValueInst,
               InsertValueInst, ShuffleVectorInst, BitCastInst, FreezeInst,
               PHINode>(By))
        return false;
      if (Seen.insert(By).second)
        Queue.push_back(By);
      if (Seen.size() > MostSteps)
        return false;
    }
  }
  return !V.use_empty();
}

/// Whether \p V is only a word that goes back to \p Pointer with other bits in
/// it.
static bool isOnlyMerged(const Value &V, const Value *Pointer,
                         unsigned Depth = 4) {
  if (V.use_empty() || !Depth)
    return false;
  return all_of(V.users(), [&](const User *By) {
    if (auto *S = dyn_cast<StoreInst>(By))
      return Depth < 4 && S->getValueOperand() == &V &&
             S->getPointerOperand() == Pointer;
    auto *Op = dyn_cast<BinaryOperator>(By);
    return Op &&
           is_contained({Instruction::And, Instruction::Or, Instruction::Xor},
                        Op->getOpcode()) &&
           isOnlyMerged(*Op, Pointer, Depth - 1);
  });
}

ReadUse useOf(const Instruction &I) {
  const DILocation *Line = userLocation(I);
  if (!Line || !Line->getLine())
    return ReadUse::Unknown;
  auto *L = dyn_cast<LoadInst>(&I);
  if (!L)
    return ReadUse::Value;
  if (isOnlyMerged(*L, L->getPointerOperand()))
    return ReadUse::Unknown;
  return isOnlyStored(*L) ? ReadUse::Copy : ReadUse::Value;
}

/// The bytes of \p Mask, of bits, in a mask of bytes.
static uint32_t bytesOf(const APInt &Mask) {
  uint32_t Bytes = 0;
  for (unsigned At = 0; At < Mask.getBitWidth(); At += 8)
    if (!Mask.extractBits(std::min(8u, Mask.getBitWidth() - At), At).isZero())
      Bytes |= 1u << At / 8;
  return Bytes;
}

/// Of what \p I loads, the bytes that somebody asks for; all, if it is no load.
/// A class with padding is often loaded as one word; and what our pipeline loads
/// with its neighbour may not be asked for in the end.
uint32_t RegionEmitter::askedBytes(const Instruction &I) const {
  auto *Load = dyn_cast<LoadInst>(&I);
  if (!C.Asked || !Load)
    return ~0u;
  const uint32_t All = ~restoredBytes(*Load);
  auto Of = [&](const Instruction &Value) {
    return bytesOf(
        C.Asked->Of.getDemandedBits(const_cast<Instruction *>(&Value)));
  };
  if (I.getType()->isIntegerTy())
    return Of(I) & All;
  auto *Several = dyn_cast<FixedVectorType>(I.getType());
  const unsigned Bits = I.getType()->getScalarSizeInBits();
  if (!Several || !Several->getElementType()->isIntegerTy() || Bits % 8)
    return All;
  uint32_t Asked = 0;
  for (const User *By : I.users()) {
    auto *One = dyn_cast<ExtractElementInst>(By);
    auto *Index = One ? dyn_cast<ConstantInt>(One->getIndexOperand()) : nullptr;
    if (!Index || Index->getZExtValue() >= Several->getNumElements())
      return All;
    Asked |= Of(*One) << Index->getZExtValue() * (Bits / 8);
  }
  return Asked & All;
}

/// Whether \p I puts a value where another was, which nobody asks for.
static bool isUnaskedExchange(const Instruction &I) {
  auto *R = dyn_cast<AtomicRMWInst>(&I);
  return R && R->getOperation() == AtomicRMWInst::Xchg && R->use_empty();
}

/// How the source calls it.
static StringRef nameOf(const IntrinsicInst &I) {
  StringRef Name = I.getCalledFunction()->getName();
  Name.consume_front("llvm.nvvm.");
  for (auto [Prefix, Called] :
       {std::pair<StringRef, StringRef>("bar.warp.sync", "__syncwarp()"),
        {"shfl.sync.up", "__shfl_up_sync()"},
        {"shfl.sync.down", "__shfl_down_sync()"},
        {"shfl.sync.bfly", "__shfl_xor_sync()"},
        {"shfl.sync", "__shfl_sync()"},
        {"vote.ballot", "__ballot_sync()"},
        {"vote.all", "__all_sync()"},
        {"vote.any", "__any_sync()"},
        {"vote.uni", "vote.uni.sync"},
        {"match.any", "__match_any_sync()"},
        {"match.all", "__match_all_sync()"},
        {"redux", "__reduce_sync()"}})
    if (Name.starts_with(Prefix))
      return Called;
  return "a collective";
}

void RegionEmitter::emitBirth(const LifetimeIntrinsic &I) {
  Value *At = I.getArgOperand(1);
  auto *Local = dyn_cast<AllocaInst>(At->stripPointerCasts());
  const auto Bytes = Local ? Local->getAllocationSize(Out.getDataLayout())
                           : std::optional<TypeSize>();
  if (!Bytes)
    return;
  B.CreateCall(helper("rcvm_born", B.getVoidTy(), {PtrTy, I64, PtrTy, I64}),
               {Ctx, B.CreateZExt(M, I64),
                spill(B.CreatePtrToInt(vec(Local), vectorOf(I64))),
                B.getInt64(Bytes->getFixedValue())});
}

void RegionEmitter::emitWrites(Instruction &I) {
  Value *Lanes = B.CreateZExt(M, I64);
  auto AddressesOf = [&](Value *At) {
    return spill(B.CreatePtrToInt(At, vectorOf(I64)));
  };
  auto LengthsOf = [&](const Value *Length) {
    return spill(B.CreateZExtOrTrunc(vec(Length), vectorOf(I64)));
  };
  if (auto *Copy = dyn_cast<MemTransferInst>(&I)) {
    B.CreateCall(helper("rcvm_copy", B.getVoidTy(),
                        {PtrTy, I64, PtrTy, PtrTy, PtrTy, PtrTy}),
                 {Ctx, Lanes, AddressesOf(vec(Copy->getRawDest())),
                  AddressesOf(vec(Copy->getRawSource())),
                  LengthsOf(Copy->getLength()), faultSite(I)});
    return;
  }
  if (auto *Begin = dyn_cast<LifetimeIntrinsic>(&I)) {
    if (Begin->getIntrinsicID() == Intrinsic::lifetime_start)
      emitBirth(*Begin);
    return;
  }
  const bool Folds = isa<LoadInst, StoreInst>(&I);
  for (MemoryOperand &A : memoryOperands(I, Out.getDataLayout())) {
    if (isUnaskedExchange(I))
      A.Kind = AccessKind::Write;
    // Loads and stores alone may have an address that is computed here only.
    Value *At = Folds ? pointers(address(A.Pointer, A.Bytes)) : vec(A.Pointer);
    Value *Lengths =
        A.Length ? LengthsOf(A.Length)
                 : static_cast<Value *>(ConstantPointerNull::get(B.getPtrTy()));
    B.CreateCall(
        helper("rcvm_touch", B.getVoidTy(), {PtrTy, I64, PtrTy, PtrTy, PtrTy}),
        {Ctx, Lanes, AddressesOf(At), Lengths, faultSite(I, &A, useOf(I))});
  }
}

void RegionEmitter::emitAgreement(IntrinsicInst &I) {
  B.CreateCall(helper("rcvm_agree", B.getVoidTy(), {PtrTy, I64, PtrTy, PtrTy}),
               {Ctx, B.CreateZExt(M, I64), spill(vec(membersOf(I))),
                faultSite(I, nullptr, ReadUse::Value, nameOf(I))});
}

} // namespace reconverge::warpvm
