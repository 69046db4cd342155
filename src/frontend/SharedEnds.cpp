//===- frontend/SharedEnds.cpp - What both arms of a branch end with ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both arms of a divergent branch take issue slots, so what they have in common
// is paid for twice. Where two blocks meet and nothing else comes in, the
// instructions that both end with move to where they meet; an operand that
// differs becomes a PHI there, which is a select in machine code:
//
//        head                      head
//       /    \                    /    \
//    x = a    y = b      ->    x = a   y = b
//    *p = x   *p = y              \    /
//       \    /                  z = phi(x, y)
//        meet                   *p = z
//
//   1. Both arms are walked from their ends backwards, in step, as long as the
//      instructions are the same operation, and nobody uses their results but
//      the PHIs where the arms meet, and pairs that were found before.
//   2. A pair that needs two new PHIs or more costs what it saves: it ends the
//      walk, and so do pairs that become such as the walk gets shorter.
//   3. The pairs move, the last one first.
//
// It is correct as a thread that comes to where the arms meet has run exactly
// one of the two, and each pair stands there in the order of that one. Where
// the arms part does not matter: `if (a || b) *p = x; else *p = y;` parts twice.
//
// LLVM's SimplifyCFG also sinks what only some of the blocks before a block
// have in common, into a new block; DevicePipeline.cpp says why it may not. Here
// no new block is made.
//
// Limitation: what stands in another order in the two arms stays.
//
//===----------------------------------------------------------------------===//

#include "frontend/SharedEnds.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace reconverge::frontend {

namespace {
/// Two ways to a block, and none besides; no loop comes back to it by them.
struct Diamond {
  BasicBlock *Left = nullptr, *Right = nullptr, *Meet = nullptr;
};

/// The same operation in both arms.
struct Pair {
  Instruction *Left, *Right;
};
} // namespace

static std::optional<Diamond> diamondAt(BasicBlock &Meet,
                                        const DominatorTree &Tree) {
  if (!Meet.hasNPredecessors(2))
    return std::nullopt;
  Diamond D{*pred_begin(&Meet), *std::next(pred_begin(&Meet)), &Meet};
  const auto IsArm = [&](const BasicBlock *Block) {
    return Block->getSingleSuccessor() && !Tree.dominates(&Meet, Block);
  };
  return D.Left != D.Right && IsArm(D.Left) && IsArm(D.Right) ? std::optional(D)
                                                              : std::nullopt;
}

static bool mayMove(const Instruction &I) {
  if (isa<AllocaInst, PHINode>(I) || I.isTerminator() || I.isEHPad() ||
      I.isAtomic() || I.isVolatile() || I.getType()->isTokenTy())
    return false;
  auto *Call = dyn_cast<CallBase>(&I);
  return !Call || (isa<IntrinsicInst>(Call) && !Call->isConvergent() &&
                   !Call->cannotMerge());
}

/// Whether the results of \p P are used alike, where the arms meet or by
/// \p Found, and nowhere else.
static bool isUsedAlike(const Pair &P, const Diamond &D, ArrayRef<Pair> Found) {
  if (!P.Left->hasNUses(P.Right->getNumUses()))
    return false;
  return all_of(P.Left->uses(), [&](const Use &U) {
    if (auto *Phi = dyn_cast<PHINode>(U.getUser()))
      return Phi->getParent() == D.Meet &&
             Phi->getIncomingValueForBlock(D.Right) == P.Right;
    return any_of(Found, [&](const Pair &Later) {
      return Later.Left == U.getUser() &&
             Later.Right->getOperand(U.getOperandNo()) == P.Right;
    });
  });
}

/// Whether the operands of \p P can be made the same, by a PHI where need be.
static bool canShareOperands(const Pair &P) {
  for (unsigned I = 0; I < P.Left->getNumOperands(); ++I) {
    const Value *A = P.Left->getOperand(I), *B = P.Right->getOperand(I);
    if (A == B)
      continue;
    if (A->getType() != B->getType() || A->getType()->isTokenTy() ||
        !canReplaceOperandWithVariable(P.Left, I))
      return false;
  }
  return true;
}

static Instruction *lastBefore(Instruction *I) {
  return I->getPrevNonDebugInstruction();
}

static SmallVector<Pair> sameFromTheEnd(const Diamond &D) {
  SmallVector<Pair> Found;
  Pair At{lastBefore(D.Left->getTerminator()),
          lastBefore(D.Right->getTerminator())};
  while (At.Left && At.Right && mayMove(*At.Left) && mayMove(*At.Right) &&
         At.Left->isSameOperationAs(At.Right) && canShareOperands(At) &&
         isUsedAlike(At, D, Found)) {
    Found.push_back(At);
    At = {lastBefore(At.Left), lastBefore(At.Right)};
  }
  return Found;
}

/// PHIs that moving \p P takes if \p Moving moves too.
static unsigned newPhis(const Pair &P, ArrayRef<Pair> Moving) {
  unsigned Phis = 0;
  for (unsigned I = 0; I < P.Left->getNumOperands(); ++I) {
    const Value *A = P.Left->getOperand(I), *B = P.Right->getOperand(I);
    Phis += A != B && none_of(Moving, [&](const Pair &Other) {
              return Other.Left == A && Other.Right == B;
            });
  }
  return Phis;
}

/// Shortens \p Found until every pair is worth its PHIs.
static void keepWorthwhile(SmallVectorImpl<Pair> &Found) {
  for (size_t I = 0; I < Found.size();)
    if (newPhis(Found[I], Found) > 1) {
      Found.truncate(I);
      I = 0;
    } else {
      ++I;
    }
}

static void move(const Pair &P, const Diamond &D) {
  for (unsigned I = 0; I < P.Left->getNumOperands(); ++I) {
    Value *A = P.Left->getOperand(I), *B = P.Right->getOperand(I);
    if (A == B)
      continue;
    PHINode *Phi = PHINode::Create(A->getType(), 2, "", D.Meet->begin());
    Phi->addIncoming(A, D.Left);
    Phi->addIncoming(B, D.Right);
    P.Left->setOperand(I, Phi);
  }
  P.Left->moveBefore(*D.Meet, D.Meet->getFirstInsertionPt());
  P.Left->andIRFlags(P.Right);
  combineMetadataForCSE(P.Left, P.Right, /*DoesKMove=*/true);
  P.Left->applyMergedLocation(P.Left->getDebugLoc(), P.Right->getDebugLoc());
  for (PHINode &Phi : make_early_inc_range(D.Meet->phis()))
    if (Phi.getIncomingValueForBlock(D.Left) == P.Left) {
      Phi.replaceAllUsesWith(P.Left);
      Phi.eraseFromParent();
    }
  P.Right->eraseFromParent();
}

void sinkSharedEnds(Function &F) {
  const DominatorTree Tree(F);
  for (BasicBlock &Meet : F)
    if (std::optional<Diamond> D = diamondAt(Meet, Tree)) {
      SmallVector<Pair> Shared = sameFromTheEnd(*D);
      keepWorthwhile(Shared);
      for (const Pair &P : Shared)
        move(P, *D);
    }
}

} // namespace reconverge::frontend
