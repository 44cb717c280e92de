/* transport_rgf_cblas.c - recursive Green's functions of random block-tridiagonal matrices on one
 * thread: their flops in a second against those of a zgemm of OpenBLAS, and the cost of a block in
 * long devices against that in short ones. */
#include <cblas.h>
#include "base/weir_log.h"
#include "ops/linear/weir_linear.h"
#include "random_device.h"

enum { BLOCKS = 20, SHORT = 10, LONG = 40, SMALL = 32, SMALL_PRODUCT = 256 };

/* C = A B, [n, n]. */
typedef struct product {
  int64_t n;
  weir_c128 *a, *b, *c;
} product;

static void must_be_regular(bool regular)
{
  if (!regular) {
    fprintf(stderr, "transport_rgf: a block is singular\n");
    exit(6);
  }
}

static void solve(void *context)
{
  random_device *d = context;
  const qt_rgf_job job = {.layout = &d->layout, .a = {random_device_read, d}, .g = {d->g, 1}};

  must_be_regular(qt_rgf_solve(&job, d->scratch));
}

/* qt_blocks.read of Sigma^<, anti-Hermitian: of diagonal blocks, and of those next to them. */
static void read_lesser(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const random_device *d = context;

  for (int64_t i = 0; i < d->n * d->n; i++) {
    out[i] = row != column ? (weir_c128){0.1, 0.2} : (weir_c128){0, i % (d->n + 1) == 0};
  }
}

static void solve_lesser(void *context)
{
  random_device *d = context;
  const qt_rgf_job job = {.layout = &d->layout,
                          .a = {random_device_read, d},
                          .sigma = {read_lesser, d},
                          .tridiagonal = true,
                          .g = {d->g, 1},
                          .lesser = {d->lesser, 1},
                          .greater = {d->greater, 1}};

  must_be_regular(qt_rgf_solve(&job, d->scratch));
}

static void corner(void *context)
{
  random_device *d = context;

  must_be_regular(
      qt_rgf_corner(&d->layout, &(qt_blocks){random_device_read, d}, d->corner, d->scratch));
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
  product p = {side, random_numbers(side * side, 4), random_numbers(side * side, 5),
               random_numbers(side * side, 6)};
  random_device d = random_device_of(n, BLOCKS);
  const struct {
    const char *what;
    void (*body)(void *);
    double flops;
  } work[] = {{"blocks of G", solve, qt_rgf_flops(&d.layout, false, false)},
              {"blocks of G with G< and G>", solve_lesser, qt_rgf_flops(&d.layout, true, true)},
              {"corner of G", corner, qt_rgf_corner_flops(&d.layout)}};
  char row[64], reference[64];
  double seconds[2];

  (void)snprintf(reference, sizeof reference, "zgemm of OpenBLAS at %lld^2", (long long)side);
  for (size_t i = 0; i < sizeof work / sizeof *work; i++) {
    bench_best_pair(runs, multiply, &p, work[i].body, &d, seconds);
    (void)snprintf(row, sizeof row, "rgf %s: %d of %lld^2", work[i].what, BLOCKS, (long long)n);
    bench_row(row, reference, product_flops / seconds[0] * 1e-9, work[i].flops / seconds[1] * 1e-9,
              "Gflop/s", 1, goal);
  }
  random_device_fini(&d);
  weir_free(&p.a);
  weir_free(&p.b);
  weir_free(&p.c);
}

/* Milliseconds of a block after the first: that one couples to no block before it. */
static void lengthen(int64_t n, double goal)
{
  random_device few = random_device_of(n, SHORT), many = random_device_of(n, LONG);
  char row[64];
  double seconds[2];

  bench_best_pair(5, solve, &few, solve, &many, seconds);
  (void)snprintf(row, sizeof row, "rgf blocks of G: a block of %d of %lld^2", LONG, (long long)n);
  bench_row(row, "a block of 10", seconds[0] * 1e3 / (SHORT - 1), seconds[1] * 1e3 / (LONG - 1),
            "ms", 0, goal);
  random_device_fini(&few);
  random_device_fini(&many);
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
