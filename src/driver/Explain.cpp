//===- driver/Explain.cpp - Codes and words, explained --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page of a code stands beside the code, in each remedy's Refusals.def or in
// remedies/common/ItemRefusals.def; the words of reports in docs/glossary.md,
// which is built into the tool. An entry there begins with `## word, other
// word`.
//
//===----------------------------------------------------------------------===//

#include "driver/Explain.h"

#include "core/Error.h"
#include "remedies/Table.h"
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

std::vector<std::string> explained() {
  std::vector<std::string> All = {"glossary"};
  for (StringRef Entry : entries())
    for (StringRef Word : wordsOf(Entry))
      All.push_back(Word.str());
  for (const remedies::RefusalKind *Kind : allRefusals())
    All.push_back(Kind->code());
  return All;
}

static void printCodes(raw_ostream &OS) {
  OS << "# Codes\n\nWhy a branch or a kernel was left as it is. A remark ends "
        "in one of these; `reconverge explain <code>` prints its page, and "
        "`reconverge explain` all of this file.\n";
  for (const remedies::RefusalKind *Kind : allRefusals()) {
    OS << "\n";
    printPage(*Kind, OS);
  }
}

Error explain(StringRef Name, raw_ostream &OS) {
  if (Name.empty()) {
    printCodes(OS);
    return Error::success();
  }
  for (const remedies::RefusalKind *Kind : allRefusals())
    if (Name.equals_insensitive(Kind->code())) {
      printPage(*Kind, OS);
      return Error::success();
    }
  if (Name.equals_insensitive("glossary")) {
    OS << Glossary;
    return Error::success();
  }
  std::vector<std::string> Known;
  for (StringRef Entry : entries())
    for (StringRef Word : wordsOf(Entry)) {
      if (Word.equals_insensitive(Name)) {
        OS << "## " << Entry.rtrim() << "\n";
        return Error::success();
      }
      Known.push_back(Word.str());
    }
  return userError("there is no code and no word '" + Name + "' to explain",
                   "The words are " + join(Known, ", ") +
                       "; reconverge explain lists the codes.");
}

} // namespace reconverge::driver
