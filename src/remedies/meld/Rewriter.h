//===- remedies/meld/Rewriter.h - The writer of melded code ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by Rewrite.cpp, which says what it does, and RewriteRegions.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REMEDIES_MELD_REWRITER_H
#define RECONVERGE_REMEDIES_MELD_REWRITER_H

#include "remedies/meld/Options.h"
#include "remedies/meld/Plan.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Instructions.h"

namespace reconverge::remedies::meld {

/// What a region of the new code is made from: a region of each side, of one
/// side, or of one side with a run of the other.
struct Source {
  std::array<const Region *, 2> R{nullptr, nullptr};
  const RegionMeld *Plan = nullptr; ///< null: one side's as it is
  llvm::ArrayRef<Item> Run;

  unsigned lead() const { return R[0] ? 0 : 1; }
  bool isRun() const { return Plan && !(R[0] && R[1]); }
  /// Node \p K of the leading side, as side \p Side has it.
  const Node &node(unsigned Side, unsigned K) const {
    return R[Side]->Nodes[Plan ? Plan->Nodes[K].Number[Side] : K];
  }
};

using InstructionSet = llvm::SmallPtrSet<const llvm::Instruction *, 16>;
using Guarded = std::array<llvm::SmallVector<const Item *, 8>, 2>;

/// Writes a plan's code and takes the arms away.
class Rewriter {
public:
  Rewriter(const MeldPlan &Plan, const MeldOptions &Options)
      : Plan(Plan), Options(Options), F(*Plan.Branch->getParent()),
        Old(*llvm::cast<llvm::BranchInst>(Plan.Branch->getTerminator())),
        Condition(*Old.getCondition()) {}

  void run();

private:
  // Values.
  llvm::Value *map(unsigned Side, llvm::Value *V) const {
    auto Found = Map[Side].find(V);
    return Found == Map[Side].end() ? V : Found->second;
  }
  llvm::Value *choose(llvm::Value *X, llvm::Value *Y, llvm::BasicBlock &Where);
  llvm::Value *chooseAtGuard(llvm::Value *X, llvm::Value *Y);
  llvm::Value *negate(llvm::Value *V);
  bool isNew(const llvm::Value &V) const {
    const auto *I = llvm::dyn_cast<llvm::Instruction>(&V);
    return I && Made.contains(I->getParent());
  }

  // Code.
  llvm::BasicBlock *block(const llvm::Twine &Name) {
    auto *BB = llvm::BasicBlock::Create(F.getContext(), Name, &F, Plan.Join);
    Made.insert(BB);
    return BB;
  }
  llvm::Instruction *append(llvm::Instruction *I,
                            const llvm::Instruction &From);
  void jump(llvm::BasicBlock &To);
  void sequence(llvm::ArrayRef<Item> A, llvm::ArrayRef<Item> B,
                const SequencePlan &Code);
  void both(const llvm::Instruction &A, const llvm::Instruction &B,
            const Fit &How);
  void alone(const llvm::Instruction &I, unsigned Side, bool AllLanes);
  void aloneFrom(const llvm::Instruction &Load, unsigned Side,
                 llvm::Value *Elsewhere);
  void plain(const Item &It, unsigned Side);
  void guard(const Guarded &Items);
  void nodeCode(const Source &S, unsigned K);
  void region(const Source &S);
  void
  makePhis(llvm::ArrayRef<PhiPair> Pairs, llvm::BasicBlock &In,
           llvm::SmallVectorImpl<std::pair<llvm::PHINode *, PhiPair>> &Phis);
  void terminator(const Source &S, unsigned K,
                  llvm::ArrayRef<llvm::BasicBlock *> Starts,
                  llvm::BasicBlock &After);
  void keepRunValues(const Source &S, llvm::BasicBlock &Before,
                     llvm::BasicBlock &RunEnd, llvm::BasicBlock &After);
  void finish();

  const MeldPlan &Plan;
  const MeldOptions &Options;
  llvm::Function &F;
  llvm::BranchInst &Old;
  llvm::Value &Condition;
  llvm::BasicBlock *Entry = nullptr, *Current = nullptr;
  std::array<llvm::DenseMap<const llvm::Value *, llvm::Value *>, 2> Map;
  llvm::DenseMap<std::pair<const llvm::BasicBlock *,
                           std::pair<llvm::Value *, llvm::Value *>>,
                 llvm::Value *>
      Chosen;
  llvm::SmallPtrSet<const llvm::BasicBlock *, 32> Made;
  /// PHIs at the end of a guard: of which side, and where its lanes come from.
  struct GuardValue {
    unsigned Side;
    llvm::BasicBlock *Mine, *Other;
  };
  llvm::DenseMap<const llvm::Value *, GuardValue> GuardValues;
};

/// All that \p It makes, PHIs behind a region included.
void collect(const Item &It, InstructionSet &Set);
bool usedOutside(const llvm::Instruction &I, const InstructionSet &Set);

} // namespace reconverge::remedies::meld

#endif
