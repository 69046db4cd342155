//===- launch/RecipeText.cpp - A recipe as text ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text goes from the device's compilation to the host's as an option of
// clang, and from there as a string into the program, which reads it at the
// first launch. So this file is a part of programs: no LLVM, no exceptions.
//
//===----------------------------------------------------------------------===//

#include "launch/RecipeText.h"

#include <charconv>

namespace reconverge::launch {

static constexpr const char *Bases[] = {"one", "blocks", "blockthreads",
                                        "threads", "resident"};
static constexpr const char *Parts[] = {"", " making", " probing", " reusing"};
static constexpr const char *Arguments[] = {"program", "memory", "dimension",
                                            "amount",  "rows",   "range"};
static constexpr const char *Terms[] = {
    "constant", "argument", "size", "add",   "sub",  "mul",
    "udiv",     "sdiv",     "shl",  "lshr",  "ashr", "umin",
    "umax",     "smin",     "smax", "trunc", "zext", "sext"};

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static std::string print(const LaunchAmount &A) {
  return std::string(Bases[A.Of]) + " " + std::to_string(A.Times) + " " +
         std::to_string(A.Per);
}

static std::string print(const RecipeStep::Extent &E) {
  if (E.OfProgram)
    return "same";
  return print(E.Amount) + (E.Most ? " most " + print(*E.Most) : "");
}

static std::string print(const TripCount &Count) {
  std::string Text;
  for (const TripCount::Term &T : Count.Terms)
    Text += std::string(" ") + Terms[T.What] + " " + std::to_string(T.Bits) +
            " " + std::to_string(T.Number) + " " + std::to_string(T.Value);
  return Text;
}

static std::string print(const RecipePointer &P) {
  return std::to_string(P.Number) + " " + std::to_string(P.At);
}

static std::string print(const RecipeAhead &A) {
  std::string Text =
      " ahead " + print(A.Blocks) + " " + std::to_string(A.Sizes.size());
  for (uint32_t Bytes : A.Sizes)
    Text += " " + std::to_string(Bytes);
  for (const RecipeAhead::Part &P : A.Parts)
    Text += " part " + print(P.Of) + " " + std::to_string(P.Bytes) +
            (P.Advances ? " advances" : "");
  for (const RecipeAhead::Range &From : A.Loaded)
    Text += " loaded " + print(From.Of) + " " + std::to_string(From.Bytes);
  return Text;
}

std::string printRecipe(const Recipe &R) {
  std::string Text =
      "for " + std::to_string(R.LeastThreads) + " " +
      std::to_string(R.MostThreads) + " " + std::to_string(R.MostBlockThreads) +
      (R.WholeWarps ? " warps" : "") + (R.OneDimension ? " line" : "");
  if (R.Trips)
    Text += " trips" + print(*R.Trips);
  for (const RecipeRows &A : R.Rows)
    Text += " array " + std::to_string(A.Pointer) + " " +
            std::to_string(A.CellBytes) + (A.Stored ? " stored" : "") +
            (A.Guarded ? " guarded" : "") + print(A.Stride);
  for (const RecipePointer &P : R.Elsewhere)
    Text += " elsewhere " + print(P);
  if (R.Reuse && R.Reuse->Renewed)
    Text += " renew";
  else if (R.Reuse)
    Text += " reuse " + std::to_string(R.Reuse->Differing) + " " +
            print(R.Reuse->Probed);
  if (R.Stop)
    Text += " stop " + std::to_string(R.Stop->Counter) + " " +
            print(R.Stop->Most) + " " + std::to_string(R.Stop->Recheck);
  if (R.Ahead)
    Text += print(*R.Ahead);
  for (const RecipeScratch &S : R.Scratch)
    Text += " scratch " + print(S.Bytes) + (S.Zeroed ? " zeroed" : "") +
            (S.Kept ? " kept" : "") + (S.Given ? " given" : "");
  for (const RecipeStep &S : R.Steps) {
    Text += (S.Helper ? " helper " : " step ") + S.Kernel + Parts[S.When] +
            " grid " + print(S.Grid) + " block " + print(S.Block) +
            (S.DynamicShared ? " shared" : "");
    for (const RecipeArgument &A : S.Arguments) {
      Text += std::string(" ") + Arguments[A.What] + " ";
      Text += A.What == RecipeArgument::Amount ? print(A.Value)
                                               : std::to_string(A.Number);
    }
  }
  return Text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Takes words from the front. What cannot be read leaves Good false.
class Reader {
public:
  explicit Reader(std::string_view Text) : Rest(Text) {}
  std::optional<Recipe> read();

private:
  std::string_view peek() const { return Rest.substr(0, Rest.find(' ')); }
  std::string_view next();
  bool take(std::string_view Word);
  void expect(std::string_view Word) { Good &= take(Word); }
  template <typename Number> Number number();
  template <size_t N> uint32_t oneOf(const char *const (&Words)[N]);
  template <size_t N> bool isOneOf(const char *const (&Words)[N]) const;
  LaunchAmount amount();
  TripCount trips();
  RecipeRows array();
  RecipePointer pointer();
  RecipeAhead ahead();
  RecipeStep::Extent extent();
  RecipeScratch scratch();
  RecipeStep step(bool Helper);

  std::string_view Rest;
  bool Good = true;
};
} // namespace

std::string_view Reader::next() {
  const std::string_view Word = peek();
  Good &= !Word.empty();
  Rest.remove_prefix(Word.size() + (Word.size() < Rest.size()));
  return Word;
}

bool Reader::take(std::string_view Word) {
  if (peek() != Word)
    return false;
  next();
  return true;
}

template <typename Number> Number Reader::number() {
  const std::string_view Word = next();
  Number Value = 0;
  const char *End = Word.data() + Word.size();
  const auto [At, Failed] = std::from_chars(Word.data(), End, Value);
  Good &= Failed == std::errc() && At == End;
  return Value;
}

template <size_t N> bool Reader::isOneOf(const char *const (&Words)[N]) const {
  for (const char *Word : Words)
    if (peek() == Word)
      return true;
  return false;
}

template <size_t N> uint32_t Reader::oneOf(const char *const (&Words)[N]) {
  const std::string_view Word = next();
  for (uint32_t I = 0; I != N; ++I)
    if (Word == Words[I])
      return I;
  Good = false;
  return 0;
}

LaunchAmount Reader::amount() {
  LaunchAmount A;
  A.Of = LaunchAmount::Base(oneOf(Bases));
  A.Times = number<uint64_t>();
  A.Per = number<uint64_t>();
  Good &= A.Per != 0;
  return A;
}

TripCount Reader::trips() {
  TripCount Count;
  while (Good && isOneOf(Terms)) {
    TripCount::Term T;
    T.What = TripCount::Kind(oneOf(Terms));
    T.Bits = number<uint32_t>();
    T.Number = number<uint32_t>();
    T.Value = number<uint64_t>();
    Good &= T.What != TripCount::Dimension || T.Number < 6;
    const bool IsCast = T.What >= TripCount::Trunc;
    for (uint32_t Bits : {T.Bits, IsCast ? T.Number : T.Bits})
      Good &= Bits == 8 || Bits == 16 || Bits == 32 || Bits == 64;
    Count.Terms.push_back(T);
  }
  return Count;
}

RecipeRows Reader::array() {
  RecipeRows A;
  A.Pointer = number<uint32_t>();
  A.CellBytes = number<uint32_t>();
  Good &= A.CellBytes != 0;
  A.Stored = take("stored");
  A.Guarded = take("guarded");
  A.Stride = trips();
  return A;
}

RecipePointer Reader::pointer() {
  RecipePointer P;
  P.Number = number<uint32_t>();
  P.At = number<uint64_t>();
  return P;
}

RecipeAhead Reader::ahead() {
  RecipeAhead A;
  A.Blocks = amount();
  for (uint32_t Left = number<uint32_t>(); Good && Left; --Left)
    A.Sizes.push_back(number<uint32_t>());
  while (Good && take("part")) {
    RecipeAhead::Part &P = A.Parts.emplace_back();
    P.Of = pointer();
    P.Bytes = number<uint32_t>();
    P.Advances = take("advances");
    Good &= P.Bytes && P.Of.Number < A.Sizes.size() &&
            P.Of.At + P.Bytes <= A.Sizes[P.Of.Number] &&
            (!P.Advances || P.Bytes == 1 || P.Bytes == 2 || P.Bytes == 4 ||
             P.Bytes == 8);
  }
  while (Good && take("loaded")) {
    A.Loaded.emplace_back().Of = pointer();
    A.Loaded.back().Bytes = number<uint32_t>();
    const RecipePointer &P = A.Loaded.back().Of;
    Good &= P.Number < A.Sizes.size() && P.At + 8 <= A.Sizes[P.Number];
  }
  return A;
}

RecipeStep::Extent Reader::extent() {
  if (take("same"))
    return {};
  RecipeStep::Extent E{/*OfProgram=*/false, amount()};
  if (take("most")) {
    E.Most = amount();
    Good &= E.Most->Of != LaunchAmount::Resident;
  }
  return E;
}

RecipeScratch Reader::scratch() {
  RecipeScratch S;
  S.Bytes = amount();
  Good &= S.Bytes.Of != LaunchAmount::Resident;
  S.Zeroed = take("zeroed");
  S.Kept = take("kept");
  S.Given = !S.Zeroed && !S.Kept && take("given");
  return S;
}

RecipeStep Reader::step(bool Helper) {
  RecipeStep S;
  S.Helper = Helper;
  S.Kernel = std::string(next());
  S.When = take("making")    ? RecipeStep::Making
           : take("probing") ? RecipeStep::Probing
           : take("reusing") ? RecipeStep::Reusing
                             : RecipeStep::Always;
  expect("grid");
  S.Grid = extent();
  expect("block");
  S.Block = extent();
  S.DynamicShared = take("shared");
  while (Good && isOneOf(Arguments)) {
    RecipeArgument A;
    A.What = RecipeArgument::Kind(oneOf(Arguments));
    if (A.What == RecipeArgument::Amount)
      A.Value = amount();
    else
      A.Number = number<uint32_t>();
    S.Arguments.push_back(A);
  }
  return S;
}

/// That an argument of a step may have.
static uint64_t numbers(const Recipe &R, RecipeArgument::Kind Of) {
  switch (Of) {
  case RecipeArgument::Scratch:
    return R.Scratch.size();
  case RecipeArgument::Dimension:
    return 6;
  case RecipeArgument::OfRows:
    return R.Rows.size() * RecipeRows::Fields;
  case RecipeArgument::OfRange:
    return R.Ahead ? 2 * R.Ahead->Loaded.size() : 0;
  case RecipeArgument::Program:
  case RecipeArgument::Amount:
    break;
  }
  return UINT64_MAX;
}

std::optional<Recipe> Reader::read() {
  Recipe R;
  expect("for");
  R.LeastThreads = number<uint64_t>();
  R.MostThreads = number<uint64_t>();
  R.MostBlockThreads = number<uint64_t>();
  R.WholeWarps = take("warps");
  R.OneDimension = take("line");
  if (take("trips"))
    R.Trips = trips();
  while (Good && take("array"))
    R.Rows.push_back(array());
  while (Good && take("elsewhere"))
    R.Elsewhere.push_back(pointer());
  if (take("renew")) {
    R.Reuse.emplace().Renewed = true;
  } else if (take("reuse")) {
    R.Reuse.emplace().Differing = number<uint32_t>();
    R.Reuse->Probed = amount();
    Good &= R.Reuse->Probed.Of != LaunchAmount::Resident;
  }
  if (take("stop")) {
    R.Stop.emplace().Counter = number<uint32_t>();
    R.Stop->Most = amount();
    R.Stop->Recheck = number<uint32_t>();
    Good &= R.Stop->Most.Of != LaunchAmount::Resident && R.Stop->Recheck;
  }
  if (take("ahead"))
    R.Ahead = ahead();
  while (Good && take("scratch"))
    R.Scratch.push_back(scratch());
  while (Good && (peek() == "step" || peek() == "helper"))
    R.Steps.push_back(step(/*Helper=*/next() == "helper"));
  if (R.Reuse && !R.Reuse->Renewed)
    Good &= R.Reuse->Differing < R.Scratch.size() &&
            R.Scratch[R.Reuse->Differing].Kept;
  Good &= R.Reuse || !R.servesLater();
  if (R.Stop)
    Good &= R.Stop->Counter < R.Scratch.size() && !R.Reuse && !R.given() &&
            R.Scratch[R.Stop->Counter].Kept;
  if (R.Ahead)
    Good &= !R.Reuse && !R.Stop && !R.given();
  for (uint32_t I = 0; I != R.Scratch.size(); ++I)
    if (const bool Counts = R.Stop && R.Stop->Counter == I; R.Scratch[I].Kept)
      Good &= R.Scratch[I].Zeroed == Counts;
  for (const RecipeStep &S : R.Steps)
    for (const RecipeArgument &A : S.Arguments)
      Good &= A.Number < numbers(R, A.What);
  if (!Good || !Rest.empty())
    return std::nullopt;
  return R;
}

std::optional<Recipe> parseRecipe(std::string_view Text) {
  return Reader(Text).read();
}

} // namespace reconverge::launch
