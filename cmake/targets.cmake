# How libraries, programs and tests are made: one function each, used everywhere.
# PLAIN: without sanitizers, whatever the build has.
function(rondo_flags target)
  cmake_parse_arguments(ARG "PLAIN" "" "" ${ARGN})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic
    $<$<COMPILE_LANGUAGE:CXX>:-Wshadow> $<$<COMPILE_LANGUAGE:CXX>:-Wconversion>
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-sign-conversion>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # false positives of GCC 12 on std::string (GCC bug 105651)
    # In a unity build an unnamed namespace lies in an included file, where GCC suspects two definitions.
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${RONDO_UNITY}>>:-Wno-subobject-linkage>
    # GCC looks for garbage from 128 MB on, for a tenth of its time: only above 600 MB, which few of ours need.
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${RONDO_UNITY}>>:--param=ggc-min-heapsize=600000>
    $<$<BOOL:${RONDO_WERROR}>:-Werror>)
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
  if(RONDO_SANITIZE AND NOT ARG_PLAIN)
    target_compile_options(${target} PUBLIC -fsanitize=${RONDO_SANITIZE} -fno-omit-frame-pointer)
    # False positives of GCC 12 on std::regex, with the address sanitizer alone (GCC bug 105562).
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
    target_link_options(${target} PUBLIC -fsanitize=${RONDO_SANITIZE})
  endif()
endfunction()

# rondo_older_glibc(target ... [NO_MATH]): these run with a glibc of 2.34 too, though they are linked with a newer one
# (tools/package/older_*.c). NO_MATH: they need no libm, and are to stay so.
function(rondo_older_glibc)
  cmake_parse_arguments(ARG "NO_MATH" "" "" ${ARGN})
  if(RONDO_SANITIZE)
    return()
  endif()
  if(NOT TARGET rondo_older_glibc)
    foreach(part glibc hypot)
      add_library(rondo_older_${part} OBJECT ${CMAKE_SOURCE_DIR}/tools/package/older_${part}.c)
      rondo_flags(rondo_older_${part})
    endforeach()
  endif()
  foreach(target IN LISTS ARG_UNPARSED_ARGUMENTS)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:rondo_older_glibc>)
    if(NOT ARG_NO_MATH)
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:rondo_older_hypot>)
      target_link_options(${target} PRIVATE -Wl,--wrap=hypot)
    endif()
  endforeach()
endfunction()

# rondo_light(target): compiled in four fifths of the time with less optimisation; for what takes no time itself: it
# writes text, or calls libraries that are optimised in full.
function(rondo_light target)
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# rondo_precompile(target kind header ...): in a build with RONDO_PRECOMPILE these headers of others are read once for all
# targets of the kind, which must have the same options for the language. What is compiled for it does nothing.
set(RONDO_COMMON_HEADERS <algorithm> <functional> <map> <memory> <optional> <set> <stdexcept> <string> <utility> <variant>
  <vector> <fmt/format.h>)
function(rondo_precompile target kind)
  if(NOT RONDO_PRECOMPILE)
    return()
  endif()
  if(NOT TARGET precompiled_${kind})
    set(empty ${CMAKE_BINARY_DIR}/generated/precompiled_${kind}.cpp)
    file(CONFIGURE OUTPUT ${empty} CONTENT "int main() { return 0; }\n")
    if(kind STREQUAL "tests")
      add_executable(precompiled_${kind} EXCLUDE_FROM_ALL ${empty})  # programs are compiled with other options
      target_link_libraries(precompiled_${kind} PRIVATE GTest::gtest)
    else()
      add_library(precompiled_${kind} STATIC EXCLUDE_FROM_ALL ${empty})
    endif()
    rondo_flags(precompiled_${kind})
    rondo_light(precompiled_${kind})
    target_precompile_headers(precompiled_${kind} PRIVATE ${ARGN})
  endif()
  target_precompile_headers(${target} REUSE_FROM precompiled_${kind})
endfunction()

# rondo_library(folder [LIGHT] LINKS ...): every .cpp of the folder (not of folders below it) as a static library, named
# after the folder: compiler/kernel/ir is rondo_kernel_ir. LIGHT: see rondo_light.
function(rondo_library folder)
  cmake_parse_arguments(ARG "LIGHT" "" "LINKS;SOURCES" ${ARGN})
  string(REGEX REPLACE "^compiler/" "" name ${folder})
  string(REPLACE "/" "_" name rondo_${name})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
  list(APPEND sources ${ARG_SOURCES})
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ARG_LINKS})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  set_property(GLOBAL APPEND PROPERTY RONDO_LIBRARIES ${name})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name} PUBLIC ${ARG_LINKS})
  rondo_flags(${name})
  if(ARG_LIGHT)
    rondo_light(${name})
  endif()
  rondo_precompile(${name} libraries ${RONDO_COMMON_HEADERS})
