# Read by CTest before the tests run. Options of the sanitizers of the preset `dev`:
if("$ENV{ASAN_OPTIONS}" STREQUAL "")
  set(ENV{ASAN_OPTIONS} "allocator_may_return_null=1")
endif()
