# reconverge_profile(<target> [NAME <name>] [OUTPUT <file>]
#                    [OPTIONS <word>...] [ARGS <word>...])
#
# Adds the target <name> (default profile-<target>), which runs the program
# <target> under `reconverge profile` with OPTIONS, its own arguments ARGS, and
# writes the report to <file> (default <target>.divergence.json in the build
# folder). The program has to be built by reconverge-clang++: toolchain.cmake
# beside this file sees to that.
function(reconverge_profile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME;OUTPUT" "OPTIONS;ARGS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR
      "reconverge_profile(${target}): unknown words: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_NAME)
    set(arg_NAME profile-${target})
  endif()
  if(NOT arg_OUTPUT)
    set(arg_OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${target}.divergence.json)
  endif()
  add_custom_target(${arg_NAME}
    COMMAND ${RECONVERGE_PROGRAM} profile ${arg_OPTIONS} -o ${arg_OUTPUT}
      $<TARGET_FILE:${target}> -- ${arg_ARGS}
    WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
    USES_TERMINAL VERBATIM)
  add_dependencies(${arg_NAME} ${target})
endfunction()
