/* speed.c - see speed.h. */
#include "page/speed.h"

#include <math.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "device/weir_parallel.h"
#include "ops/linear/weir_linear.h"

typedef struct product {
  int64_t n;
  double seconds;
  weir_c128 *a, *b, *c; /* [n, n]; c of each thread: [threads, n, n] */
  double *rate;         /* [threads]                                 */
} product;

static void multiply(void *context, int64_t item, int thread)
{
  const product *p = context;
  const int64_t n = p->n;
  const weir_linear_factor a = {p->a, n, false}, b = {p->b, n, false};
  weir_c128 *c = p->c + item * n * n;
  double spent = 0;
  int64_t times = 0;

  (void)thread;
  weir_linear_multiply(n, n, n, 1, a, b, 0, c, n); /* not measured: memory and caches */
  const double began = weir_clock();

  while (spent < p->seconds) {
    weir_linear_multiply(n, n, n, 1, a, b, 0, c, n);
    times++;
    spent = weir_clock() - began;
  }
  p->rate[item] = 8.0 * (double)times * (double)n * (double)n * (double)n / spent;
}

weir_status qt_speed_zgemm(int64_t n, int threads, double seconds, double *rate)
{
  product p = {.n = n, .seconds = seconds};
  weir_status status = WEIR_OK;

  threads = threads > 0 ? threads : weir_threads_get();
  weir_linear_start();
  WEIR_TRY_GOTO(weir_alloc(n * n, sizeof *p.a, (void **)&p.a), done);
  WEIR_TRY_GOTO(weir_alloc(n * n, sizeof *p.b, (void **)&p.b), done);
  WEIR_TRY_GOTO(weir_alloc(threads * n * n, sizeof *p.c, (void **)&p.c), done);
  WEIR_TRY_GOTO(weir_alloc(threads, sizeof *p.rate, (void **)&p.rate), done);
  for (int64_t i = 0; i < n * n; i++) {
    p.a[i] = p.b[i] = (weir_c128){1.0 / (double)(i + 1), 0.5};
  }
  weir_parallel(threads, threads, multiply, &p);
  *rate = 0;
  for (int t = 0; t < threads; t++) {
    *rate += p.rate[t] / threads;
  }
done:
  weir_free(&p.a);
  weir_free(&p.b);
  weir_free(&p.c);
  weir_free(&p.rate);
  return status;
}

const char *const qt_speed_head[QT_SPEED_COLUMNS] = {"phase", "time (s), all threads", "Gflop",
                                                     "Gflop/s per thread", "relative to zgemm"};

void qt_speed_table(int count, const qt_speed_phase *phases, int64_t n, double rate,
                    weir_table *out)
{
  for (int i = 0; i < count; i++) {
    const qt_speed_phase *p = &phases[i];
    const bool rated = p->flops > 0 && p->seconds > 0;

    weir_table_add(out, "%s", p->name);
    weir_table_add(out, isnan(p->seconds) ? "-" : "%.4g", p->seconds);
    weir_table_add(out, p->flops > 0 ? "%.4g" : "-", 1e-9 * p->flops);
    weir_table_add(out, rated ? "%.4g" : "-", rated ? 1e-9 * p->flops / p->seconds : 0);
    weir_table_add(out, rated ? "%.3f" : "-", rated ? p->flops / p->seconds / rate : 0);
  }
  weir_table_add(out, "zgemm of %lld x %lld", (long long)n, (long long)n);
  weir_table_add(out, "-");
  weir_table_add(out, "-");
  weir_table_add(out, "%.4g", 1e-9 * rate);
  weir_table_add(out, "1");
}
