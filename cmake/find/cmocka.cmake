find_package(cmocka CONFIG QUIET)
set(WEIR_FOUND_CMOCKA ${cmocka_FOUND})
set(WEIR_VERSION_CMOCKA "cmocka ${cmocka_VERSION}")
