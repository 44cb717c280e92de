/* cascade_call.c - a cascade over time with gaps: whole blocks on the grid of absolute slots. A
 * start inside a block goes to its end by the recurrence; a block that a call truncates is
 * computed again from its start with the samples known by then. */
#include <math.h>
#include <string.h>
#include "ops/call/weir_call.h"
#include "stream/op/filter/cascade_priv.h"
#include "stream/op/filter/weir_stream_filter.h"

enum { STRIP = 64 /* blocks after which states are checked */ };

/* State between calls. Zero: nothing was present yet. */
typedef struct progress {
  _Alignas(64) double z[CASCADE_STATES]; /* at the start of the block, or by the recurrence now */
  double last;                           /* the last present sample                             */
  int64_t running, absent;               /* absent slots since                                  */
  int64_t recurrence;                    /* until the block ends                                */
  int64_t filled;                        /* samples of this block that the states do not hold   */
  float x[CASCADE_BLOCK];
} progress;

typedef struct context {
  weir_cascade cascade;
  int64_t hold;
} context;

/* Columns of one call, from its first slot. */
typedef struct span {
  const float *x;
  const uint8_t *present;
  float *y;
  int64_t lo, hi;
} span;

static void start(const context *c, progress *s, int64_t t, double x)
{
  for (int64_t i = 0; i < c->cascade.states; i++) {
    s->z[i] = c->cascade.steady[i] * x;
  }
  s->running = 1;
  s->filled = 0;
  s->recurrence = !c->cascade.blocks || t % CASCADE_BLOCK != 0;
}

/* Outputs of the samples gathered, of which the first `known` came out before; all slots of the
 * block that are present. A full block moves the states on. */
static void evaluate(const context *c, progress *s, const span *at, int64_t base, int64_t known)
{
  _Alignas(64) double z[CASCADE_STATES];
  float x[CASCADE_BLOCK] = {0}, y[CASCADE_BLOCK];

  memcpy(x, s->x, (size_t)s->filled * sizeof *x);
  memcpy(z, s->z, sizeof z);
  filter_cascade_kernels()->f32(&c->cascade, z, x, y, 1);
  for (int64_t k = known; k < s->filled; k++) {
    const int64_t i = base + k - at->lo;

    at->y[i] = at->present[i] && isfinite(at->x[i]) ? y[k] : 0.0f;
  }
  if (s->filled == CASCADE_BLOCK) {
    memcpy(s->z, z, sizeof z);
    s->filled = 0;
  }
}

/* Slots [t, end) of one block, one by one. */
static void run_partial_block(const context *c, progress *s, const span *at, int64_t t, int64_t end)
{
  const int64_t base = t - t % CASCADE_BLOCK;
  int64_t known = s->filled;

  for (; t < end; t++) {
    const int64_t i = t - at->lo;
    const bool present = at->present[i] && isfinite(at->x[i]);

    at->y[i] = 0.0f;
    if (present) {
      s->last = (double)at->x[i];
      s->absent = 0;
      if (!s->running) {
        start(c, s, t, s->last);
        known = 0;
      }
    } else if (s->running && ++s->absent > c->hold) {
      evaluate(c, s, at, base, known);
      s->running = 0;
    }
    if (s->running && s->recurrence) {
      const double y = filter_cascade_step(&c->cascade, s->z, s->last);

      at->y[i] = present ? (float)y : 0.0f;
    } else if (s->running) {
      s->x[s->filled++] = (float)s->last;
    }
  }
  if (s->running && s->filled > known) {
    evaluate(c, s, at, base, known);
  }
  if (end % CASCADE_BLOCK == 0) {
    s->recurrence = !c->cascade.blocks;
  }
}

/* Blocks from t on of which every slot is present, at most STRIP. */
static int64_t full_blocks(const span *at, int64_t t)
{
  static const uint8_t all[CASCADE_BLOCK] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  int64_t n = 0;

  while (n < STRIP && t + (n + 1) * CASCADE_BLOCK <= at->hi &&
         memcmp(at->present + t - at->lo + n * CASCADE_BLOCK, all, sizeof all) == 0) {
    n++;
  }
  return n;
}

