//===- frontend/Remedied.cpp - Kernels with a remedy, and launches of them ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A remedy is tried on some launches, and may not run at all on others: it
// takes shared memory and registers, and a launch with larger blocks or more
// dynamic shared memory fails where the original's does not. So a program
// carries the original beside it, under its own name, and the host chooses at
// each launch:
//
//   stub, args --cudaLaunchKernel--> original                        before
//
//   stub, args --chosen--> stub             --cudaLaunchKernel--> original
//                     `--> remedied handle  --cudaLaunchKernel--> remedied
//
// In the host's code, before clang's own passes:
//
//   1. Each kernel with a remedy gets a handle, a byte of which the address
//      counts, registered for the remedied kernel beside the original.
//   2. Launches take what `reconverge.chosen` makes of the function that they
//      name: the handle if it is the kernel's stub and the launch is inside the
//      bounds, otherwise what it was.
//   3. Beyond 48 KiB a program first asks for room with cudaFuncSetAttribute.
//      What it asks for the original is asked for the remedied one as well, as
//      far as its bounds go; where that fails, launches with so much take the
//      original. The program sees the outcome of its own call alone.
//
// Whatever else the program does with its kernel (occupancy, attributes,
// graphs, cooperative launches) is with the original. So are launches with
// attributes of their own (clusters), and from code that was compiled without
// the remedy.
//
// Limitation: the signature of cudaLaunchKernel is that of x86-64; on another
// target, and with -disable-llvm-passes, all launches take the original.
//
//===----------------------------------------------------------------------===//

#include "frontend/Remedied.h"

#include "analysis/Numbering.h"
#include "analysis/SharedMemory.h"
#include "analysis/device/Annotations.h"
#include "core/Error.h"
#include "core/Remedied.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
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
            utostr(K.Static);
  return Text;
}

Expected<std::vector<RemediedKernel>> parseRemedied(StringRef Text) {
  std::vector<RemediedKernel> All;
  SmallVector<StringRef> Entries;
  Text.split(Entries, ';', -1, /*KeepEmpty=*/false);
  for (StringRef Entry : Entries) {
    SmallVector<StringRef, 5> Words;
    Entry.split(Words, '/');
    RemediedKernel K;
    if (Words.size() != 5 || Words[0].empty() || Words[1].empty() ||
        Words[2].getAsInteger(10, K.Bounds.Threads) ||
        Words[3].getAsInteger(10, K.Bounds.Shared) ||
        Words[4].getAsInteger(10, K.Static))
      return userError("'" + Entry + "' is no kernel with a remedy",
                       "Write <kernel>/<remedied>/<threads>/<shared>/<static>, "
                       "with ; between kernels.");
    K.Kernel = Words[0].str();
    K.Remedied = Words[1].str();
    All.push_back(std::move(K));
  }
  return All;
}

//===----------------------------------------------------------------------===//
// Host code
//===----------------------------------------------------------------------===//

/// cudaFuncAttributeMaxDynamicSharedMemorySize
static constexpr uint32_t MaxDynamicShared = 8;

namespace {
/// A remedied kernel in a module of host code.
struct Choice {
  const RemediedKernel *Facts;
  Value *Stub;             ///< what launches of the original name
  GlobalVariable *Handle;  ///< what those of the remedied one do
  GlobalVariable *Allowed; ///< dynamic bytes beyond the usual; null: not wanted
};

class HostCode {
public:
  HostCode(Module &M, ArrayRef<RemediedKernel> Kernels)
      : M(M), C(M.getContext()), Pointer(PointerType::getUnqual(C)),
        I32(Type::getInt32Ty(C)), I64(Type::getInt64Ty(C)), Kernels(Kernels) {}
  bool rewrite();

private:
  bool registerAll();
  Function *makeChosen();
  Function *makeAttribute(Function &Real);
  void redirect(CallBase &Launch, Value *Stub, Value *Threads, Value *Shared);
  bool redirectLaunches();
  bool redirectConfigured();
  bool redirectAttributes();
  template <typename Rewrite> bool forCalls(StringRef Name, Rewrite Each);

  Module &M;
  LLVMContext &C;
  Type *Pointer, *I32, *I64;
  ArrayRef<RemediedKernel> Kernels;
  SmallVector<Choice> Choices;
  Function *Chosen = nullptr;
};
} // namespace

/// Calls \p Each for the direct calls of the function \p Name, in order.
template <typename Rewrite>
bool HostCode::forCalls(StringRef Name, Rewrite Each) {
  Function *Callee = M.getFunction(Name);
  if (!Callee)
    return false;
  bool Any = false;
  for (Function &F : M)
    for (BasicBlock &BB : F)
      for (Instruction &I : make_early_inc_range(BB))
        if (auto *Call = dyn_cast<CallBase>(&I);
            Call && Call->getCalledOperand() == Callee)
          Any |= Each(*Call);
  return Any;
}

