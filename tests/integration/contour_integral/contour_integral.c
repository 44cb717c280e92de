/* contour_integral.c FOLDER NR NM - the kernel contour_integral of npbench (Ziogas et al., ICS 21,
 * doi 10.1145/3447818.3460360) by the moments of leads: reads FOLDER/Ham [3, NR, NR],
 * FOLDER/int_pts [32] and FOLDER/Y [NR, NM], complex numbers of double precision without a header,
 * writes FOLDER/P0 and FOLDER/P1 [NR, NM], prints the seconds that it took. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_status.h"
#include "graph/weir_complex_scalar.h"
#include "model/lead/moments.h"
#include "ops/linear/weir_linear.h"

enum { POINTS = 32, MATRICES = 3 };

/* Opens a file of the folder. Fails: WEIR_ERR_DATA naming it. */
static weir_status open_file(const char *folder, const char *name, const char *mode, FILE **out)
{
  char path[1024];

  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  *out = fopen(path, mode);
  return *out != NULL ? WEIR_OK : weir_fail(WEIR_ERR_DATA, "%s cannot be opened", path);
}

static weir_status read_numbers(const char *folder, const char *name, int64_t count,
                                weir_c128 **out)
{
  FILE *file = NULL;

  WEIR_TRY(weir_alloc(count, sizeof **out, (void **)out));
  WEIR_TRY(open_file(folder, name, "rb", &file));
  const size_t got = fread(*out, sizeof **out, (size_t)count, file);
  const bool more = fgetc(file) != EOF;

  (void)fclose(file);
  return got == (size_t)count && !more
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s/%s: not %lld numbers", folder, name, (long long)count);
}

static weir_status write_numbers(const char *folder, const char *name, int64_t count,
                                 const weir_c128 *x)
{
  FILE *file = NULL;

  WEIR_TRY(open_file(folder, name, "wb", &file));
  const size_t put = fwrite(x, sizeof *x, (size_t)count, file);

  return fclose(file) == 0 && put == (size_t)count
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s/%s cannot be written", folder, name);
}

static void swap(int64_t count, weir_c128 *a, weir_c128 *b)
{
  for (int64_t i = 0; i < count; i++) {
    const weir_c128 x = a[i];

    a[i] = b[i];
    b[i] = x;
  }
}

static weir_status integrate(int64_t nr, int64_t nm, weir_c128 *ham, const weir_c128 *point,
                             const weir_c128 *y, weir_c128 *p)
{
  weir_c128 weight[POINTS];
  void *work = NULL;

  WEIR_TRY(weir_alloc(lead_moments_work(nr, nm), 1, &work));
  swap(nr * nr, ham, ham + 2 * nr * nr); /* npbench counts powers of z down */
  for (int i = 0; i < POINTS; i++) {
    weight[i] = (weir_c128){weir_abs_c128(point[i]) < 1 ? -1 : 1, 0};
  }
  const lead_polynomial t = {.n = nr, .lowest = -1, .count = MATRICES, .matrix = ham};
  const lead_moments m = {.n_points = POINTS,
                          .point = point,
                          .weight = weight,
                          .columns = nm,
                          .y = y,
                          .n_moments = 2,
                          .moment = p};
  const double began = weir_clock();
  const bool regular = lead_moments_compute(&t, &m, work);

  (void)printf("%.6f\n", weir_clock() - began);
  weir_free(&work);
  return regular ? WEIR_OK : weir_fail(WEIR_ERR_NUMERIC, "T(z) is singular at a point");
}

static weir_status run(const char *folder, int64_t nr, int64_t nm)
{
  weir_c128 *ham = NULL, *point = NULL, *y = NULL, *p = NULL;
  weir_status status = WEIR_OK;

  weir_linear_start();
  WEIR_TRY_GOTO(read_numbers(folder, "Ham", MATRICES * nr * nr, &ham), done);
  WEIR_TRY_GOTO(read_numbers(folder, "int_pts", POINTS, &point), done);
  WEIR_TRY_GOTO(read_numbers(folder, "Y", nr * nm, &y), done);
  WEIR_TRY_GOTO(weir_alloc(2 * nr * nm, sizeof *p, (void **)&p), done);
  WEIR_TRY_GOTO(integrate(nr, nm, ham, point, y, p), done);
  WEIR_TRY_GOTO(write_numbers(folder, "P0", nr * nm, p), done);
  WEIR_TRY_GOTO(write_numbers(folder, "P1", nr * nm, p + nr * nm), done);
done:
  weir_free(&ham);
  weir_free(&point);
  weir_free(&y);
  weir_free(&p);
  return status;
}

int main(int argc, char **argv)
{
  enum { ARGUMENTS = 4 };

  if (argc != ARGUMENTS) {
    (void)fprintf(stderr, "contour_integral FOLDER NR NM\n");
    return WEIR_ERR_CONFIG;
  }
  const weir_status status = run(argv[1], atoll(argv[2]), atoll(argv[3]));

  if (status != WEIR_OK) {
    weir_print_trace(stderr);
  }
  return (int)status;
}
