//===- frontend/ptx/Restore.cpp - Back to PTX where LLVM lacks words ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM 19's NVPTX back end selects no fence and no acquire or release access,
// and prints every atomic as relaxed and of GPU scope. What lowerInlinePtx made
// of PTX with orders and scopes is recognised by its sync scope, "ptx.<scope>",
// which no pass drops, and becomes inline asm again:
//
//   load atomic, store atomic, atomicrmw, cmpxchg, fence of "ptx.*"
//     -> ld, st, atom (RestoreAtomics.cpp), fence with .order.scope.space
//   fence syncscope("singlethread")   -> an empty asm that clobbers memory
//   fdiv afn float 1.0, x             -> rcp.approx.f32
//   fdiv afn float a, b               -> div.full.f32
//   call afn llvm.tanh                -> tanh.approx
//   llvm.prefetch                     -> prefetch
//   functions of PtxFunctions.h       -> what they stand for: a variant knows
//                                        it itself, the others are listed here
//
// An fdiv or a tanh with `afn` that is the user's own (-ffast-math) asks for an
// approximation as well and gets the same.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/InlinePtx.h"

#include "analysis/PtxFunctions.h"
#include "analysis/device/AddressSpace.h"
#include "frontend/ptx/Restorer.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace reconverge::frontend {

std::string stateSpaceOf(const Value *Pointer) {
  switch (Pointer->getType()->getPointerAddressSpace()) {
  case analysis::GlobalSpace:
    return ".global";
  case analysis::SharedSpace:
    return ".shared";
  case analysis::ConstantSpace:
    return ".const";
  case analysis::LocalSpace:
    return ".local";
  default:
    return "";
  }
}

Value *Restorer::emitAsm(llvm::Type *Result, const Twine &Text,
                         const Twine &Constraints, ArrayRef<Value *> Args,
                         bool Effects) {
  SmallVector<llvm::Type *, 4> Types;
  for (Value *V : Args)
    Types.push_back(V->getType());
  auto *Asm = InlineAsm::get(FunctionType::get(Result, Types, false),
                             Text.str(), Constraints.str(), Effects);
  CallInst *Call = B.CreateCall(Asm, Args);
  Call->setDoesNotThrow();
  if (!Effects) {
    Call->setDoesNotAccessMemory();
    Call->addFnAttr(Attribute::WillReturn);
  }
  return Call;
}

void Restorer::replace(Instruction &I, Value *V) {
  V->takeName(&I);
  I.replaceAllUsesWith(V);
  I.eraseFromParent();
}

void Restorer::visitFence(FenceInst &F) {
  B.SetInsertPoint(&F);
  StringRef Scope = ptxScope(F.getSyncScopeID());
  if (F.getSyncScopeID() == SyncScope::SingleThread) {
    emitAsm(B.getVoidTy(), "", "~{memory}", {}, true);
  } else if (Scope.starts_with("griddepcontrol.") ||
             Scope.starts_with("fence.")) {
    emitAsm(B.getVoidTy(), Scope + ";", "~{memory}", {}, true);
  } else if (!Scope.empty()) {
    bool Strong = F.getOrdering() == AtomicOrdering::SequentiallyConsistent;
    emitAsm(B.getVoidTy(),
            Twine("fence.") + (Strong ? "sc." : "acq_rel.") + Scope + ";",
            "~{memory}", {}, true);
  } else {
    return;
  }
  F.eraseFromParent();
}

void Restorer::visitDivision(BinaryOperator &I) {
  if (I.getOpcode() != Instruction::FDiv || !I.hasApproxFunc() ||
      !I.getType()->isFloatTy())
    return;
  B.SetInsertPoint(&I);
  auto *One = dyn_cast<ConstantFP>(I.getOperand(0));
  replace(I, One && One->isExactlyValue(1.0)
                 ? emitAsm(I.getType(), "rcp.approx.f32 $0, $1;", "=f,f",
                           {I.getOperand(1)}, false)
                 : emitAsm(I.getType(), "div.full.f32 $0, $1, $2;", "=f,f,f",
                           {I.getOperand(0), I.getOperand(1)}, false));
}

void Restorer::visitTanh(IntrinsicInst &Call) {
  llvm::Type *T = Call.getType(), *Lane = T->getScalarType();
  if (!Call.hasApproxFunc() || Lane->isDoubleTy() ||
      (T->isVectorTy() && T->getPrimitiveSizeInBits() != 32))
    return;
  B.SetInsertPoint(&Call);
  Value *A = Call.getArgOperand(0);
  if (T->isFloatTy())
    return replace(Call,
                   emitAsm(T, "tanh.approx.f32 $0, $1;", "=f,f", {A}, false));
  llvm::Type *Bits = B.getIntNTy(T->getPrimitiveSizeInBits());
  std::string C = T->isVectorTy() ? "r" : "h";
  Value *V =
      emitAsm(Bits,
              Twine("tanh.approx.") + (Lane->isHalfTy() ? "f16" : "bf16") +
                  (T->isVectorTy() ? "x2" : "") + " $0, $1;",
              "=" + C + "," + C, {B.CreateBitCast(A, Bits)}, false);
  replace(Call, B.CreateBitCast(V, T));
}

