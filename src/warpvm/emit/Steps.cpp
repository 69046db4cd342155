//===- warpvm/emit/Steps.cpp - Code as a list of steps --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's code generator has no fast way for vectors of 32 lanes, and to make
// machine code is most of the time that a kernel takes before it runs for the
// first time. Code that may run once is data instead. Of
//
//      %c = add <32 x i32> %a, %b
//      %d = mul <32 x i32> %c, %c
//
// come two steps of a list (Operations.cpp has their form), constant data of
// numbers alone,
//
//      { rcop.add, slot of %a, slot of %b, slot of %c }
//      { rcop.mul, slot of %c, slot of %c, slot of %d }
//
// and what is left of the function makes room for the slots, puts constants into
// theirs and goes to the first step. An operation is compiled once, and a few
// hundred serve the kernels of all programs (OperationLibrary.cpp).
//
// 1. PHIs become variables. A variable, an alloca that is only loaded from and
//    stored to, is a slot.
// 2. What is needed is found from what has effects. What is computed in the
//    operations of those who use it, or only changes a type, needs no step.
// 3. A load of a variable is no step if nobody stores there until the last use;
//    a store is none if the value can be computed in the variable at once.
// 4. Values that are used in their own block alone share slots.
//
// Limitation: nothing is hoisted out of loops, and what one step leaves for the
// next goes through memory.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Steps.h"

#include "warpvm/emit/Operations.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace reconverge::warpvm {

namespace {

class StepMaker {
public:
  StepMaker(Function &F, HasOperation Has, Module &Missing)
      : F(F), M(*F.getParent()), DL(M.getDataLayout()), Has(Has),
        Missing(Missing), B(F.getContext()) {}
  size_t run();

private:
  /// Of a value: its readers, as stepOperands() has them.
  struct Readers {
    unsigned Left = 0;           ///< not yet passed
    bool Elsewhere = false;      ///< some are in another block
    SmallVector<unsigned, 2> At; ///< numbers in the block
  };
  /// A word of a branch's step that says where it goes.
  struct Jump {
    size_t Word, Step; ///< both in Words
    BasicBlock *To;
  };

  void simplify();
  void findNeeded();
  void numberReaders();
  void placeVariables(BasicBlock &BB);
  AllocaInst *loaded(const Value *V) const;
  AllocaInst *stored(const Instruction &I) const;
  bool isFree(const Instruction &I) const;
  uint32_t newSlot(Type *T, bool Shared);
  uint32_t slotOf(Value *V);
  void addWord(Value *V) { Words.push_back(slotOf(V)); }
  void addStep(StringRef Name, function_ref<void(Function &)> Define);
  void addCopy(Value *From, Value *To);
  void addSteps(BasicBlock &BB);
  void giveBack(Value *V);
  GlobalVariable *addData(Constant *Data, const Twine &Name);
  GlobalVariable *list();
  GlobalVariable *table();
  GlobalVariable *constants();

  Function &F;
  Module &M;
  const DataLayout &DL;
  HasOperation Has;
  Module &Missing;
  IRBuilder<> B;
  std::optional<StepParts> Parts;
  SmallVector<AllocaInst *> Arrays; ///< whose addresses are taken
  DenseSet<const AllocaInst *> Variables;
  MapVector<Instruction *, Readers> Needed;
  DenseSet<const Instruction *> InPlace; ///< loads and stores without a step
  DenseMap<Value *, uint32_t> Slots;
  DenseMap<uint64_t, SmallVector<uint32_t>> Unused; ///< slots, by their size
  uint64_t Bytes = 0;                               ///< of all slots
  DenseSet<const Value *> InShared; ///< values whose slots others may get
  std::vector<uint32_t> Words;      ///< of all steps
  std::vector<Jump> Jumps;
  size_t Step = 0, Steps = 0; ///< where the last one begins; how many
  MapVector<Function *, unsigned> Operations; ///< and their place in the table
  SmallVector<std::pair<Constant *, uint64_t>> Constants; ///< and their slots
  DenseMap<BasicBlock *, size_t> FirstStep;
};

} // namespace

