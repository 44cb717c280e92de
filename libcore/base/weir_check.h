/* weir_check.h - what unit tests include: cmocka, or the built-in runner where it is absent; and
 * comparisons that explain themselves. Tests only. */
#ifndef WEIR_CHECK_H
#define WEIR_CHECK_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/weir_dtype.h"
#include "base/weir_status.h"
#ifdef WEIR_HAVE_CMOCKA
#include <cmocka.h>
#else
#include "base/weir_check_runner.h" /* same names as cmocka for what Weir's tests use */
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* Two thresholds: above `warn` a line is printed, above `fail` the comparison fails. |a-b| is
 * compared with threshold * max(1, |expected|), of complex numbers normwise. NaN equals NaN only.
 */
typedef struct weir_tolerance {
  double warn, fail;
} weir_tolerance;

/* Usual tolerances per dtype (0 for integers). */
weir_tolerance weir_tolerance_of(weir_dtype dtype);
/* Writes element i as messages show it: an integer, a number, or "a + b i". Returns `text`. */
const char *weir_element_text(weir_dtype dtype, const void *data, int64_t i, char text[72]);
/* Returns the number of elements outside `tol.fail`; if it is not zero, prints the worst element,
 * its index, both values and the relative L2 error to stderr. */
int64_t weir_compare(const char *what, weir_dtype dtype, const void *actual, const void *expected,
                     int64_t count, weir_tolerance tol);
/* One pair of doubles, relative to max(1, |expected|). */
int weir_near(double actual, double expected, double tolerance);

#define assert_ok(call)                       \
  do {                                        \
    const weir_status check_status_ = (call); \
    if (check_status_ != WEIR_OK) {           \
      weir_print_trace(stderr);               \
    }                                         \
    assert_int_equal(check_status_, WEIR_OK); \
  } while (0)
#define assert_near(actual, expected, tolerance) assert_true(weir_near(actual, expected, tolerance))

/* Fault injection over all k: calls `make`, which creates something and, when that worked, destroys
 * it again, with the k-th allocation failing for k = 1, 2, ... until no fault is hit. Fails the
 * test unless each fault gives WEIR_ERR_MEMORY and no unfreed bytes. Returns how many faults it
 * made.
 */
int64_t weir_check_faults(weir_status (*make)(void *context), void *context);
/* The same of k = 1, 1 + step, ... and for work that may succeed without an allocation, such as
 * plans: a fault gives WEIR_ERR_MEMORY or success. */
int64_t weir_check_some_faults(weir_status (*make)(void *context), void *context, int64_t step);

/* Creates a new directory for this test's files, to be removed with weir_check_rmdir. */
void weir_check_mkdir(char *path, size_t size);
void weir_check_rmdir(const char *path);
/* Writes a file of exactly these bytes; fails the test where it cannot be written. */
void weir_check_write(const char *path, const void *data, size_t size);
/* Returns the folder of test data: WEIR_TEST_DATA, else ../shared/data next to the source tree,
 * else NULL. */
const char *weir_check_data(void);
/* Returns the path of a file in that folder, named as by printf. Without the folder the test is
 * skipped with a message. */
void weir_check_shared(char *path, size_t size, const char *name, ...) WEIR_PRINTF(3, 4);

/* Returns the number of invalid rows in a table of options (0 is the only correct result): rows
 * without default, unit or help, with a default outside their own range, or with a key of an
 * earlier row. Defined in conf/check/. */
struct weir_opt;
int weir_opts_incomplete(const struct weir_opt *opts);
#ifdef __cplusplus
}
#endif
#endif
