# By header and library: the package's .pc names a folder that does not exist, and its CMake files ask for the programs
# of another package.
set(WEIR_FOUND_ECCODES FALSE)
find_path(WEIR_ECCODES_INCLUDE eccodes.h)
find_library(WEIR_ECCODES_LIBRARY eccodes)
mark_as_advanced(WEIR_ECCODES_INCLUDE WEIR_ECCODES_LIBRARY)
if(WEIR_ECCODES_INCLUDE AND WEIR_ECCODES_LIBRARY)
  set(WEIR_FOUND_ECCODES TRUE)
  set(version_ "")
  if(EXISTS ${WEIR_ECCODES_INCLUDE}/eccodes_version.h)
    file(STRINGS ${WEIR_ECCODES_INCLUDE}/eccodes_version.h version_ REGEX "define ECCODES_VERSION_STR ")
    string(REGEX REPLACE "[^0-9.]" "" version_ "${version_}")
  endif()
  set(WEIR_VERSION_ECCODES "ecCodes ${version_}")
  add_library(weir_eccodes UNKNOWN IMPORTED GLOBAL)
  set_target_properties(weir_eccodes PROPERTIES IMPORTED_LOCATION ${WEIR_ECCODES_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${WEIR_ECCODES_INCLUDE})
  list(APPEND WEIR_LIBRARIES weir_eccodes)
endif()
