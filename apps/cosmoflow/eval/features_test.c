/* features_test.c - spectra and moments of fields that are known; order, threads, refusals. */
#include "eval/features.h"
#include <math.h>
#include <string.h>
#include "support/cosmoflow/mesh_check.h"
#include "support/cosmoflow/volume_test.h"
#include "device/weir_parallel.h"

enum { N = 12, CHANNELS = 2, CELLS = N * N * N };
static char dir[256], path[512];
static const char *paths[] = {dir};
static float voxels[CELLS * CHANNELS];

static int make_dir(void **state)
{
  weir_check_mkdir(dir, sizeof dir);
  return 0;
}

static int drop_dir(void **state)
{
  weir_check_rmdir(dir);
  return 0;
}

/* A file of one sample. */
static void write_sample(int k, int64_t width)
{
  const cf_volume_info info = {
      .lengths = {N, N, width, CHANNELS}, .dtype = WEIR_F32, .n_labels = 1};
  const float label = 0;
  cf_volume_writer *w = NULL;

  snprintf(path, sizeof path, "%s/s%02d", dir, k);
  assert_ok(cf_volume_create("npy", path, &info, 1, 0, &w));
  assert_ok(cf_volume_append(w, voxels, &(cf_volume_about){&label, k, NULL, NULL}));
  assert_ok(cf_volume_commit(&w));
}

static int voxels_are = CF_QUANTITY_ANY;

static cf_source *open_set(void)
{
  static cf_source_opts from;
  static cf_volume_opts files;
  const cf_source_spec spec = {.source = &from, .files = &files};
  cf_source *s = NULL;

  from = (cf_source_opts){.input = {paths, 1}, .cache_bytes = 1 << 20};
  files = cf_test_opts();
  files.voxels = voxels_are;
  assert_ok(cf_source_open(&spec, &s));
  return s;
}

static int scale = CF_FEATURES_OF_COUNTS;

static cf_features features_of(int64_t bins, int64_t moments, const int64_t *sample, int64_t n)
{
  const cf_feature_opts o = {.scale = scale, .reach = 1, .bins = bins, .moments = moments};
  cf_source *s = open_set();
  cf_features f;

  assert_ok(cf_features_make(
      &o,
      &(cf_feature_samples){.source = s, .sample = sample, .n = n, .visit = NULL, .context = NULL},
      &f));
  cf_source_close(&s);
  return f;
}

/* 1 + a cos(2 pi 3 x / n): the bin of 3 waves has 2 (a / 2)^2 over its waves, the others nothing.
 */
static void a_wave_is_in_its_bin(void **state)
{
  const int64_t first = 0;
  const double a = 0.5;
  cf_mesh *m = NULL;
  cf_power power;

  NEEDS_FFTW();
  for (int64_t i = 0; i < CELLS; i++) {
    voxels[i * 2] = (float)(1 + a * cos(2 * PI * 3 * (double)(i / (N * N)) / N));
    voxels[i * 2 + 1] = 2;
  }
  write_sample(0, N);
  cf_features f = features_of(0, 2, &first, 1);

  assert_ok(cf_mesh_create(N, &m));
  assert_ok(cf_power_init(&power, m, 1, cf_mesh_side(m) / 2));
  assert_int_equal(f.n_power, N / 2 * CHANNELS);
  assert_int_equal(f.n_features, (N / 2 + 2) * CHANNELS);
  for (int b = 0; b < N / 2; b++) {
    if (b == 2) {
      assert_near(f.x[b], log10(a * a / 2 / power.modes[b]), 1e-5);
    } else {
      assert_true(f.x[b] < -12);
    }
    assert_true(f.x[N / 2 + b] < -12 && isfinite(f.x[N / 2 + b])); /* a field without waves */
  }
  assert_near(f.x[f.n_power + 2], log(3), 1e-6); /* mean and deviation of the second channel */
  assert_near(f.x[f.n_power + 3], 0, 1e-6);
  cf_features_fini(&f);
  cf_power_fini(&power);
  cf_mesh_destroy(&m);
}

