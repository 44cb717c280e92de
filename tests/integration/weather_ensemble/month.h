/* month.h - what the tests of the commands share: a month of the built-in simulation, a small
 * network.
 */
#ifndef WX_MONTH_H
#define WX_MONTH_H
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_dtype.h"
#include "base/weir_file.h"
#include "data/archive/archive.h"
#include "io/weir_netcdf.h"
#include "program.h"

/* 60 forecasts, 16 x 32 points, without the need of a YAML reader and of a compiler. */
#define SAMPLES                                                                         \
  "--set simulate.lat=16 --set simulate.lon=32 --set simulate.step=0.12 "               \
  "--set simulate.spin_up=60 --set simulate.library.states=20 --set simulate.every=12 " \
  "--set simulate.members=3 --set simulate.leads=[24] --set simulate.quantities=[t500] "
#define NETWORK                                                                         \
  "--set data.target=[t500] --set data.split.valid.from=2000-01-20 "                    \
  "--set data.split.valid.to=2000-01-26 --set data.split.test.from=2000-01-26 "         \
  "--set data.split.gap=1 --set model.unet.preset=tiny --set model.unet.border.x=wrap " \
  "--set train.epochs=2 --set exec.tier=vector "
#define STAGES                                                                \
  "--set bias.use=true --set bias.folds=2 --set bias.model.unet.preset=tiny " \
  "--set bias.data.position=true --set bias.train.epochs=1 --set model.head=spread "
/* Numbers that are made up. */
#define DUMMY \
  NETWORK "--set dummy.quantities=[t500] --set dummy.every=12 --set dummy.init_times=60 "
/* The archives of the scratch folder. */
#define ARCHIVES "--set data.forecast=[%s] --set data.truth=[%s] "
#define FILES in_scratch("s/forecast.nc"), in_scratch("s/truth.nc")

/* The test continues with archives, or is skipped where there can be none. */
static inline void prepare(int init_times)
{
  const int status = program("prepare " SAMPLES "--set simulate.init_times=%d --out %s", init_times,
                             in_scratch("s"));

  if (!weir_netcdf_available()) {
    assert_int_equal(status, 7);
    assert_non_null(strstr(printed(), "does not have: install the library"));
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
  assert_int_equal(status, 0);
}

/* TO/NAME: the archive s/NAME with other numbers in all that starts at `from`, days since 1970, or
 * later (of analyses: that they are of). */
static inline void disturb(const char *name, double from, const char *to)
{
  const char *const path[] = {in_scratch("s/%s", name)};
  wx_archive *a = NULL;
  wx_archive_writer *w = NULL;
  float *x = NULL;

  assert_ok(weir_dir_create(in_scratch("%s", to)));
  assert_ok(wx_archive_open(path, 1, &a));
  const wx_archive_info *f = wx_archive_get(a);
  const int64_t cells = f->grid.n_lat * f->grid.n_lon;

  assert_ok(weir_alloc(f->n_members * cells, sizeof *x, (void **)&x));
  assert_ok(wx_archive_create(in_scratch("%s/%s", to, name), f, &w));
  for (int64_t i = 0; i < f->n_init_times * f->n_leads * f->n_quantities; i++) {
    const int64_t start = i / f->n_quantities / f->n_leads, lead = i / f->n_quantities % f->n_leads;

    assert_ok(wx_archive_read(a, start, lead, i % f->n_quantities, 0, f->n_members, x));
    for (int64_t k = 0; k < f->n_members * cells && (double)f->start[start] / 86400 >= from; k++) {
      x[k] = 3 * x[k] + (float)(k % 7);
    }
    assert_ok(wx_archive_write(w, start, lead, i % f->n_quantities, 0, f->n_members, x));
  }
  assert_ok(wx_archive_commit(&w));
  wx_archive_close(&a);
  weir_free(&x);
}

static inline const char *weights(const char *dir)
{
  return in_scratch("%s/weights.nc", dir);
}

/* Largest difference between two files of numbers, relative to the largest element of its array or
 * 1e-3; *same: whether they have the same bits; notes such as the time of writing may differ. */
static inline double files_difference(const char *a, const char *b, bool *same)
{
  weir_netcdf *nc[2] = {NULL, NULL};
  double worst = 0;
  int n = 0;

  *same = true;
  assert_ok(weir_netcdf_open(a, &nc[0]));
  assert_ok(weir_netcdf_open(b, &nc[1]));
  assert_ok(weir_netcdf_count(nc[0], &n));
  assert_true(n > 5);
  for (int i = 0; i < n; i++) {
    static double value[2][16384]; /* of any type */
    double far = 0, size = 1e-3;
    weir_netcdf_shape shape;
    char name[256];
    int64_t count = 1;

    memset(value, 0, sizeof value);
    assert_ok(weir_netcdf_name(nc[0], i, name, sizeof name));
    for (int k = 0; k < 2; k++) {
      const int64_t zero[WEIR_NETCDF_MAX_DIMS] = {0};
      int var = 0;

      assert_ok(weir_netcdf_find(nc[k], name, &var, &shape));
      count = 1;
      for (int d = 0; d < shape.n_dims; d++) {
        count *= shape.lengths[d];
      }
      assert_true(count <= 16384);
      assert_ok(weir_netcdf_read(nc[k], var, zero, shape.lengths, value[k]));
    }
    *same = *same && memcmp(value[0], value[1], sizeof value[0]) == 0;
    for (int64_t k = 0; k < count; k++) {
      const double x = weir_dtype_load_real(shape.dtype, value[0], k);
      const double d = fabs(x - weir_dtype_load_real(shape.dtype, value[1], k));

      size = fmax(size, fabs(x));
      far = isnan(d) ? INFINITY : fmax(far, d);
    }
    worst = fmax(worst, far / size);
  }
  weir_netcdf_close(&nc[0]);
  weir_netcdf_close(&nc[1]);
  return worst;
}

static inline double weights_difference(const char *a, const char *b, bool *same)
{
  return files_difference(weights(a), weights(b), same);
}

static inline bool same_weights(const char *a, const char *b)
{
  bool same = false;

  (void)weights_difference(a, b, &same);
  return same;
}
#endif
