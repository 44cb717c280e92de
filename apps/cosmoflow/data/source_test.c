/* source_test.c - samples of synth:// are those of files, for any cache and order; files as a
 * source; refusals. */
#include "data/source.h"
#include "base/weir_signal.h"
#include "data/simulation/universe_write.h"
#include "support/cosmoflow/volume_test.h"
#include "ops/fft/weir_fft_plan.h"

enum { SIDE = 8, CHANNELS = 3 };

static char dir[256];
static double some_redshifts[CHANNELS] = {0, 0.5, 3};
static const char *synth[] = {CF_SOURCE_SYNTH, "there"};

#define NEEDS(there, what)                             \
  do {                                                 \
    if (!(there)) {                                    \
      printf("skipped: this build has no " what "\n"); \
      skip();                                          \
    }                                                  \
  } while (0)

static cf_universe_opts small(int64_t block)
{
  cf_universe_opts o;

  weir_opts_default(cf_universe_options, sizeof o, &o);
  o.universes = 5;
  o.first = 3;
  o.file = 2;
  o.side = SIDE;
  o.block = block;
  o.box = 100;
  o.redshifts = (weir_real_list){some_redshifts, CHANNELS};
  return o;
}

static weir_status try_source(const char **paths, int64_t n, const cf_universe_opts *o,
                              int64_t cache, cf_source **out)
{
  static const cf_volume_opts files = {.volume = "", .labels = "", .max_bytes = 1 << 28};
  const cf_source_opts source = {.input = {paths, n}, .cache_bytes = cache};

  return cf_source_open(
      &(cf_source_spec){.source = &source, .files = &files, .simulate = o, .seed = 7}, out);
}

/* A universe that is used again is made again only where it was dropped; bits are the same. */
static void order_and_memory_make_no_difference(void **state)
{
  NEEDS(weir_fft_plan_available(), "FFTW");
  const cf_universe_opts o = small(4);
  const int64_t bytes = SIDE * SIDE * SIDE * CHANNELS * 2, caches[] = {0, 2 * bytes, 100 * bytes};
  static int16_t all[40][4 * 4 * 4 * CHANNELS], one[4 * 4 * 4 * CHANNELS];
  cf_source *s = NULL;

  for (int i = 0; i < 3; i++) {
    assert_ok(try_source(synth, 1, &o, caches[i], &s));
    assert_int_equal(cf_source_count(s), 40);
    for (int64_t k = 0; i == 0 && k < 40; k++) {
      assert_ok(cf_source_read(s, k, 0, 4, WEIR_I16, all[k]));
    }
    for (int64_t k = 0; k < 80; k++) {
      const int64_t sample = k * 17 % 40; /* 17 is more than two universes on */

      assert_ok(cf_source_read(s, sample, 0, 1, WEIR_I16, one));
      assert_ok(cf_source_read(s, sample, 1, 4, WEIR_I16, one + 4 * 4 * CHANNELS));
      assert_memory_equal(one, all[sample], sizeof one);
    }
    if (i == 2) {
      assert_int_equal(cf_source_made(s), 5);
    } else {
      assert_true(cf_source_made(s) > 40);
    }
    cf_source_close(&s);
  }
}

/* All variables and attributes that `prepare` writes. */
static void the_same_as_files(void **state)
{
  NEEDS(weir_fft_plan_available(), "FFTW");
  NEEDS(weir_netcdf_available(), "NetCDF");
  const char *paths[] = {dir};
  static float here[SIDE * SIDE * SIDE * CHANNELS], there[SIDE * SIDE * SIDE * CHANNELS];
  float y[2][CF_MAX_LABELS];

  for (int values = CF_VALUES_I16; values <= CF_VALUES_F32; values++) {
    cf_universe_opts o = small(values == CF_VALUES_I16 ? 4 : 0);
    cf_source *s = NULL, *files = NULL;
    cf_written done;
    int64_t universe[2];

    o.values = values;
    o.counts = values == CF_VALUES_F32 ? CF_COUNTS_CIC : CF_COUNTS_NGP;
    o.method = values == CF_VALUES_F32 ? CF_METHOD_PM : CF_METHOD_2LPT;
    weir_check_rmdir(dir);
    assert_ok(weir_dir_create(dir));
    assert_ok(cf_universe_write(&o, 7, dir, NULL, &done));
    assert_ok(try_source(synth, 1, &o, 0, &s));
    assert_ok(try_source(paths, 1, &o, 0, &files));
    const cf_volume_info *const a = cf_source_info(s), *const b = cf_source_info(files);
    const size_t bytes = (size_t)cf_volume_elements(a) * sizeof(float);

    assert_int_equal(cf_source_count(s), values == CF_VALUES_I16 ? 40 : 5);
    assert_int_equal(cf_source_count(s), cf_source_count(files));
    assert_memory_equal(a->lengths, b->lengths, sizeof a->lengths);
    assert_true(a->dtype == b->dtype && a->n_labels == b->n_labels);
    assert_memory_equal(a->label, b->label, sizeof a->label);
    assert_int_equal(a->n_redshifts, b->n_redshifts);
    assert_memory_equal(a->redshift, b->redshift, sizeof a->redshift);
    for (int64_t k = 0; k < cf_source_count(s); k++) {
      assert_ok(cf_source_read(s, k, 0, a->lengths[0], WEIR_F32, here));
      assert_ok(cf_source_read(files, k, 0, a->lengths[0], WEIR_F32, there));
      assert_memory_equal(here, there, bytes);
      assert_ok(cf_source_labels(s, k, y[0]));
      assert_ok(cf_source_labels(files, k, y[1]));
      assert_memory_equal(y[0], y[1], (size_t)a->n_labels * sizeof(float));
      assert_ok(cf_source_universe(s, k, &universe[0]));
      assert_ok(cf_source_universe(files, k, &universe[1]));
      assert_int_equal(universe[0], universe[1]);
    }
    assert_non_null(cf_source_within(files, dir));
    assert_null(cf_source_within(s, dir));
    cf_source_close(&s);
    cf_source_close(&files);
  }
}

