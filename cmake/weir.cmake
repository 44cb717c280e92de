# Functions of the build: rooms, registries, tests.

# Suffix of a source decides what it needs: foo_cblas.c is compiled only where WEIR_HAVE_CBLAS is true.
# foo_cuda.c goes to libweir_cuda, which libweir opens at run time.
set(WEIR_SUFFIXES cblas netcdf yaml dnnl xsmm fftw lapacke flac expat dcmtk mpi edflib eccodes zlib petsc slepc cuda)

function(weir_filter_sources out)
  set(kept "")
  foreach(source IN LISTS ARGN)
    set(keep TRUE)
    if(source MATCHES "_(test|cases)\\.c$")
      set(keep FALSE)
    endif()
    foreach(suffix IN LISTS WEIR_SUFFIXES)
      string(TOUPPER ${suffix} upper)
      if(source MATCHES "_${suffix}\\.c$" AND NOT WEIR_HAVE_${upper})
        set(keep FALSE)
      endif()
    endforeach()
    if(keep)
      list(APPEND kept ${source})
    endif()
  endforeach()
  set(${out} "${kept}" PARENT_SCOPE)
endfunction()

# Flags of the sources of a target that are written for one instruction set; their kernels are chosen by CPU id at
# run time. No bytes of a file come near them: instrumented they would take half of the fuzzers' build. Behaviour that
# is undefined is looked for in those of AVX2, from the same headers.
function(weir_isa_flags target)
  set(plain)
  set(wide)
  if(WEIR_FUZZ)
    set(plain "-fno-sanitize=all")
  elseif(WEIR_SANITIZE)
    set(wide "-fno-sanitize=undefined")
  endif()
  foreach(source IN LISTS ARGN)
    if(source MATCHES "_avx2\\.c$")
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;${plain}")
    elseif(source MATCHES "_(avx512|avx512bf16|amx)\\.c$")
      set(half)
      if(source MATCHES "bf16\\.c$")
        set(half "-mavx512bf16")
      elseif(source MATCHES "_amx\\.c$")
        set(half "-mavx512bf16;-mamx-tile;-mamx-bf16")
      endif()
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS
        "-mavx512f;-mavx512dq;-mavx512bw;-mavx512vl;-mfma;-mprefer-vector-width=512;${half};${plain};${wide}")
    endif()
  endforeach()
endfunction()

# Fuzzers watch what sees bytes of files. Modules and folders of apps that compute with what was read would be half of the
# fuzzers' build, were they instrumented and optimised.
function(weir_fuzz_flags)
  foreach(target IN LISTS ARGN)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX
      "/(libcore/(comm|exec|nn|ops|optim|pass|perf|place|report)|apps/[a-z_]+/(model|rhythm|step))/")
    list(FILTER sources EXCLUDE REGEX "_(avx2|avx512|avx512bf16|amx)\\.c$") # see weir_isa_flags
    list(FILTER sources EXCLUDE REGEX "/libcore/nn/onnx/") # makes graphs of what a file says
    set_property(SOURCE ${sources} TARGET_DIRECTORY ${target} PROPERTY COMPILE_OPTIONS "-O0;-fno-sanitize=all")
  endforeach()
endfunction()

# Adds every source of the current folder (and of the sub-folders named) to libweir, and its tests; *_cases.c, from
# which tests draw, go to a library of their own.
function(weir_module)
  set(globs "${CMAKE_CURRENT_SOURCE_DIR}/*.c")
  foreach(sub IN LISTS ARGN)
    list(APPEND globs "${CMAKE_CURRENT_SOURCE_DIR}/${sub}/*.c")
  endforeach()
  file(GLOB all CONFIGURE_DEPENDS ${globs})
  weir_filter_sources(sources ${all})
  set(opened ${sources})
  list(FILTER opened INCLUDE REGEX "_cuda\\.c$")
  if(opened)
    list(REMOVE_ITEM sources ${opened})
    target_sources(weir_cuda PRIVATE ${opened})
  endif()
  target_sources(weir PRIVATE ${sources})
  weir_isa_flags(weir ${sources})
  if(TARGET weir_cases)
    list(FILTER all INCLUDE REGEX "_cases\\.c$")
    target_sources(weir_cases PRIVATE ${all})
  endif()
  file(GLOB tests CONFIGURE_DEPENDS ${globs})
  list(FILTER tests INCLUDE REGEX "_test\\.c$")
  weir_unit_tests(${tests})
endfunction()

