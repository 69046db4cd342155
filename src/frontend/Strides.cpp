//===- frontend/Strides.cpp - Steps of addresses in loops -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   for (J = 0; J < N; ++J) use(A[J * Pitch]);     unrolled by four
//
// LLVM's loop strength reduction makes p, p + 4 n, p + 8 n, p + 12 n of it, and
// adds 16 n for the next round, n being the sign-extended pitch. ptxas takes
// such an addition for one instruction, R * constant + p, with the parameter
// read anew each round: a load from the constant bank, which queues behind the
// loads and stores of all warps, on the way to the next address. On an H100 a
// loop over two 16-bit arrays took 1.18 times as long for it in our code and
// 1.37 times in clang's. Two rewrites keep it from that:
//
//   chains    an address is made from the one before by the smallest step:
//             ((p + s) + s) + s; one stride is alive for three
//   copies    s = shl (sext n), 2 becomes mul.wide in PTX, which ptxas fuses
//             with the addition. A copy between the two keeps them two, and
//             ptxas moves a shift of 64 bits out of the loop
//
// The copy is a line of PTX that the optimiser cannot look into and ptxas can:
// there it costs nothing.
//
//===----------------------------------------------------------------------===//

#include "frontend/Strides.h"

#include "analysis/device/AddressSpace.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Transforms/Scalar.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace reconverge::frontend {

namespace {

/// How many addresses before an address are looked at.
constexpr unsigned Reach = 16;

/// An address in a loop: a base and an offset that is the same in all rounds.
struct Step {
  Instruction *Sum;
  unsigned Offset; ///< which operand
  Value *offset() const { return Sum->getOperand(Offset); }
};

class Strides : public FunctionPass {
public:
  static char ID;
  Strides() : FunctionPass(ID) {}

  StringRef getPassName() const override { return "Strides of addresses"; }

  void getAnalysisUsage(AnalysisUsage &Uses) const override {
    Uses.setPreservesCFG();
    Uses.addRequired<DominatorTreeWrapperPass>();
    Uses.addRequired<LoopInfoWrapperPass>();
    Uses.addRequired<ScalarEvolutionWrapperPass>();
  }

  bool runOnFunction(Function &F) override {
    Tree = &getAnalysis<DominatorTreeWrapperPass>().getDomTree();
    Loops = &getAnalysis<LoopInfoWrapperPass>().getLoopInfo();
    SE = &getAnalysis<ScalarEvolutionWrapperPass>().getSE();
    Copies.clear();
    bool Changed = false;
    for (Loop *L : Loops->getLoopsInPreorder()) {
      SmallVector<Step> Steps = stepsOf(*L);
      Changed |= chain(*L, Steps);
      for (const Step &S : Steps)
        Changed |= keepApart(S);
    }
    return Changed;
  }

private:
  const DominatorTree *Tree = nullptr;
  LoopInfo *Loops = nullptr;
  ScalarEvolution *SE = nullptr;
  DenseMap<Value *, Value *> Copies; ///< of extended numbers

  /// In an order in which what dominates comes first.
  SmallVector<Step> stepsOf(Loop &L) const {
    SmallVector<Step> Steps;
    LoopBlocksRPO Order(&L);
    Order.perform(Loops);
    for (BasicBlock *Block : Order)
      if (Loops->getLoopFor(Block) == &L)
        for (Instruction &I : *Block)
          if (std::optional<unsigned> Offset = offsetOf(I, L))
            Steps.push_back({&I, *Offset});
    return Steps;
  }

  static std::optional<unsigned> offsetOf(const Instruction &I, const Loop &L) {
    const auto IsStride = [&](unsigned Operand) {
      const auto *By = dyn_cast<Instruction>(I.getOperand(Operand));
      return By && L.isLoopInvariant(By);
    };
    if (auto *Place = dyn_cast<GetElementPtrInst>(&I)) {
      if (Place->getNumIndices() == 1 &&
          Place->getSourceElementType()->isIntegerTy(8) && IsStride(1) &&
          !L.isLoopInvariant(Place->getPointerOperand()))
        return 1;
    } else if (I.getOpcode() == Instruction::Add &&
               I.getType()->isIntegerTy(64))
      for (unsigned Operand : {1, 0})
        if (IsStride(Operand) && !L.isLoopInvariant(I.getOperand(1 - Operand)))
          return Operand;
    return std::nullopt;
  }

