//===- remedies/regroup/Bounds.cpp - Keys of another launch ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The keys of the next launch are computed before the program makes it: its
// arguments are foretold (launch/Sequences.cpp), and its data may not be there yet
// or be half written. Wrong keys make an order that is as right as any other, so
// all that must not happen is
//
//   a load that faults      p = a + i     p = a + i
//                           x = p[0]      in = from <= p <= to - 8, p % 4 == 0
//                           y = p[1]      q = in ? p : from
//                                         x = q[0], y = q[1]
//
//   a loop without an end   each has a bound that arguments, sizes of the launch
//                           and the thread's number make, not data
//
// Loads by a pointer of the arguments are bounded by the allocation into which it
// leads, which the launch before has; those of variables by the variable.
//
//===----------------------------------------------------------------------===//

#include "remedies/regroup/Bounds.h"

#include "analysis/AnalysisManagers.h"
#include "analysis/device/AddressSpace.h"
#include "remedies/common/CountWriter.h"
#include "remedies/common/HiddenParameters.h"
#include "remedies/regroup/Predictor.h"
#include "remedies/regroup/Refusals.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/Loads.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace reconverge::remedies::regroup {

/// Rounds of a loop that data may make it go, at most.
static constexpr uint64_t MostRounds = 4096;

/// Bytes that loads with one bound may lie apart.
static constexpr int64_t MostApart = 512;

namespace {
/// What a pointer is derived from, and where loads by it may read.
struct Base {
  GlobalVariable *Variable; ///< null: an argument, or a member of one
  Value *Object;      ///< that; null: argument number Loaded[Range].Number
  uint32_t Range = 0; ///< of Loaded
};

/// Loads at constant offsets from Root, which is derived from one of Of.
struct Group {
  Value *Root;
  std::optional<unsigned> Parameter; ///< Root is that of F's
  SmallVector<Base, 1> Of;
  SmallVector<std::pair<LoadInst *, int64_t>> Loads;
  int64_t Begin = 0, End = 0; ///< of what they read, from Root on, in 16 bytes
  Align Asked;                ///< that Root has

  unsigned space() const {
    return Of.front().Variable ? Of.front().Variable->getAddressSpace()
                               : unsigned(analysis::GlobalSpace);
  }
};

class Bounder {
public:
  /// \p OfProgram: parameters behind which F's own begin.
  Bounder(Function &F, unsigned OfProgram,
          std::vector<RecipeAhead::Range> &Loaded)
      : F(F), OfProgram(OfProgram), Layout(F.getDataLayout()), Loaded(Loaded),
        Dominance(Analyses.Functions.getResult<DominatorTreeAnalysis>(F)),
        Loops(Analyses.Functions.getResult<LoopAnalysis>(F)),
        Evolution(Analyses.Functions.getResult<ScalarEvolutionAnalysis>(F)) {}
  bool readsKnown();
  bool endsAlways();
  /// \p Wider has F's code and two more parameters for each of Loaded.
  void bound(Function &Wider, unsigned First);

private:
  std::optional<Base> baseOf(Value *Object);
  bool isScratch(const Value *Object) const;
  std::optional<uint64_t> ownBytes(const Value *Object) const;
  bool staysInside(Value *Pointer, Type &Accessed);
  bool addLoad(LoadInst &Load);
  void add(LoadInst &Load, ArrayRef<Base> Of);
  std::optional<int64_t> apart(Value &Root, const LoadInst &Load,
                               const Group &From);
  void bound(Group &G, Function &Wider, unsigned First);

  Function &F;
  const unsigned OfProgram;
  const DataLayout &Layout;
  std::vector<RecipeAhead::Range> &Loaded;
  analysis::AnalysisManagers Analyses;
  const DominatorTree &Dominance;
  const LoopInfo &Loops;
  ScalarEvolution &Evolution;
  std::vector<Group> Groups;
};
} // namespace

//===----------------------------------------------------------------------===//
// Whether it can be
//===----------------------------------------------------------------------===//

