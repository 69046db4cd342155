# An installed tree has the build folder's shape, so everything finds its
# siblings relative to itself in both:
#   bin/reconverge  bin/reconverge-clang++
#   lib/libReconverge.so  lib/libReconvergeClang.so  lib/reconverge/{libcudart.so,libReconvergeVM.so}
#   share/reconverge/...
# and every run path is relative to the file that has it. The shim installs
# itself; the component Bundle (Bundle.cmake) adds what a machine may lack.
# The target `tool` builds what is installed, and no tests.
add_custom_target(tool
  DEPENDS ReconvergeShim ReconvergeShimByPath ReconvergeDriverShim
    ReconvergeDriverShimByPath ReconvergeMachines)
function(reconverge_install target folder)
  if(NOT TARGET ${target})
    return()
  endif()
  file(RELATIVE_PATH lib /prefix/${folder} /prefix/lib)
  string(REGEX REPLACE "/$" "" origin "$ORIGIN/${lib}")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${origin}")
  add_dependencies(tool ${target})
  install(TARGETS ${target}
    RUNTIME DESTINATION ${folder} LIBRARY DESTINATION ${folder})
endfunction()

reconverge_install(reconverge bin)
install(PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/reconverge-clang++
  DESTINATION bin) # a link, and stays one
reconverge_install(ReconvergePlugin lib)
reconverge_install(ReconvergeClang lib)
reconverge_install(ReconvergeVM lib/reconverge)
reconverge_install(compile-kernel lib/reconverge)
reconverge_install(ReconvergeGPU lib/reconverge)
reconverge_install(ReconvergeOutputs lib/reconverge)
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/reconverge DESTINATION share)

# The device library: headers alone, for any CUDA compiler; reconverge_test(),
# reconverge_profile() and a toolchain file (cmake/package). From a build folder
# as from an installation:
#   find_package(reconverge REQUIRED)
#   target_link_libraries(app PRIVATE reconverge::reconverge)
set(package ${CMAKE_BINARY_DIR}/lib/cmake/reconverge)
foreach(file reconvergeConfig.cmake reconvergeProfile.cmake toolchain.cmake)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/package/${file} ${package}/${file} COPYONLY)
endforeach()
add_library(ReconvergeHeaders INTERFACE)
set_target_properties(ReconvergeHeaders PROPERTIES EXPORT_NAME reconverge)
target_include_directories(ReconvergeHeaders INTERFACE
  $<INSTALL_INTERFACE:include> $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>)
target_compile_features(ReconvergeHeaders INTERFACE cxx_std_17)
# What `reconverge rewrite` has written includes them, and is parsed with those
# beside the tool.
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include SYMBOLIC)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${package}/reconvergeConfigVersion.cmake
  COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/reconverge DESTINATION include)
install(TARGETS ReconvergeHeaders EXPORT reconverge)
install(EXPORT reconverge NAMESPACE reconverge:: DESTINATION lib/cmake/reconverge
  FILE reconvergeTargets.cmake)
export(EXPORT reconverge NAMESPACE reconverge::
  FILE ${package}/reconvergeTargets.cmake)
install(FILES ${package}/reconvergeConfig.cmake ${package}/reconvergeProfile.cmake
  ${package}/toolchain.cmake
  ${package}/reconvergeConfigVersion.cmake DESTINATION lib/cmake/reconverge)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/README.md
  DESTINATION share/doc/reconverge)
# Where Debian looks for it.
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION share/doc/reconverge
  RENAME copyright)
# Takes away what the last installation of this build put in place.
add_custom_target(uninstall
  COMMAND ${CMAKE_COMMAND} -DMANIFEST=${CMAKE_BINARY_DIR}/install_manifest.txt
    -P ${CMAKE_CURRENT_LIST_DIR}/Uninstall.cmake)
include(Manual)
include(Bundle)
include(Package)
