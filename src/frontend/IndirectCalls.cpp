//===- frontend/IndirectCalls.cpp - Whom a pointer may call ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call through a pointer can only lead to a function of its type whose address
// is taken, in a table of virtual functions as a rule. Where there are few:
//
//   f(x)      if (f == a) a(x); else if (f == b) b(x); else f(x);
//
// and in a program that is compiled whole the last is a fault: of a pointer that
// was never set, or that the host made. Then a and b are inlined as any function,
// what they need stays in registers, and the analyses and remedies, which have to
// take a pointer for a call of anything, see what lanes do. nvcc and clang leave
// such calls as they are, as another unit may have functions of that type: for
// the device code of a program of several units without -rdc=true this keeps the
// call as the last resort.
//
// Of a virtual function the address of the object's table tells as much, and is
// there a load earlier; so that is compared where functions are in such tables
// alone (VirtualTables.h), and those are left out whose tables no object has.
//
// A function that is in a recursion by such calls alone, as the list of a scene
// whose objects may be lists, would not be inlined any more. So there it calls
// a copy:
//
//   a: ... a(x) ...      a: ... a$again(x) ...     a$again: ... a$again(x) ...
//
// Speculation on the callee is as old as compilers of object-oriented languages;
// that all callees are known is the closed world of C. Chambers and J. Dean
// ("class hierarchy analysis", ECOOP 1995, with D. Grove). Types of functions
// stand here for the hierarchy, which device code does not describe.
//
//===----------------------------------------------------------------------===//

#include "frontend/IndirectCalls.h"

#include "analysis/device/Annotations.h"
#include "analysis/device/LibraryCalls.h"
#include "frontend/VirtualTables.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/CallPromotionUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

#include <vector>

using namespace llvm;

