//===- frontend/PtxShape.cpp - IR as ptxas likes it -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Things that LLVM leaves as they are and that cost machine instructions. The
// first four were found by comparing with what ptxas makes of nvcc's PTX.
//
//   block sizes first   blockIdx * blockDim: if PTX reads %ctaid before %ntid,
//                       ptxas reads the former into a uniform register, which
//                       takes longer, at the start of nearly every kernel
//   choice of bools     c ? x : y of predicates becomes two selects of words,
//                       AND and comparison; (c & x) | (!c & y) is one PLOP3.
//                       c ? x : false is c & x, with what makes x no poison so
//                       placed that a load of it still is one with a sign
//   shifted tests       x > 3 beside h = x >> 1 keeps x alive; h > 1 is the
//                       same. LLVM makes the one of the other in halving loops
//   aligned arrays      loads of neighbours become one of 16 bytes only where
//                       their array is known to start at such an address
//   pairs               a structure of two words that is copied is one load of 64
//                       bits, of which the code generator makes two of 32 where
//                       the words are asked for; it is a load of a pair
//   widths              indices and short integers have 32 bits as long as they
//                       can (Widths.cpp)
//   shared ends         what both arms of a branch end with stands once, where
//                       they meet (SharedEnds.cpp)
//   choices             by select or by branch as it is cheaper (Choices.cpp)
//   last rounds         tests for them are in no copy of a round that is not one
//                       (LastRounds.cpp)
//   maxima              with 0 are what is compared, too (Maxima.cpp)
//   pointers to nowhere LLVM leaves poison where a loop's remainder is skipped, and
//                       the code generator then takes the PHI, and all that it
//                       leads to, for pointers to any memory. It may as well be
//                       a pointer that is there
//   additions of zero   atomics that SplitAtomics.cpp has marked: a row of them
//                       is skipped where all would add zero
//
// It is for the printer: the optimiser would undo much of it, and the warp VM
// has no use for it. What a trial counts in place of the code that it times has
// to be of this form as well (runtime/gpu/TrialImages.cpp).
//
//===----------------------------------------------------------------------===//

#include "frontend/PtxShape.h"

#include "analysis/device/AddressSpace.h"
#include "analysis/device/Intrinsics.h"
#include "frontend/Choices.h"
#include "frontend/LastRounds.h"
#include "frontend/Maxima.h"
#include "frontend/SharedEnds.h"
#include "frontend/SplitAtomics.h"
#include "frontend/Widths.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace reconverge::frontend {

static bool isBlockSize(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && analysis::blockSizeDimension(Call->getIntrinsicID());
}

static void readBlockSizesFirst(Function &F) {
  BasicBlock &Entry = F.getEntryBlock();
  SmallVector<Instruction *, 3> Sizes;
  for (Instruction &I : Entry)
    if (isBlockSize(I))
      Sizes.push_back(&I);
  for (Instruction *I : reverse(Sizes))
    I->moveBefore(&*Entry.getFirstNonPHIOrDbgOrAlloca());
}

/// \p V such that it is no poison. A freeze of what is loaded would keep it
/// from being extended as it is loaded, and memory holds no poison here: what
/// is computed of loads alone loses its flags instead.
static Value *withoutPoison(Value *V, IRBuilder<> &B) {
  if (isa<UndefValue>(V)) // poison too
    return Constant::getNullValue(V->getType());
  if (isa<LoadInst, Constant>(V))
    return V;
  auto *I = dyn_cast<Instruction>(V);
  if (!I || I->getParent() != B.GetInsertBlock() ||
      !isa<CmpInst, CastInst, BinaryOperator>(I) ||
      (I->hasPoisonGeneratingAnnotations() && !I->hasOneUse()) ||
      canCreateUndefOrPoison(cast<Operator>(I),
                             /*ConsiderFlagsAndMetadata=*/false))
    return isGuaranteedNotToBeUndefOrPoison(V) ? V : B.CreateFreeze(V);
  I->dropPoisonGeneratingAnnotations();
  IRBuilder<> Before(I);
  for (Use &Operand : I->operands())
    Operand.set(withoutPoison(Operand, Before));
  return I;
}

