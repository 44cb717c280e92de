/* pool_sparse_test.c - both sums against loops in double: random shapes, layouts and argmax, NaN,
 * pieces in any order. */
#include <string.h>

#include "device/weir_parallel.h"
#include "support/ops/conv_check.h"
#include "ops/conv/pool_sparse_priv.h"

enum { CASES = 24 };

typedef struct problem {
  pool_sparse_conv s;
  int64_t positions, x_count, y_count, w_count;
} problem;

/* wide: channels enough that sums of one range of planes go straight to the weights, and weights
 * are packed as they are met. */
static problem draw_problem(weir_draw *r, bool wide)
{
  problem p = {.s = {.n = weir_draw_int(r, 1, 2)}, .positions = 1};
  pool_sparse_conv *s = &p.s;

  s->in = weir_draw_int(r, 1, 4) == 1 ? weir_draw_int(r, 1, 15) : 16 * weir_draw_int(r, 1, 4);
  s->in += wide ? 97 : 0;
  s->out = weir_draw_int(r, 1, 70) + (wide ? 129 : 0);
  for (int d = 0; d < 3; d++) {
    s->window[d] = d == 2 ? weir_draw_int(r, 2, 3) : weir_draw_int(r, 1, 3);
    s->kernel_size[d] = weir_draw_int(r, 1, 3);
    s->lo[d] = weir_draw_int(r, 0, (d < 2 ? 2 : 1) * (s->kernel_size[d] + s->window[d]) - 1);
    s->y[d] = weir_draw_int(r, 1, d == 2 && !wide ? 12 : 3);
    s->x[d] =
        s->window[d] * s->y[d] + weir_draw_int(r, s->window[d] > 1 ? -1 : 0, s->kernel_size[d]);
    p.positions *= s->window[d];
  }
  const int64_t spare = weir_draw_int(r, 0, 3);

  p.x_count = lay_out(s->n, s->x, s->in + spare, s->x_step);
  p.y_count = lay_out(s->n, s->y, s->out + spare, s->y_step);
  memcpy(s->argmax_step, s->y_step, sizeof s->argmax_step);
  p.w_count =
      lay_out_weights(s->kernel_size, s->in, s->out, weir_draw_int(r, 1, 4) == 1, s->w_step);
  return p;
}

/* Random argmax of each window, some beyond the window. */
static uint8_t *draw_argmax(weir_draw *r, const problem *p)
{
  void *memory;

  assert_ok(weir_alloc(p->y_count, 1, &memory));
  for (int64_t i = 0; i < p->y_count; i++) {
    ((uint8_t *)memory)[i] = (uint8_t)weir_draw_int(r, 0, p->positions);
  }
  return memory;
}

/* Every product of the relation, added in double to what is asked for. */
static void reference(const problem *p, const uint8_t *argmax, const float *x, const float *y,
                      const float *w, double *x_sum, double *w_sum)
{
  const pool_sparse_conv *s = &p->s;
  const int64_t n[] = {s->n,   s->y[0],           s->y[1],           s->y[2],
                       s->out, s->kernel_size[0], s->kernel_size[1], s->kernel_size[2]};
  int64_t all = 1;

  for (int k = 0; k < 8; k++) {
    all *= n[k];
  }
  for (int64_t number = 0; number < all; number++) {
    int64_t i[8], rest = number;

    for (int k = 7; k >= 0; k--) {
      i[k] = rest % n[k];
      rest /= n[k];
    }
    int64_t y_at = i[0] * s->y_step[0] + i[4], x_at = i[0] * s->x_step[0];
    int64_t w_at = i[4] * s->w_step[4];

    for (int d = 0; d < 3; d++) {
      y_at += i[1 + d] * s->y_step[1 + d];
      w_at += i[5 + d] * s->w_step[d];
    }
    bool inside = argmax[y_at] < p->positions;
    int64_t g = argmax[y_at];

    for (int d = 2; d >= 0; d--) {
      const int64_t e = s->window[d] * i[1 + d] + g % s->window[d] + i[5 + d] - s->lo[d];

      g /= s->window[d];
      inside = inside && e >= 0 && e < s->x[d];
      x_at += e * s->x_step[1 + d];
    }
    for (int64_t c = 0; inside && c < s->in; c++) {
      const int64_t k = w_at + c * s->w_step[3];

      w_sum[k] += (double)x[x_at + c] * (double)y[y_at];
      x_sum[x_at + c] += (double)w[k] * (double)y[y_at];
    }
  }
}

