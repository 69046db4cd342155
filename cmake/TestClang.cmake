# clang for tests that build CUDA programs: through ccache, where it is there
# (test/clang.sh.in). What programs leave to be compiled would take the CPU from
# later tests.
find_program(TEST_CCACHE ccache)
set(test_environment RECONVERGE_VM=later=off)
if(TEST_CCACHE)
  configure_file(${CMAKE_SOURCE_DIR}/test/clang.sh.in
    ${CMAKE_BINARY_DIR}/test/clang.sh @ONLY)
  list(APPEND test_environment
    RECONVERGE_CLANG=${CMAKE_BINARY_DIR}/test/clang.sh)
endif()

# Has each of these tests run so.
function(reconverge_builds_programs)
  set_tests_properties(${ARGN} PROPERTIES ENVIRONMENT "${test_environment}")
endfunction()
