# Manual pages and completions, as the tool itself writes them:
#   share/man/man1/reconverge*.1
#   share/bash-completion/completions/reconverge
#   share/zsh/site-functions/_reconverge, share/zsh/vendor-completions/_reconverge
#   share/fish/vendor_completions.d/reconverge.fish
set(share ${CMAKE_BINARY_DIR}/share)
set(manual_stamp ${CMAKE_BINARY_DIR}/manual.stamp)
add_custom_command(OUTPUT ${manual_stamp}
  COMMAND ${CMAKE_COMMAND} -DTOOL=$<TARGET_FILE:reconverge> -DSHARE=${share}
    -P ${CMAKE_CURRENT_LIST_DIR}/WriteManual.cmake
  COMMAND ${CMAKE_COMMAND} -E touch ${manual_stamp}
  DEPENDS reconverge ${CMAKE_CURRENT_LIST_DIR}/WriteManual.cmake
  COMMENT "Writing manual pages and completions")
add_custom_target(ReconvergeManual ALL DEPENDS ${manual_stamp})
add_dependencies(tool ReconvergeManual)
foreach(folder man bash-completion zsh fish)
  install(DIRECTORY ${share}/${folder} DESTINATION share)
endforeach()
