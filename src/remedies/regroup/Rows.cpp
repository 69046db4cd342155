//===- remedies/regroup/Rows.cpp - Arrays in the order of threads ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data layout transformation, of arrays in which each thread has a column:
//
//   a[(i + k * stride) * cell + byte]     i: number of the thread; any k
//
// In order, the threads of a warp would access cells that are far apart, again
// and again. So the columns are copied into the order before and back behind
// (common/Sort.cu), and the thread at place p accesses
//
//   row0 + p / tile * step + (k * tile + p % tile) * cell + byte
//
// RowAccesses.cpp tells k. Where the array begins and ends is asked at the launch
// (launch/Rows.cpp).
//
// Why right. All accesses by the array's pointer are to the thread's own
// column, so none misses the copy of another; other pointers that the kernel
// follows come from its arguments, and the launch sees that none of them leads
// there. Threads beyond a row's end would have the next row's columns: a guard
// keeps them out, or the launch has none. Back go words that have changed, so
// nothing is written that the kernel does not write.
//
//===----------------------------------------------------------------------===//
#include "remedies/regroup/Rows.h"

#include "analysis/AnalysisManagers.h"
#include "analysis/Numbering.h"
#include "analysis/device/AddressSpace.h"
#include "remedies/common/CountWriter.h"
#include "remedies/common/Items.h"
#include "remedies/common/KernelCopy.h"
#include "remedies/regroup/IndexTerms.h"
#include "remedies/regroup/Records.h"
#include "remedies/regroup/Refusals.h"
#include "remedies/regroup/RowAccesses.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace reconverge::remedies::regroup {

//===----------------------------------------------------------------------===//
// Other pointers
//===----------------------------------------------------------------------===//

/// Where a pointer that \p Object is comes from: nothing to ask about, an argument,
/// or none of these.
static bool addPointer(const Value *Object, std::vector<RecipePointer> &To,
                       const DataLayout &Layout) {
  const auto Add = [&](const Argument &A, uint64_t At) {
    const RecipePointer P{A.getArgNo(), At};
    if (!is_contained(To, P))
      To.push_back(P);
    return true;
  };
  const unsigned Space = Object->getType()->getPointerAddressSpace();
  if (isa<AllocaInst, ConstantData>(Object) || Space == analysis::SharedSpace ||
      Space == analysis::LocalSpace || Space == analysis::ConstantSpace)
    return true;
  if (const auto *A = dyn_cast<Argument>(Object))
    return A->hasByValAttr() || Add(*A, 0);
  if (const auto *Variable = dyn_cast<GlobalVariable>(Object))
    return Variable->isConstant();
  const auto *Load = dyn_cast<LoadInst>(Object);
  if (!Load)
    return false;
  const auto [Of, At] = memberOf(*Load, Layout);
  return Of && Add(*Of, At);
}

/// The pointers that all accesses but those to \p Arrays follow; none: some do not
/// come from arguments, or that is not known.
static std::optional<std::vector<RecipePointer>>
others(Function &F, ArrayRef<RowArray> Arrays) {
  SmallPtrSet<const Instruction *, 32> Own;
  for (const RowArray &A : Arrays)
    for (const RowAccess &At : A.Accesses)
      Own.insert(At.I);
  std::vector<RecipePointer> All;
  for (Instruction &I : instructions(F)) {
    if (!I.mayReadOrWriteMemory() || Own.contains(&I))
      continue;
    SmallVector<const Value *> Pointers;
    if (const Value *Pointer = getLoadStorePointerOperand(&I)) {
      Pointers.push_back(Pointer);
    } else if (const auto *Call = dyn_cast<IntrinsicInst>(&I)) {
      // Their pointers are all that they access.
      for (const Value *Operand : Call->args())
        if (Operand->getType()->isPointerTy())
          Pointers.push_back(Operand);
    } else if (const auto *Add = dyn_cast<AtomicRMWInst>(&I)) {
      Pointers.push_back(Add->getPointerOperand());
    } else if (const auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I)) {
      Pointers.push_back(Swap->getPointerOperand());
    } else if (!isa<FenceInst>(I)) {
      return std::nullopt;
    }
    for (const Value *Pointer : Pointers) {
      SmallVector<const Value *> Objects;
      getUnderlyingObjects(Pointer, Objects, /*LI=*/nullptr,
                           /*MaxLookup=*/0);
      for (const Value *Object : Objects)
        if (!addPointer(Object, All, F.getDataLayout()))
          return std::nullopt;
    }
  }
  return All;
}

