# rondo_c_library(name output LIST file WHOLE target ... LINKS target ...): the shared library lib<output>.so as the
# target `name`, which exports the symbols of the list (one a line) and nothing else, and lib<output>.a as the target
# `name`_static, which is one object with the same symbols. WHOLE are the folders' libraries that define them, LINKS what
# these need. Of the C++ runtime the shared library brings its own part; the static one takes the program's.
function(rondo_c_library name output)
  cmake_parse_arguments(ARG "" "LIST" "WHOLE;LINKS" ${ARGN})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARG_LIST})
  file(STRINGS ${ARG_LIST} symbols REGEX "^rondo_")
  list(JOIN symbols "$<SEMICOLON>\n    " exported)
  set(map ${CMAKE_BINARY_DIR}/generated/${output}.map)
  file(GENERATE OUTPUT ${map}
    CONTENT "RONDO_${PROJECT_VERSION_MAJOR} {\n  global:\n    ${exported}$<SEMICOLON>\n  local: *$<SEMICOLON>\n}$<SEMICOLON>\n")
  set(empty ${CMAKE_BINARY_DIR}/generated/${output}.c)
  file(GENERATE OUTPUT ${empty} CONTENT "typedef int rondo_unused$<SEMICOLON>  /* all of the library comes from others */\n")

  set(whole "")
  foreach(library IN LISTS ARG_WHOLE)
    list(APPEND whole -Wl,--whole-archive $<TARGET_FILE:${library}> -Wl,--no-whole-archive)
  endforeach()
  add_library(${name} SHARED ${empty})
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ${output} VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE CXX LINK_DEPENDS ${map})
  target_link_libraries(${name} PRIVATE ${whole} ${ARG_WHOLE} ${ARG_LINKS})
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc -Wl,--version-script=${map} -Wl,--gc-sections
    -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,now)
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

  get_property(libraries GLOBAL PROPERTY RONDO_LIBRARIES)
  set(files "")
  foreach(library IN LISTS libraries)
    list(APPEND files $<TARGET_FILE:${library}>)
  endforeach()
  set(whole_files "")
  foreach(library IN LISTS ARG_WHOLE)
    list(APPEND whole_files $<TARGET_FILE:${library}>)
  endforeach()
  set(archive ${CMAKE_BINARY_DIR}/lib${output}.a)
  set(object ${CMAKE_BINARY_DIR}/generated/${output}.o)
  add_custom_command(OUTPUT ${archive}
    COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${object} --whole-archive ${whole_files} --no-whole-archive
      --start-group ${files} ${SQLITE3_STATIC} --end-group
    # Unique symbols of the C++ runtime's inline functions (STB_GNU_UNIQUE) would meet those of a C++ program; objcopy
    # makes only weak ones local.
    COMMAND sh -c "\"$0\" \"$1\" | sed -n 's/^[0-9a-f]* u //p' > \"$1.unique\"" ${CMAKE_NM} ${object}
    COMMAND ${CMAKE_OBJCOPY} --weaken-symbols=${object}.unique ${object}
    COMMAND ${CMAKE_OBJCOPY} --strip-debug --keep-global-symbols=${ARG_LIST} ${object}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
    COMMAND ${CMAKE_AR} rcs ${archive} ${object}
    DEPENDS ${libraries} ${ARG_WHOLE} ${ARG_LIST} COMMENT "Linking static library lib${output}.a" VERBATIM)
  add_custom_target(${name}_static ALL DEPENDS ${archive})
endfunction()
