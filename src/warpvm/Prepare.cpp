//===- warpvm/Prepare.cpp - Bring a kernel into the VM's form -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   1. clone the kernel and all it can reach into a module of its own
//   2. inline every call (recursion and calls through pointers are refused)
//   3. give parameters passed by value, if written, a private copy
//   4. turn constant expressions over module variables into instructions
//   5. scalarise vectors: the VM's own vectors run over lanes
//   6. reducible flow, simplified loops, LCSSA form
//   7. split blocks behind barriers and before collectives
//
// Numbers (analysis/Numbering.h) sit on terminators. Inlining erases the
// callee's `ret`, so each returning block first hands its number to a branch;
// splitting a block leaves the number with the last piece. A block's count is
// the count of the piece that carries its number.
//
// LCSSA matters beyond convenience: it makes every value that leaves a loop go
// through a PHI, and PHIs are the only values that the emitter blends lane by
// lane (see EmitControl.cpp).
//
//===----------------------------------------------------------------------===//

#include "warpvm/Prepare.h"
#include "analysis/Numbering.h"
#include "analysis/Places.h"
#include "core/Error.h"
#include "warpvm/Vectors.h"

#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/FixIrreducible.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"

using namespace llvm;

namespace reconverge::warpvm {

namespace {
enum : unsigned { SharedSpace = 3 };
} // namespace

const DILocation *userLocation(const Instruction &I) {
  const DILocation *DL = I.getDebugLoc();
  // Out of the compiler's own headers, to the line that used them.
  while (DL && DL->getInlinedAt() &&
         sys::path::filename(DL->getFilename()).starts_with("__clang_cuda"))
    DL = DL->getInlinedAt();
  return DL;
}

std::string placeOf(const Instruction &I) {
  const DILocation *DL = userLocation(I);
  if (!DL)
    return "";
  return (analysis::sourcePath(*DL) + ":" + Twine(DL->getLine()) + ": ").str();
}

bool isBarrier(const Instruction &I) {
  auto *II = dyn_cast<IntrinsicInst>(&I);
  if (!II)
    return false;
  switch (II->getIntrinsicID()) {
  case Intrinsic::nvvm_barrier0:
  case Intrinsic::nvvm_barrier0_popc:
  case Intrinsic::nvvm_barrier0_and:
  case Intrinsic::nvvm_barrier0_or:
    return true;
  case Intrinsic::nvvm_barrier_sync:
  case Intrinsic::nvvm_barrier_n: {
    auto *Id = dyn_cast<ConstantInt>(II->getArgOperand(0));
    return Id && Id->isZero(); // named barriers are refused by the emitter
  }
  default:
    return false;
  }
}

Value *membersOf(const IntrinsicInst &Collective) {
  bool Redux =
      Collective.getCalledFunction()->getName().starts_with("llvm.nvvm.redux.");
  return Collective.getArgOperand(Redux ? 1 : 0);
}

bool isCollective(const Instruction &I) {
  auto *II = dyn_cast<IntrinsicInst>(&I);
  if (!II)
    return false;
  switch (II->getIntrinsicID()) {
  case Intrinsic::nvvm_bar_warp_sync:
  case Intrinsic::nvvm_shfl_sync_idx_i32:
  case Intrinsic::nvvm_shfl_sync_up_i32:
  case Intrinsic::nvvm_shfl_sync_down_i32:
  case Intrinsic::nvvm_shfl_sync_bfly_i32:
  case Intrinsic::nvvm_shfl_sync_idx_f32:
  case Intrinsic::nvvm_shfl_sync_up_f32:
  case Intrinsic::nvvm_shfl_sync_down_f32:
  case Intrinsic::nvvm_shfl_sync_bfly_f32:
  case Intrinsic::nvvm_shfl_sync_idx_i32p:
  case Intrinsic::nvvm_shfl_sync_up_i32p:
  case Intrinsic::nvvm_shfl_sync_down_i32p:
  case Intrinsic::nvvm_shfl_sync_bfly_i32p:
  case Intrinsic::nvvm_shfl_sync_idx_f32p:
  case Intrinsic::nvvm_shfl_sync_up_f32p:
  case Intrinsic::nvvm_shfl_sync_down_f32p:
  case Intrinsic::nvvm_shfl_sync_bfly_f32p:
  case Intrinsic::nvvm_vote_all_sync:
  case Intrinsic::nvvm_vote_any_sync:
  case Intrinsic::nvvm_vote_uni_sync:
  case Intrinsic::nvvm_vote_ballot_sync:
  case Intrinsic::nvvm_match_any_sync_i32:
  case Intrinsic::nvvm_match_any_sync_i64:
  case Intrinsic::nvvm_match_all_sync_i32p:
  case Intrinsic::nvvm_match_all_sync_i64p:
  case Intrinsic::nvvm_redux_sync_add:
  case Intrinsic::nvvm_redux_sync_min:
  case Intrinsic::nvvm_redux_sync_max:
  case Intrinsic::nvvm_redux_sync_umin:
  case Intrinsic::nvvm_redux_sync_umax:
  case Intrinsic::nvvm_redux_sync_and:
  case Intrinsic::nvvm_redux_sync_or:
  case Intrinsic::nvvm_redux_sync_xor:
    return true;
  default:
    return false;
  }
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

/// Everything with a definition that \p Root reaches, in discovery order.
static SetVector<const GlobalValue *> reachableFrom(const GlobalValue &Root) {
  SetVector<const GlobalValue *> Seen;
  SmallVector<const Value *> Work{&Root};
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
    if (GV.getAddressSpace() != SharedSpace || !Reached.contains(&GV) ||
        GV.isDeclaration())
      continue;
    auto A = GV.getAlign().value_or(DL.getABITypeAlign(GV.getValueType()));
    Layout.Bytes = alignTo(Layout.Bytes, A);
    Layout.Offsets[&GV] = Layout.Bytes;
    Layout.Bytes += DL.getTypeAllocSize(GV.getValueType());
  }
  // `extern __shared__` variables all begin where the static ones end.
  for (const GlobalVariable &GV : Kernel.getParent()->globals())
    if (GV.getAddressSpace() == SharedSpace && GV.isDeclaration() &&
        Reached.contains(&GV)) {
      Align = std::max<uint64_t>(Align, GV.getAlign().valueOrOne().value());
      Layout.Bytes = alignTo(Layout.Bytes, Align);
    }
  for (const GlobalVariable &GV : Kernel.getParent()->globals())
    if (GV.getAddressSpace() == SharedSpace && GV.isDeclaration() &&
        Reached.contains(&GV))
      Layout.Offsets[&GV] = Layout.Bytes;
  return Layout;
}

SmallVector<GlobalVariable *, 8> deviceVariables(Module &M) {
  SmallVector<GlobalVariable *, 8> Variables;
  for (GlobalVariable &GV : M.globals())
    if (GV.getAddressSpace() != SharedSpace &&
        !GV.getName().starts_with("llvm."))
      Variables.push_back(&GV);
  return Variables;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static Error refuse(const Instruction &I, const Twine &What,
                    const Twine &Remedy = "") {
  return userError(placeOf(I) + "kernel " +
                       demangle(I.getFunction()->getName()) + ": " + What +
                       " cannot run on the CPU executor",
                   Remedy);
}

/// A function that can call itself, or null.
static const Function *findRecursion(const Function &Root) {
  // Colours: absent, 1 on the path, 2 done.
  DenseMap<const Function *, int> Colour;
  std::function<const Function *(const Function &)> Visit =
      [&](const Function &F) -> const Function * {
    Colour[&F] = 1;
    for (const Instruction &I : instructions(F))
      if (auto *CB = dyn_cast<CallBase>(&I))
        if (const Function *Callee = CB->getCalledFunction();
            Callee && !Callee->isDeclaration()) {
          if (Colour.lookup(Callee) == 1)
            return Callee;
          if (!Colour.lookup(Callee))
            if (const Function *Found = Visit(*Callee))
              return Found;
        }
    Colour[&F] = 2;
    return nullptr;
  };
  return Visit(Root);
}

/// Gives each returning block of \p F a branch that keeps its number.
static void keepNumbersOverReturns(Function &F) {
  for (BasicBlock &BB : make_early_inc_range(F))
    if (auto *Ret = dyn_cast<ReturnInst>(BB.getTerminator())) {
      SmallVector<std::pair<unsigned, MDNode *>> Nodes;
      Ret->getAllMetadataOtherThanDebugLoc(Nodes);
      BB.splitBasicBlock(Ret);
      for (auto [Kind, Node] : Nodes) {
        BB.getTerminator()->setMetadata(Kind, Node);
        Ret->setMetadata(Kind, nullptr);
      }
    }
}

static Error inlineEverything(Function &F) {
  if (const Function *R = findRecursion(F))
    return userError("kernel " + demangle(F.getName()) + ": function " +
                         demangle(R->getName()) +
                         " calls itself; recursion cannot run on the CPU "
                         "executor",
                     "Write it as a loop with a stack of its own.");
  for (Function &Callee : *F.getParent())
    if (&Callee != &F && !Callee.isDeclaration())
      keepNumbersOverReturns(Callee);
  SmallVector<CallBase *> Work;
  auto Collect = [&](auto &&Range) {
    for (Instruction &I : Range)
      if (auto *CB = dyn_cast<CallBase>(&I))
        if (Function *Callee = CB->getCalledFunction();
            Callee && !Callee->isDeclaration())
          Work.push_back(CB);
  };
  // A round for each level of calls: what a round inlines brings the next.
  for (Collect(instructions(F)); !Work.empty(); Collect(instructions(F))) {
    for (CallBase *CB : Work) {
      InlineFunctionInfo Info;
      InlineResult R = InlineFunction(*CB, Info);
      if (!R.isSuccess())
        return refuse(*CB, "a call that cannot be inlined (" +
                               Twine(R.getFailureReason()) + ")");
    }
    Work.clear();
  }
  for (Instruction &I : instructions(F))
    if (auto *CB = dyn_cast<CallBase>(&I)) {
      if (CB->isInlineAsm())
        return refuse(
            I, "inline PTX \"" +
                   cast<InlineAsm>(CB->getCalledOperand())->getAsmString() +
                   "\"");
      if (!CB->getCalledFunction())
        return refuse(I, "a call through a pointer");
    }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Parameters, constants, blocks
//===----------------------------------------------------------------------===//

/// A by-value parameter is one object in parameter memory; a kernel that writes
/// to it, or lets its address go, needs a copy for each thread.
static void copyWrittenParameters(Function &F) {
  IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
  for (Argument &A : F.args()) {
    if (!A.hasByValAttr() || A.onlyReadsMemory() || A.use_empty())
      continue;
    bool OnlyLoads = true;
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
/// come as NVVM's intrinsics; here they become LLVM's own instructions, which
/// have the widest scope: stronger than asked for.
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
    Value *Pointer = II->getArgOperand(0), *X = II->getArgOperand(1), *New;
    if (Operation == "cas")
      New = B.CreateExtractValue(
          B.CreateAtomicCmpXchg(Pointer, X, II->getArgOperand(2), MaybeAlign(),
                                Order, Order),
          0);
    else if (Kind != Op::BAD_BINOP)
      New = B.CreateAtomicRMW(Kind, Pointer, X, MaybeAlign(), Order);
    else
      continue; // the emitter refuses it by name
    II->replaceAllUsesWith(New);
    II->eraseFromParent();
  }
}

static void expandConstants(Function &F) {
  SmallVector<Constant *> Variables;
  for (GlobalVariable &GV : F.getParent()->globals())
    Variables.push_back(&GV);
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

static void normalise(Function &F) {
  PassBuilder PB;
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;
  PB.registerModuleAnalyses(MAM);
  PB.registerCGSCCAnalyses(CGAM);
  PB.registerFunctionAnalyses(FAM);
  PB.registerLoopAnalyses(LAM);
  PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);

  ScalarizerPassOptions Scalarize;
  Scalarize.ScalarizeLoadStore = true;
  FunctionPassManager FPM;
  FPM.addPass(ScalarizerPass(Scalarize));
  if (isIrreducible(F)) {
    FPM.addPass(LowerSwitchPass());
    FPM.addPass(FixIrreduciblePass());
  }
  FPM.addPass(LoopSimplifyPass());
  FPM.addPass(LCSSAPass());
  FPM.run(F, FAM);
}

static Error layOutLocals(PreparedKernel &K) {
  const DataLayout &DL = K.M->getDataLayout();
  uint64_t Offset = 0;
  for (Instruction &I : instructions(*K.F))
    if (auto *AI = dyn_cast<AllocaInst>(&I)) {
      if (!AI->isStaticAlloca())
        return refuse(I, "an allocation of variable size on the stack");
      Offset = alignTo(Offset, AI->getAlign());
      K.LocalOffsets[AI] = Offset;
      Offset += AI->getAllocationSize(DL)->getFixedValue();
    }
  K.LocalBytes = alignTo(Offset, 64);
  return Error::success();
}

Expected<PreparedKernel> prepareKernel(Function &Kernel) {
  PreparedKernel K;
  ValueToValueMapTy Map;
  auto Reached = reachableFrom(Kernel);
  K.M = CloneModule(*Kernel.getParent(), Map, [&](const GlobalValue *GV) {
    return Reached.contains(GV) && isa<Function>(GV);
  });
  K.F = cast<Function>(Map[&Kernel]);

  for (auto [GV, Offset] : sharedLayout(Kernel).Offsets)
    K.Shared.Offsets[cast<GlobalVariable>(Map[GV])] = Offset;
  K.Shared.Bytes = sharedLayout(Kernel).Bytes;
  unsigned Index = 0;
  for (GlobalVariable *GV : deviceVariables(*Kernel.getParent()))
    K.Globals[cast<GlobalVariable>(Map[GV])] = Index++;

  if (Error E = inlineEverything(*K.F))
    return std::move(E);
  lowerAtomicIntrinsics(*K.F);
  copyWrittenParameters(*K.F);
  expandConstants(*K.F);
  removeUnreachableBlocks(*K.F);
  splitAtSynchronisation(*K.F);
  unpackVectors(*K.F);
  normalise(*K.F);
  // The scalariser may leave constant expressions again.
  expandConstants(*K.F);
  if (isIrreducible(*K.F))
    return userError("kernel " + demangle(Kernel.getName()) +
                     ": irreducible control flow that could not be made "
                     "reducible");
  if (Error E = layOutLocals(K))
    return std::move(E);
  assert(!verifyFunction(*K.F, &errs()) && "preparation broke the kernel");
  return K;
}

} // namespace reconverge::warpvm
