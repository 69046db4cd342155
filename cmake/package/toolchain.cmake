# -DCMAKE_TOOLCHAIN_FILE=<reconverge>/lib/cmake/reconverge/toolchain.cmake
#
# CUDA by reconverge-clang++, over our runtime, whoever links; and
# find_package(reconverge) without a path.
get_filename_component(reconverge_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.."
  ABSOLUTE)
set(CMAKE_CUDA_COMPILER "${reconverge_prefix}/bin/reconverge-clang++")
list(PREPEND CMAKE_PREFIX_PATH "${reconverge_prefix}")
# CUDA::cudart and CUDA::cudart_static are ours.
list(PREPEND CMAKE_LIBRARY_PATH "${reconverge_prefix}/lib/reconverge")

if(NOT DEFINED CUDAToolkit_ROOT)
  foreach(folder "$ENV{CUDA_PATH}" "$ENV{CUDA_HOME}" /usr/local/cuda)
    if(folder AND EXISTS "${folder}/include/cuda_runtime.h")
      set(CUDAToolkit_ROOT "${folder}")
      break()
    endif()
  endforeach()
endif()
# CMake before 3.27 asks CUDA 13 for a library that it has no more.
if(CMAKE_VERSION VERSION_LESS 3.27 AND NOT DEFINED CUDA_nvToolsExt_LIBRARY)
  set(CUDA_nvToolsExt_LIBRARY "${reconverge_prefix}/lib/reconverge/libcudart.so")
endif()
