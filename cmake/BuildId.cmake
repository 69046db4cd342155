# cmake -DOUT=BuildId.cpp -DFILES=a.a,b.a -DLLVM=version -P BuildId.cmake
#
# A name for what the libraries hold, which only other contents change.
string(REPLACE "," ";" FILES "${FILES}")
set(id "${LLVM}")
foreach(file ${FILES})
  file(SHA256 "${file}" hash)
  string(APPEND id " ${hash}")
endforeach()
string(SHA256 id "${id}")
string(SUBSTRING "${id}" 0 16 id)
file(WRITE "${OUT}"
  "namespace reconverge::warpvm {\n"
  "extern const char BuildId[];\n"
  "const char BuildId[] = \"${id}\";\n"
  "} // namespace reconverge::warpvm\n")
