//===- frontend/Managed.cpp - __managed__ variables -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clang 19 knows them for HIP alone. Our overlay's __managed__ makes a
// __device__ variable with an annotation, and here it becomes what nvcc makes:
//
//   device   x stays a variable, marked managed: PTX's .attribute(.managed)
//   host     clang's stand-in for x goes. The runtime is given the place of a
//            pointer when the program registers its device code, and sets it
//            when the module is initialised, at the first use of any managed
//            variable of the module:
//
//     __cudaRegisterVar(h, &x, ...)   __cudaRegisterManagedVar(h, &x.managed,
//     ...)
//     ... x ...                       ... *managed(&x.managed) ...
//
//     managed(at):  if (!ready) ready = __cudaInitModule(h);
//                   return *at;
//
// A static initial value of the host's that has the address of a managed
// variable in it is stored when the program starts, after it has registered its
// device code. In a device variable it is refused, as by nvcc.
//
// Limitation: a debugger does not see the host's name of the variable.
//
//===----------------------------------------------------------------------===//

#include "frontend/Managed.h"

#include "analysis/device/Annotations.h"
#include "core/Error.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace reconverge::frontend {

/// As the overlay has it (overlay/clang/__clang_cuda_runtime_wrapper.h).
static constexpr StringLiteral Annotation = "reconverge.managed";
static constexpr StringLiteral Annotations = "llvm.global.annotations";
/// NVVM's word for a managed variable.
static constexpr StringLiteral Note = "managed";

//===----------------------------------------------------------------------===//
// Finding them
//===----------------------------------------------------------------------===//

/// The managed variables of \p M, in its order. Their annotations are gone.
static SmallVector<GlobalVariable *> takeManagedVariables(Module &M) {
  SmallVector<GlobalVariable *> Managed;
  GlobalVariable *All = M.getNamedGlobal(Annotations);
  if (!All || !All->hasInitializer())
    return Managed;
  SmallVector<Constant *> Others;
  for (Use &Entry : cast<Constant>(All->getInitializer())->operands()) {
    auto *Fields = cast<Constant>(Entry);
    auto *G = dyn_cast<GlobalVariable>(
        Fields->getAggregateElement(0u)->stripPointerCasts());
    StringRef Text;
    if (G && getConstantStringInfo(Fields->getAggregateElement(1), Text) &&
        Text == Annotation)
      Managed.push_back(G);
    else
      Others.push_back(Fields);
  }
  if (Managed.empty())
    return Managed;
  if (!Others.empty()) {
    auto *T = ArrayType::get(Others.front()->getType(), Others.size());
    auto *Rest = new GlobalVariable(M, T, All->isConstant(), All->getLinkage(),
                                    ConstantArray::get(T, Others), "", All,
                                    GlobalVariable::NotThreadLocal,
                                    All->getAddressSpace());
    Rest->copyAttributesFrom(All);
    Rest->takeName(All);
  }
  All->eraseFromParent();
  return Managed;
}

/// The variables whose initial values \p C is in.
static void collectInitialised(const Constant &C,
                               SetVector<GlobalVariable *> &Variables) {
  for (const User *U : C.users())
    if (auto *G = dyn_cast<GlobalVariable>(U))
      Variables.insert(const_cast<GlobalVariable *>(G));
    else if (auto *Around = dyn_cast<Constant>(U))
      collectInitialised(*Around, Variables);
}

Error markManagedVariables(Module &M) {
  LLVMContext &C = M.getContext();
  for (GlobalVariable *G : takeManagedVariables(M)) {
    SetVector<GlobalVariable *> Variables;
    collectInitialised(*G, Variables);
    for (const GlobalVariable *Holder : Variables)
      if (!Holder->getName().starts_with("llvm."))
        return userError("the initial value of device variable '" +
                             demangle(Holder->getName()) +
                             "' is the address of the managed variable '" +
                             demangle(G->getName()) +
                             "', which is not known before the program runs",
                         "Set it in a kernel.");
    M.getOrInsertNamedMetadata(analysis::AnnotationsName)
        ->addOperand(
            MDNode::get(C, {ValueAsMetadata::get(G), MDString::get(C, Note),
                            ConstantAsMetadata::get(
                                ConstantInt::get(Type::getInt32Ty(C), 1))}));
  }
  return Error::success();
}

bool hasManagedVariables(const Module &M) {
  const NamedMDNode *All = M.getNamedMetadata(analysis::AnnotationsName);
  return All && any_of(All->operands(), [](const MDNode *N) {
           auto *Word = N->getNumOperands() > 1
                            ? dyn_cast_or_null<MDString>(N->getOperand(1))
                            : nullptr;
           return Word && Word->getString() == Note;
         });
}

//===----------------------------------------------------------------------===//
// The host's side
//===----------------------------------------------------------------------===//