/* Up to STRIP whole blocks from t on, when the filter is at the start of one. Returns how many: 0
 * when there is none, or when a sample is not finite. */
static int64_t whole_blocks(const context *c, progress *s, const span *at, int64_t t)
{
  const int64_t n = t % CASCADE_BLOCK == 0 && c->cascade.blocks ? full_blocks(at, t) : 0;
  _Alignas(64) double z[CASCADE_STATES];
  double sum = 0;

  if (n == 0) {
    return 0;
  }
  if (!s->running) {
    if (!isfinite(at->x[t - at->lo])) {
      return 0;
    }
    start(c, s, t, (double)at->x[t - at->lo]);
  }
  memcpy(z, s->z, sizeof z);
  filter_cascade_kernels()->f32(&c->cascade, z, at->x + t - at->lo, at->y + t - at->lo, n);
  for (int64_t i = 0; i < c->cascade.states; i++) {
    sum += z[i];
  }
  if (!isfinite(sum)) {
    return 0;
  }
  memcpy(s->z, z, sizeof z);
  s->last = (double)at->x[t - at->lo + n * CASCADE_BLOCK - 1];
  s->absent = 0;
  return n;
}

static weir_status filter(void *of, const weir_op_run *run)
{
  const context *c = of;
  const int64_t lo = run->box.lo[0], hi = run->box.hi[0];
  progress *s = run->in[2].data;

  if (lo >= hi) {
    return WEIR_OK;
  }
  const span at = {weir_view_at(&run->in[0], &lo), weir_view_at(&run->in[1], &lo),
                   weir_view_at(&run->out[0], &lo), lo, hi};

  for (int64_t t = lo; t < hi;) {
    const int64_t n = whole_blocks(c, s, &at, t);
    const int64_t block = t - t % CASCADE_BLOCK + CASCADE_BLOCK;
    const int64_t end = n > 0 ? t + n * CASCADE_BLOCK : block < hi ? block : hi;

    if (n == 0) {
      run_partial_block(c, s, &at, t, end);
    }
    t = end;
  }
  return WEIR_OK;
}

static weir_status prepare(const weir_series_use *use, const char *name, const weir_sos *section,
                           int n, int64_t hold, context **out)
{
  const int64_t bytes = (int64_t)sizeof(progress);
  void *memory = NULL;

  *out = NULL;
  if (n < 1 || n > WEIR_DESIGN_MAX_SECTIONS || hold < 0 || hold > INT32_MAX) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "cascade: %d sections, hold of %lld slots: 1 to %d sections are allowed", n,
                     (long long)hold, WEIR_DESIGN_MAX_SECTIONS);
  }
  WEIR_TRY(weir_series_keep(use, sizeof(context), NULL, &memory));
  *out = memory;
  filter_cascade_init(&(*out)->cascade, section, n);
  (*out)->hold = hold;
  return weir_store_add(use->store, name, WEIR_U8, 1, &bytes);
}

weir_series weir_stream_cascade(const weir_series_use *use, const char *name, weir_series s,
                                const weir_sos *section, int n, int64_t hold)
{
  weir_graph *g = use->graph;
  context *c = NULL;
  const weir_status status = prepare(use, name, section, n, hold, &c);

  if (status != WEIR_OK) {
    s.value = weir_graph_fail(g, status);
    return s;
  }
  const weir_value in[] = {s.value, s.present, weir_stored(g, use->store, name)};
  const weir_call_spec spec = {
      .name = "cascade",
      .function = filter,
      .context = c,
      .n_out = 1,
      .out = {{.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1}},
      .presence = 2,
      .settle = hold + 1,
      .flops = 9.0 * n};

  weir_in_place(g, in[2]);
  s.value = weir_call(g, &spec, in, 3);
  return s;
}
