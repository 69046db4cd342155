//===- warpvm/emit/Operations.cpp - What a step of a list does ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operation is a function over (slots, step, table). It reads its operands, does
// what an instruction of the emitter does, leaves the result in its slot and
// goes on with the next step, by a jump:
//
//      step:  operation, word of each operand, word of the result
//      word:  a slot, in bytes; of a branch, bytes from its step to another; of
//             an operation, where the table has its address
//
// Its code is the very instruction: what a list computes is what the same
// instructions do that are compiled in place.
//
// An instruction that only one other uses is a part of that one's operation, to
// some depth: what is kept in a register is not written and read again, and it
// is a jump less. So is a scalar that is spread over the lanes.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Operations.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace reconverge::warpvm {

/// Of what is a part of an operation. More makes operations that only one place
/// in a program has; each takes half a millisecond to compile.
static constexpr unsigned MaxHeight = 2;

Align slotAlign(const Type *T, const DataLayout &DL) {
  return std::min(Align(64), DL.getABITypeAlign(const_cast<Type *>(T)));
}

Value *sourceOf(Value *V) {
  for (;;) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I)
      return V;
    Type *From = I->getNumOperands() ? I->getOperand(0)->getType() : nullptr,
         *To = I->getType();
    const bool Same =
        isa<FreezeInst>(I) || isa<BitCastInst>(I) ||
        ((isa<PtrToIntInst>(I) || isa<IntToPtrInst>(I)) &&
         From->getScalarSizeInBits() == To->getScalarSizeInBits()) ||
        // The low bytes come first. Of i2, which LLVM makes of `x & 3`, a vector
        // has no bytes of its own.
        (isa<TruncInst>(I) && To->isIntegerTy() &&
         To->getIntegerBitWidth() % 8 == 0);
    if (!Same)
      return V;
    V = I->getOperand(0);
  }
}

/// Whether operand \p J of \p I is a part of the operation's name.
static bool isImmediate(const Instruction &I, unsigned J) {
  if (auto *Call = dyn_cast<CallBase>(&I))
    return isa<IntrinsicInst>(I) &&
           (&Call->getCalledOperandUse() == &Call->getOperandUse(J) ||
            Call->paramHasAttr(J, Attribute::ImmArg));
  if (isa<ExtractElementInst>(I) || isa<InsertElementInst>(I))
    return J + 1 == I.getNumOperands() && isa<Constant>(I.getOperand(J));
  return isa<BasicBlock, UndefValue>(I.getOperand(J)) ||
         (isa<GetElementPtrInst>(I) && J > 1);
}

/// A scalar in all lanes: what it is.
static Value *spreadScalar(Value *V) {
  Value *X;
  if (match(V, m_Shuffle(m_InsertElt(m_Poison(), m_Value(X), m_ZeroInt()),
                         m_Poison(), m_ZeroMask())))
    return X;
  auto *K = dyn_cast<Constant>(V);
  return K && K->getType()->isVectorTy() ? K->getSplatValue() : nullptr;
}

bool StepParts::isPart(const Value *V, const Instruction &User) const {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || I->getParent() != User.getParent() || !I->hasOneUse())
    return false;
  if (isa<GetElementPtrInst>(I) && !I->getType()->isVectorTy())
    return isa<LoadInst>(User) ||
           (isa<StoreInst>(User) && User.getOperand(0) != I);
  return isa<CmpInst, CastInst, BinaryOperator, SelectInst>(I) &&
         !I->isIntDivRem() &&
         isa<CmpInst, CastInst, BinaryOperator, SelectInst, BranchInst,
             GetElementPtrInst>(User) &&
         Heights.lookup(I) <= MaxHeight;
}

StepParts::StepParts(const Function &F) {
  for (const BasicBlock &BB : F)
    for (const Instruction &I : BB) {
      unsigned Most = 0;
      for (Value *V : I.operands())
        if (Value *Source = sourceOf(V);
            Source->getType() == V->getType() && isPart(Source, I))
          Most = std::max(Most, Heights.lookup(cast<Instruction>(Source)));
      Heights[&I] = Most + 1;
    }
}