endfunction()

# rondo_strategies(name ...): the folders compiler/schedule/NAME, each a library with a Strategy in its
# strategy.h whose class is the name with a capital, and rondo_schedule with the list of all of them, in this order.
function(rondo_strategies)
  set(includes "")
  set(objects "")
  set(entries "")
  set(libraries "")
  foreach(name IN LISTS ARGN)
    rondo_library(compiler/schedule/${name} LIGHT LINKS rondo_schedule_backward rondo_schedule_channelwise rondo_schedule_stepwise)
    list(APPEND libraries rondo_schedule_${name})
    string(APPEND includes "#include \"compiler/schedule/${name}/strategy.h\"\n")
    string(SUBSTRING ${name} 0 1 first)
    string(TOUPPER ${first} capital)
    string(REGEX REPLACE "^${first}" ${capital} class ${name})
    string(APPEND objects "  static const ${class} ${name};\n  static const Flattening flattening_${name}(${name});\n")
    string(APPEND objects "  static const Hoisting hoisting_${name}(flattening_${name});\n")
    string(APPEND objects "  static const Widening widening_${name}(hoisting_${name});\n")
    string(APPEND entries "      &widening_${name},\n")
  endforeach()
  set(RONDO_STRATEGY_INCLUDES "${includes}")
  set(RONDO_STRATEGY_OBJECTS "${objects}")
  set(RONDO_STRATEGY_ENTRIES "${entries}")
  set(out ${CMAKE_BINARY_DIR}/generated/strategies.cpp)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/strategies.cpp.in ${out} @ONLY)
  rondo_library(compiler/schedule LIGHT LINKS rondo_schedule_flatten rondo_schedule_hoist rondo_schedule_widen ${libraries} SOURCES ${out})
endfunction()

# rondo_program(name folder LINKS ... [SOURCES file ...]): every .cpp of the folder, or only the files that are named, as
# one executable with a static C++ runtime.
function(rondo_program name folder)
  cmake_parse_arguments(ARG "" "" "LINKS;SOURCES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
  if(ARG_SOURCES)
    list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_SOURCE_DIR}/${folder}/ OUTPUT_VARIABLE sources)
  endif()
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS})
  if(NOT RONDO_SANITIZE)
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  rondo_flags(${name})
endfunction()