/// None: nobody knows where it leads.
std::optional<Base> Bounder::baseOf(Value *Object) {
  RecipePointer From;
  Value *Member = nullptr;
  if (auto *Variable = dyn_cast<GlobalVariable>(Object)) {
    const unsigned Space = Variable->getAddressSpace();
    if (Space != analysis::GlobalSpace && Space != analysis::ConstantSpace)
      return std::nullopt;
    return Base{Variable, Variable};
  }
  if (const auto *A = dyn_cast<Argument>(Object)) {
    From = {A->getArgNo(), 0};
  } else if (auto *Load = dyn_cast<LoadInst>(Object)) {
    const auto [Of, At] = memberOf(*Load, Layout);
    if (!Of)
      return std::nullopt;
    From = {Of->getArgNo(), At};
    Member = Load;
  } else {
    return std::nullopt;
  }
  const auto Known = find_if(
      Loaded, [&](const RecipeAhead::Range &R) { return R.Of == From; });
  const uint32_t Number = uint32_t(Known - Loaded.begin());
  if (Known == Loaded.end())
    Loaded.push_back({From});
  return Base{nullptr, Member, Number};
}

/// Whether that is memory of the remedy's, which it accesses by the thread's number
/// and its class.
bool Bounder::isScratch(const Value *Object) const {
  const auto *A = dyn_cast<Argument>(Object);
  return isNetTable(*Object) ||
         (A && !A->hasByValAttr() && A->getArgNo() >= OfProgram);
}

/// Bytes of what is on the thread's stack, or passed by value; none: it is
/// neither.
std::optional<uint64_t> Bounder::ownBytes(const Value *Object) const {
  if (const auto *A = dyn_cast<Argument>(Object); A && A->hasByValAttr())
    return Layout.getTypeAllocSize(A->getParamByValType());
  const auto *Slot = dyn_cast<AllocaInst>(Object);
  const auto Bytes = Slot ? Slot->getAllocationSize(Layout) : std::nullopt;
  return Bytes && !Bytes->isScalable() ? std::optional(Bytes->getFixedValue())
                                       : std::nullopt;
}

/// Whether \p Pointer leads into such memory, whatever the data are.
bool Bounder::staysInside(Value *Pointer, Type &Accessed) {
  const Value *Object = getUnderlyingObject(Pointer, /*MaxLookup=*/0);
  const auto Size = ownBytes(Object);
  const uint64_t Bytes = Layout.getTypeStoreSize(&Accessed);
  if (!Size || Bytes > *Size)
    return false;
  const SCEV *From = Evolution.getPointerBase(Evolution.getSCEV(Pointer));
  if (From != Evolution.getSCEV(const_cast<Value *>(Object)))
    return false;
  const SCEV *At = Evolution.removePointerBase(Evolution.getSCEV(Pointer));
  return Evolution.getUnsignedRangeMax(At).ule(*Size - Bytes);
}

static int64_t sizeOf(const GlobalVariable &V) {
  return int64_t(V.getDataLayout().getTypeAllocSize(V.getValueType()));
}

/// Bytes from the root of \p From to \p Root, by which \p Load reads; none: they
/// differ from thread to thread, or from round to round.
std::optional<int64_t> Bounder::apart(Value &Root, const LoadInst &Load,
                                      const Group &From) {
  if (&Root == From.Root)
    return 0;
  const auto *A = dyn_cast<Instruction>(From.Root),
             *B = dyn_cast<Instruction>(&Root);
  if (!A || !B || Root.getType() != A->getType() ||
      Loops.getLoopFor(A->getParent()) != Loops.getLoopFor(B->getParent()) ||
      !Dominance.dominates(A, &Load))
    return std::nullopt;
  const auto *Apart = dyn_cast<SCEVConstant>(Evolution.getMinusSCEV(
      Evolution.getSCEV(&Root), Evolution.getSCEV(From.Root)));
  if (!Apart)
    return std::nullopt;
  return Apart->getAPInt().getSExtValue();
}