/* Of n over its mean three times as many particles are the same; of counts they are not. */
static void numbers_of_particles_do_not_tell(void **state)
{
  static const int64_t both[] = {0, 1};

  NEEDS_FFTW();
  for (int64_t k = 0; k < 2; k++) {
    for (int64_t i = 0; i < CELLS * CHANNELS; i++) {
      voxels[i] = (float)((k == 0 ? 1 : 3) * (i * i % 17));
    }
    write_sample((int)k, N);
  }
  for (int means = 0; means < 2; means++) {
    scale = means == 1 ? CF_FEATURES_OF_DENSITY : CF_FEATURES_OF_COUNTS;
    cf_features f = features_of(0, 3, both, 2);

    for (int64_t k = 0; k < f.n_power; k++) {
      assert_near(f.x[f.n_features + k] - f.x[k], means == 1 ? 0 : 2 * log10(3), 1e-5);
    }
    for (int64_t k = f.n_power; k < f.n_features && means == 1; k++) {
      assert_near(f.x[f.n_features + k] - f.x[k], 0, 1e-6);
    }
    cf_features_fini(&f);
  }
  scale = CF_FEATURES_OF_COUNTS;
}

/* log(1 + n) is 0 or 1: mean p, variance p (1 - p), skewness (1 - 2 p) / root, and so on. */
static void moments_of_two_values(void **state)
{
  const int64_t first = 0;
  const double p = 0.25, sigma = sqrt(p * (1 - p));

  NEEDS_FFTW();
  for (int64_t i = 0; i < CELLS; i++) {
    voxels[i * 2] = i % 4 == 0 ? (float)(exp(1) - 1) : 0;
    voxels[i * 2 + 1] = 0;
  }
  write_sample(0, N);
  cf_features f = features_of(0, 4, &first, 1);
  const double *const u = f.x + f.n_power;

  assert_near(u[0], p, 1e-6);
  assert_near(u[1], sigma, 1e-6);
  assert_near(u[2], (1 - 2 * p) / sigma, 1e-5);
  assert_near(u[3], (1 - 3 * p * (1 - p)) / (sigma * sigma), 1e-5);
  for (int k = 4; k < 8; k++) {
    assert_true(u[k] == 0); /* nothing there: no NaN */
  }
  cf_features_fini(&f);
}

static void random_samples(int n)
{
  for (int k = 0; k < n; k++) {
    for (uint64_t i = 0; i < CELLS * CHANNELS; i++) {
      voxels[i] = (float)floor(4 * weir_random_uniform(3, 1, (uint32_t)k, i));
    }
    write_sample(k, N);
  }
}

/* Bins that are joined are the mean over the waves of both. */
static void neighbouring_bins_are_averaged(void **state)
{
  const int64_t first = 0;
  cf_mesh *m = NULL;
  cf_power power;

  NEEDS_FFTW();
  random_samples(1);
  cf_features fine = features_of(0, 0, &first, 1), coarse = features_of(4, 0, &first, 1);

  assert_ok(cf_mesh_create(N, &m));
  assert_ok(cf_power_init(&power, m, 1, cf_mesh_side(m) / 2));
  assert_int_equal(coarse.n_power, 3 * CHANNELS); /* 6 in pairs */
  assert_int_equal(coarse.n_features, coarse.n_power);
  for (int b = 0; b < 3; b++) {
    const double one = power.modes[2 * b], two = power.modes[2 * b + 1];

    assert_near(
        coarse.x[b],
        log10((one * pow(10, fine.x[2 * b]) + two * pow(10, fine.x[2 * b + 1])) / (one + two)),
        1e-9);
  }
  cf_features_fini(&fine);
  cf_features_fini(&coarse);
  cf_power_fini(&power);
  cf_mesh_destroy(&m);
}

/* Bins beyond Nyquist's wave hold the corners: with all of them no wave is left out, so that their
 * sum is the variance (Parseval). */
static void all_waves_are_the_variance(void **state)
{
  const int64_t first = 0;
  cf_mesh *m = NULL;
  cf_power power;
  double mean = 0, square = 0, sum = 0;

  NEEDS_FFTW();
  random_samples(1);
  for (int64_t i = 0; i < CELLS; i++) {
    mean += (double)voxels[i * 2] / CELLS;
    square += (double)(voxels[i * 2] * voxels[i * 2]) / CELLS;
  }
  const cf_feature_opts o = {.reach = 1.7321};
  cf_source *s = open_set();
  cf_features f;

  assert_ok(cf_features_make(
      &o,
      &(cf_feature_samples){.source = s, .sample = &first, .n = 1, .visit = NULL, .context = NULL},
      &f));
  assert_ok(cf_mesh_create(N, &m));
  assert_ok(cf_power_init(&power, m, 1, cf_power_max_bins(m)));
  assert_int_equal(f.n_power, cf_power_max_bins(m) * CHANNELS);
  for (int64_t b = 0; b < power.n_bins; b++) {
    sum += power.modes[b] * pow(10, f.x[b]);
  }
  assert_near(sum, square - mean * mean, 1e-5);
  cf_features_fini(&f);
  cf_power_fini(&power);
  cf_mesh_destroy(&m);
  cf_source_close(&s);
}

