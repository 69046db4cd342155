//===- unittests/runtime/vm/VmVetTest.cpp - Foreign bitcode from afar -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/vm/Vet.h"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <csignal>
#include <gtest/gtest.h>
#include <random>
#include <sys/wait.h>

using namespace llvm;
using namespace reconverge::runtime;

namespace {

/// A module of one function; \p Finished: with a terminator.
SmallVector<char, 0> bitcode(bool Finished) {
  LLVMContext Context;
  Module M("device", Context);
  auto *F =
      Function::Create(FunctionType::get(Type::getVoidTy(Context),
                                         {PointerType::get(Context, 0)}, false),
                       GlobalValue::ExternalLinkage, "kernel", M);
  IRBuilder<> B(BasicBlock::Create(Context, "entry", F));
  B.CreateStore(B.getInt32(7), F->getArg(0));
  if (Finished)
    B.CreateRetVoid();
  SmallVector<char, 0> Bytes;
  raw_svector_ostream OS(Bytes);
  WriteBitcodeToFile(M, OS);
  return Bytes;
}

std::string failure(StringRef Bytes) {
  Error E = vetBitcode(MemoryBufferRef(Bytes, "device code"));
  return E ? toString(std::move(E)) : "";
}

std::string failure(const SmallVector<char, 0> &Bytes) {
  return failure(StringRef(Bytes.data(), Bytes.size()));
}

TEST(Vet, ValidBitcodePasses) { EXPECT_EQ(failure(bitcode(true)), ""); }

TEST(Vet, WhatLlvmRejectsIsRefused) {
  EXPECT_NE(failure("no bitcode at all").find("cannot read it"),
            std::string::npos);
  SmallVector<char, 0> Cut = bitcode(true);
  Cut.resize(Cut.size() / 2 / 4 * 4);
  EXPECT_NE(failure(Cut).find("cannot read it\n  Build the program again"),
            std::string::npos);
  EXPECT_NE(failure(bitcode(false)).find("LLVM"), std::string::npos);
}

TEST(Vet, NoDamageReachesThisProcess) {
  // Some of these end their reader; all that is asked is that we are still
  // here, and told something.
  std::mt19937 Random(1);
  const SmallVector<char, 0> Good = bitcode(true);
  unsigned Refused = 0;
  for (int Trial = 0; Trial != 60; ++Trial) {
    SmallVector<char, 0> Bad = Good;
    for (int Bit = 0; Bit != 4; ++Bit)
      Bad[Random() % Bad.size()] ^= char(1u << Random() % 8);
    Refused += !failure(Bad).empty();
  }
  EXPECT_GT(Refused, 10u);
}

volatile sig_atomic_t Children = 0;

TEST(Vet, TheProgramsOwnHandlerOfChildrenTakesNone) {
  // A program that waits for whatever child ends.
  struct sigaction Action{}, Before{};
  Action.sa_handler = [](int) {
    while (waitpid(-1, nullptr, WNOHANG) > 0)
      Children = Children + 1;
  };
  ASSERT_EQ(sigaction(SIGCHLD, &Action, &Before), 0);
  EXPECT_EQ(failure(bitcode(true)), "");
  sigaction(SIGCHLD, &Before, nullptr);
  EXPECT_EQ(Children, 0);
}

} // namespace