/// Puts \p Load into the group of loads near it.
void Bounder::add(LoadInst &Load, ArrayRef<Base> Of) {
  APInt Offset(64, 0);
  Value *Root = Load.getPointerOperand()->stripAndAccumulateConstantOffsets(
      Layout, Offset, /*AllowNonInbounds=*/true);
  int64_t At = Offset.getSExtValue();
  const Align Asked = Load.getAlign();
  const int64_t Bytes = int64_t(Layout.getTypeStoreSize(Load.getType()));
  const auto Begin = [](int64_t From) {
    return int64_t(alignDown(uint64_t(From), 16));
  };
  auto G = Groups.end();
  for (auto Try = Groups.begin(); Try != G && Of.size() == 1; ++Try) {
    if (Try->Of.size() != 1 || Try->Of[0].Variable != Of[0].Variable ||
        Try->Of[0].Range != Of[0].Range)
      continue;
    const auto More = apart(*Root, Load, *Try);
    if (!More || !isAligned(Asked, uint64_t(At + *More)))
      continue;
    const int64_t Now = At + *More, Apart = std::max(Now + Bytes, Try->End) -
                                            std::min(Begin(Now), Try->Begin);
    if (Apart > MostApart ||
        (Of[0].Variable && Apart > sizeOf(*Of[0].Variable)))
      continue;
    At = Now;
    G = Try;
    break;
  }
  if (G == Groups.end()) {
    // Alone, it may be anywhere; and all that is read has to have room.
    if (!isAligned(Asked, uint64_t(At)) || std::abs(At) > MostApart / 2 ||
        Of.size() != 1 ||
        (Of[0].Variable && At + Bytes - Begin(At) > sizeOf(*Of[0].Variable))) {
      Root = Load.getPointerOperand();
      At = 0;
    }
    Groups.push_back(
        {Root, {}, SmallVector<Base, 1>(Of), {}, Begin(At), At + Bytes, Asked});
    G = std::prev(Groups.end());
    if (const auto *A = dyn_cast<Argument>(Root))
      G->Parameter = A->getArgNo();
  }
  G->Loads.push_back({&Load, At});
  G->Begin = std::min(G->Begin, Begin(At));
  G->End = std::max(G->End, At + Bytes);
  G->Asked = std::max(G->Asked, Asked);
  for (const Base &B : Of)
    if (!B.Variable)
      Loaded[B.Range].Bytes =
          std::max(Loaded[B.Range].Bytes, uint32_t(G->End - G->Begin));
}

bool Bounder::addLoad(LoadInst &Load) {
  SmallVector<const Value *> Objects;
  getUnderlyingObjects(Load.getPointerOperand(), Objects, /*LI=*/nullptr,
                       /*MaxLookup=*/0);
  const auto IsVariable = [](const Value *O) { return isa<GlobalVariable>(O); };
  if (all_of(Objects, [&](const Value *O) { return isScratch(O); }) ||
      staysInside(Load.getPointerOperand(), *Load.getType()) ||
      (all_of(Objects, IsVariable) &&
       isDereferenceableAndAlignedPointer(
           Load.getPointerOperand(), Load.getType(), Load.getAlign(), Layout)))
    return true;
  SmallVector<Base, 1> Of;
  for (const Value *Object : Objects) {
    const auto Known = isScratch(Object) || ownBytes(Object)
                           ? std::nullopt
                           : baseOf(const_cast<Value *>(Object));
    // One kind of memory, and room for what it reads elsewhere.
    if (!Known || (!Of.empty() && (Of[0].Variable || Known->Variable)) ||
        (Known->Variable &&
         sizeOf(*Known->Variable) <
             int64_t(Layout.getTypeStoreSize(Load.getType()))))
      return false;
    Of.push_back(*Known);
  }
  if (Load.isVolatile())
    return false;
  add(Load, Of);
  return true;
}

