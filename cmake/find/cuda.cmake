# Headers of the CUDA toolkit and NVRTC; the driver is found at run time. WEIR_CUDA_ROOT names a folder with include/
# and lib/ (also of NVIDIA's Python packages nvidia-cuda-runtime and nvidia-cuda-nvrtc, which workflows/setup.sh installs
# into build/nvidia to check kernels); no compiler nvcc is needed.
set(WEIR_FOUND_CUDA FALSE)
set(WEIR_CUDA_ROOT "" CACHE PATH "where the CUDA toolkit is installed; empty: in the usual places")
set(places /usr/local/cuda /opt/cuda /usr/lib/cuda ${CMAKE_SOURCE_DIR}/build/nvidia/nvidia/cu13)
find_path(WEIR_CUDA_INCLUDE nvrtc.h HINTS ${WEIR_CUDA_ROOT} PATHS ${places} PATH_SUFFIXES include)
find_library(WEIR_NVRTC_LIBRARY NAMES nvrtc libnvrtc.so.13 libnvrtc.so.12 HINTS ${WEIR_CUDA_ROOT}
  PATHS ${places} PATH_SUFFIXES lib64 lib)
mark_as_advanced(WEIR_CUDA_INCLUDE WEIR_NVRTC_LIBRARY)
if(WEIR_CUDA_INCLUDE AND WEIR_NVRTC_LIBRARY AND EXISTS ${WEIR_CUDA_INCLUDE}/cuda.h)
  file(STRINGS ${WEIR_CUDA_INCLUDE}/cuda.h version REGEX "define CUDA_VERSION ")
  string(REGEX REPLACE "[^0-9]" "" version "${version}")
  if(version GREATER_EQUAL 12000)
    math(EXPR major "${version} / 1000")
    math(EXPR minor "${version} % 1000 / 10")
    set(WEIR_FOUND_CUDA TRUE)
    set(WEIR_VERSION_CUDA "CUDA ${major}.${minor}")
    add_library(weir_nvrtc UNKNOWN IMPORTED GLOBAL)
    set_target_properties(weir_nvrtc PROPERTIES IMPORTED_LOCATION ${WEIR_NVRTC_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${WEIR_CUDA_INCLUDE})
  endif()
endif()
