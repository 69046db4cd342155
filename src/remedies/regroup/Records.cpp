//===- remedies/regroup/Records.cpp - Data in the order of threads --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data layout transformation, of what a kernel accesses by the number of its
// thread alone. Of each such access the thread at place p has a column:
//
//   records + p / 32 * 32 * bytes of a thread + 32 * bytes of columns before
//           + p % 32 * bytes of the column
//
// A warp's accesses to a column are neighbours, whatever structures the program
// has. Columns are in order of falling size, so that each is aligned.
//
//   gather    the slice of the kernel that its loads are (Slice.h): it loads
//             where the kernel would, and under the same conditions
//   kernel    loads and stores columns, and notes which it has stored to
//   scatter   stores those to where the kernel would have
//
// Why right. A load: its address follows from parameters and the thread's
// number, so that it is the same each time; what is there is not written by the
// thread before (AA), nor by another, which trials rule out. A store: nobody
// reads or writes the place behind it in the thread but stores to the same
// column, so that it may as well happen at the end.
//
//===----------------------------------------------------------------------===//

#include "remedies/regroup/Records.h"

#include "analysis/AnalysisManagers.h"
#include "analysis/device/AddressSpace.h"
#include "analysis/device/Annotations.h"
#include "analysis/device/Intrinsics.h"
#include "remedies/common/HiddenParameters.h"
#include "remedies/common/Reachable.h"
#include "remedies/common/Redirection.h"
#include "remedies/common/Slice.h"
#include "remedies/regroup/Refusals.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#include <map>
#include <set>

using namespace llvm;

namespace reconverge::remedies::regroup {

static constexpr unsigned WarpThreads = 32;
/// Columns; those of stores as many as a word of flags has bits.
static constexpr unsigned MostLoaded = 64, MostStored = 32;
static constexpr uint32_t MostColumnBytes = 16;
/// Threads of a block that gathers or scatters.
static constexpr unsigned CopyThreads = 256;

//===----------------------------------------------------------------------===//
// Which accesses
//===----------------------------------------------------------------------===//

namespace {
/// What an address follows from.
struct Origin {
  bool Known = true;   ///< parameters, the launch and the thread's number alone
  bool Thread = false; ///< the number of the thread in its block among them
};
} // namespace

static Origin originOf(const Value *V, unsigned Depth = 0) {
  if (isa<Argument>(V) || isa<ConstantData>(V))
    return {};
  const auto *I = dyn_cast<Instruction>(V);
  constexpr unsigned MostDepth = 16;
  if (!I || Depth == MostDepth)
    return {.Known = false};
  if (const auto *Read = dyn_cast<IntrinsicInst>(I)) {
    const Intrinsic::ID Id = Read->getIntrinsicID();
    if (analysis::threadIndexDimension(Id))
      return {.Thread = true};
    return {.Known = analysis::blockIndexDimension(Id) ||
                     analysis::blockSizeDimension(Id) ||
                     analysis::gridSizeDimension(Id)};
  }
  if (!isa<BinaryOperator, CastInst, GetElementPtrInst>(I) ||
      !isSafeToSpeculativelyExecute(I))
    return {.Known = false};
  Origin All;
  for (const Value *Operand : I->operands()) {
    const Origin Of = originOf(Operand, Depth + 1);
    All.Known &= Of.Known;
    All.Thread |= Of.Thread;
  }
  return All;
}

/// Whether values of \p T, where \p Pointer leads to, may be a column.
static bool isRecord(const Value *Pointer, Type *T, const DataLayout &Layout) {
  const auto *Base = dyn_cast<Argument>(getUnderlyingObject(Pointer, 0));
  if (!Base || Base->hasByValAttr() ||
      !(T->isIntOrIntVectorTy() || T->isFPOrFPVectorTy() || T->isPointerTy()))
    return false;
  const uint64_t Size = Layout.getTypeStoreSize(T);
  const Origin Of = originOf(Pointer);
  return Of.Known && Of.Thread && isPowerOf2_64(Size) &&
         Size <= MostColumnBytes && Size == Layout.getTypeAllocSize(T) &&
         Layout.getTypeSizeInBits(T) == 8 * Size;
}

namespace {
/// Finds what may be moved.
class Finder {
public:
  explicit Finder(Function &F)
      : F(F), Aliases(Analyses.Functions.getResult<AAManager>(F)),
        Addresses(Analyses.Functions.getResult<ScalarEvolutionAnalysis>(F)) {}
  RecordsPlan find(RecordLayout Of);
  bool SawRecord = false;

private:
  using Place = std::pair<const SCEV *, Type *>;
  void findLoads();
  void findStores();
  bool mayWait(const StoreInst &S, const Place &At);
  Place placeOf(Instruction &I) {
    return {Addresses.getSCEV(getLoadStorePointerOperand(&I)),
            getLoadStoreType(&I)};
  }
  /// The column of \p At; none: there are too many.
  std::optional<unsigned>
  columnOf(const Place &At, std::map<Place, unsigned> &Seen, unsigned Most);

