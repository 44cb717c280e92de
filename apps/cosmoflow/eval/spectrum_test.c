/* spectrum_test.c - spectra of known fields, units, and refusals. */
#include "eval/spectrum.h"
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

static void write_sample(int64_t width)
{
  const cf_volume_info info = {
      .lengths = {N, N, width, CHANNELS}, .dtype = WEIR_F32, .n_labels = 1};
  const float label = 0;
  cf_volume_writer *w = NULL;

  snprintf(path, sizeof path, "%s/s", dir);
  assert_ok(cf_volume_create("npy", path, &info, 1, 0, &w));
  assert_ok(cf_volume_append(w, voxels, &(cf_volume_about){&label, 0, NULL, NULL}));
  assert_ok(cf_volume_commit(&w));
}

static weir_status spectrum_of(const cf_spectrum_opts *o, cf_spectrum *out)
{
  const cf_source_opts from = {.input = {paths, 1}, .cache_bytes = 1 << 20};
  cf_volume_opts files = cf_test_opts();
  const cf_source_spec spec = {.source = &from, .files = &files};
  cf_source *s = NULL;

  files.voxels = CF_QUANTITY_ANY;
  WEIR_TRY(cf_source_open(&spec, &s));
  const weir_status status = cf_spectrum_make(o, s, out);

  cf_source_close(&s);
  return status;
}

/* mean (1 + a cos(2 pi 3 x / N)): two modes of |delta|^2 = a^2 / 4 in the bin of three waves. */
static void make_wave(void)
{
  for (int64_t i = 0; i < CELLS; i++) {
    const double wave = cos(2 * PI * 3 * (double)(i / (N * N)) / N);

    voxels[i * 2] = (float)(1 + 0.5 * wave);
    voxels[i * 2 + 1] = (float)(7 * (1 + 0.25 * wave));
  }
}

static void a_wave_has_its_power_in_physical_units(void **state)
{
  const double cell = 2, box = N * cell, fundamental = 2 * PI / box;
  const cf_spectrum_opts o = {.reach = 1, .cell = cell};
  const double amplitude[CHANNELS] = {0.5, 0.25};
  cf_spectrum s;

  NEEDS_FFTW();
  make_wave();
  write_sample(N);
  assert_ok(spectrum_of(&o, &s));
  assert_true(s.physical && !s.sub_box);
  assert_int_equal(s.n_bins, N / 2);
  for (int64_t b = 0; b < s.n_bins; b++) {
    assert_near(s.lo[b], ((double)b + 0.5) * fundamental, 1e-12);
    assert_near(s.hi[b], ((double)b + 1.5) * fundamental, 1e-12);
    assert_true(s.k[b] >= s.lo[b] && s.k[b] < s.hi[b]);
  }
  for (int c = 0; c < CHANNELS; c++) {
    const double a = amplitude[c], p = 2 * a * a / 4 * box * box * box / s.modes[2];

    assert_near(s.power[c * s.n_bins + 2], p, 1e-5 * p);
    assert_true(s.power[c * s.n_bins + 1] < 1e-9 * p);
    assert_true(isnan(s.linear[c * s.n_bins]) && isnan(s.redshift[c]));
  }
  assert_near(s.mean[1], 7, 1e-5);
  cf_spectrum_fini(&s);
}

static void lengths_that_are_not_known_are_voxels(void **state)
{
  const cf_spectrum_opts o = {.reach = 1.7321};
  weir_table rows = {0};
  cf_spectrum s;

  NEEDS_FFTW();
  make_wave();
  write_sample(N);
  assert_ok(spectrum_of(&o, &s));
  assert_false(s.physical);
  assert_near(s.lo[0], 0.5 * 2 * PI / N, 1e-12);
  assert_true(s.n_bins > N / 2);
  cf_spectrum_table(&s, &rows);
  assert_int_equal(rows.count, CHANNELS * s.n_bins * CF_SPECTRUM_COLUMNS);
  assert_string_equal(cf_spectrum_head(&s)[6], "P_voxel3");
  weir_table_fini(&rows);
  cf_spectrum_fini(&s);
}

static void what_has_no_contrast_is_refused(void **state)
{
  const cf_spectrum_opts o = {.reach = 1}, late = {.reach = 1, .sample = 1};
  cf_spectrum s;

  NEEDS_FFTW();
  make_wave();
  write_sample(N);
  assert_int_equal(spectrum_of(&late, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "power.sample: 1"));
  for (int64_t i = 0; i < CELLS; i++) {
    voxels[i * 2 + 1] = -1;
  }
  write_sample(N);
  assert_int_equal(spectrum_of(&o, &s), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "channel 1 has voxels below 0 (voxel 0 is -1)"));
  assert_non_null(strstr(weir_last_message(), "power.field=overdensity"));
  for (int64_t i = 0; i < CELLS; i++) {
    voxels[i * 2 + 1] = 0;
  }
  write_sample(N);
  assert_int_equal(spectrum_of(&o, &s), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "channel 1 has a mean of 0"));
  write_sample(N / 2);
  assert_int_equal(spectrum_of(&o, &s), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "12 x 12 x 6"));
}

