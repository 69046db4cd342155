//===- frontend/RemediedLaunches.cpp - Launches that choose ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   stub, args --cudaLaunchKernel--> original                        before
//
//   stub, args --chosen--> stub             --cudaLaunchKernel--> original
//                     `--> remedied handle  --cudaLaunchKernel--> remedied
//
//   stub, args --reconverge.launch--> reconverge_launch by a recipe, or
//                               `--> cudaLaunchKernel as above
//
// In the host's code, before clang's own passes:
//
//   1. Each kernel with a remedy gets a handle: a one-byte variable whose
//      address is registered as the host symbol of the remedied kernel, as the
//      stub is for the original. So does each kernel of its recipe, if it has
//      one.
//   2. Launches pass `reconverge.chosen(stub)` in place of the stub.
//      `reconverge.chosen` returns the handle if the launch is inside the
//      bounds (threads of a block, dynamic shared memory) and the kernel has no
//      recipe; otherwise it returns its argument.
//   3. Where a remedy has a recipe, `reconverge.launch` stands for
//      cudaLaunchKernel. It calls the archive (launch/Archive.h) for kernels
//      with a recipe. Where the recipe does not apply it launches the original;
//      kernels without a recipe are launched as in 2.
//   4. Beyond 48 KiB a program first asks for room with cudaFuncSetAttribute.
//      Each attribute that the program sets for the original with a direct call
//      of cudaFuncSetAttribute is set for the remedied kernel as well, unless
//      an earlier error is still unread; the shared memory size is capped at
//      the bounds. If setting the size fails, launches that need it take the
//      original. The program sees only the result of its own call.
//
// Everything else that the program does with the kernel uses the original:
// occupancy queries, cudaFuncGetAttributes, graph kernel nodes, cooperative
// launches, calls through function pointers, launches with attributes of their
// own (clusters), all of cudaLaunchKernelExC's where there is a recipe, and
// launches from code that was compiled without the remedy.
//
// Limitation: the signature of cudaLaunchKernel is that of x86-64; on another
// target, and with -disable-llvm-passes, all launches take the original.
//
//===----------------------------------------------------------------------===//

#include "frontend/RemediedLaunches.h"

#include "analysis/SharedMemory.h"
#include "launch/RecipeText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace reconverge::frontend {

/// cudaFuncAttributeMaxDynamicSharedMemorySize
static constexpr uint32_t MaxDynamicShared = 8;

namespace {
/// A remedied kernel in a module of host code.
struct Choice {
  const RemediedKernel *Facts;
  Value *Stub;             ///< what launches of the original name
  GlobalVariable *Handle;  ///< what those of the remedied one do
  GlobalVariable *Allowed; ///< dynamic bytes beyond the usual; null: not wanted
  GlobalVariable *Recipe;  ///< a reconverge_recipe; null: launched as before
};

class HostCode {
public:
  HostCode(Module &M, ArrayRef<RemediedKernel> Kernels)
      : M(M), C(M.getContext()), Pointer(PointerType::getUnqual(C)),
        I32(Type::getInt32Ty(C)), I64(Type::getInt64Ty(C)), Kernels(Kernels) {}
  bool rewrite();

private:
  GlobalVariable *makeGlobal(Constant *Initial, const Twine &Called);
  GlobalVariable *registerAs(CallBase &Original, StringRef Kernel);
  GlobalVariable *makeRecipe(const RemediedKernel &K, CallBase &Original,
                             GlobalVariable *Handle);
  void registerAll();
  Value *isFor(const Choice &K, IRBuilder<> &B, Value *Stub, Value *Threads,
               Value *Shared);
  Function *makeChosen();
  Function *makeLaunch(Function &Real);
  void callArchive(const Choice &K, Function &Launch, IRBuilder<> &B);
  Function *makeAttribute(Function &Real);
  void redirect(CallBase &Launch, Value *Stub, Value *Threads, Value *Shared);
  void redirectLaunches();
  void redirectConfigured();
  void redirectAttributes();
  SmallVector<CallBase *> callsOf(StringRef Name);

