//===- unittests/frontend/ptx/Snippet.cpp - An asm call to lower ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Snippet.h"

#include "frontend/ptx/InlinePtx.h"
#include "frontend/ptx/Table.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace reconverge::frontend;

std::set<std::string> &rowsSeen() {
  static std::set<std::string> Seen;
  return Seen;
}

static llvm::Type *typeOf(LLVMContext &C, char Code) {
  switch (Code) {
  case 'h':
    return llvm::Type::getInt16Ty(C);
  case 'l':
    return llvm::Type::getInt64Ty(C);
  case 'f':
    return llvm::Type::getFloatTy(C);
  case 'd':
    return llvm::Type::getDoubleTy(C);
  case 'b':
    return llvm::Type::getInt1Ty(C);
  default:
    return llvm::Type::getInt32Ty(C);
  }
}

Snippet::Snippet(LLVMContext &C, StringRef Asm, StringRef Constraints,
                 bool Volatile) {
  SmallVector<llvm::Type *, 4> Outputs, Inputs;
  for (const InlineAsm::ConstraintInfo &Info :
       InlineAsm::ParseConstraints(Constraints)) {
    if (Info.Type == InlineAsm::isClobber)
      continue;
    StringRef Code = Info.Codes[0];
    unsigned Tied;
    if (Info.Type == InlineAsm::isOutput)
      Outputs.push_back(typeOf(C, Code[0]));
    else
      Inputs.push_back(Code.getAsInteger(10, Tied) ? typeOf(C, Code[0])
                                                   : Outputs[Tied]);
  }
  llvm::Type *Result = Outputs.empty()       ? llvm::Type::getVoidTy(C)
                       : Outputs.size() == 1 ? Outputs[0]
                                             : StructType::get(C, Outputs);
  FunctionType *FT = FunctionType::get(Result, Inputs, false);
  if (Error E = InlineAsm::verify(FT, Constraints)) {
    consumeError(std::move(E));
    return;
  }
  M = std::make_unique<Module>("snippet", C);
  M->setTargetTriple("nvptx64-nvidia-cuda");
  M->setDataLayout("e-i64:64-i128:128-v16:16-v32:32-n16:32:64");
  F = Function::Create(FT, GlobalValue::ExternalLinkage, "f", *M);
  IRBuilder<> B(BasicBlock::Create(C, "", F));
  SmallVector<Value *, 4> Args;
  for (Argument &A : F->args())
    Args.push_back(&A);
  Value *V = B.CreateCall(
      InlineAsm::get(FT, Asm, Constraints, Volatile || Outputs.empty()), Args);
  if (Outputs.empty())
    B.CreateRetVoid();
  else
    B.CreateRet(V);
}

std::string Snippet::lower() {
  std::string Asm;
  for (const RemainingPtx &R : remainingPtx(*M))
    Asm = R.Asm;
  if (Error E = lowerInlinePtx(*M)) {
    ADD_FAILURE() << toString(std::move(E));
    return "failed";
  }
  std::string Problems;
  raw_string_ostream OS(Problems);
  EXPECT_FALSE(verifyModule(*M, &OS)) << Asm << "\n" << Problems << text();
  // Nothing of the plans is left behind.
  for (const Function &Other : *M)
    EXPECT_TRUE(Other.getName() == "f" || Other.isDeclaration()) << Asm;
  std::vector<RemainingPtx> Left = remainingPtx(*M);
  if (!Left.empty()) {
    EXPECT_EQ(Left[0].Asm, Asm) << "a refused asm was changed";
    return Left[0].Reason.empty() ? "no reason" : Left[0].Reason;
  }
  if (Expected<ptx::Program> P = ptx::parse(Asm)) {
    for (const ptx::Instruction &I : P->Code)
      if (const ptx::Row *R = ptx::findRow(I))
        rowsSeen().insert((R->Opcode + "/" + Twine(R->Class)).str());
  } else {
    consumeError(P.takeError());
  }
  return "";
}

std::string Snippet::text() const {
  std::string Text;
  raw_string_ostream OS(Text);
  F->print(OS);
  return Text;
}
