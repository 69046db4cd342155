//===- frontend/VirtualTables.cpp - What virtual calls look up ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   table = load object        function = load (table + slot); function(object)
//
// The tables are constants, _ZTV<class>: offset to the top, type, functions, and
// that again for each further base with virtual functions. Objects point behind
// the first two; which offsets that are is seen where constructors take the
// address.
//
// With virtual bases, objects point into other tables while they are made
// (_ZTC, found by _ZTT): then nothing is said.
//
//===----------------------------------------------------------------------===//

#include "frontend/VirtualTables.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <set>

using namespace llvm;

namespace reconverge::frontend {

static bool isTable(const GlobalVariable &G) {
  return G.getName().starts_with("_ZTV") && G.isConstant() &&
         G.hasDefinitiveInitializer();
}

std::optional<VirtualCall> virtualCall(const CallBase &Call) {
  const auto *Entry = dyn_cast<LoadInst>(Call.getCalledOperand());
  if (!Entry || !Entry->isSimple())
    return std::nullopt;
  const DataLayout &Layout = Call.getModule()->getDataLayout();
  Value *Address = Entry->getOperand(0);
  APInt Slot(Layout.getIndexTypeSizeInBits(Address->getType()), 0);
  auto *Table = dyn_cast<LoadInst>(Address->stripAndAccumulateConstantOffsets(
      Layout, Slot, /*AllowNonInbounds=*/true));
  if (!Table || !Table->isSimple())
    return std::nullopt;
  return VirtualCall{Table, Slot.getSExtValue()};
}

/// Adds to \p All which bytes of a table \p C and what is made of it point to.
static void findPoints(const Constant &C, const DataLayout &Layout,
                       std::set<uint64_t> &All) {
  for (const User *U : C.users()) {
    const auto *Made = dyn_cast<ConstantExpr>(U);
    if (!Made || !Made->getType()->isPointerTy())
      continue;
    APInt Offset(Layout.getIndexTypeSizeInBits(Made->getType()), 0);
    Made->stripAndAccumulateConstantOffsets(Layout, Offset,
                                            /*AllowNonInbounds=*/true);
    All.insert(Offset.getZExtValue());
    findPoints(*Made, Layout, All);
  }
}

VirtualTables::VirtualTables(Module &M) {
  for (GlobalVariable &G : M.globals()) {
    HasVirtualBases |=
        G.getName().starts_with("_ZTT") || G.getName().starts_with("_ZTC");
    if (!isTable(G))
      continue;
    std::set<uint64_t> Points;
    findPoints(G, M.getDataLayout(), Points);
    All.push_back({&G, {Points.begin(), Points.end()}});
  }
}

/// Whether the address of \p C, a function or what has it, is in tables alone.
static bool isInTablesAlone(const Constant &C) {
  return all_of(C.users(), [&](const User *U) {
    if (const auto *G = dyn_cast<GlobalVariable>(U))
      return isTable(*G);
    if (const auto *Call = dyn_cast<CallBase>(U))
      return Call->getCalledOperand() == &C && !is_contained(Call->args(), &C);
    return isa<Constant>(U) && isInTablesAlone(*cast<Constant>(U));
  });
}

std::optional<SmallVector<Constant *>>
VirtualTables::with(Function &F, const VirtualCall &Call) const {
  if (HasVirtualBases || !isInTablesAlone(F))
    return std::nullopt;
  SmallVector<Constant *> Found;
  LLVMContext &Context = F.getContext();
  auto *Ptr = PointerType::getUnqual(Context);
  for (const Table &T : All)
    for (uint64_t Point : T.Points) {
      const APInt At(64, Point + uint64_t(Call.Slot));
      if (ConstantFoldLoadFromConst(T.Of->getInitializer(), Ptr, At,
                                    F.getDataLayout()) == &F)
        Found.push_back(ConstantExpr::getGetElementPtr(
            Type::getInt8Ty(Context), ConstantExpr::getPointerCast(T.Of, Ptr),
            ConstantInt::get(Type::getInt64Ty(Context), Point)));
    }
  return Found;
}

} // namespace reconverge::frontend
