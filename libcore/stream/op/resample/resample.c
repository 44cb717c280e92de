/* resample.c - the clock of a stream changed by a rational factor. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "ops/resample/weir_resample.h"
#include "stream/op/resample/weir_stream_resample.h"
#include "stream/design/weir_design_fir.h"
#include "stream/weir_gap.h"

struct resample_opts {
  double rate, tolerance;
  int method;
};

static const weir_opt options[] = {
    WEIR_OPT_REAL(struct resample_opts, rate, 500, 1e-6, 1e6, "Hz", "sampling rate of the result"),
    WEIR_OPT_ENUM(struct resample_opts, method, 0, "linear|hold|polyphase",
                  "interpolation: linear; hold: preceding sample; polyphase: low-pass of 20 "
                  "max(up, down) + 1 taps that passes nothing above half of either rate"),
    WEIR_OPT_REAL(struct resample_opts, tolerance, 0, 0, 86400, "s",
                  "maximum length of bridged gaps, from the sample before to the sample after"),
    WEIR_OPT_END,
};

/* First result slot at or after input slot i. */
static int64_t slot_of(int64_t i, int64_t up, int64_t down)
{
  return (int64_t)(((__int128)i * up + down - 1) / down);
}

/* What lies between two present slots: x is the address of input slot `origin`. */
typedef struct span {
  const float *x;
  int64_t origin, up, down;
  bool linear; /* false: the sample before */
} span;

/* Whole periods of a clock `up` times as fast: `up` is a constant where this is inlined. */
static inline void draw_lines(const float *x, float *y, int64_t n, const int up,
                              const float *weight)
{
  for (int64_t i = 0; i < n; i++) {
    const float step = x[i + 1] - x[i];

    y[i * up] = x[i];
    for (int j = 1; j < up; j++) {
      y[i * up + j] = x[i] + step * weight[j];
    }
  }
}

static inline void repeat(const float *x, float *y, int64_t n, const int up)
{
  for (int64_t i = 0; i < n; i++) {
    for (int j = 0; j < up; j++) {
      y[i * up + j] = x[i];
    }
  }
}

static void write_whole(const span *s, const float *x, float *y, int64_t n, const float *weight)
{
  const int up = (int)s->up;

  if (!s->linear) {
    if (up == 4) {
      repeat(x, y, n, 4);
    } else {
      repeat(x, y, n, up);
    }
  } else if (up == 2) {
    draw_lines(x, y, n, 2, weight);
  } else if (up == 4) {
    draw_lines(x, y, n, 4, weight);
  } else {
    draw_lines(x, y, n, up, weight);
  }
}

static float weight_of(const span *s, int64_t rest)
{
  return (float)((double)rest * (1 / (double)s->up));
}

/* The n result slots from t on. */
static void write_any(const span *s, float *y, int64_t t, int64_t n)
{
  const __int128 at = (__int128)t * s->down;
  const int64_t whole = s->down / s->up, fraction = s->down % s->up;
  const float *x = s->x + ((int64_t)(at / s->up) - s->origin);
  int64_t rest = (int64_t)(at % s->up);

  for (int64_t k = 0; k < n; k++) {
    y[k] = rest == 0 || !s->linear ? x[0] : x[0] + (x[1] - x[0]) * weight_of(s, rest);
    x += whole;
    rest += fraction;
    if (rest >= s->up) {
      rest -= s->up;
      x++;
    }
  }
}

enum { PHASES = 64 }; /* of clocks raised by a whole factor that take the faster loop */

static void write_between(const span *s, float *y, int64_t t, int64_t n)
{
  float weight[PHASES];
  const int64_t ahead = (s->up - t % s->up) % s->up, first = ahead < n ? ahead : n;

  if (s->down != 1 || s->up > PHASES) {
    write_any(s, y, t, n);
    return;
  }
  for (int64_t j = 0; j < s->up; j++) {
    weight[j] = weight_of(s, j);
  }
  const int64_t whole = (n - first) / s->up;

  write_any(s, y, t, first);
  write_whole(s, s->x + ((t + first) / s->up - s->origin), y + first, whole, weight);
  write_any(s, y + first + whole * s->up, t + first + whole * s->up, n - first - whole * s->up);
}