  /// Which of the steps' offsets leads from \p From to \p To.
  Value *offsetBetween(Instruction *From, Instruction *To,
                       ArrayRef<Step> Steps) const {
    if (From->getType() != To->getType() || !Tree->dominates(From, To))
      return nullptr;
    const SCEV *Between = SE->getMinusSCEV(SE->getSCEV(To), SE->getSCEV(From));
    if (isa<SCEVCouldNotCompute>(Between) || isa<SCEVConstant>(Between))
      return nullptr;
    for (const Step &S : Steps)
      if (SE->getSCEV(S.offset()) == Between)
        return S.offset();
    return nullptr;
  }

  bool chain(Loop &L, MutableArrayRef<Step> Steps) {
    bool Changed = false;
    for (size_t I = 1; I < Steps.size(); ++I)
      for (size_t Before = I; Before-- > (I > Reach ? I - Reach : 0);) {
        Instruction *From = Steps[Before].Sum, *To = Steps[I].Sum;
        Value *Between = offsetBetween(From, To, Steps.take_front(I));
        if (!Between || !L.isLoopInvariant(Between))
          continue;
        if (Between == Steps[I].offset())
          break; // by this step already
        auto *Dead = dyn_cast<Instruction>(Steps[I].offset());
        To->setOperand(1 - Steps[I].Offset, From);
        To->setOperand(Steps[I].Offset, Between);
        To->dropPoisonGeneratingFlags();
        if (Dead)
          RecursivelyDeleteTriviallyDeadInstructions(Dead);
        Changed = true;
        break;
      }
    return Changed;
  }

  /// A copy of \p Wide, an extended \p Narrow, that is nobody's operand yet.
  Value *copyOf(Value *Narrow, bool Signed, Instruction *Before) {
    IRBuilder<> B(Before);
    Value *&Copy = Copies[Narrow];
    if (!Copy || !Tree->dominates(Copy, Before)) {
      Type *Wide = B.getInt64Ty();
      Value *Extended =
          Signed ? B.CreateSExt(Narrow, Wide) : B.CreateZExt(Narrow, Wide);
      Copy = B.CreateCall(InlineAsm::get(FunctionType::get(Wide, Wide, false),
                                         "mov.b64 $0, $1;", "=l,l",
                                         /*hasSideEffects=*/false),
                          Extended);
    }
    return Copy;
  }

  bool keepApart(const Step &S) {
    auto *Offset = dyn_cast<Instruction>(S.offset());
    if (!S.Sum->getType()->isPointerTy() ||
        S.Sum->getType()->getPointerAddressSpace() == analysis::SharedSpace)
      return false; // its addresses have 32 bits
    if (!Offset || !Offset->getType()->isIntegerTy(64) || isa<PHINode>(Offset))
      return false;
    const auto *Product = dyn_cast<SCEVMulExpr>(SE->getSCEV(Offset));
    if (!Product || Product->getNumOperands() != 2)
      return false;
    const auto *Factor = dyn_cast<SCEVConstant>(Product->getOperand(0));
    const auto *Extended =
        dyn_cast<SCEVIntegralCastExpr>(Product->getOperand(1));
    if (!Factor || !Factor->getAPInt().isPowerOf2() || !Extended ||
        isa<SCEVTruncateExpr>(Extended))
      return false;
    const auto *Narrow = dyn_cast<SCEVUnknown>(Extended->getOperand());
    if (!Narrow || !Narrow->getType()->isIntegerTy(32) ||
        !dominates(Narrow->getValue(), Offset))
      return false;
    Value *Copy =
        copyOf(Narrow->getValue(), isa<SCEVSignExtendExpr>(Extended), Offset);
    IRBuilder<> B(Offset);
    Offset->replaceAllUsesWith(
        B.CreateShl(Copy, Factor->getAPInt().logBase2()));
    RecursivelyDeleteTriviallyDeadInstructions(Offset);
    return true;
  }

  bool dominates(Value *V, const Instruction *I) const {
    return !isa<Instruction>(V) || Tree->dominates(V, I);
  }
};

char Strides::ID = 0;

} // namespace

void keepStrides(TargetPassConfig &Passes) {
  const std::unique_ptr<Pass> Reduction(createLoopStrengthReducePass());
  Passes.insertPass(Reduction->getPassID(), new Strides());
}

} // namespace reconverge::frontend