namespace {
/// How a step comes by an operand.
enum class Way { Immediate, Slot, Spread, Part };

struct Operand {
  Way How;
  Value *From; ///< where it is read: the scalar of what is spread
};
} // namespace

static Operand operandOf(Instruction &I, unsigned J, const StepParts &Parts) {
  assert(!spreadScalar(&I) && "its operand is a scalar");
  Value *V = I.getOperand(J);
  if (isImmediate(I, J))
    return {Way::Immediate, V};
  if (Value *X = isa<StoreInst>(I) ? nullptr : spreadScalar(V))
    return {Way::Spread, X};
  Value *Source = sourceOf(V);
  if (Source->getType() == V->getType() && Parts.isPart(Source, I))
    return {Way::Part, Source};
  return {Way::Slot, V};
}

void stepOperands(Instruction &I, const StepParts &Parts,
                  SmallVectorImpl<Value *> &Operands) {
  if (Value *X = spreadScalar(&I)) {
    Operands.push_back(sourceOf(X));
    return;
  }
  for (unsigned J = 0, N = I.getNumOperands(); J != N; ++J) {
    auto [How, From] = operandOf(I, J, Parts);
    if (How == Way::Part)
      stepOperands(*cast<Instruction>(From), Parts, Operands);
    else if (How != Way::Immediate)
      Operands.push_back(sourceOf(From));
  }
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static constexpr StringLiteral Prefix = "rcop.";

bool isOperationName(StringRef Name) { return Name.starts_with(Prefix); }

static void nameType(raw_ostream &OS, Type *T) {
  if (auto *V = dyn_cast<FixedVectorType>(T)) {
    OS << 'v' << V->getNumElements();
    nameType(OS, V->getElementType());
  } else if (T->isPointerTy()) {
    OS << 'p';
  } else {
    T->print(OS, /*IsForDebug=*/false, /*NoDetails=*/true);
  }
}

/// What an instruction does beyond its opcode and its operands.
static void nameKind(raw_ostream &OS, const Instruction &I) {
  if (auto *C = dyn_cast<CmpInst>(&I))
    OS << CmpInst::getPredicateName(C->getPredicate());
  if (auto *G = dyn_cast<GetElementPtrInst>(&I))
    nameType(OS, G->getSourceElementType());
  if (isa<LoadInst, StoreInst>(I))
    OS << getLoadStoreAlignment(const_cast<Instruction *>(&I)).value()
       << (I.isVolatile() ? "v" : "")
       << int(isa<LoadInst>(I) ? cast<LoadInst>(I).getOrdering()
                               : cast<StoreInst>(I).getOrdering());
  if (auto *R = dyn_cast<AtomicRMWInst>(&I))
    OS << AtomicRMWInst::getOperationName(R->getOperation())
       << R->getAlign().value() << int(R->getOrdering());
  if (auto *X = dyn_cast<AtomicCmpXchgInst>(&I))
    OS << X->getAlign().value() << int(X->getSuccessOrdering())
       << int(X->getFailureOrdering());
  if (auto *F = dyn_cast<FenceInst>(&I))
    OS << int(F->getOrdering()) << '.' << int(F->getSyncScopeID());
  if (auto *S = dyn_cast<ShuffleVectorInst>(&I))
    interleave(S->getShuffleMask(), OS, "-");
  if (auto *X = dyn_cast<ExtractValueInst>(&I))
    interleave(X->getIndices(), OS, "-");
  if (auto *X = dyn_cast<InsertValueInst>(&I))
    interleave(X->getIndices(), OS, "-");
  if (isa<FPMathOperator>(I) && I.getFastMathFlags().any())
    I.getFastMathFlags().print(OS);
}

static void nameOf(raw_ostream &OS, Instruction &I, const StepParts &Parts) {
  if (spreadScalar(&I)) {
    OS << "spread.";
    nameType(OS, I.getType());
    return;
  }
  OS << I.getOpcodeName() << '.';
  nameKind(OS, I);
  OS << '.';
  nameType(OS, I.getType());
  for (unsigned J = 0, N = I.getNumOperands(); J != N; ++J) {
    OS << ',';
    auto [How, From] = operandOf(I, J, Parts);
    switch (How) {
    case Way::Immediate:
      if (auto *F = dyn_cast<Function>(From))
        OS << F->getName();
      else if (!isa<BasicBlock>(From))
        From->printAsOperand(OS);
      break;
    case Way::Spread:
      OS << 's';
      [[fallthrough]];
    case Way::Slot:
      nameType(OS, I.getOperand(J)->getType());
      break;
    case Way::Part:
      OS << '(';
      nameOf(OS, *cast<Instruction>(From), Parts);
      OS << ')';
      break;
    }
  }
}

void operationName(Instruction &I, const StepParts &Parts,
                   SmallVectorImpl<char> &Name) {
  raw_svector_ostream OS(Name);
  OS << Prefix;
  nameOf(OS, I, Parts);
}

void copyName(uint64_t Bytes, SmallVectorImpl<char> &Name) {
  raw_svector_ostream(Name) << Prefix << "copy." << Bytes;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

static FunctionType *operationType(LLVMContext &C) {
  auto *PtrTy = PointerType::getUnqual(C);
  return FunctionType::get(Type::getVoidTy(C), {PtrTy, PtrTy, PtrTy}, false);
}

Function *declareOperation(Module &M, StringRef Name) {
  return cast<Function>(
      M.getOrInsertFunction(Name, operationType(M.getContext())).getCallee());
}

namespace {

class OperationBuilder {
public:
  explicit OperationBuilder(Function &F)
      : F(F), B(BasicBlock::Create(F.getContext(), "", &F)),
        DL(F.getParent()->getDataLayout()), Slots(F.getArg(0)),
        Step(F.getArg(1)), Table(F.getArg(2)) {}

  void build(Instruction &I, const StepParts &Parts);
  void buildCopy(uint64_t Bytes);

private:
  Value *target(Value *Word) {
    return B.CreateGEP(B.getInt8Ty(), Step, B.CreateSExt(Word, B.getInt64Ty()));
  }
  Value *word();
  Value *place();
  Value *read(Type *T) {
    return B.CreateAlignedLoad(T, place(), slotAlign(T, DL));
  }
  Value *compute(Instruction &I, const StepParts &Parts);
  void goOnAt(Value *Next);
  void goOn() {
    goOnAt(B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Step, Next));
  }

  Function &F;
  IRBuilder<> B;
  const DataLayout &DL;
  Value *Slots, *Step, *Table;
  uint64_t Next = StepWord; ///< of the step, read so far
};

} // namespace

Value *OperationBuilder::word() {
  Value *W = B.CreateAlignedLoad(
      B.getInt32Ty(), B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Step, Next),
      Align(4));
  Next += StepWord;
  return W;
}