static void write_same(float *y, int64_t n, float value)
{
  for (int64_t k = 0; k < n; k++) {
    y[k] = value;
  }
}

/* Goes over the input slots of the call in runs of one presence. */
static weir_status change_clock(void *context, const weir_op_run *run)
{
  const weir_call_spec *spec = run->spec;
  const weir_view *x = &run->in[0], *p = &run->in[1];
  const int64_t up = spec->down[0], down = spec->up[0], lo = run->box.lo[0], hi = run->box.hi[0];
  const bool linear = spec->ahead[0] > 0;
  const span s = {x->data, x->origin[0], up, down, linear};

  (void)context;
  if (hi <= lo) {
    return WEIR_OK;
  }
  const int64_t first = (int64_t)((__int128)lo * down / up);
  const int64_t beyond = (int64_t)((__int128)(hi - 1) * down / up) + 1 + linear;
  weir_gap_walk w = {.slot = p->data, .origin = p->origin[0], .at = first};

  w.hi = w.access_hi = beyond < p->extent[0] ? beyond : p->extent[0];
  w.access_lo = first;
  while (weir_gap_next(&w)) {
    const int64_t from = slot_of(w.lo, up, down), to = slot_of(w.end, up, down);
    const int64_t a = from > lo ? from : lo, b = to < hi ? to : hi;
    const int64_t last = linear ? slot_of(w.end - 1, up, down) : b;
    const int64_t mid = last < b ? last > a ? last : a : b;

    if (b <= a) {
      continue;
    }
    float *y = weir_gap_value(&run->out[0], a);

    if (w.present) {
      write_between(&s, y, a, mid - a);
      write_same(y + (mid - a), b - mid, *weir_gap_value(x, w.end - 1));
    } else {
      write_same(y, b - a, 0);
    }
    memset(weir_gap_flag(&run->out[1], a), w.present, (size_t)(b - a));
  }
  return WEIR_OK;
}

static weir_series by_call(weir_graph *g, weir_series s, bool linear, int64_t up, int64_t down)
{
  weir_call_spec spec = weir_gap_call(linear ? "linear" : "hold", change_clock);

  for (int k = 0; k < 2; k++) {
    spec.up[k] = down;
    spec.down[k] = up;
    spec.ahead[k] = linear;
  }
  return weir_gap_made(g, &spec, s, ((weir_value[]){s.value, s.present}), 2);
}

/* The taps as the op takes them, [ceil(n / up), up] row by row. */
static weir_status make_taps(weir_graph *g, int64_t up, int64_t down, weir_value *out)
{
  const int64_t n = weir_design_polyphase_taps(up, down), rows = (n + up - 1) / up;
  weir_status status = WEIR_OK;
  weir_tensor t = {.data = NULL};
  double *h = NULL;

  WEIR_TRY(weir_alloc(rows * up, sizeof *h, (void **)&h));
  WEIR_TRY_GOTO(weir_design_polyphase(up, down, h), out);
  WEIR_TRY_GOTO(weir_tensor_init(&t, WEIR_F32, 2, (const int64_t[]){rows, up}), out);
  for (int64_t k = 0; k < rows * up; k++) {
    ((float *)t.data)[k] = k < n ? (float)h[k] : 0;
  }
  *out = weir_constant(g, &t);
out:
  weir_tensor_fini(&t);
  weir_free(&h);
  return status;
}

static weir_series by_filter(weir_graph *g, weir_series s, int64_t up, int64_t down)
{
  weir_value taps = WEIR_NO_VALUE;
  const weir_status status = make_taps(g, up, down, &taps);
  const weir_resample_spec spec = {.method = WEIR_RESAMPLE_FIR,
                                   .up = up,
                                   .down = down,
                                   .delay = (weir_design_polyphase_taps(up, down) - 1) / 2};
  const weir_resample_spec hold = {.method = WEIR_RESAMPLE_HOLD, .up = up, .down = down};

  if (status != WEIR_OK) {
    s.value = weir_graph_fail(g, status);
    return s;
  }
  s.value = weir_resample_fir(g, &spec, s.value, taps);
  s.present = weir_resample(g, &hold, s.present);
  return weir_series_mask(g, s);
}

