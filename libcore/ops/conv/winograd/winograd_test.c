/* winograd_test.c - both sums against loops in double: random shapes, borders, NaN, threads; and
 * what Winograd's products cost in digits. */
#include <string.h>

#include "device/weir_parallel.h"
#include "support/ops/conv_check.h"
#include "ops/conv/winograd/winograd_priv.h"

enum { CASES = 40, MAX_THREADS = 3 };

typedef struct problem {
  conv_unit s;
  int64_t x_count, y_count, w_count;
} problem;

/* Extents of 1, odd and even; paddings of -1 to 3; pixels may be further apart than they are long,
 * and the weights lie either way. */
static problem draw_problem(weir_draw *r)
{
  static const weir_border borders[] = {WEIR_BORDER_ABSENT, WEIR_BORDER_ABSENT, WEIR_BORDER_WRAP,
                                        WEIR_BORDER_REPLICATE, WEIR_BORDER_REFLECT};
  problem p = {.s = {.batch = weir_draw_int(r, 1, 2)}};
  conv_unit *s = &p.s;
  s->read = weir_draw_one_in(r, 2) ? weir_draw_int(r, 1, 70) : 8 * weir_draw_int(r, 1, 5);
  s->made = weir_draw_one_in(r, 2) ? weir_draw_int(r, 1, 70) : 8 * weir_draw_int(r, 1, 5);
  for (int d = 0; d < 3; d++) {
    s->taps[d] = d == 0 && weir_draw_one_in(r, 3) ? 1 : 3;
    s->border[d] = borders[weir_draw_int(r, 0, 4)];
    do {
      s->x[d] = weir_draw_one_in(r, 5) ? 1 : weir_draw_int(r, 2, d == 2 ? 20 : 7);
      s->lo[d] = weir_draw_int(r, -1, 2);
      s->y[d] = s->x[d] + s->lo[d] + weir_draw_int(r, -1, 2) - s->taps[d] + 1;
    } while (s->y[d] < 1);
  }
  p.x_count = lay_out(s->batch, s->x, s->read + weir_draw_int(r, 0, 3), s->x_step);
  p.y_count = lay_out(s->batch, s->y, s->made + weir_draw_int(r, 0, 3), s->y_step);
  p.w_count = lay_out_weights(s->taps, s->read, s->made, weir_draw_one_in(r, 2), s->w_step);
  return p;
}

/* The kernels that this processor runs, for operands of bf16 or of f32. */
static int all_kernels(bool half, const winograd_kernels *k[2])
{
  int n = 0;
#if defined(__x86_64__)
  if (half && weir_cpu_get()->avx512bf16) {
    k[n++] = &weir_winograd_avx512bf16;
  }
  if (half && weir_cpu_get()->amx) {
    k[n++] = &weir_winograd_amx;
  }
  if (!half && weir_cpu_get()->avx2 && weir_cpu_get()->fma) {
    k[n++] = &weir_winograd_avx2;
  }
  if (!half && weir_cpu_get()->avx512) {
    k[n++] = &weir_winograd_avx512;
  }
#endif
  return n;
}

typedef struct stage_run {
  const winograd_sum *f;
  void *const *scratch;
  int stage;
} stage_run;

static void run_piece(void *context, int64_t piece, int thread)
{
  const stage_run *r = context;
  winograd_sum f = *r->f;

  f.scratch = r->scratch[thread];
  winograd_piece(&f, r->stage, piece);
}

/* All pieces, or the last stage of y in boxes of one row of tiles. */
static void run(const winograd_sum *f, int threads, bool boxes, void *const *scratch)
{
  const conv_unit *s = f->s;
  int64_t pieces;

  for (int stage = 0; (pieces = winograd_pieces(f->k, s, f->weights, stage)) > 0; stage++) {
    stage_run r = {f, scratch, stage};

    if (!boxes || stage == 0) {
      weir_parallel(pieces, threads, run_piece, &r);
      continue;
    }
    for (int64_t n = 0; n < s->batch; n++) {
      for (int64_t p = 0; p < s->y[0]; p += winograd_size(s, 0)) {
        for (int64_t q = 0; q < s->y[1]; q += 2) {
          winograd_sum one = *f;
          const winograd_box box = {{n, p, q},
                                    {n + 1, winograd_min(p + winograd_size(s, 0), s->y[0]),
                                     winograd_min(q + 2, s->y[1])}};

          one.scratch = scratch[0];
          one.y = (char *)one.y +
                  (n * s->y_step[0] + p * s->y_step[1] + q * s->y_step[2]) * winograd_made_size(f);
          memcpy(one.first, box.lo, sizeof one.first);
          winograd_rows(&one, &box);
        }
      }
    }
  }
}

static void *nan_bytes(int64_t bytes)
{
  void *memory;

  assert_ok(weir_alloc(bytes, 1, &memory));
  memset(memory, 0xff, (size_t)bytes);
  return memory;
}

/* Into memory full of NaN, on one to three threads and in boxes: same bits. */
static void same_on_all(winograd_sum f, int64_t count)
{
  const int64_t bytes = winograd_workspace(f.k, f.s, f.weights);
  const int64_t made = count * winograd_made_size(&f);
  void **out = f.weights ? &f.w : &f.y, *first = *out, *again = nan_bytes(made);
  void *scratch[MAX_THREADS];

  f.workspace = nan_bytes(bytes);
  for (int i = 0; i < MAX_THREADS; i++) {
    scratch[i] = nan_bytes(winograd_scratch(f.k, f.s, f.weights));
  }
  memset(first, 0xff, (size_t)made);
  run(&f, 1, false, scratch);
  *out = again;
  for (int way = 2; way <= MAX_THREADS + !f.weights; way++) {
    memset(f.workspace, 0xff, (size_t)bytes);
    run(&f, way, way > MAX_THREADS, scratch);
    assert_memory_equal(first, again, (size_t)made);
  }
  for (int i = 0; i < MAX_THREADS; i++) {
    weir_free(&scratch[i]);
  }
  weir_free(&f.workspace);
  weir_free(&again);
}

