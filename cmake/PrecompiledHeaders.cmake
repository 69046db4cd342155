# Headers of others that many units need, read and instantiated once: for the
# stages, for tests, and for what is in clang. Never a header of ours: each unit
# says itself what it sees of the other stages.
#
# A unit that forgets an include may compile all the same. The preset `plain`
# builds without any of this, and finds it.
set(stage_headers
  <algorithm> <array> <atomic> <chrono> <cmath> <cstring> <functional> <map>
  <memory> <mutex> <numeric> <optional> <set> <string> <tuple> <vector>
  <llvm/ADT/DenseMap.h> <llvm/ADT/MapVector.h> <llvm/ADT/PostOrderIterator.h>
  <llvm/ADT/STLExtras.h> <llvm/ADT/SetVector.h> <llvm/ADT/SmallPtrSet.h>
  <llvm/ADT/SmallVector.h> <llvm/ADT/StringExtras.h> <llvm/ADT/StringMap.h>
  <llvm/ADT/StringSet.h> <llvm/ADT/StringSwitch.h>
  <llvm/Analysis/CycleAnalysis.h> <llvm/Analysis/LoopInfo.h>
  <llvm/Analysis/OptimizationRemarkEmitter.h> <llvm/Analysis/ScalarEvolution.h>
  <llvm/Analysis/ValueTracking.h> <llvm/Bitcode/BitcodeReader.h>
  <llvm/Demangle/Demangle.h> <llvm/IR/DebugInfoMetadata.h>
  <llvm/IR/Dominators.h> <llvm/IR/IRBuilder.h> <llvm/IR/InstIterator.h>
  <llvm/IR/Instructions.h> <llvm/IR/IntrinsicInst.h>
  <llvm/IR/IntrinsicsNVPTX.h> <llvm/IR/Module.h> <llvm/IR/PassManager.h>
  <llvm/IR/PatternMatch.h> <llvm/IR/Verifier.h> <llvm/Passes/PassBuilder.h>
  <llvm/Support/Error.h> <llvm/Support/FileSystem.h> <llvm/Support/Format.h>
  <llvm/Support/JSON.h> <llvm/Support/MemoryBuffer.h> <llvm/Support/Path.h>
  <llvm/Support/raw_ostream.h> <llvm/Transforms/Utils/BasicBlockUtils.h>
  <llvm/Transforms/Utils/Cloning.h> <llvm/Transforms/Utils/Local.h>)
set(test_headers ${stage_headers}
  <random> <thread> <gtest/gtest.h> <llvm/AsmParser/Parser.h>
  <llvm/ExecutionEngine/Orc/LLJIT.h> <llvm/Support/SourceMgr.h>)
set(clang_headers
  <memory> <optional> <string> <vector>
  <clang/AST/ASTContext.h> <clang/AST/Attr.h> <clang/AST/DeclCXX.h>
  <clang/AST/DeclTemplate.h> <clang/AST/ExprCXX.h>
  <clang/AST/RecursiveASTVisitor.h> <clang/AST/StmtCXX.h>
  <clang/Frontend/CompilerInstance.h> <clang/Frontend/FrontendPluginRegistry.h>
  <clang/Lex/Preprocessor.h> <clang/Sema/Lookup.h> <clang/Sema/ParsedAttr.h>
  <clang/Sema/Sema.h> <llvm/Support/JSON.h>)

# reconverge_precompile(<target> HEADERS <headers> [OPTIONS <options>])
#
# defines the target that owns them, for REUSE_FROM: of units with its options.
function(reconverge_precompile target)
  cmake_parse_arguments(ARG "" "" "HEADERS;OPTIONS" ${ARGN})
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch.cpp
    CONTENT "// The owner of precompiled headers.\n")
  add_library(${target} OBJECT ${CMAKE_BINARY_DIR}/pch.cpp)
  reconverge_compile_settings(${target})
  target_compile_options(${target} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${target} PRIVATE ${ARG_HEADERS})
endfunction()

function(reconverge_precompiled_headers)
  reconverge_precompile(ReconvergePch HEADERS ${stage_headers})
  if(RECONVERGE_UNOPTIMIZED_STAGES)
    reconverge_precompile(ReconvergeUnoptimizedPch HEADERS ${stage_headers}
      OPTIONS -O0)
  endif()
  reconverge_precompile(ReconvergeTestPch HEADERS ${test_headers}
    OPTIONS ${RECONVERGE_TEST_OPTIONS})
  target_link_libraries(ReconvergeTestPch PRIVATE GTest::gtest)
  reconverge_precompile(ReconvergeClangPch HEADERS ${clang_headers}
    OPTIONS ${RECONVERGE_CLANG_OPTIONS})
endfunction()