static void locations_are_told(void **state)
{
  NEEDS(weir_fft_plan_available(), "FFTW");
  const cf_universe_opts o = small(4);
  cf_source *s = NULL;
  char text[256];

  assert_ok(try_source(synth, 1, &o, 0, &s));
  cf_source_locate(s, 10, text, sizeof text);
  assert_string_equal(text, "universe 4: sample 3 of 8");
  cf_source_describe(s, text, sizeof text);
  assert_string_equal(text,
                      "40 samples of 4 x 4 x 4 x 3 i16 with 4 labels in 5 universes: simulated "
                      "when asked for, 2LPT");
  cf_source_close(&s);
}

/* Keys differ for other options, seeds or numbers, and for files that were written again. */
static void keys_tell_sources_apart(void **state)
{
  NEEDS(weir_fft_plan_available(), "FFTW");
  cf_universe_opts o[4] = {small(4), small(4), small(4), small(4)};
  const char *paths[] = {dir};
  const cf_volume_info info = {.lengths = {2, 2, 2, 1}, .dtype = WEIR_I16, .n_labels = 1};
  char key[6][65], stem[300];
  cf_source *s = NULL;

  o[1].box = 101;
  o[2].first = 4;
  o[3].universes = 6;
  snprintf(stem, sizeof stem, "%s/a", dir);
  weir_check_rmdir(dir);
  assert_ok(weir_dir_create(dir));
  for (int i = 0; i < 6; i++) {
    if (i > 3) {
      cf_test_write("npy", stem, &info, i, 1, 0);
    }
    assert_ok(try_source(i < 4 ? synth : paths, 1, &o[i % 4], 0, &s));
    cf_source_key(s, key[i]);
    cf_source_close(&s);
    assert_int_equal(strlen(key[i]), 64);
    for (int k = 0; k < i; k++) {
      assert_string_not_equal(key[i], key[k]);
    }
  }
  char again[65];

  assert_ok(try_source(synth, 1, &o[0], 0, &s));
  cf_source_key(s, again);
  assert_string_equal(again, key[0]);
  cf_source_close(&s);
}

static void assert_refused(const char **paths, int64_t n, const cf_universe_opts *o,
                           weir_status expected, const char *message)
{
  cf_source *s = NULL;

  assert_int_equal(try_source(paths, n, o, 0, &s), expected);
  assert_null(s);
  assert_non_null(strstr(weir_last_message(), message));
}

static void what_cannot_be_is_refused(void **state)
{
  cf_universe_opts o = small(4);

  assert_refused(synth, 2, &o, WEIR_ERR_CONFIG, "synth://: is a whole source");
  assert_refused(synth, 0, &o, WEIR_ERR_DATA, "there is no file of samples");
  assert_refused(synth + 1, 1, &o, WEIR_ERR_DATA, "there: no such file");
  o.block = 3;
  assert_refused(synth, 1, &o, WEIR_ERR_CONFIG, "simulate.block: 3 does not divide");
  o = small(4);
  if (!weir_fft_plan_available()) {
    assert_refused(synth, 1, &o, WEIR_ERR_UNSUPPORTED, "FFTW");
  }
}

/* A failure leaves no incomplete universe. */
static void a_request_to_stop_is_heard(void **state)
{
  NEEDS(weir_fft_plan_available(), "FFTW");
  const cf_universe_opts o = small(0);
  static int16_t out[2][SIDE * SIDE * SIDE * CHANNELS];
  cf_source *s = NULL;

  assert_ok(try_source(synth, 1, &o, 0, &s));
  assert_ok(cf_source_read(s, 1, 0, SIDE, WEIR_I16, out[0]));
  weir_stop_request(15);
  assert_int_equal(cf_source_read(s, 0, 0, SIDE, WEIR_I16, out[1]), WEIR_ERR_STOPPED);
  weir_stop_request(0);
  assert_ok(cf_source_read(s, 1, 0, SIDE, WEIR_I16, out[1]));
  assert_memory_equal(out[0], out[1], sizeof out[0]);
  assert_int_equal(cf_source_made(s), 2);
  cf_source_close(&s);
}

static weir_status read_one(void *context)
{
  static int16_t out[SIDE * SIDE * SIDE * CHANNELS];
  cf_source *s = NULL;

  WEIR_TRY(try_source(synth, 1, context, 0, &s));
  const weir_status status = cf_source_read(s, 0, 0, SIDE, WEIR_I16, out);

  cf_source_close(&s);
  return status;
}

static void every_allocation_may_fail(void **state)
{
  NEEDS(weir_fft_plan_available(), "FFTW");
  cf_universe_opts o = small(0);

  assert_true(weir_check_faults(read_one, &o) > 10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order_and_memory_make_no_difference),
      cmocka_unit_test(the_same_as_files),
      cmocka_unit_test(locations_are_told),
      cmocka_unit_test(keys_tell_sources_apart),
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(a_request_to_stop_is_heard),
      cmocka_unit_test(every_allocation_may_fail),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
