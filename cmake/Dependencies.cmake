# What the build stands on: found, never bundled.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_DEPEND=1 ${CCACHE_PROGRAM})
endif()

find_package(LLVM 19.1 REQUIRED CONFIG)
find_package(Eigen3 3.3 REQUIRED NO_MODULE)
find_package(GTest REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_package(Threads REQUIRED)
option(RECONVERGE_TRAIN "Train nets that predict paths; needs dlib" OFF)
if(RECONVERGE_TRAIN)
  find_package(dlib 19.24 REQUIRED)
endif()
include(CudaToolkit)

# LLVM as a part of whatever links it, for the host's instructions alone. Where
# LLVM is needed in a user's program this is what starts: libLLVM.so is for all
# targets, and takes the loader 12 ms.
if(NOT TARGET LLVMPasses)
  message(FATAL_ERROR "LLVM's static libraries are missing\n"
    "  Debian's llvm-19-dev has them.")
endif()
add_library(ReconvergeHostLLVM INTERFACE)
llvm_map_components_to_libnames(host_llvm native bitreader bitwriter orcjit passes)
target_link_libraries(ReconvergeHostLLVM INTERFACE ${host_llvm})
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND ${LLVM_DEFINITIONS})

# LLVM's own tools, of the version that is linked.
foreach(tool nm readelf)
  string(TOUPPER LLVM_${tool} variable)
  find_program(${variable} NAMES llvm-${tool} llvm-${tool}-19
    HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)
endforeach()
