//===- warpvm/emit/EmitControl.cpp - Masks, PHIs and counters of a region -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A region becomes one function in which every block stands once, in the plan's
// order, behind a test of its mask:
//
//      entry:   in[b0] = active                  for a loop h .. latch:
//      check b: m = in[b]; in[b] = 0            check h: in[h] != 0 ? body h
//               m != 0 ? body b : next                   : behind the loop
//      body b:  instructions over m             ...
//               in[s] |= m & cond(s), each s    again h: in[h] != 0 ? body h
//                                                        : behind the loop
//
// in[] and every value read outside its block are stack variables; mem2reg
// turns them into SSA form afterwards.
//
// Why values may be overwritten for idle lanes. All lanes of a loop iteration
// pass a block together (the order puts the latch last), so whoever reads a
// value that is no PHI reads it in the iteration that wrote it. Only PHIs carry
// a value further: LCSSA sends everything that leaves a loop through one. So a
// PHI is blended lane by lane under the edge's mask, except at a loop header
// (idle lanes never read it) and on the first edge into a join. Lanes that wait
// while others go round their loop are never inside of a region: edges into a
// collective leave it, and loops that spin are not taken into one (Regions.cpp).
//
// Slots in the frame outlive the region, and lanes of the same warp may be run
// apart in between (Frontier.cpp): stores there are always blended.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Emitter.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::warpvm {

RegionEmitter::RegionEmitter(KernelContext &C, unsigned RegionIndex,
                             Module &Out)
    : C(C), R(C.Plan.Regions[RegionIndex]), RegionIndex(RegionIndex),
      W(C.Options.WarpSize), Out(Out), B(Out.getContext()),
      MaskTy(B.getIntNTy(W)), PtrTy(B.getPtrTy()), I32(B.getInt32Ty()),
      I64(B.getInt64Ty()) {}

Expected<Function *> RegionEmitter::run() {
  begin();
  if (Error E = emitBlocks())
    return std::move(E);
  finish();
  return Fn;
}

void RegionEmitter::begin() {
  auto *FT = FunctionType::get(B.getVoidTy(), {PtrTy, PtrTy, PtrTy, I64, PtrTy},
                               false);
  Fn = Function::Create(FT, GlobalValue::InternalLinkage,
                        "region" + Twine(RegionIndex), Out);
  FramePtr = Fn->getArg(0);
  ScalarPtr = Fn->getArg(1);
  Ctx = Fn->getArg(2);
  OutPtr = Fn->getArg(4);
  Fn->getArg(0)->setName("frame");
  Fn->getArg(1)->setName("scalars");
  Fn->getArg(2)->setName("ctx");
  Fn->getArg(3)->setName("active");
  Fn->getArg(4)->setName("out");
  for (unsigned I : {0u, 1u, 4u})
    Fn->addParamAttr(I, Attribute::NoAlias);
  Fn->addParamAttr(0, Attribute::getWithAlignment(Out.getContext(), Align(64)));
  Fn->addFnAttr(Attribute::NoUnwind);
  Fn->addFnAttr("min-legal-vector-width", "512");
  Fn->addFnAttr("prefer-vector-width", "512");

  EntryBB = BasicBlock::Create(Out.getContext(), "entry", Fn);
  B.SetInsertPoint(EntryBB);
  ActiveArg = B.CreateTrunc(Fn->getArg(3), MaskTy, "active");
  for (unsigned I = R.First; I <= R.Last; ++I) {
    auto *A = B.CreateAlloca(MaskTy, nullptr, "in");
    B.CreateStore(I == R.First ? ActiveArg : ConstantInt::get(MaskTy, 0), A);
    InMask[C.Plan.Order[I]] = A;
  }
  for (const RegionTarget &T : R.Targets) {
    auto *A = B.CreateAlloca(MaskTy, nullptr, "out." + T.Block->getName());
    B.CreateStore(ConstantInt::get(MaskTy, 0), A);
    OutMasks.push_back(A);
  }
  SplitSeen = B.CreateAlloca(B.getInt1Ty(), nullptr, "split");
  B.CreateStore(B.getFalse(), SplitSeen);
  // PHIs of the entry block begin with what other regions left in the frame.
  EntryEnd = B.CreateUnreachable(); // replaced by a branch in emitBlocks
  for (PHINode &Phi : C.Plan.Order[R.First]->phis())
    for (unsigned P = 0, N = leavesOf(Phi.getType()).size(); P < N; ++P) {
      auto *Var = variable(&Phi, P);
      B.SetInsertPoint(EntryEnd);
      B.CreateStore(loadFrame(&Phi, P), Var);
    }
}

