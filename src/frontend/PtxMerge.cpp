//===- frontend/PtxMerge.cpp - Kernels of some compilers in one PTX -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where another compiler's code of one kernel is kept and ours of another, both
// have to see the same variables, so they have to be one module. They are
// joined as text, one compiler's after the other's, before ptxas: it compiles
// each entry by itself, so an entry's machine code is what it is in its own
// module (relocatable code and nvlink would change it), and the PTX for later
// GPUs stays one.
//
//   ours:    header, variables, functions, entries ...............|lines
//                                                                 ^
//   theirs:  entries that are asked for + what they reach --------'
//
// PTX at module scope is a list of items that end in ';', in a body in braces,
// or (.version, .file, ...) with the line. An item has one name.
//
//   1. Comments are blanked, so that no brace is inside one.
//   2. Both texts are cut into items.
//   3. Of theirs, the entries, and every item whose name occurs in one that is
//      taken, are taken, in their order.
//   4. What is external (vprintf, extern shared memory) or in Shared is one for
//      both: theirs is left out if ours has it. Every other name in theirs that
//      either module defines gets a suffix, the compiler's own.
//   5. Line numbers of theirs count in a list of files of their own; they are
//      left out.
//
// Limitation: in what is another compiler's, a profiler shows no source lines.
//
//===----------------------------------------------------------------------===//

#include "frontend/PtxMerge.h"

#include "core/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <vector>

using namespace llvm;