/* On any mesh: every wave but that of the mean is in a bin, and no bin is empty. */
static void bins_hold_every_wave_of_a_mesh(void **state)
{
  NEEDS_FFTW();
  for (int64_t n = CF_MIN_MESH; n <= 17; n++) {
    cf_mesh *m = NULL;
    cf_power power;
    double waves = 0;

    assert_ok(cf_mesh_create(n, &m));
    assert_ok(cf_power_init(&power, m, 1, cf_power_max_bins(m)));
    for (int64_t b = 0; b < power.n_bins; b++) {
      assert_true(power.modes[b] > 0);
      waves += power.modes[b];
    }
    assert_near(waves, (double)(n * n * n - 1), 0);
    cf_power_fini(&power);
    cf_mesh_destroy(&m);
  }
}

static weir_status count_visit(void *context, int64_t i)
{
  int64_t *const seen = context;

  return i == (*seen)++ ? WEIR_OK : weir_fail(WEIR_ERR_DATA, "out of order");
}

static void order_and_threads_make_no_difference(void **state)
{
  static const int64_t some[] = {6, 0, 3, 3, 2};
  const cf_feature_opts o = {.reach = 1, .moments = 3};
  const int threads = weir_threads_get();
  int64_t all[7], seen = 0;

  NEEDS_FFTW();
  random_samples(7);
  for (int64_t k = 0; k < 7; k++) {
    all[k] = k;
  }
  weir_threads_set(1);
  cf_features one = features_of(0, 3, all, 7);

  weir_threads_set(3);
  cf_source *s = open_set();
  cf_features f;

  assert_ok(cf_features_make(
      &o,
      &(cf_feature_samples){
          .source = s, .sample = some, .n = 5, .visit = count_visit, .context = &seen},
      &f));
  assert_int_equal(seen, 5);
  for (int k = 0; k < 5; k++) {
    assert_memory_equal(f.x + k * f.n_features, one.x + some[k] * f.n_features,
                        sizeof(double) * (size_t)f.n_features);
  }
  weir_threads_set(threads);
  cf_features_fini(&f);
  cf_features_fini(&one);
  cf_source_close(&s);
}

/* Further summaries stand after the moments, by kind and channel, on any number of threads. */
static void summaries_stand_in_their_columns(void **state)
{
  static const int64_t all[] = {0, 1, 2};
  static double none[] = {0}, power[] = {1};
  const int threads = weir_threads_get();
  const cf_summary_opts summaries = {.one_point = {{none, 1}, -2, 2, 3},
                                     .peaks = {{none, 1}, -1, 2, 2},
                                     .bispectrum = {1, 0.6667, 1, 2},
                                     .multipoles = {.width = 1, .from = 0.5, .reach = 1},
                                     .scattering = {1, 2, 1, {power, 1}}};
  const cf_feature_opts o = {
      .reach = 1, .moments = 3, .which = CF_SUMMARY_ALL, .summaries = &summaries};
  cf_features f[2];

  NEEDS_FFTW();
  random_samples(3);
  cf_features base = features_of(0, 3, all, 3);

  for (int k = 0; k < 2; k++) {
    cf_source *s = open_set();

    weir_threads_set(k == 0 ? 1 : 3);
    assert_ok(
        cf_features_make(&o, &(cf_feature_samples){.source = s, .sample = all, .n = 3}, &f[k]));
    cf_source_close(&s);
  }
  weir_threads_set(threads);
  const int64_t *const begin = f[0].begin;

  assert_int_equal(begin[CF_FEATURE_SUMMARIES], base.n_features);
  assert_int_equal(begin[CF_FEATURE_SUMMARIES + 1] - begin[CF_FEATURE_SUMMARIES], 5 * CHANNELS);
  assert_int_equal(f[0].n_features,
                   base.n_features + (5 + 4 + 3 + 2 + 3 * (N / 2 - 1) + 6) * CHANNELS);
  assert_memory_equal(f[0].x, f[1].x, sizeof(double) * 3 * (size_t)f[0].n_features);
  for (int64_t i = 0; i < 3; i++) {
    const double *const row = f[0].x + i * f[0].n_features;

    assert_memory_equal(row, base.x + i * base.n_features,
                        sizeof(double) * (size_t)base.n_features);
    for (int64_t c = 0; c < CHANNELS; c++) {
      double sum = 0;

      for (int64_t k = 0; k < 5; k++) {
        sum += row[begin[CF_FEATURE_SUMMARIES] + 5 * c + k];
      }
      assert_near(sum, 1, 1e-14); /* shares of voxels */
    }
  }
  voxels[7] = -0.5f; /* the moments are of it, the density is not */
  write_sample(1, N);
  cf_source *s = open_set();

  cf_features_fini(&f[1]);
  assert_int_equal(
      cf_features_make(&o, &(cf_feature_samples){.source = s, .sample = all, .n = 3}, &f[1]),
      WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "s01_data.npy"));
  assert_non_null(strstr(weir_last_message(), "channel 1: voxel 3 is -0.5, below 0"));
  cf_source_close(&s);
  cf_features_fini(&f[0]);
  cf_features_fini(&base);
}

