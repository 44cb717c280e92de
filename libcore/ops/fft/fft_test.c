/* fft_test.c - transforms of waves and of one point, back after forward, refusals. */
#include "ops/fft/weir_fft.h"
#include "base/weir_random.h"
#include "support/exec/library_check.h"

#define PI 3.14159265358979323846

static library_run *new_run(void)
{
  static library_run r;

  memset(&r, 0, sizeof r);
  r.g = new_graph();
  return &r;
}

/* exp(2 pi i 3 j / 10) along the first dimension is 10 at index 3, of each of two columns. */
static void a_wave_is_one_line(void **state)
{
  const weir_fft_spec s = {.kind = WEIR_FFT_FORWARD, .n_dims = 1, .dim = {0}};

  for (int kernel = 0; kernel < 2; kernel++) {
    library_run *r = new_run();

    library_output(r, weir_fft(r->g, LIBRARY_INPUT(r, WEIR_C128, 10, 2), &s));
    for (int j = 0; j < 20; j++) {
      r->memory[0][2 * j] = cos(2 * PI * 3 * (j / 2) / 10);
      r->memory[0][2 * j + 1] = sin(2 * PI * 3 * (j / 2) / 10);
    }
    (void)library_execute(r, kernel ? "auto" : "none", 2);
    for (int k = 0; k < 20; k++) {
      assert_near(r->memory[2][2 * k], k / 2 == 3 ? 10 : 0, 1e-14);
      assert_near(r->memory[2][2 * k + 1], 0, 1e-14);
    }
    weir_graph_destroy(&r->g);
  }
}

/* Real to complex and back along three dimensions of odd and even length, around a batch. */
static void back_after_forward_is_the_array(void **state)
{
  for (int kernel = 0; kernel < 4; kernel++) {
    const int64_t last = 6 + kernel / 2;
    const weir_fft_spec there = {.kind = WEIR_FFT_REAL, .n_dims = 3, .dim = {0, 2, 3}};
    const weir_fft_spec back = {.kind = WEIR_FFT_TO_REAL,
                                .n_dims = 3,
                                .dim = {0, 2, 3},
                                .odd = (int32_t)(last % 2),
                                .scale = 1. / (double)(5 * 3 * last)};
    library_run *r = new_run();
    const weir_value x = LIBRARY_INPUT(r, WEIR_F64, 5, 2, 3, last);
    const weir_value y = weir_fft(r->g, x, &there);

    assert_shape(r->g, y, WEIR_C128, 5, 2, 3, 4);
    library_output(r, weir_fft(r->g, y, &back));
    for (uint64_t i = 0; i < 30 * (uint64_t)last; i++) {
      r->memory[0][i] = weir_random_uniform(3, 0, 0, i) - 0.5;
    }
    (void)library_execute(r, kernel % 2 ? "auto" : "none", 2);
    for (int64_t i = 0; i < 30 * last; i++) {
      assert_near(r->memory[2][i], r->memory[0][i], 1e-14);
    }
    weir_graph_destroy(&r->g);
  }
}

static void what_cannot_be_transformed_is_refused(void **state)
{
  const struct {
    weir_fft_spec spec;
    weir_dtype dtype;
    const char *text;
  } rows[] = {
      {{.kind = WEIR_FFT_REAL, .n_dims = 1}, WEIR_C64, "transform 2 is undefined for c64"},
      {{.kind = WEIR_FFT_FORWARD, .n_dims = 1}, WEIR_F64, "transform 0 is undefined for f64"},
      {{.kind = WEIR_FFT_FORWARD, .n_dims = 1}, WEIR_I32, "f32, f64, c64 and c128 are supported"},
      {{.kind = WEIR_FFT_FORWARD, .n_dims = 2, .dim = {1, 1}}, WEIR_C64, "ascending dimensions"},
      {{.kind = WEIR_FFT_FORWARD, .n_dims = 1, .dim = {3}}, WEIR_C64, "1 dimensions of 3"},
      {{.kind = WEIR_FFT_FORWARD, .n_dims = 0}, WEIR_C64, "0 dimensions of 3"},
      {{.kind = WEIR_FFT_TO_REAL, .n_dims = 1, .dim = {1}}, WEIR_C64, "even number of points"},
      {{.kind = WEIR_FFT_FORWARD, .n_dims = 1, .extent = {5}}, WEIR_C64, "an extent of 5 along"},
      {{.kind = WEIR_FFT_BACKWARD, .n_dims = 1, .extent = {3}}, WEIR_C64, "an extent of 3 along"},
      {{.kind = WEIR_FFT_TO_REAL, .n_dims = 1, .dim = {2}, .extent = {3}}, WEIR_C64, "of 3 along"},
  };

  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    weir_graph *g = new_graph();

    assert_refused(g, weir_fft(g, GIVEN(g, "x", rows[i].dtype, 4, 1, 3), &rows[i].spec),
                   rows[i].text);
  }
  weir_graph *g = new_graph();

  assert_refused(g, weir_fft(g, GIVEN(g, "x", WEIR_C64, -1, 4), &rows[1].spec),
                 "cut it into windows first");
}