void Restorer::visitPrefetch(IntrinsicInst &Call) {
  Value *P = Call.getArgOperand(0);
  std::string Space = stateSpaceOf(P);
  // PTX prefetches from global, local and generic addresses, data only.
  bool Near = cast<ConstantInt>(Call.getArgOperand(2))->getZExtValue() == 3;
  if (Space == "" || Space == ".global" || Space == ".local") {
    B.SetInsertPoint(&Call);
    emitAsm(B.getVoidTy(),
            "prefetch" + Space + (Near ? ".L1" : ".L2") + " [$0];",
            "l,~{memory}", {P}, true);
  }
  Call.eraseFromParent();
}

namespace {
/// What a function of ours is in PTX; addresses of shared memory take 32 bits.
struct OwnText {
  StringRef Name, Text, Constraints;
};
} // namespace

#define WAIT(FORM, STATE)                                                      \
  "{ .reg .pred %rc_p; mbarrier." FORM ".shared.b64 %rc_p, [$1], $2; "         \
  "selp.b32 $0, 1, 0, %rc_p; }",                                               \
      "=r,r," STATE ",~{memory}"
static const OwnText OwnTexts[] = {
    {analysis::PerformanceEvent, "pmevent $0;", "n"},
    {analysis::NamedBarrierArrive, "barrier.arrive $0, $1;", "r,r,~{memory}"},
    {analysis::BarrierArrive,
     "mbarrier.arrive.release.cta.shared::cta.b64 $0, [$1], $2;",
     "=l,r,r,~{memory}"},
    {analysis::BarrierArriveDrop,
     "mbarrier.arrive_drop.release.cta.shared::cta.b64 $0, [$1], $2;",
     "=l,r,r,~{memory}"},
    {analysis::BarrierArriveExpect,
     "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 $0, [$1], $2;",
     "=l,r,r,~{memory}"},
    {analysis::BarrierExpect,
     "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;",
     "r,r,~{memory}"},
    {analysis::BarrierTryWait, WAIT("try_wait", "l")},
    {analysis::BarrierTestParity, WAIT("test_wait.parity", "r")},
    {analysis::BarrierTryParity, WAIT("try_wait.parity", "r")},
    {analysis::BulkCopy,
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], "
     "[$1], $2, [$3];",
     "r,l,r,r,~{memory}"},
    {analysis::BulkPass,
     "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
     "[$0], [$1], $2, [$3];",
     "r,r,r,r,~{memory}"},
    {analysis::BulkStore,
     "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;",
     "l,r,r,~{memory}"},
    {analysis::BulkPrefetch, "cp.async.bulk.prefetch.L2.global [$0], $1;",
     "l,r,~{memory}"},
};
#undef WAIT

/// What \p F, a function of ours with operands, is in PTX.
static OwnText textOf(const Function &F) {
  if (F.hasFnAttribute(analysis::PtxTextAttribute))
    return {
        F.getName(),
        F.getFnAttribute(analysis::PtxTextAttribute).getValueAsString(),
        F.getFnAttribute(analysis::PtxConstraintsAttribute).getValueAsString()};
  const OwnText *Own = find_if(
      OwnTexts, [&](const OwnText &O) { return O.Name == F.getName(); });
  assert(Own != std::end(OwnTexts) && "a function of ours without PTX");
  return *Own;
}

void Restorer::visitOwn(CallInst &Call, StringRef Name) {
  if (!Name.starts_with("reconverge."))
    return;
  B.SetInsertPoint(&Call);
  llvm::Type *Result = Call.getType();
  if (Call.arg_size() == 0) // a special register
    return replace(Call, emitAsm(Result,
                                 "mov.u32 $0, %" + Name.split('.').second + ";",
                                 "=r", {}, false));
  const OwnText Own = textOf(*Call.getCalledFunction());
  SmallVector<Value *, 4> Args(Call.args());
  for (Value *&V : Args)
    if (V->getType()->isPointerTy() &&
        V->getType()->getPointerAddressSpace() == analysis::SharedSpace)
      V = B.CreateTrunc(B.CreatePtrToInt(V, B.getInt64Ty()), B.getInt32Ty());
  const bool Answers = Result->isIntegerTy(1);
  Value *V = emitAsm(Answers ? B.getInt32Ty() : Result, Own.Text,
                     Own.Constraints, Args, !Call.doesNotAccessMemory());
  if (Result->isVoidTy())
    Call.eraseFromParent();
  else
    replace(Call, Answers ? B.CreateIsNotNull(V) : V);
}

Error Restorer::visit(Instruction &I) {
  if (auto *F = dyn_cast<FenceInst>(&I)) {
    visitFence(*F);
  } else if (I.isAtomic()) {
    return visitAtomic(I);
  } else if (auto *Binary = dyn_cast<BinaryOperator>(&I)) {
    visitDivision(*Binary);
  } else if (auto *Call = dyn_cast<IntrinsicInst>(&I)) {
    if (Call->getIntrinsicID() == Intrinsic::tanh)
      visitTanh(*Call);
    else if (Call->getIntrinsicID() == Intrinsic::prefetch)
      visitPrefetch(*Call);
  } else if (auto *Call = dyn_cast<CallInst>(&I)) {
    if (const Function *Callee = Call->getCalledFunction())
      visitOwn(*Call, Callee->getName());
  }
  return Error::success();
}

Error Restorer::run() {
  for (Function &F : M)
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (Error E = visit(I))
        return E;
  return Error::success();
}

Error restoreInlinePtx(Module &M) { return Restorer(M).run(); }

} // namespace reconverge::frontend