weir_series weir_stream_resample(weir_graph *g, weir_series s, weir_stream_method method,
                                 int64_t up, int64_t down, int64_t tolerance)
{
  const int64_t divisor = up > 0 && down > 0 ? weir_gcd(up, down) : 1;
  weir_status status = WEIR_OK;

  up /= divisor;
  down /= divisor;
  if (up < 1 || down < 1 || up > WEIR_STREAM_RATIO_MAX || down > WEIR_STREAM_RATIO_MAX) {
    status = weir_fail(WEIR_ERR_CONFIG,
                       "resample: rate ratio %lld/%lld: both terms must be 1 to %d: choose a rate "
                       "with a simpler ratio",
                       (long long)up, (long long)down, WEIR_STREAM_RATIO_MAX);
  }
  if (status == WEIR_OK && tolerance > 1) {
    s = weir_gap_filled(g, s, method == WEIR_STREAM_HOLD ? WEIR_GAP_HOLD : WEIR_GAP_LINE, tolerance,
                        0);
  }
  if (status == WEIR_OK) {
    status = weir_series_scale_rate(&s, up, down);
  }
  if (status != WEIR_OK) {
    s.value = weir_graph_fail(g, status);
    return s;
  }
  s.age = WEIR_NO_VALUE;
  if (up == 1 && down == 1) {
    return s;
  }
  return method == WEIR_STREAM_POLYPHASE ? by_filter(g, s, up, down)
                                         : by_call(g, s, method == WEIR_STREAM_LINEAR, up, down);
}

/* rate as a fraction with a small divisor, by its continued fraction; what is not one to rounding
 * is refused. */
static weir_status fraction(double rate, int64_t *num, int64_t *den)
{
  int64_t p0 = 0, q0 = 1, p1 = 1, q1 = 0;
  double x = rate;

  for (int i = 0; i < 40; i++) {
    const int64_t a = (int64_t)floor(x);
    const int64_t p = a * p1 + p0, q = a * q1 + q0;

    if (q > 1000000) {
      break;
    }
    p0 = p1;
    q0 = q1;
    p1 = p;
    q1 = q;
    if (fabs((double)p / (double)q - rate) <= 4 * DBL_EPSILON * rate) {
      *num = p;
      *den = q;
      return WEIR_OK;
    }
    x = 1 / (x - (double)a);
  }
  return weir_fail(WEIR_ERR_CONFIG,
                   "rate: %.17g Hz is not a fraction with a denominator up to a million", rate);
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const struct resample_opts *o = use->opts;
  const weir_series *s = &use->in[0];
  int64_t num = 1, den = 1, up = 0, down = 0, tolerance = 0;

  WEIR_TRY(weir_gap_slots(s, "tolerance", o->tolerance, &tolerance));
  WEIR_TRY(fraction(o->rate, &num, &den));
  if (!weir_mul_ok(num, s->rate_den, &up) || !weir_mul_ok(den, s->rate_num, &down)) {
    return weir_fail(WEIR_ERR_CONFIG, "rate: %lld/%lld Hz from %lld/%lld Hz is beyond 64 bits",
                     (long long)num, (long long)den, (long long)s->rate_num,
                     (long long)s->rate_den);
  }
  out->out[0] =
      weir_stream_resample(use->graph, *s, (weir_stream_method)o->method, up, down, tolerance);
  out->n = 1;
  return weir_graph_status(use->graph);
}

const weir_series_op weir_series_op_resample = {
    .name = "resample",
    .cite = "Jayarajan et al., ASPLOS 2021; scipy.signal.resample_poly",
    .help = "resampling: linear interpolation, held samples or polyphase low-pass",
    .opts = options,
    .opts_size = sizeof(struct resample_opts),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
