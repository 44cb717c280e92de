/* sizes_test.c - sub-cubes and means of samples against their definition, what a step of a size
 * takes, and refusals. */
#include "data/sizes.h"
#include <math.h>
#include <string.h>
#include "base/weir_check.h"

enum { SIDE = 4, CHANNELS = 2, VOXELS = SIDE * SIDE * SIDE, VALUES = VOXELS * CHANNELS };

static int64_t side_list[] = {2, 3, SIDE};
static double share_list[] = {1, 1, 2};

static cf_data_opts options(int kind, int scale)
{
  cf_data_opts o;

  weir_opts_default(cf_data_options, sizeof o, &o);
  o.sizes.sides = (weir_int_list){side_list, 3};
  o.sizes.kind = kind;
  o.sizes.scale = scale;
  return o;
}

/* A sample of the numbers 0, 1, .. */
static cf_cubes numbers(int16_t voxels[VALUES])
{
  for (int16_t i = 0; i < VALUES; i++) {
    voxels[i] = i;
  }
  return (cf_cubes){.seed = 3,
                    .sample = 7,
                    .whole = SIDE,
                    .channels = CHANNELS,
                    .dtype = WEIR_I16,
                    .voxels = voxels};
}

static void halves_fill_the_sample(void **state)
{
  const cf_data_opts o = options(CF_SIZE_CROP, CF_SIZE_SCALE_CROPS);
  const weir_train_size size = cf_sizes_of(&o.sizes, 0, SIDE);
  int16_t in[VALUES], out[VALUES], seen[VALUES] = {0};
  const cf_cubes s = numbers(in);

  assert_int_equal(size.repeats, 8);
  cf_sizes_make(&o, &s, &size, out);
  for (int i = 0; i < VALUES; i++) {
    seen[out[i]]++;
  }
  for (int i = 0; i < VALUES; i++) {
    assert_int_equal(seen[i], 1);
  }
  /* The second cube: two voxels further along the width. */
  assert_int_equal(out[8 * CHANNELS], 2 * CHANNELS);
  assert_int_equal(out[8 * CHANNELS + 4 * CHANNELS], (SIDE * SIDE + 2) * CHANNELS);
}

static void other_sides_are_cut_at_random(void **state)
{
  const weir_train_size size = {.side = 3, .repeats = 2};
  cf_cubes s = {.seed = 3, .whole = 8};
  int64_t lo[3], again[3], least = 8, most = 0;

  for (s.sample = 0; s.sample < 50; s.sample++) {
    for (int64_t k = 0; k < 2; k++) {
      cf_sizes_corner(&s, &size, k, lo);
      cf_sizes_corner(&s, &size, k, again);
      assert_memory_equal(lo, again, sizeof lo);
      for (int d = 0; d < 3; d++) {
        least = lo[d] < least ? lo[d] : least;
        most = lo[d] > most ? lo[d] : most;
      }
    }
  }
  assert_int_equal(least, 0);
  assert_int_equal(most, 5);
  s.epoch = 1;
  s.sample = 49;
  cf_sizes_corner(&s, &size, 1, again);
  assert_memory_not_equal(lo, again, sizeof lo);
}

/* The mean of 2 x 2 x 2 voxels of a linear function is its value in their middle. */
static void means_are_those_of_cells(void **state)
{
  const cf_data_opts o = options(CF_SIZE_AVERAGE, CF_SIZE_SCALE_BATCH);
  const weir_train_size size = cf_sizes_of(&o.sizes, 0, SIDE);
  int16_t in[VALUES];
  float out[VALUES / 8];
  const cf_cubes s = numbers(in);
  double sum = 0;

  assert_int_equal(size.batches, 8);
  assert_int_equal(cf_sizes_dtype(&o, WEIR_I16), WEIR_F32);
  cf_sizes_make(&o, &s, &size, out);
  for (int i = 0; i < VALUES / 8; i++) {
    const int c = i % CHANNELS, cell = i / CHANNELS;
    const double z = 2 * (cell / 4) + 0.5, y = 2 * (cell / 2 % 2) + 0.5, x = 2 * (cell % 2) + 0.5;

    assert_near(out[i], ((z * SIDE + y) * SIDE + x) * CHANNELS + c, 1e-6);
    sum += (double)out[i];
  }
  assert_near(sum / (VALUES / 8), (VALUES - 1) / 2.0, 1e-6); /* of the sample */
}