void StepMaker::simplify() {
  for (BasicBlock &BB : make_early_inc_range(F))
    MergeBlockIntoPredecessor(&BB);
  SmallVector<PHINode *> Phis;
  for (BasicBlock &BB : F)
    for (PHINode &Phi : BB.phis())
      Phis.push_back(&Phi);
  for (PHINode *Phi : Phis)
    DemotePHIToStack(Phi);
  for (Instruction &I : F.getEntryBlock())
    if (auto *A = dyn_cast<AllocaInst>(&I)) {
      if (isAllocaPromotable(A))
        Variables.insert(A);
      else
        Arrays.push_back(A);
    }
}

/// The variable that \p V is loaded from, or null.
AllocaInst *StepMaker::loaded(const Value *V) const {
  auto *L = dyn_cast<LoadInst>(V);
  auto *A = L ? dyn_cast<AllocaInst>(L->getPointerOperand()) : nullptr;
  return A && Variables.contains(A) ? const_cast<AllocaInst *>(A) : nullptr;
}

AllocaInst *StepMaker::stored(const Instruction &I) const {
  auto *S = dyn_cast<StoreInst>(&I);
  auto *A = S ? dyn_cast<AllocaInst>(S->getPointerOperand()) : nullptr;
  return A && Variables.contains(A) ? const_cast<AllocaInst *>(A) : nullptr;
}

/// Whether \p I says nothing that runs.
bool StepMaker::isFree(const Instruction &I) const {
  return isa<AllocaInst>(I) || I.isDebugOrPseudoInst() ||
         I.isLifetimeStartOrEnd() || isa<AssumeInst>(I);
}

void StepMaker::findNeeded() {
  SmallVector<Instruction *> Work;
  auto Need = [&](Instruction *I) {
    if (!isa<AllocaInst>(I) && Needed.insert({I, {}}).second)
      Work.push_back(I);
  };
  for (Instruction &I : instructions(F))
    if (!isFree(I) && !(stored(I) && isa<UndefValue>(I.getOperand(0))) &&
        (I.isTerminator() || I.mayHaveSideEffects()))
      Need(&I);
  SmallVector<Value *> Operands;
  while (!Work.empty()) {
    Operands.clear();
    Instruction *I = Work.pop_back_val();
    if (!loaded(I))
      stepOperands(*I, *Parts, Operands);
    for (Value *V : Operands)
      if (auto *Operand = dyn_cast<Instruction>(V))
        Need(Operand);
  }
}

void StepMaker::numberReaders() {
  SmallVector<Value *> Operands;
  for (BasicBlock &BB : F)
    for (auto [N, I] : enumerate(BB)) {
      if (!Needed.contains(&I) || loaded(&I))
        continue;
      Operands.clear();
      stepOperands(I, *Parts, Operands);
      for (Value *V : Operands)
        if (isa<Constant>(V)) {
          slotOf(V);
        } else if (auto It = Needed.find(dyn_cast<Instruction>(V));
                   It != Needed.end()) {
          Readers &R = It->second;
          ++R.Left;
          R.Elsewhere |= It->first->getParent() != &BB;
          R.At.push_back(N);
        }
    }
}