namespace reconverge::frontend {

namespace {
struct Item {
  StringRef Text; ///< of the blanked module
  StringRef Name; ///< empty for directives
  bool IsLine = false, IsSection = false, IsFunction = false;
  bool isExternal() const { return Text.starts_with(".extern"); }
};
} // namespace

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// \p Ptx with spaces in the place of comments.
static std::string withoutComments(StringRef Ptx) {
  std::string Text = Ptx.str();
  bool InString = false;
  for (size_t I = 0; I + 1 < Text.size(); ++I) {
    if (Text[I] == '"' || (InString && Text[I] == '\n'))
      InString = Text[I] == '"' && !InString;
    if (InString || Text[I] != '/')
      continue;
    size_t End = I;
    if (Text[I + 1] == '/')
      End = Text.find('\n', I);
    else if (Text[I + 1] == '*')
      End = Text.find("*/", I + 2) + 2;
    else
      continue;
    if (End < I) // "*/" was not found
      End = Text.size();
    End = std::min(End, Text.size());
    for (; I != End; ++I)
      if (Text[I] != '\n')
        Text[I] = ' ';
    --I;
  }
  return Text;
}

static bool isNameChar(char C) {
  return isAlnum(C) || C == '_' || C == '$' || C == '%';
}

/// Calls \p Use for each word of \p Text that may be a name: no directive, no
/// operation, no number, no register.
static void forEachName(StringRef Text, function_ref<void(StringRef)> Use) {
  for (size_t I = 0; I < Text.size();) {
    if (!isNameChar(Text[I])) {
      ++I;
      continue;
    }
    size_t End = I;
    while (End < Text.size() && isNameChar(Text[End]))
      ++End;
    bool IsDirective = I && Text[I - 1] == '.';
    bool IsOperation = End < Text.size() && Text[End] == '.';
    if (!IsDirective && !IsOperation && !isDigit(Text[I]) && Text[I] != '%')
      Use(Text.slice(I, End));
    I = End;
  }
}

/// The end of what the bracket at \p Begin opens.
static size_t endOfBracket(StringRef Text, size_t Begin) {
  const char Open = Text[Begin], Close = Open == '(' ? ')' : '}';
  unsigned Depth = 0;
  for (size_t I = Begin; I < Text.size(); ++I) {
    Depth += Text[I] == Open;
    Depth -= Text[I] == Close;
    if (!Depth)
      return I + 1;
  }
  return Text.size();
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

/// The name in "... .func (results) name (parameters)" or "... .entry name(".
static StringRef functionName(StringRef Text) {
  size_t At = Text.find(".entry");
  if (At == StringRef::npos)
    At = Text.find(".func");
  Text = Text.substr(Text.find_first_of(" \t\n(", At)).ltrim();
  if (Text.starts_with("("))
    Text = Text.substr(endOfBracket(Text, 0)).ltrim();
  return Text.take_while(isNameChar);
}

/// The name in "... .b8 name[4] = {...};".
static StringRef variableName(StringRef Text) {
  Text =
      Text.take_until([](char C) { return C == '[' || C == '=' || C == ';'; })
          .rtrim();
  size_t Begin = Text.size();
  while (Begin && isNameChar(Text[Begin - 1]))
    --Begin;
  return Text.substr(Begin);
}

static std::vector<Item> itemsOf(StringRef Text) {
  std::vector<Item> Items;
  for (size_t At = 0;;) {
    At = Text.find_first_not_of(" \t\r\n", At);
    if (At == StringRef::npos)
      return Items;
    StringRef Rest = Text.substr(At);
    Item I;
    StringRef Head =
        Rest.take_until([](char C) { return C == ';' || C == '{'; });
    size_t End = 0;
    I.IsLine = any_of(
        ArrayRef<StringRef>{".version", ".target", ".address_size", ".file"},
        [&](StringRef D) { return Rest.starts_with(D); });
    I.IsSection = Rest.starts_with(".section");
    I.IsFunction = !I.IsLine && !I.IsSection &&
                   (Head.contains(".entry") || Head.contains(".func"));
    if (I.IsLine) {
      End = std::min(Rest.find('\n'), Rest.size());
    } else if (I.IsSection || (I.IsFunction && Head.size() < Rest.size() &&
                               Rest[Head.size()] == '{')) {
      End = Head.size() < Rest.size() ? endOfBracket(Rest, Head.size())
                                      : Rest.size();
    } else {
      End = Rest.find(';');
      End = End == StringRef::npos ? Rest.size() : End + 1;
    }
    I.Text = Rest.take_front(End);
    if (I.IsFunction)
      I.Name = functionName(I.Text);
    else if (!I.IsLine && !I.IsSection)
      I.Name = variableName(I.Text);
    Items.push_back(I);
    At += End;
  }
}

/// Which of \p Theirs the entries \p Kernels need.
static std::vector<bool> reachedFrom(ArrayRef<Item> Theirs,
                                     const StringSet<> &Kernels) {
  StringMap<size_t> ByName;
  std::vector<bool> Taken(Theirs.size());
  SmallVector<size_t> Work;
  auto Take = [&](size_t I) {
    if (!Taken[I])
      Work.push_back(I);
    Taken[I] = true;
  };
  for (auto [I, It] : enumerate(Theirs)) {
    // A declaration and its definition have one name; both are needed.
    if (Kernels.contains(It.Name))
      Take(I);
    if (!It.Name.empty())
      ByName.try_emplace(It.Name, I);
  }
  while (!Work.empty())
    forEachName(Theirs[Work.pop_back_val()].Text, [&](StringRef Name) {
      auto Found = ByName.find(Name);
      if (Found == ByName.end())
        return;
      for (size_t I = Found->second; I != Theirs.size(); ++I)
        if (Theirs[I].Name == Name)
          Take(I);
    });
  return Taken;
}

//===----------------------------------------------------------------------===//
// The join
//===----------------------------------------------------------------------===//

/// Without the lines that say where an instruction is from.
static void appendCode(std::string &To, StringRef Text,
                       const StringSet<> &Renamed, StringRef Suffix) {
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Text = Rest;
    if (Line.ltrim().starts_with(".loc\t") || Line.ltrim().starts_with(".loc "))
      continue;
    const char *Copied = Line.begin();
    forEachName(Line, [&](StringRef Name) {
      if (!Renamed.contains(Name))
        return;
      To.append(Copied, Name.end());
      To += Suffix;
      Copied = Name.end();
    });
    To.append(Copied, Line.end());
    To += '\n';
  }
}

/// ".version 8.5" as a number that can be compared.
static std::pair<unsigned, unsigned> versionOf(ArrayRef<Item> Items) {
  std::pair<unsigned, unsigned> V;
  for (const Item &I : Items) {
    StringRef Text = I.Text;
    if (!Text.consume_front(".version"))
      continue;
    Text = Text.ltrim();
    Text.consumeInteger(10, V.first);
    Text.consume_front(".");
    Text.consumeInteger(10, V.second);
  }
  return V;
}

Expected<std::string> mergePtx(StringRef OursText, StringRef TheirsText,
                               ForeignCompiler By, const StringSet<> &Kernels,
                               const StringSet<> &Shared) {
  const std::string Compiler = nameOf(By);
  const std::string OursBlank = withoutComments(OursText),
                    TheirsBlank = withoutComments(TheirsText);
  const std::vector<Item> Ours = itemsOf(OursBlank),
                          Theirs = itemsOf(TheirsBlank);
  StringSet<> OurNames, TheirNames, Renamed;
  size_t End = 0; // of our code; line tables follow it
  for (const Item &I : Ours) {
    if (!I.Name.empty())
      OurNames.insert(I.Name);
    if (!I.IsSection && !I.Text.starts_with(".file"))
      End = size_t(I.Text.end() - OursBlank.data());
  }
  auto IsOne = [&](const Item &I) {
    return I.isExternal() || Shared.contains(I.Name);
  };
  for (const Item &I : Theirs)
    TheirNames.insert(I.Name);
  for (StringRef Kernel : Kernels.keys())
    if (!TheirNames.contains(Kernel))
      return userError(Compiler + "'s code has no kernel '" + Kernel + "'");
  const std::vector<bool> Taken = reachedFrom(Theirs, Kernels);

  // What is one for both keeps its name; a kernel must.
  StringSet<> Kept;
  for (StringRef Name : Kernels.keys())
    Kept.insert(Name);
  for (auto [I, T] : zip(Theirs, Taken))
    if (T && IsOne(I)) {
      if (!I.isExternal() && !OurNames.contains(I.Name))
        return internalError("our code has no variable '" + I.Name +
                             "', which " + Compiler + "'s has");
      Kept.insert(I.Name);
    }
  for (const StringSet<> *Names : {&OurNames, &TheirNames})
    for (StringRef Name : Names->keys())
      if (!Kept.contains(Name))
        Renamed.insert(Name);

  std::string Added;
  for (auto [I, T] : zip(Theirs, Taken))
    if (T && !(IsOne(I) && OurNames.contains(I.Name))) {
      Added += '\n';
      appendCode(Added, I.Text, Renamed, "__" + Compiler);
    }
  std::string Merged =
      OursText.substr(0, End).str() + "\n" + Added + OursText.substr(End).str();
  if (auto V = versionOf(Theirs); V > versionOf(Ours))
    for (const Item &I : Ours)
      if (I.Text.starts_with(".version"))
        Merged.replace(size_t(I.Text.begin() - OursBlank.data()),
                       I.Text.rtrim().size(),
                       ".version " + std::to_string(V.first) + "." +
                           std::to_string(V.second));
  return Merged;
}

} // namespace reconverge::frontend
