/* kernels_test.c - all instruction sets give the same bits, for any number of outputs. */
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "stream/op/filter/cascade_priv.h"
#include "stream/op/filter/fft_priv.h"
#include "stream/op/filter/fir_priv.h"

enum { COUNT = 500, BLOCKS = COUNT / CASCADE_BLOCK };

static float x[WEIR_DESIGN_MAX_TAPS + FIR_STEP + COUNT], y[COUNT + 1], want[COUNT];

static void draw(void)
{
  for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
    x[i] = (float)(2 * weir_random_uniform(4, 1, 0, i) - 1);
  }
}

static void same_cascade(const weir_cascade_kernels *k)
{
  for (int order = 1; order <= 16; order++) {
    static weir_cascade m;
    const weir_design_spec spec = {WEIR_DESIGN_BANDPASS, order, 5, 40, 360};
    _Alignas(64) double z[2][CASCADE_STATES] = {{0}}, wide[2][COUNT] = {{0}};
    weir_sos sos[WEIR_DESIGN_MAX_SECTIONS];
    int n = 0;

    memset(&m, 0, sizeof m);
    assert_ok(weir_design_butterworth(&spec, sos, &n));
    filter_cascade_init(&m, sos, n);
    assert_true(m.blocks);
    weir_cascade_base.f32(&m, z[0], x, want, BLOCKS);
    k->f32(&m, z[1], x, y, BLOCKS);
    assert_memory_equal(y, want, BLOCKS * CASCADE_BLOCK * sizeof *y);
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    for (int i = 0; i < COUNT; i++) {
      wide[0][i] = wide[1][i] = (double)x[i] / 3;
    }
    weir_cascade_base.f64(&m, z[0], wide[0], wide[0], BLOCKS);
    k->f64(&m, z[1], wide[1], wide[1], BLOCKS);
    assert_memory_equal(wide[0], wide[1], sizeof wide[0]);
    weir_cascade_base.back(&m, z[0], wide[0] + COUNT, BLOCKS);
    k->back(&m, z[1], wide[1] + COUNT, BLOCKS);
    assert_memory_equal(wide[0], wide[1], sizeof wide[0]);
    assert_memory_equal(z[0], z[1], sizeof z[0]);
  }
}

static void same_fir(weir_fir_kernel k)
{
  static const int64_t taps[] = {3, 15, 17, 151, 8191}, counts[] = {0, 1, 7, 16, 31, 129, COUNT};
  static double h[WEIR_DESIGN_MAX_TAPS];

  for (int i = 0; i < 5; i++) {
    static weir_fir m;
    const weir_fir_spec spec = {WEIR_DESIGN_LOWPASS, taps[i], 0, 40, 360};

    memset(&m, 0, sizeof m);
    assert_ok(weir_design_fir(&spec, h));
    filter_fir_init(&m, h, taps[i]);
    const float *from = x + m.taps - 1;

    weir_fir_base(&m, from, want, taps[i] > 1000 ? 40 : COUNT);
    for (int c = 0; c < 7 && (taps[i] < 1000 || counts[c] <= 40); c++) {
      y[counts[c]] = -7;
      k(&m, from, y, counts[c]);
      assert_memory_equal(y, want, (size_t)counts[c] * sizeof *y);
      assert_true(y[counts[c]] == -7);
    }
  }
}

static weir_fft fft;
static float re[2][FFT_MAX], im[2][FFT_MAX];

static void same_fft(const weir_fft_kernels *k)
{
  for (int64_t n = FFT_MIN; n <= FFT_MAX; n *= 4) {
    const size_t bytes = (size_t)n * sizeof(float);

    filter_fft_init(&fft, n);
    for (int side = 0; side < 2; side++) {
      const weir_fft_kernels *with = side ? k : &weir_fft_base;

      for (int64_t i = 0; i < n; i++) {
        re[side][i] = (float)(2 * weir_random_uniform(6, 1, 0, (uint64_t)i) - 1);
        im[side][i] = (float)(2 * weir_random_uniform(6, 2, 0, (uint64_t)i) - 1);
      }
      with->forward(&fft, re[side], im[side]);
      with->multiply(n, re[side], im[side], fft.twiddle, fft.twiddle + n / 4);
      with->back(&fft, re[side], im[side]);
    }
    assert_memory_equal(re[0], re[1], bytes);
    assert_memory_equal(im[0], im[1], bytes);
  }
}

