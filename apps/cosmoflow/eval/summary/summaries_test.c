/* summaries_test.c - smoothing, one-point distribution and peaks against their definitions, known
 * patterns, and refusals. */
#include "eval/summary/summaries.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"

#define PI 3.14159265358979323846

enum { COUNTS = 1 << CF_SUMMARY_ONE_POINT | 1 << CF_SUMMARY_PEAKS };
enum { MAX = 12, CELLS = MAX * MAX * MAX };
static double rho[CELLS], smooth[CELLS], line[64 * MAX];
static const int64_t sides[] = {1, 2, 3, 5, 8, 11};
enum { SIDES = sizeof sides / sizeof sides[0] };

/* A log-normal density, of which some voxels are empty and some equal their neighbours. */
static void random_density(int64_t n, uint64_t seed)
{
  for (int64_t i = 0; i < n * n * n; i++) {
    const double u = weir_random_uniform(seed, 1, 0, (uint64_t)i);

    rho[i] = u < 0.1 ? 0 : u < 0.3 ? 2 : exp(weir_random_normal(seed, 2, 0, (uint64_t)i));
  }
}

static int64_t inside(int64_t i, int64_t n, bool periodic)
{
  return periodic ? (i % n + n) % n : i >= 0 && i < n ? i : -1;
}

/* The weighted mean over the offsets in three dimensions at once. */
static double smoothed(int64_t n, bool periodic, double sigma, int64_t at)
{
  const int64_t r = (int64_t)(4 * sigma + 0.5);
  double sum = 0, weights = 0;

  for (int64_t x = -r; x <= r; x++) {
    for (int64_t y = -r; y <= r; y++) {
      for (int64_t z = -r; z <= r; z++) {
        const int64_t i = inside(at / (n * n) + x, n, periodic),
                      j = inside(at / n % n + y, n, periodic), k = inside(at % n + z, n, periodic);
        const double w = exp(-(double)(x * x + y * y + z * z) / (2 * sigma * sigma));

        if (i >= 0 && j >= 0 && k >= 0) {
          sum += w * rho[(i * n + j) * n + k];
          weights += w;
        }
      }
    }
  }
  return sum / weights;
}

static void smoothing_is_a_weighted_mean(void **state)
{
  static const double sigmas[] = {0.4, 1.3, 2.5};

  for (int s = 0; s < SIDES * 6; s++) {
    const int64_t n = sides[s % SIDES];
    const bool periodic = s / SIDES % 2 == 0;
    const double sigma = sigmas[s / SIDES / 2];
    cf_smoother of;

    random_density(n, (uint64_t)s);
    memcpy(smooth, rho, sizeof rho);
    assert_ok(cf_smoother_init(n, false, periodic, sigma, &of));
    assert_true(cf_smoother_line(&of) <= (int64_t)(sizeof line / sizeof line[0]));
    cf_smoother_run(&of, smooth, line);
    for (int64_t i = 0; i < n * n * n; i += n < 8 ? 1 : 37) {
      assert_near(smooth[i], smoothed(n, periodic, sigma, i), 1e-12);
    }
    cf_smoother_fini(&of);
  }
}

static void no_smoothing_changes_no_bit(void **state)
{
  cf_smoother of;

  random_density(5, 1);
  memcpy(smooth, rho, sizeof rho);
  assert_ok(cf_smoother_init(5, false, true, 0, &of));
  cf_smoother_run(&of, smooth, line);
  assert_memory_equal(smooth, rho, sizeof rho);
  cf_smoother_fini(&of);
}

/* The bin of a value by comparison with every edge. */
static int64_t bin_by_edges(const cf_count_bins *b, double x)
{
  int64_t at = 0;

  for (int64_t k = 0; k <= b->n; k++) {
    at += x > 0 && log(x) >= b->lo + (double)k * (b->hi - b->lo) / (double)b->n;
  }
  return at;
}

