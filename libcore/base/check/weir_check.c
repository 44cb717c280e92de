/* weir_check.c - comparisons that explain themselves, and folders for tests. */
#include "base/weir_check.h"

#include <dirent.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/weir_alloc.h"

weir_tolerance weir_tolerance_of(weir_dtype dtype)
{
  switch (dtype) {
  case WEIR_F32:
  case WEIR_C64:
    return (weir_tolerance){16.0 * (double)FLT_EPSILON, 256.0 * (double)FLT_EPSILON};
  case WEIR_F64:
  case WEIR_C128:
    return (weir_tolerance){16.0 * DBL_EPSILON, 256.0 * DBL_EPSILON};
  case WEIR_BF16: /* one step: what was computed may have been rounded to the other side */
    return (weir_tolerance){0x1p-7, 0x1p-7};
  case WEIR_F16:
    return (weir_tolerance){0x1p-10, 0x1p-10};
  default:
    return (weir_tolerance){0, 0};
  }
}

/* |a - e| / max(1, |e|); infinite when only one is NaN or infinities differ. */
static double distance(double actual, double expected)
{
  if (isnan(actual) || isnan(expected)) {
    return isnan(actual) && isnan(expected) ? 0 : INFINITY;
  }
  if (actual == expected) {
    return 0;
  }
  if (isinf(actual) || isinf(expected)) {
    return INFINITY;
  }
  return fabs(actual - expected) / fmax(1.0, fabs(expected));
}

int weir_near(double actual, double expected, double tolerance)
{
  const double d = distance(actual, expected);

  if (d <= tolerance) {
    return 1;
  }
  fprintf(stderr, "%.17g is not %.17g: differs by %.3g, allowed %.3g\n", actual, expected, d,
          tolerance);
  return 0;
}

/* Normwise: |a - e| / max(1, |e|). A number is NaN where either component is. */
static double complex_distance(weir_c128 a, weir_c128 e)
{
  const bool bad = isnan(a.re) || isnan(a.im), expected_bad = isnan(e.re) || isnan(e.im);

  if (bad || expected_bad) {
    return bad && expected_bad ? 0 : INFINITY;
  }
  if (a.re == e.re && a.im == e.im) {
    return 0;
  }
  const double size = hypot(e.re, e.im), gap = hypot(a.re - e.re, a.im - e.im);

  return isfinite(gap) && isfinite(size) ? gap / fmax(1.0, size) : INFINITY;
}

/* 64-bit integers do not fit a double: they are subtracted as integers. */
static double element_distance(weir_dtype dtype, const void *actual, const void *expected,
                               int64_t i)
{
  if (weir_dtype_is_complex(dtype)) {
    return complex_distance(weir_dtype_load_complex(dtype, actual, i),
                            weir_dtype_load_complex(dtype, expected, i));
  }
  if (weir_dtype_is_real(dtype)) {
    return distance(weir_dtype_load_real(dtype, actual, i),
                    weir_dtype_load_real(dtype, expected, i));
  }
  const int64_t a = weir_dtype_load_int(dtype, actual, i);
  const int64_t e = weir_dtype_load_int(dtype, expected, i);
  const uint64_t gap = a > e ? (uint64_t)a - (uint64_t)e : (uint64_t)e - (uint64_t)a;
  return (double)gap / fmax(1.0, fabs((double)e));
}

const char *weir_element_text(weir_dtype dtype, const void *data, int64_t i, char text[72])
{
  const weir_c128 z = weir_dtype_load_complex(dtype, data, i);

  if (weir_dtype_is_whole(dtype)) {
    snprintf(text, 72, "%" PRId64, weir_dtype_load_int(dtype, data, i));
  } else if (weir_dtype_is_complex(dtype)) {
    snprintf(text, 72, "%.17g + %.17g i", z.re, z.im);
  } else {
    snprintf(text, 72, "%.17g", z.re);
  }
  return text;
}