/// Decides which loads and stores of \p BB are no steps.
void StepMaker::placeVariables(BasicBlock &BB) {
  struct Uses {
    SmallVector<unsigned> Stores, Reads;
  };
  DenseMap<AllocaInst *, Uses> Of;
  DenseMap<const Instruction *, unsigned> NumberOf;
  for (auto [N, I] : enumerate(BB)) {
    NumberOf[&I] = N;
    if (AllocaInst *A = stored(I))
      Of[A].Stores.push_back(N);
  }
  // None of these numbers lies between two others.
  auto NoneBetween = [](ArrayRef<unsigned> Numbers, unsigned After,
                        unsigned Before) {
    return none_of(Numbers,
                   [&](unsigned N) { return After < N && N < Before; });
  };
  for (auto [N, I] : enumerate(BB)) {
    AllocaInst *A = loaded(&I);
    auto It = Needed.find(&I);
    if (!A || It == Needed.end())
      continue;
    const Readers &R = It->second;
    Uses &U = Of[A];
    const unsigned Last = R.At.empty() ? N : *llvm::max_element(R.At);
    if (!R.Elsewhere && NoneBetween(U.Stores, N, Last)) {
      InPlace.insert(&I);
      append_range(U.Reads, R.At);
      Slots[&I] = slotOf(A);
    } else {
      U.Reads.push_back(N);
    }
  }
  for (auto [N, I] : enumerate(BB)) {
    AllocaInst *A = stored(I);
    if (!A)
      continue;
    auto *X = dyn_cast<Instruction>(sourceOf(I.getOperand(0)));
    auto It = X ? Needed.find(X) : Needed.end();
    if (It == Needed.end() || X->getParent() != &BB || loaded(X) ||
        Slots.contains(X) || It->second.Elsewhere ||
        DL.getTypeAllocSize(X->getType()) !=
            DL.getTypeAllocSize(A->getAllocatedType()))
      continue;
    Uses &U = Of[A];
    const unsigned Defined = NumberOf[X];
    const unsigned Last = *llvm::max_element(It->second.At);
    if (!NoneBetween(U.Stores, Defined, N) ||
        !NoneBetween(U.Reads, Defined, N) || !NoneBetween(U.Stores, N, Last))
      continue;
    InPlace.insert(&I);
    append_range(U.Reads, It->second.At);
    Slots[X] = slotOf(A);
  }
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// \p Shared: one that another value had before will do.
uint32_t StepMaker::newSlot(Type *T, bool Shared) {
  const uint64_t Size = DL.getTypeAllocSize(T);
  if (auto &Before = Unused[Size]; Shared && !Before.empty())
    return Before.pop_back_val();
  const uint64_t At = alignTo(Bytes, std::max(Align(8), slotAlign(T, DL)));
  Bytes = At + Size;
  assert(Bytes < (1u << 31) && "a word names each slot");
  return At;
}

uint32_t StepMaker::slotOf(Value *V) {
  if (auto It = Slots.find(V); It != Slots.end())
    return It->second;
  if (auto *K = dyn_cast<Constant>(V)) {
    const uint32_t At = newSlot(K->getType(), /*Shared=*/false);
    Constants.push_back({K, At});
    return Slots[V] = At;
  }
  auto It = Needed.find(dyn_cast<Instruction>(V));
  const bool Shared = It != Needed.end() && !It->second.Elsewhere;
  if (Shared)
    InShared.insert(V);
  auto *A = dyn_cast<AllocaInst>(V);
  Type *T = A && Variables.contains(A) ? A->getAllocatedType() : V->getType();
  return Slots[V] = newSlot(T, Shared);
}

void StepMaker::giveBack(Value *V) {
  if (InShared.contains(V))
    Unused[DL.getTypeAllocSize(V->getType())].push_back(slotOf(V));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void StepMaker::addStep(StringRef Name, function_ref<void(Function &)> Define) {
  Function *Operation = M.getFunction(Name);
  if (!Operation) {
    Operation = declareOperation(M, Name);
    if (!Has(Name))
      if (Function *Code = declareOperation(Missing, Name); Code->empty())
        Define(*Code);
  }
  Step = Words.size();
  ++Steps;
  const unsigned Known = Operations.size();
  Words.push_back(Operations.insert({Operation, Known}).first->second *
                  sizeof(void *));
}

void StepMaker::addCopy(Value *From, Value *To) {
  SmallString<32> Name;
  auto *A = dyn_cast<AllocaInst>(loaded(To) ? From : To);
  const uint64_t Size = DL.getTypeStoreSize(A->getAllocatedType());
  copyName(Size, Name);
  addStep(Name, [&](Function &Op) { defineCopy(Op, Size); });
  addWord(From);
  addWord(To);
}

void StepMaker::addSteps(BasicBlock &BB) {
  FirstStep[&BB] = Words.size();
  SmallVector<Value *> Operands;
  SmallString<128> Name;
  for (Instruction &I : BB) {
    auto It = Needed.find(&I);
    if (It == Needed.end())
      continue;
    if (AllocaInst *A = loaded(&I)) {
      if (!InPlace.contains(&I))
        addCopy(A, &I);
      continue;
    }
    Operands.clear();
    stepOperands(I, *Parts, Operands);
    auto *Br = dyn_cast<BranchInst>(&I);
    const bool FallsThrough =
        Br && Br->isUnconditional() && Br->getSuccessor(0) == BB.getNextNode();
    AllocaInst *A = stored(I);
    if (A && !InPlace.contains(&I)) {
      addCopy(Operands.front(), A);
    } else if (!A && !FallsThrough) {
      Name.clear();
      operationName(I, *Parts, Name);
      addStep(Name, [&](Function &Op) { defineOperation(Op, I, *Parts); });
      for (Value *V : Operands)
        addWord(V);
      for (unsigned J = 0, N = Br ? Br->getNumSuccessors() : 0; J != N; ++J) {
        Jumps.push_back({Words.size(), Step, Br->getSuccessor(J)});
        Words.push_back(0);
      }
    }
    // What was read for the last time gives its slot back: an operation reads
    // all before it writes.
    for (Value *V : Operands)
      if (auto R = Needed.find(dyn_cast<Instruction>(V)); R != Needed.end())
        if (--R->second.Left == 0)
          giveBack(V);
    if (I.isTerminator() || I.getType()->isVoidTy())
      continue;
    addWord(&I);
    if (It->second.Left == 0)
      giveBack(&I);
  }
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

GlobalVariable *StepMaker::addData(Constant *Data, const Twine &Name) {
  auto *G =
      new GlobalVariable(M, Data->getType(), true, GlobalValue::InternalLinkage,
                         Data, F.getName() + Name);
  G->setAlignment(Align(64));
  return G;
}

GlobalVariable *StepMaker::list() {
  for (auto [Word, From, To] : Jumps)
    Words[Word] = (FirstStep.lookup(To) - From) * StepWord;
  // As bytes: the code generator writes those at once.
  const StringRef Bytes(reinterpret_cast<const char *>(Words.data()),
                        Words.size() * StepWord);
  return addData(ConstantDataArray::getString(F.getContext(), Bytes,
                                              /*AddNull=*/false),
                 ".steps");
}

GlobalVariable *StepMaker::table() {
  SmallVector<Constant *> Addresses;
  for (auto [Operation, Place] : Operations)
    Addresses.push_back(Operation);
  return addData(ConstantArray::get(
                     ArrayType::get(B.getPtrTy(), Addresses.size()), Addresses),
                 ".operations");
}

/// What the slots hold at first: constants, up to the last one.
GlobalVariable *StepMaker::constants() {
  SmallVector<Constant *> Fields;
  uint64_t At = 0;
  for (auto [K, Slot] : Constants) {
    if (Slot != At)
      Fields.push_back(
          Constant::getNullValue(ArrayType::get(B.getInt8Ty(), Slot - At)));
    Fields.push_back(K);
    At = Slot + DL.getTypeAllocSize(K->getType());
  }
  return addData(
      ConstantStruct::getAnon(F.getContext(), Fields, /*Packed=*/true),
      ".constants");
}

size_t StepMaker::run() {
  simplify();
  Parts.emplace(F);
  findNeeded();
  numberReaders(); // constants get the first slots
  for (Argument &A : F.args())
    slotOf(&A);
  SmallVector<std::pair<uint32_t, uint32_t>> Addresses; // where, and of what
  for (AllocaInst *A : Arrays)
    Addresses.push_back(
        {slotOf(A), newSlot(A->getAllocatedType(), /*Shared=*/false)});
  for (BasicBlock &BB : F)
    placeVariables(BB);
  for (BasicBlock &BB : F)
    addSteps(BB);

  const GlobalValue::LinkageTypes Linkage = F.getLinkage();
  F.deleteBody();
  F.setLinkage(Linkage);
  B.SetInsertPoint(BasicBlock::Create(F.getContext(), "entry", &F));
  auto *Room = B.CreateAlloca(ArrayType::get(B.getInt8Ty(), Bytes));
  Room->setAlignment(Align(64));
  auto At = [&](Value *Base, uint64_t Offset) {
    return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Base, Offset);
  };
  if (!Constants.empty()) {
    GlobalVariable *K = constants();
    B.CreateMemCpy(Room, Align(64), K, Align(64),
                   DL.getTypeAllocSize(K->getValueType()));
  }
  for (Argument &A : F.args())
    B.CreateStore(&A, At(Room, Slots.lookup(&A)));
  for (auto [Where, Of] : Addresses)
    B.CreateStore(At(Room, Of), At(Room, Where));
  callStep(B, Room, list(), table());
  B.CreateRetVoid();
  return Steps;
}

size_t makeSteps(Module &M, HasOperation Has, Module &Missing) {
  SmallVector<Function *> Regions;
  for (Function &F : M)
    if (!F.isDeclaration())
      Regions.push_back(&F);
  size_t Steps = 0;
  for (Function *F : Regions)
    Steps += StepMaker(*F, Has, Missing).run();
  return Steps;
}

} // namespace reconverge::warpvm