bool HostCode::registerAll() {
  return forCalls("__cudaRegisterFunction", [&](CallBase &Call) {
    StringRef Name;
    if (Call.arg_size() != 10 ||
        !getConstantStringInfo(Call.getArgOperand(2), Name))
      return false;
    const auto *K = find_if(
        Kernels, [&](const RemediedKernel &R) { return R.Kernel == Name; });
    if (K == Kernels.end())
      return false;
    auto MakeGlobal = [&](Type *Of, const Twine &Called) {
      return new GlobalVariable(M, Of, /*isConstant=*/false,
                                GlobalValue::InternalLinkage,
                                Constant::getNullValue(Of), Called);
    };
    Choice New{&*K, Call.getArgOperand(1),
               MakeGlobal(Type::getInt8Ty(C), K->Remedied + ".handle"),
               nullptr};
    if (K->Static + K->Bounds.Shared > analysis::UsualSharedLimit) {
      New.Allowed = MakeGlobal(I64, K->Remedied + ".allowed");
      New.Allowed->setAlignment(Align(8));
    }
    IRBuilder<> B(&Call);
    Value *Text = B.CreateGlobalString(K->Remedied);
    SmallVector<Value *> Arguments(Call.args());
    Arguments[1] = New.Handle;
    Arguments[2] = Arguments[3] = Text;
    B.CreateCall(Call.getFunctionType(), Call.getCalledOperand(), Arguments);
    Choices.push_back(New);
    return true;
  });
}

/// ptr chosen(ptr stub, i64 threads, i64 shared)
Function *HostCode::makeChosen() {
  auto *F =
      Function::Create(FunctionType::get(Pointer, {Pointer, I64, I64}, false),
                       GlobalValue::InternalLinkage, "reconverge.chosen", M);
  F->addFnAttr(Attribute::NoUnwind);
  IRBuilder<> B(BasicBlock::Create(C, "", F));
  Value *Stub = F->getArg(0), *Threads = F->getArg(1), *Shared = F->getArg(2);
  Value *Result = Stub;
  for (const Choice &K : Choices) {
    const LaunchBounds &Bounds = K.Facts->Bounds;
    Value *Most = B.getInt64(Bounds.Shared);
    if (K.Allowed) {
      LoadInst *Allowed = B.CreateAlignedLoad(I64, K.Allowed, Align(8));
      Allowed->setAtomic(AtomicOrdering::Monotonic);
      const uint64_t Usual =
          analysis::UsualSharedLimit -
          std::min(analysis::UsualSharedLimit, K.Facts->Static);
      Most =
          B.CreateBinaryIntrinsic(Intrinsic::umax, Allowed, B.getInt64(Usual));
    }
    Value *IsIn = B.CreateAnd(
        B.CreateICmpEQ(Stub, K.Stub),
        B.CreateAnd(B.CreateICmpULE(Threads, B.getInt64(Bounds.Threads)),
                    B.CreateICmpULE(Shared, Most)));
    Result = B.CreateSelect(IsIn, K.Handle, Result);
  }
  B.CreateRet(Result);
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
bool HostCode::redirectLaunches() {
  bool Any = false;
  for (StringRef Name : {"cudaLaunchKernel", "cudaLaunchKernel_ptsz"})
    Any |= forCalls(Name, [&](CallBase &Call) {
      if (Call.arg_size() != 8 || Call.getArgOperand(3)->getType() != I64 ||
          Call.getArgOperand(4)->getType() != I32 ||
          Call.getArgOperand(6)->getType() != I64 ||
          !mayBeOne(Call.getArgOperand(0), Choices))
        return false;
      IRBuilder<> B(&Call);
      Value *Xy = Call.getArgOperand(3);
      Value *Threads =
          B.CreateMul(B.CreateMul(B.CreateAnd(Xy, B.getInt64(UINT32_MAX)),
                                  B.CreateLShr(Xy, uint64_t(32))),
                      B.CreateZExt(Call.getArgOperand(4), I64));
      redirect(Call, Call.getArgOperand(0), Threads, Call.getArgOperand(6));
      return true;
    });
  return Any;
}

/// cudaLaunchKernelExC(configuration, stub, args)
bool HostCode::redirectConfigured() {
  // Offsets in cudaLaunchConfig_t: three dimensions of grid and of block, the
  // dynamic shared memory, the stream, attributes and their number.
  constexpr uint64_t Block = 12, Shared = 24, Attributes = 48;
  bool Any = false;
  for (StringRef Name : {"cudaLaunchKernelExC", "cudaLaunchKernelExC_ptsz"})
    Any |= forCalls(Name, [&](CallBase &Call) {
      if (Call.arg_size() != 3 || !mayBeOne(Call.getArgOperand(1), Choices))
        return false;
      IRBuilder<> B(&Call);
      auto Read = [&](Type *Of, uint64_t Offset) {
        Value *At =
            B.CreateConstGEP1_64(B.getInt8Ty(), Call.getArgOperand(0), Offset);
        return B.CreateZExt(B.CreateAlignedLoad(Of, At, Align(4)), I64);
      };
      Value *Threads =
          B.CreateMul(B.CreateMul(Read(I32, Block), Read(I32, Block + 4)),
                      Read(I32, Block + 8));
      // With attributes, more than any bound.
      Value *IsPlain = B.CreateIsNull(Read(I32, Attributes));
      Threads = B.CreateSelect(IsPlain, Threads, B.getInt64(UINT64_MAX));
      redirect(Call, Call.getArgOperand(1), Threads, Read(I64, Shared));
      return true;
    });
  return Any;
}

bool HostCode::redirectAttributes() {
  Function *Real = M.getFunction("cudaFuncSetAttribute");
  if (!Real || Real->arg_size() != 3)
    return false;
  SmallVector<CallBase *> Calls;
  forCalls(Real->getName(), [&](CallBase &Call) {
    if (mayBeOne(Call.getArgOperand(0), Choices))
      Calls.push_back(&Call);
    return true;
  });
  if (Calls.empty())
    return false;
  Function *Ours = makeAttribute(*Real);
  for (CallBase *Call : Calls)
    Call->setCalledFunction(Ours);
  return true;
}

bool HostCode::rewrite() {
  if (!registerAll())
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
