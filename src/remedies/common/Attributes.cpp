//===- remedies/common/Attributes.cpp - Of kernels and functions ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The macros of include/reconverge/attributes.cuh are
// __attribute__((annotate("reconverge <remedy> [<parameter>(<value>)]
// [off]"))), which clang lists, with each one's place, in
// llvm.global.annotations.
//
// A kernel's attribute is about all of its branches. A device function is
// inlined by now: its attribute is about what debug locations say is of it, or
// was inlined into it. Where several hold, the innermost one does:
//
//   ON __global__ void k(...) { if (a) ...;  f(...); g(...); }
//   OFF __device__ void f(...) { if (b) ...;  g(...); }
//   __device__ void g(...) { if (c) ...; }
//
// asks for a remedy at a, and at c where k calls g itself.
//
// The list keeps inlined functions alive, so they go with their entry.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Attributes.h"

#include "analysis/Numbering.h"
#include "analysis/device/Annotations.h"
#include "core/Error.h"
#include "remedies/common/Requests.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <map>

using namespace llvm;

namespace reconverge::remedies {

static constexpr const char *ListName = "llvm.global.annotations";

namespace {
struct Attributed {
  std::string Remedy, What, Place;
};

/// What is said of one remedy, by the function; of a device function also by
/// its subprogram.
struct AllAttributed {
  DenseMap<const Function *, Attributed> Functions;
  DenseMap<const DISubprogram *, const Function *> Inlined;
  const Attributed *of(const Function &F, const DILocation *At) const;
};
} // namespace

const Attributed *AllAttributed::of(const Function &F,
                                    const DILocation *At) const {
  for (; At; At = At->getInlinedAt())
    if (const Function *Home = Inlined.lookup(At->getScope()->getSubprogram()))
      return &Functions.find(Home)->second;
  auto Found = Functions.find(&F);
  return Found == Functions.end() ? nullptr : &Found->second;
}

/// Empty if \p C is no string.
static StringRef stringOf(const Constant *C) {
  const auto *G =
      C ? dyn_cast<GlobalVariable>(C->stripPointerCasts()) : nullptr;
  const auto *Text = G && G->hasInitializer()
                         ? dyn_cast<ConstantDataSequential>(G->getInitializer())
                         : nullptr;
  return Text && Text->isCString() ? Text->getAsCString() : "";
}

static Error unknown(StringRef Text, const std::string &Place) {
  return userError(Place + ": there is no attribute \"reconverge " + Text +
                       "\"",
                   "Write one of reconverge/attributes.cuh, or annotate(\"" +
                       RequestSyntax + "\").");
}

/// Reads "<remedy> [<parameter>(<value>)] [off]".
static Expected<Attributed> read(StringRef Text, const std::string &Place) {
  SmallVector<StringRef, 4> Words;
  Text.split(Words, ' ', -1, /*KeepEmpty=*/false);
  const RequestWords *Known =
      Words.empty() ? nullptr : requestWordsOf(Words.front());
  if (!Known)
    return unknown(Text, Place);
  bool Off = false;
  std::string Parameters;
  for (StringRef Word : drop_begin(Words)) {
    if (Word == "off") {
      Off = true;
      continue;
    }
    auto [Key, Value] = Word.split('(');
    auto Values = Known->valuesOf(Key);
    if (!Values || !Value.consume_back(")"))
      return unknown(Text, Place);
    if (!isOneOf(Value, *Values))
      return userError(Place + ": there is no " + Key + " '" + Value + "'",
                       "The values are " + *Values + ".");
    Parameters += ((Parameters.empty() ? ":" : ";") + Key + "=" + Value).str();
  }
  return Attributed{Known->Remedy.str(), Off ? "off" : "all" + Parameters,
                    Place};
}

static Error add(AllAttributed &All, const Value &Subject, Attributed A) {
  const auto *F = dyn_cast<Function>(Subject.stripPointerCasts());
  if (!F)
    return userError(A.Place + ": only kernels and device functions have "
                               "branches",
                     "Take the attribute away from what is none.");
  auto [Found, New] = All.Functions.try_emplace(F, A);
  if (!New && Found->second.What != A.What)
    return userError(A.Place + ": '" + demangle(F->getName()) +
                         "' has another attribute, at " + Found->second.Place,
                     "Leave one of the two.");
  if (F->isDeclaration() || analysis::isKernel(*F))
    return Error::success();
  const RequestWords &Words = *requestWordsOf(A.Remedy);
  if (!Words.isOf(Subject::Branch) && !Words.isOf(Subject::Loop))
    return userError(A.Place + ": only kernels are launched",
                     "Give the attribute to the kernels that call '" +
                         demangle(F->getName()) + "'.");
  if (!F->getSubprogram())
    return userError(A.Place + ": the branches of device function '" +
                         demangle(F->getName()) +
                         "' cannot be found without line numbers",
                     "Compile with -gline-tables-only, or give the attribute "
                     "to kernels.");
  All.Inlined[F->getSubprogram()] = F;
  return Error::success();
}

/// Puts the entries \p Kept in place of \p List, and removes functions that
/// only the list has kept.
static void replaceList(GlobalVariable &List, ArrayRef<Constant *> Kept,
                        ArrayRef<Value *> Dropped) {
  Module &M = *List.getParent();
  List.setName("");
  if (!Kept.empty()) {
    auto *T = ArrayType::get(Kept.front()->getType(), Kept.size());
    auto *New = new GlobalVariable(M, T, false, List.getLinkage(),
                                   ConstantArray::get(T, Kept), ListName);
    New->setSection(List.getSection());
  }
  List.eraseFromParent();
  SmallSetVector<GlobalObject *, 8> Objects;
  for (Value *V : Dropped)
    if (auto *Object = dyn_cast<GlobalObject>(V->stripPointerCasts()))
      Objects.insert(Object);
  for (GlobalObject *Object : Objects) {
    Object->removeDeadConstantUsers();
    if (Object->hasLocalLinkage() && Object->use_empty())
      Object->eraseFromParent();
  }
}

/// Hangs \p All on branches, loops or kernels. Whether some are not to be left
/// alone.
static bool mark(Module &M, StringRef Remedy, const AllAttributed &All) {
  bool Asked = false;
  auto Hang = [&](auto &Subject, const Attributed &A) {
    hangRequest(Subject, Remedy, A.What, A.Place);
    Asked |= A.What != "off";
  };
  for (Function &F : M) {
    const auto OfKernel = All.Functions.find(&F);
    if (requestWordsOf(Remedy)->isOf(Subject::Kernel) &&
        OfKernel != All.Functions.end() && analysis::isKernel(F) &&
        !requestOf(F, Remedy))
      Hang(F, OfKernel->second);
    for (auto [Of, At, Where] : requestPlaces(F, Remedy))
      if (!hasRequest(*At, Remedy))
        if (const Attributed *A = All.of(F, Where))
          Hang(*At, *A);
  }
  return Asked;
}

Error settleAttributes(Module &M, std::set<std::string> &Asked) {
  GlobalVariable *List = M.getGlobalVariable(ListName);
  auto *Entries = List && List->hasInitializer()
                      ? dyn_cast<ConstantArray>(List->getInitializer())
                      : nullptr;
  if (!Entries)
    return Error::success();
  std::map<std::string, AllAttributed> All; // by the remedy
  SmallVector<Constant *, 8> Kept;
  SmallVector<Value *, 8> Dropped;
  for (Value *Each : Entries->operand_values()) {
    auto &Entry = *cast<Constant>(Each);
    const auto *Line =
        dyn_cast_or_null<ConstantInt>(Entry.getAggregateElement(3));
    StringRef Text = stringOf(Entry.getAggregateElement(1u));
    // Others have annotations, too, and there may be a "reconvergence".
    if (!Line || !Text.consume_front("reconverge") ||
        !(Text.empty() || Text.consume_front(" "))) {
      Kept.push_back(&Entry);
      continue;
    }
    auto A = read(Text, (stringOf(Entry.getAggregateElement(2)) + ":" +
                         Twine(Line->getZExtValue()))
                            .str());
    if (!A)
      return A.takeError();
    AllAttributed &Of = All[A->Remedy];
    if (Error E = add(Of, *Entry.getAggregateElement(0u), std::move(*A)))
      return E;
    for (unsigned N = 0; N < 3; ++N)
      Dropped.push_back(Entry.getAggregateElement(N));
  }
  if (Dropped.empty())
    return Error::success();
  for (const auto &[Remedy, Of] : All)
    if (mark(M, Remedy, Of))
      Asked.insert(Remedy);
  replaceList(*List, Kept, Dropped);
  return Error::success();
}

} // namespace reconverge::remedies
