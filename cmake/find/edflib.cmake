# Linked by the one test that compares with it, never by libweir.
find_path(WEIR_EDFLIB_INCLUDE edflib.h)
find_library(WEIR_EDFLIB_LIBRARY edf)
set(WEIR_FOUND_EDFLIB FALSE)
if(WEIR_EDFLIB_INCLUDE AND WEIR_EDFLIB_LIBRARY)
  set(WEIR_FOUND_EDFLIB TRUE)
  set(WEIR_VERSION_EDFLIB "EDFlib")
endif()
