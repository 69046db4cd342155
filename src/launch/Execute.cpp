//===- launch/Execute.cpp - Launching by a recipe -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   what is the launch taken for? (Trips.cpp)
//   is the launch one that the recipe is for?     no -----> the original
//   would it make what serves only later ones,
//   and nobody keeps that? does it need an order
//   that is given, and nobody gives one?          yes ----> the original
//   shapes of all steps, arrays of rows (Rows.cpp)
//   scratch in its order, copies of arrays        fails --> the original
//   each step: its arguments, its launch          fails --> the original if
//                                                 only helpers ran before,
//                                                 else an error
//   release all of that, also after a failure
//
// What a launch makes for the next is a second execution, of some of the steps,
// beside the first (fork and join). It is made of arguments that the program has
// not given yet and may never give, so its loads have bounds: the allocation into
// which this launch's own pointer leads.
//
// "The original" is a return value: the caller launches the original. A helper
// writes scratch memory only, so the original may still run after a helper.
//
// Nothing here waits for the device, so the launch may be made while its stream
// is captured into a graph.
//
// This file is linked into users' programs: it uses no LLVM and throws no
// exceptions of its own.
//
//===----------------------------------------------------------------------===//

#include "launch/Execute.h"

#include "launch/Arguments.h"
#include "launch/Rows.h"
#include "launch/Trips.h"

#include <algorithm>

namespace reconverge::launch {

/// Threads of the launch; none where that passes 2^64.
static std::optional<uint64_t> threadsOf(const LaunchShape &S) {
  uint64_t Sum = 0;
  if (__builtin_mul_overflow(S.blocks(), S.blockThreads(), &Sum))
    return std::nullopt;
  return Sum;
}

std::optional<uint64_t> amountOf(const LaunchAmount &A,
                                 const LaunchShape &Shape, uint64_t Resident) {
  std::optional<uint64_t> Of = 1;
  switch (A.Of) {
  case LaunchAmount::One:
    break;
  case LaunchAmount::Blocks:
    Of = Shape.blocks();
    break;
  case LaunchAmount::BlockThreads:
    Of = Shape.blockThreads();
    break;
  case LaunchAmount::Threads:
    Of = threadsOf(Shape);
    break;
  case LaunchAmount::Resident:
    Of = Resident;
    break;
  }
  uint64_t Product = 0;
  if (!Of || __builtin_mul_overflow(*Of, A.Times, &Product))
    return std::nullopt;
  return Product / A.Per + (Product % A.Per != 0);
}

static constexpr uint64_t WarpThreads = 32;

bool isFor(const Recipe &R, const LaunchShape &Shape) {
  const std::optional<uint64_t> Threads = threadsOf(Shape);
  return !R.isPlain() && Threads && *Threads && *Threads >= R.LeastThreads &&
         *Threads <= R.MostThreads &&
         Shape.blockThreads() <= R.MostBlockThreads &&
         !(R.WholeWarps && Shape.blockThreads() % WarpThreads) &&
         !(R.OneDimension && (Shape.blocks() != Shape.Grid[0] ||
                              Shape.blockThreads() != Shape.Block[0])) &&
         !Shape.Cooperative;
}

/// Of an extent that is not the program's.
static std::optional<uint64_t> valueOf(const RecipeStep::Extent &E,
                                       const LaunchShape &Program,
                                       uint64_t Resident = 0) {
  auto Value = amountOf(E.Amount, Program, Resident);
  if (!E.Most)
    return Value;
  const auto Most = amountOf(*E.Most, Program);
  return Value && Most ? std::optional(std::min(*Value, *Most)) : std::nullopt;
}

/// CUDA's limit on the first dimension of a grid.
static constexpr uint64_t MostBlocks = INT32_MAX;
static constexpr uint64_t MostThreadsOfBlock = 1024;

/// The shape in which \p Step is launched; none: it cannot be.
static std::optional<LaunchShape>
shapeOf(const RecipeStep &Step, const LaunchShape &Program, Place &On) {
  LaunchShape Shape;
  Shape.DynamicShared = Step.DynamicShared ? Program.DynamicShared : 0;
  if (Step.Block.OfProgram) {
    Shape.Block = Program.Block;
  } else {
    const auto Threads = valueOf(Step.Block, Program);
    if (!Threads || !*Threads || *Threads > MostThreadsOfBlock)
      return std::nullopt;
    Shape.Block = {uint32_t(*Threads), 1, 1};
  }
  if (Step.Grid.OfProgram) {
    Shape.Grid = Program.Grid;
    return Shape;
  }
  const uint64_t Resident =
      Step.Grid.Amount.Of == LaunchAmount::Resident
          ? On.resident(Step, Shape.blockThreads(), Shape.DynamicShared)
          : 0;
  const auto Blocks = valueOf(Step.Grid, Program, Resident);
  if (!Blocks || !*Blocks || *Blocks > MostBlocks)
    return std::nullopt;
  Shape.Grid = {uint32_t(*Blocks), 1, 1};
  return Shape;
}

namespace {

/// One launch of the program's while its recipe is executed.
class Execution {
public:
  Execution(const Recipe &R, const LaunchShape &Program, void **Args, Place &On,
            const Steps &Which)
      : R(R), Program(Program), Args(Args), On(On), Which(Which),
        Ranges(R.Ahead ? R.Ahead->Loaded.size() : 0, {0, UINT64_MAX}) {}
  Ended run();
  /// Making steps alone, as the launch of \p Before may do it.
  bool foretell(void **Before);

private:
  bool findShapes();
  uint32_t blocksBeside(const RecipeStep &Step) const;
  bool findRanges(void **Before);
  bool isRun(const RecipeStep &Step) const;
  bool isUsed(uint32_t Scratch) const;
  void *allocate(uint64_t Bytes, bool Zeroed);
  bool takeCopies();
  bool takeScratch();
  void releaseScratch();
  bool launch(const RecipeStep &Step, const LaunchShape &Shape);
  Ended launchAll();

