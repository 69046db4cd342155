//===- transform/remap/Attributes.cpp - Of kernels and functions ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RECONVERGE_REMAP and RECONVERGE_NO_REMAP (include/reconverge/attributes.cuh)
// are __attribute__((annotate("reconverge remap [algorithm(<name>)] [off]"))),
// which clang lists, with each one's place, in llvm.global.annotations.
//
// A kernel's attribute is about all of its branches. A device function is
// inlined by now: its attribute is about what debug locations say is of it, or
// was inlined into it. Where several hold, the innermost one does:
//
//   RECONVERGE_REMAP __global__ void k(...) { if (a) ...;  f(...); g(...); }
//   RECONVERGE_NO_REMAP __device__ void f(...) { if (b) ...;  g(...); }
//   __device__ void g(...) { if (c) ...; }
//
// remaps at a, and at c where k calls g itself.
//
// The list keeps inlined functions alive, so they go with their entry.
//
//===----------------------------------------------------------------------===//

#include "transform/remap/Attributes.h"

#include "analysis/Numbering.h"
#include "analysis/device/Annotations.h"
#include "core/Error.h"
#include "transform/remap/Options.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::transform::remap {

static constexpr const char *ListName = "llvm.global.annotations";

namespace {
struct Attributed {
  std::string What, Place;
};

/// By the function; a device function's also by its subprogram.
struct AllAttributed {
  DenseMap<const Function *, Attributed> Functions;
  DenseMap<const DISubprogram *, const Function *> Inlined;
  const Attributed *of(const Function &F, const DILocation *At) const;
};
} // namespace

void hangWish(Instruction &Branch, StringRef What, const Twine &Place) {
  LLVMContext &C = Branch.getContext();
  Metadata *Words[] = {MDString::get(C, What), MDString::get(C, Place.str())};
  Branch.setMetadata(WishKind, MDNode::get(C, Words));
}

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

/// Of "remap [algorithm(<name>)] [off]", what hangWish() takes.
static Expected<std::string> read(StringRef Text, const std::string &Place) {
  bool Off = false;
  StringRef Algorithm;
  SmallVector<StringRef, 4> Words;
  Text.split(Words, ' ', -1, /*KeepEmpty=*/false);
  bool Known = !Words.empty() && Words.front() == "remap";
  for (StringRef Word : drop_begin(Words, !Words.empty())) {
    if (Word == "off")
      Off = true;
    else if (Word.consume_front("algorithm(") && Word.consume_back(")"))
      Algorithm = Word;
    else
      Known = false;
  }
  if (!Known)
    return userError(Place + ": there is no attribute \"reconverge " + Text +
                         "\"",
                     "Write RECONVERGE_REMAP or RECONVERGE_NO_REMAP, or "
                     "annotate(\"reconverge remap [algorithm(<name>)] "
                     "[off]\").");
  if (!Algorithm.empty() && !remapAlgorithm(Algorithm))
    return userError(Place + ": there is no algorithm '" + Algorithm + "'",
                     "Write " + RemapAlgorithms + ".");
  if (Off)
    return "off";
  return Algorithm.empty() ? "all" : ("all:" + Algorithm).str();
}

static Error add(AllAttributed &All, const Value &Subject, Attributed A) {
  const auto *F = dyn_cast<Function>(Subject.stripPointerCasts());
  if (!F)
    return userError(A.Place + ": only kernels and device functions can be "
                               "remapped",
                     "Take the attribute away from what is none.");
  auto [Found, New] = All.Functions.try_emplace(F, A);
  if (!New && Found->second.What != A.What)
    return userError(A.Place + ": '" + demangle(F->getName()) +
                         "' has another attribute, at " + Found->second.Place,
                     "Leave one of the two.");
  if (F->isDeclaration() || analysis::isKernel(*F))
    return Error::success();
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

/// Hangs \p All on branches; returns how many are not to be left alone.
static unsigned mark(Module &M, const AllAttributed &All) {
  unsigned Asked = 0;
  for (Function &F : M)
    for (BasicBlock &BB : F) {
      Instruction &Term = *BB.getTerminator();
      if (Term.getNumSuccessors() < 2 || Term.hasMetadata(WishKind) ||
          !isa<BranchInst, SwitchInst>(Term))
        continue;
      if (const Attributed *A = All.of(F, Term.getDebugLoc())) {
        hangWish(Term, A->What, A->Place);
        Asked += A->What != "off";
      }
    }
  return Asked;
}

Expected<unsigned> settleAttributes(Module &M) {
  GlobalVariable *List = M.getGlobalVariable(ListName);
  auto *Entries = List && List->hasInitializer()
                      ? dyn_cast<ConstantArray>(List->getInitializer())
                      : nullptr;
  if (!Entries)
    return 0;
  AllAttributed All;
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
    Attributed A;
    A.Place = (stringOf(Entry.getAggregateElement(2)) + ":" +
               Twine(Line->getZExtValue()))
                  .str();
    if (Error E = read(Text, A.Place).moveInto(A.What))
      return std::move(E);
    if (Error E = add(All, *Entry.getAggregateElement(0u), std::move(A)))
      return std::move(E);
    for (unsigned N = 0; N < 3; ++N)
      Dropped.push_back(Entry.getAggregateElement(N));
  }
  if (Dropped.empty())
    return 0;
  const unsigned Asked = mark(M, All);
  replaceList(*List, Kept, Dropped);
  return Asked;
}

} // namespace reconverge::transform::remap
