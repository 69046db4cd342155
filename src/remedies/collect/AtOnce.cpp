//===- remedies/collect/AtOnce.cpp - The paths of many items --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What decides a path often reads what another read has brought (a pair, then
// the kinds of its two bodies). Item by item, behind branches, a thread waits for
// each of these chains by itself, and eight latencies pass before the block can
// sort four items. Here the slice has no branches, and stands once for each item
// in one block of code, so that the loads of all items are in flight together:
//
//   slice                               in that block, for each item
//   entry: if (i >= n) return;          in1 = is a block && !(i >= n)
//     a = p[i];                         a = *(in1 ? p + i : nowhere)
//     if (q[a]) path 0; else path 1;    c = *(in1 ? q + a : nowhere)
//                                       path = in1 && !c ? 1 : in1 && c ? 0 : none
//
//   - A block of the slice is come to if an edge to it is taken; an edge, if its
//     block is come to and the branch there leads along it.
//   - A load of a block that is not come to reads 16 bytes of our own.
//   - A phi is a choice by the edges; so is the path.
//
// Why right: what a block that is not come to computes may be anything (it is
// chosen by selects, which let no poison through that is not chosen), and nothing
// in it has effects: mayBeAtOnce() has that all is a load or may be speculated.
//
//===----------------------------------------------------------------------===//

#include "remedies/collect/AtOnce.h"

#include "analysis/device/AddressSpace.h"
#include "analysis/device/Intrinsics.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::remedies::collect {

/// More of a slice is not worth being there once for each item.
static constexpr size_t MostInstructions = 80, MostEdges = 24;
static constexpr uint64_t MostBytes = 16; ///< of a load

static bool mayBeGuarded(const LoadInst &Load) {
  const unsigned Space = Load.getPointerAddressSpace();
  return Load.isSimple() &&
         (Space == analysis::GenericSpace || Space == analysis::GlobalSpace) &&
         Load.getDataLayout().getTypeStoreSize(Load.getType()) <= MostBytes &&
         Load.getAlign() <= Align(MostBytes);
}

bool mayBeAtOnce(const Slice &Deciding, BlockNow Now) {
  if (!Deciding.Short.empty() || Deciding.Needed.size() > MostInstructions)
    return false;
  size_t Edges = 0;
  for (BasicBlock *BB : Deciding.Blocks)
    for (const Instruction &I : *Now(BB)) {
      if (!Deciding.Needed.contains(&I))
        continue;
      if (I.isTerminator()) {
        if (!isa<BranchInst, SwitchInst>(I))
          return false;
        Edges += I.getNumSuccessors();
      } else if (const auto *Load = dyn_cast<LoadInst>(&I)) {
        if (!mayBeGuarded(*Load))
          return false;
      } else if (!isa<PHINode>(I) && !isSafeToSpeculativelyExecute(&I)) {
        return false;
      }
    }
  return Edges <= MostEdges;
}

/// What may be read in place of what no item asks for.
static Constant *nowhere(Module &M, unsigned Space) {
  static constexpr StringLiteral Name = "__reconverge_nowhere";
  GlobalVariable *Bytes = M.getNamedGlobal(Name);
  if (!Bytes) {
    Type *T = ArrayType::get(Type::getInt8Ty(M.getContext()), MostBytes);
    Bytes = new GlobalVariable(
        M, T, /*isConstant=*/true, GlobalValue::InternalLinkage,
        Constant::getNullValue(T), Name, nullptr, GlobalValue::NotThreadLocal,
        analysis::GlobalSpace);
    Bytes->setAlignment(Align(MostBytes));
  }
  return ConstantExpr::getPointerBitCastOrAddrSpaceCast(
      Bytes, PointerType::get(M.getContext(), Space));
}

namespace {
/// The slice for one item.
class Item {
public:
  Item(const Slice &Deciding, BlockNow Now, IRBuilderBase &B)
      : Deciding(Deciding), Now(Now), B(B) {}
  Value *path(Value *IsBlock);
  SmallVector<CallBase *> Reads; ///< of the block's number

private:
  Value *copyOf(Value *V) const {
    Value *Copy = Copies.lookup(V);
    return Copy ? Copy : V;
  }
  Value *both(Value *X, Value *Y) { return B.CreateSelect(X, Y, B.getFalse()); }
  Value *either(Value *X, Value *Y) {
    return X ? B.CreateSelect(X, B.getTrue(), Y) : Y;
  }
  void addEdge(const BasicBlock *From, const BasicBlock *To, Value *Taken);
  void leadOn(const BasicBlock *From, Instruction &Ends, Value *Come);
  Value *chosen(const PHINode &Phi);
  void copy(const Instruction &I, Value *Come);

