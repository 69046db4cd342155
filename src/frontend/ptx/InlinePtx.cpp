//===- frontend/ptx/InlinePtx.cpp - Inline PTX as LLVM IR -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA's headers reach for PTX where C++ has no word for what they mean: half
// precision, cooperative groups, CUB and libcu++ are full of it, and
// libdevice's sinf adds with carry. To the executor, the analyses and the
// transforms an asm call is opaque, so it goes first.
//
//  1. Collect the asm calls of the module, in program order.
//  2. Lower each distinct one (text, constraints, type, immediates) into a
//     function of its own (Lowering.cpp). That function is the plan; if an
//     instruction is not in the table, or the text is malformed, there is none,
//     and the calls stay, with the reason attached as metadata.
//  3. Replace each call by a call of its function, inline it, and delete the
//     functions. Inlining gives every instruction the call's debug location.
//  4. Results of several outputs come back as a struct: what is taken out of it
//     is replaced by the value that was put in.
//
// Limitation: text is lowered alone. Registers that one asm declares outside
// braces are not seen by another, branches and labels are refused, and so are
// operands of memory constraints ("m").
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/InlinePtx.h"

#include "frontend/ptx/Lowering.h"

#include "core/Error.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace reconverge::frontend {

static constexpr StringLiteral RefusalKind = "reconverge.ptx.refusal";

static const InlineAsm *asmOf(const CallBase &Call) {
  return dyn_cast<InlineAsm>(Call.getCalledOperand());
}

StringRef ptxRefusal(const CallBase &Call) {
  if (const MDNode *Node = Call.getMetadata(RefusalKind))
    if (Node->getNumOperands() == 1)
      if (auto *Reason = dyn_cast<MDString>(Node->getOperand(0)))
        return Reason->getString();
  return "";
}

std::vector<RemainingPtx> remainingPtx(const Module &M) {
  std::vector<RemainingPtx> Result;
  for (const Function &F : M)
    for (const Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (const InlineAsm *Asm = asmOf(*Call))
          Result.push_back({F.getName().str(), Asm->getAsmString(),
                            ptxRefusal(*Call).str()});
  return Result;
}

namespace {
/// InlineAsm values are unique in their context; the immediates tell calls of
/// one apart.
using Key = std::pair<const InlineAsm *, std::vector<ConstantInt *>>;

struct Plan {
  Function *Body = nullptr; ///< null if refused
  std::string Reason;
};
} // namespace

/// For each argument the constant that an immediate constraint takes.
static std::vector<ConstantInt *> immediatesOf(const CallInst &Call) {
  std::vector<ConstantInt *> Result(Call.arg_size(), nullptr);
  unsigned Input = 0;
  for (const InlineAsm::ConstraintInfo &C : asmOf(Call)->ParseConstraints()) {
    if (C.Type != InlineAsm::isInput && !(C.isIndirect && C.hasArg()))
      continue;
    if (Input == Result.size())
      break;
    if (C.Codes.size() == 1 && (C.Codes[0] == "n" || C.Codes[0] == "i"))
      Result[Input] = dyn_cast<ConstantInt>(Call.getArgOperand(Input));
    ++Input;
  }
  return Result;
}

static Plan makePlan(Module &M, const CallInst &Call, const Key &K) {
  Plan P;
  // An indirect output is an argument too; Lowering expects none.
  for (const InlineAsm::ConstraintInfo &C : K.first->ParseConstraints())
    if (C.isIndirect) {
      P.Reason = "memory operands are not supported";
      return P;
    }
  P.Body = Function::Create(Call.getFunctionType(),
                            GlobalValue::InternalLinkage, "reconverge.ptx", M);
  ptx::Lowering Lower(*P.Body, *K.first, K.second);
  if (!Lower.run()) {
    P.Body->eraseFromParent();
    P.Body = nullptr;
    P.Reason = Lower.reason();
  }
  return P;
}

/// Replaces what is extracted from \p Whole, a chain of insertvalues.
static void forwardElements(Value *Whole) {
  for (User *U : make_early_inc_range(Whole->users()))
    if (auto *Extract = dyn_cast<ExtractValueInst>(U))
      if (Value *V = FindInsertedValue(Whole, Extract->getIndices())) {
        Extract->replaceAllUsesWith(V);
        Extract->eraseFromParent();
      }
  // Drop the chain as far as nothing else uses it.
  while (auto *Insert = dyn_cast<InsertValueInst>(Whole)) {
    if (!Insert->use_empty())
      break;
    Whole = Insert->getAggregateOperand();
    Insert->eraseFromParent();
  }
}

/// Puts \p Body in place of \p Call. Cannot fail on what makePlan made.
static Error rewrite(CallInst *Call, Function *Body) {
  IRBuilder<> B(Call);
  SmallVector<Value *, 8> Args(Call->args());
  CallInst *New = B.CreateCall(Body, Args);
  New->setDebugLoc(Call->getDebugLoc());
  SmallVector<WeakTrackingVH, 4> Extracts;
  Call->replaceAllUsesWith(New);
  Call->eraseFromParent();
  for (User *U : New->users())
    if (isa<ExtractValueInst>(U))
      Extracts.push_back(U);
  InlineFunctionInfo Info;
  InlineResult Result = InlineFunction(*New, Info);
  if (!Result.isSuccess())
    return internalError(Twine("lowered PTX cannot be inlined: ") +
                         Result.getFailureReason());
  SmallVector<Value *, 4> Wholes;
  for (WeakTrackingVH &Extract : Extracts)
    if (auto *E = dyn_cast_or_null<ExtractValueInst>((Value *)Extract))
      if (!is_contained(Wholes, E->getAggregateOperand()))
        Wholes.push_back(E->getAggregateOperand());
  for (Value *Whole : Wholes)
    forwardElements(Whole);
  return Error::success();
}

Error lowerInlinePtx(Module &M) {
  std::vector<CallInst *> Calls;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I))
        if (asmOf(*Call))
          Calls.push_back(Call);

  MapVector<Key, Plan, std::map<Key, unsigned>> Plans;
  Error Failure = Error::success();
  for (CallInst *Call : Calls) {
    Key K{asmOf(*Call), immediatesOf(*Call)};
    auto [It, Inserted] = Plans.try_emplace(K);
    if (Inserted)
      It->second = makePlan(M, *Call, K);
    const Plan &P = It->second;
    if (!P.Body) {
      LLVMContext &C = M.getContext();
      Call->setMetadata(RefusalKind,
                        MDNode::get(C, MDString::get(C, P.Reason)));
      // An asm that is not volatile may go when nobody wants its result, but
      // LLVM lets only calls go of which it knows that they return. Every
      // cooperative group starts by asking for memory that few of them use.
      if (!K.first->hasSideEffects())
        Call->addFnAttr(Attribute::WillReturn);
      continue;
    }
    assert(!verifyFunction(*P.Body) && "a row of the table emits broken IR");
    if ((Failure = rewrite(Call, P.Body)))
      break;
  }
  for (auto &[K, P] : Plans)
    if (P.Body)
      P.Body->eraseFromParent();
  return Failure;
}

} // namespace reconverge::frontend
