# One stage = one folder under src/ = one static library.
#
#   reconverge_stage(<name> SOURCES <files> [DEPENDS <stages>])
#
# defines the target Reconverge<Name>, with src/ as its include root.

# Nobody waits for a test program's own code, so it is not optimised: what it
# tests is in the stages' libraries.
set(RECONVERGE_TEST_OPTIONS -O0)
# What clang loads: without type information, as clang is, and without the
# sanitizers' runtime, which it has not.
set(RECONVERGE_CLANG_OPTIONS -fno-rtti -fno-sanitize=all)
# Stages that the sanitized build does not optimise: compiling them takes longer
# than their tests. Those of the model and of the warp VM calculate a lot, and some
# measure time.
set(RECONVERGE_UNOPTIMIZED_STAGES "" CACHE STRING "Stages compiled with -O0")
mark_as_advanced(RECONVERGE_UNOPTIMIZED_STAGES)
include(PrecompiledHeaders)

function(reconverge_compile_settings target)
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_include_directories(${target} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(${target} PUBLIC ${LLVM_DEFINITIONS_LIST})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror -Wno-unused-parameter
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Xclang -fno-pch-timestamp>)
endfunction()

function(reconverge_stage name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  set(target Reconverge${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  reconverge_compile_settings(${target})
  if(name IN_LIST RECONVERGE_UNOPTIMIZED_STAGES)
    target_compile_options(${target} PRIVATE -O0)
    target_precompile_headers(${target} REUSE_FROM ReconvergeUnoptimizedPch)
  else()
    target_precompile_headers(${target} REUSE_FROM ReconvergePch)
  endif()
  foreach(dependency ${ARG_DEPENDS})
    target_link_libraries(${target} PUBLIC Reconverge${dependency})
  endforeach()
  # What links the stage says which LLVM it gets.
  target_link_libraries(${target} PUBLIC
    $<IF:$<BOOL:$<TARGET_PROPERTY:RECONVERGE_HOST_LLVM>>,ReconvergeHostLLVM,LLVM>)
endfunction()

# How test programs are compiled, and libraries of theirs.
function(reconverge_test_settings target)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/unittests)
  target_compile_options(${target} PRIVATE ${RECONVERGE_TEST_OPTIONS})
  target_precompile_headers(${target} REUSE_FROM ReconvergeTestPch)
endfunction()

# Optimises what takes its time in the test's own code: a precompiled header is
# for one of the two ways.
function(reconverge_optimized_tests)
  set_source_files_properties(${ARGN} PROPERTIES
    COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# reconverge_unittest(<name> SOURCES <files> [DEPENDS <stages>] [STAGE <stage>])
#
# defines the GoogleTest program <name> and a ctest of that name, labelled with
# the stage whose folder under unittests/ it is in, or with STAGE: a test that
# needs the remedies is theirs, or the sanitized build would build them all. The
# target unittests-<stage> builds all programs of a stage.
function(reconverge_unittest name)
  cmake_parse_arguments(ARG "" "STAGE" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  reconverge_compile_settings(${name})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/unittests)
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main)
  foreach(dependency ${ARG_DEPENDS})
    target_link_libraries(${name} PRIVATE Reconverge${dependency})
  endforeach()
  if(ARG_DEPENDS)
    # A precompiled header serves one kind of position-independent code, and
    # the libraries' kind is right for a program as well.
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
    target_link_options(${name} PRIVATE -pie)
    reconverge_test_settings(${name})
  endif()
  add_test(NAME ${name} COMMAND ${name})

  file(RELATIVE_PATH stage ${CMAKE_SOURCE_DIR}/unittests ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "/.*" "" stage "${stage}")
  if(ARG_STAGE)
    set(stage ${ARG_STAGE})
  endif()
  if(NOT TARGET unittests-${stage})
    add_custom_target(unittests-${stage})
  endif()
  add_dependencies(unittests-${stage} ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${stage} TIMEOUT 900)
endfunction()