static void choosePredicateByLogic(SelectInst &Select) {
  Value *C = Select.getCondition(), *X = Select.getTrueValue(),
        *Y = Select.getFalseValue();
  if (!Select.getType()->isIntegerTy(1))
    return;
  IRBuilder<> B(&Select);
  // A select passes on no poison from the side that it does not choose.
  Value *Either;
  if (match(Y, m_Zero()))
    Either = B.CreateAnd(C, withoutPoison(X, B));
  else if (match(X, m_One()))
    Either = B.CreateOr(C, withoutPoison(Y, B));
  else if (isa<Constant>(X) || isa<Constant>(Y))
    return;
  else
    Either = B.CreateOr(B.CreateAnd(C, B.CreateFreeze(X)),
                        B.CreateAnd(B.CreateNot(C), B.CreateFreeze(Y)));
  Either->takeName(&Select);
  Select.replaceAllUsesWith(Either);
  Select.eraseFromParent();
}

/// x > C is (x >> K) > (C >> K) if the low K bits of C are ones; x < C is
/// (x >> K) < (C >> K) if they are zeros.
static void testShifted(ICmpInst &Test, const DominatorTree &Tree) {
  const APInt *C = nullptr;
  if (!match(Test.getOperand(1), m_APInt(C)))
    return;
  const bool Greater = Test.getPredicate() == ICmpInst::ICMP_UGT;
  if (!Greater && Test.getPredicate() != ICmpInst::ICMP_ULT)
    return;
  for (User *U : Test.getOperand(0)->users()) {
    const APInt *K = nullptr;
    auto *Shift = dyn_cast<BinaryOperator>(U);
    if (!Shift ||
        !match(Shift, m_LShr(m_Specific(Test.getOperand(0)), m_APInt(K))) ||
        K->uge(C->getBitWidth()) || !Tree.dominates(Shift, &Test))
      continue;
    const unsigned Low = unsigned(K->getZExtValue());
    if ((Greater ? C->countr_one() : C->countr_zero()) < Low)
      continue;
    Test.setOperand(0, Shift);
    Test.setOperand(1, ConstantInt::get(Shift->getType(), C->lshr(Low)));
    return;
  }
}

/// Whether \p At is in a shared array or in one of the thread's own.
static bool isInOwnArray(const Value *At) {
  return At->getType()->getPointerAddressSpace() == analysis::SharedSpace ||
         isa<AllocaInst>(getUnderlyingObject(At));
}

/// Shared and local arrays start at a multiple of 16 bytes, dynamic shared memory
/// as with nvcc, and accesses to them say what that means for them.
static void alignArrays(Module &M) {
  for (GlobalVariable &G : M.globals())
    if (G.getAddressSpace() == analysis::SharedSpace &&
        (G.hasLocalLinkage() || G.isDeclaration()) && // one is dynamic
        G.getValueType()->isArrayTy() && G.getAlign().valueOrOne() < 16)
      G.setAlignment(Align(16));
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Local = dyn_cast<AllocaInst>(&I)) {
        if (Local->getAllocatedType()->isArrayTy())
          Local->setAlignment(std::max(Local->getAlign(), Align(16)));
      } else if (Value *At = getLoadStorePointerOperand(&I);
                 At && isInOwnArray(At)) {
        const Align Known = std::max(getLoadStoreAlignment(&I),
                                     getKnownAlignment(At, M.getDataLayout()));
        if (auto *Load = dyn_cast<LoadInst>(&I))
          Load->setAlignment(Known);
        else
          cast<StoreInst>(I).setAlignment(Known);
      }
}

static bool isWord(const User *U) {
  return isa<TruncInst>(U) && U->getType()->isIntegerTy(32);
}