/* Columns, which are copied side by side, have the bits of rows, which lie alone. */
static void columns_have_the_bits_of_rows(void **state)
{
  enum { COUNT = 37, LENGTH = 30 };
  const weir_fft_spec down = {.n_dims = 1, .dim = {0}}, across = {.n_dims = 1, .dim = {1}};

  for (int kernel = 0; kernel < 2; kernel++) {
    static double made[2 * COUNT * LENGTH];
    library_run *r = new_run();

    library_output(r, weir_fft(r->g, LIBRARY_INPUT(r, WEIR_C128, LENGTH, COUNT), &down));
    for (uint64_t i = 0; i < 2 * COUNT * LENGTH; i++) {
      r->memory[0][i] = weir_random_uniform(4, 0, 0, i) - 0.5;
    }
    (void)library_execute(r, kernel ? "auto" : "none", 2);
    memcpy(made, r->memory[2], sizeof made);
    weir_graph_destroy(&r->g);
    r = new_run();
    library_output(r, weir_fft(r->g, LIBRARY_INPUT(r, WEIR_C128, COUNT, LENGTH), &across));
    for (uint64_t i = 0; i < COUNT * LENGTH; i++) {
      for (uint64_t part = 0; part < 2; part++) {
        const uint64_t there = i % LENGTH * COUNT + i / LENGTH;

        r->memory[0][2 * i + part] = weir_random_uniform(4, 0, 0, 2 * there + part) - 0.5;
      }
    }
    (void)library_execute(r, kernel ? "auto" : "none", 2);
    for (int i = 0; i < COUNT * LENGTH; i++) {
      assert_memory_equal(&made[2 * i], &r->memory[2][2 * (i % COUNT * LENGTH + i / COUNT)],
                          sizeof(weir_c128));
    }
    weir_graph_destroy(&r->g);
  }
}

enum { NY = 12, NX = 10, WAVES_Y = 5, WAVES_X = 4 };

/* The waves of a random field that a truncated spectrum has; times: also back to the field of these
 * waves, and their spectrum again. */
static void truncate_field(const char *kernel, int times, int64_t ny, double *out)
{
  const weir_fft_spec there = {.kind = WEIR_FFT_REAL,
                               .n_dims = 2,
                               .dim = {0, 2},
                               .extent = {WAVES_Y, WAVES_X},
                               .scale = 1. / (double)(ny * NX)};
  const weir_fft_spec back = {
      .kind = WEIR_FFT_TO_REAL, .n_dims = 2, .dim = {0, 2}, .extent = {ny, NX}};
  library_run *r = new_run();
  weir_value y = weir_fft(r->g, LIBRARY_INPUT(r, WEIR_F64, ny, 2, NX), &there);

  assert_shape(r->g, y, WEIR_C128, WAVES_Y, 2, WAVES_X);
  for (int i = 0; i < times; i++) {
    y = weir_fft(r->g, y, &back);
    assert_shape(r->g, y, WEIR_F64, ny, 2, NX);
    y = weir_fft(r->g, y, &there);
  }
  library_output(r, y);
  for (uint64_t i = 0; i < (uint64_t)(ny * 2 * NX); i++) {
    r->memory[0][i] = weir_random_uniform(5, 0, 0, i) - 0.5;
  }
  /* There and back run block by block in one group. */
  assert_int_equal(library_execute(r, kernel, 2), strcmp(kernel, "none") == 0 ? 0 : 1 + times);
  memcpy(out, r->memory[2], (size_t)(WAVES_Y * 2 * WAVES_X) * sizeof(weir_c128));
  weir_graph_destroy(&r->g);
}

/* Of even and odd numbers of rows, by the kernel and by definition. */
static void truncated_spectra_keep_their_waves(void **state)
{
  enum { NUMBERS = 2 * WAVES_Y * 2 * WAVES_X };
  const char *const kernel = weir_fft_plan_available() ? "fft.planes" : "none";
  double once[NUMBERS], again[NUMBERS], defined[NUMBERS];

  for (int64_t ny = NY; ny <= NY + 1; ny++) {
    truncate_field("none", 0, ny, defined);
    truncate_field(kernel, 0, ny, once);
    truncate_field(kernel, 2, ny, again);
    for (int i = 0; i < NUMBERS; i++) {
      assert_near(once[i], defined[i], 1e-15);
      assert_near(again[i], defined[i], 1e-15);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_wave_is_one_line),
      cmocka_unit_test(columns_have_the_bits_of_rows),
      cmocka_unit_test(back_after_forward_is_the_array),
      cmocka_unit_test(truncated_spectra_keep_their_waves),
      cmocka_unit_test(what_cannot_be_transformed_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