/// All that it reads is bounded, or its thread's own; so is what it writes. Its
/// slice has left no call of the program's that does more than read; the others are
/// the remedy's.
bool Bounder::readsKnown() {
  for (Instruction &I : instructions(F)) {
    if (auto *Load = dyn_cast<LoadInst>(&I)) {
      if (!addLoad(*Load))
        return false;
    } else if (auto *Store = dyn_cast<StoreInst>(&I)) {
      const Value *To = getUnderlyingObject(Store->getPointerOperand(), 0);
      if (!isScratch(To) && !staysInside(Store->getPointerOperand(),
                                         *Store->getValueOperand()->getType()))
        return false;
    } else if (const auto *Call = dyn_cast<CallBase>(&I)) {
      const Function *Callee = Call->getCalledFunction();
      const bool IsKnown = Callee && Callee->isDeclaration();
      const bool OnlyReads = I.mayReadFromMemory() && !I.mayHaveSideEffects();
      if (!IsKnown || OnlyReads || isa<MemTransferInst>(I))
        return false;
    }
  }
  return true;
}

/// Whether the launch and the thread's number alone make \p S.
static bool isOfLaunch(const SCEV *S, const DataLayout &Layout) {
  return !SCEVExprContains(S, [&](const SCEV *Part) {
    const auto *Of = dyn_cast<SCEVUnknown>(Part);
    if (!Of || isa<Argument>(Of->getValue()))
      return false;
    if (const auto *Load = dyn_cast<LoadInst>(Of->getValue()))
      return memberOf(*Load, Layout).first == nullptr;
    const auto *Read = dyn_cast<IntrinsicInst>(Of->getValue());
    return !Read || Read->arg_size() != 0; // a special register
  });
}