int64_t weir_compare(const char *what, weir_dtype dtype, const void *actual, const void *expected,
                     int64_t count, weir_tolerance tol)
{
  double worst = -1, error2 = 0, norm2 = 0;
  int64_t bad = 0, at = 0;

  for (int64_t i = 0; i < count; i++) {
    const double d = element_distance(dtype, actual, expected, i);
    const weir_c128 a = weir_dtype_load_complex(dtype, actual, i);
    const weir_c128 e = weir_dtype_load_complex(dtype, expected, i);
    bad += !(d <= tol.fail);
    if (d > worst) {
      worst = d;
      at = i;
    }
    const double error = hypot(a.re - e.re, a.im - e.im), size = hypot(e.re, e.im);
    if (isfinite(error) && isfinite(size)) {
      error2 += error * error;
      norm2 += size * size;
    }
  }
  if (count > 0 && worst > tol.warn) {
    char got[72], wanted[72];

    fprintf(stderr,
            "%s %s: %s, %" PRId64 " of %" PRId64 " outside %.3g; worst [%" PRId64
            "]: got %s, expected %s (differs by %.3g); relative L2 error %.3g\n",
            bad > 0 ? "FAIL" : "warn", what, weir_dtype_name(dtype), bad, count, tol.fail, at,
            weir_element_text(dtype, actual, at, got),
            weir_element_text(dtype, expected, at, wanted), worst,
            sqrt(error2) / (norm2 > 0 ? sqrt(norm2) : 1.0));
  }
  return bad;
}

static int64_t check_faults(weir_status (*make)(void *context), void *context, int64_t step,
                            bool always)
{
  for (int64_t n = 0;; n++) {
    const int64_t before = weir_alloc_bytes(), k = 1 + n * step;
    weir_alloc_fail_after(k);
    const weir_status status = make(context);
    const bool hit = weir_alloc_count() >= k;
    weir_alloc_fail_after(0);
    const int64_t leaked = weir_alloc_bytes() - before;
    if (leaked != 0) {
      fail_msg("%" PRId64 " bytes are not freed after fault %" PRId64, leaked, k);
    }
    if (!hit) {
      assert_ok(status);
      return n;
    }
    if (status != WEIR_ERR_MEMORY && (always || status != WEIR_OK)) {
      fail_msg("fault %" PRId64 " gives status %d: %s", k, (int)status, weir_last_message());
    }
  }
}

int64_t weir_check_faults(weir_status (*make)(void *context), void *context)
{
  return check_faults(make, context, 1, true);
}

int64_t weir_check_some_faults(weir_status (*make)(void *context), void *context, int64_t step)
{
  return check_faults(make, context, step, false);
}

void weir_check_mkdir(char *path, size_t size)
{
  const int length = snprintf(path, size, "%s/weir-test-XXXXXX", P_tmpdir);

  if (length < 0 || (size_t)length >= size || mkdtemp(path) == NULL) {
    fail_msg("cannot make a directory for this test in %s", P_tmpdir);
  }
}

static void remove_tree(const char *path, int depth)
{
  DIR *dir = depth < 16 ? opendir(path) : NULL;
  const struct dirent *entry;
  char child[4096];
  struct stat info;

  while (dir != NULL && (entry = readdir(dir)) != NULL) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
        snprintf(child, sizeof child, "%s/%s", path, entry->d_name) >= (int)sizeof child) {
      continue;
    }
    if (lstat(child, &info) == 0 && S_ISDIR(info.st_mode)) {
      remove_tree(child, depth + 1);
    } else {
      unlink(child);
    }
  }
  if (dir != NULL) {
    closedir(dir);
  }
  rmdir(path);
}

void weir_check_rmdir(const char *path)
{
  /* Only what weir_check_mkdir made: a wrong argument must not cost anybody's files. */
  if (strstr(path, "/weir-test-") == NULL) {
    fail_msg("%s is not a directory of this test", path);
  }
  remove_tree(path, 0);
}

void weir_check_write(const char *path, const void *data, size_t size)
{
  FILE *out = fopen(path, "wb");

  if (out == NULL || fwrite(data, 1, size, out) != size || fclose(out) != 0) {
    fail_msg("cannot write %s", path);
  }
}

const char *weir_check_data(void)
{
  static const char sibling[] = WEIR_SOURCE_DIR "/../shared/data";
  const char *chosen = getenv("WEIR_TEST_DATA");

  if (chosen != NULL && chosen[0] != 0) {
    return chosen;
  }
  return access(sibling, R_OK | X_OK) == 0 ? sibling : NULL;
}

void weir_check_shared(char *path, size_t size, const char *name, ...)
{
  const char *data = weir_check_data();
  char file[1024];
  va_list args;

  if (data == NULL) {
    fprintf(stderr, "skipped: no test data; set WEIR_TEST_DATA to its folder\n");
    skip();
  }
  va_start(args, name);
  const int named = vsnprintf(file, sizeof file, name, args);
  va_end(args);
  const int length = snprintf(path, size, "%s/%s", data, file);

  if (named < 0 || (size_t)named >= sizeof file || length < 0 || (size_t)length >= size) {
    fail_msg("the path of %s is too long", name);
  }
}