# A registry: every sub-folder NAME (that holds NAME.c) defines `const TYPE PREFIX_NAME`; a generated file
# lists them as `const TYPE *const PREFIX_table[]`, NULL at the end. Sorted by name: the same order always.
#   weir_registry(TYPE weir_op_desc PREFIX weir_op HEADER graph/weir_op.h GLOB "*/*.c")
# A registry of an app names the library that takes the table with TARGET.
# ENTRY files are those whose name equals their folder's name, or, with FILES, every file of the glob. With CASES they
# are the files NAME_cases.c of the glob, and the table is one of tests.
function(weir_registry)
  cmake_parse_arguments(R "FILES;CASES" "TARGET;TYPE;PREFIX;HEADER" "GLOBS" ${ARGN})
  if(R_CASES)
    set(R_TARGET weir_cases)
  elseif(NOT R_TARGET)
    set(R_TARGET weir)
  endif()
  if(R_CASES AND NOT TARGET weir_cases)
    return() # no tests are built
  endif()
  set(globs "")
  foreach(g IN LISTS R_GLOBS)
    list(APPEND globs "${CMAKE_CURRENT_SOURCE_DIR}/${g}")
  endforeach()
  file(GLOB all CONFIGURE_DEPENDS ${globs})
  if(NOT R_CASES)
    weir_filter_sources(all ${all})
  endif()
  set(names "")
  foreach(source IN LISTS all)
    get_filename_component(stem ${source} NAME_WE)
    string(REGEX REPLACE "_cases$" "" stem ${stem})
    get_filename_component(folder ${source} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    if(R_FILES OR stem STREQUAL folder)
      list(APPEND names ${stem})
    endif()
  endforeach()
  list(SORT names)
  set(externs "")
  set(rows "")
  foreach(name IN LISTS names)
    string(APPEND externs "extern const ${R_TYPE} ${R_PREFIX}_${name};\n")
    string(APPEND rows "  &${R_PREFIX}_${name},\n")
  endforeach()
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${R_PREFIX}_table.c")
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT
"/* Generated by the build from the folders of this registry. */
#include \"${R_HEADER}\"
${externs}
extern const ${R_TYPE} *const ${R_PREFIX}_table[];
const ${R_TYPE} *const ${R_PREFIX}_table[] = {
${rows}  NULL,
};
")
  target_sources(${R_TARGET} PRIVATE ${file})
endfunction()

# Texts as C strings, one a line: array `name` in <name>.c of `target`, NULL-terminated.
#   weir_embed(weir native_prelude ${files})
function(weir_embed target name)
  set(rows "")
  set(from "")
  foreach(text IN LISTS ARGN)
    file(READ ${text} content)
    string(REPLACE "\\" "\\\\" content "${content}")
    string(REPLACE "\"" "\\\"" content "${content}")
    string(REPLACE "\n" "\\n\",\n  \"" content "${content}")
    string(APPEND rows "  \"${content}\",\n")
    file(RELATIVE_PATH short ${CMAKE_SOURCE_DIR} ${text})
    list(APPEND from ${short})
  endforeach()
  list(JOIN from ", " from)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}.c)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT
"/* Generated by the build from ${from}. */
#include <stddef.h>
extern const char *const ${name}[];
const char *const ${name}[] = {
${rows}  NULL,
};
")
  target_sources(${target} PRIVATE ${file})
endfunction()

# One program per test source, label `unit`.
function(weir_unit_tests)
  if(NOT WEIR_TESTS)
    return()
  endif()
  foreach(source IN LISTS ARGN)
    get_filename_component(stem ${source} NAME_WE)
    string(REGEX MATCH "_([a-z]+)_test$" library_ ${stem}) # foo_edflib_test.c needs what foo_edflib.c would
    string(TOUPPER "${CMAKE_MATCH_1}" upper)
    if(library_ AND CMAKE_MATCH_1 IN_LIST WEIR_SUFFIXES AND NOT WEIR_HAVE_${upper})
      continue()
    endif()
    file(RELATIVE_PATH where ${CMAKE_SOURCE_DIR} ${source})
    get_filename_component(where ${where} DIRECTORY)
    string(REGEX REPLACE "^libcore/" "" where ${where})
    string(REPLACE "/" "_" prefix ${where})
    set(name ${prefix}_${stem})
    set(labels unit)
    if(name MATCHES "^(comm|comm_inproc|device_cpu)_" AND NOT stem MATCHES "^(constants|quota)_test$")
      list(APPEND labels tsan)
    elseif(WEIR_TSAN)
      continue()
    endif()
    weir_test_program(${name} ${source})
    target_compile_options(${name} PRIVATE ${WEIR_TEST_OPTIONS})
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT 300 SKIP_RETURN_CODE 77)
    if(WEIR_TSAN) # a test has threads in the child of a fork
      set_tests_properties(${name} PROPERTIES ENVIRONMENT "TSAN_OPTIONS=die_after_fork=0")
    endif()
  endforeach()
