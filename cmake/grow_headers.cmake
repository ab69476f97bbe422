# cmake -DFROM=include/rondo -DTO=folder -P grow_headers.cmake: the headers of the C interface as a later version may have
# them, with more fields at the end of every struct that can grow. tests/capi runs old programs with a library of these.
file(GLOB headers ${FROM}/*.h)
foreach(header IN LISTS headers)
  file(READ ${header} text)
  string(REPLACE ";" "@semicolon@" text "${text}")
  # Of the structs, those that begin with their size, and the elements of arrays that come with theirs.
  string(REGEX REPLACE "(struct rondo_[a-z_]+ {\n  size_t struct_size@semicolon@[^}]*)}" "\\1  int64_t grown[5]@semicolon@ /* of a later version */\n}"
    text "${text}")
  string(REGEX REPLACE "(struct rondo_(tensor|constant) {[^}]*)}" "\\1  int64_t grown[3]@semicolon@\n}" text "${text}")
  string(REPLACE "@semicolon@" ";" text "${text}")
  get_filename_component(name ${header} NAME)
  file(WRITE ${TO}/${name} "${text}")
endforeach()
