/* conv_pool_sparse.c - gradients of convolutions through maxima over windows of 2 x 2 x 2, f32, one
 * thread: the share of this core's multiply-adds that kernels with selected elements take (padding
 * left out). Layers of CosmoFlow on 128^3, and what a rank of two has of the last ones. Times are
 * the processor's; with AVX-512, then with AVX2 alone. */
#include <string.h>

#include "fields.h"
#include "instruction_sets.h"
#include "multiply_add.h"
#include "ops/conv/pool_sparse_priv.h"

enum { RUNS = 12 };

/* Multiplications and additions. */
static double work_of(const pool_sparse_conv *s)
{
  double n = 2.0 * (double)(s->in * s->out);

  for (int d = 0; d < 3; d++) {
    int64_t inside = 0;

    for (int64_t o = 0; o < s->window[d] * s->y[d]; o++) {
      for (int64_t t = 0; t < s->kernel_size[d]; t++) {
        inside += o + t - s->lo[d] >= 0 && o + t - s->lo[d] < s->x[d];
      }
    }
    n *= (double)inside / (double)s->window[d];
  }
  return n;
}

static void all_pieces(pool_sparse_sum *p)
{
  for (int stage = 0; stage < POOL_SPARSE_STAGES; stage++) {
    const int64_t n = pool_sparse_pieces(p->k, p->s, p->data, stage);

    for (int64_t i = 0; i < n; i++) {
      pool_sparse_piece(p, stage, i);
    }
  }
}

/* in to out channels on planes x wide x wide. */
static void row(bool data, int64_t in, int64_t out, int64_t planes, int64_t wide, double peak,
                double goal)
{
  pool_sparse_conv s = {.n = 1,
                        .in = in,
                        .out = out,
                        .x = {planes, wide, wide},
                        .y = {planes / 2, wide / 2, wide / 2},
                        .kernel_size = {3, 3, 3},
                        .lo = {1, 1, 1},
                        .window = {2, 2, 2},
                        .w_step = {9 * in * out, 3 * in * out, in * out, out, 1}};
  pool_sparse_sum p = {.k = pool_sparse_kernels_get(), .s = &s, .data = data};
  float *x = bench_field(bench_steps(s.x, in, s.x_step)), *w = bench_field(27 * in * out);
  const int64_t windows = bench_steps(s.y, out, s.y_step);
  float *y = bench_field(windows);
  uint8_t *argmax = bench_bytes(windows);
  char name[64];
  double best = INFINITY;

  memcpy(s.argmax_step, s.y_step, sizeof s.y_step);
  for (int64_t i = 0; i < windows; i++) {
    argmax[i] = (uint8_t)((uint64_t)i * 2654435761u >> 16 & 7);
  }
  p.x = x;
  p.y = y;
  p.w = w;
  p.argmax = argmax;
  p.made = data ? x : w;
  p.workspace = bench_bytes(pool_sparse_workspace(p.k, &s, data));
  p.scratch = bench_bytes(pool_sparse_scratch(p.k, &s, data));
  all_pieces(&p);
  for (int i = 0; i < RUNS; i++) {
    const double start = bench_processor_seconds();

    all_pieces(&p);
    best = fmin(best, bench_processor_seconds() - start);
  }
  (void)snprintf(name, sizeof name, "%s %lld->%lld %lldx%lld^2", data ? "data" : "weights",
                 (long long)in, (long long)out, (long long)planes, (long long)wide);
  bench_row(bench_set_row(name), "limit", peak * 1e-9, work_of(&s) / best * 1e-9, "Gflop/s", 1,
            goal);
  free(x);
  free(w);
  free(y);
  free(argmax);
  free(p.workspace);
  free(p.scratch);
}

static int rows(void)
{
  if (pool_sparse_kernels_get() == NULL) {
    fprintf(stderr, "conv_pool_sparse: skipped: this processor has no vector kernels\n");
    return 77;
  }
  const double peak = bench_multiply_adds(9);

  row(false, 4, 32, 32, 128, peak, 0);
  for (int data = 0; data < 2; data++) {
    row(data, 32, 64, 32, 64, peak, 0);
    row(data, 64, 128, 32, 32, peak, 0);
    row(data, 128, 256, 16, 16, peak, 0);
    row(data, 128, 256, 8, 16, peak, 0);
    row(data, 256, 512, 8, 8, peak, 0);
    row(data, 256, 512, 4, 8, peak, 0);
  }
  return 0;
}

int main(void)
{
  (void)bench_pin();
  return bench_each_set(rows);
}
