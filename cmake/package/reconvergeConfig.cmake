# find_package(reconverge): the device library as reconverge::reconverge, the
# command as RECONVERGE_PROGRAM, reconverge_profile() and reconverge_test(), which
# has a test program run on the CPU by `reconverge test`.
include("${CMAKE_CURRENT_LIST_DIR}/reconvergeTargets.cmake")

get_filename_component(RECONVERGE_PROGRAM
  "${CMAKE_CURRENT_LIST_DIR}/../../../bin/reconverge" ABSOLUTE)
include("${CMAKE_CURRENT_LIST_DIR}/reconvergeProfile.cmake")

# reconverge_test(<target> [NAME <name>] [CHECK <check>...] [SHUFFLE <orders>]
#                 [SUPPRESSIONS <file>] [ARGS <word>...])
#
# Adds a test that runs the program <target>, which reconverge-clang++ has built,
# and that fails if a kernel of it does something wrong. NAME: <target> unless
# said. CHECK: bounds, sync, init, races, all or none; bounds and sync unless
# said.
function(reconverge_test target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME;SHUFFLE;SUPPRESSIONS"
    "CHECK;ARGS")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "reconverge_test(${target}): cannot read "
      "'${arg_UNPARSED_ARGUMENTS}${arg_KEYWORDS_MISSING_VALUES}'")
  endif()
  if(NOT arg_NAME)
    set(arg_NAME ${target})
  endif()
  set(words)
  if(arg_CHECK)
    string(REPLACE ";" "," checks "${arg_CHECK}")
    list(APPEND words --check=${checks})
  endif()
  if(arg_SHUFFLE)
    list(APPEND words --shuffle=${arg_SHUFFLE})
  endif()
  if(arg_SUPPRESSIONS)
    get_filename_component(file "${arg_SUPPRESSIONS}" ABSOLUTE)
    list(APPEND words --suppressions=${file})
  endif()
  add_test(NAME ${arg_NAME}
    COMMAND ${RECONVERGE_PROGRAM} test ${words} -- $<TARGET_FILE:${target}>
      ${arg_ARGS})
  set_property(TEST ${arg_NAME} APPEND PROPERTY LABELS reconverge)
endfunction()
