//===- remedies/regroup/Regroup.cpp - Threads in order of a key -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   k<<<grid, block>>>(args)
//
//     classes, lines, range, ... = scratch of some 16 bytes a thread
//     k$keys<<<grid, block>>>(args, classes, lines, range)     Slice.cpp
//     index = items, sorted by class and line                  Sort.cpp
//     k<<<blocks, threads of a block>>>(args, index, threads, grid, block)
//
//   k: run as thread number index[number of the thread] of <<<grid, block>>>
//
// Why right: the index is a permutation of all threads whatever the keys are,
// each is run once, and nothing but its numbers ties a thread to its place
// (common/Items.h). Trials prove that no thread needs what another leaves.
//
// Of a kernel that is one loop over the grid the iterations are sorted
// (common/Straight.h), unless by what was learned of its threads.
//
// With reuse=on the index stays for later launches (launch/Orders.h), and now
// and then k$probe$before tells of a sample whether it would be another.
//
// With next=on a launch makes the index of the next one beside its own work
// (launch/Sequences.h, Bounds.h).
//
// With layout= what the kernel accesses by its number lies in that order, too
// (Records.h): k$gather$before in front of it, k$return$before behind. So do
// arrays of rows (Rows.h): k$take_rows$before, k$bring_rows$before.
//
// Paper: Y. Liang, M. T. Satria, K. Rupnow, D. Chen, "An Accurate GPU
// Performance Model for Effective Control Flow Divergence Optimization", IEEE
// TCAD 35 (2016): groups by what threads will do, and reference redirection.
//
//===----------------------------------------------------------------------===//

#include "remedies/regroup/Regroup.h"

#include "analysis/ArgumentParts.h"
#include "analysis/device/Annotations.h"
#include "core/Remedied.h"
#include "remedies/common/HiddenParameters.h"
#include "remedies/common/Redirection.h"
#include "remedies/common/Requests.h"
#include "remedies/common/Slice.h"
#include "remedies/common/Sort.h"
#include "remedies/common/Straight.h"
#include "remedies/regroup/Bounds.h"
#include "remedies/regroup/Records.h"
#include "remedies/regroup/Refusals.h"
#include "remedies/regroup/Rows.h"
#include "remedies/regroup/Sort.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace reconverge::remedies::regroup;

