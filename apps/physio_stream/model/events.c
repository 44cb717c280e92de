/* events.c - see events.h. */
#include "model/events.h"
#include <float.h>
#include <math.h>
#include <string.h>
#include "ops/call/weir_call.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/shift/weir_shift.h"
#include "ops/slice/weir_slice.h"

/* Slots written together, and slots searched together: bound what waits and what lies on the stack.
 */
enum { BLOCK = 4096, PIECE = 1024 };
/* Longest look-ahead: an hour at 5 kHz. */
#define MAX_AHEAD (INT64_C(18000000))
/* Arithmetic per slot, for reports: a compare. */
#define FLOPS 1

typedef struct event {
  int64_t slot;
  float value[PS_EVENTS_VALUES + 1];
} event;

/* What does not change while the graph runs. */
typedef struct search {
  ps_events_spec spec;
  int n_in;
  int64_t capacity; /* events that can wait */
  char state[128];
} search;

/* Head of the state; the events that wait and the search's own state follow. All zero: before slot
 * 0. */
typedef struct head {
  int64_t started;
  int64_t next;    /* slots before it have been passed to the search    */
  int64_t written; /* slots before it have been written                 */
  int64_t newest;  /* 1 + slot of the last event put                    */
  int64_t n;       /* events that wait, by slot                         */
  int64_t ended;   /* the search has been given the stream's end         */
} head;

struct ps_events {
  const search *s;
  head *h;
};

static size_t round_up(size_t n)
{
  return (n + 63) / 64 * 64;
}

static event *waiting(head *h)
{
  return (event *)(void *)((char *)h + round_up(sizeof *h));
}

static void *own_state(const search *s, head *h)
{
  return (char *)h + round_up(sizeof *h) + round_up((size_t)s->capacity * sizeof(event));
}

void ps_events_put(ps_events *found, int64_t slot, const float *values)
{
  head *h = found->h;
  const search *s = found->s;

  if (h->newest > 0 && slot - (h->newest - 1) < s->spec.apart) {
    return;
  }
  WEIR_ASSERT(slot >= h->written && h->n < s->capacity);
  event *e = &waiting(h)[h->n++];

  e->slot = slot;
  for (int k = 0; k < s->spec.n_values; k++) {
    e->value[k] = fminf(fmaxf(values[k], -FLT_MAX), FLT_MAX);
  }
  h->newest = slot + 1;
}

/* Hands slots [from, to) to the search. */
static void pass(const search *s, head *h, const weir_op_run *run, int64_t from, int64_t to)
{
  uint8_t usable[PIECE];
  ps_events found = {s, h};

  for (int64_t t = from; t < to; t += PIECE) {
    const int64_t n = to - t < PIECE ? to - t : PIECE;
    const uint8_t *present = weir_view_at(&run->in[s->n_in], &t);
    const float *x[PS_EVENTS_INPUTS];

    for (int64_t i = 0; i < n; i++) {
      usable[i] = present[i] != 0;
    }
    for (int k = 0; k < s->n_in; k++) {
      x[k] = weir_view_at(&run->in[k], &t);
      for (int64_t i = 0; i < n; i++) {
        usable[i] &= isfinite(x[k][i]) != 0;
      }
    }
    s->spec.pass(s->spec.params, own_state(s, h), t, n, x, usable, &found);
    h->next = t + n;
  }
}

static void write_slots(const search *s, head *h, const weir_op_run *run, int64_t lo, int64_t hi)
{
  const int m = s->spec.n_values;
  uint8_t *present = s->spec.each ? NULL : weir_view_at(&run->out[m], &lo);
  event *e = waiting(h);
  int64_t done = 0;

  if (present != NULL) {
    memset(present, 0, (size_t)(hi - lo));
  }
  for (int k = 0; k < m; k++) {
    memset(weir_view_at(&run->out[k], &lo), 0, (size_t)(hi - lo) * sizeof(float));
  }
  for (; done < h->n && e[done].slot < hi; done++) {
    if (present != NULL) {
      present[e[done].slot - lo] = 1;
    }
    for (int k = 0; k < m; k++) {
      float *value = weir_view_at(&run->out[k], &e[done].slot);

      *value = e[done].value[k];
    }
  }
  h->n -= done;
  memmove(e, e + done, (size_t)h->n * sizeof *e);
  h->written = hi;
}

