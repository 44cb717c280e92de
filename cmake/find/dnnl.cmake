# oneDNN 2 built with OpenMP, whose threads weir_parallel keeps to one. By header and library: the package's own CMake
# files ask for the headers of OpenCL, which nothing here includes.
set(WEIR_FOUND_DNNL FALSE)
find_path(WEIR_DNNL_INCLUDE oneapi/dnnl/dnnl_config.h)
find_library(WEIR_DNNL_LIBRARY dnnl)
mark_as_advanced(WEIR_DNNL_INCLUDE WEIR_DNNL_LIBRARY)
if(WEIR_DNNL_INCLUDE AND WEIR_DNNL_LIBRARY)
  file(STRINGS ${WEIR_DNNL_INCLUDE}/oneapi/dnnl/dnnl_version.h numbers REGEX "define DNNL_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9;]" "" numbers "${numbers}")
  string(REPLACE ";" "." version "${numbers}")
  file(STRINGS ${WEIR_DNNL_INCLUDE}/oneapi/dnnl/dnnl_config.h openmp
    REGEX "define DNNL_CPU_THREADING_RUNTIME +DNNL_RUNTIME_OMP")
  if(version VERSION_GREATER_EQUAL 2 AND version VERSION_LESS 3 AND openmp)
    set(WEIR_FOUND_DNNL TRUE)
    set(WEIR_VERSION_DNNL "oneDNN ${version}")
    add_library(weir_dnnl UNKNOWN IMPORTED GLOBAL)
    set_target_properties(weir_dnnl PROPERTIES IMPORTED_LOCATION ${WEIR_DNNL_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${WEIR_DNNL_INCLUDE})
    list(APPEND WEIR_LIBRARIES weir_dnnl)
  endif()
endif()