/// Control passes from \p From to \p To with the same lanes and nothing else
/// can enter \p To: one straight piece of code.
bool RegionEmitter::fallsInto(BasicBlock *From, BasicBlock *To) const {
  return From->getSingleSuccessor() == To &&
         To->getSinglePredecessor() == From && C.Plan.isInternal(*From, *To) &&
         C.Plan.Position.lookup(To) == C.Plan.Position.lookup(From) + 1;
}

Error RegionEmitter::emitBlocks() {
  LLVMContext &Context = Out.getContext();
  const unsigned N = R.Last - R.First + 1;
  auto BlockAt = [&](unsigned I) { return C.Plan.Order[R.First + I]; };

  // Loops that lie wholly inside end at a position, innermost first.
  SmallVector<SmallVector<unsigned, 2>> EndingAt(N + 1);
  SmallVector<unsigned> EndOf(N, 0);
  for (unsigned I = N; I-- > 0;)
    if (unsigned End = C.Plan.LoopEnd.lookup(BlockAt(I));
        End && End <= R.Last + 1) {
      bool Loops = any_of(predecessors(BlockAt(I)), [&](BasicBlock *P) {
        return C.Plan.isInternal(*P, *BlockAt(I)) &&
               C.Plan.Position.lookup(P) >= R.First + I;
      });
      if (Loops) {
        EndOf[I] = End - R.First;
        EndingAt[EndOf[I]].push_back(I);
      }
    }

  SmallVector<BasicBlock *> Check(N + 1), Body(N), Again(N, nullptr);
  for (unsigned I = 0; I <= N; ++I) {
    for (unsigned H : EndingAt[I])
      Again[H] = BasicBlock::Create(Context, "again", Fn);
    Check[I] = BasicBlock::Create(Context, I == N ? "exit" : "check", Fn);
    if (I < N)
      Body[I] = BasicBlock::Create(Context, "body", Fn);
  }
  // Where control goes that arrives at position I from before it.
  auto Arrive = [&](unsigned I) {
    return EndingAt[I].empty() ? Check[I] : Again[EndingAt[I].front()];
  };
  auto BehindLoop = [&](unsigned H) {
    auto &Here = EndingAt[EndOf[H]];
    auto It = llvm::find(Here, H) + 1;
    return It == Here.end() ? Check[EndOf[H]] : Again[*It];
  };

  // A position that falls into the next has no check of its own.
  for (unsigned I = 0; I < N; ++I) {
    BasicBlock *BB = BlockAt(I);
    B.SetInsertPoint(Check[I]);
    bool Inlined = I > 0 && fallsInto(BlockAt(I - 1), BB);
    if (Inlined) {
      // Reached only if the block before was skipped.
      B.CreateBr(Arrive(I + 1));
      B.SetInsertPoint(Body[I]);
    } else {
      auto *Any = B.CreateIsNotNull(B.CreateLoad(MaskTy, InMask[BB]));
      B.CreateCondBr(Any, Body[I], EndOf[I] ? BehindLoop(I) : Arrive(I + 1));
      B.SetInsertPoint(Body[I]);
      M = B.CreateLoad(MaskTy, InMask[BB], "m");
      B.CreateStore(ConstantInt::get(MaskTy, 0), InMask[BB]);
      Local.clear();
      Fields.clear();
    }
    if (Error E = emitBody(BB))
      return E;
    if (I + 1 < N && fallsInto(BB, BlockAt(I + 1)))
      B.CreateBr(Body[I + 1]);
    else
      B.CreateBr(Arrive(I + 1));
    for (unsigned H : EndingAt[I + 1]) {
      B.SetInsertPoint(Again[H]);
      if (C.Options.Budget) {
        auto *Left = B.CreateConstInBoundsGEP1_64(
            B.getInt8Ty(), Ctx, offsetof(WarpContext, Budget));
        auto *New = B.CreateSub(B.CreateLoad(I64, Left), B.getInt64(1));
        B.CreateStore(New, Left);
        auto *Over = B.CreateICmpSLT(New, B.getInt64(0));
        auto *Stop = BasicBlock::Create(Context, "stop", Fn);
        auto *Go = BasicBlock::Create(Context, "go", Fn);
        B.CreateCondBr(Over, Stop, Go);
        B.SetInsertPoint(Stop);
        Value *Round = B.CreateLoad(MaskTy, InMask[BlockAt(H)]);
        B.CreateCall(
            helper("rcvm_step_limit", B.getVoidTy(), {PtrTy, I64, PtrTy}),
            {Ctx, B.CreateZExt(Round, I64),
             faultSite(*BlockAt(H)->getTerminator())});
        B.CreateUnreachable();
        B.SetInsertPoint(Go);
      }
      auto *Any = B.CreateIsNotNull(B.CreateLoad(MaskTy, InMask[BlockAt(H)]));
      B.CreateCondBr(Any, Body[H], BehindLoop(H));
    }
  }
  // The entry block's mask is never empty.
  B.SetInsertPoint(EntryEnd);
  B.CreateBr(Body[0]);
  EntryEnd->eraseFromParent();
  EntryEnd = EntryBB->getTerminator();
  B.SetInsertPoint(Check[N]);
  return Error::success();
}