static weir_status run_search(void *context, const weir_op_run *run)
{
  const search *s = context;
  head *h = run->in[s->n_in + 1].data;
  const int64_t end = run->in[0].extent[0]; /* far away until it is known */

  if (!h->started && !s->spec.start(s->spec.params, own_state(s, h))) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: the search cannot start", s->spec.name);
  }
  h->started = 1;
  for (int64_t lo = run->box.lo[0]; lo < run->box.hi[0]; lo += BLOCK) {
    const int64_t hi = lo + BLOCK < run->box.hi[0] ? lo + BLOCK : run->box.hi[0];
    const int64_t seen = hi + s->spec.ahead;

    pass(s, h, run, h->next > lo ? h->next : lo, end < seen ? end : seen);
    if (run->last && seen >= end && !h->ended) {
      ps_events found = {s, h};

      s->spec.finish(s->spec.params, own_state(s, h), &found);
      h->ended = 1;
    }
    write_slots(s, h, run, lo, hi);
  }
  return WEIR_OK;
}

weir_series ps_events_finite(weir_graph *g, weir_series s)
{
  s.present = weir_and(g, s.present, weir_le_scalar(g, weir_abs(g, s.value), 3e38));
  s.age = WEIR_NO_VALUE;
  return weir_series_mask(g, s);
}

void ps_events_combine(const weir_series_use *use, const int *bit, weir_series in[2])
{
  weir_graph *g = use->graph;

  in[0] = ps_events_finite(g, use->in[0]);
  in[1] = in[0];
  for (int k = 0; k < use->n_in; k++) {
    const weir_value here = k == 0 ? in[0].present : use->in[k].present;
    const weir_value value = weir_scale(g, weir_cast(g, WEIR_F32, here), (double)bit[k]);

    in[1].value = k == 0 ? value : weir_add(g, in[1].value, value);
    in[1].present = k == 0 ? here : weir_or(g, in[1].present, here);
  }
  in[0].present = in[1].present;
}

weir_status ps_events_thin(weir_graph *g, int64_t hop, const char *unit, weir_series *s)
{
  s->value = weir_slice(g, s->value, 0, 0, WEIR_SLICE_END, hop);
  s->present = weir_slice(g, s->present, 0, 0, WEIR_SLICE_END, hop);
  weir_series_set_unit(s, unit);
  WEIR_TRY(weir_series_scale_rate(s, 1, hop));
  return WEIR_OK;
}

static double rate_of(const weir_series *s)
{
  return (double)s->rate_num / (double)s->rate_den;
}

/* The lowest multiple of the slow stream's rate that is a power of two times it and no lower than
 * that of the fast one, Hz. */
static double multiple_above(const weir_series *fast, const weir_series *slow)
{
  double rate = rate_of(slow);

  while (rate < rate_of(fast)) {
    rate *= 2;
  }
  return rate;
}

static weir_status marks_of(const weir_series_use *use, const weir_series *s,
                            const weir_series *fast, weir_value *out)
{
  const __int128 fast_rate = (__int128)fast->rate_num * s->rate_den;
  const __int128 slow_rate = (__int128)fast->rate_den * s->rate_num;
  weir_graph *g = use->graph;

  if (fast_rate == slow_rate) {
    *out = s->present;
    return WEIR_OK;
  }
  if (fast_rate % slow_rate != 0 || fast_rate / slow_rate > INT32_MAX) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: its streams have %.9g and %.9g Hz, the former no multiple of the latter: "
                     "resample the signal of the former: add {name: ecg%.9g, from: [ecg], do: "
                     "{resample: {rate: %.9g}}} and detect on it",
                     use->step, rate_of(fast), rate_of(s), multiple_above(fast, s),
                     multiple_above(fast, s));
  }
  const weir_value expanded = weir_series_hold(g, *s, (int64_t)(fast_rate / slow_rate)).present;

  *out = weir_and(g, expanded, weir_not(g, weir_shift(g, expanded, 0, 1)));
  return WEIR_OK;
}

weir_status ps_events_marks(const weir_series_use *use, weir_value begins[2], weir_series *fast)
{
  const weir_series *a = &use->in[0], *b = &use->in[1];

  *fast = (__int128)a->rate_num * b->rate_den >= (__int128)b->rate_num * a->rate_den ? *a : *b;
  WEIR_TRY(marks_of(use, a, fast, &begins[0]));
  WEIR_TRY(marks_of(use, b, fast, &begins[1]));
  return WEIR_OK;
}

weir_status ps_events_need_unit(const weir_series_use *use, int input, const char *unit)
{
  weir_series wanted = {.age = WEIR_NO_VALUE};

  weir_series_set_unit(&wanted, unit);
  const char *own = use->in[input].unit;
  double factor = 1;

  if (weir_unit_is_stated(own) && !weir_unit_factor(own, unit, &factor)) {
    return weir_fail(WEIR_ERR_CONFIG, "%s is in %s but this step needs %s%s", use->in_name[input],
                     own, unit, strcmp(unit, "mV") == 0 ? ": choose the ECG" : "");
  }
  WEIR_TRY(
      weir_series_same_unit(&use->in[input], use->in_name[input], &wanted, "what this step needs"));
  return WEIR_OK;
}

