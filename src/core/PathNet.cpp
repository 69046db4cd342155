//===- core/PathNet.cpp - Classes of threads, by a net --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file is JSON, in which people can read what a net is of and how good it
// is. Weights are numbers there, with as many digits as a float needs, and a hash
// of all that decides tells whether one has changed: a net with another digit
// would be as well formed, and only bad.
//
//===----------------------------------------------------------------------===//

#include "core/PathNet.h"

#include "core/Error.h"
#include "core/File.h"
#include "core/JsonReader.h"
#include "core/JsonWriter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;

namespace reconverge {

std::vector<uint32_t> PathNet::loads() const {
  std::vector<uint32_t> Numbers;
  for (const Input &I : Inputs)
    Numbers.push_back(I.Load);
  return Numbers;
}

static std::vector<float> outputsOf(const PathNet::Layer &L,
                                    ArrayRef<float> Values) {
  std::vector<float> All;
  for (size_t To = 0; To != L.Biases.size(); ++To) {
    float Sum = L.Biases[To];
    for (size_t From = 0; From != Values.size(); ++From)
      Sum = std::fma(L.Weights[To * Values.size() + From], Values[From], Sum);
    All.push_back(Sum);
  }
  return All;
}

uint32_t PathNet::classOf(ArrayRef<float> Values) const {
  std::vector<float> X;
  for (auto [I, Value] : zip_equal(Inputs, Values))
    X.push_back(std::fma(Value, I.Scale, I.Shift));
  std::vector<float> H = outputsOf(Hidden, X);
  for (float &V : H)
    V = V > 0 ? V : V * Leak;
  const std::vector<float> O = outputsOf(Output, H);
  uint32_t Best = 0;
  for (uint32_t C = 1; C != O.size(); ++C)
    if (O[C] > O[Best])
      Best = C;
  return Best;
}

bool PathNet::isOutOfRange(ArrayRef<float> Values) const {
  return any_of(zip_equal(Inputs, Values), [](const auto &Each) {
    const auto &[I, Value] = Each;
    return !(I.Least <= Value && Value <= I.Most);
  });
}

/// Of all that decides what it says.
static std::string hashOf(const PathNet &N) {
  std::string Text;
  raw_string_ostream OS(Text);
  const auto Floats = [&](ArrayRef<float> All) {
    for (float F : All)
      OS << utohexstr(bit_cast<uint32_t>(F)) << ' ';
    OS << ';';
  };
  OS << N.Kernel << ';' << N.Module << ';';
  for (const PathNet::Input &I : N.Inputs) {
    OS << I.Load << ' ';
    Floats({I.Scale, I.Shift, I.Least, I.Most});
  }
  for (const PathNet::Layer *L : {&N.Hidden, &N.Output}) {
    Floats(L->Weights);
    Floats(L->Biases);
  }
  OS << N.Classes.size();
  return utohexstr(xxh3_64bits(Text), /*LowerCase=*/true, 16);
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static constexpr StringLiteral Schema = "reconverge-path-net/1";

static void writeLayer(JsonWriter &W, StringRef Key, const PathNet::Layer &L) {
  W.object(Key, [&] {
    W.numbers("weights", {L.Weights.begin(), L.Weights.end()});
    W.numbers("biases", {L.Biases.begin(), L.Biases.end()});
  });
}

void printPathNet(const PathNet &N, raw_ostream &OS) {
  JsonWriter W(OS);
  W.root([&] {
    W.text("schema", Schema);
    W.text("kernel", N.Kernel);
    W.text("module", N.Module);
    W.lines("inputs", N.Inputs, [](JsonWriter &L, const PathNet::Input &I) {
      L.count("load", I.Load);
      L.text("where", I.Place);
      L.numbers("normalise", {I.Scale, I.Shift});
      L.numbers("range", {I.Least, I.Most});
    });
    W.numbers("classes", N.Classes);
    writeLayer(W, "hidden", N.Hidden);
    writeLayer(W, "output", N.Output);
    W.object("trained", [&] {
      const PathNet::Training &T = N.Trained;
      W.text("by", T.Library);
      W.count("seed", T.Seed);
      W.count("epochs", T.Epochs);
      W.count("fitted", T.Fitted);
      W.count("heldOut", T.HeldOut);
      W.number("accuracy", T.Accuracy);
      W.count("outOfRange", T.OutOfRange);
      W.counts("confusion", T.Confusion);
    });
    W.text("hash", hashOf(N));
  });
  OS << '\n';
}

Error writePathNet(const PathNet &N, StringRef Path) {
  return writeOutput(Path, [&](raw_ostream &OS) { printPathNet(N, OS); });
}

static bool readFloat(const json::Value &V, json::Path P, float &Out) {
  const std::optional<double> N = V.getAsNumber();
  Out = N ? float(*N) : 0;
  if (N && std::isfinite(Out))
    return true;
  P.report("expected a number that a float can hold");
  return false;
}

/// Two of them.
static bool readPair(const Fields &F, StringRef Key, float &First,
                     float &Second) {
  std::vector<float> Both;
  if (!F.list(Key, Both, readFloat))
    return false;
  if (Both.size() != 2) {
    F.path(Key).report("expected two numbers");
    return false;
  }
  First = Both[0];
  Second = Both[1];
  return true;
}

static bool readInput(const json::Value &V, json::Path P, PathNet::Input &I) {
  Fields F(V, P);
  return F && F.count("load", I.Load) && F.text("where", I.Place) &&
         readPair(F, "normalise", I.Scale, I.Shift) &&
         readPair(F, "range", I.Least, I.Most);
}

static bool readLayer(const json::Value &V, json::Path P, PathNet::Layer &L) {
  Fields F(V, P);
  return F && F.list("weights", L.Weights, readFloat) &&
         F.list("biases", L.Biases, readFloat);
}

static bool readTraining(const json::Value &V, json::Path P,
                         PathNet::Training &T) {
  Fields F(V, P);
  return F && F.text("by", T.Library) && F.count("seed", T.Seed) &&
         F.count("epochs", T.Epochs) && F.count("fitted", T.Fitted) &&
         F.count("heldOut", T.HeldOut) && F.measure("accuracy", T.Accuracy) &&
         F.count("outOfRange", T.OutOfRange) &&
         F.counts("confusion", T.Confusion);
}

/// What is wrong with the sizes of \p N; empty: nothing.
static StringLiteral faultOf(const PathNet &N) {
  const size_t Hidden = N.Hidden.Biases.size(), Classes = N.Classes.size();
  if (N.Inputs.empty() || N.Inputs.size() > PathNet::MostInputs)
    return "expected 1 to 16 inputs";
  if (Hidden == 0 || Hidden > PathNet::MostHidden)
    return "expected 1 to 64 hidden units";
  if (Classes < 2 || Classes > PathNet::MostClasses)
    return "expected 2 to 32 classes";
  if (N.Hidden.Weights.size() != Hidden * N.Inputs.size() ||
      N.Output.Biases.size() != Classes ||
      N.Output.Weights.size() != Classes * Hidden ||
      N.Trained.Confusion.size() != Classes * Classes)
    return "a layer has another size than its neighbours";
  return "";
}

Expected<PathNet> parsePathNet(StringRef Text, StringRef File) {
  const JsonDocument Kind{
      Schema, "a net", "reconverge train writes such files; train it again."};
  PathNet N;
  std::string Hash;
  if (Error E = parseDocument(
          Text, File, Kind, [&](const json::Value &V, json::Path Here) {
            Fields F(V, Here);
            if (!F || !F.text("kernel", N.Kernel) ||
                !F.text("module", N.Module) ||
                !F.list("inputs", N.Inputs, readInput) ||
                !F.measures("classes", N.Classes) ||
                !F.object("hidden", N.Hidden, readLayer) ||
                !F.object("output", N.Output, readLayer) ||
                !F.object("trained", N.Trained, readTraining) ||
                !F.text("hash", Hash))
              return false;
            StringLiteral Fault = faultOf(N);
            if (Fault.empty() && Hash != hashOf(N))
              Fault = "the net is damaged: its hash is another";
            if (Fault.empty())
              return true;
            Here.report(Fault);
            return false;
          }))
    return std::move(E);
  return N;
}

Expected<PathNet> readPathNet(StringRef Path) {
  auto File = readFile(Path);
  if (!File)
    return File.takeError();
  return parsePathNet((*File)->getBuffer(), Path);
}

} // namespace reconverge
