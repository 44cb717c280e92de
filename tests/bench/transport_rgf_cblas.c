/* transport_rgf_cblas.c - recursive Green's functions of random block-tridiagonal matrices on one
 * thread: their flops in a second against those of a zgemm of OpenBLAS, and the cost of a block in
 * long devices against that in short ones. */
#include <cblas.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "model/rgf/rgf.h"
#include "ops/linear/weir_linear.h"
#include "weir_bench.h"

enum { BLOCKS = 20, SHORT = 10, LONG = 40, SMALL = 32, SMALL_PRODUCT = 256 };

/* A device of blocks of n rows, all full, and what is computed of it. */
typedef struct device {
  int64_t n, n_blocks;
  qt_layout layout;
  weir_c128 *a, *g, *corner; /* [layout.count] twice; [n, n] */
  void *scratch;
} device;

/* C = A B, [n, n]. */
typedef struct product {
  int64_t n;
  weir_c128 *a, *b, *c;
} product;

static weir_c128 *draw(int64_t count, uint32_t purpose)
{
  weir_c128 *x = NULL;

  bench_must(weir_alloc(count, sizeof *x, (void **)&x));
  for (int64_t i = 0; i < count; i++) {
    x[i] = (weir_c128){weir_random_uniform(1, purpose, 0, (uint64_t)i) - 0.5,
                       weir_random_uniform(1, purpose, 1, (uint64_t)i) - 0.5};
  }
  return x;
}

static void read_block(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const device *d = context;

  memcpy(out, d->a + qt_layout_at(&d->layout, row, column), (size_t)(d->n * d->n) * sizeof *out);
}

/* The diagonal outweighs the rest, so that every block can be eliminated. */
static device device_of(int64_t n, int64_t n_blocks)
{
  device d = {.n = n, .n_blocks = n_blocks};
  int64_t *first = NULL;

  bench_must(weir_alloc(n_blocks + 1, sizeof *first, (void **)&first));
  for (int64_t b = 0; b <= n_blocks; b++) {
    first[b] = b * n;
  }
  bench_must(qt_layout_create(n_blocks, first, &d.layout));
  weir_free(&first);
  d.a = draw(d.layout.count, 1);
  d.g = draw(d.layout.count, 2);
  d.corner = draw(n * n, 3);
  for (int64_t b = 0; b < n_blocks; b++) {
    for (int64_t i = 0; i < n; i++) {
      d.a[d.layout.offset[b] + i * (n + 1)].re += 2 * sqrt((double)n);
    }
  }
  bench_must(weir_alloc(qt_rgf_scratch(n, false), 1, &d.scratch));
  return d;
}

static void end(device *d)
{
  qt_layout_fini(&d->layout);
  weir_free(&d->a);
  weir_free(&d->g);
  weir_free(&d->corner);
  weir_free(&d->scratch);
}

static void must_be_regular(bool regular)
{
  if (!regular) {
    fprintf(stderr, "transport_rgf: a block is singular\n");
    exit(6);
  }
}

static void solve(void *context)
{
  device *d = context;
  const qt_rgf_job job = {.layout = &d->layout, .a = {read_block, d}, .g = {d->g, 1}};

  must_be_regular(qt_rgf_solve(&job, d->scratch));
}

static void corner(void *context)
{
  device *d = context;

  must_be_regular(qt_rgf_corner(&d->layout, &(qt_blocks){read_block, d}, d->corner, d->scratch));
}

static void multiply(void *context)
{
  const product *p = context;
  const weir_c128 one = {1, 0}, none = {0, 0};
  const int n = (int)p->n;

  cblas_zgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, &one, p->a, n, p->b, n, &none,
              p->c, n);
}

/* Rates against a product of blocks as large, or, of small blocks, of larger ones. */
static void compare(int64_t n, double goal)
{
  const int64_t side = n > SMALL ? n : SMALL_PRODUCT;
  const int runs = n > SMALL ? 5 : 100;
  const double product_flops = 8 * (double)side * (double)side * (double)side;
  product p = {side, draw(side * side, 4), draw(side * side, 5), draw(side * side, 6)};
  device d = device_of(n, BLOCKS);
  const struct {
    const char *what;
    void (*body)(void *);
    double flops;
  } work[] = {{"blocks of G", solve, qt_rgf_flops(&d.layout, false, false)},
              {"corner of G", corner, qt_rgf_corner_flops(&d.layout)}};
  char row[64], peer[64];
  double seconds[2];

  (void)snprintf(peer, sizeof peer, "zgemm of OpenBLAS at %lld^2", (long long)side);
  for (int i = 0; i < 2; i++) {
    bench_best_pair(runs, multiply, &p, work[i].body, &d, seconds);
    (void)snprintf(row, sizeof row, "rgf %s: %d of %lld^2", work[i].what, BLOCKS, (long long)n);
    bench_row(row, peer, product_flops / seconds[0] * 1e-9, work[i].flops / seconds[1] * 1e-9,
              "Gflop/s", 1, goal);
  }
  end(&d);
  weir_free(&p.a);
  weir_free(&p.b);
  weir_free(&p.c);
}

/* Milliseconds of a block after the first: that one couples to no block before it. */
static void lengthen(int64_t n, double goal)
{
  device few = device_of(n, SHORT), many = device_of(n, LONG);
  char row[64];
  double seconds[2];

  bench_best_pair(5, solve, &few, solve, &many, seconds);
  (void)snprintf(row, sizeof row, "rgf blocks of G: a block of %d of %lld^2", LONG, (long long)n);
  bench_row(row, "a block of 10", seconds[0] * 1e3 / (SHORT - 1), seconds[1] * 1e3 / (LONG - 1),
            "ms", 0, goal);
  end(&few);
  end(&many);
}

int main(void)
{
  weir_log_set_level(WEIR_LOG_WARN);
  weir_linear_start();
  openblas_set_num_threads(1);
  (void)bench_pin();
  compare(SMALL, 0.4);
  compare(200, 0.7);
  compare(300, 0.7);
  lengthen(200, 0.9);
  return 0;
}
