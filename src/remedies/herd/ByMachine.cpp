//===- remedies/herd/ByMachine.cpp - What hardware may herd ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing is rewritten: this says where a machine may move lanes or addresses by
// itself. Of branches, those that the remedy may herd with every parameter of
// its own at its default, however little code they control, and whoever comes to
// them: a machine's vote takes no instructions, and no mask. Lanes may be sent
//
//   out of a loop          wherever the remedy may have them leave it
//   on with a loop         if a round can neither fault nor write, and the loop
//                          also ends by a count
//   past an arm            wherever the remedy may drop them from it, and the
//                          other side is empty
//   to either side         if neither can fault, write or loop
//
// A load may be herded if what it gives decides no address, divisor, loop, mask
// or access (Safety.h). One that the VM may join with its neighbour, as it would
// then be moved together with it, has to have safe neighbours.
//
//===----------------------------------------------------------------------===//

#include "remedies/herd/ByMachine.h"

#include "analysis/Accesses.h"
#include "analysis/Numbering.h"
#include "analysis/Uniformity.h"
#include "analysis/device/Annotations.h"
#include "remedies/herd/Legality.h"
#include "remedies/herd/Masks.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace reconverge::remedies::herd;

namespace reconverge::remedies {

/// Loads of one object in one block may become one.
using Neighbours = std::pair<const BasicBlock *, const Value *>;
static Neighbours neighboursOf(const LoadInst &I) {
  return {I.getParent(), getUnderlyingObject(I.getPointerOperand(), 0)};
}

static SmallVector<uint32_t> safeLoads(Function &F,
                                       SmallVector<Uncertain> Sources) {
  const auto Uniform = analysis::computeUniformity(F);
  SmallVector<const LoadInst *> Safe;
  DenseSet<Neighbours> Tied;
  for (const Instruction &I : instructions(F)) {
    const auto *Load = dyn_cast<LoadInst>(&I);
    if (!Load)
      continue;
    const auto A = analysis::accessOf(I);
    // Where the code does not say which memory it is, the machine sees it.
    const bool Meant =
        A &&
        (A->Space == MemorySpace::Global || A->Space == MemorySpace::Generic) &&
        Load->isSimple() && analysis::accessNumber(I) &&
        !Uniform.isUniform(*Load->getPointerOperand());
    if (Meant) {
      Uncertain U;
      U.Values = {Load};
      Sources.push_back(U);
      if (!dangerOf(F, Sources)) {
        Safe.push_back(Load);
        continue;
      }
      Sources.pop_back();
    }
    Tied.insert(neighboursOf(*Load));
  }
  SmallSetVector<uint32_t, 8> Numbers;
  for (const LoadInst *Load : Safe)
    if (!Tied.contains(neighboursOf(*Load)))
      Numbers.insert(*analysis::accessNumber(*Load));
  auto Ascending = Numbers.takeVector();
  sort(Ascending);
  return {Ascending.begin(), Ascending.end()};
}

MachineHerding herdByMachine(const Function &Kernel, bool Branches,
                             bool Loads) {
  MachineHerding Found;
  if (!analysis::isKernel(Kernel) || Kernel.isDeclaration())
    return Found;
  const std::unique_ptr<Module> Copy = CloneModule(*Kernel.getParent());
  Function &F = *Copy->getFunction(Kernel.getName());
  canonicalize(F);
  HerdPlan Plan;
  if (Branches) {
    HerdOptions Options;
    Options.ByMachine = true;
    Options.Least = 0;
    Plan = planHerd(F, Options);
    for (const HerdPoint &P : Plan.Points)
      if (const auto Number = analysis::branchNumber(*P.Branch);
          Number && (P.Sends[0] || P.Sends[1]))
        Found.Branches.push_back({*Number, P.Sends[0], P.Sends[1]});
    sort(Found.Branches, [](const MovableBranch &A, const MovableBranch &B) {
      return A.Number < B.Number;
    });
  }
  if (Loads)
    Found.Loads = safeLoads(F, Plan.Sources);
  return Found;
}

} // namespace reconverge::remedies
