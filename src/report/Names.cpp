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
// Kernels of Thrust and CUB are alike in all of this but for what the user has
// given them, deep in other arguments. So a library's kernel keeps the user's
// types of its arguments, or the first lambda among them, and no others:
//
//   cub::static_kernel<main::'lambda'(unsigned int)>
//
//===----------------------------------------------------------------------===//

#include "report/Names.h"
#include "report/Text.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
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

/// All but inline ones.
static SmallVector<StringRef> scopesOf(StringRef Name) {
  SmallVector<StringRef> Scopes = splitOutside(Name, "::");
  erase_if(Scopes, isInline);
  return Scopes;
}

/// Of the template that \p Scope is; none: it is none.
static SmallVector<StringRef> argumentsOf(StringRef Scope) {
  const size_t Open = Scope.find('<');
  if (Open == StringRef::npos || !Scope.ends_with(">") ||
      Scope.starts_with("operator"))
    return {};
  return splitOutside(Scope.slice(Open + 1, Scope.size() - 1), ",");
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
  const SmallVector<StringRef> All = argumentsOf(Text);
  if (All.empty())
    return Text.str();
  const StringRef Name = Text.take_front(Text.find('<'));
  if (Depth > 0 && S.ArgumentsOfArguments)
    return Name.str();
  const size_t Left = Depth ? All.size() : std::min(All.size(), S.Arguments);
  if (Left == 0)
    return Name.str();
  std::string Result = Name.str() + "<";
  for (size_t I = 0; I != Left; ++I)
    Result += (I ? ", " : "") + argument(All[I], S, Depth + 1);
  return Result + (Left < All.size() ? ", ...>" : ">");
}

static std::string shortened(StringRef Name, const Shortening &S,
                             unsigned Depth) {
  SmallVector<StringRef> Scopes = scopesOf(Name);
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

//===----------------------------------------------------------------------===//
// The user's types
//===----------------------------------------------------------------------===//

static StringRef withoutArguments(StringRef Scope) {
  return Scope.take_until([](char C) { return C == '<' || C == '('; });
}

static bool isLibrary(StringRef Scope) {
  return is_contained({"cub", "thrust", "cuda", "std", "cooperative_groups"},
                      withoutArguments(Scope));
}

/// Of the language, or of CUDA, or a number: nobody's own.
static bool isBuiltin(StringRef Type) {
  static const Regex Known(
      "^(((un)?signed )?(bool|char|short|int|long( long)?|__int128)|float|"
      "double|void|u?(char|short|int|long|longlong|float|double)[1-4]|__half2?|"
      "__nv_bfloat162?|true|false|[&-].*|(\\([a-z0-9_ ]+\\))?-?[0-9].*)$");
  return Known.match(Type);
}

namespace {
/// A type of the user's, as it is called in full and in short.
struct OwnType {
  std::string Full, Short;
  bool IsLambda;
};
} // namespace

/// Adds those in the argument \p Text, once each, the first lambda in front.
static void addOwnTypes(StringRef Text, SmallVectorImpl<OwnType> &Own) {
  Text = Text.trim();
  while (Text.consume_back("*") || Text.consume_back("&") ||
         Text.consume_back(" const") || Text.consume_back(" "))
    ;
  Text.consume_front("void "); // of the function that a lambda is in
  const SmallVector<StringRef> Scopes = scopesOf(Text);
  if (Scopes.empty() || isBuiltin(Text))
    return;
  if (isLibrary(Scopes.front())) {
    for (StringRef Scope : Scopes)
      for (StringRef Argument : argumentsOf(Scope))
        addOwnTypes(Argument, Own);
    return;
  }
  const StringRef Last = Scopes.back();
  OwnType New{Last.str(), withoutArguments(Last).str(), Last.starts_with("'")};
  if (New.IsLambda) {
    New.Short = Last.str();
    if (Scopes.size() > 1)
      New.Full = (withoutArguments(Scopes.end()[-2]) + "::" + Last).str();
  }
  if (any_of(Own, [&](const OwnType &O) { return O.Full == New.Full; }))
    return;
  Own.insert(New.IsLambda && (Own.empty() || !Own.front().IsLambda)
                 ? Own.begin()
                 : Own.end(),
             std::move(New));
}

/// Names of a library's kernel by what of the user's it works on, the longest
/// first; none: it is no library's, or works on nothing of the user's.
static std::vector<std::string> namesByOwnTypes(StringRef Name) {
  const SmallVector<StringRef> Scopes = scopesOf(Name);
  SmallVector<OwnType> Own;
  if (Scopes.size() > 1 && isLibrary(Scopes.front()))
    addOwnTypes(Name, Own);
  if (!Own.empty() && Own.front().IsLambda)
    Own.truncate(1);
  std::vector<std::string> Names;
  for (size_t Types = Own.size(); Types; --Types)
    for (std::string OwnType::*Form : {&OwnType::Full, &OwnType::Short}) {
      std::string Text = withoutArguments(Scopes.back()).str() + "<";
      for (size_t I = 0; I != Types; ++I)
        Text += (I ? ", " : "") + Own[I].*Form;
      Text += Types < Own.size() ? ", ...>" : ">";
      Names.push_back((Scopes.front() + "::" + Text).str());
      Names.push_back(std::move(Text));
    }
  return Names;
}

/// Parameters, where a name has them, tell nobody anything.
static StringRef nameIn(StringRef Clean) {
  return Clean.ends_with(")") ? withoutParameters(Clean) : Clean;
}

std::string kernelName(StringRef Demangled, unsigned Width) {
  const std::string Clean = cleanText(Demangled);
  const StringRef Name = nameIn(Clean);
  Shortening S;
  std::string Result = shortened(Name, S, 0);
  auto TooLong = [&] { return widthOf(Result) > Width; };
  auto Lose = [&](bool Shortening::*What) {
    if (!TooLong())
      return;
    S.*What = true;
    Result = shortened(Name, S, 0);
  };
  Lose(&Shortening::ScopesOfArguments);
  if (TooLong())
    for (std::string &ByOwn : namesByOwnTypes(Name))
      if (widthOf(ByOwn) <= Width)
        return std::move(ByOwn);
  Lose(&Shortening::ArgumentsOfArguments);
  Lose(&Shortening::InnerScopes);
  for (S.Arguments = Name.count(',') + 1; TooLong() && S.Arguments-- > 0;)
    Result = shortened(Name, S, 0);
  return cutStart(Result, Width);
}

std::vector<std::string> kernelNames(ArrayRef<StringRef> Demangled,
                                     unsigned Width) {
  std::vector<std::string> Names;
  StringMap<StringRef> Seen;
  StringSet<> Alike;
  for (StringRef Whole : Demangled) {
    Names.push_back(kernelName(Whole, Width));
    if (Seen.try_emplace(Names.back(), Whole).first->second != Whole)
      Alike.insert(Names.back());
  }
  for (auto [Name, Whole] : zip(Names, Demangled))
    if (Alike.contains(Name)) {
      const std::string Clean = cleanText(Whole);
      const std::vector<std::string> ByOwn = namesByOwnTypes(nameIn(Clean));
      if (!ByOwn.empty())
        Name = cutStart(ByOwn.back(), Width);
    }
  return Names;
}

} // namespace reconverge::report
