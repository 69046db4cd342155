//===- analysis/Accesses.cpp - Instructions that access memory ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/Accesses.h"
#include "analysis/device/AddressSpace.h"
#include "analysis/device/Annotations.h"
#include "analysis/device/Intrinsics.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::analysis {

StringRef spaceOf(const Value &Pointer) {
  const Value *Object = getUnderlyingObject(&Pointer, /*MaxLookup=*/32);
  unsigned Space = Pointer.getType()->getScalarType()->getPointerAddressSpace();
  if (Space == GenericSpace)
    Space = Object->getType()->getScalarType()->getPointerAddressSpace();
  switch (Space) {
  case GlobalSpace:
    return "global";
  case SharedSpace:
  case ClusterSharedSpace:
    return "shared";
  case ConstantSpace:
  case ParameterSpace:
    return "const";
  case LocalSpace:
    return "local";
  default:
    break;
  }
  if (isa<AllocaInst>(Object))
    return "local";
  if (const auto *Global = dyn_cast<GlobalVariable>(Object))
    return Global->isConstant() ? "const" : "global";
  if (const auto *A = dyn_cast<Argument>(Object))
    if (isKernel(*A->getParent()))
      return A->hasByValAttr() ? "const" : "global";
  return "generic";
}

static std::optional<Access> access(const Instruction &I, const Value &Pointer,
                                    MemoryUse Use, Type &Moved) {
  const StringRef Space = spaceOf(Pointer);
  if (Space == "const")
    return std::nullopt;
  const TypeSize Bytes =
      I.getModule()->getDataLayout().getTypeStoreSize(&Moved);
  return Access{&Pointer, Use,
                StringSwitch<MemorySpace>(Space)
                    .Case("global", MemorySpace::Global)
                    .Case("shared", MemorySpace::Shared)
                    .Case("local", MemorySpace::Local)
                    .Default(MemorySpace::Generic),
                uint32_t(Bytes.getFixedValue())};
}

std::optional<Access> accessOf(const Instruction &I) {
  if (const auto *L = dyn_cast<LoadInst>(&I))
    return access(I, *L->getPointerOperand(), MemoryUse::Load, *L->getType());
  if (const auto *S = dyn_cast<StoreInst>(&I))
    return access(I, *S->getPointerOperand(), MemoryUse::Store,
                  *S->getValueOperand()->getType());
  if (const auto *R = dyn_cast<AtomicRMWInst>(&I))
    return access(I, *R->getPointerOperand(), MemoryUse::Atomic, *R->getType());
  if (const auto *X = dyn_cast<AtomicCmpXchgInst>(&I))
    return access(I, *X->getPointerOperand(), MemoryUse::Atomic,
                  *X->getNewValOperand()->getType());
  const IntrinsicKind Kind = intrinsicKind(I);
  const auto *Call = dyn_cast<CallBase>(&I);
  // Vectors of atomics are calls of functions, and none here.
  if (!Call || Call->arg_empty() || I.getType()->isVoidTy() ||
      !Call->getArgOperand(0)->getType()->isPointerTy())
    return std::nullopt;
  if (Kind == IntrinsicKind::ReadOnlyLoad)
    return access(I, *Call->getArgOperand(0), MemoryUse::Load, *I.getType());
  if (Kind == IntrinsicKind::Atomic)
    return access(I, *Call->getArgOperand(0), MemoryUse::Atomic, *I.getType());
  return std::nullopt;
}

} // namespace reconverge::analysis