endfunction()

# An executable linked with the library and the test helpers (cmocka or the built-in runner).
function(weir_test_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE weir_testing)
  target_compile_options(${name} PRIVATE -Wno-unused-parameter) # every test takes `state`
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
endfunction()

# A program and a test for each source of the current folder, integration_NAME_SOURCE; those of *_slow.c run
# in the release preset only. With APP, the program under test is built before, and tests find it as PROGRAM.
#   weir_integration_tests(cosmoflow APP cosmoflow LIBS cosmoflow_parts COST 100)
function(weir_integration_tests name)
  cmake_parse_arguments(T "" "APP;COST" "LIBS;DEFINITIONS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
  foreach(source IN LISTS sources)
    get_filename_component(stem ${source} NAME_WE)
    set(target integration_${name}_${stem})
    weir_test_program(${target} ${source})
    target_link_libraries(${target} PRIVATE ${T_LIBS})
    target_compile_definitions(${target} PRIVATE ${T_DEFINITIONS})
    target_compile_options(${target} PRIVATE ${WEIR_TEST_OPTIONS})
    if(T_APP)
      target_sources(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/../program.c)
      target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/..)
      target_compile_definitions(${target} PRIVATE PROGRAM="$<TARGET_FILE:${T_APP}>")
      add_dependencies(${target} ${T_APP})
    endif()
    add_test(NAME ${target} COMMAND ${target})
    set(labels integration)
    set(cost ${T_COST})
    if(stem MATCHES "_slow$")
      list(APPEND labels slow)
      set(cost 200) # first of all, or one core waits at the end
    endif()
    set_tests_properties(${target} PROPERTIES LABELS "${labels}" TIMEOUT 600 SKIP_RETURN_CODE 77)
    if(cost)
      set_tests_properties(${target} PROPERTIES COST ${cost})
    endif()
  endforeach()
endfunction()

# libweir_APP: the calls of api/ on arrays in memory, for the Python package.
function(weir_app_api app parts)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/api/*.c)
  list(FILTER sources EXCLUDE REGEX "_test\\.c$")
  add_library(weir_${app} SHARED ${sources})
  target_link_libraries(weir_${app} PRIVATE ${parts})
  set_property(GLOBAL APPEND PROPERTY WEIR_API_LIBRARIES weir_${app})
endfunction()

# The apps for which a script has rows: a case "APP)" or a function "def APP()" at the start of a line.
function(weir_apps_in out script)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script})
  set(apps "")
  foreach(app IN LISTS WEIR_APPS)
    file(STRINGS ${script} rows REGEX "^ *(def )?${app}(\\(|\\))")
    if(rows)
      list(APPEND apps ${app})
    endif()
  endforeach()
  set(${out} ${apps} PARENT_SCOPE)
endfunction()

# Writes what this build is made of to ${CMAKE_BINARY_DIR}/build.txt and, as macros, to `header`. Rewritten
# only when it changes, so that configuring again does not compile again.
function(weir_build_header header)
  set(commit "unknown")
  find_package(Git QUIET)
  if(GIT_FOUND AND EXISTS ${CMAKE_SOURCE_DIR}/.git) # not that of a repository around an unpacked archive
    execute_process(COMMAND ${GIT_EXECUTABLE} -C ${CMAKE_SOURCE_DIR} rev-parse --short=12 HEAD
      OUTPUT_VARIABLE found RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT failed)
      set(commit "${found}")
    endif()
  endif()
  set(text "weir ${PROJECT_VERSION}\ncommit: ${commit} (when configured)\ncompiler: ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}\n")
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  string(STRIP "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}}" flags)
  string(APPEND text "build type: ${CMAKE_BUILD_TYPE} (${flags})\n")
  string(APPEND text "system: ${CMAKE_SYSTEM_NAME} ${CMAKE_SYSTEM_PROCESSOR}\n")
  if(WEIR_SANITIZE)
    string(APPEND text "sanitizers: address, undefined\n")
  elseif(WEIR_TSAN)
    string(APPEND text "sanitizers: thread\n")
  endif()
  string(APPEND text "optional parts:\n${WEIR_DEPENDENCY_TABLE}")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/build.txt CONTENT "${text}" @ONLY)
  string(REPLACE "\\" "\\\\" quoted "${text}")
  string(REPLACE "\"" "\\\"" quoted "${quoted}")
  string(REPLACE "\n" "\\n\"\\\n  \"" quoted "${quoted}")
  file(CONFIGURE OUTPUT ${header} @ONLY CONTENT
"/* Generated by the build. */
#define WEIR_BUILD_VERSION \"${PROJECT_VERSION}\"
#define WEIR_BUILD_TEXT \\
  \"${quoted}\"
")
endfunction()