weir_status ps_events_need_intervals(const weir_series_use *use)
{
  char text[512];
  const weir_status status = ps_events_need_unit(use, 0, "s");

  if (status == WEIR_OK) {
    return WEIR_OK;
  }
  (void)snprintf(text, sizeof text, "%s", weir_last_message());
  return weir_fail(status,
                   "%s: intervals between beats are wanted: find them by a step `detect`, say r, "
                   "and take from: [r.rr]",
                   text);
}

static weir_status check(const ps_events_spec *spec, const weir_series *in, int n_in)
{
  WEIR_ASSERT(n_in >= 1 && n_in <= PS_EVENTS_INPUTS && spec->n_values >= 1 &&
              spec->n_values <= PS_EVENTS_VALUES - (spec->each ? 0 : 1) && spec->apart >= 1);
  if (spec->ahead < 0 || spec->ahead > MAX_AHEAD) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: a look-ahead of %lld samples; up to %lld are possible: shorten the times "
                     "or lower the rate",
                     spec->name, (long long)spec->ahead, (long long)MAX_AHEAD);
  }
  for (int k = 1; k < n_in; k++) {
    if (in[k].rate_num != in[0].rate_num || in[k].rate_den != in[0].rate_den) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "%s: its streams have %.9g and %.9g Hz: bring them to one rate by a step "
                       "`resample` before",
                       spec->name, rate_of(&in[0]), rate_of(&in[k]));
    }
  }
  return WEIR_OK;
}

static weir_status make_state(const weir_series_use *use, search *s)
{
  const int64_t bytes =
      (int64_t)(round_up(sizeof(head)) + round_up((size_t)s->capacity * sizeof(event)) +
                s->spec.state_bytes);
  const int n = snprintf(s->state, sizeof s->state, "%s.%s", use->step, s->spec.name);

  if (n < 0 || (size_t)n >= sizeof s->state) {
    return weir_fail(WEIR_ERR_CONFIG, "step %s: its name is too long", use->step);
  }
  WEIR_TRY(weir_store_add(use->store, s->state, WEIR_U8, 1, &bytes));
  return WEIR_OK;
}

weir_status ps_events_add(const weir_series_use *use, const ps_events_spec *spec,
                          const weir_series *in, int n_in, weir_series *out)
{
  const weir_array_desc time = {.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  weir_graph *g = use->graph;
  weir_value operand[PS_EVENTS_INPUTS + 2];
  search *s = NULL;
  void *memory = NULL;

  WEIR_TRY(check(spec, in, n_in));
  WEIR_TRY(weir_series_keep(use, sizeof *s, NULL, &memory));
  s = memory;
  *s = (search){.spec = *spec, .n_in = n_in, .capacity = (spec->ahead + BLOCK) / spec->apart + 4};
  WEIR_TRY(make_state(use, s));
  weir_call_spec call = {.name = spec->name,
                         .function = run_search,
                         .context = s,
                         .n_out = spec->n_values + (spec->each ? 0 : 1),
                         .presence = n_in + 1,
                         .settle = spec->ahead + spec->settle + 1,
                         .flops = FLOPS};

  for (int k = 0; k < call.n_out; k++) {
    call.out[k] = time;
    call.out[k].dtype = k < spec->n_values ? WEIR_F32 : WEIR_BOOL;
  }
  operand[n_in] = in[0].present;
  for (int k = 0; k < n_in; k++) {
    operand[k] = in[k].value;
    operand[n_in] = k > 0 ? weir_and(g, operand[n_in], in[k].present) : operand[n_in];
    call.ahead[k] = spec->ahead;
  }
  call.ahead[n_in] = spec->ahead;
  operand[n_in + 1] = weir_stored(g, use->store, s->state);
  weir_in_place(g, operand[n_in + 1]);
  const weir_value first = weir_label(g, weir_call(g, &call, operand, n_in + 2), spec->name);

  for (int k = 0; k < spec->n_values; k++) {
    const weir_value value = {first.node, k}, present = {first.node, spec->n_values};

    out[k] = (weir_series){.value = value,
                           .present = spec->each ? weir_ne_scalar(g, value, 0) : present,
                           .age = WEIR_NO_VALUE,
                           .rate_num = in[0].rate_num,
                           .rate_den = in[0].rate_den};
  }
  WEIR_TRY(weir_graph_status(g));
  return WEIR_OK;
}