Value *OperationBuilder::place() {
  return B.CreateGEP(B.getInt8Ty(), Slots,
                     B.CreateZExt(word(), B.getInt64Ty()));
}

/// What \p I does; its operands are read as they come.
Value *OperationBuilder::compute(Instruction &I, const StepParts &Parts) {
  auto Spread = [&](Type *Vector, Value *Scalar) {
    return B.CreateVectorSplat(cast<VectorType>(Vector)->getElementCount(),
                               read(Scalar->getType()));
  };
  if (Value *X = spreadScalar(&I))
    return Spread(I.getType(), X);
  SmallVector<Value *, 4> Operands;
  for (unsigned J = 0, N = I.getNumOperands(); J != N; ++J) {
    auto [How, From] = operandOf(I, J, Parts);
    Type *T = From->getType();
    switch (How) {
    case Way::Immediate:
      Operands.push_back(From);
      if (auto *Callee = dyn_cast<Function>(From))
        Operands.back() = F.getParent()
                              ->getOrInsertFunction(Callee->getName(),
                                                    Callee->getFunctionType(),
                                                    Callee->getAttributes())
                              .getCallee();
      break;
    case Way::Slot:
      Operands.push_back(read(T));
      break;
    case Way::Spread:
      Operands.push_back(Spread(I.getOperand(J)->getType(), From));
      break;
    case Way::Part:
      Operands.push_back(compute(*cast<Instruction>(From), Parts));
      break;
    }
  }
  Instruction *New = I.clone();
  New->dropUnknownNonDebugMetadata();
  New->dropPoisonGeneratingFlags();
  if (auto *Call = dyn_cast<CallInst>(New))
    Call->setAttributes({}); // the name says nothing of them
  for (auto [J, V] : enumerate(Operands))
    New->setOperand(J, V);
  return B.Insert(New);
}

