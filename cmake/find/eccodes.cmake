# The package's own CMake files: its .pc names a folder that does not exist.
set(WEIR_FOUND_ECCODES FALSE)
find_package(eccodes QUIET CONFIG)
if(eccodes_FOUND AND TARGET eccodes)
  set(WEIR_FOUND_ECCODES TRUE)
  set(WEIR_VERSION_ECCODES "ecCodes ${eccodes_VERSION}")
  list(APPEND WEIR_LIBRARIES eccodes)
endif()
