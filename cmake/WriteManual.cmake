# cmake -DTOOL=<reconverge> -DSHARE=<folder> -P WriteManual.cmake
function(write file)
  execute_process(COMMAND ${TOOL} ${ARGN} OUTPUT_VARIABLE text
    COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${SHARE}/${file} "${text}")
endfunction()

write(man/man1/reconverge.1 man)
execute_process(COMMAND ${TOOL} man --list OUTPUT_VARIABLE commands
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" commands "${commands}")
foreach(command ${commands})
  write(man/man1/reconverge-${command}.1 man ${command})
endforeach()
write(bash-completion/completions/reconverge completion bash)
write(zsh/site-functions/_reconverge completion zsh)
# Where Debian's zsh looks for those of packages.
write(zsh/vendor-completions/_reconverge completion zsh)
write(fish/vendor_completions.d/reconverge.fish completion fish)
