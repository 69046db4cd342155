//===- remedies/remap/Rewrite.cpp - The round itself ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   X      ...                          Exits lead here as well, to a block
//          path = ...                   `arrive` that they share with X.
//          |  larger than there is memory for, or ...
//          vote                         Places.cpp, and a barrier in it
//          |  nothing moves             more
//          |            place           Places.cpp
//          |            give    words[place] = my state
//          |                    barrier
//          |                    my state = words[my thread]
//          |            |
//   M      PHIs: path and state as they were, or another's
//          |         \ with exits: those that had left leave
//   tail   the branch, by the path (Paths.cpp)
//
// Places: the threads of path 0, then those of path 1, ..., then those that had
// left. Which of them a thread has become follows from its place and the first
// places of the paths: the path needs no exchange. In blocks of one size no thread
// knows all of these (Places.cpp), and the path moves, as a few bits of a word.
//
// Why two barriers are enough, in loops too: words are written after the
// vote's, and read before the next round's vote is over. Counts are not
// (Places.cpp), and lie apart. So all rounds of a kernel share memory.
//
// Each value that moves has a second definition from here on, the PHI in M, and
// one that is computed again its copy there; SSAUpdater finds which of the two
// a use sees. (Copies after the PHIs, not PHIs of copies: for the next round
// they are as cheap to compute as before.)
//
// A value that shares a word is frozen first: poison would spread to the other
// values of the word. Threads that had left bring poison for what they never
// made, and leave with whatever they get.
//
//===----------------------------------------------------------------------===//

#include "remedies/remap/Rewrite.h"

#include "analysis/device/AddressSpace.h"
#include "remedies/remap/Paths.h"
#include "remedies/remap/Places.h"
#include "remedies/remap/State.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

using namespace llvm;

namespace reconverge::remedies::remap {

namespace {
class Round {
public:
  Round(const RoundPlan &Plan, const RemapOptions &Options, RoundMemory &Memory)
      : Plan(Plan), Options(Options), Memory(Memory),
        F(*Plan.Block->getParent()), B(F.getContext()), X(*Plan.Block) {
    B.SetCurrentDebugLocation(X.getTerminator()->getDebugLoc());
  }
  void run();

private:
  void readIds();
  void arrive();
  bool isFlat() const;
  Value *place();
  void give(Value *Place);
  void take();
  Value *atWord(unsigned Word, Value *Thread);
  Value *up(Value *V, unsigned Bits);
  Value *down(Value *V, unsigned Bits);
  void store(Value &V, Slot At);
  Value *load(Type *T, Slot At);
  Value *again(Value &V);
  Value *before(Instruction &V);
  PHINode *merge(Value *Old, Value *New);
  void follow(Instruction &V, Value &New);

  const RoundPlan &Plan;
  const RemapOptions &Options;
  RoundMemory &Memory;
  Function &F;
  RoundBuilder B;

  BasicBlock &X;
  BasicBlock *At = nullptr; ///< where the round starts
  BasicBlock *M = nullptr;
  /// From where control comes to M: where nothing moved, and after an exchange.
  std::vector<BasicBlock *> Stays;
  BasicBlock *Give = nullptr;

