# librondo_llvm.so: LLVM with the targets that Rondo compiles for, linked statically into a shared library that the
# program opens at run time (compiler/backend/llvm). Built where LLVM 22 or newer is installed; elsewhere the program is
# the same without it, and `rondo doctor` says so.
option(RONDO_LLVM "build librondo_llvm.so where LLVM is installed" ON)

# rondo_llvm_library(folder): the library of the sources in the folder, as the target rondo_llvm.
function(rondo_llvm_library folder)
  if(NOT RONDO_LLVM OR RONDO_FUZZ)  # no program of a build for fuzzing opens it
    return()
  endif()
  foreach(version RANGE 29 22 -1)
    list(APPEND hints /usr/lib/llvm-${version}/bin)
  endforeach()
  # Not LLVM's CMake package: it wants everything that any part of LLVM may be linked with.
  find_program(RONDO_LLVM_CONFIG llvm-config HINTS ${hints} NO_DEFAULT_PATH)
  find_library(RONDO_ZSTD NAMES libzstd.a)
  find_library(RONDO_ZLIB NAMES libz.a)
  if(NOT RONDO_LLVM_CONFIG)
    message(STATUS "no LLVM 22 or newer: librondo_llvm.so and its tests are left out")
    return()
  endif()
  set(components nvptxcodegen nvptxdesc nvptxinfo x86codegen x86desc x86info aarch64codegen aarch64desc aarch64info passes irreader)
  execute_process(COMMAND ${RONDO_LLVM_CONFIG} --link-static --libfiles ${components}
    OUTPUT_VARIABLE libraries ERROR_VARIABLE failure RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${RONDO_LLVM_CONFIG} --includedir OUTPUT_VARIABLE includes OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${RONDO_LLVM_CONFIG} --has-rtti OUTPUT_VARIABLE rtti OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed OR NOT RONDO_ZSTD OR NOT RONDO_ZLIB)
    message(STATUS "static libraries of LLVM with NVPTX, X86 and AArch64, of zstd or of zlib are missing: librondo_llvm.so and its tests are left out ${failure}")
    return()
  endif()
  separate_arguments(libraries)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
  add_library(rondo_llvm SHARED ${sources})
  rondo_flags(rondo_llvm PLAIN)  # LLVM's libraries know nothing of sanitizers
  target_include_directories(rondo_llvm SYSTEM PRIVATE ${includes})
  if(rtti STREQUAL NO)
    target_compile_options(rondo_llvm PRIVATE -fno-rtti)
  endif()
  # LLVM's headers do not keep to our warnings, and inline functions of templates are instantiated here.
  target_compile_options(rondo_llvm PRIVATE -fvisibility=hidden -fvisibility-inlines-hidden -Wno-conversion
    -Wno-shadow -Wno-pedantic -Wno-unused-parameter -ffunction-sections -fdata-sections)
  target_link_libraries(rondo_llvm PRIVATE ${libraries} ${RONDO_ZSTD} ${RONDO_ZLIB} Threads::Threads ${CMAKE_DL_LIBS})
  # -z nodelete: LLVM registers handlers of signals and of threads that must not outlive its code.
  target_link_options(rondo_llvm PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,--as-needed -Wl,-z,nodelete
    -Wl,--version-script=${CMAKE_SOURCE_DIR}/${folder}/exports.map)
  target_link_options(rondo_llvm PRIVATE -static-libstdc++ -static-libgcc)
  rondo_older_glibc(rondo_llvm)
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    target_link_options(rondo_llvm PRIVATE -s)
  endif()
endfunction()
