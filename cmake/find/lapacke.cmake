# LAPACKE over OpenBLAS, which has the routines: it is looked for beside it and linked after it, so that LAPACK's
# own slow copies of them are not taken.
set(WEIR_FOUND_LAPACKE FALSE)
find_path(LAPACKE_INCLUDE lapacke.h PATH_SUFFIXES openblas)
find_library(LAPACKE_LIBRARY lapacke)
if(WEIR_FOUND_CBLAS AND LAPACKE_INCLUDE AND LAPACKE_LIBRARY)
  set(WEIR_FOUND_LAPACKE TRUE)
  set(WEIR_VERSION_LAPACKE "LAPACKE")
  list(APPEND WEIR_LIBRARIES ${LAPACKE_LIBRARY})
endif()
