# The component Bundle: what makes an installed tree run on a machine with a
# CUDA toolkit and a host g++ and nothing else of ours.
#
#   bin/clang-19, lib/clang/19/include   the compiler and its headers
#   lib/lib*.so*                         libraries that such a machine may lack
#   lib/reconverge/libReconvergeTimer.so, bench/, benchmarks/, examples/, test/,
#   unittests/                           bench/run and what it runs
#   share/doc/reconverge/                licences, ours and theirs
#   share/reconverge/commit              what it was built from
#
# The C and C++ runtimes are the machine's own: a program that loads the warp VM
# has already loaded them, and newer ones than ours. The libraries are found by
# CMake from what is installed, so a new dependency needs no line here.
find_program(PATCHELF_PROGRAM patchelf)
set(clang_resources ${LLVM_BINARY_DIR}/lib/clang/${LLVM_VERSION_MAJOR}/include)

install(PROGRAMS ${LLVM_TOOLS_BINARY_DIR}/clang DESTINATION bin
  RENAME clang-${LLVM_VERSION_MAJOR} COMPONENT Bundle EXCLUDE_FROM_ALL)
# Of the builtin headers, those of the x86-64 host and of CUDA.
install(DIRECTORY ${clang_resources}/
  DESTINATION lib/clang/${LLVM_VERSION_MAJOR}/include
  COMPONENT Bundle EXCLUDE_FROM_ALL
  PATTERN "arm*" EXCLUDE PATTERN "riscv*" EXCLUDE PATTERN "altivec*" EXCLUDE
  PATTERN "ppc_wrappers" EXCLUDE PATTERN "zos_wrappers" EXCLUDE
  PATTERN "hexagon*" EXCLUDE PATTERN "hvx*" EXCLUDE PATTERN "s390*" EXCLUDE
  PATTERN "vecintrin*" EXCLUDE PATTERN "msa*" EXCLUDE PATTERN "sanitizer" EXCLUDE
  PATTERN "fuzzer" EXCLUDE PATTERN "orc" EXCLUDE)

# For -fopenmp, with its header from above: under its own name, and the
# linker's.
install(FILES ${LLVM_LIBRARY_DIR}/libomp.so.5 DESTINATION lib
  COMPONENT Bundle EXCLUDE_FROM_ALL OPTIONAL)
install(FILES ${LLVM_LIBRARY_DIR}/libomp.so.5 DESTINATION lib
  RENAME libomp.so COMPONENT Bundle EXCLUDE_FROM_ALL OPTIONAL)

set(bench ${CMAKE_SOURCE_DIR}/benchmarks)
install(PROGRAMS ${bench}/run DESTINATION bench
  COMPONENT Bundle EXCLUDE_FROM_ALL)
install(DIRECTORY ${bench}/harness ${bench}/baseline ${bench}/nets
  DESTINATION bench
  COMPONENT Bundle EXCLUDE_FROM_ALL PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY ${bench}/kernels DESTINATION benchmarks OPTIONAL
  COMPONENT Bundle EXCLUDE_FROM_ALL)
install(DIRECTORY ${bench}/micro DESTINATION bench OPTIONAL
  COMPONENT Bundle EXCLUDE_FROM_ALL)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION .
  COMPONENT Bundle EXCLUDE_FROM_ALL
  REGEX "/examples/CMakeLists.txt$" EXCLUDE PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/test/remap DESTINATION test
  COMPONENT Bundle EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN "on-gpu.py" PATTERN "*.cu" PATTERN "*.h"
  PATTERN "__pycache__" EXCLUDE)
install(PROGRAMS ${CMAKE_SOURCE_DIR}/test/remedies/herd/on-gpu.sh
  DESTINATION test/remedies/herd COMPONENT Bundle EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_SOURCE_DIR}/test/remedies/herd/stop.cu
  DESTINATION test/remedies/herd COMPONENT Bundle EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_SOURCE_DIR}/test/vm/Inputs/check.h
  DESTINATION test/vm/Inputs COMPONENT Bundle EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_SOURCE_DIR}/unittests/runtime/gpu/check_counted.py
  ${CMAKE_SOURCE_DIR}/unittests/runtime/gpu/check_trials.py
  DESTINATION unittests/runtime/gpu COMPONENT Bundle EXCLUDE_FROM_ALL)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/unittests/runtime/gpu/Inputs
  DESTINATION unittests/runtime/gpu COMPONENT Bundle EXCLUDE_FROM_ALL)
install(TARGETS ReconvergeTimer LIBRARY DESTINATION lib/reconverge
  COMPONENT Bundle EXCLUDE_FROM_ALL)

install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/BundleLibraries.cmake
  COMPONENT Bundle EXCLUDE_FROM_ALL)
install(CODE "execute_process(
    COMMAND git -C \"${CMAKE_SOURCE_DIR}\" describe --always --dirty --abbrev=40
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  file(WRITE \"\${CMAKE_INSTALL_PREFIX}/share/reconverge/commit\" \"\${commit}\\n\")"
  COMPONENT Bundle EXCLUDE_FROM_ALL)