  Module &M;
  LLVMContext &C;
  Type *Pointer, *I32, *I64;
  ArrayRef<RemediedKernel> Kernels;
  SmallVector<Choice> Choices;
  Function *Chosen = nullptr;
};
} // namespace

/// The direct calls of the function \p Name, in order.
SmallVector<CallBase *> HostCode::callsOf(StringRef Name) {
  SmallVector<CallBase *> Calls;
  const Function *Callee = M.getFunction(Name);
  if (!Callee)
    return Calls;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I);
          Call && Call->getCalledOperand() == Callee)
        Calls.push_back(Call);
  return Calls;
}

GlobalVariable *HostCode::makeGlobal(Constant *Initial, const Twine &Called) {
  return new GlobalVariable(M, Initial->getType(), /*isConstant=*/false,
                            GlobalValue::InternalLinkage, Initial, Called);
}

/// Registers \p Kernel as \p Original registers another. Returns its handle.
GlobalVariable *HostCode::registerAs(CallBase &Original, StringRef Kernel) {
  GlobalVariable *Handle =
      makeGlobal(ConstantInt::get(Type::getInt8Ty(C), 0), Kernel + ".handle");
  IRBuilder<> B(&Original);
  SmallVector<Value *> Arguments(Original.args());
  Arguments[1] = Handle;
  Arguments[2] = Arguments[3] = B.CreateGlobalString(Kernel);
  B.CreateCall(Original.getFunctionType(), Original.getCalledOperand(),
               Arguments);
  return Handle;
}

/// The reconverge_recipe of \p K: text, stub, handles, and null. \p Handle is that
/// of the remedied kernel itself.
GlobalVariable *HostCode::makeRecipe(const RemediedKernel &K,
                                     CallBase &Original,
                                     GlobalVariable *Handle) {
  const auto Launch = launch::parseRecipe(K.Recipe); // as it was read before
  SmallVector<Constant *> Handles;
  for (const RecipeStep &Step : Launch->Steps)
    Handles.push_back(
        Step.Kernel == K.Remedied ? Handle : registerAs(Original, Step.Kernel));
  GlobalVariable *Table = makeGlobal(
      ConstantArray::get(ArrayType::get(Pointer, Handles.size()), Handles),
      K.Remedied + ".handles");
  IRBuilder<> B(&Original);
  return makeGlobal(
      ConstantStruct::getAnon({B.CreateGlobalString(K.Recipe),
                               cast<Constant>(Original.getArgOperand(1)), Table,
                               Constant::getNullValue(Pointer)}),
      K.Remedied + ".recipe");
}

void HostCode::registerAll() {
  for (CallBase *Call : callsOf("__cudaRegisterFunction")) {
    StringRef Name;
    if (Call->arg_size() != 10 || !isa<Constant>(Call->getArgOperand(1)) ||
        !getConstantStringInfo(Call->getArgOperand(2), Name))
      continue;
    const auto *K = find_if(
        Kernels, [&](const RemediedKernel &R) { return R.Kernel == Name; });
    if (K == Kernels.end())
      continue;
    Choice New{K, Call->getArgOperand(1), registerAs(*Call, K->Remedied),
               nullptr, nullptr};
    if (K->Static + K->Bounds.Shared > analysis::UsualSharedLimit) {
      New.Allowed =
          makeGlobal(ConstantInt::get(I64, 0), K->Remedied + ".allowed");
      New.Allowed->setAlignment(Align(8));
    }
    if (!K->Recipe.empty())
      New.Recipe = makeRecipe(*K, *Call, New.Handle);
    Choices.push_back(New);
  }
}

