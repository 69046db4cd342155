//===- FakeMachine.cpp - A machine that runs nothing ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FakeMachine.h"

#include "analysis/Numbering.h"
#include "analysis/device/Annotations.h"
#include "analysis/device/Architecture.h"
#include "core/ContainerIO.h"
#include "core/Error.h"
#include "runtime/vm/Api.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <cstring>

using namespace llvm;

namespace reconverge::fake {

Calls &calls() {
  static Calls C;
  return C;
}

namespace {

class FakeKernel : public warpvm::Kernel {
public:
  FakeKernel(Function &F, uint64_t Shared) : F(F), Shared(Shared) {
    uint64_t Offset = 0;
    for (const Argument &A : F.args()) {
      const uint64_t Size =
          F.getParent()->getDataLayout().getTypeAllocSize(A.getType());
      Offset = alignTo(Offset, Size);
      Parameters.push_back({Offset, Size});
      Offset += Size;
    }
  }
  StringRef name() const override { return F.getName(); }
  Function &function() const override { return F; }
  uint64_t staticShared() const override { return Shared; }
  uint64_t localBytes() const override { return 16; }
  unsigned launchBound() const override { return analysis::launchBound(F); }
  ArrayRef<uint64_t> cluster() const override { return {}; }
  unsigned architecture() const override {
    return analysis::architectureOf(F).value_or(0);
  }
  ArrayRef<std::pair<uint64_t, uint64_t>> parameters() const override {
    return Parameters;
  }

private:
  Function &F;
  uint64_t Shared;
  std::vector<std::pair<uint64_t, uint64_t>> Parameters;
};

class FakeProgram : public warpvm::Program {
public:
  LLVMContext Context;
  std::unique_ptr<Module> M;
  std::map<std::string, std::pair<void *, uint64_t>> Variables;
  std::vector<std::unique_ptr<FakeKernel>> Kernels;

  StringRef hash() const override { return "0123456789abcdef"; }
  Module &module() const override { return *M; }
  Expected<warpvm::Kernel *> kernel(StringRef Name) override {
    for (auto &K : Kernels)
      if (K->name() == Name)
        return K.get();
    Function *F = M->getFunction(Name);
    if (!F)
      return nullptr;
    if (F->hasFnAttribute("refuse"))
      return userError("app.cu:7: kernel '" + Name + "' uses a texture",
                       "The warp VM has none.");
    uint64_t Shared = 0;
    F->getFnAttribute("shared").getValueAsString().getAsInteger(10, Shared);
    Kernels.push_back(std::make_unique<FakeKernel>(*F, Shared));
    return Kernels.back().get();
  }
  Expected<std::pair<void *, uint64_t>> variable(StringRef Name) override {
    auto Found = Variables.find(Name.str());
    if (Found == Variables.end())
      return userError("no variable '" + Name + "'");
    return Found->second;
  }
};

class FakeMachine : public warpvm::Machine {
public:
  explicit FakeMachine(OnLaunch Run) : Run(std::move(Run)) {}

  std::string describe() const override { return "no CPU at all"; }

  Expected<std::unique_ptr<warpvm::Program>>
  load(warpvm::DeviceCode Code,
       const warpvm::VariableAllocator &Allocate) override {
    if (Code.Check)
      if (Error E = Code.Check())
        return std::move(E);
    ++calls().Loads;
    auto P = std::make_unique<FakeProgram>();
    SMDiagnostic Diagnostic;
    P->M = parseAssembly(Code.Bitcode, Diagnostic, P->Context);
    if (!P->M)
      return userError(Diagnostic.getMessage());
    analysis::numberBlocks(*P->M);
    for (const GlobalVariable &G : P->M->globals()) {
      const uint64_t Size =
          P->M->getDataLayout().getTypeAllocSize(G.getValueType());
      Expected<void *> At = Allocate(Size, 4, G.getName());
      if (!At)
        return At.takeError();
      P->Variables[G.getName().str()] = {*At, Size};
    }
    return P;
  }

  Error launch(warpvm::Kernel &K, const LaunchShape &Shape, void **Args,
               const warpvm::LaunchOptions &How) override {
    if (How.Races)
      How.Races->Launches = 1;
    return Run({K.name().str(), Shape, Args, How.Counts != nullptr,
                How.Observer != nullptr, How.Seed.value_or(0)},
               How.Counts);
  }

  Expected<std::unique_ptr<warpvm::Program>>
  loadVariant(MemoryBufferRef, warpvm::Program &) override {
    return createStringError("no variants");
  }

private:
  OnLaunch Run;
};

} // namespace

runtime::MachineFactory factory(OnLaunch Run) {
  return [Run](const warpvm::MachineOptions &)
             -> Expected<std::unique_ptr<warpvm::Machine>> {
    ++calls().Machines;
    return std::make_unique<FakeMachine>(Run);
  };
}

Object::Object(StringRef Assembly) : Bytes(makeContainer(Assembly, "")) {
  add(Bytes.data());
}

Object::Object(const void *Data) { add(Data); }

void Object::add(const void *Data) {
  Wrapper = {0x466243b1, 1, Data, nullptr};
  Handle = runtime::api::__cudaRegisterFatBinary(&Wrapper);
  runtime::api::__cudaRegisterFatBinaryEnd(Handle);
}

Object::~Object() { runtime::api::__cudaUnregisterFatBinary(Handle); }

void Object::kernel(const void *Stub, const char *Name) {
  runtime::api::__cudaRegisterFunction(Handle, static_cast<const char *>(Stub),
                                       nullptr, Name, -1, nullptr, nullptr,
                                       nullptr, nullptr, nullptr);
}

void Object::variable(void *Symbol, const char *Name, size_t Size,
                      bool Constant) {
  runtime::api::__cudaRegisterVar(Handle, static_cast<char *>(Symbol), nullptr,
                                  Name, 0, Size, Constant, 0);
}

} // namespace reconverge::fake
