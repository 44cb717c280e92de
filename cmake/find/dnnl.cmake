# oneDNN 2 built with OpenMP, whose threads weir_parallel keeps to one.
set(WEIR_FOUND_DNNL FALSE)
find_package(dnnl 2 QUIET CONFIG)
if(dnnl_FOUND AND DNNL_CPU_RUNTIME STREQUAL "OMP")
  set(WEIR_FOUND_DNNL TRUE)
  set(WEIR_VERSION_DNNL "oneDNN ${dnnl_VERSION}")
  list(APPEND WEIR_LIBRARIES DNNL::dnnl)
endif()
