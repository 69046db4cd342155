# Sort.cu becomes device bitcode, and that the bytes of SortCode.inc, when the
# tool is built. It needs none of CUDA's headers.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${IN} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  file(WRITE ${OUT} "${bytes}\n")
  return()
endif()

set(sort ${CMAKE_CURRENT_BINARY_DIR}/sort)
file(MAKE_DIRECTORY ${sort})
add_custom_command(OUTPUT ${sort}/SortCode.inc
  COMMAND ${LLVM_TOOLS_BINARY_DIR}/clang -x cuda --cuda-device-only
    --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -Wno-unknown-cuda-version
    -Wall -Wextra -Werror -O2 -c -emit-llvm -o ${sort}/Sort.bc
    ${CMAKE_CURRENT_SOURCE_DIR}/common/Sort.cu
  COMMAND ${CMAKE_COMMAND} -DIN=${sort}/Sort.bc -DOUT=${sort}/SortCode.inc
    -P ${CMAKE_CURRENT_SOURCE_DIR}/common/Embed.cmake
  DEPENDS common/Sort.cu common/Embed.cmake VERBATIM)
target_sources(ReconvergeRemedyCommon PRIVATE ${sort}/SortCode.inc)
target_include_directories(ReconvergeRemedyCommon PRIVATE ${sort})
