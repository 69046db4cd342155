//===- frontend/Dependencies.cpp - What a unit was made from --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CUDA source is read twice, once for the device and once for the host, and
// `#ifdef __CUDA_ARCH__` may include a header in one reading only. A dependency
// file from one of them would let make keep an object whose other half is out
// of date. So clang writes one in each reading, and this joins them:
//
//   a.o: a.cu both.h device.h    +    a.o: a.cu both.h host.h
//                -->  a.o: a.cu both.h device.h host.h
//
// File names stay as clang has quoted them (`\ `, `$$`, `\#`) and are never
// unquoted here.
//
//===----------------------------------------------------------------------===//

#include "frontend/Dependencies.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace reconverge::frontend {

/// The next file name of \p Rest, which it is taken from; empty at the end of
/// the rule. A backslash before a blank belongs to the name, before a line's
/// end it continues the rule.
static StringRef takeName(StringRef &Rest) {
  while (true) {
    Rest = Rest.ltrim(" \t");
    if (!Rest.consume_front("\\\n") && !Rest.consume_front("\\\r\n"))
      break;
  }
  size_t End = 0;
  for (; End < Rest.size(); ++End) {
    char C = Rest[End];
    if (C == ' ' || C == '\t' || C == '\n' || C == '\r')
      break;
    if (C != '\\' || End + 1 == Rest.size())
      continue;
    if (Rest[End + 1] == '\n' || Rest[End + 1] == '\r')
      break;
    ++End; // what is quoted is no separator
  }
  StringRef Name = Rest.take_front(End);
  Rest = Rest.drop_front(End);
  return Name;
}

std::string mergeDependencies(ArrayRef<StringRef> Rules, bool Phony) {
  std::string Target;
  std::vector<StringRef> Files;
  StringSet<> Seen;
  for (StringRef Rule : Rules) {
    // The targets end with the first colon that a blank follows.
    size_t Colon = Rule.find_first_of(':');
    while (Colon != StringRef::npos && Colon + 1 < Rule.size() &&
           !isSpace(Rule[Colon + 1]))
      Colon = Rule.find_first_of(':', Colon + 1);
    if (Colon == StringRef::npos)
      continue;
    if (Target.empty())
      Target = Rule.take_front(Colon).str();
    StringRef Rest = Rule.drop_front(Colon + 1);
    for (StringRef Name = takeName(Rest); !Name.empty(); Name = takeName(Rest))
      if (Seen.insert(Name).second)
        Files.push_back(Name);
  }

  std::string Text = Target + ":";
  for (StringRef File : Files)
    Text += (" \\\n  " + File).str();
  Text += '\n';
  if (Phony)
    for (StringRef File : drop_begin(Files, Files.empty() ? 0 : 1))
      Text += ("\n" + File + ":\n").str();
  return Text;
}

std::string dependencyFileFor(StringRef Output) {
  SmallString<128> Path(Output);
  sys::path::replace_extension(Path, ".d");
  return std::string(Path);
}

} // namespace reconverge::frontend