namespace reconverge::frontend {

/// Functions that one call is compared with.
static constexpr size_t MostCallees = 8;

/// What a table has where a class has no function of its own; calling that is
/// undefined.
static bool isNoFunction(const Function &F) {
  return F.getName() == "__cxa_pure_virtual" ||
         F.getName() == "__cxa_deleted_virtual";
}

/// The functions that a pointer may lead to, in the order of \p M.
static std::vector<Function *> takenIn(Module &M) {
  std::vector<Function *> All;
  for (Function &F : M)
    if (!F.isIntrinsic() && !analysis::isKernel(F) && !isNoFunction(F) &&
        F.hasAddressTaken(/*PutOffender=*/nullptr,
                          /*IgnoreCallbackUses=*/false,
                          /*IgnoreAssumeLikeCalls=*/true,
                          /*IngoreLLVMUsed=*/true))
      All.push_back(&F);
  return All;
}

namespace {
using Calls = SmallPtrSet<const CallBase *, 16>;
} // namespace

static FunctionCallee noFunction(Module &M) {
  LLVMContext &Context = M.getContext();
  AttrBuilder Is(Context);
  for (Attribute::AttrKind Kind :
       {Attribute::NoReturn, Attribute::NoUnwind, Attribute::Cold})
    Is.addAttribute(Kind);
  Is.addMemoryAttr(MemoryEffects::inaccessibleMemOnly(ModRefInfo::Mod));
  return M.getOrInsertFunction(
      analysis::NoFunction,
      AttributeList::get(Context, AttributeList::FunctionIndex, Is),
      Type::getVoidTy(Context), PointerType::getUnqual(Context));
}

namespace {
/// A function that a call may lead to, and of a virtual call the addresses of
/// tables that say so.
struct Callee {
  Function *F;
  SmallVector<Constant *> Tables;
};
} // namespace

/// What \p Call may lead to. \p Looked: it is a virtual call, and tables tell.
static std::vector<Callee> calleesOf(const CallBase &Call,
                                     ArrayRef<Function *> Taken,
                                     const VirtualTables &Tables,
                                     std::optional<VirtualCall> &Looked) {
  std::vector<Callee> All;
  for (Function *F : Taken)
    if (F->getFunctionType() == Call.getFunctionType() &&
        isLegalToPromote(Call, F))
      All.push_back({F, {}});
  Looked = virtualCall(Call);
  for (Callee &C : All) {
    auto Having = Looked ? Tables.with(*C.F, *Looked) : std::nullopt;
    if (!Having) {
      Looked.reset();
      return All;
    }
    C.Tables = std::move(*Having);
  }
  erase_if(All, [](const Callee &C) { return C.Tables.empty(); });
  return All;
}

/// Adds to \p Named the direct calls that \p Call becomes.
static void nameCalleesOf(CallBase &Call, ArrayRef<Function *> Taken,
                          const VirtualTables &Tables, bool IsWhole,
                          Calls &Named) {
  std::optional<VirtualCall> Looked;
  const std::vector<Callee> Callees = calleesOf(Call, Taken, Tables, Looked);
  if (Callees.empty() || Callees.size() > MostCallees)
    return;
  for (const Callee &C : Callees)
    Named.insert(Looked ? &promoteCallWithVTableCmp(Call, Looked->Table, C.F,
                                                    C.Tables, nullptr)
                        : &promoteCallWithIfThenElse(Call, C.F));
  if (Looked) { // its address is needed here alone
    Instruction *Again = cast<LoadInst>(Call.getCalledOperand())->clone();
    Again->insertBefore(&Call);
    Call.setCalledOperand(Again);
  }
  if (!IsWhole)
    return;
  CallInst *Wrong =
      CallInst::Create(noFunction(*Call.getModule()), Call.getCalledOperand(),
                       "", Call.getIterator());
  Wrong->setDebugLoc(Call.getDebugLoc());
  changeToUnreachable(&Call);
}

/// \p Component is a recursion by calls of \p Named: its functions are to call
/// copies of each other.
static void unrollOnce(ArrayRef<Function *> Component) {
  DenseMap<Function *, Function *> Copies;
  for (Function *F : Component) {
    ValueToValueMapTy Map;
    Function *Copy = CloneFunction(F, Map);
    Copy->setName(F->getName() + "$again");
    Copy->setLinkage(GlobalValue::InternalLinkage);
    Copy->setComdat(nullptr);
    Copies[F] = Copy;
  }
  const auto callCopies = [&](Function &F) {
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (Function *Copy = Copies.lookup(Call->getCalledFunction()))
          Call->setCalledFunction(Copy);
  };
  for (auto [F, Copy] : Copies) {
    callCopies(*F);
    callCopies(*Copy);
  }
}

/// The recursions of \p M that have a call in \p Named.
static std::vector<std::vector<Function *>> recursionsBy(Module &M,
                                                         const Calls &Named) {
  std::vector<std::vector<Function *>> All;
  CallGraph Graph(M);
  for (auto It = scc_begin(&Graph); !It.isAtEnd(); ++It) {
    SmallPtrSet<const Function *, 8> In;
    for (const CallGraphNode *Node : *It)
      if (Node->getFunction())
        In.insert(Node->getFunction());
    const auto callsWithin = [&](const CallGraphNode *Node) {
      return any_of(*Node, [&](const CallGraphNode::CallRecord &Call) {
        return Call.first && Named.contains(cast<CallBase>(*Call.first)) &&
               In.contains(Call.second->getFunction());
      });
    };
    if (none_of(*It, callsWithin))
      continue;
    std::vector<Function *> &Component = All.emplace_back();
    for (Function &F : M) // in an order that does not hang on the graph's
      if (In.contains(&F))
        Component.push_back(&F);
  }
  return All;
}

void trapAtNoFunction(Module &M) {
  Function *Wrong = M.getFunction(analysis::NoFunction);
  if (!Wrong)
    return;
  for (User *U : make_early_inc_range(Wrong->users())) {
    auto *Call = cast<CallInst>(U);
    IRBuilder<>(Call).CreateIntrinsic(Intrinsic::trap, {}, {});
    Call->eraseFromParent();
  }
  Wrong->eraseFromParent();
}

void nameCallees(Module &M, bool IsWhole) {
  const std::vector<Function *> Taken = takenIn(M);
  if (Taken.empty())
    return;
  std::vector<CallBase *> Indirect;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->isIndirectCall())
        Indirect.push_back(Call);
  const VirtualTables Tables(M);
  Calls Named;
  for (CallBase *Call : Indirect)
    nameCalleesOf(*Call, Taken, Tables, IsWhole, Named);
  if (!Named.empty())
    for (const std::vector<Function *> &Component : recursionsBy(M, Named))
      unrollOnce(Component);
}

} // namespace reconverge::frontend
