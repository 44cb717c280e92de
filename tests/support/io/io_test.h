/* io_test.h - helpers shared by the tests of this module. */
#ifndef WEIR_IO_TEST_H
#define WEIR_IO_TEST_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "io/weir_annotation.h"
#include "io/weir_record.h"

/* The test is skipped, with the reason, where the build has no NetCDF. */
#define NEEDS_NETCDF()                                        \
  do {                                                        \
    if (!weir_netcdf_available()) {                           \
      fprintf(stderr, "skipped: this build has no NetCDF\n"); \
      skip();                                                 \
    }                                                         \
  } while (0)

static inline void write_text(const char *path, const char *text)
{
  weir_check_write(path, text, strlen(text));
}

/* The run of slots at or after `at` is [lo, hi). */
static inline void assert_run(weir_record *r, int signal, int64_t at, int64_t lo, int64_t hi)
{
  int64_t found[2] = {-1, -1};

  assert_ok(weir_record_next_run(r, signal, at, &found[0], &found[1]));
  assert_int_equal(found[0], lo);
  assert_int_equal(found[1], hi);
}

/* Uniform integer in [lo, hi] for (seed, index). */
static inline int64_t random_in(uint64_t seed, uint64_t index, int64_t lo, int64_t hi)
{
  return lo + (int64_t)(weir_random_bits(seed, 77, 0, index) % (uint64_t)(hi - lo + 1));
}
#endif
