//===- unittests/warpvm/LinkTest.cpp - Object files in memory -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small modules, compiled as kernels are, and object files that are not whole
// or have what code of ours never has.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Link.h"
#include "warpvm/emit/WriteObject.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sys/mman.h>
#include <thread>

using namespace llvm;

namespace reconverge::warpvm {
namespace {

std::string objectOf(StringRef Text) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  LLVMContext C;
  SMDiagnostic Diagnostic;
  auto M = parseAssemblyString(Text, Diagnostic, C);
  if (!M) {
    ADD_FAILURE() << Diagnostic.getMessage().str();
    return "";
  }
  auto Builder = cantFail(orc::JITTargetMachineBuilder::detectHost());
  Builder.setRelocationModel(Reloc::PIC_).setCodeModel(CodeModel::Small);
  auto Target = cantFail(Builder.createTargetMachine());
  M->setTargetTriple(Target->getTargetTriple().str());
  M->setDataLayout(Target->createDataLayout());
  return cantFail(writeObject(*M, *Target))->getBuffer().str();
}

class Link : public testing::Test {
protected:
  /// The message of what is wrong with \p Object; "" if it is there now.
  std::string link(StringRef Object) {
    return toString(Code.link(
        MemoryBufferRef(Object, "test"),
        [&](StringRef Name) -> Expected<void *> { return Outside[Name]; },
        [&](StringRef Name, void *At) { Defined[Name] = At; }));
  }
  template <typename F> F *function(StringRef Name) {
    return reinterpret_cast<F *>(Defined.lookup(Name));
  }