/* Back undoes forward; the spectrum of a wave is its frequency alone, wherever that stands. */
static void transforms_are_those_of_fourier(void **state)
{
  const weir_fft_kernels *k = filter_fft_kernels();

  for (int64_t n = FFT_MIN; n <= FFT_MAX; n *= 4) {
    const int64_t f = n / 7;
    int64_t peaks = 0;

    filter_fft_init(&fft, n);
    for (int64_t t = 0; t < n; t++) {
      const double angle = 2 * 3.14159265358979323846 * (double)(f * t % n) / (double)n;

      re[0][t] = re[1][t] = (float)cos(angle);
      im[0][t] = im[1][t] = (float)sin(angle);
    }
    k->forward(&fft, re[0], im[0]);
    for (int64_t i = 0; i < n; i++) {
      const double size = hypot((double)re[0][i], (double)im[0][i]) / (double)n;

      peaks += fabs(size - 1) < 1e-5;
      assert_true(fabs(size - 1) < 1e-5 || size < 1e-6);
    }
    assert_int_equal(peaks, 1);
    k->back(&fft, re[0], im[0]);
    for (int64_t t = 0; t < n; t++) {
      assert_near((double)re[0][t] / (double)n, (double)re[1][t], 1e-6);
      assert_near((double)im[0][t] / (double)n, (double)im[1][t], 1e-6);
    }
  }
}

static void instruction_sets_agree_to_the_bit(void **state)
{
  const weir_cpu *cpu = weir_cpu_get();

  draw();
  same_cascade(&weir_cascade_base);
  same_fir(weir_fir_base);
#if defined(__x86_64__)
  if (cpu->avx2 && cpu->fma) {
    same_cascade(&weir_cascade_avx2);
    same_fir(weir_fir_avx2);
    same_fft(&weir_fft_avx2);
  }
  if (cpu->avx512) {
    same_cascade(&weir_cascade_avx512);
    same_fir(weir_fir_avx512);
    same_fft(&weir_fft_avx512);
  }
#else
  (void)cpu;
#endif
}

/* A filter whose poles lie too near together for the block form keeps to the recurrence. */
static void a_block_form_that_drifts_is_not_used(void **state)
{
  static weir_cascade m;
  const double r = 1 - 1e-3;
  weir_sos sos[16];

  for (int k = 0; k < 16; k++) {
    sos[k] = (weir_sos){1, 0, 0, -2 * r, r * r};
  }
  filter_cascade_init(&m, sos, 16);
  assert_false(m.blocks);
  double block[40], z[2][CASCADE_STATES] = {{0}};

  for (int i = 0; i < 40; i++) {
    block[i] = i % 3;
  }
  filter_cascade_run(&m, z[0], block, 40);
  for (int i = 0; i < 40; i++) {
    assert_true(block[i] == filter_cascade_step(&m, z[1], i % 3));
  }
}

static void backward_is_forward_on_the_samples_turned_round(void **state)
{
  static weir_cascade m;
  const weir_sos sos = {0.2, 0.3, 0.1, -0.7, 0.3};
  double z[2][CASCADE_STATES] = {{0.5}, {0.5}}, v[COUNT], w[COUNT];

  draw();
  filter_cascade_init(&m, &sos, 1);
  for (int i = 0; i < COUNT; i++) {
    v[i] = w[COUNT - 1 - i] = (double)x[i];
  }
  filter_cascade_run(&m, z[0], v, COUNT);
  filter_cascade_back(&m, z[1], w, COUNT);
  for (int i = 0; i < COUNT; i++) {
    assert_true(v[i] == w[COUNT - 1 - i]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(instruction_sets_agree_to_the_bit),
      cmocka_unit_test(transforms_are_those_of_fourier),
      cmocka_unit_test(a_block_form_that_drifts_is_not_used),
      cmocka_unit_test(backward_is_forward_on_the_samples_turned_round),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
