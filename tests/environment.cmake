# Read by CTest before the tests run. What the sanitizers of the preset `dev` are told:
if("$ENV{ASAN_OPTIONS}" STREQUAL "")
  set(ENV{ASAN_OPTIONS} "allocator_may_return_null=1")
endif()
# MPI, started for PETSc by one process alone, keeps memory to the end.
if("$ENV{LSAN_OPTIONS}" STREQUAL "")
  set(ENV{LSAN_OPTIONS} "suppressions=${CMAKE_CURRENT_LIST_DIR}/leaks.txt:print_suppressions=0")
endif()