void OperationBuilder::goOnAt(Value *Next) {
  callStep(B, Slots, Next, Table)->setTailCallKind(CallInst::TCK_MustTail);
  B.CreateRetVoid();
}

CallInst *callStep(IRBuilderBase &B, Value *Slots, Value *Step, Value *Table) {
  Value *Entry = B.CreateZExt(
      B.CreateAlignedLoad(B.getInt32Ty(), Step, Align(4)), B.getInt64Ty());
  Value *Operation =
      B.CreateLoad(B.getPtrTy(), B.CreateGEP(B.getInt8Ty(), Table, Entry));
  return B.CreateCall(operationType(B.getContext()), Operation,
                      {Slots, Step, Table});
}

void OperationBuilder::build(Instruction &I, const StepParts &Parts) {
  if (isa<ReturnInst>(I)) {
    B.CreateRetVoid();
  } else if (isa<UnreachableInst>(I)) {
    B.CreateUnreachable();
  } else if (auto *Br = dyn_cast<BranchInst>(&I)) {
    if (Br->isUnconditional())
      return goOnAt(target(word()));
    auto [How, From] = operandOf(I, 0, Parts);
    Value *Condition = How == Way::Part
                           ? compute(*cast<Instruction>(From), Parts)
                           : read(B.getInt1Ty());
    Value *Then = word(), *Else = word();
    auto *Yes = BasicBlock::Create(F.getContext(), "", &F);
    auto *No = BasicBlock::Create(F.getContext(), "", &F);
    B.CreateCondBr(Condition, Yes, No);
    B.SetInsertPoint(Yes);
    goOnAt(target(Then));
    B.SetInsertPoint(No);
    goOnAt(target(Else));
  } else {
    Value *X = compute(I, Parts);
    if (!I.getType()->isVoidTy())
      B.CreateAlignedStore(X, place(), slotAlign(I.getType(), DL));
    goOn();
  }
}

void OperationBuilder::buildCopy(uint64_t Bytes) {
  Value *From = place(), *To = place();
  B.CreateMemCpyInline(To, Align(1), From, Align(1), B.getInt64(Bytes));
  goOn();
}

/// Processes may have compiled the same operation: one will do.
static void begin(Function &Operation) {
  Operation.setLinkage(GlobalValue::WeakODRLinkage);
  Operation.addFnAttr(Attribute::NoUnwind);
  Operation.addFnAttr("min-legal-vector-width", "512");
  Operation.addFnAttr("prefer-vector-width", "512");
}

void defineOperation(Function &Operation, Instruction &I,
                     const StepParts &Parts) {
  begin(Operation);
  OperationBuilder(Operation).build(I, Parts);
}

void defineCopy(Function &Operation, uint64_t Bytes) {
  begin(Operation);
  OperationBuilder(Operation).buildCopy(Bytes);
}

} // namespace reconverge::warpvm
