# Texts that the emitters paste in front of generated C.
weir_embed(weir native_prelude ${CMAKE_SOURCE_DIR}/libcore/base/weir_bf16.h ${CMAKE_SOURCE_DIR}/libcore/base/weir_f16.h
  ${CMAKE_SOURCE_DIR}/libcore/graph/weir_elementary.h ${CMAKE_SOURCE_DIR}/libcore/graph/weir_scalar.h
  ${CMAKE_CURRENT_SOURCE_DIR}/backend/native/native_row.h)
weir_embed(weir exec_backend_prelude ${CMAKE_CURRENT_SOURCE_DIR}/backend/device/backend_kernel.h)
