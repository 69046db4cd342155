# An installed tree has the build folder's shape, so everything finds its
# siblings relative to itself in both:
#   bin/reconverge  bin/reconverge-clang++
#   lib/libReconverge.so  lib/reconverge/{libcudart.so,libReconvergeVM.so}
#   share/reconverge/...
# The shim installs itself.
foreach(target reconverge)
  if(TARGET ${target})
    install(TARGETS ${target} RUNTIME DESTINATION bin)
  endif()
endforeach()
install(CODE "execute_process(COMMAND \${CMAKE_COMMAND} -E create_symlink reconverge
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/reconverge-clang++\")")
if(TARGET ReconvergePlugin)
  install(TARGETS ReconvergePlugin LIBRARY DESTINATION lib)
endif()
if(TARGET ReconvergeVM)
  install(TARGETS ReconvergeVM LIBRARY DESTINATION lib/reconverge)
endif()
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/reconverge DESTINATION share)