/// Whether a launch of \p Stub is one for the remedied kernel of \p K.
Value *HostCode::isFor(const Choice &K, IRBuilder<> &B, Value *Stub,
                       Value *Threads, Value *Shared) {
  const LaunchBounds &Bounds = K.Facts->Bounds;
  Value *Most = B.getInt64(Bounds.Shared);
  if (K.Allowed) {
    LoadInst *Allowed = B.CreateAlignedLoad(I64, K.Allowed, Align(8));
    Allowed->setAtomic(AtomicOrdering::Monotonic);
    const uint64_t Usual =
        analysis::UsualSharedLimit -
        std::min(analysis::UsualSharedLimit, K.Facts->Static);
    Most = B.CreateBinaryIntrinsic(Intrinsic::umax, Allowed, B.getInt64(Usual));
  }
  return B.CreateAnd(
      B.CreateICmpEQ(Stub, K.Stub),
      B.CreateAnd(B.CreateICmpULE(Threads, B.getInt64(Bounds.Threads)),
                  B.CreateICmpULE(Shared, Most)));
}

/// ptr chosen(ptr stub, i64 threads, i64 shared)
Function *HostCode::makeChosen() {
  auto *F =
      Function::Create(FunctionType::get(Pointer, {Pointer, I64, I64}, false),
                       GlobalValue::InternalLinkage, "reconverge.chosen", M);
  F->addFnAttr(Attribute::NoUnwind);
  IRBuilder<> B(BasicBlock::Create(C, "", F));
  Value *Stub = F->getArg(0), *Result = Stub;
  for (const Choice &K : Choices)
    if (!K.Recipe)
      Result = B.CreateSelect(isFor(K, B, Stub, F->getArg(1), F->getArg(2)),
                              K.Handle, Result);
  B.CreateRet(Result);
  return F;
}

/// Threads of a block of the shape that cudaLaunchKernel gets as \p Xy, \p Z.
static Value *threadsOf(IRBuilder<> &B, Value *Xy, Value *Z) {
  return B.CreateMul(B.CreateMul(B.CreateAnd(Xy, B.getInt64(UINT32_MAX)),
                                 B.CreateLShr(Xy, uint64_t(32))),
                     B.CreateZExt(Z, B.getInt64Ty()));
}

/// Calls reconverge_launch for \p Launch, which has cudaLaunchKernel's
/// parameters and returns if it was done.
void HostCode::callArchive(const Choice &K, Function &Launch, IRBuilder<> &B) {
  Type *Sizes = ArrayType::get(I32, 3);
  auto Store = [&](Value *Xy, Value *Z) {
    Value *At = B.CreateAlloca(Sizes);
    B.CreateAlignedStore(Xy, At, Align(4)); // x and y: little-endian
    B.CreateStore(Z, B.CreateConstGEP2_32(Sizes, At, 0, 2));
    return At;
  };
  Value *IsOriginal = B.CreateAlloca(I32);
  FunctionCallee Archive =
      M.getOrInsertFunction("reconverge_launch", I32, Pointer, Pointer, Pointer,
                            Pointer, I64, Pointer, I32, Pointer);
  const bool OwnStream = Launch.getName().ends_with("_ptsz");
  Value *Error = B.CreateCall(
      Archive,
      {K.Recipe, Store(Launch.getArg(1), Launch.getArg(2)),
       Store(Launch.getArg(3), Launch.getArg(4)), Launch.getArg(5),
       Launch.getArg(6), Launch.getArg(7), B.getInt32(OwnStream), IsOriginal});
  auto *Done = BasicBlock::Create(C, "done", &Launch),
       *Original = BasicBlock::Create(C, "original", &Launch);
  B.CreateCondBr(B.CreateIsNull(B.CreateLoad(I32, IsOriginal)), Done, Original);
  B.SetInsertPoint(Done);
  B.CreateRet(Error);
  B.SetInsertPoint(Original);
}

