//===- warpvm/emit/EmitCheck.cpp - A test before each access --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With EmitOptions::Check every load, store, atomic and block copy is preceded
// by a call that tests the address of each active lane (Check.cpp) and does not
// return if one is wrong. The call may write memory and may not return, so that
// no pass moves an access before its test.
//
// Checked code differs from ordinary code in these calls alone: regions, frame
// and targets are the same. That is what lets a fault that the hardware caught
// be replayed: the region in which it happened is run again, checked, from the
// same frame (Block::replay).
//
// A lane's place in the source comes with each call as constant data. The
// variable that an address points into is known where the chain of casts and
// offsets above it ends at an alloca or a shared variable; a chain that meets a
// PHI or a select is left to the test of the whole space.
//
//===----------------------------------------------------------------------===//

#include "analysis/Places.h"
#include "warpvm/emit/Emitter.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"

using namespace llvm;

namespace reconverge::warpvm {

SmallVector<MemoryOperand, 2> memoryOperands(const Instruction &I,
                                             const DataLayout &DL) {
  auto SizeOf = [&](Type *T) { return DL.getTypeStoreSize(T).getFixedValue(); };
  if (auto *L = dyn_cast<LoadInst>(&I))
    return {{L->getPointerOperand(), AccessKind::Read, SizeOf(L->getType()),
             L->getAlign().value()}};
  if (auto *S = dyn_cast<StoreInst>(&I))
    return {{S->getPointerOperand(), AccessKind::Write,
             SizeOf(S->getValueOperand()->getType()), S->getAlign().value()}};
  if (auto *R = dyn_cast<AtomicRMWInst>(&I))
    return {{R->getPointerOperand(), AccessKind::Atomic, SizeOf(R->getType()),
             R->getAlign().value()}};
  if (auto *X = dyn_cast<AtomicCmpXchgInst>(&I))
    return {{X->getPointerOperand(), AccessKind::Atomic,
             SizeOf(X->getNewValOperand()->getType()), X->getAlign().value()}};
  if (auto *M = dyn_cast<MemIntrinsic>(&I)) {
    SmallVector<MemoryOperand, 2> Both{{M->getRawDest(), AccessKind::Write, 0,
                                        M->getDestAlign().valueOrOne().value(),
                                        M->getLength()}};
    if (auto *T = dyn_cast<MemTransferInst>(M))
      Both.push_back({T->getRawSource(), AccessKind::Read, 0,
                      T->getSourceAlign().valueOrOne().value(),
                      T->getLength()});
    return Both;
  }
  return {};
}

Constant *textConstant(StringRef Text, Module &Out) {
  Constant *Data = ConstantDataArray::getString(Out.getContext(), Text);
  return new GlobalVariable(Out, Data->getType(), true,
                            GlobalValue::PrivateLinkage, Data, "site.text");
}

KnownObject knownObject(const Value *Pointer, const KernelContext &C) {
  const Value *Object = getUnderlyingObject(Pointer);
  const DataLayout &DL = C.Kernel.M->getDataLayout();
  KnownObject Known;
  StringRef Name;
  if (auto *GV = dyn_cast<GlobalVariable>(Object)) {
    if (auto It = C.Kernel.Shared.Offsets.find(GV);
        It != C.Kernel.Shared.Offsets.end()) {
      Known.Space = ObjectSpace::Shared;
      Name = GV->getName();
      Known.Offset = It->second;
      // `extern __shared__ int Dynamic[]` is an array of none.
      Known.Size = DL.getTypeAllocSize(GV->getValueType());
    }
  } else if (auto *Local = dyn_cast<AllocaInst>(Object)) {
    if (auto Bytes = Local->getAllocationSize(DL);
        Bytes && C.Kernel.LocalOffsets.contains(Local)) {
      Known.Space = ObjectSpace::Local;
      Name = Local->getName();
      Known.Offset = C.Kernel.LocalOffsets.lookup(Local);
      Known.Size = Bytes->getFixedValue();
    }
  }
  // A variable in a function is known as "kernel()::name".
  std::string Shown = demangle(Name);
  if (size_t At = Shown.rfind("::"); At != std::string::npos)
    Shown.erase(0, At + 2);
  Known.Name = StringRef(Shown).split('.').first.str();
  return Known;
}

/// A constant FaultSite for \p I, which is called \p What if that is no access.
Constant *RegionEmitter::faultSite(const Instruction &I,
                                   const MemoryOperand *Touches, ReadUse Use,
                                   StringRef What) {
  const DILocation *DL = userLocation(I);
  KnownObject Known;
  Known.Name = What.str();
  if (Touches)
    Known = knownObject(Touches->Pointer, C);
  Constant *Fields[] = {
      textConstant(DL ? analysis::sourcePath(*DL) : "", Out),
      textConstant(Known.Name, Out), B.getInt64(Known.Offset),
      B.getInt64(Known.Size), B.getInt32(DL ? DL->getLine() : 0),
      B.getInt32(Touches ? Touches->Bytes : 0),
      // No hardware asks for more than its widest access.
      B.getInt32(Touches ? std::min<uint64_t>(Touches->Alignment, 16) : 1),
      B.getInt32(Touches ? uint32_t(Touches->Kind) : 0),
      B.getInt32(uint32_t(Known.Space)), B.getInt32(uint32_t(Use)),
      B.getInt32(askedBytes(I))};
  Constant *Site = ConstantStruct::getAnon(Fields);
  return new GlobalVariable(Out, Site->getType(), true,
                            GlobalValue::PrivateLinkage, Site, "site");
}

void RegionEmitter::emitChecks(Instruction &I) {
  const bool Folds = isa<LoadInst, StoreInst>(&I);
  for (MemoryOperand &A : memoryOperands(I, Out.getDataLayout())) {
    // Loads and stores alone may have an address that is computed here only.
    Value *At = Folds ? pointers(address(A.Pointer, A.Bytes)) : vec(A.Pointer);
    Value *Lengths =
        A.Length ? spill(B.CreateZExtOrTrunc(vec(A.Length), vectorOf(I64)))
                 : static_cast<Value *>(ConstantPointerNull::get(B.getPtrTy()));
    // The GPU does in pieces what is less aligned than it is large.
    if (A.Length)
      A.Alignment = 1;
    B.CreateCall(
        helper("rcvm_check", B.getVoidTy(), {PtrTy, I64, PtrTy, PtrTy, PtrTy}),
        {Ctx, B.CreateZExt(M, I64), spill(B.CreatePtrToInt(At, vectorOf(I64))),
         Lengths, faultSite(I, &A)});
  }
}

} // namespace reconverge::warpvm
