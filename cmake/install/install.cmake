# What `cmake --install` puts where: programs, libweir with its headers, package files for pkg-config and CMake, manual pages
# and completion as the programs print them, configurations, workflows and documentation.
include(CMakePackageConfigHelpers)
set(WEIR_SHARE ${CMAKE_INSTALL_DATADIR}/weir)
set(WEIR_HEADERS ${CMAKE_INSTALL_INCLUDEDIR}/weir)
set(WEIR_PYTHON_DIR ${CMAKE_INSTALL_LIBDIR}/weir/python CACHE STRING "where below the prefix the Python package is installed")
set(WEIR_ZSH_DIR ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "where below the prefix zsh finds completion scripts")
mark_as_advanced(WEIR_PYTHON_DIR WEIR_ZSH_DIR)
set(WEIR_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Weir)

# Programs find libweir next to them, and libraries each other, wherever the prefix is.
file(RELATIVE_PATH to_library /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set_target_properties(weir PROPERTIES EXPORT_NAME core VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
install(TARGETS weir EXPORT WeirTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET weir_netcdf_reader) # a program that libweir starts; CMake cannot change the path that MPI's own link flags give it
  set_target_properties(weir_netcdf_reader PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS weir_netcdf_reader RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/weir)
endif()
if(TARGET weir_cuda)
  set_target_properties(weir_cuda PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH TRUE)
  install(TARGETS weir_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(WEIR_APPS)
  set_target_properties(${WEIR_APPS} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
  install(TARGETS ${WEIR_APPS} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# Public headers: each by itself, or install() leaves folders without files.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/libcore ${CMAKE_SOURCE_DIR}/libcore/weir_*.h)
list(FILTER headers EXCLUDE REGEX "/weir_check(_runner)?\\.h$|_test\\.h$")
foreach(header IN LISTS headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${CMAKE_SOURCE_DIR}/libcore/${header} DESTINATION ${WEIR_HEADERS}/${folder})
endforeach()

# Package files name the prefix relative to themselves: an installation can be moved.
file(RELATIVE_PATH WEIR_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" WEIR_PREFIX_FROM_PC "${WEIR_PREFIX_FROM_PC}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/weir.pc.in ${CMAKE_BINARY_DIR}/install/weir.pc @ONLY)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/WeirConfig.cmake.in ${CMAKE_BINARY_DIR}/install/WeirConfig.cmake
  INSTALL_DESTINATION ${WEIR_PACKAGE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/install/WeirConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/install/weir.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${CMAKE_BINARY_DIR}/install/WeirConfig.cmake ${CMAKE_BINARY_DIR}/install/WeirConfigVersion.cmake
  DESTINATION ${WEIR_PACKAGE_DIR})
install(EXPORT WeirTargets NAMESPACE Weir:: DESTINATION ${WEIR_PACKAGE_DIR})

# Printed when the programs are installed: one table of options, several pages.
foreach(app IN LISTS WEIR_APPS)
  set(made ${CMAKE_BINARY_DIR}/install/${app})
  install(CODE "
    foreach(form \"man;${made}.1\" \"completion=bash;${made}.bash\" \"completion=zsh;${made}.zsh\")
      list(GET form 1 file)
      list(GET form 0 form)
      execute_process(COMMAND \"$<TARGET_FILE:${app}>\" options --\${form} OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()")
  install(FILES ${made}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${made}.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${app})
  install(FILES ${made}.zsh DESTINATION ${WEIR_ZSH_DIR} RENAME _${app})
endforeach()

install(DIRECTORY ${CMAKE_SOURCE_DIR}/configs DESTINATION ${WEIR_SHARE})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/workflows/flow ${CMAKE_SOURCE_DIR}/workflows/sites DESTINATION ${WEIR_SHARE}/workflows
  USE_SOURCE_PERMISSIONS)
install(PROGRAMS ${CMAKE_SOURCE_DIR}/workflows/flow.sh DESTINATION ${WEIR_SHARE}/workflows)
foreach(app IN LISTS WEIR_APPS)
  file(GLOB tables CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/workflows/${app}/*.steps)
  install(FILES ${tables} DESTINATION ${WEIR_SHARE}/workflows/${app})
endforeach()
# Pages keep their places relative to each other, so that their links hold.
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES packaging/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/packaging)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN "example-op" EXCLUDE)
foreach(app IN LISTS WEIR_APPS)
  install(FILES apps/${app}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/apps/${app})
endforeach()
file(RELATIVE_PATH to_configs /${CMAKE_INSTALL_DOCDIR} /${WEIR_SHARE}/configs)
file(CREATE_LINK ${to_configs} ${CMAKE_BINARY_DIR}/install/configs SYMBOLIC)
install(FILES ${CMAKE_BINARY_DIR}/install/configs DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_file(packaging/modulefile.in ${CMAKE_BINARY_DIR}/install/modulefile @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/install/modulefile DESTINATION ${WEIR_SHARE}/modulefiles/weir RENAME ${PROJECT_VERSION})

# The Python package, with the libraries that it calls in its own folder.
file(GLOB modules CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/weir/*.py)
install(FILES ${modules} DESTINATION ${WEIR_PYTHON_DIR}/weir)
file(GLOB examples CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/examples/*.py)
install(FILES ${examples} DESTINATION ${WEIR_SHARE}/examples)
get_property(libraries GLOBAL PROPERTY WEIR_API_LIBRARIES)
if(libraries)
  file(RELATIVE_PATH to_library /${WEIR_PYTHON_DIR}/weir /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(${libraries} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
  install(TARGETS ${libraries} LIBRARY DESTINATION ${WEIR_PYTHON_DIR}/weir)
endif()

# What is installed, without the tests: `cmake --build DIR --target programs`.
add_custom_target(programs DEPENDS weir ${WEIR_APPS} ${libraries} $<TARGET_NAME_IF_EXISTS:weir_netcdf_reader>
  $<TARGET_NAME_IF_EXISTS:weir_cuda>)
