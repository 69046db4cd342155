//===- unittests/analysis/Parsed.h - IR text as a test reads it -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_UNITTESTS_ANALYSIS_PARSED_H
#define RECONVERGE_UNITTESTS_ANALYSIS_PARSED_H

#include "analysis/Uniformity.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace reconverge::analysis {

/// A module from its text, for NVPTX. Text that does not parse fails the test.
class Parsed {
public:
  explicit Parsed(llvm::StringRef Text) {
    std::string Full = R"(
      target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
      target triple = "nvptx64-nvidia-cuda"
    )" + Text.str();
    llvm::SMDiagnostic Diagnostic;
    M = llvm::parseAssemblyString(Full, Diagnostic, C);
    if (M)
      return;
    std::string Message;
    llvm::raw_string_ostream Stream(Message);
    Diagnostic.print("test", Stream);
    ADD_FAILURE() << Message;
    M = std::make_unique<llvm::Module>("empty", C);
  }

  llvm::Module &module() { return *M; }

  /// The function of that name, or the only kernel.
  llvm::Function &function(llvm::StringRef Name = "k") {
    return *M->getFunction(Name);
  }

  /// The instruction, argument or block of that name in function \p In.
  llvm::Instruction &value(llvm::StringRef Name, llvm::StringRef In = "k") {
    for (llvm::Instruction &I : llvm::instructions(function(In)))
      if (I.getName() == Name)
        return I;
    llvm::report_fatal_error("no such value in the test's function");
  }
  llvm::BasicBlock &block(llvm::StringRef Name, llvm::StringRef In = "k") {
    for (llvm::BasicBlock &BB : function(In))
      if (BB.getName() == Name)
        return BB;
    llvm::report_fatal_error("no such block in the test's function");
  }

private:
  llvm::LLVMContext C;
  std::unique_ptr<llvm::Module> M;
};

} // namespace reconverge::analysis

#endif