/// What stands for \p Real, which is cudaLaunchKernel or its twin.
Function *HostCode::makeLaunch(Function &Real) {
  const bool OwnStream = Real.getName().ends_with("_ptsz");
  auto *F = Function::Create(
      Real.getFunctionType(), GlobalValue::InternalLinkage,
      OwnStream ? "reconverge.launch_ptsz" : "reconverge.launch", M);
  IRBuilder<> B(BasicBlock::Create(C, "", F));
  for (const Choice &K : Choices) {
    if (!K.Recipe)
      continue;
    auto *By = BasicBlock::Create(C, "recipe", F),
         *Next = BasicBlock::Create(C, "next", F);
    B.CreateCondBr(isFor(K, B, F->getArg(0),
                         threadsOf(B, F->getArg(3), F->getArg(4)),
                         F->getArg(6)),
                   By, Next);
    B.SetInsertPoint(By);
    callArchive(K, *F, B);
    B.CreateBr(Next);
    B.SetInsertPoint(Next);
  }
  SmallVector<Value *> Arguments;
  for (Argument &A : F->args())
    Arguments.push_back(&A);
  B.CreateRet(B.CreateCall(&Real, Arguments));
  return F;
}

/// i32 attribute(ptr stub, i32 attribute, i32 value), in place of \p Real.
Function *HostCode::makeAttribute(Function &Real) {
  auto *F =
      Function::Create(Real.getFunctionType(), GlobalValue::InternalLinkage,
                       "reconverge.attribute", M);
  FunctionCallee Peek = M.getOrInsertFunction("cudaPeekAtLastError", I32),
                 Clear = M.getOrInsertFunction("cudaGetLastError", I32);
  Value *Stub = F->getArg(0), *What = F->getArg(1), *Given = F->getArg(2);
  IRBuilder<> B(BasicBlock::Create(C, "", F));
  CallInst *Own = B.CreateCall(&Real, {Stub, What, Given});
  B.CreateRet(Own);
  for (const Choice &K : Choices) {
    B.SetInsertPoint(Own);
    Instruction *End = SplitBlockAndInsertIfThen(B.CreateICmpEQ(Stub, K.Stub),
                                                 Own, /*Unreachable=*/false);
    B.SetInsertPoint(End);
    // An error that the program has not looked at yet would be lost.
    End = SplitBlockAndInsertIfThen(B.CreateIsNull(B.CreateCall(Peek)), End,
                                    /*Unreachable=*/false);
    B.SetInsertPoint(End);
    Value *IsSize = B.CreateICmpEQ(What, B.getInt32(MaxDynamicShared));
    Value *Size = B.CreateBinaryIntrinsic(
        Intrinsic::smin, Given, B.getInt32(uint32_t(K.Facts->Bounds.Shared)));
    Value *HasFailed = B.CreateIsNotNull(B.CreateCall(
        &Real, {K.Handle, What, B.CreateSelect(IsSize, Size, Given)}));
    if (K.Allowed) {
      LoadInst *Before = B.CreateAlignedLoad(I64, K.Allowed, Align(8));
      Before->setAtomic(AtomicOrdering::Monotonic);
      Value *Room = B.CreateZExt(
          B.CreateBinaryIntrinsic(Intrinsic::smax, Size, B.getInt32(0)), I64);
      Value *Now = B.CreateSelect(HasFailed, B.getInt64(0), Room);
      B.CreateAlignedStore(B.CreateSelect(IsSize, Now, Before), K.Allowed,
                           Align(8))
          ->setAtomic(AtomicOrdering::Monotonic);
    }
    B.SetInsertPoint(
        SplitBlockAndInsertIfThen(HasFailed, End, /*Unreachable=*/false));
    B.CreateCall(Clear);
  }
  return F;
}

/// Has \p Launch of \p Stub choose.
void HostCode::redirect(CallBase &Launch, Value *Stub, Value *Threads,
                        Value *Shared) {
  IRBuilder<> B(&Launch);
  Value *Now = B.CreateCall(Chosen, {Stub, Threads, Shared});
  Launch.replaceUsesOfWith(Stub, Now);
}

/// Whether a launch of \p Stub, a constant or not, may be one of a remedy's.
static bool mayBeOne(const Value *Stub, ArrayRef<Choice> Choices) {
  return !isa<Function>(Stub) ||
         any_of(Choices, [&](const Choice &K) { return K.Stub == Stub; });
}