/* The kernels that this processor runs. */
static int all_kernels(const pool_sparse_kernels *k[2])
{
  int n = 0;
#if defined(__x86_64__)
  if (weir_cpu_get()->avx2 && weir_cpu_get()->fma) {
    k[n++] = &weir_pool_sparse_avx2;
  }
  if (weir_cpu_get()->avx512) {
    k[n++] = &weir_pool_sparse_avx512;
  }
#endif
  return n;
}

/* All pieces, the last of a stage first where turned. */
static void run_pieces(const pool_sparse_sum *p, bool turned)
{
  for (int stage = 0; stage < POOL_SPARSE_STAGES; stage++) {
    const int64_t n = pool_sparse_pieces(p->k, p->s, p->data, stage);

    for (int64_t i = 0; i < n; i++) {
      pool_sparse_piece(p, stage, turned ? n - 1 - i : i);
    }
  }
}

/* Runs twice into memory full of NaN, the second time with pieces in turned order: same bits. */
static void same_in_any_order(pool_sparse_sum p, int64_t count)
{
  const int64_t bytes = pool_sparse_workspace(p.k, p.s, p.data);
  const int64_t own = pool_sparse_scratch(p.k, p.s, p.data);
  float *made = p.made;
  void *again;

  assert_ok(weir_alloc(bytes, 1, &p.workspace));
  assert_ok(weir_alloc(own, 1, &p.scratch));
  assert_ok(weir_alloc(count, sizeof(float), &again));
  memset(made, 0xff, (size_t)count * sizeof(float));
  memset(again, 0xff, (size_t)count * sizeof(float));
  for (int turned = 0; turned <= 1; turned++) {
    if (bytes > 0) {
      memset(p.workspace, 0xff, (size_t)bytes);
    }
    memset(p.scratch, 0xff, (size_t)own);
    p.made = turned ? again : made;
    run_pieces(&p, turned);
  }
  assert_memory_equal(made, again, (size_t)count * sizeof(float));
  weir_free(&p.workspace);
  weir_free(&p.scratch);
  weir_free(&again);
}

/* One random problem; of the two arrays read, one may hold a NaN. */
static void check_case(bool data, bool wide, uint64_t seed)
{
  weir_draw r = {.seed = seed};
  const problem p = draw_problem(&r, wide);
  const int64_t count = data ? p.x_count : p.w_count;
  const pool_sparse_kernels *k[2];
  float *x = new_field(&r, p.x_count, !data && seed % 3 == 1);
  float *y = new_field(&r, p.y_count, seed % 3 == 2);
  float *w = new_field(&r, p.w_count, data && seed % 3 == 1);
  uint8_t *argmax = draw_argmax(&r, &p);
  double *x_sum = zeros(p.x_count), *w_sum = zeros(p.w_count);

  assert_true(pool_sparse_takes(&p.s));
  reference(&p, argmax, x, y, w, x_sum, w_sum);
  for (int i = all_kernels(k) - 1; i >= 0; i--) {
    void *made;

    assert_ok(weir_alloc(count, sizeof(float), &made));
    same_in_any_order((pool_sparse_sum){.k = k[i],
                                        .s = &p.s,
                                        .data = data,
                                        .x = x,
                                        .y = y,
                                        .w = w,
                                        .made = made,
                                        .argmax = argmax},
                      count);
    compare(made, data ? x_sum : w_sum, count, data ? p.s.x_step[3] : 1, data ? p.s.in : 1);
    weir_free(&made);
  }
  weir_free(&x);
  weir_free(&y);
  weir_free(&w);
  weir_free(&argmax);
  weir_free(&x_sum);
  weir_free(&w_sum);
}

static void check(bool data, bool wide)
{
  for (uint64_t seed = 0; seed < CASES; seed++) {
    check_case(data, wide, seed);
  }
}

static void sums_for_weights_match(void **state)
{
  check(false, false);
}

static void sums_for_data_match(void **state)
{
  check(true, false);
}

static void sums_of_many_channels_match(void **state)
{
  check(false, true);
  check(true, true);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_for_weights_match),
      cmocka_unit_test(sums_for_data_match),
      cmocka_unit_test(sums_of_many_channels_match),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