/// Two words that nobody asks for but one by one.
static void loadPair(LoadInst &Load) {
  if (!Load.getType()->isIntegerTy(64) || !Load.isSimple() ||
      Load.getAlign() < Align(8))
    return;
  SmallVector<User *> Words[2]; // lower, upper
  for (User *U : Load.users())
    if (isWord(U))
      Words[0].push_back(U);
    else if (match(U, m_LShr(m_Specific(&Load), m_SpecificInt(32))) &&
             all_of(U->users(), isWord))
      append_range(Words[1], U->users());
    else
      return;
  if (Words[0].empty() || Words[1].empty())
    return;
  IRBuilder<> B(&Load);
  auto *Pair = B.CreateAlignedLoad(FixedVectorType::get(B.getInt32Ty(), 2),
                                   Load.getPointerOperand(), Load.getAlign());
  Pair->copyMetadata(
      Load, {LLVMContext::MD_invariant_load, LLVMContext::MD_nontemporal});
  for (unsigned Place : {0, 1}) {
    Value *Word = B.CreateExtractElement(Pair, Place);
    for (User *U : Words[Place])
      U->replaceAllUsesWith(Word);
  }
}

/// Puts a pointer into the same memory where \p Phi has poison, if that is memory
/// that somebody gave the kernel: of its own arrays and parameters, which have no
/// other address, a register more would be all that comes of it.
static void pointSomewhere(PHINode &Phi, const DominatorTree &Tree) {
  if (!Phi.getType()->isPointerTy() ||
      none_of(Phi.incoming_values(),
              [](Value *V) { return isa<UndefValue>(V); }))
    return;
  SmallVector<const Value *> Objects;
  getUnderlyingObjects(&Phi, Objects);
  for (Use &In : Phi.incoming_values()) {
    if (!isa<UndefValue>(In))
      continue;
    const Instruction *From = Phi.getIncomingBlock(In)->getTerminator();
    const auto *There = find_if(Objects, [&](const Value *V) {
      const auto *A = dyn_cast<Argument>(V);
      const auto *Load = dyn_cast<LoadInst>(V);
      return V->getType() == Phi.getType() &&
             ((A && !A->hasByValAttr()) ||
              (Load && Tree.dominates(Load, From)));
    });
    if (There != Objects.end())
      In.set(const_cast<Value *>(*There));
  }
}

static bool isOftenZero(const Instruction &I) {
  return isa<AtomicRMWInst>(I) && I.hasMetadata(OftenZeroKind);
}

/// \p Row: marked atomics that follow each other.
static void skipIfAllZero(ArrayRef<Instruction *> Row) {
  IRBuilder<> B(Row.front());
  Value *Any = nullptr;
  for (Instruction *I : Row) {
    Value *Operand = cast<AtomicRMWInst>(I)->getValOperand();
    Any = Any ? B.CreateOr(Any, Operand) : Operand;
  }
  Instruction *End =
      SplitBlockAndInsertIfThen(B.CreateIsNotNull(Any), Row.front(), false);
  for (Instruction *I : Row)
    I->moveBefore(End);
}

static void skipAdditionsOfZero(Function &F) {
  SmallVector<SmallVector<Instruction *>> Rows;
  for (Instruction &I : instructions(F)) {
    if (!isOftenZero(I))
      continue;
    const Instruction *Before = I.getPrevNonDebugInstruction();
    if (!Before || !isOftenZero(*Before))
      Rows.emplace_back();
    Rows.back().push_back(&I);
  }
  for (ArrayRef<Instruction *> Row : Rows)
    skipIfAllZero(Row);
}

void shapeForPtxas(Function &F) {
  settleLastRounds(F);
  fitWidths(F);
  sinkSharedEnds(F);
  chooseBySelect(F);
  settleOnWays(F);
  branchAroundCostly(F);
  compareMaxima(F);
  readBlockSizesFirst(F);
  skipAdditionsOfZero(F);
  const DominatorTree Tree(F);
  for (Instruction &I : make_early_inc_range(instructions(F)))
    if (auto *Select = dyn_cast<SelectInst>(&I))
      choosePredicateByLogic(*Select);
    else if (auto *Load = dyn_cast<LoadInst>(&I))
      loadPair(*Load);
    else if (auto *Test = dyn_cast<ICmpInst>(&I))
      testShifted(*Test, Tree);
    else if (auto *Phi = dyn_cast<PHINode>(&I))
      pointSomewhere(*Phi, Tree);
}

void shapeForPtxas(Module &M) {
  alignArrays(M);
  for (Function &F : M)
    if (!F.isDeclaration())
      shapeForPtxas(F);
}

} // namespace reconverge::frontend