  const Slice &Deciding;
  BlockNow Now;
  IRBuilderBase &B;
  DenseMap<const Value *, Value *> Copies;
  /// By the block that an edge leads to: its own block, and whether it is taken.
  MapVector<const BasicBlock *, SmallMapVector<const BasicBlock *, Value *, 4>>
      Edges;
};
} // namespace

void Item::addEdge(const BasicBlock *From, const BasicBlock *To, Value *Taken) {
  Value *&All = Edges[To][From];
  All = either(All, Taken);
}

void Item::leadOn(const BasicBlock *From, Instruction &Ends, Value *Come) {
  if (auto *Switch = dyn_cast<SwitchInst>(&Ends)) {
    Value *By = copyOf(Switch->getCondition()), *Other = Come;
    for (auto Case : Switch->cases()) {
      Value *Is = B.CreateICmpEQ(By, Case.getCaseValue());
      addEdge(From, Case.getCaseSuccessor(), both(Come, Is));
      Other = both(Other, B.CreateNot(Is));
    }
    return addEdge(From, Switch->getDefaultDest(), Other);
  }
  const auto &Branch = cast<BranchInst>(Ends);
  if (Branch.isUnconditional())
    return addEdge(From, Branch.getSuccessor(0), Come);
  Value *If = copyOf(Branch.getCondition());
  addEdge(From, Branch.getSuccessor(0), both(Come, If));
  addEdge(From, Branch.getSuccessor(1), both(Come, B.CreateNot(If)));
}

Value *Item::chosen(const PHINode &Phi) {
  Value *Choice = nullptr;
  for (auto [From, Taken] : Edges[Phi.getParent()]) {
    Value *V = copyOf(Phi.getIncomingValueForBlock(From));
    Choice = Choice ? B.CreateSelect(Taken, V, Choice) : V;
  }
  return Choice;
}

void Item::copy(const Instruction &I, Value *Come) {
  if (const auto *Phi = dyn_cast<PHINode>(&I)) {
    Copies[&I] = chosen(*Phi);
    return;
  }
  Instruction *New = I.clone();
  for (Use &U : New->operands())
    U.set(copyOf(U.get()));
  if (auto *Load = dyn_cast<LoadInst>(New)) {
    Load->dropUnknownNonDebugMetadata();
    Load->setOperand(0,
                     B.CreateSelect(Come, Load->getPointerOperand(),
                                    nowhere(*B.GetInsertBlock()->getModule(),
                                            Load->getPointerAddressSpace())));
  }
  B.Insert(New);
  Copies[&I] = New;
  if (auto *Call = dyn_cast<IntrinsicInst>(New)) {
    const Intrinsic::ID Id = Call->getIntrinsicID();
    if (analysis::blockIndexDimension(Id) || analysis::gridSizeDimension(Id))
      Reads.push_back(Call);
  }
}

Value *Item::path(Value *IsBlock) {
  for (BasicBlock *Planned : Deciding.Blocks) {
    BasicBlock *BB = Now(Planned);
    Value *Come = Planned == Deciding.Blocks.front() ? IsBlock : nullptr;
    for (auto [From, Taken] : Edges[BB])
      Come = either(Come, Taken);
    for (const Instruction &I : *BB)
      if (Deciding.Needed.contains(&I) && !I.isTerminator())
        copy(I, Come);
    leadOn(BB, *BB->getTerminator(), Come);
  }
  Value *Path = B.getInt32(Deciding.Paths);
  for (auto [End, Which] : Deciding.Ends)
    if (Which != NoWork)
      for (auto [From, Taken] : Edges[Now(End)])
        Path = B.CreateSelect(Taken, B.getInt32(unsigned(Which)), Path);
  return Path;
}

SmallVector<Value *> pathsAtOnce(const Slice &Deciding, BlockNow Now,
                                 ArrayRef<Value *> Numbers, Value *Blocks,
                                 const LaunchValues &Of, IRBuilderBase &B) {
  Function &F = *B.GetInsertBlock()->getParent();
  auto *Paths = BasicBlock::Create(F.getContext(), "collect.paths", &F);
  const IRBuilderBase::InsertPoint Before = B.saveIP();
  SmallVector<Value *> All;
  SmallVector<SmallVector<CallBase *>> Reads;
  B.SetInsertPoint(Paths);
  for (Value *Number : Numbers) {
    Item Mine(Deciding, Now, B);
    All.push_back(Mine.path(B.CreateICmpULT(Number, Blocks)));
    Reads.push_back(std::move(Mine.Reads));
  }
  B.restoreIP(Before);
  B.SetInsertPoint(B.CreateBr(Paths));
  for (auto [Number, Its] : zip_equal(Numbers, Reads))
    becomeBlock(BlocksPlan{Its}, Number, Of, B);
  B.SetInsertPoint(Paths);
  return All;
}

} // namespace reconverge::remedies::collect