# rondo_tests(name LINKS ... [PROGRAM target] [NO_CTEST] [SHARDS n] [COMPUTES]): every .cpp under tests/NAME as the executable
# test_NAME. Tests find the source tree by RONDO_SOURCE_DIR (overridden by the environment variable of that name on
# another machine). A program of long tests runs in SHARDS parts, NAME.1 to NAME.n, side by side and before the others:
# GoogleTest gives each part every n-th test. Most only call libraries, and are compiled in half the time without any
# optimisation; what COMPUTES itself is optimised a little.
function(rondo_tests name)
  cmake_parse_arguments(ARG "NO_CTEST;COMPUTES" "PROGRAM;SHARDS" "LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(test_${name} ${sources})
  set_target_properties(test_${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 16)  # the large ones are two: for two cores
  target_link_libraries(test_${name} PRIVATE ${ARG_LINKS} GTest::gtest_main)
  target_compile_definitions(test_${name} PRIVATE RONDO_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  # What is found when the build is configured must be there when the tests run: they skip nothing then.
  if(TARGET rondo_llvm)
    target_compile_definitions(test_${name} PRIVATE RONDO_BUILT_LLVM)
  endif()
  if(RONDO_NVCC)
    target_compile_definitions(test_${name} PRIVATE RONDO_NVCC="${RONDO_NVCC}")
  endif()
  if(ARG_PROGRAM)
    target_compile_definitions(test_${name} PRIVATE RONDO_PROGRAM="$<TARGET_FILE:${ARG_PROGRAM}>")
    # Only linking waits for the program: a dependency of the whole target would compile the tests last, on one core.
    set_property(TARGET test_${name} APPEND PROPERTY LINK_DEPENDS $<TARGET_FILE:${ARG_PROGRAM}>)
  endif()
  if(NOT RONDO_SANITIZE)
    target_link_options(test_${name} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  rondo_flags(test_${name})
  if(ARG_COMPUTES)
    rondo_light(test_${name})
  elseif(CMAKE_BUILD_TYPE STREQUAL Release)
    target_compile_options(test_${name} PRIVATE -O0)
  endif()
  rondo_precompile(test_${name} tests ${RONDO_COMMON_HEADERS} <gtest/gtest.h>)
  if(ARG_NO_CTEST)
    return()
  endif()
  if(NOT ARG_SHARDS)
    add_test(NAME ${name} COMMAND test_${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT 900)
    return()
  endif()
  foreach(part RANGE 1 ${ARG_SHARDS})
    math(EXPR index "${part} - 1")
    add_test(NAME ${name}.${part} COMMAND test_${name})
    set_tests_properties(${name}.${part} PROPERTIES TIMEOUT 900 COST 100
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

# rondo_c_test(name LINKS ... [SOURCES file ...] [ARGUMENTS ...]): tests/capi/NAME.c, a program in C11 over the C
# interface, with more files of that folder, as the test capi.NAME. Its C++ files are compiled as C++20, those called *_header_test.cpp as
# C++17.
function(rondo_c_test name)
  cmake_parse_arguments(ARG "" "" "LINKS;SOURCES;ARGUMENTS" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_SOURCE_DIR}/tests/capi/)
  add_executable(capi_${name} ${CMAKE_SOURCE_DIR}/tests/capi/${name}.c ${ARG_SOURCES})
  set_target_properties(capi_${name} PROPERTIES LINKER_LANGUAGE CXX UNITY_BUILD OFF)
  foreach(source IN LISTS ARG_SOURCES)
    if(source MATCHES "_header_test.cpp$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -std=c++17)
    endif()
  endforeach()
  target_link_libraries(capi_${name} PRIVATE ${ARG_LINKS})
  target_compile_definitions(capi_${name} PRIVATE RONDO_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  rondo_flags(capi_${name})
  add_test(NAME capi.${name} COMMAND capi_${name} ${ARG_ARGUMENTS})
  set_tests_properties(capi.${name} PROPERTIES TIMEOUT 300)
endfunction()

# rondo_abi_tests(program WHOLE folder ... LINKS ...): the tests capi.abi_old, where tests/capi/PROGRAM.c, compiled with the
# headers as they are, runs with a library whose structs have grown (cmake/grow_headers.cmake), and capi.abi_new, the
# other way round. The folders hold the interface; LINKS is what they need.
function(rondo_abi_tests program)
  cmake_parse_arguments(ARG "" "" "WHOLE;LINKS" ${ARGN})
  set(grown ${CMAKE_BINARY_DIR}/generated/grown)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/rondo/*.h)
  set(outputs "")
  foreach(header IN LISTS headers)
    get_filename_component(name ${header} NAME)
    list(APPEND outputs ${grown}/rondo/${name})
  endforeach()
  add_custom_command(OUTPUT ${outputs}
    COMMAND ${CMAKE_COMMAND} -DFROM=${CMAKE_SOURCE_DIR}/include/rondo -DTO=${grown}/rondo
      -P ${CMAKE_SOURCE_DIR}/cmake/grow_headers.cmake
    DEPENDS ${headers} ${CMAKE_SOURCE_DIR}/cmake/grow_headers.cmake VERBATIM)
  add_custom_target(rondo_grown_headers DEPENDS ${outputs})

  set(sources "")
  foreach(folder IN LISTS ARG_WHOLE)
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  add_library(rondo_grown SHARED ${sources})
  set_target_properties(rondo_grown PROPERTIES OUTPUT_NAME rondo SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE CXX
    LIBRARY_OUTPUT_DIRECTORY ${grown})
  target_include_directories(rondo_grown BEFORE PRIVATE ${grown})
  target_include_directories(rondo_grown PRIVATE ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(rondo_grown PRIVATE ${ARG_LINKS})
  target_link_options(rondo_grown PRIVATE -static-libstdc++ -static-libgcc
    -Wl,--version-script=${CMAKE_BINARY_DIR}/generated/rondo.map)
  rondo_flags(rondo_grown)
  foreach(version old new)
    set(test capi_${program}_${version})
    add_executable(${test} ${CMAKE_SOURCE_DIR}/tests/capi/${program}.c)
    set_target_properties(${test} PROPERTIES UNITY_BUILD OFF BUILD_RPATH_USE_ORIGIN ON)
    target_link_options(${test} PRIVATE -Wl,--enable-new-dtags)
    target_link_libraries(${test} PRIVATE m)
    rondo_flags(${test})
  endforeach()
  target_link_libraries(capi_${program}_old PRIVATE rondo_shared)
  target_include_directories(capi_${program}_new BEFORE PRIVATE ${grown})
  target_link_libraries(capi_${program}_new PRIVATE rondo_grown)
  add_dependencies(rondo_grown rondo_grown_headers)
  add_dependencies(capi_${program}_new rondo_grown_headers)
  add_test(NAME capi.abi_old COMMAND capi_${program}_old)
  set_tests_properties(capi.abi_old PROPERTIES ENVIRONMENT LD_LIBRARY_PATH=${grown})
  add_test(NAME capi.abi_new COMMAND capi_${program}_new)
  set_tests_properties(capi.abi_new PROPERTIES ENVIRONMENT LD_LIBRARY_PATH=${CMAKE_BINARY_DIR})
endfunction()

# rondo_fuzz(name LINKS ... [SOURCES file ...]): tests/fuzz/NAME.cpp as the libFuzzer program fuzz_NAME, and a part of the
# target fuzz_all, in a build for fuzzing (preset fuzz); its libraries are built with
# RONDO_SANITIZE=fuzzer-no-link,..., because only the program brings a main(). In other builds it is the test fuzz.NAME,
# which runs the program of that build for 25 s, every eighth time where RONDO_TURN is set. The test fuzz.build makes
# those whose turn it is.
function(rondo_fuzz name)
  cmake_parse_arguments(ARG "" "" "LINKS;SOURCES" ${ARGN})
  if(RONDO_FUZZ)
    add_executable(fuzz_${name} tests/fuzz/${name}.cpp ${ARG_SOURCES})
    target_link_libraries(fuzz_${name} PRIVATE ${ARG_LINKS})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    rondo_flags(fuzz_${name})
    if(NOT TARGET fuzz_all)
      add_custom_target(fuzz_all)
    endif()
    add_dependencies(fuzz_all fuzz_${name})
  elseif(RONDO_TESTS AND Python3_FOUND AND RONDO_CLANG)
    set(script Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/fuzz/run.py)
    if(NOT TEST fuzz.build)
      add_test(NAME fuzz.build COMMAND ${script} --build --by-turns)
      set_tests_properties(fuzz.build PROPERTIES TIMEOUT 900 COST 300 PROCESSORS 2 FIXTURES_SETUP fuzz LABELS long)
    endif()
    add_test(NAME fuzz.${name} COMMAND ${script} ${name} --built --by-turns --seconds 25)
    set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77 COST 200 FIXTURES_REQUIRED fuzz LABELS long)
  endif()
endfunction()

# rondo_script_test(name script arguments ...): a Python script as a test, where there is Python. Those of the scripts
# in benchmarks/ are for `tools/test long`: they are no part of the product. Where RONDO_TURN is set, each runs at every
# fourth commit: tools/test leaves out those with the label of another turn, turn.0 to turn.3.
function(rondo_script_test name script)
  if(Python3_FOUND)
    add_test(NAME ${name} COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/${script} ${ARGN})
    set_tests_properties(${name} PROPERTIES TIMEOUT 120)
    if(script MATCHES "^tests/benchmarks/")
      set_property(GLOBAL APPEND PROPERTY RONDO_SCRIPTS_OF_BENCHMARKS ${name})
      get_property(scripts GLOBAL PROPERTY RONDO_SCRIPTS_OF_BENCHMARKS)
      list(LENGTH scripts count)
      math(EXPR turn "${count} % 4")
      set_tests_properties(${name} PROPERTIES LABELS "long;turn.${turn}")
    endif()
  else()
    message(STATUS "no Python 3.9: the test ${name} is left out")
  endif()
endfunction()

# rondo_embed_text(target namespace function folder pattern): the text files of the folder that match the pattern travel
# inside the library as `const std::vector<EmbeddedText>& namespace::function()` (compiler/support/embedded_text.h).
function(rondo_embed_text target namespace function folder pattern)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/${pattern})
  string(SHA256 names "${files}")  # so that the command runs again when a file goes, which no dependency tells
  set(script ${CMAKE_SOURCE_DIR}/cmake/embed_text.cmake)
  set(out ${CMAKE_BINARY_DIR}/generated/${function}.cpp)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DNAMESPACE=${namespace} -DFUNCTION=${function}
      -DNAMES=${names} -DFOLDER=${CMAKE_SOURCE_DIR}/${folder} "-DPATTERN=${pattern}" -P ${script}
    DEPENDS ${files} ${script} VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()

# rondo_build_id(target namespace function folder ...): the library holds `const std::string& namespace::function()`, a
# hash over the sources below the folders (cmake/build_id.cmake). A change of one of them compiles one small file anew.
function(rondo_build_id target namespace function)
  set(files "")
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp ${CMAKE_SOURCE_DIR}/${folder}/*.h
      ${CMAKE_SOURCE_DIR}/${folder}/*.cuh ${CMAKE_SOURCE_DIR}/${folder}/*.ll)
    list(APPEND files ${found})
  endforeach()
  string(SHA256 names "${files}")  # so that the command runs again when a file goes, which no dependency tells
  list(JOIN ARGN "," folders)
  set(script ${CMAKE_SOURCE_DIR}/cmake/build_id.cmake)
  set(out ${CMAKE_BINARY_DIR}/generated/${function}.cpp)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DNAMESPACE=${namespace} -DFUNCTION=${function} -DROOT=${CMAKE_SOURCE_DIR}
      -DFOLDERS=${folders} -DNAMES=${names} -P ${script}
    DEPENDS ${files} ${script} VERBATIM)
  set_source_files_properties(${out} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${out})
endfunction()