/* A sub-cube over the mean of its sample keeps how dense it is. */
static void the_mean_is_that_of_the_sample(void **state)
{
  cf_data_opts o = options(CF_SIZE_CROP, CF_SIZE_SCALE_CROPS);
  const weir_train_size size = cf_sizes_of(&o.sizes, 0, SIDE);
  int16_t in[VALUES];
  float out[VALUES];
  const cf_cubes s = numbers(in);

  o.scale = CF_SCALE_MEAN;
  assert_int_equal(cf_sizes_dtype(&o, WEIR_I16), WEIR_F32);
  cf_sizes_make(&o, &s, &size, out);
  assert_near(out[1], 1 / ((VALUES - 1) / 2.0), 1e-7);
  assert_near(out[VALUES - 1], (VALUES - 1) / ((VALUES - 1) / 2.0), 1e-6);
  o.scale = CF_SCALE_LOG_DENSITY;
  assert_int_equal(cf_sizes_dtype(&o, WEIR_I16), WEIR_F32);
  cf_sizes_make(&o, &s, &size, out);
  assert_near(out[0], -log((VALUES + 1) / 2.0), 1e-6);
  assert_near(out[VALUES - 1], log(VALUES / ((VALUES + 1) / 2.0)), 1e-6);
}

/* 24 of 32 voxels a side: 27 / 64 of the volume, twice. */
static void steps_have_the_volume_of_whole_samples(void **state)
{
  int64_t sides[] = {16, 24, 32};
  cf_data_opts o = options(CF_SIZE_CROP, CF_SIZE_SCALE_CROPS);

  o.sizes.sides = (weir_int_list){sides, 3};
  o.sizes.shares = (weir_real_list){share_list, 3};
  assert_int_equal(cf_sizes_of(&o.sizes, 0, 32).repeats, 8);
  assert_near(cf_sizes_of(&o.sizes, 0, 32).lr, 1, 1e-12);
  assert_int_equal(cf_sizes_of(&o.sizes, 1, 32).repeats, 2);
  assert_near(cf_sizes_of(&o.sizes, 1, 32).lr, sqrt(54.0 / 64), 1e-12);
  assert_near(cf_sizes_of(&o.sizes, 2, 32).share, 2, 0);
  o.sizes.scale = CF_SIZE_SCALE_BATCH;
  assert_int_equal(cf_sizes_of(&o.sizes, 0, 32).batches, 8);
  assert_int_equal(cf_sizes_of(&o.sizes, 0, 32).repeats, 1);
  o.sizes.scale = CF_SIZE_SCALE_RATE;
  o.sizes.rate_power = 1;
  assert_int_equal(cf_sizes_of(&o.sizes, 0, 32).batches, 1);
  assert_near(cf_sizes_of(&o.sizes, 0, 32).lr, 0.125, 1e-12);
  o.sizes.kind = CF_SIZE_AVERAGE; /* the volume is that of the sample */
  assert_near(cf_sizes_of(&o.sizes, 0, 32).lr, 1, 0);
}

static void refused(const cf_data_opts *o, const cf_volume_info *info, bool segments,
                    const char *text)
{
  assert_int_equal(cf_sizes_check(o, info, segments), WEIR_ERR_CONFIG);
  if (strstr(weir_last_message(), text) == NULL) {
    fail_msg("'%s' is not in '%s'", text, weir_last_message());
  }
}

static void what_cannot_be_is_refused(void **state)
{
  cf_volume_info info = {.lengths = {SIDE, SIDE, SIDE, CHANNELS}};
  cf_data_opts o = options(CF_SIZE_CROP, CF_SIZE_SCALE_CROPS);

  assert_ok(cf_sizes_check(&o, &info, false));
  refused(&o, &info, true, "this one makes classes of voxels");
  o.sizes.shares = (weir_real_list){share_list, 2};
  refused(&o, &info, false, "2 shares for 3 sides");
  o = options(CF_SIZE_AVERAGE, CF_SIZE_SCALE_BATCH);
  refused(&o, &info, false, "3 does not divide the 4 voxels");
  o.sizes.sides.count = 1;
  assert_ok(cf_sizes_check(&o, &info, false));
  o.sizes.scale = CF_SIZE_SCALE_CROPS;
  refused(&o, &info, false, "data.sizes.scale: crops");
  o = options(CF_SIZE_CROP, CF_SIZE_SCALE_RATE);
  info.lengths[2] = 2;
  refused(&o, &info, false, "no cubes");
  info = (cf_volume_info){.lengths = {3, 3, 3, 1}};
  refused(&o, &info, false, "4: samples have 3 voxels");
  o.sizes.sides.count = 0;
  assert_ok(cf_sizes_check(&o, &info, true));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(halves_fill_the_sample),
      cmocka_unit_test(other_sides_are_cut_at_random),
      cmocka_unit_test(means_are_those_of_cells),
      cmocka_unit_test(the_mean_is_that_of_the_sample),
      cmocka_unit_test(steps_have_the_volume_of_whole_samples),
      cmocka_unit_test(what_cannot_be_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
