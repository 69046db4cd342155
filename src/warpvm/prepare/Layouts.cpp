//===- warpvm/prepare/Layouts.cpp - Where a kernel has what ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Questions about a kernel as it was loaded: where its parameters and shared
// variables lie, which of its parameters it may follow to memory, which variables of its module it can reach, which line of the
// source an instruction is from. The answers are the same before and after
// preparation.
//
//===----------------------------------------------------------------------===//

#include "analysis/Numbering.h"
#include "analysis/Places.h"
#include "analysis/PtxFunctions.h"
#include "analysis/device/AddressSpace.h"
#include "warpvm/prepare/Prepare.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace reconverge::warpvm {

const DILocation *userLocation(const Instruction &I) {
  const DILocation *DL = I.getDebugLoc();
  // Out of the compiler's and the toolkit's headers, and of ours that mend them,
  // to the line that used them.
  auto IsTheirs = [](StringRef Path) {
    const size_t Cuda = Path.find("/cuda");
    return sys::path::filename(Path).starts_with("__clang_cuda") ||
           Path.contains("/reconverge/overlay/") ||
           (Cuda != StringRef::npos &&
            Path.find("/include/", Cuda) != StringRef::npos);
  };
  while (DL && DL->getInlinedAt() && IsTheirs(analysis::sourcePath(*DL)))
    DL = DL->getInlinedAt();
  return DL;
}

std::string placeOf(const Instruction &I) {
  const DILocation *DL = userLocation(I);
  if (!DL)
    return "";
  return (analysis::sourcePath(*DL) + ":" + Twine(DL->getLine()) + ": ").str();
}

Value *membersOf(const IntrinsicInst &Collective) {
  const bool Redux =
      analysis::intrinsicKind(Collective) == analysis::IntrinsicKind::Reduction;
  return Collective.getArgOperand(Redux ? 1 : 0);
}

SmallVector<std::pair<uint64_t, uint64_t>, 8>
parameterLayout(const Function &Kernel) {
  const DataLayout &DL = Kernel.getParent()->getDataLayout();
  SmallVector<std::pair<uint64_t, uint64_t>, 8> Layout;
  uint64_t Offset = 0;
  for (const Argument &A : Kernel.args()) {
    Type *T = A.hasByValAttr() ? A.getParamByValType() : A.getType();
    Align Al = A.hasByValAttr()
                   ? A.getParamAlign().value_or(DL.getABITypeAlign(T))
                   : DL.getABITypeAlign(T);
    Offset = alignTo(Offset, Al);
    uint64_t Size = DL.getTypeAllocSize(T);
    Layout.push_back({Offset, Size});
    Offset += Size;
  }
  return Layout;
}

/// Offsets of the pointers in a value of type \p T at \p Offset.
static void findPointers(Type *T, uint64_t Offset, const DataLayout &DL,
                         SmallVectorImpl<uint64_t> &Out) {
  if (T->isPointerTy()) {
    Out.push_back(Offset);
  } else if (auto *S = dyn_cast<StructType>(T)) {
    const StructLayout *Layout = DL.getStructLayout(S);
    for (unsigned I = 0; I < S->getNumElements(); ++I)
      findPointers(S->getElementType(I), Offset + Layout->getElementOffset(I),
                   DL, Out);
  } else if (auto *A = dyn_cast<ArrayType>(T)) {
    const uint64_t Step = DL.getTypeAllocSize(A->getElementType());
    for (uint64_t I = 0, N = A->getNumElements(); I < N; ++I)
      findPointers(A->getElementType(), Offset + I * Step, DL, Out);
  }
}

/// Calls \p Each with the parts of the class behind \p ByVal that are read in a
/// way that could give a pointer: offset and size. False if they are not known.
static bool forPointerReads(const Argument &ByVal, const DataLayout &DL,
                            function_ref<void(uint64_t, uint64_t)> Each) {
  SmallVector<std::pair<const Value *, uint64_t>> Work = {{&ByVal, 0}};
  while (!Work.empty()) {
    const auto [Place, Offset] = Work.pop_back_val();
    for (const User *U : Place->users()) {
      if (isa<AddrSpaceCastOperator>(U)) {
        Work.push_back({U, Offset});
      } else if (auto *G = dyn_cast<GEPOperator>(U)) {
        APInt Step(DL.getIndexTypeSizeInBits(G->getType()), 0);
        if (!G->accumulateConstantOffset(DL, Step))
          return false;
        Work.push_back({G, Offset + Step.getSExtValue()});
      } else if (auto *L = dyn_cast<LoadInst>(U)) {
        Type *T = L->getType(), *Scalar = T->getScalarType();
        if (!Scalar->isFloatingPointTy() &&
            !(Scalar->isIntegerTy() && Scalar->getIntegerBitWidth() < 64))
          Each(Offset, DL.getTypeStoreSize(T));
      } else if (auto *Copy = dyn_cast<MemTransferInst>(U)) {
        auto *Bytes = dyn_cast<ConstantInt>(Copy->getLength());
        if (!Bytes || Copy->getRawDest() == Place)
          return false;
        Each(Offset, Bytes->getZExtValue());
      } else if (auto *I = dyn_cast<Instruction>(U);
                 !I || !(I->isDroppable() || I->isLifetimeStartOrEnd())) {
        return false;
      }
    }
  }
  return true;
}

