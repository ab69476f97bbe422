# librondo_rt: packages opened and launched, and nothing else. Its sources are compiled on their own, because they leave
# out what they do not use down to single functions, know no locales, and hide all but the C interface.
#
#   rondo_rt          librondo_rt.so, which needs libc alone: the C++ runtime is in it, the driver is opened at run time
#   rondo_rt_static   librondo_rt.a, one object with the C++ runtime in it, of which only the C interface can be seen
#
# runtime/capi/rt_symbols.txt lists what both export.
function(rondo_runtime_library)
  set(sources compiler/support/bundle.cpp compiler/support/bytes.cpp compiler/support/dynamic_library.cpp
    compiler/support/environment.cpp compiler/support/hash.cpp compiler/support/locked_file.cpp
    compiler/support/mapped_file.cpp compiler/support/strange_file.cpp compiler/scalar/storage.cpp)
  foreach(folder compiler/executable runtime/cuda runtime/launch runtime/package runtime/capi/launch
      runtime/capi/package)
    file(GLOB found CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  # All is compiled for size except two things: fmt, which would then call ceil() and need libm, and where a launch
  # spends its time, which would take it twice as long.
  set(fast compiler/support/fmt_library.cpp compiler/executable/footprint.cpp compiler/executable/launcher.cpp
    compiler/executable/tensor.cpp compiler/executable/workspace.cpp runtime/capi/launch/handle.cpp
    runtime/capi/launch/launch.cpp runtime/capi/launch/status.cpp runtime/capi/launch/work.cpp
    runtime/cuda/driver_module.cpp runtime/launch/device_plan.cpp runtime/launch/graph_cache.cpp
    runtime/launch/loaded_kernel.cpp)
  list(REMOVE_ITEM sources ${fast})
  list(TRANSFORM sources PREPEND ${CMAKE_SOURCE_DIR}/)
  foreach(source ${fast})
    string(MAKE_C_IDENTIFIER ${source} name)
    set(generated ${CMAKE_BINARY_DIR}/generated/rondo_rt/${name}.cpp)
    file(CONFIGURE OUTPUT ${generated} CONTENT "#include \"${source}\"\n")
    list(APPEND sources ${generated})
    set_source_files_properties(${generated} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
      COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>)
  endforeach()
  set(symbols ${CMAKE_SOURCE_DIR}/runtime/capi/rt_symbols.txt)
  file(STRINGS ${symbols} names REGEX "^rondo_")
  list(JOIN names "; " exported)
  set(script ${CMAKE_BINARY_DIR}/generated/rondo_rt.map)
  file(CONFIGURE OUTPUT ${script} CONTENT "RONDO_0 { global: @exported@; local: *; };\n" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${symbols})

  add_library(rondo_rt_objects OBJECT ${sources})
  target_link_libraries(rondo_rt_objects PUBLIC rondo_c_headers rondo_cuda_headers)
  target_compile_options(rondo_rt_objects PRIVATE -ffunction-sections -fdata-sections -fvisibility=hidden
    -fvisibility-inlines-hidden $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique> $<$<CONFIG:Release>:-Os>)
  target_compile_definitions(rondo_rt_objects PRIVATE "FMT_STATIC_THOUSANDS_SEPARATOR=','")
  rondo_flags(rondo_rt_objects)

  add_library(rondo_rt SHARED $<TARGET_OBJECTS:rondo_rt_objects>)
  set_target_properties(rondo_rt PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${script})
  target_include_directories(rondo_rt PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_options(rondo_rt PRIVATE -Wl,--version-script=${script} -Wl,--gc-sections -Wl,--exclude-libs,ALL
    -Wl,-z,defs -Wl,--as-needed -static-libstdc++ -static-libgcc)

  set(object ${CMAKE_BINARY_DIR}/rondo_rt_static.o)
  list(TRANSFORM names PREPEND -Wl,-u, OUTPUT_VARIABLE roots)
  list(TRANSFORM names PREPEND --keep-global-symbol= OUTPUT_VARIABLE kept)
  add_custom_command(OUTPUT ${object}
    # The groups of inline functions are dissolved, so that none of them is merged with the program's own.
    COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -Wl,--gc-sections -Wl,--force-group-allocation ${roots} -o ${object}
      $<TARGET_OBJECTS:rondo_rt_objects> -Wl,--start-group -l:libstdc++.a -l:libgcc.a -l:libgcc_eh.a -Wl,--end-group
    # What the first command leaves of a C++ runtime for the whole program: the one symbol that is unique in a process
    # gets a name of its own, and what may be missing may be missing again.
    COMMAND ${CMAKE_OBJCOPY} ${kept} ${object}
    COMMAND ${CMAKE_OBJCOPY} --wildcard --weaken-symbol=_ITM_* --weaken-symbol=_ZGTt* --weaken-symbol=__cxa_pure_virtual
      --redefine-sym _ZNSs4_Rep20_S_empty_rep_storageE=rondo_rt_empty_string ${object}
    DEPENDS rondo_rt_objects $<TARGET_OBJECTS:rondo_rt_objects> ${symbols} COMMAND_EXPAND_LISTS VERBATIM)
  add_library(rondo_rt_static STATIC ${object})
  set_target_properties(rondo_rt_static PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME rondo_rt)
  target_link_libraries(rondo_rt_static INTERFACE rondo_c_headers ${CMAKE_DL_LIBS} Threads::Threads)
endfunction()
