//===- warpvm/prepare/Prepare.cpp - Bring a kernel into the VM's form -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   1. clone the kernel and all it can reach into a module of its own
//   2. inline calls; a few functions stay (Callees.cpp), and what follows is
//      done for each of them and for the kernel
//   3. give parameters passed by value a private copy if the caller could tell
//   4. turn constant expressions over module variables into instructions;
//      write out what -ftz=true means
//   5. join accesses of neighbouring words to those of up to 16 bytes that a
//      GPU makes whole; scalarise all other work on vectors: the VM's own run
//      over lanes; settle which NaN is seen; split accesses of odd width
//   6. reducible flow, simplified loops, LCSSA form
//   7. split blocks behind barriers and calls, and before collectives
//
// Numbers (analysis/Numbering.h) sit on terminators. Splitting a block leaves
// the number with the last piece. A block's count is the count of the piece
// that carries its number.
//
// LCSSA matters beyond convenience: it makes every value that leaves a loop go
// through a PHI, and PHIs are the only values that the emitter blends lane by
// lane (see EmitControl.cpp).
//
//===----------------------------------------------------------------------===//

#include "warpvm/prepare/Prepare.h"
#include "analysis/AnalysisManagers.h"
#include "core/Error.h"
#include "warpvm/Layout.h"
#include "warpvm/prepare/AccessNumbers.h"
#include "warpvm/prepare/Callees.h"
#include "warpvm/prepare/Denormals.h"
#include "warpvm/prepare/DeviceIntrinsics.h"
#include "warpvm/prepare/Halves.h"
#include "warpvm/prepare/NaNs.h"
#include "warpvm/prepare/NarrowIntrinsics.h"
#include "warpvm/prepare/OddAccesses.h"
#include "warpvm/prepare/SmallFloats.h"
#include "warpvm/prepare/Tiles.h"
#include "warpvm/prepare/Vectors.h"

#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/FixIrreducible.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"
#include "llvm/Transforms/Vectorize/LoadStoreVectorizer.h"

using namespace llvm;

namespace reconverge::warpvm {

//===----------------------------------------------------------------------===//
// Parameters, constants, blocks
//===----------------------------------------------------------------------===//

/// A by-value parameter of a kernel is one object in parameter memory; a kernel
/// that writes to it, or lets its address go, needs a copy for each thread. Any
/// other function gets its caller's object, which it might meet elsewhere.
static void copyParameters(Function &F, bool IsKernel) {
  IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
  for (Argument &A : F.args()) {
    if (!A.hasByValAttr() || (IsKernel && A.onlyReadsMemory()) || A.use_empty())
      continue;
    bool OnlyLoads = IsKernel;
    SmallVector<Value *> Work{&A};
    while (!Work.empty() && OnlyLoads)
      for (User *U : Work.pop_back_val()->users()) {
        if (isa<GetElementPtrInst, AddrSpaceCastInst>(U))
          Work.push_back(U);
        else if (!isa<LoadInst>(U))
          OnlyLoads = false;
      }
    if (OnlyLoads)
      continue;
    Type *T = A.getParamByValType();
    Align Al = A.getParamAlign().valueOrOne();
    auto *Copy = B.CreateAlloca(T, nullptr, A.getName() + ".copy");
    Copy->setAlignment(Al);
    A.replaceAllUsesWith(Copy);
    B.CreateMemCpy(Copy, Al, &A, Al,
                   F.getParent()->getDataLayout().getTypeAllocSize(T));
  }
}

/// atomicInc, atomicDec and the atomics with a scope (atomicAdd_block, ...)
/// come as NVVM's intrinsics; here they become LLVM's own instructions. The
/// code made of these has the widest scope, stronger than asked for.
static void lowerAtomicIntrinsics(Function &F) {
  using Op = AtomicRMWInst::BinOp;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *II = dyn_cast<IntrinsicInst>(&I);
    if (!II)
      continue;
    StringRef Name = II->getCalledFunction()->getName();
    if (!Name.consume_front("llvm.nvvm.atomic."))
      continue;
    // load.inc.32.p0 or add.gen.i.cta.i32.p0
    Name.consume_front("load.");
    StringRef Operation = Name.split('.').first;
    const bool Real = II->getType()->isFloatingPointTy();
    auto Kind = StringSwitch<Op>(Operation)
                    .Case("add", Real ? Op::FAdd : Op::Add)
                    .Case("exch", Op::Xchg)
                    .Case("max", Op::Max)
                    .Case("min", Op::Min)
                    .Case("and", Op::And)
                    .Case("or", Op::Or)
                    .Case("xor", Op::Xor)
                    .Case("inc", Op::UIncWrap)
                    .Case("dec", Op::UDecWrap)
                    .Default(Op::BAD_BINOP);
    IRBuilder<> B(II);
    const auto Order = AtomicOrdering::Monotonic;
    const SyncScope::ID Scope =
        Name.contains(".cta.")
            ? F.getContext().getOrInsertSyncScopeID("ptx.cta")
            : SyncScope::ID(SyncScope::System);
    Value *Pointer = II->getArgOperand(0), *X = II->getArgOperand(1);
    Instruction *New;
    if (Operation == "cas")
      New = B.CreateAtomicCmpXchg(Pointer, X, II->getArgOperand(2),
                                  MaybeAlign(), Order, Order, Scope);
    else if (Kind != Op::BAD_BINOP)
      New = B.CreateAtomicRMW(Kind, Pointer, X, MaybeAlign(), Order, Scope);
    else
      continue; // the emitter refuses it by name
    takeAccessNumber(*New, *II);
    II->replaceAllUsesWith(Operation == "cas" ? B.CreateExtractValue(New, 0)
                                              : New);
    II->eraseFromParent();
  }
}

