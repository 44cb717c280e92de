/* gap.c - runs of present and absent slots, and the filling of short gaps. */
#include <math.h>
#include <string.h>
#include "ops/elementwise/weir_elementwise.h"
#include "stream/weir_gap.h"

weir_status weir_gap_slots(const weir_series *s, const char *option, double seconds, int64_t *slots)
{
  const double exact = seconds * (double)s->rate_num / (double)s->rate_den;
  const double whole = floor(exact + 1e-9 * fmax(1, fabs(exact)));

  if (!(whole >= 0 && whole <= WEIR_GAP_MAX)) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: %.12g s are %.12g slots: 0 to %d are allowed", option,
                     seconds, exact, WEIR_GAP_MAX);
  }
  *slots = (int64_t)whole;
  return WEIR_OK;
}

int64_t weir_gap_count(const uint8_t *present, int64_t n)
{
  const uint64_t even = UINT64_C(0x00ff00ff00ff00ff);
  int64_t count = 0, i = 0;

  while (i + 8 <= n) {
    /* Eight counts in a word, for as long as none of them can overflow. */
    const int64_t left = (n - i) / 8, words = left < 255 ? left : 255;
    uint64_t bytes = 0;

    if (memchr(present + i, 0, (size_t)words * 8) == NULL) {
      count += 8 * words;
      i += 8 * words;
      continue;
    }
    for (int64_t k = 0; k < words; k++) {
      uint64_t eight;

      memcpy(&eight, present + i + 8 * k, sizeof eight);
      bytes += eight;
    }
    count += (int64_t)(((bytes & even) + (bytes >> 8 & even)) * UINT64_C(0x0001000100010001) >> 48);
    i += 8 * words;
  }
  for (; i < n; i++) {
    count += present[i];
  }
  return count;
}

int64_t weir_gap_find(const weir_gap_walk *w, int64_t at, int64_t hi, bool present)
{
  const uint8_t *from = w->slot + (at - w->origin);
  const uint8_t *found = at < hi ? memchr(from, present, (size_t)(hi - at)) : NULL;

  return found != NULL ? at + (found - from) : hi;
}

/* Last present slot of [lo, at), or -1. */
static int64_t find_back(const weir_gap_walk *w, int64_t at, int64_t lo)
{
  uint64_t eight;

  while (at - lo >= 8) {
    memcpy(&eight, w->slot + (at - 8 - w->origin), 8);
    if (eight != 0) {
      break;
    }
    at -= 8;
  }
  while (at > lo && w->slot[at - 1 - w->origin] == 0) {
    at--;
  }
  return at > lo ? at - 1 : -1;
}

weir_gap_walk weir_gap_start(const weir_op_run *run, int k)
{
  const weir_call_spec *spec = run->spec;
  const weir_view *v = &run->in[k];
  const int64_t lo = run->box.lo[0] - spec->behind[k], hi = run->box.hi[0] + spec->ahead[k];

  return (weir_gap_walk){.slot = v->data,
                         .origin = v->origin[0],
                         .at = run->box.lo[0],
                         .hi = run->box.hi[0],
                         .access_lo = lo > 0 ? lo : 0,
                         .access_hi = hi < v->extent[0] ? hi : v->extent[0]};
}

bool weir_gap_next(weir_gap_walk *w)
{
  if (w->at >= w->hi) {
    return false;
  }
  w->lo = w->at;
  w->present = w->slot[w->at - w->origin] != 0;
  w->end = weir_gap_find(w, w->lo, w->hi, !w->present);
  w->before = w->next = -1;
  if (!w->present) {
    w->before = find_back(w, w->lo, w->access_lo);
    w->next = weir_gap_find(w, w->end, w->access_hi, true);
    w->next = w->next < w->access_hi ? w->next : -1;
  }
  w->at = w->end;
  return true;
}

