//===- core/JsonReader.cpp - Read a JSON file that may be damaged ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/JsonReader.h"

#include "core/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;

namespace reconverge {

Fields::Fields(const json::Value &V, json::Path P) : P(P), O(V.getAsObject()) {
  if (!O)
    P.report("expected object");
}

const json::Value *Fields::value(StringRef Key) const {
  const json::Value *V = O ? O->get(Key) : nullptr;
  if (O && !V)
    P.field(Key).report("missing value");
  return V;
}

bool Fields::text(StringRef Key, std::string &Out) const {
  const json::Value *V = value(Key);
  return V && json::fromJSON(*V, Out, P.field(Key));
}

bool Fields::texts(StringRef Key, std::vector<std::string> &Out) const {
  return list(Key, Out,
              [](const json::Value &V, json::Path P, std::string &Text) {
                return json::fromJSON(V, Text, P);
              });
}

bool Fields::flag(StringRef Key, bool &Out) const {
  const json::Value *V = value(Key);
  return V && json::fromJSON(*V, Out, P.field(Key));
}

static bool readMeasure(const json::Value &V, json::Path P, double &Out) {
  std::optional<double> N = V.getAsNumber();
  if (!N || std::isnan(*N) || *N < 0) {
    P.report("expected a number that is not negative");
    return false;
  }
  if (*N > 1e15) { // sums of products with counts must stay finite
    P.report("number too large");
    return false;
  }
  Out = *N;
  return true;
}

bool Fields::measure(StringRef Key, double &Out) const {
  const json::Value *V = value(Key);
  return V && readMeasure(*V, P.field(Key), Out);
}

bool Fields::measures(StringRef Key, std::vector<double> &Out) const {
  return list(Key, Out, readMeasure);
}

//===----------------------------------------------------------------------===//
// The file as a whole
//===----------------------------------------------------------------------===//

/// llvm::json::parse recurses once a level: a file of nothing but brackets
/// would end on the stack's guard page. Ours nest eight deep at most.
static bool nestsTooDeeply(StringRef Text) {
  constexpr unsigned Limit = 64;
  unsigned Depth = 0;
  bool InString = false;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (InString) {
      if (C == '\\')
        ++I;
      else if (C == '"')
        InString = false;
    } else if (C == '"') {
      InString = true;
    } else if (C == '[' || C == '{') {
      if (++Depth > Limit)
        return true;
    } else if ((C == ']' || C == '}') && Depth) {
      --Depth;
    }
  }
  return false;
}

/// llvm::json words a syntax error "[line:column, byte=N]: what"; ours puts
/// file, line and column in front as compilers do.
static Error syntaxError(StringRef File, Error E, StringRef Remedy) {
  std::string Logged = toString(std::move(E));
  auto [Place, What] = StringRef(Logged).split("]: ");
  if (!Place.consume_front("[") || What.empty())
    return userError(File + ": not valid JSON: " + Logged, Remedy);
  return userError(File + ":" + Place.split(',').first +
                       ": not valid JSON: " + What,
                   Remedy);
}

static Error checkSchema(const json::Value &V, StringRef File,
                         const JsonDocument &Kind) {
  const json::Object *O = V.getAsObject();
  std::optional<StringRef> Schema =
      O ? O->getString("schema") : std::optional<StringRef>();
  if (!Schema)
    return userError(File + ": not " + Kind.What + ": it has no \"schema\"",
                     Kind.Remedy);
  if (*Schema == Kind.Schema)
    return Error::success();
  std::string Shown;
  raw_string_ostream OS(Shown);
  printEscapedString(Schema->take_front(64), OS);
  return userError(File + ": schema \"" + Shown + "\" is not known",
                   "This version reads \"" + Kind.Schema +
                       "\"; make the file again, or use the version that "
                       "wrote it.");
}

Error parseDocument(StringRef Text, StringRef File, const JsonDocument &Kind,
                    function_ref<bool(const json::Value &, json::Path)> Read) {
  if (Text.trim().empty())
    return userError(File + ": the file is empty", Kind.Remedy);
  if (nestsTooDeeply(Text))
    return userError(File + ": not " + Kind.What + ": nested too deeply",
                     Kind.Remedy);
  Expected<json::Value> V = json::parse(Text);
  if (!V)
    return syntaxError(File, V.takeError(), Kind.Remedy);
  if (Error E = checkSchema(*V, File, Kind))
    return E;
  json::Path::Root Root;
  if (!Read(*V, Root))
    return userError(File + ": " + toString(Root.getError()), Kind.Remedy);
  return Error::success();
}

} // namespace reconverge