static PlanOr<RowsPlan> planNow(Function &Kernel) {
  RowFinder Rows(Kernel);
  const Instruction &Start = *Kernel.getEntryBlock().getTerminator();
  const std::vector<RowArray> Arrays = Rows.find();
  if (Arrays.empty())
    return refusal(refuse::NoRows, Start);
  auto Others = others(Kernel, Arrays);
  if (!Others)
    return refusal(refuse::RowsStay, Start);
  RowsPlan Plan;
  Plan.Elsewhere = std::move(*Others);
  for (const RowArray &A : Arrays) {
    Plan.Arrays.push_back(Rows.describe(A));
    Plan.Accesses += unsigned(A.Accesses.size());
    for (const RowAccess &At : A.Accesses)
      if (const auto Number = analysis::accessNumber(*At.I))
        Plan.Numbers.push_back(*Number);
  }
  return Plan;
}

/// \p Wanted: arrays. Loops get preheaders, where rows may be computed.
static void prepare(Function &Kernel,
                    function_ref<bool(const Argument &)> Wanted) {
  extendTerms(Kernel, [&](const Value &Object) {
    const auto *Array = dyn_cast<Argument>(&Object);
    return Array && Wanted(*Array);
  });
  analysis::AnalysisManagers Analyses;
  LoopSimplifyPass().run(Kernel, Analyses.Functions);
}

PlanOr<RowsPlan> planRows(Function &Kernel) {
  auto [Alone, Copy] = copyAlone(Kernel);
  prepare(*Copy, [](const Argument &) { return true; });
  PlanOr<RowsPlan> Plan = planNow(*Copy);
  if (const auto *Why = std::get_if<Refusal>(&Plan))
    return refusal(*Why->Kind, *Kernel.getEntryBlock().getTerminator());
  const RowsPlan &Rows = std::get<RowsPlan>(Plan);
  prepare(Kernel, [&](const Argument &A) {
    return any_of(Rows.Arrays, [&](const RecipeRows &R) {
      return R.Pointer == A.getArgNo();
    });
  });
  return planNow(Kernel);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

SmallVector<Instruction *, 2> useRows(Function &F, const RowsPlan &Plan,
                                      unsigned First) {
  SmallVector<Instruction *, 2> Columns;
  RowFinder Rows(F);
  std::vector<RowArray> Arrays = Rows.find();
  ScalarEvolution &Numbers = Rows.numbers();
  SCEVExpander Expander(Numbers, F.getDataLayout(), "row");
  for (auto [Number, R] : enumerate(Plan.Arrays)) {
    const auto A =
        find_if(Arrays, [&, Pointer = R.Pointer](const RowArray &Of) {
          return Of.Pointer->getArgNo() == Pointer;
        });
    assert(A != Arrays.end() && "it was found before");
    IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
    Argument *Row0 = F.getArg(First + 2 * unsigned(Number));
    Row0->addAttr(Attribute::NoAlias);
    auto *Column = new AddrSpaceCastInst(
        Row0, PointerType::get(B.getContext(), analysis::GlobalSpace));
    Columns.push_back(B.Insert(Column, "rows"));
    for (const RowAccess &At : A->Accesses) {
      const SCEV *Row = Rows.rowOf(At, *A);
      const uint64_t RowBytes = uint64_t(R.tile()) * R.CellBytes;
      const SCEV *Bytes = Numbers.getAddExpr(
          Numbers.getMulExpr(Row,
                             Numbers.getConstant(Row->getType(), RowBytes)),
          Numbers.getConstant(Row->getType(), uint64_t(At.At.Bytes)));
      Value *Offset = Expander.expandCodeFor(Bytes, Bytes->getType(), At.I);
      IRBuilder<> Here(At.I);
      const uint64_t Whole = R.CellBytes | uint64_t(At.At.Bytes);
      moveAccess(*At.I, Here.CreateGEP(Here.getInt8Ty(), Column, Offset),
                 std::min(getLoadStoreAlignment(At.I), Align(Whole & -Whole)));
    }
  }
  return Columns;
}

void placeRows(Function &F, const RowsPlan &Plan, unsigned First,
               ArrayRef<Instruction *> Columns) {
  for (auto [Number, R] : enumerate(Plan.Arrays)) {
    Instruction *Row0 = Columns[Number];
    IRBuilder<> B(Row0->getNextNode());
    Value *Place = readItem(B);
    Value *Tile = B.CreateMul(B.CreateLShr(Place, Log2_32(R.tile())),
                              F.getArg(First + 2 * unsigned(Number) + 1));
    Value *Lane =
        B.CreateMul(B.CreateAnd(Place, R.tile() - 1), B.getInt64(R.CellBytes));
    auto *Own = cast<Instruction>(
        B.CreateGEP(B.getInt8Ty(), Row0, B.CreateAdd(Tile, Lane), "column"));
    Row0->replaceUsesWithIf(Own, [&](Use &U) { return U.getUser() != Own; });
  }
}

} // namespace reconverge::remedies::regroup