namespace reconverge::remedies {

/// Sort.cu counts in 32 bits.
static constexpr uint64_t MostItems = uint64_t(1) << 31;

/// \p Keys once more, for some of the threads: those of an index.
static Function &makeProbe(Function &Keys, const Function &Kernel) {
  ValueToValueMapTy Map;
  Function *Copy = CloneFunction(&Keys, Map);
  Copy->setName(Kernel.getName() + "$probe" + HelperSuffix);
  analysis::copyAnnotations(Keys, *Copy);
  // What the kernel allows its slice does.
  const ItemsPlan Plan = std::get<ItemsPlan>(planItems(*Copy));
  return redirectThreads(*Copy, Plan, blockWithin(*Copy, 256));
}

namespace {
/// What moves data into the order and back; kernels may be null.
struct Moves {
  RecordsPlan Plan;
  Function *Gather, *Scatter;
};
} // namespace

static PlanOr<Moves> makeMoves(Function &Kernel, RecordLayout Of) {
  PlanOr<RecordsPlan> Planned = planRecords(Kernel, Of);
  if (const auto *Why = std::get_if<Refusal>(&Planned))
    return *Why;
  Moves Made{std::get<RecordsPlan>(std::move(Planned)), nullptr, nullptr};
  PlanOr<Function *> Gather = makeGather(
      Kernel, Kernel.getName() + "$gather" + HelperSuffix, Made.Plan);
  if (const auto *Why = std::get_if<Refusal>(&Gather))
    return *Why;
  Made.Gather = std::get<Function *>(Gather);
  Made.Scatter = makeScatter(
      Kernel, Kernel.getName() + "$return" + HelperSuffix, Made.Plan);
  return Made;
}

/// Bytes for records of \p Bytes a thread, in whole warps.
static LaunchAmount recordsOf(uint64_t Bytes, uint64_t Least) {
  // So many threads have at most 32 / Per more in whole warps.
  const uint64_t Per = std::min<uint64_t>(Least, 4096);
  return {LaunchAmount::Threads, Bytes * (Per + 32), Per};
}

/// The step of Sort.cu that copies array number \p Array of \p R to where it is in
/// the order, or back. \p By: the order, or its inverse.
static RecipeStep copyRows(const Recipe &R, const Function &Kernel,
                           StringRef Name, uint32_t Array, RecipeArgument By,
                           LaunchAmount Threads) {
  using Rows = RecipeRows;
  constexpr unsigned WarpThreads = 32;
  RecipeStep Step = sorting::step(
      Kernel, Name, extentOf({LaunchAmount::Threads, 1, WarpThreads}),
      {By,
       {RecipeArgument::Amount, 0, Threads},
       sorting::number(R.Rows[Array].CellBytes),
       sorting::number(R.Rows[Array].tile())});
  for (Rows::Field Field : {Rows::Own, Rows::Before, Rows::First, Rows::Begin,
                            Rows::End, Rows::Count, Rows::Pitch, Rows::Step})
    Step.Arguments.push_back(
        {RecipeArgument::OfRows, Array * Rows::Fields + Field});
  return Step;
}

/// Adds the steps behind the sort to \p R that run \p Kernel by the index, its
/// arrays of rows in the order.
static void addWithRows(Recipe &R, Function &Kernel, const ItemsPlan &Plan,
                        RecipeArgument Index, const RowsPlan &Rows,
                        const RegroupOptions &Options) {
  const unsigned OfProgram = unsigned(Kernel.arg_size());
  const LaunchAmount Whole = {LaunchAmount::Threads},
                     Half = {LaunchAmount::Threads, 1, 2};
  const auto [Take, Invert, Bring] = sorting::Rows;
  R.Rows = Rows.Arrays;
  R.Elsewhere = Rows.Elsewhere;
  R.OneDimension = true;
  std::vector<RecipeArgument> Own;
  for (unsigned I = 0; I != OfProgram; ++I)
    Own.push_back({RecipeArgument::Program, I});
  SmallVector<Type *> Types;
  SmallVector<StringRef> Names;
  const RecipeArgument Inverse = sorting::scratch(uint32_t(R.Scratch.size()));
  std::vector<RecipeStep> Behind;
  for (uint32_t A = 0; A != R.Rows.size(); ++A) {
    Types.append({PointerType::getUnqual(Kernel.getContext()),
                  Type::getInt64Ty(Kernel.getContext())});
    Names.append({"row0", "step"});
    for (RecipeRows::Field Field : {RecipeRows::Row0, RecipeRows::Step})
      Own.push_back({RecipeArgument::OfRows, A * RecipeRows::Fields + Field});
    R.Steps.push_back(
        copyRows(R, Kernel, Take, A, Index, Options.PlantedBug ? Half : Whole));
    if (!R.Rows[A].Stored)
      continue;
    Behind.push_back(copyRows(R, Kernel, Bring, A, Inverse, Whole));
    Behind.back().Helper = false;
  }
  if (!Behind.empty()) {
    R.Scratch.push_back({{LaunchAmount::Threads, 4, 1}});
    R.Steps.push_back(sorting::step(
        Kernel, Invert, extentOf({LaunchAmount::Threads, 1, sorting::Threads}),
        {Index, {RecipeArgument::Amount, 0, Whole}, Inverse}));
  }
  for (RecipeArgument A : redirectedArguments(0, Index, Whole))
    Own.push_back(A);
  Function &Wider = addParameters(Kernel, Types, Names);
  const auto Columns = useRows(Wider, Rows, OfProgram);
  Function &F = redirectThreads(Wider, Plan, analysis::launchBound(Wider));
  placeRows(F, Rows, OfProgram, Columns);
  R.Steps.push_back({.Kernel = F.getName().str(),
                     .Grid = extentOf({LaunchAmount::Blocks}),
                     .Block = extentOf({LaunchAmount::BlockThreads}),
                     .Arguments = std::move(Own)});
  R.Steps.insert(R.Steps.end(), Behind.begin(), Behind.end());
}

/// Adds the steps behind the sort to \p R: \p Kernel by the index, and what moves
/// its data, if anything does.
static void addKernels(Recipe &R, Function &Kernel, const ItemsPlan &Plan,
                       RecipeArgument Index, const Moves *Moving,
                       const RegroupOptions &Options) {
  const unsigned OfProgram = unsigned(Kernel.arg_size());
  const LaunchAmount Whole = {LaunchAmount::Threads},
                     Half = {LaunchAmount::Threads, 1, 2};
  const uint32_t Records = uint32_t(R.Scratch.size());
  std::vector<RecipeArgument> Own;
  for (unsigned I = 0; I != OfProgram; ++I)
    Own.push_back({RecipeArgument::Program, I});
  if (Moving) {
    R.Scratch.push_back({recordsOf(Moving->Plan.Bytes, Options.Least)});
    Own.push_back({RecipeArgument::Scratch, Records});
  }
  const auto by = [&](LaunchAmount Units) {
    std::vector<RecipeArgument> All = Own;
    for (RecipeArgument A : redirectedArguments(0, Index, Units))
      All.push_back(A);
    return All;
  };
  const auto copying = [&](Function &F, bool Helper, LaunchAmount Units) {
    const unsigned Block = blockWithin(F, 256);
    return RecipeStep{.Kernel = F.getName().str(),
                      .Helper = Helper,
                      .Grid = extentOf({LaunchAmount::Threads, 1, Block}),
                      .Block = constantExtent(Block),
                      .DynamicShared = false,
                      .Arguments = by(Units)};
  };
  const bool OfGather = Moving && Moving->Gather;
  if (OfGather)
    R.Steps.push_back(copying(*Moving->Gather, /*Helper=*/true,
                              Options.PlantedBug ? Half : Whole));
  SmallVector<Instruction *> Ends;
  for (BasicBlock &BB : Kernel)
    if (isa<ReturnInst>(BB.getTerminator()))
      Ends.push_back(BB.getTerminator());
  Function &Wider =
      Moving
          ? addParameters(Kernel, {PointerType::getUnqual(Kernel.getContext())},
                          {"records"})
          : Kernel;
  Function &F = redirectThreads(Wider, Plan, analysis::launchBound(Wider));
  if (Moving)
    useRecords(F, OfProgram, Moving->Plan, Ends);
  R.Steps.push_back(
      {.Kernel = F.getName().str(),
       .Grid = extentOf({LaunchAmount::Blocks}),
       .Block = extentOf({LaunchAmount::BlockThreads}),
       .Arguments = by(Options.PlantedBug && !OfGather ? Half : Whole)});
  if (Moving && Moving->Scatter)
    R.Steps.push_back(copying(*Moving->Scatter, /*Helper=*/false, Whole));
}

static PlanOr<Regrouped> regroupThreads(Function &Kernel,
                                        RegroupOptions Options,
                                        const RowsPlan *Rows = nullptr) {
  PlanOr<ItemsPlan> Planned = planItems(Kernel);
  if (const auto *Why = std::get_if<Refusal>(&Planned))
    return *Why;
  const ItemsPlan &Plan = std::get<ItemsPlan>(Planned);
  if (Plan.Exits)
    return refusal(sliced::Exit, *Kernel.getEntryBlock().getTerminator());
  PlanOr<ChosenKey> Chosen = chooseKey(Kernel, Options);
  if (const auto *Why = std::get_if<Refusal>(&Chosen))
    return *Why;
  Regrouped Made;
  Made.By = std::move(std::get<ChosenKey>(Chosen).By);
  Made.Others = std::move(std::get<ChosenKey>(Chosen).Others);
  if (!Made.By.hasPlace())
    Options.Locality = 0;
  Made.Locality = Options.Locality;
  std::optional<Moves> Moving;
  if (Options.Layout == RecordLayout::Loads ||
      Options.Layout == RecordLayout::All) {
    PlanOr<Moves> Movable = makeMoves(Kernel, Options.Layout);
    if (const auto *Why = std::get_if<Refusal>(&Movable))
      return *Why;
    Moving = std::get<Moves>(std::move(Movable));
    Made.Loads = unsigned(Moving->Plan.Loads.size());
    Made.Stores = unsigned(Moving->Plan.Stores.size());
    Made.MovedBytes = Moving->Plan.Bytes;
  }
  KeyKernel Keys = std::get<KeyKernel>(makeKeyKernel(
      Kernel, Kernel.getName() + "$keys" + HelperSuffix, Made.By));
  Made.ClassBits = Keys.ClassBits;
  std::optional<RecipeAhead> Ahead;
  if (Options.Next) {
    Ahead.emplace().Parts =
        analysis::usedParts(*Keys.Kernel, unsigned(Kernel.arg_size()));
    Ahead->Sizes = analysis::argumentSizes(Kernel, unsigned(Kernel.arg_size()));
    PlanOr<Function *> Bounded = boundKeys(*Keys.Kernel, Kernel, Ahead->Loaded);
    if (const auto *Why = std::get_if<Refusal>(&Bounded)) {
      for (Function *Made : {Keys.Kernel, Moving ? Moving->Gather : nullptr,
                             Moving ? Moving->Scatter : nullptr})
        if (Made)
          Made->eraseFromParent();
      return *Why;
    }
    Keys.Kernel = std::get<Function *>(Bounded);
    // What the kernel allows its slice does.
    Keys.Kernel = &loopOverBlocks(
        *Keys.Kernel, std::get<BlocksPlan>(planBlocks(*Keys.Kernel)));
  }

  const unsigned OfProgram = unsigned(Kernel.arg_size());
  Recipe &R = Made.Launch;
  R.LeastThreads = Options.Least;
  R.MostThreads = MostItems;
  R.WholeWarps = Made.By.OnTensorCores;
  std::vector<RecipeArgument> Arguments;
  for (unsigned I = 0; I != OfProgram; ++I)
    Arguments.push_back({RecipeArgument::Program, I});
  for (RecipeArgument A : keyScratch(R, Keys.ClassBits, Options))
    Arguments.push_back(A);
  for (uint32_t I = 0; Ahead && I != 2 * Ahead->Loaded.size(); ++I)
    Arguments.push_back({RecipeArgument::OfRange, I});
  if (Ahead)
    for (RecipeArgument A : placeArguments({LaunchAmount::Blocks}))
      Arguments.push_back(A);
  R.Ahead = std::move(Ahead);
  RecipeStep &First = R.Steps.emplace_back();
  First.Kernel = Keys.Kernel->getName().str();
  First.Helper = true;
  First.Arguments = std::move(Arguments);
  linkSort(Kernel, Options);
  if (Options.Reuse)
    addProbe(R, Kernel, makeProbe(*Keys.Kernel, Kernel), OfProgram);
  const RecipeArgument Index = addSort(R, Kernel, Keys.ClassBits, Options);
  if (Rows)
    addWithRows(R, Kernel, Plan, Index, *Rows, Options);
  else
    addKernels(R, Kernel, Plan, Index, Moving ? &*Moving : nullptr, Options);
  return Made;
}

/// The same with arrays of rows in the order, whose pointers alias no others:
/// else a launch takes the kernel as it was.
static PlanOr<Regrouped> regroupRows(Function &Kernel,
                                     const RegroupOptions &Options) {
  PlanOr<RowsPlan> Planned = planRows(Kernel);
  if (const auto *Why = std::get_if<Refusal>(&Planned))
    return *Why;
  const RowsPlan &Rows = std::get<RowsPlan>(Planned);
  SmallVector<Argument *> Marked;
  for (const RecipeRows &A : Rows.Arrays)
    if (Argument *Pointer = Kernel.getArg(A.Pointer);
        !Pointer->hasNoAliasAttr()) {
      Pointer->addAttr(Attribute::NoAlias);
      Marked.push_back(Pointer);
    }
  PlanOr<Regrouped> Made = regroupThreads(Kernel, Options, &Rows);
  if (auto *Now = std::get_if<Regrouped>(&Made)) {
    Now->Arrays = unsigned(Rows.Arrays.size());
    Now->Accesses = Rows.Accesses;
    Now->InRows = Rows.Numbers;
  } else {
    for (Argument *Pointer : Marked)
      Pointer->removeAttr(Attribute::NoAlias);
  }
  return Made;
}

static PlanOr<Regrouped> regroupBy(Function &Kernel,
                                   const RegroupOptions &Options) {
  return Options.Layout == RecordLayout::Rows ? regroupRows(Kernel, Options)
                                              : regroupThreads(Kernel, Options);
}

PlanOr<Regrouped> regroupKernel(Function &Kernel, const RegroupOptions &Given) {
  RegroupOptions Options = Given;
  for (const SourceRequest &Said : requestsIn(Kernel, Name))
    if (auto Both = parseRegroupOptions(Said.Parameters, Options))
      Options = std::move(*Both);
    else
      consumeError(Both.takeError()); // the remedy has said so (Remedy.cpp)
  // What is told beforehand was learned of threads.
  const bool IsTold =
      !Options.Estimate.empty() || Options.Tree.leaves() || Options.Net;
  std::optional<TripCount> Trips;
  if (!IsTold)
    Trips = straighten(Kernel, [&](Function &Copy) {
      return std::holds_alternative<Regrouped>(regroupBy(Copy, Options));
    });
  PlanOr<Regrouped> Made = regroupBy(Kernel, Options);
  if (auto *Now = std::get_if<Regrouped>(&Made))
    Now->Launch.Trips = std::move(Trips);
  return Made;
}

} // namespace reconverge::remedies
