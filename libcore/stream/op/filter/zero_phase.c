/* zero_phase.c - a cascade run forward and backward over each run of samples (Gustafsson, IEEE
 * Trans. Signal Processing 44 (1996) 988; ends extended oddly as scipy.signal.sosfiltfilt does).
 *
 * Time is divided into blocks of absolute slots. The forward pass hands its states from block to
 * block; then it continues over `look` slots more, after which what the backward pass does not know
 * has decayed to 1e-12. So a block's result depends on the samples alone, not on how calls divide
 * time. */
#include <math.h>
#include <string.h>
#include "ops/call/weir_call.h"
#include "stream/op/filter/cascade_priv.h"
#include "stream/op/filter/filter_priv.h"

enum { MIN_BLOCK = 256, LOOKS_IN_BLOCK = 4 };
/* Logarithm of the decay that counts as nothing, and a margin for sections that ring together. */
static const double nothing = 27.63, margin = 1.25;

typedef struct context {
  weir_cascade cascade;
  int64_t block, look; /* slots; look > edge                          */
  int64_t edge;        /* samples by which the ends of a run are extended */
} context;

/* Between calls. Zero: no block yet. The block's results and workspace follow. */
typedef struct progress {
  _Alignas(64) double z[CASCADE_STATES]; /* of the forward pass after the block              */
  int64_t blocks;                        /* 1 + the block that the results are of            */
  int64_t running, start;                /* its last slot is in a run that began there       */
} progress;

static float *results(progress *s)
{
  return (float *)(void *)(s + 1);
}

static double *work(const context *c, progress *s)
{
  return (double *)(void *)(results(s) + c->block);
}

static int64_t state_bytes(const context *c)
{
  return (int64_t)sizeof(progress) + c->block * (int64_t)sizeof(float) +
         (c->block + c->look + 2 * c->edge) * (int64_t)sizeof(double);
}

/* What a call sees, from slot `from` on; `to` is the end of what it sees. */
typedef struct span {
  const float *x;
  const uint8_t *present;
  int64_t from, to;
} span;

static double sample_at(const span *at, int64_t t)
{
  return (double)at->x[t - at->from];
}

static void begin(const context *c, double *z, double x)
{
  for (int64_t i = 0; i < c->cascade.states; i++) {
    z[i] = c->cascade.steady[i] * x;
  }
}

/* Slots [a, b) of a run, of the block that ends at `last`: the forward pass, into w. Returns how
 * many samples there are. fresh: the run begins at a; ended: it ends at b. */
static int64_t forward(const context *c, progress *s, const span *at, int64_t a, int64_t b,
                       int64_t last, bool fresh, bool ended)
{
  const int64_t max_edge = b - s->start - 1, edge = max_edge < c->edge ? max_edge : c->edge;
  const int64_t before = fresh ? edge : 0, inside = (b < last ? b : last) - a;
  double *w = work(c, s);
  int64_t n = before;

  for (int64_t i = 0; i < before; i++) {
    w[i] = 2 * sample_at(at, a) - sample_at(at, a + edge - i);
  }
  for (int64_t i = 0; i < b - a; i++) {
    w[n + i] = (double)at->x[a - at->from + i];
  }
  n += b - a;
  for (int64_t i = 0; i < edge && ended; i++) {
    w[n++] = 2 * sample_at(at, b - 1) - sample_at(at, b - 2 - i);
  }
  if (fresh) {
    begin(c, s->z, w[0]);
  }
  filter_cascade_run(&c->cascade, s->z, w, before + inside);
  _Alignas(64) double z[CASCADE_STATES];

  memcpy(z, s->z, sizeof z); /* s->z: after the block */
  filter_cascade_run(&c->cascade, z, w + before + inside, n - before - inside);
  return n;
}

/* The run of which slot a is the first in the block [first, last). Returns the slot after it. */
static int64_t run_of_block(const context *c, progress *s, const span *at, int64_t a, int64_t first,
                            int64_t last, bool fresh)
{
  const uint8_t *none = memchr(at->present + a - at->from, 0, (size_t)(at->to - a));
  const int64_t b = none != NULL ? at->from + (none - at->present) : at->to;
  const bool ended = none != NULL || at->to < last + c->look;
  _Alignas(64) double z[CASCADE_STATES];
  double *w = work(c, s);
  float *y = results(s) + a - first;

  s->start = fresh ? a : s->start;
  const int64_t n = forward(c, s, at, a, b, last, fresh, ended);
  const int64_t max_edge = b - s->start - 1, edge = max_edge < c->edge ? max_edge : c->edge;
  const int64_t before = fresh ? edge : 0;

  begin(c, z, w[n - 1]);
  memset(z + c->cascade.states, 0, (size_t)(CASCADE_STATES - c->cascade.states) * sizeof *z);
  filter_cascade_back(&c->cascade, z, w, n);
  s->running = b >= last;
  for (int64_t i = 0; i < (b < last ? b : last) - a; i++) {
    y[i] = (float)w[before + i];
  }
  return b;
}

