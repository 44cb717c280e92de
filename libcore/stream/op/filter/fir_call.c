/* fir_call.c - a filter with finite response over time with gaps: each run of samples is preceded
 * by its first sample, indefinitely. */
#include <string.h>
#include "device/weir_parallel.h"
#include "ops/call/weir_call.h"
#include "stream/op/filter/filter_priv.h"
#include "stream/op/filter/fir_priv.h"

enum { STRIP = 512 /* outputs at a time at the start of a run */ };

static weir_fir_kernel choose(void)
{
#if defined(__x86_64__)
  const weir_cpu *cpu = weir_cpu_get();

  if (cpu->avx512) {
    return weir_fir_avx512;
  }
  if (cpu->avx2 && cpu->fma) {
    return weir_fir_avx2;
  }
#endif
  return weir_fir_base;
}

void filter_fir_init(weir_fir *m, const double *h, int64_t taps)
{
  m->taps = taps;
  m->pairs = (taps + 1) / 2;
  for (int64_t j = 0; j < m->pairs; j++) {
    const double both = h[j] + h[taps - 1 - j];

    m->h[j % FIR_STEP * FIR_PHASE + j / FIR_STEP] =
        (float)(j == taps - 1 - j ? both / 4 : both / 2);
  }
}

int64_t filter_fir_start(const fir_span *at, int64_t t, int64_t reach)
{
  int64_t start = t;

  while (start > at->from && start > t - reach && at->present[start - 1 - at->from]) {
    start--;
  }
  return start;
}

/* Outputs [t, end) of the run that begins at `start`, whose first sample stands for all before. */
static void near_start(const weir_fir *m, const fir_span *at, int64_t start, int64_t t, int64_t end,
                       float *y)
{
  float x[WEIR_DESIGN_MAX_TAPS + STRIP];
  const int64_t reach = m->taps - 1;

  for (int64_t n; t < end; t += n, y += n) {
    const int64_t before = start > t - reach ? start - (t - reach) : 0;

    n = end - t < STRIP ? end - t : STRIP;
    for (int64_t i = 0; i < before && i < reach + n; i++) {
      x[i] = at->x[start - at->from];
    }
    memcpy(x + before, at->x + t - reach + before - at->from,
           (size_t)(reach + n - before) * sizeof *x);
    choose()(m, x + reach, y, n);
  }
}

void filter_fir_outputs(const weir_fir *m, const fir_span *at, int64_t t, int64_t end, float *y)
{
  const int64_t reach = m->taps - 1, start = filter_fir_start(at, t, reach);
  const int64_t settled = start + reach;
  const int64_t direct = start == t - reach ? t : settled < end ? settled : end;

  near_start(m, at, start, t, direct, y);
  choose()(m, at->x + direct - at->from, y + direct - t, end - direct);
}

static weir_status filter(void *of, const weir_op_run *run)
{
  const weir_fir *m = of;
  const int64_t lo = run->box.lo[0], hi = run->box.hi[0], reach = m->taps - 1;
  const int64_t from = lo > reach ? lo - reach : 0;

  if (lo >= hi) {
    return WEIR_OK;
  }
  const fir_span at = {weir_view_at(&run->in[0], &from), weir_view_at(&run->in[1], &from), from,
                       hi};
  float *y = weir_view_at(&run->out[0], &lo);

  for (int64_t t = lo, end; t < hi; t = end) {
    const uint8_t here = at.present[t - from];
    const uint8_t *edge = memchr(at.present + t - from, here ? 0 : 1, (size_t)(hi - t));

    end = edge != NULL ? from + (edge - at.present) : hi;
    if (here) {
      filter_fir_outputs(m, &at, t, end, y + t - lo);
    } else {
      memset(y + t - lo, 0, (size_t)(end - t) * sizeof *y);
    }
  }
  return WEIR_OK;
}

weir_status filter_fir(const weir_series_use *use, const double *h, int64_t taps, weir_series *s)
{
  void *memory = NULL;

  WEIR_TRY(weir_series_keep(use, sizeof(weir_fir), NULL, &memory));
  weir_fir *m = memory;

  filter_fir_init(m, h, taps);
  const int64_t reach = m->taps - 1;
  const weir_value in[] = {s->value, s->present};
  const weir_call_spec spec = {
      .name = "fir",
      .function = filter,
      .context = m,
      .n_out = 1,
      .out = {{.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1}},
      .behind = {reach, reach},
      .presence = 2,
      .settle = 1,
      .flops = 2.0 * (double)taps};

  s->value = weir_call(use->graph, &spec, in, 2);
  return WEIR_OK;
}