/* offset + a cos(2 pi 3 x / N) in both channels. */
static void make_delta(double offset)
{
  const double amplitude[CHANNELS] = {0.5, 2};

  for (int64_t i = 0; i < CELLS * CHANNELS; i++) {
    const double wave = cos(2 * PI * 3 * (double)(i / CHANNELS / (N * N)) / N);

    voxels[i] = (float)(offset + amplitude[i % CHANNELS] * wave);
  }
}

/* Rounding gives the mean of such a field either sign. */
static void an_overdensity_is_not_divided_by_its_mean(void **state)
{
  const cf_spectrum_opts density = {.reach = 1},
                         delta = {.reach = 1, .field = CF_FIELD_OVERDENSITY};
  const double amplitude[CHANNELS] = {0.5, 2}, offsets[] = {0, 1e-7, -1e-7};
  cf_spectrum s;

  NEEDS_FFTW();
  for (int k = 0; k < 3; k++) {
    make_delta(offsets[k]);
    write_sample(N);
    assert_int_equal(spectrum_of(&density, &s), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "state power.field=overdensity"));
    assert_ok(spectrum_of(&delta, &s));
    assert_int_equal(s.field, CF_FIELD_OVERDENSITY);
    for (int c = 0; c < CHANNELS; c++) {
      const double a = amplitude[c], p = 2 * a * a / 4 * CELLS / s.modes[2];

      assert_near(s.power[c * s.n_bins + 2], p, 1e-5 * p);
      assert_true(s.power[c * s.n_bins + 1] < 1e-9 * p);
    }
    cf_spectrum_fini(&s);
  }
}

static void delta_and_density_have_one_spectrum(void **state)
{
  const cf_spectrum_opts density = {.reach = 1},
                         delta = {.reach = 1, .field = CF_FIELD_OVERDENSITY};
  cf_spectrum s, t;

  NEEDS_FFTW();
  for (int64_t i = 0; i < CELLS * CHANNELS; i++) { /* 1 + delta, of mean 1 */
    voxels[i] = (float)(i / CHANNELS % 2 == 0 ? 0.5 : 1.5) + 0.25f * (float)(i / 48 % 2 * 2 - 1);
  }
  write_sample(N);
  assert_ok(spectrum_of(&density, &s));
  assert_int_equal(s.field, CF_FIELD_DENSITY);
  assert_int_equal(spectrum_of(&delta, &t), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "no voxel below 0"));
  for (int64_t i = 0; i < CELLS * CHANNELS; i++) {
    voxels[i] -= 1;
  }
  write_sample(N);
  assert_ok(spectrum_of(&delta, &t));
  for (int64_t i = 0; i < CHANNELS * s.n_bins; i++) {
    assert_near(t.power[i], s.power[i], 1e-5 * s.power[i] + 1e-9);
  }
  cf_spectrum_fini(&s);
  cf_spectrum_fini(&t);
}

static void a_fraction_is_no_count(void **state)
{
  const cf_spectrum_opts o = {.reach = 1, .field = CF_FIELD_COUNTS};
  cf_spectrum s;

  NEEDS_FFTW();
  make_wave();
  write_sample(N);
  assert_int_equal(spectrum_of(&o, &s), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "which is no count: state power.field=density"));
}

static weir_status measure(void *context)
{
  const cf_spectrum_opts o = {.reach = 1};
  cf_spectrum s;

  (void)context;
  WEIR_TRY(spectrum_of(&o, &s));
  cf_spectrum_fini(&s);
  return WEIR_OK;
}

static void memory_that_is_missing_is_no_leak(void **state)
{
  NEEDS_FFTW();
  make_wave();
  write_sample(N);
  assert_true(weir_check_faults(measure, NULL) >= 10);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)
  const struct CMUnitTest tests[] = {
      CASE(a_wave_has_its_power_in_physical_units), CASE(lengths_that_are_not_known_are_voxels),
      CASE(what_has_no_contrast_is_refused),        CASE(an_overdensity_is_not_divided_by_its_mean),
      CASE(delta_and_density_have_one_spectrum),    CASE(a_fraction_is_no_count),
      CASE(memory_that_is_missing_is_no_leak),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