  const Recipe &R;
  const LaunchShape &Program;
  void **Args;
  Place &On;
  const Steps &Which;
  std::vector<LaunchShape> Shapes; ///< of the steps
  std::vector<void *> Scratch;     ///< null: no step that is run uses it
  std::vector<RowsHere> Rows;
  std::vector<void *> Copies;      ///< of rows
  std::vector<MemoryRange> Ranges; ///< where Making steps may read
  bool Foretells = false;
};

} // namespace

bool Execution::findShapes() {
  for (const RecipeStep &Step : R.Steps) {
    auto Shape = shapeOf(Step, Program, On);
    if (!Shape)
      return false;
    if (Foretells && Step.Grid.OfProgram && isRun(Step))
      Shape->Grid = {blocksBeside(Step), 1, 1};
    Shapes.push_back(*Shape);
  }
  return true;
}

/// Of \p Step, which would have the program's grid.
uint32_t Execution::blocksBeside(const RecipeStep &Step) const {
  const uint64_t Resident =
      On.resident(Step, Program.blockThreads(),
                  Step.DynamicShared ? Program.DynamicShared : 0);
  const uint64_t Blocks = std::min(Program.blocks(), MostBlocks),
                 Most =
                     amountOf(R.Ahead->Blocks, Program, Resident).value_or(0);
  return uint32_t(Most ? std::min(Blocks, Most) : Blocks);
}

/// Where it may read, if that is known and what it would read is there.
bool Execution::findRanges(void **Before) {
  for (size_t I = 0; I != Ranges.size(); ++I) {
    const RecipeAhead::Range &From = R.Ahead->Loaded[I];
    const uint64_t Next = pointerAt(From.Of, Args);
    const auto In = On.rangeOf(pointerAt(From.Of, Before));
    if (!In || Next < In->Begin || Next >= In->End ||
        In->End - In->Begin < From.Bytes)
      return false;
    Ranges[I] = *In;
  }
  return true;
}

bool Execution::isRun(const RecipeStep &Step) const {
  if (Foretells)
    return Step.When == RecipeStep::Making;
  switch (Step.When) {
  case RecipeStep::Always:
    return true;
  case RecipeStep::Making:
    return Which.Making;
  case RecipeStep::Probing:
    return Which.Probing;
  case RecipeStep::Reusing:
    return !Which.Making;
  }
  return false;
}

bool Execution::isUsed(uint32_t Number) const {
  for (const RecipeStep &Step : R.Steps)
    for (const RecipeArgument &A : Step.Arguments)
      if (A.What == RecipeArgument::Scratch && A.Number == Number &&
          isRun(Step))
        return true;
  return false;
}

void *Execution::allocate(uint64_t Bytes, bool Zeroed) {
  // Of nothing, an address is asked for all the same.
  constexpr uint64_t Word = 4;
  return On.allocate(Bytes ? (Bytes + Word - 1) / Word * Word : Word, Zeroed);
}

bool Execution::takeCopies() {
  for (size_t I = 0; I != Rows.size(); ++I)
    for (const RecipeRows::Field Of : {RecipeRows::Own, RecipeRows::Before}) {
      if (Of == RecipeRows::Before && !R.Rows[I].Stored)
        continue;
      void *New = allocate(Rows[I].CopyBytes, /*Zeroed=*/false);
      if (!New)
        return false;
      Copies.push_back(New);
      Rows[I].Fields[Of] = reinterpret_cast<uint64_t>(New);
      if (Of == RecipeRows::Own)
        Rows[I].Fields[RecipeRows::Row0] += Rows[I].Fields[Of];
    }
  return true;
}

bool Execution::takeScratch() {
  for (uint32_t I = 0; I != R.Scratch.size(); ++I) {
    const RecipeScratch &S = R.Scratch[I];
    void **Kept =
        Which.Kept && (S.Kept || S.Given) ? &(*Which.Kept)[I] : nullptr;
    if (!isUsed(I) || (Kept && *Kept)) {
      Scratch.push_back(Kept ? *Kept : nullptr);
      continue;
    }
    if (S.Given)
      return false; // nobody gave it
    const auto Bytes = amountOf(S.Bytes, Program);
    void *New = Bytes ? allocate(*Bytes, S.Zeroed) : nullptr;
    if (!New)
      return false;
    Scratch.push_back(New);
    if (Kept)
      *Kept = New;
  }
  return true;
}

void Execution::releaseScratch() {
  for (; !Copies.empty(); Copies.pop_back())
    On.release(Copies.back());
  while (!Scratch.empty()) {
    const RecipeScratch &S = R.Scratch[Scratch.size() - 1];
    const bool Stays = Which.Kept && (S.Kept || S.Given);
    if (Scratch.back() && !Stays)
      On.release(Scratch.back());
    Scratch.pop_back();
  }
}

bool Execution::launch(const RecipeStep &Step, const LaunchShape &Shape) {
  // What the arguments point at; no element moves.
  std::vector<uint64_t> Values(Step.Arguments.size());
  std::vector<void *> All;
  for (size_t I = 0; I != Values.size(); ++I) {
    const RecipeArgument &A = Step.Arguments[I];
    void *At = &Values[I];
    switch (A.What) {
    case RecipeArgument::Program:
      At = Args[A.Number];
      break;
    case RecipeArgument::Scratch:
      At = &Scratch[A.Number];
      break;
    case RecipeArgument::Dimension:
      Values[I] =
          A.Number < 3 ? Program.Grid[A.Number] : Program.Block[A.Number - 3];
      break;
    case RecipeArgument::Amount: {
      const auto Value = amountOf(A.Value, Program, Shape.blocks());
      if (!Value)
        return false;
      Values[I] = *Value;
      break;
    }
    case RecipeArgument::OfRows:
      Values[I] = Rows[A.Number / RecipeRows::Fields]
                      .Fields[A.Number % RecipeRows::Fields];
      break;
    case RecipeArgument::OfRange:
      Values[I] =
          A.Number % 2 ? Ranges[A.Number / 2].End : Ranges[A.Number / 2].Begin;
      break;
    }
    All.push_back(At);
  }
  return On.launch(Step, Shape, All.data());
}

Ended Execution::launchAll() {
  bool HasWorked = false;
  for (size_t I = 0; I != R.Steps.size(); ++I) {
    if (!isRun(R.Steps[I]))
      continue;
    if (!launch(R.Steps[I], Shapes[I]))
      return HasWorked ? Ended::Failed : Ended::Original;
    HasWorked |= !R.Steps[I].Helper;
  }
  return Ended::Done;
}

Ended Execution::run() {
  const bool NeedsKept = R.servesLater() || R.given();
  if (!isFor(R, Program) || (NeedsKept && !Which.Kept) || !findShapes())
    return Ended::Original;
  auto Found = findRows(R, Program, Args, On);
  if (!Found)
    return Ended::Original;
  Rows = std::move(*Found);
  const Ended End =
      takeScratch() && takeCopies() ? launchAll() : Ended::Original;
  releaseScratch();
  return End;
}

bool Execution::foretell(void **Before) {
  Foretells = true;
  if (!isFor(R, Program) || !findShapes() || !findRanges(Before))
    return false;
  const bool Done = takeScratch() && launchAll() == Ended::Done;
  releaseScratch();
  return Done;
}

Ended execute(const Recipe &R, const LaunchShape &Shape, void **Args, Place &On,
              const Steps &Which) {
  const LaunchShape As = takenAs(R, Shape, Args);
  Foretelling *Next = Which.Next;
  if (Next && takenAs(R, Shape, Next->Args) != As)
    Next = nullptr;
  if (!Next || !On.fork())
    return Execution(R, As, Args, On, Which).run();
  const Ended End = Execution(R, As, Args, On, Which).run();
  On.beside();
  if (End == Ended::Done) {
    const Steps Making = {.Kept = Next->Kept};
    Next->Done = Execution(R, As, Next->Args, On, Making).foretell(Args);
  }
  On.join();
  return End;
}

std::optional<Ended> MadeBefore::make(MadeBefore &Into, const Recipe &R,
                                      const LaunchShape &Shape, void **Args,
                                      Place &On, bool ForLater) {
  if (!R.servesLater() && !R.Ahead && !(ForLater && R.Reuse))
    return std::nullopt;
  Into.Kept.resize(R.Scratch.size());
  const Ended End = execute(R, Shape, Args, On, {.Kept = &Into.Kept});
  if (End != Ended::Done) {
    Into.release(On);
  } else if (R.Ahead) {
    Into.OfNext.resize(R.Scratch.size());
    Into.Next = {Args, &Into.OfNext};
  }
  return End;
}

void MadeBefore::release(Place &On) {
  for (std::vector<void *> *Made : {&Kept, &OfNext}) {
    for (void *Scratch : *Made)
      if (Scratch)
        On.release(Scratch);
    Made->clear();
  }
  Next = {};
}

} // namespace reconverge::launch
