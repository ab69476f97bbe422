# What `cmake --install` and CPack take: the command, the library in both forms, headers, cells, tuning data, man page,
# completion, and what find_package(Rondo) and pkg-config need. Nothing in it names the folder that it goes to.
include(CMakePackageConfigHelpers)

set(RONDO_CMAKE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/Rondo)

install(TARGETS rondo RUNTIME COMPONENT rondo)
install(TARGETS rondo_shared EXPORT RondoTargets LIBRARY COMPONENT rondo NAMELINK_COMPONENT rondo)
set_target_properties(rondo_shared PROPERTIES EXPORT_NAME rondo)
install(FILES ${CMAKE_BINARY_DIR}/librondo.a DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS rondo_rt EXPORT RondoTargets LIBRARY COMPONENT rondo NAMELINK_COMPONENT rondo)
install(FILES $<TARGET_FILE:rondo_rt_static> DESTINATION ${CMAKE_INSTALL_LIBDIR})
# Opened at run time by the command and the library, which look here from where they lie (compiler/backend/llvm).
if(TARGET rondo_llvm)
  install(TARGETS rondo_llvm LIBRARY DESTINATION lib/rondo COMPONENT rondo NAMELINK_SKIP)
endif()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/rondo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/cells DESTINATION ${CMAKE_INSTALL_DATADIR}/rondo FILES_MATCHING PATTERN *.cell)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/tuning_db/shipped DESTINATION ${CMAKE_INSTALL_DATADIR}/rondo OPTIONAL)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples/c_api ${CMAKE_SOURCE_DIR}/examples/service DESTINATION ${CMAKE_INSTALL_DATADIR}/rondo/examples)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT RondoTargets NAMESPACE Rondo:: DESTINATION ${RONDO_CMAKE_FOLDER})
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/RondoConfig.cmake.in ${CMAKE_BINARY_DIR}/RondoConfig.cmake
  INSTALL_DESTINATION ${RONDO_CMAKE_FOLDER} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/RondoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/RondoConfig.cmake ${CMAKE_BINARY_DIR}/RondoConfigVersion.cmake ${CMAKE_SOURCE_DIR}/cmake/RondoPackages.cmake
  DESTINATION ${RONDO_CMAKE_FOLDER})

file(RELATIVE_PATH RONDO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(library rondo rondo_rt)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/${library}.pc.in ${CMAKE_BINARY_DIR}/${library}.pc @ONLY)
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/rondo.pc ${CMAKE_BINARY_DIR}/rondo_rt.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The man page is what the command says of itself.
set(man ${CMAKE_BINARY_DIR}/rondo.1)
add_custom_command(OUTPUT ${man}
  COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:rondo> -DOUT=${man} -DVERSION=${PROJECT_VERSION}
    -P ${CMAKE_SOURCE_DIR}/cmake/man_page.cmake
  DEPENDS rondo ${CMAKE_SOURCE_DIR}/cmake/man_page.cmake COMMENT "Writing the man page" VERBATIM)
add_custom_target(rondo_man_page ALL DEPENDS ${man})
install(FILES ${man} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# So is completion in shells: each looks in a folder of its own, for a name of its own.
foreach(place bash:bash-completion/completions/rondo zsh:zsh/site-functions/_rondo fish:fish/vendor_completions.d/rondo.fish)
  string(REGEX REPLACE ":.*" "" shell ${place})
  string(REGEX REPLACE ".*:" "" file ${place})
  get_filename_component(name ${file} NAME)
  get_filename_component(folder ${file} DIRECTORY)
  set(script ${CMAKE_BINARY_DIR}/completion/${shell}/${name})
  add_custom_command(OUTPUT ${script}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/completion/${shell}
    COMMAND sh -c "\"$0\" completion ${shell} > \"$1.new\" && mv \"$1.new\" \"$1\"" $<TARGET_FILE:rondo> ${script}
    DEPENDS rondo COMMENT "Writing the completion for ${shell}" VERBATIM)
  list(APPEND completions ${script})
  install(FILES ${script} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder})
endforeach()
add_custom_target(rondo_completion ALL DEPENDS ${completions})

# Everything that is installed, for those who build no more than that.
add_custom_target(rondo_package DEPENDS rondo rondo_shared rondo_shared_static rondo_rt rondo_rt_static rondo_man_page
  rondo_completion)
if(TARGET rondo_llvm)
  add_dependencies(rondo_package rondo_llvm)
endif()

set(CPACK_PACKAGE_NAME rondo)
set(CPACK_PACKAGE_VENDOR "Rondo")
set(CPACK_PACKAGE_CONTACT "Rondo <rondo@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler and autotuner for recurrent cells on GPUs")
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# The command and the library bring all else; libcuda and NVRTC are opened at run time where they are, and so is LLVM, which is among what is installed.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.34)")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
include(CPack)