/// Each thread, whatever it loads.
bool Bounder::endsAlways() {
  ReversePostOrderTraversal<const Function *> Order(&F);
  if (containsIrreducibleCFG<const BasicBlock *>(Order, Loops))
    return false;
  return all_of(Loops.getLoopsInPreorder(), [&](const Loop *L) {
    const SCEV *Rounds = Evolution.getSymbolicMaxBackedgeTakenCount(L);
    if (isa<SCEVCouldNotCompute>(Rounds))
      return false;
    return isOfLaunch(Rounds, Layout) ||
           Evolution.getUnsignedRangeMax(Rounds).ule(MostRounds);
  });
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// What tells whether \p Pointer, which is derived from \p Object, is aligned:
/// mostly that alone, which is the same for all threads.
static Value *saysAligned(Value *Pointer, Value *Object, Align Asked,
                          const DataLayout &Layout) {
  for (Value *P = Pointer; P != Object;) {
    const auto *Gep = dyn_cast<GEPOperator>(P);
    if (Gep ? Gep->getMaxPreservedAlignment(Layout) < Asked
            : !isa<AddrSpaceCastOperator>(P))
      return Pointer;
    P = cast<Operator>(P)->getOperand(0);
  }
  return Object;
}

void Bounder::bound(Group &G, Function &Wider, unsigned First) {
  const auto Behind = [&](Value *V) {
    auto *I = dyn_cast<Instruction>(V);
    return I ? *I->getInsertionPointAfterDef()
             : Wider.getEntryBlock().getFirstInsertionPt();
  };
  IRBuilder<> B(Wider.getContext());
  if (G.Parameter)
    G.Root = Wider.getArg(*G.Parameter);
  auto *Global = PointerType::get(B.getContext(), G.space());
  const auto Number = [&](Value *V) {
    return B.CreatePtrToInt(V, B.getInt64Ty());
  };
  const Base &Front = G.Of.front();
  Value *Object =
      Front.Object ? Front.Object : Wider.getArg(Loaded[Front.Range].Of.Number);
  Value *Says =
      G.Of.size() == 1 ? saysAligned(G.Root, Object, G.Asked, Layout) : G.Root;
  // What is the same for all threads stays outside of loops.
  B.SetInsertPoint(Behind(Says));
  Value *IsAligned = B.CreateICmpEQ(
      B.CreateAnd(Number(Says), G.Asked.value() - 1), B.getInt64(0));
  SmallVector<std::pair<Value *, Value *>, 1> Ranges; ///< from, room
  for (const Base &Of : G.Of) {
    Value *From =
        Of.Variable ? Number(Of.Variable) : Wider.getArg(First + 2 * Of.Range);
    Value *Size =
        Of.Variable ? B.getInt64(uint64_t(sizeOf(*Of.Variable)))
                    : B.CreateSub(Wider.getArg(First + 2 * Of.Range + 1), From);
    // There is room for all of the group, so that one comparison does. Nothing
    // is misaligned at From.
    Value *Room = B.CreateSub(Size, B.getInt64(uint64_t(G.End - G.Begin)));
    Ranges.push_back({From, B.CreateSelect(IsAligned, Room, B.getInt64(0))});
  }
  Value *Safe = Front.Variable ? Front.Variable
                               : B.CreateIntToPtr(Ranges[0].first, Global);
  Safe = B.CreatePtrAdd(Safe, B.getInt64(uint64_t(-G.Begin)));
  if (isa<Instruction>(G.Root) && G.Root != Says)
    B.SetInsertPoint(Behind(G.Root));
  Value *Root = B.CreateAddrSpaceCast(G.Root, Global),
        *Begin = B.CreateAdd(Number(Root), B.getInt64(uint64_t(G.Begin)));
  Value *In = nullptr;
  for (auto [From, Room] : Ranges) {
    Value *InThis = B.CreateICmpULE(B.CreateSub(Begin, From), Room);
    In = In ? B.CreateOr(In, InThis) : InThis;
  }
  Value *Bounded = B.CreateSelect(In, Root, Safe);
  for (auto [Load, At] : G.Loads) {
    B.SetInsertPoint(Load);
    Load->setOperand(LoadInst::getPointerOperandIndex(),
                     B.CreatePtrAdd(Bounded, B.getInt64(uint64_t(At))));
  }
}

void Bounder::bound(Function &Wider, unsigned First) {
  for (Group &G : Groups)
    bound(G, Wider, First);
}

/// What the program promises of its data does not hold before they are there.
static void dropDataPromises(Function &F) {
  for (Instruction &I : instructions(F)) {
    I.dropPoisonGeneratingMetadata();
    if (isa<LoadInst>(I))
      I.setMetadata(LLVMContext::MD_noundef, nullptr);
  }
}

/// Nor that its arithmetic does not wrap.
static void dropFlags(Function &F) {
  for (Instruction &I : instructions(F))
    I.dropPoisonGeneratingFlags();
}

/// Nothing but loads, as far as one can see.
static bool isOnlyRead(const Value &Pointer) {
  return all_of(Pointer.users(), [](const User *U) {
    return isa<LoadInst>(U) ||
           (isa<GetElementPtrInst, AddrSpaceCastInst>(U) && isOnlyRead(*U));
  });
}

PlanOr<Function *> boundKeys(Function &Keys, const Function &Kernel,
                             std::vector<RecipeAhead::Range> &Loaded) {
  const Instruction &Start = *Kernel.getEntryBlock().getTerminator();
  dropDataPromises(Keys);
  for (Argument &A : Keys.args())
    if (A.hasByValAttr() && isOnlyRead(A))
      A.addAttr(Attribute::ReadOnly);
  Bounder Bounds(Keys, unsigned(Kernel.arg_size()), Loaded);
  if (!Bounds.readsKnown())
    return refusal(refuse::ReadsAnywhere, Start);
  if (!Bounds.endsAlways())
    return refusal(refuse::LoopsOnData, Start);
  const unsigned First = unsigned(Keys.arg_size());
  const SmallVector<Type *> Types(2 * Loaded.size(),
                                  Type::getInt64Ty(Keys.getContext()));
  SmallVector<StringRef> Names;
  for (size_t I = 0; I != Loaded.size(); ++I)
    Names.append({"from", "to"});
  Function &Wider = addParameters(Keys, Types, Names);
  dropFlags(Wider);
  Bounds.bound(Wider, First);
  return &Wider;
}

} // namespace reconverge::remedies::regroup