Error RegionEmitter::emitBody(BasicBlock *BB) {
  for (PHINode &Phi : BB->phis()) {
    Lanes L{C.Uniform.isUniform(Phi), {}};
    auto Leaves = leavesOf(Phi.getType());
    for (unsigned P = 0; P < Leaves.size(); ++P) {
      auto *Var = variable(&Phi, P);
      L.Parts.push_back(B.CreateLoad(Var->getAllocatedType(), Var));
    }
    Local[&Phi] = L;
    // The entry block's PHIs are in their slots already.
    if (BB != C.Plan.Order[R.First] && C.Frame.Slots.count(&Phi))
      for (unsigned P = 0; P < Leaves.size(); ++P)
        storeFrame(&Phi, P, L.Parts[P], M);
  }
  for (Instruction &I : *BB) {
    if (isa<PHINode>(I) || I.isTerminator())
      continue;
    if (Error E = emitInstruction(I))
      return E;
  }
  emitTerminator(BB);
  return Error::success();
}

void RegionEmitter::emitTerminator(BasicBlock *BB) {
  countBlock(BB);
  Instruction *T = BB->getTerminator();
  SmallVector<Value *> Edges; // mask of each successor, in operand order
  Value *Zero = ConstantInt::get(MaskTy, 0);
  if (auto *Br = dyn_cast<BranchInst>(T)) {
    if (Br->isUnconditional()) {
      Edges.push_back(M);
    } else {
      Lanes Cond = get(Br->getCondition());
      if (Cond.Uniform) {
        Value *True = B.CreateFreeze(*Cond);
        Edges.push_back(B.CreateSelect(True, M, Zero));
        Edges.push_back(B.CreateSelect(True, Zero, M));
      } else {
        Value *Bits = herded(*BB, maskBits(*Cond));
        Edges.push_back(B.CreateAnd(M, Bits));
        Edges.push_back(B.CreateAnd(M, B.CreateNot(Bits)));
      }
    }
  } else if (auto *Ret = dyn_cast<ReturnInst>(T)) {
    emitReturn(*Ret);
  } else if (auto *Sw = dyn_cast<SwitchInst>(T)) {
    Lanes Cond = get(Sw->getCondition());
    Value *X = B.CreateFreeze(*Cond);
    Value *Rest = M;
    SmallVector<Value *> Cases;
    for (auto &Case : Sw->cases()) {
      Value *Eq;
      if (Cond.Uniform)
        Eq = B.CreateSelect(B.CreateICmpEQ(X, Case.getCaseValue()), M, Zero);
      else
        Eq = B.CreateAnd(
            M, maskBits(B.CreateICmpEQ(X, splat(Case.getCaseValue()))));
      Cases.push_back(Eq);
      Rest = B.CreateAnd(Rest, B.CreateNot(Eq));
    }
    Edges.push_back(Rest); // successor 0 is the default
    append_range(Edges, Cases);
  }
  if (Edges.size() > 1)
    countBranch(BB, Edges);

  // One edge a successor block: a switch may name it several times.
  SmallVector<std::pair<BasicBlock *, Value *>> Merged;
  for (auto [S, Edge] : zip(successors(BB), Edges)) {
    auto It = find_if(Merged, [&](auto &P) { return P.first == S; });
    if (It == Merged.end())
      Merged.push_back({S, Edge});
    else
      It->second = B.CreateOr(It->second, Edge);
  }
  // Read every PHI operand before any PHI variable is written.
  SmallVector<SmallVector<Lanes>> Read;
  for (auto [S, Edge] : Merged) {
    Read.emplace_back();
    for (PHINode &Phi : S->phis())
      Read.back().push_back(
          asDeclared(&Phi, get(Phi.getIncomingValueForBlock(BB))));
  }
  for (auto [Index, Pair] : enumerate(Merged)) {
    auto [S, Edge] = Pair;
    bool Blend = needsBlend(BB, S);
    unsigned K = 0;
    for (PHINode &Phi : S->phis()) {
      Lanes &L = Read[Index][K++];
      for (unsigned P = 0; P < L.Parts.size(); ++P) {
        auto *Var = variable(&Phi, P);
        Value *New = L.Parts[P];
        if (Blend) {
          Value *Old = B.CreateLoad(Var->getAllocatedType(), Var);
          Value *Select =
              L.Uniform ? B.CreateIsNotNull(Edge) : maskVector(Edge);
          New = B.CreateSelect(Select, New, Old);
        }
        B.CreateStore(New, Var);
      }
    }
    emitEdge(BB, S, Edge);
  }
}