static void shares_are_those_of_the_definition(void **state)
{
  const cf_count_bins b = {-1.03, 1.51, 9};

  for (int s = 0; s < SIDES; s++) {
    const int64_t n = sides[s], voxels = n * n * n;
    double out[11], count[11] = {0}, sum = 0;

    random_density(n, 7 + (uint64_t)s);
    cf_one_point(&b, rho, n * n * n, out);
    for (int64_t i = 0; i < voxels; i++) {
      count[bin_by_edges(&b, rho[i])] += 1;
    }
    for (int k = 0; k < 11; k++) {
      assert_near(out[k], count[k] / (double)voxels, 1e-15);
      sum += out[k];
    }
    assert_near(sum, 1, 1e-14);
  }
}

/* An edge belongs to the bin that begins there. */
static void edges_begin_their_bins(void **state)
{
  const cf_count_bins b = {-1, 1, 4};
  double out[6];

  for (int64_t i = 0; i < 8; i++) {
    rho[i] = 1; /* ln 1 = 0, the third bin */
  }
  rho[0] = 0;
  rho[1] = exp(1) * (1 + 1e-15);
  cf_one_point(&b, rho, 8, out);
  assert_near(out[0], 1.0 / 8, 0);
  assert_near(out[3], 6.0 / 8, 0);
  assert_near(out[5], 1.0 / 8, 0);
}

/* Peaks by the definition: every offset, and no voxel without all its neighbours. */
static bool peak_by_offsets(int64_t n, bool periodic, int64_t at)
{
  for (int64_t x = -1; x <= 1; x++) {
    for (int64_t y = -1; y <= 1; y++) {
      for (int64_t z = -1; z <= 1; z++) {
        const int64_t i = inside(at / (n * n) + x, n, periodic),
                      j = inside(at / n % n + y, n, periodic), k = inside(at % n + z, n, periodic);

        if (i < 0 || j < 0 || k < 0) {
          return false;
        }
        if ((x != 0 || y != 0 || z != 0) && !(rho[at] > rho[(i * n + j) * n + k])) {
          return false;
        }
      }
    }
  }
  return true;
}

static void peaks_are_those_of_the_definition(void **state)
{
  const cf_count_bins b = {-1.03, 1.51, 9};

  for (int s = 0; s < SIDES * 2; s++) {
    const int64_t n = sides[s % SIDES];
    const bool periodic = s / SIDES == 0;
    double out[11], count[11] = {0}, all = 0;

    random_density(n, 20 + (uint64_t)s);
    cf_peaks(&b, rho, n, false, periodic, out);
    for (int64_t i = 0; i < n * n * n; i++) {
      count[bin_by_edges(&b, rho[i])] += peak_by_offsets(n, periodic, i);
    }
    for (int k = 0; k < 11; k++) {
      assert_near(out[k], count[k], 0);
      all += out[k];
    }
    assert_true(n < 5 || all > 0);
    assert_true(n > 1 || all == 0); /* a voxel that is its own neighbour */
  }
}

/* 2 + 0.3 (cos x + cos y + cos z), three waves along each axis: 27 peaks of height 2.9 at every
 * fourth point. Those on three faces have neighbours where the box is periodic alone. */
static void peaks_of_waves_are_where_they_have_to_be(void **state)
{
  const cf_count_bins b = {log(2.8), log(3), 1};
  double out[3];

  for (int64_t i = 0; i < CELLS; i++) {
    const int64_t at[] = {i / (MAX * MAX), i / MAX % MAX, i % MAX};

    rho[i] = 2;
    for (int k = 0; k < 3; k++) {
      rho[i] += 0.3 * cos(2 * PI * 3 * (double)at[k] / MAX);
    }
  }
  cf_peaks(&b, rho, MAX, false, true, out);
  assert_near(out[1], 27, 0);
  assert_near(out[0] + out[2], 0, 0);
  cf_peaks(&b, rho, MAX, false, false, out);
  assert_near(out[1], 8, 0);
  rho[(4 * MAX + 4) * MAX + 5] = rho[(4 * MAX + 4) * MAX + 4]; /* two equal ones are none */
  cf_peaks(&b, rho, MAX, false, true, out);
  assert_near(out[1], 26, 0);
}

/* ---- of a sample ---- */

static double scales[] = {0, 3};
static cf_summary_opts opts(void)
{
  return (cf_summary_opts){.one_point = {{scales, 2}, -2, 2, 8}, .peaks = {{scales, 1}, -1, 2, 6}};
}

static cf_volume_info shape(int64_t n, double cell, double box)
{
  return (cf_volume_info){.lengths = {n, n, n, 2}, .dtype = WEIR_F32, .cell = cell, .box = box};
}

