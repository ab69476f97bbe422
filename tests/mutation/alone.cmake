# Included at the end of project() by tests/mutation/run.py. The files that faults are planted in, and the others of their
# folders, are compiled one by one and with little optimisation, so that a fault costs the compilation of one file. All
# else is compiled as in a release.
foreach(place IN LISTS RONDO_ALONE)
  set(sources ${CMAKE_SOURCE_DIR}/${place})
  if(IS_DIRECTORY ${sources})
    file(GLOB sources ${sources}/*.cpp)
  endif()
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS "-O1;-Wno-error")
endforeach()
