/* tiles_test.c - both sums against loops in double: random shapes, kernels and borders, NaN,
 * infinity, threads and boxes. */
#include <string.h>

#include "device/weir_parallel.h"
#include "support/ops/conv_check.h"
#include "ops/conv/tiles/tiles_priv.h"

enum { CASES = 32, MAX_THREADS = 3 };

typedef struct problem {
  conv_unit s;
  int64_t x_count, y_count, w_count;
} problem;

/* Extents of 1, odd and even; paddings of -1 to 3; positions may be further apart than they are
 * long, and the weights lie either way. */
static problem draw_problem(weir_draw *r)
{
  static const weir_border borders[] = {WEIR_BORDER_ABSENT, WEIR_BORDER_ABSENT, WEIR_BORDER_WRAP,
                                        WEIR_BORDER_REPLICATE, WEIR_BORDER_REFLECT};
  problem p = {.s = {.batch = weir_draw_int(r, 1, 2)}};
  conv_unit *s = &p.s;

  s->read = weir_draw_one_in(r, 2) ? weir_draw_int(r, 1, 70) : 16 * weir_draw_int(r, 1, 4);
  s->made = weir_draw_one_in(r, 2) ? weir_draw_int(r, 1, 70) : 16 * weir_draw_int(r, 1, 4);
  for (int d = 0; d < 3; d++) {
    s->taps[d] = weir_draw_one_in(r, 2) ? 3 : weir_draw_int(r, 1, 4);
    s->border[d] = borders[weir_draw_int(r, 0, 4)];
    do {
      s->x[d] = weir_draw_one_in(r, 5) ? 1 : weir_draw_int(r, 2, d == 2 ? 40 : 5);
      s->lo[d] = weir_draw_int(r, -1, 2);
      s->y[d] = s->x[d] + s->lo[d] + weir_draw_int(r, -1, 2) - s->taps[d] + 1;
    } while (s->y[d] < 1);
  }
  p.x_count = lay_out(s->batch, s->x, s->read + weir_draw_int(r, 0, 3), s->x_step);
  p.y_count = lay_out(s->batch, s->y, s->made + weir_draw_int(r, 0, 3), s->y_step);
  p.w_count = lay_out_weights(s->taps, s->read, s->made, weir_draw_one_in(r, 2), s->w_step);
  return p;
}

static int64_t made_size(const tiles_sum *f)
{
  return f->half ? 2 : 4;
}

typedef struct stage_run {
  const tiles_sum *f;
  void *const *scratch;
  int stage;
} stage_run;

static void run_piece(void *context, int64_t piece, int thread)
{
  const stage_run *r = context;
  tiles_sum f = *r->f;

  f.scratch = r->scratch[thread];
  tiles_piece(&f, r->stage, piece);
}

/* The last stage of y in boxes of two planes and one row. */
static void run_boxes(const tiles_sum *f, void *scratch)
{
  const conv_unit *s = f->s;

  for (int64_t n = 0; n < s->batch; n++) {
    for (int64_t p = 0; p < s->y[0]; p += 2) {
      for (int64_t q = 0; q < s->y[1]; q++) {
        tiles_sum one = *f;
        const int64_t lo[] = {n, p, q}, hi[] = {n + 1, tiles_min(p + 2, s->y[0]), q + 1};

        one.scratch = scratch;
        one.y =
            (char *)one.y + (n * s->y_step[0] + p * s->y_step[1] + q * s->y_step[2]) * made_size(f);
        memcpy(one.first, lo, sizeof one.first);
        tiles_rows(&one, lo, hi);
      }
    }
  }
}