SmallVector<uint64_t, 8> pointersFollowed(const Function &Kernel) {
  const DataLayout &DL = Kernel.getParent()->getDataLayout();
  SmallVector<uint64_t, 8> Followed;
  for (auto [A, Slot] : zip(Kernel.args(), parameterLayout(Kernel))) {
    if (!A.hasByValAttr()) {
      if (!A.use_empty())
        findPointers(A.getType(), Slot.first, DL, Followed);
      continue;
    }
    SmallVector<uint64_t> Pointers;
    findPointers(A.getParamByValType(), 0, DL, Pointers);
    SmallVector<std::pair<uint64_t, uint64_t>> Reads;
    const bool AreKnown =
        forPointerReads(A, DL, [&](uint64_t Offset, uint64_t Size) {
          Reads.push_back({Offset, Size});
        });
    for (uint64_t At : Pointers)
      if (!AreKnown || any_of(Reads, [&](const auto &Read) {
            return Read.first < At + sizeof(void *) &&
                   At < Read.first + Read.second;
          }))
        Followed.push_back(Slot.first + At);
  }
  return Followed;
}

SetVector<const GlobalValue *> reachableFrom(const Function &Kernel) {
  SetVector<const GlobalValue *> Seen;
  SmallVector<const Value *> Work{&Kernel};
  for (const Function *F : analysis::functionsOf(Kernel))
    Work.push_back(F);
  SmallPtrSet<const Value *, 32> Visited;
  while (!Work.empty()) {
    const Value *V = Work.pop_back_val();
    if (!Visited.insert(V).second)
      continue;
    if (auto *GV = dyn_cast<GlobalValue>(V))
      Seen.insert(GV);
    if (auto *F = dyn_cast<Function>(V)) {
      for (const Instruction &I : instructions(*F))
        for (const Value *Op : I.operands())
          if (isa<Constant>(Op))
            Work.push_back(Op);
    } else if (auto *U = dyn_cast<User>(V)) {
      for (const Value *Op : U->operands())
        Work.push_back(Op);
    }
  }
  return Seen;
}

SharedLayout sharedLayout(const Function &Kernel) {
  const DataLayout &DL = Kernel.getParent()->getDataLayout();
  auto Reached = reachableFrom(Kernel);
  SharedLayout Layout;
  uint64_t Align = 16;
  for (const GlobalVariable &GV : Kernel.getParent()->globals()) {
    if (GV.getAddressSpace() != analysis::SharedSpace ||
        !Reached.contains(&GV) || GV.isDeclaration())
      continue;
    auto A = GV.getAlign().value_or(DL.getABITypeAlign(GV.getValueType()));
    Layout.Bytes = alignTo(Layout.Bytes, A);
    Layout.Offsets[&GV] = Layout.Bytes;
    Layout.Bytes += DL.getTypeAllocSize(GV.getValueType());
  }
  for (const GlobalValue *GV : Reached)
    if (GV->getName() == analysis::ReservedSharedOffset) {
      Layout.Reserved = alignTo(Layout.Bytes, Align);
      Layout.ReservedBytes = analysis::ReservedSharedBytes;
      Layout.Bytes = Layout.Reserved + Layout.ReservedBytes;
    }
  // `extern __shared__` variables all begin where the static ones end.
  for (const GlobalVariable &GV : Kernel.getParent()->globals())
    if (GV.getAddressSpace() == analysis::SharedSpace && GV.isDeclaration() &&
        Reached.contains(&GV)) {
      Align = std::max<uint64_t>(Align, GV.getAlign().valueOrOne().value());
      Layout.Bytes = alignTo(Layout.Bytes, Align);
    }
  for (const GlobalVariable &GV : Kernel.getParent()->globals())
    if (GV.getAddressSpace() == analysis::SharedSpace && GV.isDeclaration() &&
        Reached.contains(&GV))
      Layout.Offsets[&GV] = Layout.Bytes;
  return Layout;
}

SmallVector<GlobalVariable *, 8> deviceVariables(Module &M) {
  SmallVector<GlobalVariable *, 8> Variables;
  for (GlobalVariable &GV : M.globals())
    if (GV.getAddressSpace() != analysis::SharedSpace &&
        !GV.getName().starts_with("llvm."))
      Variables.push_back(&GV);
  return Variables;
}

} // namespace reconverge::warpvm
