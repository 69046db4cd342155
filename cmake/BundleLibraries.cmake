# Runs when the component Bundle is installed, after the rest of the tree: copies
# the shared libraries that the programs in it need, and the licences of the
# Debian packages that they come from.
set(lib ${CMAKE_INSTALL_PREFIX}/lib)
set(programs ${CMAKE_INSTALL_PREFIX}/bin/reconverge)
file(GLOB libraries ${lib}/*.so ${lib}/reconverge/*.so)
file(GLOB compiler ${CMAKE_INSTALL_PREFIX}/bin/clang-*)
# clang's run path is relative: where it was installed from is where its own
# libraries are.
file(REAL_PATH "/usr/lib/llvm-19/lib" llvm)
file(GET_RUNTIME_DEPENDENCIES
  EXECUTABLES ${programs} ${compiler} LIBRARIES ${libraries}
  RESOLVED_DEPENDENCIES_VAR needed
  UNRESOLVED_DEPENDENCIES_VAR missing
  CONFLICTING_DEPENDENCIES_PREFIX conflict
  DIRECTORIES ${llvm}
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+)\\.so")
if(missing)
  message(FATAL_ERROR "not found: ${missing}")
endif()
find_program(patchelf patchelf)
if(NOT patchelf)
  message(FATAL_ERROR "patchelf is missing\n  Run: utils/setup.sh bundle")
endif()

file(MAKE_DIRECTORY ${lib} ${CMAKE_INSTALL_PREFIX}/share/doc/reconverge/licences)
foreach(path ${needed})
  string(FIND "${path}" "${CMAKE_INSTALL_PREFIX}/" inside)
  if(inside EQUAL 0)
    continue()
  endif()
  get_filename_component(name ${path} NAME)
  file(REAL_PATH ${path} real)
  configure_file(${real} ${lib}/${name} COPYONLY)
  execute_process(COMMAND ${patchelf} --print-rpath ${lib}/${name}
    OUTPUT_VARIABLE old OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT old)
    execute_process(COMMAND ${patchelf} --set-rpath $ORIGIN ${lib}/${name}
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
  # Debian's package, if it is Debian's: its copyright file.
  execute_process(COMMAND dpkg-query -S ${real}
    OUTPUT_VARIABLE owner ERROR_QUIET)
  if(NOT owner) # dpkg knows the library by its path before /usr was merged
    string(REGEX REPLACE "^/usr" "" unmerged ${real})
    execute_process(COMMAND dpkg-query -S ${unmerged}
      OUTPUT_VARIABLE owner ERROR_QUIET)
  endif()
  string(REGEX REPLACE ":.*" "" package "${owner}")
  if(package AND EXISTS /usr/share/doc/${package}/copyright)
    file(REAL_PATH /usr/share/doc/${package}/copyright text)
    configure_file(${text}
      ${CMAKE_INSTALL_PREFIX}/share/doc/reconverge/licences/${package} COPYONLY)
  else()
    message(FATAL_ERROR "no licence found for ${real}")
  endif()
endforeach()
