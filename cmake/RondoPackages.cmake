# rondo_add_package(NAME CELLS lstm my.cell ... SHAPES B=16,T=1024,D=768 ... [DTYPES bf16 ...] [PASSES fw ...] [ARCHS sm_90 ...]
#                   [LIST problems.json] [LOCK rondo.lock] [DATABASE tuning.db] [OPTIONS --math fast ...])
#
# NAME becomes a library of kernels compiled ahead of time, which needs no file when the program runs: it defines
#
#   extern const void* const NAME_data;
#   extern const size_t NAME_size;       /* for rondo_package_from_memory(), of Rondo::rondo_rt or Rondo::rondo */
#
# The words are those of `rondo package build` (docs/packages.md). A cell with '/' or '.' in its name is a file; files are relative to the
# current source folder, and cells in a list to the list. Kernels are built again where a cell, the list, the lock or the database has
# changed. (Cells in a list count with CMake 3.20 or newer, and so does a file that another rule makes where it is named in CELLS.)
# Without DATABASE the build reads the user's own tuning database; OPTIONS --no-db keeps it from that. The command is Rondo_COMMAND, that
# of this installation unless it is set to another, which building for another machine needs. NAME has letters, digits and '_'.
include_guard()

if(NOT Rondo_COMMAND)
  get_filename_component(Rondo_COMMAND "${CMAKE_CURRENT_LIST_DIR}/../../../bin/rondo" ABSOLUTE)
  file(GLOB found "${CMAKE_CURRENT_LIST_DIR}/../../../../bin/rondo")  # lib/ARCHITECTURE/cmake/Rondo
  if(NOT EXISTS "${Rondo_COMMAND}" AND found)
    get_filename_component(Rondo_COMMAND "${found}" ABSOLUTE)
  endif()
endif()

# Absolute paths of those that are files, in `into`; names of shipped cells stay, and are no dependencies.
function(rondo_files_of into files_into)
  set(words "")
  set(files "")
  foreach(word IN LISTS ARGN)
    if(word MATCHES "[/.]")
      get_filename_component(word "${word}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
      list(APPEND files "${word}")
    endif()
    list(APPEND words "${word}")
  endforeach()
  set(${into} "${words}" PARENT_SCOPE)
  set(${files_into} "${files}" PARENT_SCOPE)
endfunction()

if(POLICY CMP0116)
  cmake_policy(SET CMP0116 NEW)  # paths in depfiles are absolute
endif()

function(rondo_add_package name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LIST;LOCK;DATABASE" "CELLS;SHAPES;DTYPES;PASSES;ARCHS;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "rondo_add_package(${name}): what are '${arg_UNPARSED_ARGUMENTS}${arg_KEYWORDS_MISSING_VALUES}'? It takes CELLS, "
      "SHAPES, DTYPES, PASSES, ARCHS, LIST, LOCK, DATABASE and OPTIONS, each with what it names")
  endif()
  if(NOT arg_CELLS AND NOT arg_LIST)
    message(FATAL_ERROR "rondo_add_package(${name}): name CELLS, or a LIST")
  endif()
  if(NOT EXISTS "${Rondo_COMMAND}")
    message(FATAL_ERROR "rondo_add_package(${name}): there is no command '${Rondo_COMMAND}'; set Rondo_COMMAND to a `rondo` of this version")
  endif()
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "rondo_add_package(${name}): the program declares ${name}_data, so the name has letters, digits and '_'")
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "C" IN_LIST languages)
    message(FATAL_ERROR "rondo_add_package(${name}): the kernels become C source; write project(... LANGUAGES C CXX), or enable_language(C)")
  endif()
  rondo_files_of(cells depends ${arg_CELLS})
  set(words ${cells})
  foreach(pair "DTYPES;--dtype" "PASSES;--pass" "ARCHS;--arch")
    list(GET pair 0 key)
    list(GET pair 1 option)
    if(arg_${key})
      string(REPLACE ";" "," joined "${arg_${key}}")
      list(APPEND words ${option} "${joined}")
    endif()
  endforeach()
  foreach(shape IN LISTS arg_SHAPES)
    list(APPEND words --shape "${shape}")
  endforeach()
  foreach(pair "LIST;--list" "LOCK;--lock" "DATABASE;--db")
    list(GET pair 0 key)
    list(GET pair 1 option)
    if(arg_${key})
      get_filename_component(path "${arg_${key}}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
      list(APPEND words ${option} "${path}")
      list(APPEND depends "${path}")
    endif()
  endforeach()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.c")
  set(rule "")
  if(NOT CMAKE_VERSION VERSION_LESS 3.20)
    list(APPEND words --depfile "${source}.d")
    set(rule DEPFILE "${source}.d")
  endif()
  add_custom_command(OUTPUT "${source}" COMMAND "${Rondo_COMMAND}" package build ${words} ${arg_OPTIONS} --embed "${source}"
    DEPENDS ${depends} "${Rondo_COMMAND}" COMMENT "Compiling the kernels of ${name}" VERBATIM ${rule})
  add_library(${name} STATIC "${source}")
endfunction()