static void expandConstants(Function &F) {
  SmallVector<Constant *> Variables;
  for (GlobalVariable &GV : F.getParent()->globals())
    Variables.push_back(&GV);
  for (Function &Other : *F.getParent())
    if (!Other.isIntrinsic())
      Variables.push_back(&Other);
  convertUsersOfConstantsToInstructions(Variables, &F,
                                        /*RemoveDeadConstants=*/false);
}

static void splitAtSynchronisation(Function &F) {
  SmallVector<Instruction *> Before;
  for (Instruction &I : instructions(F)) {
    if (isBarrier(I))
      Before.push_back(I.getNextNode());
    else if (isCollective(I))
      Before.push_back(&I);
  }
  for (Instruction *I : Before) {
    // What a barrier reduces is known only behind it.
    Instruction *Barrier = I->getPrevNode();
    if (Barrier && isBarrier(*Barrier) && !Barrier->use_empty()) {
      IRBuilder<> B(I);
      auto Result = F.getParent()->getOrInsertFunction(
          BarrierResultName, FunctionType::get(B.getInt32Ty(), false));
      Instruction *Call = B.CreateCall(Result);
      Barrier->replaceAllUsesWith(Call);
      I = Call;
    }
    if (&I->getParent()->front() != I)
      I->getParent()->splitBasicBlock(I);
  }
}

static bool isIrreducible(Function &F) {
  DominatorTree DT(F);
  LoopInfo LI(DT);
  ReversePostOrderTraversal<Function *> RPO(&F);
  return containsIrreducibleCFG<BasicBlock *>(RPO, LI);
}

/// CUDA's vector types are structures, which clang takes apart. A GPU's
/// compiler joins such accesses again, and the GPU makes each whole.
static void joinAccesses(Function &F) {
  JoinedAccesses Joined(F);
  analysis::AnalysisManagers Analyses;
  FunctionPassManager FPM;
  FPM.addPass(LoadStoreVectorizerPass());
  FPM.run(F, Analyses.Functions);
  Joined.number();
}

static void normalise(Function &F) {
  analysis::AnalysisManagers Analyses;
  ScalarizerPassOptions Scalarize;
  // What a GPU makes in one access stays one (EmitWide.cpp).
  Scalarize.ScalarizeLoadStore = false;
  FunctionPassManager FPM;
  FPM.addPass(ScalarizerPass(Scalarize));
  if (isIrreducible(F)) {
    FPM.addPass(LowerSwitchPass());
    FPM.addPass(FixIrreduciblePass());
  }
  FPM.addPass(LoopSimplifyPass());
  FPM.addPass(LCSSAPass());
  FPM.run(F, Analyses.Functions);
}

static Error refuse(const Instruction &I, const Twine &What) {
  return userError(placeOf(I) + "function " +
                   demangle(I.getFunction()->getName()) + ": " + What +
                   " cannot run on the CPU executor");
}

static constexpr StringLiteral ExitKind = "rcvm.exit";

bool endsThread(const Instruction &Return) {
  return Return.hasMetadata(ExitKind);
}

/// `exit` ends a thread wherever it is. In the kernel that is a return, marked
/// since who comes to it has left whatever others do; in another function, one
/// after which the thread does not go on.
static void lowerExits(Function &F, bool IsKernel) {
  SmallVector<IntrinsicInst *> Exits;
  for (Instruction &I : instructions(F))
    if (auto *II = dyn_cast<IntrinsicInst>(&I);
        II && II->getIntrinsicID() == Intrinsic::nvvm_exit)
      Exits.push_back(II);
  if (Exits.empty())
    return;
  auto *Return = BasicBlock::Create(F.getContext(), "exit", &F);
  IRBuilder<> B(Return);
  if (F.getReturnType()->isVoidTy())
    B.CreateRetVoid();
  else
    B.CreateRet(Constant::getNullValue(F.getReturnType()));
  Return->getTerminator()->setMetadata(ExitKind,
                                       MDNode::get(F.getContext(), {}));
  for (IntrinsicInst *Exit : Exits) {
    // The block ends here; what it was and counted stays with this piece.
    BasicBlock *BB = Exit->getParent();
    SmallVector<std::pair<unsigned, MDNode *>> Nodes;
    BB->getTerminator()->getAllMetadataOtherThanDebugLoc(Nodes);
    BB->splitBasicBlock(Exit);
    BB->getTerminator()->eraseFromParent();
    B.SetInsertPoint(BB);
    if (!IsKernel)
      B.CreateCall(F.getParent()->getOrInsertFunction(
          ExitName, FunctionType::get(B.getVoidTy(), false)));
    Instruction *Leave = B.CreateBr(Return);
    for (auto [Kind, Node] : Nodes)
      Leave->setMetadata(Kind, Node);
  }
}