weir_call_spec weir_gap_call(const char *name, weir_call_function function)
{
  const weir_array_desc value = {
      .dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  const weir_array_desc flag = {
      .dtype = WEIR_BOOL, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};

  return (weir_call_spec){.name = name,
                          .function = function,
                          .n_out = 2,
                          .out = {value, flag},
                          .presence = 2,
                          .flops = 1};
}

weir_series weir_gap_made(weir_graph *g, const weir_call_spec *spec, weir_series s,
                          const weir_value *in, int n_in)
{
  s.value = weir_call(g, spec, in, n_in);
  s.present = s.value.node < 0 ? s.value : (weir_value){s.value.node, 1};
  s.age = WEIR_NO_VALUE;
  return s;
}

/* Short gaps have their slots written by this: [lo, end) of the gap between the samples s and e. */
typedef void (*fill)(float *y, const weir_op_run *run, const weir_gap_walk *w);

static void fill_const(float *y, const weir_op_run *run, const weir_gap_walk *w)
{
  const float value = *(const float *)run->in[2].data;

  for (int64_t t = 0; t < w->end - w->lo; t++) {
    y[t] = value;
  }
}

static void fill_hold(float *y, const weir_op_run *run, const weir_gap_walk *w)
{
  const float value = *weir_gap_value(&run->in[0], w->before);

  for (int64_t t = 0; t < w->end - w->lo; t++) {
    y[t] = value;
  }
}

static void fill_line(float *y, const weir_op_run *run, const weir_gap_walk *w)
{
  const double from = (double)*weir_gap_value(&run->in[0], w->before);
  const double to = (double)*weir_gap_value(&run->in[0], w->next);
  const double step = (to - from) / (double)(w->next - w->before);

  for (int64_t t = 0; t < w->end - w->lo; t++) {
    y[t] = (float)(from + step * (double)(w->lo - w->before + t));
  }
}

static weir_status fill_gaps(const weir_op_run *run, fill how)
{
  const int64_t tolerance = ((const weir_call_spec *)run->spec)->ahead[1] + 1;
  weir_gap_walk w = weir_gap_start(run, 1);

  while (weir_gap_next(&w)) {
    float *y = weir_gap_value(&run->out[0], w.lo);
    const size_t n = (size_t)(w.end - w.lo);
    const bool filled = w.before >= 0 && w.next >= 0 && w.next - w.before <= tolerance;

    if (w.present) {
      weir_gap_copy(y, weir_gap_value(&run->in[0], w.lo), w.end - w.lo);
    } else if (filled) {
      how(y, run, &w);
    } else {
      memset(y, 0, n * sizeof *y);
    }
    memset(weir_gap_flag(&run->out[1], w.lo), w.present || filled, n);
  }
  return WEIR_OK;
}

static weir_status call_const(void *context, const weir_op_run *run)
{
  (void)context;
  return fill_gaps(run, fill_const);
}

static weir_status call_hold(void *context, const weir_op_run *run)
{
  (void)context;
  return fill_gaps(run, fill_hold);
}

static weir_status call_line(void *context, const weir_op_run *run)
{
  (void)context;
  return fill_gaps(run, fill_line);
}

weir_series weir_gap_filled(weir_graph *g, weir_series s, weir_gap_fill how, int64_t tolerance,
                            double value)
{
  static const weir_call_function function[] = {call_const, call_hold, call_line};
  static const char *const name[] = {"fill_const", "fill_hold", "fill_line"};
  weir_call_spec spec = weir_gap_call(name[how], function[how]);
  const weir_value in[] = {s.value, s.present, weir_scalar(g, WEIR_F32, value)};
  const int64_t reach = tolerance > 1 ? tolerance - 1 : 0;

  spec.behind[1] = spec.ahead[1] = reach;
  spec.behind[0] = how == WEIR_GAP_CONST ? 0 : reach;
  spec.ahead[0] = how == WEIR_GAP_LINE ? reach : 0;
  return weir_gap_made(g, &spec, s, in, how == WEIR_GAP_CONST ? 3 : 2);
}

static weir_status call_sample_hold(void *context, const weir_op_run *run)
{
  const int64_t slots = ((const weir_call_spec *)run->spec)->behind[1] + 1;
  weir_gap_walk w = weir_gap_start(run, 1);

  (void)context;
  while (weir_gap_next(&w)) {
    const int64_t until = w.before >= 0 ? w.before + slots : w.lo;
    const int64_t hold_end = w.present       ? w.end
                             : until < w.lo  ? w.lo
                             : until < w.end ? until
                                             : w.end;
    float *y = weir_gap_value(&run->out[0], w.lo);

    if (w.present) {
      weir_gap_copy(y, weir_gap_value(&run->in[0], w.lo), w.end - w.lo);
    } else {
      for (int64_t t = w.lo; t < w.end; t++) {
        y[t - w.lo] = t < hold_end ? *weir_gap_value(&run->in[0], w.before) : 0;
      }
    }
    memset(weir_gap_flag(&run->out[1], w.lo), 1, (size_t)(hold_end - w.lo));
    memset(weir_gap_flag(&run->out[1], hold_end), 0, (size_t)(w.end - hold_end));
  }
  return WEIR_OK;
}

weir_series weir_gap_hold(weir_graph *g, weir_series s, int64_t slots)
{
  weir_call_spec spec = weir_gap_call("hold", call_sample_hold);

  spec.behind[0] = spec.behind[1] = slots > 1 ? slots - 1 : 0;
  return weir_gap_made(g, &spec, s, ((weir_value[]){s.value, s.present}), 2);
}