/* Measures channel 1 of a sample of which both channels are rho, the second three times. */
static bool measure(const cf_summaries *s, double *out, cf_summary_fault *fault)
{
  static float voxels[CELLS * 2];
  cf_summary_slot slot;
  double *to[CF_SUMMARIES];

  for (int64_t i = 0; i < CELLS; i++) {
    voxels[2 * i] = (float)rho[i];
    voxels[2 * i + 1] = (float)(3 * rho[i]);
  }
  for (int k = 0; k < CF_SUMMARIES; k++) {
    to[k] = out;
    out += s->each[k];
  }
  assert_ok(cf_summary_slot_init(s, &slot));
  const bool done = cf_summaries_measure(s, &slot, voxels, 1, to, fault);

  cf_summary_slot_fini(s, &slot);
  return done;
}

/* The density is in units of its mean, and lengths are in those of a voxel. */
static void a_sample_is_measured_in_its_own_units(void **state)
{
  const cf_summary_opts o = opts();
  const cf_volume_info info = shape(11, 2, 22);
  const cf_count_bins b = {-2, 2, 8}, of_peaks = {-1, 2, 6};
  double out[64], expected[64], mean = 0;
  cf_summary_fault fault;
  cf_summaries s;
  cf_smoother by;

  random_density(11, 3);
  assert_ok(cf_summaries_init(&o, COUNTS, &info, &s));
  assert_true(s.periodic);
  assert_int_equal(s.each[CF_SUMMARY_ONE_POINT], 20);
  assert_int_equal(s.each[CF_SUMMARY_PEAKS], 8);
  assert_true(measure(&s, out, &fault));
  for (int64_t i = 0; i < 1331; i++) {
    rho[i] = (double)(float)(3 * rho[i]);
    mean += rho[i] / 1331;
  }
  for (int64_t i = 0; i < 1331; i++) {
    rho[i] /= mean;
  }
  cf_one_point(&b, rho, 11 * 11 * 11, expected);
  cf_peaks(&of_peaks, rho, 11, false, true, expected + 20);
  assert_ok(cf_smoother_init(11, false, true, 1.5, &by));
  cf_smoother_run(&by, rho, line);
  cf_one_point(&b, rho, 11 * 11 * 11, expected + 10);
  for (int k = 0; k < 28; k++) {
    assert_near(out[k], expected[k], 1e-14);
  }
  cf_smoother_fini(&by);
  cf_summaries_fini(&s);
}

/* Every voxel is in the bin of ln 1, whatever the smoothing, and none is a peak. */
static void a_constant_field_has_no_peaks(void **state)
{
  const cf_summary_opts o = opts();

  for (int64_t n = 1; n <= MAX; n++) {
    for (int cut = 0; cut < 2; cut++) {
      const cf_volume_info info = shape(n, 4, cut != 0 ? 400 : 4 * (double)n);
      double out[64];
      cf_summary_fault fault;
      cf_summaries s;

      for (int64_t i = 0; i < CELLS; i++) {
        rho[i] = 7;
      }
      assert_ok(cf_summaries_init(&o, COUNTS, &info, &s));
      assert_int_equal(s.periodic, cut == 0);
      assert_true(measure(&s, out, &fault));
      for (int k = 0; k < 28; k++) { /* rounding of the smoothed may be below 1 */
        const bool middle = k == 5 || k == 15 || k == 14;

        assert_true(middle || out[k] == 0);
      }
      assert_near(out[5], 1, 0);
      assert_near(out[14] + out[15], 1, 1e-14);
      cf_summaries_fini(&s);
    }
  }
}

