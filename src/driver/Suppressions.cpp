//===- driver/Suppressions.cpp - Findings that are known ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A line has a kind, a pattern of the kernel and, if that is to be, one of a
// place; quotes keep blanks together:
//
//   race  bfsStep  bfs.cu:31        # a look before an atomic
//   *     "thrust::*"
//
// A kernel's name has no parameters; "-" is of what no kernel did. A place is "file:line";
// the file may lack folders from the left. Any place of a finding will do, also
// one that the code was inlined into.
//
//===----------------------------------------------------------------------===//

#include "driver/Suppressions.h"

#include "core/Error.h"
#include "core/File.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/StringSaver.h"

using namespace llvm;

namespace reconverge::driver {

static Expected<std::optional<FindingKind>> kindNamed(StringRef Word,
                                                      const Twine &Where) {
  if (Word == "*")
    return std::nullopt;
  std::string Known;
  for (FindingKind Kind : allFindingKinds()) {
    if (wordOf(Kind) == Word)
      return Kind;
    Known += wordOf(Kind).str() + ", ";
  }
  return userError(Where + ": there is no kind of finding '" + Word + "'",
                   "The kinds are " + Known + "and * for any.");
}

Expected<Suppressions> Suppressions::read(StringRef Path) {
  Expected<std::unique_ptr<MemoryBuffer>> Buffer = readFile(Path);
  if (!Buffer)
    return Buffer.takeError();
  return parse((*Buffer)->getBuffer(), Path);
}

Expected<Suppressions> Suppressions::parse(StringRef Text, StringRef Name) {
  Suppressions Result;
  unsigned Number = 0;
  for (StringRef Line : split(Text, '\n')) {
    const std::string Where = (Name + ":" + Twine(++Number)).str();
    BumpPtrAllocator Space;
    StringSaver Saver(Space);
    SmallVector<const char *> Words;
    cl::TokenizeGNUCommandLine(Line.split('#').first, Saver, Words);
    if (Words.empty())
      continue;
    if (Words.size() < 2 || Words.size() > 3)
      return userError(Where + ": " + Twine(Words.size()) + " words",
                       "A line has a kind, a pattern of the kernel and, "
                       "optionally, one of a place: race \"scale*\" app.cu:12");
    auto Kind = kindNamed(Words[0], Where);
    if (!Kind)
      return Kind.takeError();
    auto Pattern = [&](const char *Word) -> Expected<GlobPattern> {
      Result.Words.push_back(std::make_unique<std::string>(Word));
      Expected<GlobPattern> Made = GlobPattern::create(*Result.Words.back());
      if (!Made)
        return userError(Where + ": " + toString(Made.takeError()));
      return Made;
    };
    const bool OfNone = StringRef(Words[1]) == "-";
    Expected<GlobPattern> Kernel = Pattern(OfNone ? "" : Words[1]);
    if (!Kernel)
      return Kernel.takeError();
    Entry E{*Kind, std::move(*Kernel), std::nullopt, Line.trim().str()};
    if (Words.size() > 2)
      if (Error Bad = Pattern(Words[2]).moveInto(E.Place.emplace()))
        return std::move(Bad);
    Result.Entries.push_back(std::move(E));
  }
  return std::move(Result);
}

/// Whether \p Pattern is of \p Path, or of what is left of it without folders.
static bool matchesPath(const GlobPattern &Pattern, StringRef Path) {
  while (true) {
    if (Pattern.match(Path))
      return true;
    const size_t Slash = Path.find('/', /*From=*/0);
    if (Slash == StringRef::npos)
      return false;
    Path = Path.drop_front(Slash + 1);
  }
}

bool Suppressions::Entry::matches(const Finding &F) const {
  if (Kind && *Kind != F.Kind)
    return false;
  if (!Kernel.match(F.Kernel))
    return false;
  return !Place || any_of(F.Places, [&](const FindingPlace &P) {
    return any_of(P.Where, [&](const SourceLoc &Loc) {
      return matchesPath(*Place, Loc.File + ":" + std::to_string(Loc.Line));
    });
  });
}

void Suppressions::apply(report::TestOutcome &T) const {
  for (const Entry &E : Entries) {
    bool Used = false;
    for (report::MergedFinding &F : T.Findings)
      if (E.matches(F.What))
        F.Suppressed = Used = true;
    if (!Used)
      T.UnusedSuppressions.push_back(E.Line);
  }
}

} // namespace reconverge::driver
