# cmake -DMANIFEST=<file> -P Uninstall.cmake: removes the files that it names.
if(NOT EXISTS ${MANIFEST})
  message(FATAL_ERROR "Nothing was installed from this build: there is no ${MANIFEST}")
endif()
file(STRINGS ${MANIFEST} files)
file(REMOVE ${files})
list(LENGTH files count)
message(STATUS "Removed ${count} files")
