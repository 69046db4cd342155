# cmake --toolchain <prefix>/lib/cmake/reconverge/toolchain.cmake
#
# CUDA by reconverge-clang++, and whatever links CMake's CUDA::cudart over our
# runtime; find_package(reconverge) finds this tree.
get_filename_component(reconverge_prefix ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)
set(CMAKE_CUDA_COMPILER ${reconverge_prefix}/bin/reconverge-clang++)
list(APPEND CMAKE_LIBRARY_PATH ${reconverge_prefix}/lib/reconverge)
list(APPEND CMAKE_PREFIX_PATH ${reconverge_prefix})