  Linker Code;
  StringMap<void *> Outside, Defined;
};

/// More than 2 GiB from everything else.
struct FarPage {
  FarPage() {
    At = static_cast<uint8_t *>(
        mmap(reinterpret_cast<void *>(uint64_t(0x123) << 32), 4096,
             PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
             -1, 0));
  }
  ~FarPage() { munmap(At, 4096); }
  uint8_t *At;
};

TEST_F(Link, CodeReadsItsConstants) {
  ASSERT_EQ(link(objectOf(R"(
    @Table = internal constant [3 x ptr] [ptr @one, ptr @two, ptr @Five]
    @Five = internal constant i32 5
    @Exported = constant ptr getelementptr (i8, ptr @Table, i64 8)
    define internal i32 @one(i32 %x) noinline { 
      %y = add i32 %x, 1
      ret i32 %y
    }
    define internal i32 @two(i32 %x) noinline {
      %y = mul i32 %x, 3
      ret i32 %y
    }
    define double @f(i32 %which, i32 %x) {
      %at = getelementptr ptr, ptr @Table, i32 %which
      %to = load ptr, ptr %at
      %y = call i32 %to(i32 %x)
      %five.at = load ptr, ptr getelementptr (ptr, ptr @Table, i32 2)
      %five = load i32, ptr %five.at
      %z = add i32 %y, %five
      %d = sitofp i32 %z to double
      %e = fmul double %d, 1.25
      ret double %e
    }
  )")),
            "");
  auto *F = function<double(int, int)>("f");
  ASSERT_TRUE(F);
  EXPECT_EQ(F(0, 10), 16 * 1.25);
  EXPECT_EQ(F(1, 10), 35 * 1.25);
  EXPECT_EQ(Defined.size(), 2u) << "what is internal is nobody else's";
}

TEST_F(Link, ConstantsLieBesideTheCodeThatReadsThem) {
  const std::string Object = objectOf(R"(
    @Table = internal constant [4 x i32] [i32 3, i32 1, i32 4, i32 15]
    define <8 x i32> @f(<8 x i32> %v, i32 %which) {
      switch i32 %which, label %other [ i32 0, label %a
                                        i32 1, label %b
                                        i32 2, label %c
                                        i32 3, label %d ]
    a:
      %add = add <8 x i32> %v, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8>
      ret <8 x i32> %add
    b:
      %mul = mul <8 x i32> %v, <i32 8, i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1>
      ret <8 x i32> %mul
    c:
      %or = or <8 x i32> %v, <i32 1, i32 2, i32 4, i32 8, i32 16, i32 32, i32 64, i32 1>
      ret <8 x i32> %or
    d:
      ret <8 x i32> zeroinitializer
    other:
      %at = getelementptr i32, ptr @Table, i32 %which
      %x = load i32, ptr %at
      %first = insertelement <8 x i32> %v, i32 %x, i32 0
      ret <8 x i32> %first
    }
    define void @store(ptr %to, ptr %from, i32 %which) {
      %v = load <8 x i32>, ptr %from
      %w = call <8 x i32> @f(<8 x i32> %v, i32 %which)
      store <8 x i32> %w, ptr %to
      ret void
    }
  )");
  // Each relocation takes time in every run that finds the code in the cache.
  auto Read = cantFail(
      object::ObjectFile::createObjectFile(MemoryBufferRef(Object, "test")));
  for (const object::SectionRef &S : Read->sections())
    for (const object::RelocationRef &R : S.relocations())
      EXPECT_EQ(cantFail(R.getSymbol()->getName()), "f")
          << "a call of what another object may define, too";
  ASSERT_EQ(link(Object), "");
  auto *Store = function<void(int *, int *, int)>("store");
  ASSERT_TRUE(Store);
  alignas(32) int In[8] = {10, 20, 30, 40, 50, 60, 70, 80}, Out[8];
  Store(Out, In, 1);
  EXPECT_EQ(Out[1], 140);
  Store(Out, In, 2);
  EXPECT_EQ(Out[3], 40);
  Store(Out, In, 0);
  EXPECT_EQ(Out[7], 88);
}

const char *const Caller = R"(
  @Data = external global i32
  declare i32 @callee(i32)
  define ptr @calleeAddress() { ret ptr @callee }
  define i32 @f(i32 %x) {
    %y = call i32 @callee(i32 %x)
    %d = load i32, ptr @Data
    %z = add i32 %y, %d
    ret i32 %z
  }
)";

TEST_F(Link, WhatIsOutsideMayBeFarAway) {
  FarPage Far;
  ASSERT_NE(Far.At, MAP_FAILED);
  const uint8_t Twice[] = {0x8d, 0x04, 0x3f,
                           0xc3}; // lea (%rdi,%rdi), %eax; ret
  std::memcpy(Far.At, Twice, sizeof(Twice));
  const int Data = 1000;
  std::memcpy(Far.At + 64, &Data, sizeof(Data));
  Outside["callee"] = Far.At;
  Outside["Data"] = Far.At + 64;
  ASSERT_EQ(link(objectOf(Caller)), "");
  EXPECT_EQ(function<int(int)>("f")(21), 1042);
  EXPECT_EQ(function<void *()>("calleeAddress")(), Far.At);
}

TEST_F(Link, WhatIsLackingIsNamed) {
  Outside["Data"] = this;
  EXPECT_NE(link(objectOf(Caller)).find("'callee'"), std::string::npos);
  EXPECT_TRUE(Defined.empty());
}

TEST_F(Link, WhatCodeWritesToIsRefused) {
  EXPECT_NE(link(objectOf("@V = global i32 7")).find("a section .data"),
            std::string::npos);
  EXPECT_NE(link(objectOf("@V = global i32 0")).find("a section .bss"),
            std::string::npos);
}

TEST_F(Link, CodeIsNotWritable) {
  ASSERT_EQ(link(objectOf("define i32 @f() { ret i32 1 }")), "");
  auto *At = static_cast<volatile uint8_t *>(Defined["f"]);
  EXPECT_DEATH(*At = 0xcc, "");
}

TEST_F(Link, AnObjectThatIsCutOffIsAnError) {
  Outside["callee"] = Outside["Data"] = this;
  const std::string Whole = objectOf(Caller);
  for (size_t Bytes = 0; Bytes < Whole.size(); ++Bytes)
    EXPECT_NE(link(StringRef(Whole).take_front(Bytes)), "") << Bytes;
  EXPECT_EQ(link(Whole), "");
}

TEST_F(Link, LargeAndManyObjectsAreLinkedByAllThreads) {
  const std::string Large =
      objectOf("@Pad = constant [3000000 x i8] zeroinitializer, align 4096\n"
               "define ptr @f() { ret ptr @Pad }");
  const std::string Small = objectOf("define i32 @f() { ret i32 42 }");
  std::vector<std::thread> Threads;
  std::atomic<unsigned> Right = 0;
  for (int T = 0; T < 4; ++T)
    Threads.emplace_back([&] {
      for (int I = 0; I < 200; ++I) {
        const bool IsLarge = I % 50 == 49;
        void *F = nullptr;
        cantFail(Code.link(
            MemoryBufferRef(IsLarge ? Large : Small, "test"),
            [](StringRef) -> Expected<void *> { return nullptr; },
            [&](StringRef Name, void *At) {
              if (Name == "f")
                F = At;
            }));
        Right += IsLarge
                     ? uint64_t(reinterpret_cast<void *(*)()>(F)()) % 4096 == 0
                     : reinterpret_cast<int (*)()>(F)() == 42;
      }
    });
  for (std::thread &T : Threads)
    T.join();
  EXPECT_EQ(Right, 800u);
}

} // namespace
} // namespace reconverge::warpvm
