/* fir_fft.c - long filters by overlap-save (Oppenheim and Schafer, section 8.7.3): two blocks of
 * outputs at a time, as real and imaginary part, on a grid of absolute slots, so that how calls
 * divide time changes nothing. Results of the last pair of blocks are kept in the store. */
#include <string.h>
#include "ops/call/weir_call.h"
#include "stream/op/filter/fft_priv.h"
#include "stream/op/filter/filter_priv.h"
#include "stream/op/filter/fir_priv.h"

/* Runs so short that their taps times samples are below this many transforms' elements go in direct
 * form. */
enum { DIRECT = 128 };

typedef struct context {
  weir_fir direct;
  weir_fft fft;
  int64_t block; /* outputs of a transform; two make a pair */
  _Alignas(64) float h_re[FFT_MAX], h_im[FFT_MAX];
} context;

/* Between calls. Zero: nothing is kept. The results of the pair follow. */
typedef struct progress {
  _Alignas(64) float re[FFT_MAX], im[FFT_MAX];
  int64_t pairs; /* 1 + the pair that is kept */
  float y[2 * FFT_MAX];
} progress;

/* Samples [t, t + n) for the run [start, end): what is before is its first sample, after it 0. */
static void lay_out(const fir_span *at, int64_t start, int64_t end, int64_t t, int64_t n, float *x)
{
  const int64_t before = start > t ? (start - t < n ? start - t : n) : 0;
  const int64_t inside = (end - t < n ? end - t : n) - before;

  for (int64_t i = 0; i < before; i++) {
    x[i] = at->x[start - at->from];
  }
  if (inside > 0) {
    memcpy(x + before, at->x + t + before - at->from, (size_t)inside * sizeof *x);
  }
  const int64_t filled = before + (inside > 0 ? inside : 0);

  memset(x + filled, 0, (size_t)(n - filled) * sizeof *x);
}

/* Slots [t, end) of one run, all of the pair that begins at `first`. */
static void run_of_pair(const context *c, progress *s, const fir_span *at, int64_t first, int64_t t,
                        int64_t end)
{
  const int64_t n = c->fft.n, reach = c->direct.taps - 1;
  const weir_fft_kernels *k = filter_fft_kernels();

  if ((end - t) * c->direct.taps < DIRECT * n) {
    filter_fir_outputs(&c->direct, at, t, end, s->y + t - first);
    return;
  }
  const int64_t start = filter_fir_start(at, t, reach);

  lay_out(at, start, end, first - reach, n, s->re);
  lay_out(at, start, end, first - reach + c->block, n, s->im);
  k->forward(&c->fft, s->re, s->im);
  k->multiply(n, s->re, s->im, c->h_re, c->h_im);
  k->back(&c->fft, s->re, s->im);
  for (int64_t i = t; i < end; i++) {
    const int64_t index = i - first;

    s->y[index] = index < c->block ? s->re[reach + index] : s->im[reach + index - c->block];
  }
}

/* The results of pair j. Slots before `lo` that no call has seen are absent. */
static void make_pair(const context *c, progress *s, const fir_span *at, int64_t j, int64_t lo)
{
  const int64_t first = 2 * c->block * j, all = first + 2 * c->block;
  const int64_t last = all < at->to ? all : at->to;

  memset(s->y, 0, (size_t)(2 * c->block) * sizeof *s->y);
  for (int64_t t = first > lo ? first : lo, end; t < last; t = end) {
    const uint8_t here = at->present[t - at->from];
    const uint8_t *edge = memchr(at->present + t - at->from, here ? 0 : 1, (size_t)(last - t));

    end = edge != NULL ? at->from + (edge - at->present) : last;
    if (here) {
      run_of_pair(c, s, at, first, t, end);
    }
  }
  s->pairs = j + 1;
}

static weir_status filter(void *of, const weir_op_run *run)
{
  const context *c = of;
  progress *s = run->in[2].data;
  const int64_t lo = run->box.lo[0], hi = run->box.hi[0], extent = run->in[0].extent[0];
  const int64_t reach = c->direct.taps - 1, from = lo > reach ? lo - reach : 0;
  const int64_t pair = 2 * c->block, open = hi + pair;

  if (lo >= hi) {
    return WEIR_OK;
  }
  const fir_span at = {weir_view_at(&run->in[0], &from), weir_view_at(&run->in[1], &from), from,
                       extent < open ? extent : open};
  float *y = weir_view_at(&run->out[0], &lo);

  for (int64_t t = lo; t < hi;) {
    const int64_t j = t / pair, last = (j + 1) * pair, end = last < hi ? last : hi;

    if (s->pairs != j + 1) {
      make_pair(c, s, &at, j, lo);
    }
    memcpy(y + t - lo, s->y + t - j * pair, (size_t)(end - t) * sizeof *y);
    t = end;
  }
  return WEIR_OK;
}

static void prepare(context *c, const double *h, int64_t taps)
{
  filter_fir_init(&c->direct, h, taps);
  filter_fft_init(&c->fft, taps <= FFT_MIN ? 4 * FFT_MIN : FFT_MAX);
  c->block = c->fft.n - (taps - 1);
  for (int64_t k = 0; k < taps; k++) {
    c->h_re[k] = (float)(h[k] / (double)c->fft.n);
  }
  filter_fft_kernels()->forward(&c->fft, c->h_re, c->h_im);
}

weir_status filter_fir_fft(const weir_series_use *use, const double *h, int64_t taps,
                           weir_series *s)
{
  weir_graph *g = use->graph;
  const int64_t bytes = (int64_t)sizeof(progress);
  void *memory = NULL;
  char name[256];

  WEIR_TRY(weir_series_keep(use, sizeof(context), NULL, &memory));
  context *c = memory;

  prepare(c, h, taps);
  (void)snprintf(name, sizeof name, "%s.fir", use->step);
  WEIR_TRY(weir_store_add(use->store, name, WEIR_U8, 1, &bytes));
  const int64_t reach = taps - 1, ahead = 2 * c->block;
  const weir_value in[] = {s->value, s->present, weir_stored(g, use->store, name)};
  const weir_call_spec spec = {
      .name = "fir_fft",
      .function = filter,
      .context = c,
      .n_out = 1,
      .out = {{.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1}},
      .behind = {reach, reach},
      .ahead = {ahead, ahead},
      .presence = 2,
      .settle = 1,
      .flops = 170.0 * (double)c->fft.n / (double)ahead};

  weir_in_place(g, in[2]);
  s->value = weir_call(g, &spec, in, 3);
  return WEIR_OK;
}
