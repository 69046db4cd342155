//===- driver/Explain.cpp - Codes and words, explained --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page of a code stands beside the code, in each remedy's Refusals.def or in
// remedies/common/ItemRefusals.def; the words of reports in docs/glossary.md,
// which is built into the tool. An entry there begins with `## word, other
// word`. Entries are broken into lines as reports are; both files whole only on
// a terminal: elsewhere they are Markdown as it stands in docs/.
//
//===----------------------------------------------------------------------===//

#include "driver/Explain.h"

#include "core/Error.h"
#include "driver/Profile.h"
#include "driver/Words.h"
#include "remedies/Table.h"
#include "report/Text.h"
#include "rewrite/Refusals.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::driver {

static const char Glossary[] =
#include "driver/Glossary.inc"
    ;

static void printPage(const remedies::RefusalKind &Kind, raw_ostream &OS) {
  std::string Sentence = Kind.Sentence.str();
  Sentence[0] = char(std::toupper(Sentence[0]));
  OS << "## " << Kind.code() << "\n\n"
     << Sentence << ".\n\n"
     << Kind.Page << "\n";
}

/// Of remedies, and then of patches.
static std::vector<const remedies::RefusalKind *> allRefusals() {
  std::vector<const remedies::RefusalKind *> All = remedies::refusals();
  append_range(All, rewrite::refuse::All);
  return All;
}

/// The words that the entry is about; it begins with them.
static SmallVector<StringRef> wordsOf(StringRef Entry) {
  SmallVector<StringRef> Words;
  Entry.take_until([](char C) { return C == '\n'; }).split(Words, ", ");
  return Words;
}

static SmallVector<StringRef> entries() {
  SmallVector<StringRef> Entries;
  StringRef(Glossary).split(Entries, "\n## ");
  Entries.erase(Entries.begin()); // what stands before the first
  return Entries;
}

static std::vector<std::string> allWords() {
  std::vector<std::string> All;
  for (StringRef Entry : entries())
    for (StringRef Word : wordsOf(Entry))
      All.push_back(Word.str());
  return All;
}

static std::vector<std::string> allCodes() {
  std::vector<std::string> All;
  for (const remedies::RefusalKind *Kind : allRefusals())
    All.push_back(Kind->code());
  return All;
}

std::vector<std::string> explained() {
  std::vector<std::string> All = {"glossary", "codes"};
  append_range(All, allWords());
  append_range(All, allCodes());
  return All;
}

static std::string codesPage() {
  std::string Text;
  raw_string_ostream OS(Text);
  OS << "# Codes\n\nWhy a branch or a kernel was left as it is. A remark ends "
        "in one of these; `reconverge explain <code>` prints its page, and "
        "`reconverge explain codes` all of this file.\n";
  for (const remedies::RefusalKind *Kind : allRefusals()) {
    OS << "\n";
    printPage(*Kind, OS);
  }
  return Text;
}

/// What there is to ask for.
static void printAll(raw_ostream &OS, unsigned Width) {
  OS << "reconverge explain <word> says what it means.\n\nOf reports:\n";
  report::printWrapped(OS, "  " + join(allWords(), ", "), Width, 2);
  OS << "\nOf messages, why a branch or a kernel was left as it is:\n";
  report::printWrapped(OS, "  " + join(allCodes(), ", "), Width, 2);
  OS << "\nreconverge explain glossary and reconverge explain codes print all "
        "of these.\n";
}

/// Whether \p Name asks for \p Word: warps for warp, copies for copy.
static bool asksFor(StringRef Name, StringRef Word) {
  if (Word.equals_insensitive(Name))
    return true;
  const std::string Plural =
      Word.ends_with("y") ? Word.drop_back().str() + "ies" : Word.str() + "s";
  return Name.equals_insensitive(Plural);
}

/// The page of \p Name, as Markdown; empty: there is none.
static std::string pageOf(StringRef Name) {
  std::string Text;
  raw_string_ostream OS(Text);
  for (const remedies::RefusalKind *Kind : allRefusals())
    if (Name.equals_insensitive(Kind->code()))
      printPage(*Kind, OS);
  for (StringRef Entry : entries())
    for (StringRef Word : wordsOf(Entry))
      if (asksFor(Name, Word))
        OS << "## " << Entry.rtrim() << "\n";
  return Text;
}

/// \p Text with links as a reader of a terminal can follow them: "[a](#b)" is
/// "a", "[a.md](a.md)" is "docs/a.md", "[a](b.md)" is "a (docs/b.md)".
static std::string withoutLinks(StringRef Text) {
  std::string Plain;
  for (;;) {
    const size_t Middle = Text.find("](");
    const size_t Begin = Text.take_front(Middle).rfind('[');
    const size_t End = Text.find(')', Middle);
    if (Middle == StringRef::npos || Begin == StringRef::npos ||
        End == StringRef::npos)
      return Plain + Text.str();
    const StringRef Words = Text.slice(Begin + 1, Middle),
                    Target = Text.slice(Middle + 2, End);
    Plain += Text.take_front(Begin);
    if (Words == Target)
      Plain += "docs/";
    Plain += Words;
    if (Words != Target && !Target.starts_with("#"))
      Plain += (" (docs/" + Target + ")").str();
    Text = Text.drop_front(End + 1);
  }
}

Error explain(StringRef Name, raw_ostream &OS) {
  const unsigned Width = std::max(terminalFor(OS).Width, 80u);
  if (Name.empty()) {
    printAll(OS, Width);
    return Error::success();
  }
  std::string Page;
  bool IsFile = true;
  if (Name.equals_insensitive("glossary"))
    Page = Glossary;
  else if (Name.equals_insensitive("codes"))
    Page = codesPage();
  else {
    Page = pageOf(Name);
    IsFile = false;
  }
  if (Page.empty())
    return userError("there is no code and no word '" + Name + "' to explain",
                     didYouMean(Name, explained()) +
                         "reconverge explain lists all.");
  if (IsFile && !OS.is_displayed()) {
    OS << Page;
    return Error::success();
  }
  for (StringRef Line : split(StringRef(Page).rtrim('\n'), '\n'))
    report::printWrapped(OS, withoutLinks(Line), Width, 0);
  return Error::success();
}

} // namespace reconverge::driver