static void run(const tiles_sum *f, int threads, bool boxes, void *const *scratch)
{
  int64_t pieces;

  for (int stage = 0; (pieces = tiles_pieces(f->s, f->weights, stage)) > 0; stage++) {
    stage_run r = {f, scratch, stage};

    if (boxes && stage > 0) {
      run_boxes(f, scratch[0]);
    } else {
      weir_parallel(pieces, threads, run_piece, &r);
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
static void same_on_all(tiles_sum f, int64_t count)
{
  const int64_t bytes = tiles_workspace(f.s, f.weights), made = count * made_size(&f);
  void **out = f.weights ? &f.w : &f.y, *first = *out, *again = nan_bytes(made);
  void *scratch[MAX_THREADS];

  f.workspace = nan_bytes(bytes);
  for (int i = 0; i < MAX_THREADS; i++) {
    scratch[i] = nan_bytes(tiles_scratch(f.s, f.weights));
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

/* Products of numbers of bf16 are exact in f32, so that sums have the errors of f32, and that of
 * the result. */
static void compare_sums(const tiles_sum *f, const void *made, const double *expected,
                         int64_t count, double terms)
{
  const int64_t pixel = f->weights ? 1 : f->s->y_step[3], channels = f->weights ? 1 : f->s->made;

  for (int64_t k = 0; k < count; k++) {
    const double e = expected[k];
    const double a = (double)(f->half ? weir_f32_from_bf16(((const weir_bf16 *)made)[k])
                                      : ((const float *)made)[k]);
    const double bound = 4e-6 * fmax(1, sqrt(terms) / 3) + (f->half ? 0x1p-8 * fabs(e) : 0);

    if (k % pixel < channels && !(isnan(e) ? isnan(a) : isinf(e) ? a == e : fabs(a - e) <= bound)) {
      print_error("element %lld of %lld: %.9g, expected %.9g within %g\n", (long long)k,
                  (long long)count, a, e, bound);
      assert_true(0);
    }
  }
}

/* The numbers of bf16 next to those of a field, which become these. */
static weir_bf16 *rounded(float *field, int64_t count)
{
  weir_bf16 *half = nan_bytes(count * (int64_t)sizeof(weir_bf16));

  for (int64_t i = 0; i < count; i++) {
    half[i] = weir_bf16_from_f32(field[i]);
    field[i] = weir_f32_from_bf16(half[i]);
  }
  return half;
}

/* One random problem with a result in f32 or bf16; an array that is read may hold a NaN or an
 * infinity. */
static void check_case(bool weights, uint64_t seed)
{
  weir_draw r = {.seed = seed};
  const problem p = draw_problem(&r);
  const conv_unit *s = &p.s;
  const int64_t count = weights ? p.w_count : p.y_count;
  const double terms = weights ? (double)(s->batch * s->y[0] * s->y[1] * s->y[2])
                               : (double)(s->read * tiles_taps(s));
  float *x = new_field(&r, p.x_count, seed % 4 == 1),
        *y = new_field(&r, p.y_count, weights && seed % 4 == 2),
        *w = new_field(&r, p.w_count, !weights && seed % 4 == 2);
  double *sum = zeros(count);

  if (seed % 8 == 3) {
    x[weir_draw_int(&r, 0, p.x_count - 1)] = INFINITY;
  }
  weir_bf16 *halves[] = {rounded(x, p.x_count), rounded(y, p.y_count), rounded(w, p.w_count)};
  tiles_sum f = {.k = tiles_code_get(), .s = s, .weights = weights, .half = seed / 8 % 2 == 0};

  assert_true(tiles_fit(s));
  unit_reference(s, x, y, w, weights, sum);
  f.x = halves[0];
  f.y = weights || f.half ? (void *)halves[1] : y;
  f.w = !weights || f.half ? (void *)halves[2] : w;
  same_on_all(f, count);
  compare_sums(&f, weights ? f.w : f.y, sum, count, terms);
  for (int i = 0; i < 3; i++) {
    weir_free(&halves[i]);
  }
  weir_free(&sum);
  weir_free(&x);
  weir_free(&y);
  weir_free(&w);
}

static void check_cases(bool weights)
{
  if (tiles_code_get() == NULL) {
    print_message("skipped: this processor has no products of tiles\n");
    skip();
  }
  for (uint64_t seed = 0; seed < CASES; seed++) {
    check_case(weights, seed);
  }
}

static void outputs_match(void **state)
{
  check_cases(false);
}

static void gradients_by_weights_match(void **state)
{
  check_cases(true);
}

/* Rows and kernels that are too long for a cache, and nothing at all. */
static void others_are_left(void **state)
{
  const conv_unit plain = {.batch = 1,
                           .read = 32,
                           .made = 32,
                           .taps = {3, 3, 3},
                           .x = {4, 4, 4},
                           .y = {4, 4, 4},
                           .lo = {1, 1, 1}};
  conv_unit s = plain;

  assert_true(tiles_fit(&s));
  s.y[2] = s.x[2] = 1 << 20;
  assert_false(tiles_fit(&s));
  s = plain;
  s.taps[2] = 33;
  assert_false(tiles_fit(&s));
  s = plain;
  s.batch = 0;
  assert_false(tiles_fit(&s));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(outputs_match),
      cmocka_unit_test(gradients_by_weights_match),
      cmocka_unit_test(others_are_left),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