static weir_status refuse(void *context, int64_t i)
{
  (void)context;
  return i == 1 ? weir_fail(WEIR_ERR_DATA, "not this one") : WEIR_OK;
}

static void what_is_no_cube_of_counts_is_refused(void **state)
{
  static const int64_t both[] = {0, 1};
  const cf_feature_opts with = {.reach = 1, .moments = 2}, without = {.reach = 1};
  cf_source *s = NULL;
  cf_features f;

  NEEDS_FFTW();
  random_samples(2);
  voxels[7] = -1.5f;
  write_sample(1, N);
  s = open_set();
  assert_int_equal(
      cf_features_make(&with,
                       &(cf_feature_samples){
                           .source = s, .sample = both, .n = 2, .visit = NULL, .context = NULL},
                       &f),
      WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "s01_data.npy"));
  assert_non_null(strstr(weir_last_message(), "a voxel of -1.5"));
  cf_source_close(&s);
  voxels_are = CF_QUANTITY_AUTO;
  s = open_set();
  assert_int_equal(
      cf_features_make(&with,
                       &(cf_feature_samples){
                           .source = s, .sample = both, .n = 2, .visit = NULL, .context = NULL},
                       &f),
      WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "files.voxels"));
  voxels_are = CF_QUANTITY_ANY;
  assert_ok(cf_features_make(
      &without,
      &(cf_feature_samples){.source = s, .sample = both, .n = 2, .visit = NULL, .context = NULL},
      &f));
  cf_features_fini(&f);
  assert_int_equal(
      cf_features_make(&without,
                       &(cf_feature_samples){
                           .source = s, .sample = both, .n = 2, .visit = refuse, .context = NULL},
                       &f),
      WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "not this one"));
  cf_source_close(&s);
  drop_dir(state);
  make_dir(state);
  write_sample(0, N / 2);
  s = open_set();
  assert_int_equal(
      cf_features_make(&without,
                       &(cf_feature_samples){
                           .source = s, .sample = both, .n = 1, .visit = NULL, .context = NULL},
                       &f),
      WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "12 x 12 x 6"));
  cf_source_close(&s);
}

static weir_status make(void *context)
{
  static const int64_t both[] = {0, 1};
  const cf_feature_opts o = {.reach = 1, .moments = 2};
  const cf_source_opts from = {.input = {paths, 1}, .cache_bytes = 1 << 20};
  const cf_volume_opts files = cf_test_opts();
  const cf_source_spec spec = {.source = &from, .files = &files};
  cf_source *s = NULL;
  cf_features f;

  (void)context;
  WEIR_TRY(cf_source_open(&spec, &s));
  const weir_status status = cf_features_make(
      &o,
      &(cf_feature_samples){.source = s, .sample = both, .n = 2, .visit = NULL, .context = NULL},
      &f);

  if (status == WEIR_OK) {
    cf_features_fini(&f);
  }
  cf_source_close(&s);
  return status;
}

static void memory_that_is_missing_is_no_leak(void **state)
{
  NEEDS_FFTW();
  random_samples(2);
  assert_true(weir_check_faults(make, NULL) >= 20);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)
  const struct CMUnitTest tests[] = {
      CASE(a_wave_is_in_its_bin),
      CASE(numbers_of_particles_do_not_tell),
      CASE(moments_of_two_values),
      CASE(neighbouring_bins_are_averaged),
      CASE(all_waves_are_the_variance),
      CASE(bins_hold_every_wave_of_a_mesh),
      CASE(order_and_threads_make_no_difference),
      CASE(summaries_stand_in_their_columns),
      CASE(what_is_no_cube_of_counts_is_refused),
      CASE(memory_that_is_missing_is_no_leak),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