  Function &F;
  analysis::AnalysisManagers Analyses;
  AAResults &Aliases;
  ScalarEvolution &Addresses;
  Reachable MayCome;
  RecordsPlan Plan;
};
} // namespace

static void addColumn(RecordsPlan &Plan, Type *T, const DataLayout &Layout) {
  Plan.Columns.push_back({T, uint32_t(Layout.getTypeStoreSize(T)), 0});
}

std::optional<unsigned> Finder::columnOf(const Place &At,
                                         std::map<Place, unsigned> &Seen,
                                         unsigned Most) {
  const auto Known = Seen.find(At);
  if (Known != Seen.end())
    return Known->second;
  if (Seen.size() == Most)
    return std::nullopt;
  addColumn(Plan, At.second, F.getDataLayout());
  return Seen[At] = unsigned(Plan.Columns.size() - 1);
}

void Finder::findLoads() {
  const auto Written = readsOfWritten(F);
  std::map<Place, unsigned> Seen;
  for (Instruction &I : instructions(F)) {
    auto *L = dyn_cast<LoadInst>(&I);
    if (!L || !L->isSimple() ||
        !isRecord(L->getPointerOperand(), L->getType(), F.getDataLayout()))
      continue;
    SawRecord = true;
    if (is_contained(Written, L))
      continue;
    if (auto Column = columnOf(placeOf(*L), Seen, MostLoaded))
      Plan.Loads.push_back({L, *Column});
  }
}

/// Whether others may be told of what was stored before \p I.
static bool publishes(const Instruction &I) {
  if (const auto *Add = dyn_cast<AtomicRMWInst>(&I))
    return isReleaseOrStronger(Add->getOrdering());
  if (const auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
    return isReleaseOrStronger(Swap->getSuccessOrdering());
  if (const auto *Store = dyn_cast<StoreInst>(&I))
    return isReleaseOrStronger(Store->getOrdering());
  return isa<FenceInst>(I) ||
         analysis::intrinsicKind(I) == analysis::IntrinsicKind::Fence;
}

/// Whether \p S may as well happen when the thread ends.
bool Finder::mayWait(const StoreInst &S, const Place &At) {
  const MemoryLocation Where = MemoryLocation::get(&S);
  return none_of(instructions(F), [&](Instruction &I) {
    if (&I == &S || !I.mayReadOrWriteMemory())
      return false;
    if (auto *Other = dyn_cast<StoreInst>(&I);
        Other && Other->isSimple() && placeOf(*Other) == At)
      return false; // is moved as well, or neither is
    if (publishes(I) && MayCome(S, I))
      return true;
    const ModRefInfo Does = Aliases.getModRefInfo(&I, Where);
    if (isModOrRefSet(Does) && MayCome(S, I))
      return true;
    return isModSet(Does) && MayCome(I, S);
  });
}

void Finder::findStores() {
  std::vector<StoreInst *> All;
  std::set<Place> Stay;
  for (Instruction &I : instructions(F)) {
    auto *S = dyn_cast<StoreInst>(&I);
    if (!S || !S->isSimple() ||
        !isRecord(S->getPointerOperand(), S->getValueOperand()->getType(),
                  F.getDataLayout()))
      continue;
    SawRecord = true;
    All.push_back(S);
    if (!mayWait(*S, placeOf(*S)))
      Stay.insert(placeOf(*S));
  }
  std::map<Place, unsigned> Seen;
  for (StoreInst *S : All)
    if (!Stay.count(placeOf(*S)))
      if (auto Column = columnOf(placeOf(*S), Seen, MostStored)) {
        Plan.Stores.push_back({S, *Column});
        if (!is_contained(Plan.Stored, *Column))
          Plan.Stored.push_back(*Column);
      }
  if (Plan.Stores.empty())
    return;
  Plan.Flags = unsigned(Plan.Columns.size());
  addColumn(Plan, Type::getInt32Ty(F.getContext()), F.getDataLayout());
}

RecordsPlan Finder::find(RecordLayout Of) {
  findLoads();
  if (Of == RecordLayout::All)
    findStores();
  return Plan;
}

/// Gives the columns that are used their places.
static void lay(RecordsPlan &Plan) {
  std::vector<bool> Used(Plan.Columns.size());
  for (const auto &Accesses : {Plan.Loads, Plan.Stores})
    for (const RecordsPlan::Access &A : Accesses)
      Used[A.Column] = true;
  if (!Plan.Stores.empty())
    Used[Plan.Flags] = true;
  Plan.Bytes = 0;
  for (uint32_t Size = MostColumnBytes; Size; Size /= 2)
    for (auto [C, IsUsed] : zip(Plan.Columns, Used))
      if (C.Size == Size && IsUsed) {
        C.Offset = Plan.Bytes;
        Plan.Bytes += Size;
      }
}

PlanOr<RecordsPlan> planRecords(Function &Kernel, RecordLayout Of) {
  Finder All(Kernel);
  RecordsPlan Plan = All.find(Of);
  if (Plan.Loads.empty() && Plan.Stores.empty())
    return refusal(All.SawRecord ? refuse::RecordStays : refuse::NoRecord,
                   *Kernel.getEntryBlock().getTerminator());
  lay(Plan);
  return Plan;
}

//===----------------------------------------------------------------------===//
// Where they are
//===----------------------------------------------------------------------===//

namespace {
/// Addresses of the columns of the thread that runs.
class Columns {
public:
  /// Code is put at \p B, which the addresses will dominate.
  Columns(IRBuilderBase &B, Value *Records, const RecordsPlan &Plan)
      : Plan(Plan), Place(readItem(B)) {
    Value *Lane = B.CreateAnd(Place, WarpThreads - 1);
    Value *First =
        B.CreateMul(B.CreateSub(Place, Lane), B.getInt64(Plan.Bytes));
    Value *Global = B.CreateAddrSpaceCast(
        Records, PointerType::get(B.getContext(), analysis::GlobalSpace));
    for (uint32_t Size = 1; Size <= MostColumnBytes; Size *= 2)
      if (any_of(Plan.Columns,
                 [&](const RecordsPlan::Column &C) { return C.Size == Size; }))
        Own[Size] = B.CreateGEP(
            B.getInt8Ty(), Global,
            B.CreateAdd(First, B.CreateMul(Lane, B.getInt64(Size))), "own");
  }
  Value *place() const { return Place; }
  Value *at(IRBuilderBase &B, unsigned Column) const {
    const RecordsPlan::Column &C = Plan.Columns[Column];
    return B.CreateGEP(B.getInt8Ty(), Own.at(C.Size),
                       B.getInt64(uint64_t(WarpThreads) * C.Offset));
  }
  Value *load(IRBuilderBase &B, unsigned Column) const {
    const RecordsPlan::Column &C = Plan.Columns[Column];
    return B.CreateAlignedLoad(C.T, at(B, Column), Align(C.Size));
  }
  void store(IRBuilderBase &B, Value *V, unsigned Column) const {
    B.CreateAlignedStore(V, at(B, Column), Align(Plan.Columns[Column].Size));
  }

private:
  const RecordsPlan &Plan;
  Value *Place;
  std::map<uint32_t, Value *> Own; ///< by size
};
} // namespace

//===----------------------------------------------------------------------===//
// Before and behind
//===----------------------------------------------------------------------===//

/// \p Copy with room for the address of the records, its threads by an index.
static Function &redirectCopy(Function &Copy) {
  const ItemsPlan Plan = std::get<ItemsPlan>(planItems(Copy));
  Function &F = addParameters(Copy, {PointerType::getUnqual(Copy.getContext())},
                              {"records"});
  return redirectThreads(F, Plan, blockWithin(F, CopyThreads));
}

static PlanOr<Function *> gatherBy(Function &Kernel, const Twine &Name,
                                   const RecordsPlan &Plan) {
  ValueToValueMapTy Map;
  Function &F = redirectCopy(copyToReduce(Kernel, Name, Map));
  std::map<unsigned, AllocaInst *> Slots; // by column
  const auto Note = [&]() -> std::optional<Refusal> {
    for (const RecordsPlan::Access &A : Plan.Loads) {
      AllocaInst *&Slot = Slots[A.Column];
      if (!Slot) {
        IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
        Type *T = Plan.Columns[A.Column].T;
        Slot = B.CreateAlloca(T, nullptr, "column");
        B.CreateStore(Constant::getNullValue(T), Slot);
      }
      auto *Load = cast<LoadInst>(Map.lookup(A.I));
      IRBuilder<>(Load->getNextNode()).CreateStore(Load, Slot);
    }
    return std::nullopt;
  };
  const unsigned OfProgram = unsigned(Kernel.arg_size());
  const auto Write = [&](BasicBlock &End) {
    IRBuilder<> B(End.getTerminator());
    const Columns Own(B, F.getArg(OfProgram), Plan);
    B.SetInsertPoint(SplitBlockAndInsertIfThen(
        B.CreateICmpULT(Own.place(), F.getArg(OfProgram + 2)),
        End.getTerminator(), /*Unreachable=*/false));
    for (auto [Column, Slot] : Slots)
      Own.store(B, B.CreateFreeze(B.CreateLoad(Slot->getAllocatedType(), Slot)),
                Column);
  };
  // An address, a load and a phi of each are what is asked for.
  const uint64_t Asked = 3 * Plan.Loads.size();
  if (auto Why =
          reduceTo(F, Kernel, Note, [] { return nullptr; }, Write, Asked))
    return *Why;
  return &F;
}

PlanOr<Function *> makeGather(Function &Kernel, const Twine &Name,
                              RecordsPlan &Plan) {
  std::optional<Refusal> Why;
  while (!Plan.Loads.empty()) {
    PlanOr<Function *> Made = gatherBy(Kernel, Name, Plan);
    if (std::holds_alternative<Function *>(Made))
      return Made;
    if (!Why)
      Why = std::get<Refusal>(Made);
    // What comes last hangs on most.
    const BasicBlock *Last = Plan.Loads.back().I->getParent();
    erase_if(Plan.Loads, [&](const RecordsPlan::Access &A) {
      return A.I->getParent() == Last;
    });
    lay(Plan);
  }
  if (Why && Plan.Stores.empty())
    return *Why;
  return nullptr;
}

/// \p V, which follows from parameters and numbers alone, once more, at \p B.
static Value *repeat(Value *V, IRBuilderBase &B, ValueToValueMapTy &Map) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return isa<Argument>(V) ? &*Map.lookup(V) : V;
  if (Value *Known = Map.lookup(I))
    return Known;
  Instruction *New = I->clone();
  for (Use &Operand : New->operands())
    if (!isa<Function>(Operand))
      Operand = repeat(Operand, B, Map);
  New->setDebugLoc({});
  Map[I] = B.Insert(New);
  return New;
}

Function *makeScatter(Function &Kernel, const Twine &Name,
                      const RecordsPlan &Plan) {
  if (Plan.Stores.empty())
    return nullptr;
  ValueToValueMapTy Map;
  Function &Copy = copyToReduce(Kernel, Name, Map);
  const auto Linkage = Copy.getLinkage();
  Copy.deleteBody();
  Copy.setLinkage(Linkage);
  Map.clear();
  for (auto [Old, New] : zip(Kernel.args(), Copy.args()))
    Map[&Old] = &New;
  IRBuilder<> B(BasicBlock::Create(Kernel.getContext(), "entry", &Copy));
  Instruction *End = B.CreateRetVoid();
  B.SetInsertPoint(End);
  struct Target {
    WeakTrackingVH To;
    Align By;
  };
  std::map<unsigned, Target> Targets; // by column
  for (const RecordsPlan::Access &A : Plan.Stores) {
    auto *S = cast<StoreInst>(A.I);
    auto [At, IsNew] = Targets.try_emplace(A.Column);
    if (IsNew)
      At->second = {repeat(S->getPointerOperand(), B, Map), S->getAlign()};
    At->second.By = std::min(At->second.By, S->getAlign());
  }
  Function &F = redirectCopy(Copy);
  B.SetInsertPoint(End);
  const Columns Own(B, F.getArg(unsigned(Kernel.arg_size())), Plan);
  Value *Flags = Own.load(B, Plan.Flags);
  for (auto [Bit, Column] : enumerate(Plan.Stored)) {
    Value *Has = B.CreateICmpNE(B.CreateAnd(Flags, 1u << Bit), B.getInt32(0));
    B.SetInsertPoint(
        SplitBlockAndInsertIfThen(Has, End, /*Unreachable=*/false));
    const Target &At = Targets[Column];
    B.CreateAlignedStore(Own.load(B, Column), At.To, At.By);
    B.SetInsertPoint(End);
  }
  return &F;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void moveAccess(Instruction &I, Value *Address, Align By) {
  I.dropUnknownNonDebugMetadata({I.getContext().getMDKindID("rc.access")});
  if (auto *L = dyn_cast<LoadInst>(&I)) {
    L->setOperand(L->getPointerOperandIndex(), Address);
    L->setAlignment(By);
    return;
  }
  auto *S = cast<StoreInst>(&I);
  S->setOperand(S->getPointerOperandIndex(), Address);
  S->setAlignment(By);
}

void useRecords(Function &F, unsigned Number, const RecordsPlan &Plan,
                ArrayRef<Instruction *> Ends) {
  F.addParamAttr(Number, Attribute::NoAlias);
  IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
  AllocaInst *Flags = B.CreateAlloca(B.getInt32Ty(), nullptr, "stored");
  B.CreateStore(B.getInt32(0), Flags);
  const Columns Own(B, F.getArg(Number), Plan);
  for (const auto &Accesses : {Plan.Loads, Plan.Stores})
    for (const RecordsPlan::Access &A : Accesses) {
      B.SetInsertPoint(A.I);
      moveAccess(*A.I, Own.at(B, A.Column), Align(Plan.Columns[A.Column].Size));
    }
  for (const RecordsPlan::Access &A : Plan.Stores) {
    B.SetInsertPoint(A.I);
    const size_t Bit = find(Plan.Stored, A.Column) - Plan.Stored.begin();
    B.CreateStore(B.CreateOr(B.CreateLoad(B.getInt32Ty(), Flags), 1u << Bit),
                  Flags);
  }
  if (!Plan.Stores.empty())
    for (Instruction *End : Ends) {
      B.SetInsertPoint(End);
      Own.store(B, B.CreateLoad(B.getInt32Ty(), Flags), Plan.Flags);
    }
  DominatorTree Dominance(F);
  PromoteMemToReg({Flags}, Dominance);
}

} // namespace reconverge::remedies::regroup
