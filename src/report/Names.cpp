//===- report/Names.cpp - Names of kernels for people ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The name of a kernel in a library is a paragraph:
//
//   cub::CUB_300001_SM_900_NS::detail::scan::DeviceScanKernel<
//     cub::CUB_300001_SM_900_NS::detail::scan::policy_hub<int>::Policy900,
//     int const*, ...>
//
// What tells it from others is its last part and the first of its arguments.
// So a name loses, in this order and until it fits: inline namespaces and ABI
// tags (always), the scopes of arguments, the arguments of arguments, the
// scopes between the first and the last, arguments from the end.
//
//===----------------------------------------------------------------------===//

#include "report/Names.h"
#include "report/Text.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace reconverge::report {

/// Splits at \p Separator outside brackets.
static SmallVector<StringRef> splitOutside(StringRef Text,
                                           StringRef Separator) {
  SmallVector<StringRef> Parts;
  int Depth = 0;
  size_t Begin = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    if (Depth == 0 && Text.substr(I).starts_with(Separator)) {
      Parts.push_back(Text.slice(Begin, I));
      Begin = I + Separator.size();
      I = Begin - 1;
    } else if (StringRef("<([{").contains(Text[I]))
      ++Depth;
    else if (StringRef(">)]}").contains(Text[I]))
      --Depth;
  }
  Parts.push_back(Text.substr(Begin));
  return Parts;
}

/// \p Name without the parameters at its end.
static StringRef withoutParameters(StringRef Name) {
  int Depth = 0;
  for (size_t I = Name.size(); I > 0; --I) {
    if (Name[I - 1] == ')')
      ++Depth;
    else if (Name[I - 1] == '(')
      --Depth;
    if (Depth == 0)
      return I > 1 ? Name.take_front(I - 1).rtrim() : Name;
  }
  return Name;
}

/// A version of a library: CUB_300001_SM_900_NS, _V_300400_SM_1000, __4, __1,
/// __cxx11.
static bool isInline(StringRef Scope) {
  static const Regex Version(
      "^(CUB|THRUST|CCCL|CUDA)?_+(V_)?[0-9][0-9A-Za-z_]*$|^__cxx11$");
  return Version.match(Scope);
}

namespace {
/// What a name has lost so far.
struct Shortening {
  bool ScopesOfArguments = false;
  bool ArgumentsOfArguments = false;
  bool InnerScopes = false;
  size_t Arguments = SIZE_MAX; ///< of the name itself, that are left
};
} // namespace

static std::string shortened(StringRef Name, const Shortening &S,
                             unsigned Depth);

/// `plus<void> const*`: a type with what stands around its name.
static std::string argument(StringRef Text, const Shortening &S,
                            unsigned Depth) {
  Text = Text.trim();
  const size_t End = Text.find_last_not_of("*& ");
  StringRef Tail = End == StringRef::npos ? "" : Text.substr(End + 1);
  Text = Text.drop_back(Tail.size());
  bool Const = Text.consume_back(" const");
  return shortened(Text, S, Depth) + (Const ? " const" : "") + Tail.str();
}

/// `name<arguments>` of one scope.
static std::string part(StringRef Text, const Shortening &S, unsigned Depth) {
  const size_t Tag = Text.find("[abi:");
  if (Tag != StringRef::npos)
    Text = Text.take_front(Tag);
  const size_t Open = Text.find('<');
  if (Open == StringRef::npos || !Text.ends_with(">") ||
      Text.starts_with("operator"))
    return Text.str();
  if (Depth > 0 && S.ArgumentsOfArguments)
    return Text.take_front(Open).str();
  SmallVector<StringRef> All =
      splitOutside(Text.slice(Open + 1, Text.size() - 1), ",");
  const size_t Left = Depth ? All.size() : std::min(All.size(), S.Arguments);
  if (Left == 0)
    return Text.take_front(Open).str();
  std::string Result = Text.take_front(Open + 1).str();
  for (size_t I = 0; I != Left; ++I)
    Result += (I ? ", " : "") + argument(All[I], S, Depth + 1);
  return Result + (Left < All.size() ? ", ...>" : ">");
}

static std::string shortened(StringRef Name, const Shortening &S,
                             unsigned Depth) {
  SmallVector<StringRef> Scopes;
  for (StringRef Scope : splitOutside(Name, "::"))
    if (!isInline(Scope))
      Scopes.push_back(Scope);
  if (Scopes.empty())
    return Name.str();
  if (Depth > 0 && S.ScopesOfArguments)
    Scopes = {Scopes.back()};
  else if (Depth == 0 && S.InnerScopes && Scopes.size() > 2)
    Scopes = {Scopes.front(), Scopes.back()};
  std::string Result;
  for (auto [I, Scope] : enumerate(Scopes))
    Result += (I ? "::" : "") + part(Scope, S, Depth);
  return Result;
}

std::string kernelName(StringRef Demangled, unsigned Width) {
  const std::string Clean = cleanText(Demangled);
  // Parameters, where a name has them, tell nobody anything.
  StringRef Name = Clean;
  if (Name.ends_with(")"))
    Name = withoutParameters(Name);
  Shortening S;
  std::string Result = shortened(Name, S, 0);
  auto TooLong = [&] { return widthOf(Result) > Width; };
  for (bool Shortening::*Step :
       {&Shortening::ScopesOfArguments, &Shortening::ArgumentsOfArguments,
        &Shortening::InnerScopes})
    if (TooLong()) {
      S.*Step = true;
      Result = shortened(Name, S, 0);
    }
  for (S.Arguments = Name.count(',') + 1; TooLong() && S.Arguments-- > 0;)
    Result = shortened(Name, S, 0);
  return cutStart(Result, Width);
}

} // namespace reconverge::report