bool RegionEmitter::needsBlend(BasicBlock *From, BasicBlock *To) const {
  if (!C.Plan.isInternal(*From, *To))
    return true;
  if (C.Plan.LoopEnd.count(To))
    return false; // header: idle lanes never read it
  // The first edge into a join, in the order, if all come from the same loop.
  unsigned At = C.Plan.Position.lookup(From);
  for (BasicBlock *P : predecessors(To))
    if (C.Plan.loopOf(P) != C.Plan.loopOf(To) || C.Plan.Position.lookup(P) < At)
      return true;
  return false;
}

void RegionEmitter::emitEdge(BasicBlock *From, BasicBlock *To, Value *EM) {
  if (fallsInto(From, To))
    return;
  AllocaInst *Into = nullptr;
  if (C.Plan.isInternal(*From, *To)) {
    Into = InMask[To];
  } else {
    EdgeKind Kind = C.Plan.edgeKind(*From, *To);
    for (auto [T, A] : zip(R.Targets, OutMasks))
      if (T.Block == To && T.Kind == Kind)
        Into = A;
    if (Kind == EdgeKind::Sync) {
      // Tell the scheduler whom each lane waits for.
      const Instruction *I = To->getFirstNonPHIOrDbg();
      auto *Call = cast<IntrinsicInst>(I);
      Value *Named = membersOf(*Call);
      if (auto *Phi = dyn_cast<PHINode>(Named); Phi && Phi->getParent() == To)
        Named = Phi->getIncomingValueForBlock(From);
      Value *Members = B.CreateZExt(vec(Named), vectorOf(I64));
      Value *Slot = B.CreateConstInBoundsGEP1_64(
          B.getInt8Ty(), Ctx, offsetof(WarpContext, SyncMask));
      Value *Old = B.CreateAlignedLoad(vectorOf(I64), Slot, Align(8));
      B.CreateAlignedStore(B.CreateSelect(maskVector(EM), Members, Old), Slot,
                           Align(8));
    }
  }
  assert(Into && "an edge leads into the region or to one of its targets");
  B.CreateStore(B.CreateOr(B.CreateLoad(MaskTy, Into), EM), Into);
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

static void addTo(IRBuilder<> &B, Value *Counters, uint64_t Index, Value *X) {
  Value *P = B.CreateConstInBoundsGEP1_64(B.getInt64Ty(), Counters, Index);
  B.CreateStore(B.CreateAdd(B.CreateLoad(B.getInt64Ty(), P), X), P);
}

void RegionEmitter::countBlock(BasicBlock *BB) {
  auto Number = analysis::blockNumber(*BB);
  if (!Number || !C.BlockPosition.count(*Number))
    return;
  uint64_t Position = C.BlockPosition.lookup(*Number);
  auto Popcount = [&](Value *X) {
    return B.CreateZExt(B.CreateUnaryIntrinsic(Intrinsic::ctpop, X), I64);
  };
  if (C.Options.Counters) {
    Value *Counters = contextField(offsetof(WarpContext, Counters), PtrTy);
    addTo(B, Counters, 3 * Position, B.getInt64(1));
    addTo(B, Counters, 3 * Position + 1, Popcount(M));
    if (C.AfterExit.contains(BB)) {
      Value *Gone = B.CreateTrunc(
          contextField(offsetof(WarpContext, Exited), I64), MaskTy);
      // Who returns from another function than the kernel is not gone.
      for (auto [T, A] : zip(R.Targets, OutMasks))
        if (C.isKernel() && C.Plan.onlyReturns(*T.Block))
          Gone = B.CreateOr(Gone, B.CreateLoad(MaskTy, A));
      for (unsigned I = R.First; I <= R.Last; ++I)
        if (BasicBlock *Q = C.Plan.Order[I];
            C.isKernel() && C.Plan.onlyReturns(*Q))
          Gone = B.CreateOr(Gone, B.CreateLoad(MaskTy, InMask[Q]));
      addTo(B, Counters, 3 * Position + 2, Popcount(Gone));
    }
  }
  if (C.Options.Vectors) {
    Value *Rows = contextField(offsetof(WarpContext, Vectors), PtrTy);
    Value *Row = B.CreateConstInBoundsGEP1_64(I32, Rows, Position * W);
    Value *Old = B.CreateAlignedLoad(vectorOf(I32), Row, Align(64));
    Value *One = B.CreateZExt(maskVector(M), vectorOf(I32));
    B.CreateAlignedStore(B.CreateAdd(Old, One), Row, Align(64));
  }
}

void RegionEmitter::countBranch(BasicBlock *BB, ArrayRef<Value *> EdgeMasks) {
  auto Number = analysis::branchNumber(*BB);
  if (!C.Options.Counters || !Number || !C.BranchOffset.count(*Number))
    return;
  uint64_t Offset = C.BranchOffset.lookup(*Number);
  Value *Counters = contextField(offsetof(WarpContext, Counters), PtrTy);
  // It split if some side has a part of the lanes but not all.
  Value *Split = B.getFalse();
  for (auto [I, Edge] : enumerate(EdgeMasks.drop_back())) {
    Value *Part = B.CreateAnd(B.CreateIsNotNull(Edge), B.CreateICmpNE(Edge, M));
    Split = B.CreateOr(Split, Part);
    addTo(B, Counters, Offset + 1 + I,
          B.CreateZExt(B.CreateUnaryIntrinsic(Intrinsic::ctpop, Edge), I64));
  }
  if (!C.Uniform.isDivergentBranch(*BB))
    return;
  addTo(B, Counters, Offset, B.CreateZExt(Split, I64));
  B.CreateStore(B.CreateOr(B.CreateLoad(B.getInt1Ty(), SplitSeen), Split),
                SplitSeen);
}

/// Leaves the target masks and the PHIs of target blocks to other regions.
void RegionEmitter::finish() {
  for (auto [K, Pair] : enumerate(zip(R.Targets, OutMasks))) {
    auto &[T, A] = Pair;
    Value *Mask = B.CreateLoad(MaskTy, A);
    B.CreateStore(B.CreateZExt(Mask, I64),
                  B.CreateConstInBoundsGEP1_64(I64, OutPtr, K));
    for (PHINode &Phi : T.Block->phis()) {
      auto Leaves = leavesOf(Phi.getType());
      for (unsigned P = 0; P < Leaves.size(); ++P) {
        auto *Var = variable(&Phi, P);
        storeFrame(&Phi, P, B.CreateLoad(Var->getAllocatedType(), Var), Mask);
      }
    }
  }
  if (C.Options.Counters) {
    Value *P = B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Ctx,
                                            offsetof(WarpContext, HasSplit));
    Value *Seen = B.CreateZExt(B.CreateLoad(B.getInt1Ty(), SplitSeen), I64);
    B.CreateStore(B.CreateOr(B.CreateLoad(I64, P), Seen), P);
  }
  B.CreateRetVoid();
}

} // namespace reconverge::warpvm
