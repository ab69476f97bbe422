# Included at the end of project() by tests/mutation/run.py. The folders that faults are planted in are compiled file by
# file and with little optimisation, so that a fault costs the compilation of one file. The other folders are compiled
# as in a release.
foreach(folder IN LISTS RONDO_ALONE)
  file(GLOB sources ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS "-O1;-Wno-error")
endforeach()