static void voxels_that_are_no_density_are_refused(void **state)
{
  static const double values[] = {NAN, INFINITY, -0.5};
  static const char *const text[] = {"voxel 17 is nan, not finite", "voxel 17 is inf, not finite",
                                     "voxel 17 is -1.5, below 0"};
  const cf_summary_opts o = opts();
  const cf_volume_info info = shape(MAX, 4, 0);
  double out[64];
  cf_summary_fault fault;
  cf_summaries s;

  assert_ok(cf_summaries_init(&o, COUNTS, &info, &s));
  assert_false(s.periodic); /* the box is not known */
  for (int k = 0; k < 3; k++) {
    random_density(MAX, 5);
    rho[17] = values[k];
    assert_false(measure(&s, out, &fault));
    assert_int_equal(cf_summary_refuse(&fault, "a.npy"), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "a.npy: channel 1"));
    assert_non_null(strstr(weir_last_message(), text[k]));
  }
  memset(rho, 0, sizeof rho);
  assert_false(measure(&s, out, &fault));
  assert_int_equal(cf_summary_refuse(&fault, "a.npy"), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "has a mean of 0"));
  cf_summaries_fini(&s);
}

static void refused(const cf_summary_opts *o, const cf_volume_info *info, weir_status status,
                    const char *text)
{
  cf_summaries s;

  assert_int_equal(cf_summaries_init(o, COUNTS, info, &s), status);
  if (strstr(weir_last_message(), text) == NULL) {
    fail_msg("'%s' is not in %s", text, weir_last_message());
  }
}

static void options_that_contradict_are_refused(void **state)
{
  const cf_volume_info known = shape(8, 2, 16), part = shape(8, 2, 64), unknown = shape(8, 0, 0);
  cf_volume_info flat = known;
  cf_summary_opts o = opts();
  cf_summaries s;

  refused(&o, &unknown, WEIR_ERR_CONFIG, "state summaries.cell");
  o.cell = 2;
  assert_ok(cf_summaries_init(&o, COUNTS, &unknown, &s));
  assert_near(s.cell, 2, 0);
  cf_summaries_fini(&s);
  o.cell = 3;
  refused(&o, &known, WEIR_ERR_CONFIG, "summaries.cell: 3: the files state voxels of 2 Mpc/h");
  o = opts();
  o.boundary = CF_BOUNDARY_PERIODIC;
  refused(&o, &part, WEIR_ERR_CONFIG, "a part of a box is not periodic");
  o.boundary = CF_BOUNDARY_CUT;
  assert_ok(cf_summaries_init(&o, COUNTS, &known, &s));
  assert_false(s.periodic);
  cf_summaries_fini(&s);
  o = opts();
  o.one_point.smoothing = (weir_real_list){(double[]){17}, 1};
  refused(&o, &known, WEIR_ERR_CONFIG, "is above the side of a sample, 16 Mpc/h");
  o.one_point.smoothing.count = 0;
  refused(&o, &known, WEIR_ERR_CONFIG, "summaries.one_point.smoothing is empty");
  o = opts();
  o.peaks.hi = o.peaks.lo;
  refused(&o, &known, WEIR_ERR_CONFIG, "summaries.peaks: the bins from lo -1 to hi -1 are empty");
  o = opts();
  flat.lengths[2] = 4;
  refused(&o, &flat, WEIR_ERR_DATA, "8 x 8 x 4, and no cubes or square maps");
}

static weir_status make(void *context)
{
  const cf_summary_opts o = opts();
  const cf_volume_info info = shape(5, 2, 10);
  cf_summary_slot slot;
  cf_summaries s;

  (void)context;
  WEIR_TRY(cf_summaries_init(&o, COUNTS, &info, &s));
  const weir_status status = cf_summary_slot_init(&s, &slot);

  if (status == WEIR_OK) {
    cf_summary_slot_fini(&s, &slot);
  }
  cf_summaries_fini(&s);
  return status;
}

static void memory_that_is_missing_is_no_leak(void **state)
{
  assert_true(weir_check_faults(make, NULL) >= 8);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(smoothing_is_a_weighted_mean),
      cmocka_unit_test(no_smoothing_changes_no_bit),
      cmocka_unit_test(shares_are_those_of_the_definition),
      cmocka_unit_test(edges_begin_their_bins),
      cmocka_unit_test(peaks_are_those_of_the_definition),
      cmocka_unit_test(peaks_of_waves_are_where_they_have_to_be),
      cmocka_unit_test(a_sample_is_measured_in_its_own_units),
      cmocka_unit_test(a_constant_field_has_no_peaks),
      cmocka_unit_test(voxels_that_are_no_density_are_refused),
      cmocka_unit_test(options_that_contradict_are_refused),
      cmocka_unit_test(memory_that_is_missing_is_no_leak),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