/* The results of block j. Slots before at->from that no call has seen are absent. */
static void make_block(const context *c, progress *s, const span *at, int64_t j, int64_t lo)
{
  const int64_t first = j * c->block, last = first + c->block;
  const int64_t seen = last + c->look;
  const span view = {at->x, at->present, at->from, at->to < seen ? at->to : seen};
  bool goes_on = s->blocks == j && s->running;

  s->blocks = j + 1;
  s->running = 0;
  memset(results(s), 0, (size_t)c->block * sizeof(float));
  for (int64_t t = first > lo ? first : lo; t < last && t < view.to;) {
    if (view.present[t - view.from]) {
      t = run_of_block(c, s, &view, t, first, last, !(goes_on && t == first));
    } else {
      t++;
    }
  }
}

static weir_status filter(void *of, const weir_op_run *run)
{
  const context *c = of;
  progress *s = run->in[2].data;
  const int64_t lo = run->box.lo[0], hi = run->box.hi[0], extent = run->in[0].extent[0];
  const int64_t from = lo > c->edge ? lo - c->edge : 0, open = hi + c->block + c->look;

  if (lo >= hi) {
    return WEIR_OK;
  }
  const span at = {weir_view_at(&run->in[0], &from), weir_view_at(&run->in[1], &from), from,
                   extent < open ? extent : open};
  float *y = weir_view_at(&run->out[0], &lo);

  for (int64_t t = lo; t < hi;) {
    const int64_t j = t / c->block, last = (j + 1) * c->block, end = last < hi ? last : hi;

    if (s->blocks != j + 1) {
      make_block(c, s, &at, j, lo);
    }
    memcpy(y + t - lo, results(s) + t - j * c->block, (size_t)(end - t) * sizeof *y);
    t = end;
  }
  return WEIR_OK;
}

/* Samples by which scipy extends: 3 (2 n + 1), less what sections of first order do not need. */
static int64_t edge_of(const weir_sos *sos, int n)
{
  int b = 0, a = 0;

  for (int k = 0; k < n; k++) {
    b += sos[k].b2 == 0;
    a += sos[k].a2 == 0;
  }
  return 3 * (2 * n + 1 - (b < a ? b : a));
}

/* Block and look-ahead. Fails: WEIR_ERR_CONFIG when `max_slots` slots are too few. */
static weir_status choose(context *c, const weir_sos *sos, int n, int64_t max_slots)
{
  const double decay = -log(weir_design_radius(sos, n));
  const double slots = margin * nothing / decay;

  c->edge = edge_of(sos, n);
  if (!(slots <= (double)max_slots / 2)) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "zero_phase: the decay time of the filter is %.0f slots, so that it looks ahead over twice "
        "as many, more than the %lld of look_ahead: raise lo or look_ahead, or lower the order",
        slots, (long long)max_slots);
  }
  c->look = ((int64_t)slots + c->edge) / CASCADE_BLOCK * CASCADE_BLOCK + CASCADE_BLOCK;
  c->block = LOOKS_IN_BLOCK * c->look > MIN_BLOCK ? LOOKS_IN_BLOCK * c->look : MIN_BLOCK;
  if (c->block + c->look > max_slots) {
    c->block = c->look;
  }
  return WEIR_OK;
}

weir_status filter_zero_phase(const weir_series_use *use, const weir_sos *sos, int n,
                              int64_t max_slots, weir_series *s)
{
  weir_graph *g = use->graph;
  void *memory = NULL;
  char name[256];

  WEIR_TRY(weir_series_keep(use, sizeof(context), NULL, &memory));
  context *c = memory;

  WEIR_TRY(choose(c, sos, n, max_slots));
  filter_cascade_init(&c->cascade, sos, n);
  const int64_t bytes = state_bytes(c), ahead = c->block + c->look;

  (void)snprintf(name, sizeof name, "%s.zero_phase", use->step);
  WEIR_TRY(weir_store_add(use->store, name, WEIR_U8, 1, &bytes));
  const weir_value in[] = {s->value, s->present, weir_stored(g, use->store, name)};
  const weir_call_spec spec = {
      .name = "zero_phase",
      .function = filter,
      .context = c,
      .n_out = 1,
      .out = {{.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1}},
      .behind = {c->edge, c->edge},
      .ahead = {ahead, ahead},
      .presence = 2,
      .settle = 1,
      .flops = 18.0 * n * (1 + (double)c->look / (double)c->block)};

  weir_in_place(g, in[2]);
  s->value = weir_call(g, &spec, in, 3);
  return WEIR_OK;
}
