# Everything the build needs comes from the system's packages (tools/setup installs them). What the program links is
# linked statically, so that the binary runs on any Linux x86-64 of the same age or newer; libcuda and NVRTC are opened
# at run time and never linked.
find_package(Threads REQUIRED)
find_path(FMT_INCLUDE fmt/format.h REQUIRED)  # compiled in compiler/support/fmt_library.cpp
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)

find_path(SQLITE3_INCLUDE sqlite3.h REQUIRED)
find_library(SQLITE3_STATIC NAMES libsqlite3.a REQUIRED)
find_library(MATH_LIBRARY m)
add_library(rondo_sqlite INTERFACE)
target_include_directories(rondo_sqlite SYSTEM INTERFACE ${SQLITE3_INCLUDE})
target_link_libraries(rondo_sqlite INTERFACE ${SQLITE3_STATIC} ${MATH_LIBRARY} Threads::Threads ${CMAKE_DL_LIBS})

# Only headers: cuda.h and nvrtc.h, from a toolkit or, where there is none, from the nvidia wheels that tools/setup
# unpacks under .deps/cuda.
find_path(CUDA_INCLUDE cuda.h
  HINTS ${CMAKE_SOURCE_DIR}/.deps/cuda/include $ENV{CUDA_HOME}/include
  PATHS /usr/local/cuda/include /usr/include REQUIRED)
add_library(rondo_cuda_headers INTERFACE)
target_include_directories(rondo_cuda_headers SYSTEM INTERFACE ${CUDA_INCLUDE})

if(RONDO_TESTS)
  find_package(GTest REQUIRED)
  find_package(Python3 3.9 COMPONENTS Interpreter)  # without it the tests of scripts are left out
  find_program(RONDO_CLANG clang++)  # without it the fuzz tests are left out: GCC has no libFuzzer
  if(NOT RONDO_CLANG)
    message(STATUS "no clang++: the tests fuzz.* are left out")
  endif()
  find_program(RONDO_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)  # wheels have none
  if(NOT RONDO_NVCC)
    message(STATUS "no nvcc: tests that run it or ptxas are left out")
  endif()
endif()
find_package(benchmark)  # without it constraint_bench is left out

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  if(RONDO_PRECOMPILE)  # what ccache needs for precompiled headers, and it does not preprocess what it then compiles
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  endif()
endif()