/// ptr managed(ptr at): what the runtime has put there, once it has.
static Function *accessor(Module &M) {
  LLVMContext &C = M.getContext();
  IRBuilder<> B(C);
  Type *Pointer = B.getPtrTy(), *Byte = B.getInt8Ty();
  auto *F =
      Function::Create(FunctionType::get(Pointer, {Pointer}, false),
                       GlobalValue::InternalLinkage, "reconverge.managed", M);
  F->addFnAttr(Attribute::AlwaysInline);
  F->setDoesNotThrow();
  auto *Ready = new GlobalVariable(M, Byte, false, GlobalValue::InternalLinkage,
                                   B.getInt8(0), "reconverge.managed.ready");
  auto *Entry = BasicBlock::Create(C, "entry", F),
       *First = BasicBlock::Create(C, "first", F),
       *Done = BasicBlock::Create(C, "done", F);
  B.SetInsertPoint(Entry);
  B.CreateCondBr(B.CreateIsNull(B.CreateLoad(Byte, Ready)), First, Done);
  B.SetInsertPoint(First);
  // Where no device code is inside, clang has made none.
  GlobalVariable *Handle = M.getNamedGlobal("__cuda_gpubin_handle");
  Value *Module =
      Handle ? B.CreateLoad(Pointer, Handle)
             : static_cast<Value *>(ConstantPointerNull::get(B.getPtrTy()));
  B.CreateStore(
      B.CreateCall(M.getOrInsertFunction("__cudaInitModule", Byte, Pointer),
                   {Module}),
      Ready);
  B.CreateBr(Done);
  B.SetInsertPoint(Done);
  B.CreateRet(B.CreateLoad(Pointer, F->getArg(0)));
  return F;
}

/// Whether \p I is where clang's constructor registers \p X; if so, it
/// registers \p Place as a managed one's.
static bool registers(Instruction &I, GlobalVariable &X,
                      GlobalVariable *Place) {
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  if (!Callee || Callee->getName() != "__cudaRegisterVar")
    return false;
  Call->setCalledFunction(X.getParent()->getOrInsertFunction(
      "__cudaRegisterManagedVar", Call->getFunctionType()));
  Call->replaceUsesOfWith(&X, Place);
  return true;
}

/// Has the program set, when it starts and after it has registered its device
/// code, what the address of \p X is a part of.
static void initialiseAtStart(GlobalVariable &X) {
  SetVector<GlobalVariable *> Variables;
  collectInitialised(X, Variables);
  if (Variables.empty())
    return;
  Module &M = *X.getParent();
  LLVMContext &C = M.getContext();
  auto *F = Function::Create(FunctionType::get(Type::getVoidTy(C), false),
                             GlobalValue::InternalLinkage,
                             X.getName() + ".managed.users", M);
  IRBuilder<> B(BasicBlock::Create(C, "", F));
  for (GlobalVariable *G : Variables) {
    if (G->isThreadLocal())
      C.emitError("the initial value of the thread_local variable '" +
                  demangle(G->getName()) +
                  "' is the address of the managed variable '" +
                  demangle(X.getName()) +
                  "', which is not known before the program runs: set it in a "
                  "function");
    B.CreateStore(G->getInitializer(), G);
    G->setInitializer(Constant::getNullValue(G->getValueType()));
    G->setConstant(false);
  }
  B.CreateRetVoid();
  appendToGlobalCtors(M, F, 65535);
}

static void redirect(GlobalVariable &X, Function &Accessor) {
  Module &M = *X.getParent();
  removeFromUsedLists(M, [&](Constant *C) { return C == &X; });
  auto *Pointer = PointerType::getUnqual(M.getContext());
  auto *Place = new GlobalVariable(
      M, Pointer, false, GlobalValue::InternalLinkage,
      ConstantPointerNull::get(Pointer), X.getName() + ".managed");
  initialiseAtStart(X);
  convertUsersOfConstantsToInstructions({&X});
  SetVector<Instruction *> Users;
  for (User *U : X.users())
    if (auto *I = dyn_cast<Instruction>(U))
      Users.insert(I);
  auto AddressBefore = [&](Instruction *At) {
    return IRBuilder<>(At).CreateCall(&Accessor, {Place});
  };
  for (Instruction *I : Users)
    if (auto *Phi = dyn_cast<PHINode>(I)) {
      for (BasicBlock *From :
           SetVector<BasicBlock *>(Phi->block_begin(), Phi->block_end()))
        if (Phi->getIncomingValueForBlock(From) == &X)
          Phi->setIncomingValueForBlock(From,
                                        AddressBefore(From->getTerminator()));
    } else if (!registers(*I, X, Place)) {
      I->replaceUsesOfWith(&X, AddressBefore(I));
    }
  X.removeDeadConstantUsers();
  X.replaceAllUsesWith(PoisonValue::get(X.getType())); // an alias' at most
  X.eraseFromParent();
}

PreservedAnalyses ManagedVariablesPass::run(Module &M,
                                            ModuleAnalysisManager &) {
  if (Triple(M.getTargetTriple()).isNVPTX()) {
    if (Error E = markManagedVariables(M))
      M.getContext().emitError(toString(std::move(E)));
    return PreservedAnalyses::none();
  }
  const SmallVector<GlobalVariable *> Managed = takeManagedVariables(M);
  if (Managed.empty())
    return PreservedAnalyses::all();
  Function *Accessor = accessor(M);
  for (GlobalVariable *X : Managed)
    redirect(*X, *Accessor);
  return PreservedAnalyses::none();
}

} // namespace reconverge::frontend
