//===- unittests/analysis/CodeHashTest.cpp - The key of decisions ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/CodeHash.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge::analysis;

namespace {

/// A kernel that asserts, from a file of that name in that folder, with the
/// assertion on that line.
std::string codeOf(StringRef File, StringRef Folder, unsigned Line,
                   unsigned Added) {
  const std::string Size = std::to_string(File.size() + 1);
  return ("source_filename = \"" + File +
          "\"\n"
          "@text = private unnamed_addr constant [" +
          Size + " x i8] c\"" + File +
          "\\00\", align 1\n"
          "declare void @fail(ptr)\n"
          "define i32 @k(i32 %x) !dbg !3 {\n"
          "  %y = add i32 %x, " +
          Twine(Added) +
          ", !dbg !4\n"
          "  call void @fail(ptr @text), !dbg !4\n"
          "  call void asm sideeffect \"nop\", \"\"(), !srcloc !6\n"
          "  ret i32 %y\n"
          "}\n"
          "!llvm.dbg.cu = !{!0}\n"
          "!llvm.module.flags = !{!2}\n"
          "!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: "
          "!1, emissionKind: LineTablesOnly)\n"
          "!1 = !DIFile(filename: \"" +
          File + "\", directory: \"" + Folder +
          "\")\n"
          "!2 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
          "!3 = distinct !DISubprogram(name: \"k\", file: !1, line: 1, type: "
          "!5, unit: !0, spFlags: DISPFlagDefinition)\n"
          "!4 = !DILocation(line: " +
          Twine(Line) +
          ", scope: !3)\n"
          "!5 = !DISubroutineType(types: !7)\n"
          "!6 = !{i64 " +
          Twine(Line) +
          "}\n"
          "!7 = !{}\n")
      .str();
}

std::string hashOf(const std::string &Code, bool Sealed = false) {
  LLVMContext C;
  SMDiagnostic Problem;
  auto M = parseAssemblyString(Code, Problem, C);
  EXPECT_TRUE(M) << Problem.getMessage().str();
  if (!M)
    return "";
  if (!Sealed)
    return codeHash(*M);
  sealCodeHash(*M);
  SmallVector<char> Bitcode;
  raw_svector_ostream OS(Bitcode);
  WriteBitcodeToFile(*M, OS);
  return cantFail(codeHashOf({Bitcode.data(), Bitcode.size()}));
}

TEST(CodeHash, IsOfTheCodeAndNotOfWhereItsSourceLies) {
  const std::string Hash = hashOf(codeOf("app.cu", "/home/a", 7, 1));
  EXPECT_EQ(Hash.size(), 16u);
  EXPECT_EQ(hashOf(codeOf("./app.cu", "/home/a", 7, 1)), Hash);
  EXPECT_EQ(hashOf(codeOf("/home/b/app.cu", "/tmp", 7, 1)), Hash);
  EXPECT_EQ(hashOf(codeOf("app.cu", "/home/a", 9, 1)), Hash);
  EXPECT_NE(hashOf(codeOf("app.cu", "/home/a", 7, 2)), Hash);
}

TEST(CodeHash, ASealStaysWithTheCode) {
  const std::string Code = codeOf("app.cu", "/home/a", 7, 1);
  EXPECT_EQ(hashOf(Code, /*Sealed=*/true), hashOf(Code));
}

} // namespace
