# What `cpack` makes of a build:
#   cpack -G DEB    a Debian package over Debian's LLVM
#   cpack -G TXZ    an archive with the parts that a machine may lack
#                   (Bundle.cmake); `make bundle` makes a smaller one
set(CPACK_PACKAGE_NAME reconverge)
set(CPACK_PACKAGE_VENDOR "the Reconverge authors")
set(CPACK_PACKAGE_CONTACT "the Reconverge authors <noreply@reconverge.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
  "Finds what warp divergence costs a CUDA program, and mends it")
set(CPACK_PACKAGE_DESCRIPTION
  "reconverge runs CUDA programs on the CPU a warp at a time, or counts on a
GPU, and prices each branch at which warps diverge. It tries rewrites on the
program's own launches and keeps those that matched byte for byte and pay.
It also tests CUDA kernels without a GPU: races, accesses out of bounds,
reads of unwritten memory. It takes a CUDA toolkit, 12 or 13.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME
  reconverge-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0) # xz on all cores
set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# Programs that it runs; the libraries that it links are found by dpkg-shlibdeps.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "clang-19, lld-19, llvm-19, g++, binutils")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ccache")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
  ${CMAKE_BINARY_DIR}/lib ${CMAKE_BINARY_DIR}/lib/reconverge)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_BINARY_DIR}/CPackProject.cmake)
# Read once for each generator.
file(WRITE ${CPACK_PROJECT_CONFIG_FILE} "
if(CPACK_GENERATOR STREQUAL \"DEB\")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
else()
  set(CPACK_INSTALL_CMAKE_PROJECTS
    \"${CMAKE_BINARY_DIR};Reconverge;ALL;/;${CMAKE_BINARY_DIR};Reconverge;Bundle;/\")
endif()
")
include(CPack)