/* Sums of `terms` products of numbers from -1 to 1 are sqrt(terms) / 3 as a rule. Errors of these
 * sums were at most 1.3e-6 of it; of F(4, 3), which is not used, they would be ten times as large.
 * Those of bf16, whose numbers are 2^-8 apart, were at most 0.033 of it, and the result is rounded
 * once more. */
static void compare_sums(const float *actual, const double *expected, int64_t count, int64_t pixel,
                         int64_t channels, double terms, bool half)
{
  const double size = fmax(1, sqrt(terms) / 3);

  for (int64_t k = 0; k < count; k++) {
    const double e = expected[k], a = (double)actual[k];
    const double bound = half ? 0.05 * size + 0x1p-8 * fabs(e) : 4e-6 * size;

    if (k % pixel < channels && !(isnan(e) ? isnan(a) : isinf(e) ? a == e : fabs(a - e) <= bound)) {
      print_error("element %lld of %lld: %.9g, expected %.9g within %g\n", (long long)k,
                  (long long)count, a, e, bound);
      assert_true(0);
    }
  }
}

/* The numbers of bf16 next to those of a field, which become these. */
static void *rounded(float *field, int64_t count)
{
  weir_bf16 *half = nan_bytes(count * (int64_t)sizeof(weir_bf16));

  for (int64_t i = 0; i < count; i++) {
    half[i] = weir_bf16_from_f32(field[i]);
    field[i] = weir_f32_from_bf16(half[i]);
  }
  return half;
}

/* A result as f32. */
static float *widened(const winograd_sum *f, const void *made, int64_t count)
{
  float *wide = nan_bytes(count * (int64_t)sizeof(float));

  for (int64_t i = 0; i < count; i++) {
    wide[i] = f->half ? weir_f32_from_bf16(((const weir_bf16 *)made)[i]) : ((const float *)made)[i];
  }
  return wide;
}

/* What all kernels make of the sum's operands. */
static void check_kernels(winograd_sum f, bool half, const double *sum, int64_t count, double terms)
{
  const winograd_kernels *k[2];

  for (int i = all_kernels(half, k) - 1; i >= 0; i--) {
    f.k = k[i];
    same_on_all(f, count);
    float *made = widened(&f, f.weights ? f.w : f.y, count);

    compare_sums(made, sum, count, f.weights ? 1 : f.s->y_step[3], f.weights ? 1 : f.s->made, terms,
                 half);
    weir_free(&made);
  }
}

/* One random problem, of f32 or of bf16 with a result in either; an array that is read may hold a
 * NaN or an infinity. */
static void check_case(bool weights, bool half, uint64_t seed)
{
  weir_draw r = {.seed = seed};
  const problem p = draw_problem(&r);
  const conv_unit *s = &p.s;
  const int64_t count = weights ? p.w_count : p.y_count;
  const double terms = weights ? (double)(s->batch * s->y[0] * s->y[1] * s->y[2])
                               : (double)s->read * (winograd_deep(s) ? 27 : 9);
  float *x = new_field(&r, p.x_count, seed % 4 == 1),
        *y = new_field(&r, p.y_count, weights && seed % 4 == 2),
        *w = new_field(&r, p.w_count, !weights && seed % 4 == 2);
  double *sum = zeros(count);

  if (seed % 8 == 3) {
    x[weir_draw_int(&r, 0, p.x_count - 1)] = INFINITY;
  }
  void *halves[] = {half ? rounded(x, p.x_count) : NULL, half ? rounded(y, p.y_count) : NULL,
                    half ? rounded(w, p.w_count) : NULL};
  const bool to_half = half && seed / 8 % 2 == 0;
  winograd_sum f = {.s = s, .weights = weights, .half = to_half};

  unit_reference(s, x, y, w, weights, sum);
  f.x = half ? halves[0] : x;
  f.y = half && (weights || to_half) ? halves[1] : y;
  f.w = half && (!weights || to_half) ? halves[2] : w;
  check_kernels(f, half, sum, count, terms);
  for (int i = 0; i < 3; i++) {
    weir_free(&halves[i]);
  }
  weir_free(&sum);
  weir_free(&x);
  weir_free(&y);
  weir_free(&w);
}

static void check_cases(bool weights, bool half)
{
  for (uint64_t seed = 0; seed < CASES; seed++) {
    check_case(weights, half, seed);
  }
}

static void outputs_match(void **state)
{
  check_cases(false, false);
}

static void gradients_by_weights_match(void **state)
{
  check_cases(true, false);
}

static void needs_products_of_bf16(void)
{
  if (winograd_kernels_get(WEIR_BF16) == NULL) {
    print_message("skipped: this processor has no products of bf16\n");
    skip();
  }
}

static void outputs_of_bf16_match(void **state)
{
  needs_products_of_bf16();
  check_cases(false, true);
}

static void gradients_of_bf16_by_weights_match(void **state)
{
  needs_products_of_bf16();
  check_cases(true, true);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(outputs_match),
      cmocka_unit_test(gradients_by_weights_match),
      cmocka_unit_test(outputs_of_bf16_match),
      cmocka_unit_test(gradients_of_bf16_by_weights_match),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
