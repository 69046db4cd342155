# The CUDA toolkit: headers, and the libraries whose symbols the shims take.
#
#   CUDAToolkit_INCLUDE_DIRS   its headers
#   CUDA::cudart               its libcudart.so
#   CUDA_DRIVER_STUB           its stub for libcuda.so
#
# CMake 3.25's own FindCUDAToolkit, which is Debian 12's, stops with an error on
# CUDA 13, because that has no nvToolsExt any more; and of all that it looks for
# we need three files.
set(RECONVERGE_CUDA_PATH "" CACHE PATH
  "The CUDA 12 or 13 toolkit; empty: utils/find-cuda.sh looks for one")
if(NOT RECONVERGE_CUDA_PATH)
  execute_process(COMMAND ${CMAKE_SOURCE_DIR}/utils/find-cuda.sh
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_VARIABLE message RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${message}")
  endif()
  set_property(CACHE RECONVERGE_CUDA_PATH PROPERTY VALUE ${found})
endif()

find_path(CUDAToolkit_INCLUDE_DIRS cuda_runtime_api.h
  PATHS ${RECONVERGE_CUDA_PATH} PATH_SUFFIXES include NO_DEFAULT_PATH REQUIRED)
find_library(CUDART_LIBRARY cudart
  PATHS ${RECONVERGE_CUDA_PATH} PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib
  NO_DEFAULT_PATH REQUIRED)
find_library(CUDA_DRIVER_STUB cuda
  PATHS ${RECONVERGE_CUDA_PATH}
  PATH_SUFFIXES lib64/stubs lib/stubs targets/x86_64-linux/lib/stubs
  NO_DEFAULT_PATH REQUIRED)
if(NOT TARGET CUDA::cudart)
  add_library(CUDA::cudart SHARED IMPORTED GLOBAL)
  set_target_properties(CUDA::cudart PROPERTIES IMPORTED_LOCATION ${CUDART_LIBRARY})
  target_include_directories(CUDA::cudart SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
endif()
