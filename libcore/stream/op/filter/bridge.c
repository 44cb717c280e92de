/* bridge.c - short gaps filled by the line between the samples around them. */
#include <float.h>
#include <math.h>
#include "ops/call/weir_call.h"
#include "stream/op/filter/weir_stream_filter.h"

/* The inputs that a call sees, slots [from, to). */
typedef struct window {
  const float *x; /* of slot `from` */
  const uint8_t *present;
  int64_t from, to, tolerance;
} window;

static bool holds(const window *w, int64_t t)
{
  return w->present[t - w->from] && isfinite(w->x[t - w->from]);
}

/* The samples on both sides of the gap that slot t is in. False: it is longer, or open. */
static bool sides(const window *w, int64_t t, int64_t *left, int64_t *right)
{
  const int64_t first = t - w->tolerance > w->from ? t - w->tolerance : w->from;

  *left = t - 1;
  while (*left >= first && !holds(w, *left)) {
    (*left)--;
  }
  if (*left < first) {
    return false;
  }
  *right = t + 1;
  while (*right < w->to && *right - *left <= w->tolerance + 1 && !holds(w, *right)) {
    (*right)++;
  }
  return *right < w->to && *right - *left <= w->tolerance + 1;
}

/* Fills the slots of one gap from t on, before `hi`; all of them have one fate. Returns the slot
 * after. */
static int64_t fill(const window *w, int64_t t, int64_t hi, float *y, uint8_t *present)
{
  int64_t left, right;

  if (!sides(w, t, &left, &right)) {
    while (t < hi && !holds(w, t)) {
      t++;
    }
    return t;
  }
  const double a = (double)w->x[left - w->from], b = (double)w->x[right - w->from];

  for (; t < right && t < hi; t++, y++, present++) {
    *y = (float)(a + (b - a) * ((double)(t - left) / (double)(right - left)));
    *present = 1;
  }
  return t;
}

enum { PIECE = 512 /* slots processed together */ };

/* Copies the slots that hold a sample; true when all do. */
static bool copy(const float *x, const uint8_t *present, int64_t n, float *y, uint8_t *finite)
{
  uint8_t all = 1;

  for (int64_t i = 0; i < n; i++) {
    const uint8_t here = present[i] & (fabsf(x[i]) <= FLT_MAX);

    y[i] = here ? x[i] : 0.0f;
    finite[i] = here;
    all &= here;
  }
  return all != 0;
}

static weir_status bridge(void *context, const weir_op_run *run)
{
  const int64_t tolerance = ((const weir_call_spec *)run->spec)->ahead[0];
  const int64_t lo = run->box.lo[0], hi = run->box.hi[0], extent = run->in[0].extent[0];
  const int64_t from = lo > tolerance ? lo - tolerance : 0;

  (void)context;
  if (lo >= hi) {
    return WEIR_OK;
  }
  const window w = {weir_view_at(&run->in[0], &from), weir_view_at(&run->in[1], &from), from,
                    extent < hi + tolerance ? extent : hi + tolerance, tolerance};
  float *y = weir_view_at(&run->out[0], &lo);
  uint8_t *present = weir_view_at(&run->out[1], &lo);

  for (int64_t t = lo; t < hi; t += PIECE) {
    const int64_t end = t + PIECE < hi ? t + PIECE : hi;

    if (copy(w.x + t - from, w.present + t - from, end - t, y + t - lo, present + t - lo)) {
      continue;
    }
    for (int64_t i = t; tolerance > 0 && i < end;) {
      i = present[i - lo] ? i + 1 : fill(&w, i, end, y + i - lo, present + i - lo);
    }
  }
  return WEIR_OK;
}

weir_series weir_stream_bridge(weir_graph *g, weir_series s, int64_t tolerance)
{
  const weir_value in[] = {s.value, s.present};
  const weir_call_spec spec = {
      .name = "bridge",
      .function = bridge,
      .n_out = 2,
      .out = {{.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1},
              {.dtype = WEIR_BOOL, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1}},
      .behind = {tolerance, tolerance},
      .ahead = {tolerance, tolerance},
      .presence = 2,
      .settle = tolerance + 1};

  s.value = weir_call(g, &spec, in, 2);
  s.present = (weir_value){s.value.node, 1};
  s.age = WEIR_NO_VALUE;
  return s;
}