/// Gives the locals of \p P's function places in a lane's local memory. An
/// alloca that runs at most once in a call is as good as one in the entry
/// block.
static Error layOutLocals(PreparedKernel &K, PreparedFunction &P) {
  const DataLayout &DL = K.M->getDataLayout();
  DominatorTree DT(*P.F);
  LoopInfo LI(DT);
  uint64_t Offset = 0;
  for (Instruction &I : instructions(*P.F))
    if (auto *AI = dyn_cast<AllocaInst>(&I)) {
      auto Size = AI->getAllocationSize(DL);
      if (!Size)
        return refuse(I, "an allocation of variable size on the stack");
      if (LI.getLoopFor(AI->getParent()))
        return refuse(I, "an allocation on the stack in a loop (alloca)");
      Offset = alignTo(Offset, AI->getAlign());
      K.LocalOffsets[AI] = Offset;
      Offset += Size->getFixedValue();
    }
  P.LocalBytes = alignTo(Offset, 64);
  // ptxas says no to more, too.
  if (P.LocalBytes > StackLimit)
    return userError(
        "function " + demangle(P.F->getName()) + " has " + Twine(P.LocalBytes) +
            " bytes of local arrays; a thread may have " + Twine(StackLimit),
        "Put large arrays into device memory.");
  return Error::success();
}

/// What a function must not have, its calls aside.
static Error refuseAssembly(Function &F) {
  for (Instruction &I : instructions(F))
    if (auto *CB = dyn_cast<CallBase>(&I); CB && CB->isInlineAsm())
      return refuse(
          I, "inline PTX \"" +
                 cast<InlineAsm>(CB->getCalledOperand())->getAsmString() +
                 "\"");
  return Error::success();
}

static Expected<PreparedFunction> prepareFunction(PreparedKernel &K,
                                                  Function &F) {
  PreparedFunction P;
  P.F = &F;
  const bool IsKernel = &F == K.F;
  if (Error E = refuseAssembly(F))
    return std::move(E);
  lowerExits(F, IsKernel);
  lowerAtomicIntrinsics(F);
  lowerDeviceIntrinsics(F, K.Shared.Reserved);
  lowerTiles(F);
  lowerSmallFloats(F);
  lowerNarrowIntrinsics(F);
  copyParameters(F, IsKernel);
  expandConstants(F);
  removeUnreachableBlocks(F);
  splitAtSynchronisation(F);
  splitAtCalls(F);
  joinAccesses(F);
  unpackVectors(F);
  flushDenormals(F);
  normalise(F);
  settleNaNs(F);
  lowerHalves(F);
  splitOddAccesses(F);
  // The scalariser may leave constant expressions again.
  expandConstants(F);
  if (isIrreducible(F))
    return userError("function " + demangle(F.getName()) +
                     ": irreducible control flow that could not be made "
                     "reducible");
  if (Error E = layOutLocals(K, P))
    return std::move(E);
  assert(!verifyFunction(F, &errs()) && "preparation broke a function");
  return P;
}

Expected<PreparedKernel> prepareKernel(Function &Kernel) {
  PreparedKernel K;
  ValueToValueMapTy Map;
  auto Reached = reachableFrom(Kernel);
  K.M = CloneModule(*Kernel.getParent(), Map, [&](const GlobalValue *GV) {
    return Reached.contains(GV) && isa<Function>(GV);
  });
  K.F = cast<Function>(Map[&Kernel]);

  K.Shared = sharedLayout(Kernel);
  K.Shared.Offsets.clear();
  for (auto [GV, Offset] : sharedLayout(Kernel).Offsets)
    K.Shared.Offsets[cast<GlobalVariable>(Map[GV])] = Offset;
  unsigned Index = 0;
  for (GlobalVariable *GV : deviceVariables(*Kernel.getParent()))
    K.Globals[cast<GlobalVariable>(Map[GV])] = Index++;
  for (Function *F : addressedFunctions(*Kernel.getParent())) {
    K.Addressed.push_back(cast<Function>(Map[F]));
    K.Globals[K.Addressed.back()] = Index++;
  }

  auto Called = inlineCalls(*K.F, K.Addressed);
  if (!Called)
    return Called.takeError();
  SmallVector<Function *> Functions{K.F};
  append_range(Functions, Called->all(*K.M));
  for (Function *F : Functions) {
    const bool OnlyPointed = F != K.F && !Called->ByName.contains(F);
    auto P = prepareFunction(K, *F);
    if (P) {
      P->OnlyPointed = OnlyPointed;
      K.Functions.push_back(*P);
    } else if (OnlyPointed) {
      K.Refused[F] = toString(P.takeError());
    } else {
      return P.takeError();
    }
  }
  K.PointerTypes = std::move(Called->Types);
  return K;
}

} // namespace reconverge::warpvm
