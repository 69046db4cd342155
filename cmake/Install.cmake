# An installed tree has the build folder's shape, so everything finds its
# siblings relative to itself in both:
#   bin/reconverge  bin/reconverge-clang++
#   lib/libReconverge.so  lib/reconverge/{libcudart.so,libReconvergeVM.so}
#   share/reconverge/...
# and every run path is relative to the file that has it. The shim installs
# itself; the component Bundle (Bundle.cmake) adds what a machine may lack.
function(reconverge_install target folder)
  if(NOT TARGET ${target})
    return()
  endif()
  file(RELATIVE_PATH lib /prefix/${folder} /prefix/lib)
  string(REGEX REPLACE "/$" "" origin "$ORIGIN/${lib}")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${origin}")
  install(TARGETS ${target}
    RUNTIME DESTINATION ${folder} LIBRARY DESTINATION ${folder})
endfunction()

reconverge_install(reconverge bin)
install(CODE "execute_process(COMMAND \${CMAKE_COMMAND} -E create_symlink reconverge
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/reconverge-clang++\")")
reconverge_install(ReconvergePlugin lib)
reconverge_install(ReconvergeVM lib/reconverge)
reconverge_install(ReconvergeGPU lib/reconverge)
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/reconverge DESTINATION share)
include(Bundle)
