//===- frontend/Remedied.cpp - Kernels with a remedy, beside the original ====//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A remedy is tried on some launches, and may not run at all on others: it
// takes shared memory and registers, and a launch with larger blocks or more
// dynamic shared memory fails where the original's does not. So a program
// carries the original beside it, under its own name, and the host chooses at
// each launch:
//
//   device code:  kernel, kernel$remedied          copyForRemedy
//        |
//        v        "kernel/kernel$remedied/..."     printRemedied: an option of
//        |                                         the host's compilation
//        v
//   host code:    launches choose                  RemediedLaunches.cpp
//
// What the host has to know is in attributes of the remedied kernel until then,
// the recipe of its launch as well.
//
//===----------------------------------------------------------------------===//

#include "frontend/Remedied.h"

#include "analysis/SharedMemory.h"
#include "analysis/device/Annotations.h"
#include "core/Error.h"
#include "core/Remedied.h"
#include "launch/RecipeText.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace reconverge::frontend {

//===----------------------------------------------------------------------===//
// Device code
//===----------------------------------------------------------------------===//

static constexpr char ThreadsAttribute[] = "reconverge-remedied-threads";
static constexpr char SharedAttribute[] = "reconverge-remedied-shared";

Function &copyForRemedy(Function &Kernel, const LaunchBounds &Bounds) {
  ValueToValueMapTy Map;
  Function *Copy = CloneFunction(&Kernel, Map);
  Copy->setName(Kernel.getName() + RemediedSuffix);
  analysis::copyAnnotations(Kernel, *Copy);
  Copy->addFnAttr(ThreadsAttribute, utostr(Bounds.Threads));
  Copy->addFnAttr(SharedAttribute, utostr(Bounds.Shared));
  return *Copy;
}

static uint64_t numberOf(const Function &F, StringRef Attribute) {
  uint64_t Number = 0;
  (void)F.getFnAttribute(Attribute).getValueAsString().getAsInteger(10, Number);
  return Number;
}

std::vector<RemediedKernel> remediedKernels(const Module &M) {
  std::vector<RemediedKernel> All;
  for (const Function &F : M) {
    StringRef Name = F.getName();
    if (!F.hasFnAttribute(ThreadsAttribute) ||
        !Name.consume_back(RemediedSuffix))
      continue;
    const Function *Kernel = M.getFunction(Name);
    RemediedKernel K;
    K.Kernel = Name.str();
    K.Remedied = F.getName().str();
    K.Static = analysis::staticShared(F);
    K.Bounds.Threads = numberOf(F, ThreadsAttribute);
    // What takes no shared memory leaves the program all that it had.
    K.Bounds.Shared = Kernel && analysis::staticShared(*Kernel) == K.Static
                          ? INT32_MAX
                          : numberOf(F, SharedAttribute);
    K.Recipe = F.getFnAttribute(RecipeAttribute).getValueAsString().str();
    All.push_back(std::move(K));
  }
  return All;
}

//===----------------------------------------------------------------------===//
// Between the two
//===----------------------------------------------------------------------===//

std::string printRemedied(ArrayRef<RemediedKernel> Kernels) {
  std::string Text;
  for (const RemediedKernel &K : Kernels)
    Text += (Text.empty() ? "" : ";") + K.Kernel + "/" + K.Remedied + "/" +
            utostr(K.Bounds.Threads) + "/" + utostr(K.Bounds.Shared) + "/" +
            utostr(K.Static) + "/" + K.Recipe;
  return Text;
}

Expected<std::vector<RemediedKernel>> parseRemedied(StringRef Text) {
  std::vector<RemediedKernel> All;
  SmallVector<StringRef> Entries;
  Text.split(Entries, ';', -1, /*KeepEmpty=*/false);
  for (StringRef Entry : Entries) {
    SmallVector<StringRef, 6> Words;
    Entry.split(Words, '/');
    RemediedKernel K;
    if (Words.size() != 6 || Words[0].empty() || Words[1].empty() ||
        Words[2].getAsInteger(10, K.Bounds.Threads) ||
        Words[3].getAsInteger(10, K.Bounds.Shared) ||
        Words[4].getAsInteger(10, K.Static) ||
        (!Words[5].empty() && !launch::parseRecipe(Words[5])))
      return userError("'" + Entry + "' is no kernel with a remedy",
                       "Write <kernel>/<remedied>/<threads>/<shared>/<static>/"
                       "<recipe>, with ; between kernels.");
    K.Kernel = Words[0].str();
    K.Remedied = Words[1].str();
    K.Recipe = Words[5].str();
    All.push_back(std::move(K));
  }
  return All;
}

} // namespace reconverge::frontend