  std::array<Instruction *, 3> Ids{};
  Value *Path = nullptr; ///< before the round
  Value *Thread = nullptr, *NewPath = nullptr;
  std::vector<Value *> Words;                 ///< as they are loaded
  DenseMap<const Value *, Value *> Arrived;   ///< PHIs in At
  DenseMap<const Value *, Value *> Exchanged; ///< after the exchange
};
} // namespace

/// Makes \p Memory, which the kernel's rounds share, large enough for \p Count
/// elements of \p T.
static void grow(GlobalVariable *&Memory, Type *T, uint64_t Count,
                 const Twine &Name, Function &F) {
  if (Memory &&
      cast<ArrayType>(Memory->getValueType())->getNumElements() >= Count)
    return;
  T = ArrayType::get(T, Count);
  auto *New = new GlobalVariable(
      *F.getParent(), T, /*isConstant=*/false, GlobalValue::InternalLinkage,
      PoisonValue::get(T), "", nullptr, GlobalValue::NotThreadLocal,
      analysis::SharedSpace);
  New->setAlignment(Align(16));
  if (Memory) {
    Memory->replaceAllUsesWith(New);
    New->takeName(Memory);
    Memory->eraseFromParent();
  } else {
    New->setName(Name);
  }
  Memory = New;
}

/// One read of each number that is needed, at the top, which all others become.
void Round::readIds() {
  const IRBuilderBase::InsertPointGuard Keep(B); // its place in the source
  static constexpr Intrinsic::ID Reads[] = {
      Intrinsic::nvvm_read_ptx_sreg_tid_x, Intrinsic::nvvm_read_ptx_sreg_tid_y,
      Intrinsic::nvvm_read_ptx_sreg_tid_z};
  for (unsigned D : {0u, 1u, 2u}) {
    if (!Plan.Ids[D])
      continue;
    BasicBlock &Entry = F.getEntryBlock();
    B.SetInsertPoint(&Entry, Entry.getFirstNonPHIOrDbgOrAlloca());
    auto *Only = cast<Instruction>(B.call(Reads[D]));
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (&I != Only && threadIdDimension(I) == D) {
        I.replaceAllUsesWith(Only);
        Only->takeName(&I);
        I.eraseFromParent();
      }
    Ids[D] = Only;
  }
}

/// Splits X before its branch, and leads the exits here.
void Round::arrive() {
  const DominatorTree Dominance(F);
  B.SetInsertPoint(X.getTerminator());
  Path = computePath(B, Plan);
  B.Tail = X.splitBasicBlock(X.getTerminator(), "remap.tail");
  At = &X;
  X.getTerminator()->eraseFromParent();
  if (Plan.Exits.empty()) {
    B.SetInsertPoint(At);
    return;
  }
  At = B.block("remap.arrive");
  BranchInst::Create(At, &X)->setDebugLoc(B.getCurrentDebugLocation());
  for (const ExitEdge &E : Plan.Exits) {
    Instruction *Term = E.From->getTerminator();
    Term->getSuccessor(E.Successor)->removePredecessor(E.From, true);
    Term->setSuccessor(E.Successor, At);
  }
  B.SetInsertPoint(At);
  auto Choose = [&](Value *Here, function_ref<Value *(BasicBlock &)> Left) {
    PHINode *Phi = B.CreatePHI(Here->getType(), 1 + Plan.Exits.size());
    Phi->addIncoming(Here, &X);
    for (const ExitEdge &E : Plan.Exits)
      Phi->addIncoming(Left(*E.From), E.From);
    return Phi;
  };
  Path = Choose(Path, [&](BasicBlock &) { return B.getInt32(Plan.paths()); });
  auto Enter = [&](Instruction &V) {
    auto IsMade = [&](const BasicBlock &From) {
      return Dominance.dominates(V.getParent(), &From);
    };
    if (all_of(Plan.Exits, [&](const ExitEdge &E) { return IsMade(*E.From); }))
      return;
    Arrived[&V] = Choose(&V, [&](BasicBlock &From) -> Value * {
      return IsMade(From) ? cast<Value>(&V) : PoisonValue::get(V.getType());
    });
  };
  for (const Moved &V : Plan.Values)
    Enter(*V.V);
}

/// The kernel asks for no more than the threads' first number.
bool Round::isFlat() const {
  return none_of(instructions(F), [](const Instruction &I) {
    return threadIdDimension(I).value_or(0) > 0;
  });
}

/// The place of this thread; then only where something moves.
Value *Round::place() {
  auto Read = [&](Intrinsic::ID Id) {
    auto *I = cast<Instruction>(B.call(Id));
    I->setMetadata(PlaceKind, MDNode::get(F.getContext(), {}));
    return I;
  };
  Value *Nx = B.call(Intrinsic::nvvm_read_ptx_sreg_ntid_x),
        *Ny = B.call(Intrinsic::nvvm_read_ptx_sreg_ntid_y),
        *Nz = B.call(Intrinsic::nvvm_read_ptx_sreg_ntid_z);
  Value *Tx = Read(Intrinsic::nvvm_read_ptx_sreg_tid_x),
        *Threads = B.CreateMul(B.CreateMul(Nx, Ny), Nz);
  Value *Most = B.getInt32(Plan.Threads), *Fits = nullptr;
  if (Plan.Exact && isFlat()) {
    Thread = Tx;
    Fits = B.CreateAnd(B.CreateICmpEQ(Nx, Most), B.CreateICmpEQ(Threads, Most));
  } else {
    Value *Ty = Read(Intrinsic::nvvm_read_ptx_sreg_tid_y),
          *Tz = Read(Intrinsic::nvvm_read_ptx_sreg_tid_z);
    Thread =
        B.CreateAdd(B.CreateMul(B.CreateAdd(B.CreateMul(Tz, Ny), Ty), Nx), Tx);
    if (Plan.Exact)
      Fits = B.CreateICmpEQ(Threads, Most);
    else if (Plan.Threads < 1024)
      Fits = B.CreateICmpULE(Threads, Most);
  }
  M = Plan.Exits.empty() ? B.Tail : B.block("remap.merge");
  auto GoOnIf = [&](Value *If, const char *Name) {
    BasicBlock *Next = B.block(Name);
    Stays.push_back(B.GetInsertBlock());
    B.branch(If, Next, M);
    B.SetInsertPoint(Next);
  };
  if (Fits)
    GoOnIf(Fits, "remap.fits");
  if (Plan.Exact)
    Threads = Most;
  const auto By = makePlaces(B, Plan, {Thread, Threads, Path}, Memory.Counts);
  GoOnIf(By->vote(), "remap.move");
  Value *Place = By->place();
  if (!Plan.PathAt)
    NewPath = By->pathAt(Thread);
  return Place;
}

Value *Round::atWord(unsigned Word, Value *Thread) {
  return B.CreateGEP(B.getInt32Ty(), Memory.Words,
                     B.CreateAdd(Thread, B.getInt32(Word * Plan.Threads)));
}

Value *Round::up(Value *V, unsigned Bits) {
  return Bits ? B.CreateShl(V, Bits) : V;
}
Value *Round::down(Value *V, unsigned Bits) {
  return Bits ? B.CreateLShr(V, Bits) : V;
}

/// Adds \p V to the word, or the words, that it has.
void Round::store(Value &V, Slot At) {
  Value *Bits = &V;
  Type *T = B.getIntNTy(At.Bits);
  if (V.getType()->isPointerTy())
    Bits = B.CreatePtrToInt(Bits, T);
  else if (!V.getType()->isIntegerTy())
    Bits = B.CreateBitCast(Bits, T);
  if (At.Bits < 32) {
    Bits = up(B.CreateZExt(B.CreateFreeze(Bits), B.getInt32Ty()), At.Shift);
    Value *&Word = Words[At.Word];
    Word = Word ? B.CreateOr(Word, Bits) : Bits;
    return;
  }
  const unsigned Count = divideCeil(At.Bits, 32);
  Bits = B.CreateZExt(Bits, B.getIntNTy(32 * Count));
  for (unsigned I = 0; I < Count; ++I)
    Words[At.Word + I] = B.CreateTrunc(down(Bits, 32 * I), B.getInt32Ty());
}

Value *Round::load(Type *T, Slot At) {
  const unsigned Count = divideCeil(At.Bits, 32);
  Type *Wide = B.getIntNTy(32 * Count);
  Value *Bits = B.CreateZExt(down(Words[At.Word], At.Shift), Wide);
  for (unsigned I = 1; I < Count; ++I)
    Bits = B.CreateOr(Bits, up(B.CreateZExt(Words[At.Word + I], Wide), 32 * I));
  Bits = B.CreateTrunc(Bits, B.getIntNTy(At.Bits));
  if (T->isPointerTy())
    return B.CreateIntToPtr(Bits, T);
  return T->isIntegerTy() ? Bits : B.CreateBitCast(Bits, T);
}

/// To the place that this thread's path gives it.
void Round::give(Value *Place) {
  Words.assign(Plan.Words, nullptr);
  for (const Moved &V : Plan.Values)
    store(*before(*V.V), V.At);
  for (unsigned D : {0u, 1u, 2u})
    if (Ids[D])
      store(*B.CreateTrunc(Ids[D], B.getIntNTy(Plan.IdAt[D].Bits)),
            Plan.IdAt[D]);
  if (Plan.PathAt)
    store(*B.CreateTrunc(Path, B.getIntNTy(Plan.PathAt->Bits)), *Plan.PathAt);
  for (auto [I, Word] : enumerate(Words))
    B.CreateStore(Word, atWord(I, Place));
  B.call(Intrinsic::nvvm_barrier0);
  for (auto [I, Word] : enumerate(Words))
    Word = B.CreateLoad(B.getInt32Ty(), atWord(I, Thread));
}

/// Computes \p V from what has been exchanged.
Value *Round::again(Value &V) {
  if (auto Found = Exchanged.find(&V); Found != Exchanged.end())
    return Found->second;
  auto *I = dyn_cast<Instruction>(&V);
  if (!I || !Plan.Copies.contains(I))
    return &V;
  Instruction *New = I->clone();
  for (Use &U : New->operands())
    U.set(again(*U));
  B.Insert(New, I->getName());
  Exchanged[&V] = New;
  return New;
}

/// \p V as it is when the round begins.
Value *Round::before(Instruction &V) {
  auto Found = Arrived.find(&V);
  return Found == Arrived.end() ? &V : Found->second;
}

/// \p Old where nothing moved, \p New otherwise.
PHINode *Round::merge(Value *Old, Value *New) {
  PHINode *Phi =
      PHINode::Create(Old->getType(), 1 + Stays.size(), "", M->begin());
  for (BasicBlock *BB : Stays)
    Phi->addIncoming(Old, BB);
  Phi->addIncoming(New, Give);
  return Phi;
}

/// Uses of \p V that come after the round are of \p New.
void Round::follow(Instruction &V, Value &New) {
  SSAUpdater Updater;
  Updater.Initialize(V.getType(), V.getName());
  Updater.AddAvailableValue(V.getParent(), &V);
  Updater.AddAvailableValue(M, &New);
  SmallVector<Use *, 16> Uses;
  for (Use &U : V.uses())
    if (auto *User = cast<Instruction>(U.getUser());
        isa<PHINode>(User) || User->getParent() != V.getParent())
      Uses.push_back(&U);
  for (Use *U : Uses)
    Updater.RewriteUse(*U);
}

/// What the thread is from here on.
void Round::take() {
  std::vector<std::pair<Instruction *, Value *>> News;
  for (const Moved &V : Plan.Values)
    News.push_back({V.V, load(V.V->getType(), V.At)});
  for (unsigned D : {0u, 1u, 2u})
    if (Ids[D])
      News.push_back({Ids[D], B.CreateZExt(load(B.getIntNTy(Plan.IdAt[D].Bits),
                                                Plan.IdAt[D]),
                                           Ids[D]->getType())});
  if (Plan.PathAt)
    NewPath = B.CreateZExt(load(B.getIntNTy(Plan.PathAt->Bits), *Plan.PathAt),
                           B.getInt32Ty());
  if (Options.PlantedBug && !Plan.Values.empty())
    News.front().second = before(*News.front().first);
  Give = B.GetInsertBlock();
  B.CreateBr(M);

  PHINode *Merge = merge(Path, NewPath);
  if (!Plan.Exits.empty()) {
    BasicBlock *Leave = B.block("remap.leave");
    B.SetInsertPoint(Leave);
    B.CreateRetVoid();
    B.SetInsertPoint(M);
    B.branch(B.CreateICmpULT(Merge, B.getInt32(Plan.paths())), B.Tail, Leave);
  }
  for (auto [Old, New] : News)
    Exchanged[Old] = merge(before(*Old), New);
  B.SetInsertPoint(M, M->getFirstInsertionPt());
  for (Instruction *V : Plan.Recompute)
    News.push_back({V, again(*V)});
  followPath(B, Plan, *Merge, *B.Tail);
  for (auto [Old, New] : News)
    follow(*Old, *Exchanged[Old]);
}

void Round::run() {
  grow(Memory.Counts, B.getInt8Ty(), Plan.countBytes(),
       "__reconverge_counts_" + F.getName(), F);
  if (Plan.Words)
    grow(Memory.Words, B.getInt32Ty(), Plan.wordBytes() / 4,
         "__reconverge_words_" + F.getName(), F);
  readIds();
  arrive();
  give(place());
  take();
  EliminateUnreachableBlocks(F); // where only the exits led
}

void rewrite(const RoundPlan &Plan, const RemapOptions &Options,
             RoundMemory &Memory) {
  Round(Plan, Options, Memory).run();
}

} // namespace reconverge::remedies::remap
