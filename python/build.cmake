# How the wheels take programs and libraries from a build of Rondo.
set(RONDO_SOURCE ${CMAKE_CURRENT_LIST_DIR}/..)
set(RONDO_BUILD ${RONDO_SOURCE}/build/wheel CACHE PATH "a folder where Rondo is built, or is to be")
find_program(RONDO_STRIP strip REQUIRED)
set(RONDO_STRIP ${RONDO_STRIP} CACHE INTERNAL "")

# rondo_build(target ...): builds these in RONDO_BUILD, which is configured first where nobody has yet: then without
# tests, which need more than the wheels do.
function(rondo_build)
  if(NOT EXISTS ${RONDO_BUILD}/build.ninja)
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${RONDO_SOURCE} -B ${RONDO_BUILD} -G Ninja -DCMAKE_BUILD_TYPE=Release
      -DRONDO_UNITY=ON -DRONDO_TESTS=OFF RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "Rondo cannot be configured: tools/setup installs what it is built with")
    endif()
  endif()
  add_custom_target(rondo_build ALL COMMAND ${CMAKE_COMMAND} --build ${RONDO_BUILD} --target ${ARGN} USES_TERMINAL VERBATIM)
endfunction()

# rondo_stripped(file folder): installs a program or library of the build into the folder, without its symbols.
function(rondo_stripped file folder)
  install(CODE "
    file(MAKE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}/${folder}\")
    execute_process(COMMAND \"${RONDO_STRIP}\" -o \"\${CMAKE_INSTALL_PREFIX}/${folder}/${file}\" \"${RONDO_BUILD}/${file}\"
      RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR \"${file} is not in ${RONDO_BUILD}: build it with LLVM 22 there (tools/setup), or without the extra wheel\")
    endif()")
endfunction()