/// cudaLaunchKernel(stub, grid x and y, grid z, block x and y, block z, args,
/// shared, stream)
void HostCode::redirectLaunches() {
  const bool HasRecipes =
      any_of(Choices, [](const Choice &K) { return K.Recipe != nullptr; });
  for (StringRef Name : {"cudaLaunchKernel", "cudaLaunchKernel_ptsz"}) {
    SmallVector<CallBase *> Calls = callsOf(Name);
    erase_if(Calls, [&](CallBase *Call) {
      return Call->arg_size() != 8 ||
             Call->getArgOperand(3)->getType() != I64 ||
             Call->getArgOperand(4)->getType() != I32 ||
             Call->getArgOperand(6)->getType() != I64 ||
             !mayBeOne(Call->getArgOperand(0), Choices);
    });
    Function *Ours = HasRecipes && !Calls.empty()
                         ? makeLaunch(*Calls.front()->getCalledFunction())
                         : nullptr;
    for (CallBase *Call : Calls) {
      IRBuilder<> B(Call);
      redirect(*Call, Call->getArgOperand(0),
               threadsOf(B, Call->getArgOperand(3), Call->getArgOperand(4)),
               Call->getArgOperand(6));
      if (Ours)
        Call->setCalledFunction(Ours);
    }
  }
}

/// cudaLaunchKernelExC(configuration, stub, args)
void HostCode::redirectConfigured() {
  // Offsets in cudaLaunchConfig_t: three dimensions of grid and of block, the
  // dynamic shared memory, the stream, attributes and their number.
  constexpr uint64_t Block = 12, Shared = 24, Attributes = 48;
  for (StringRef Name : {"cudaLaunchKernelExC", "cudaLaunchKernelExC_ptsz"})
    for (CallBase *Call : callsOf(Name)) {
      if (Call->arg_size() != 3 || !mayBeOne(Call->getArgOperand(1), Choices))
        continue;
      IRBuilder<> B(Call);
      auto Read = [&](Type *Of, uint64_t Offset) {
        Value *At =
            B.CreateConstGEP1_64(B.getInt8Ty(), Call->getArgOperand(0), Offset);
        return B.CreateZExt(B.CreateAlignedLoad(Of, At, Align(4)), I64);
      };
      Value *Threads =
          B.CreateMul(B.CreateMul(Read(I32, Block), Read(I32, Block + 4)),
                      Read(I32, Block + 8));
      // With attributes, more than any bound.
      Value *IsPlain = B.CreateIsNull(Read(I32, Attributes));
      Threads = B.CreateSelect(IsPlain, Threads, B.getInt64(UINT64_MAX));
      redirect(*Call, Call->getArgOperand(1), Threads, Read(I64, Shared));
    }
}

void HostCode::redirectAttributes() {
  Function *Real = M.getFunction("cudaFuncSetAttribute");
  if (!Real || Real->arg_size() != 3)
    return;
  SmallVector<CallBase *> Calls = callsOf(Real->getName());
  erase_if(Calls, [&](CallBase *Call) {
    return !mayBeOne(Call->getArgOperand(0), Choices);
  });
  if (Calls.empty())
    return;
  Function *Ours = makeAttribute(*Real);
  for (CallBase *Call : Calls)
    Call->setCalledFunction(Ours);
}

bool HostCode::rewrite() {
  registerAll();
  if (Choices.empty())
    return false;
  Chosen = makeChosen();
  redirectLaunches();
  redirectConfigured();
  redirectAttributes();
  return true;
}

PreservedAnalyses RemediedLaunchesPass::run(Module &M,
                                            ModuleAnalysisManager &) {
  const Triple Target(M.getTargetTriple());
  if (Kernels.empty() || Target.getArch() != Triple::x86_64)
    return PreservedAnalyses::all();
  return HostCode(M, Kernels).rewrite() ? PreservedAnalyses::none()
                                        : PreservedAnalyses::all();
}

} // namespace reconverge::frontend
