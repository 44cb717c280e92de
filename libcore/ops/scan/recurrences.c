/* recurrences.c - the ready-made scans: running sum, and the cascade of second-order sections. */
#include "ops/scan/scan_priv.h"

enum { SOS_N, SOS_STEADY, SOS_HOLD, SOS_COEFFICIENTS }; /* indices of the parameters */

weir_status weir_scan_define_cumsum(weir_scan *s)
{
  weir_body *b = &s->access->body;
  const weir_dtype in = s->args->in[0].dtype;
  const weir_dtype sum = weir_dtype_is_complex(in) ? WEIR_C128
                         : weir_dtype_is_real(in)  ? WEIR_F64
                                                   : WEIR_I64;
  const int total = weir_scan_state(s, sum, 0);
  const int32_t x = weir_scan_load(s, 0);
  const int32_t wide = in == sum ? x : weir_body_cast(b, sum, x);
  const int32_t next = weir_body_binary(b, WEIR_CODE_ADD, weir_scan_read(s, total), wide);

  weir_scan_next(s, total, next);
  weir_scan_emit(s, in == WEIR_F32 || in == WEIR_C64 ? weir_body_cast(b, in, next) : next);
  return WEIR_OK;
}

weir_value weir_cumsum_at(weir_graph *g, weir_value x, int dim, bool backward, const char *where)
{
  const weir_scan_spec s = {.name = "cumsum",
                            .define = weir_scan_define_cumsum,
                            .dim = dim,
                            .backward = backward,
                            .n_data = 1};

  return weir_scan_at(g, &s, &x, 1, where);
}

/* Expressions that every section of a cascade uses. */
typedef struct cascade {
  weir_scan *s;
  weir_body *b;
  int32_t first;   /* bool: restart at this slot; -1 never   */
  int32_t advance; /* bool: the states move on; -1 always       */
  bool steady;
  int32_t u;    /* first sample of a new start, f64        */
  double level; /* gain at frequency 0 of the sections before */
} cascade;

static int32_t product(cascade *c, double factor, int32_t x)
{
  return weir_body_binary(c->b, WEIR_CODE_MUL, weir_body_real(c->b, WEIR_F64, factor), x);
}

/* Value of a state as the section finds it: `scale` times the first sample at a new start. */
static int32_t found(cascade *c, int state, double scale)
{
  const int32_t kept = weir_scan_read(c->s, state);

  if (c->first < 0) {
    return kept;
  }
  const int32_t fresh = c->steady ? product(c, scale, c->u) : weir_body_real(c->b, WEIR_F64, 0);

  return weir_body_select(c->b, c->first, fresh, kept);
}

static void leave(cascade *c, int state, int32_t moved)
{
  const int32_t next = c->advance < 0
                           ? moved
                           : weir_body_select(c->b, c->advance, moved, weir_scan_read(c->s, state));

  weir_scan_next(c->s, state, next);
}

/* One section; returns its output. Steady state for a constant input u: y = G u with G = sum(b) /
 * sum(a), s1 = (G - b0) u, s2 = (b2 - a2 G) u. */
static int32_t section(cascade *c, const double *k, int32_t x)
{
  const double sum = 1 + k[4] + k[5];
  const double gain = sum != 0 ? (k[0] + k[1] + k[2]) / sum : 0;
  const int s1 = weir_scan_state(c->s, WEIR_F64, 0);
  const int s2 = weir_scan_state(c->s, WEIR_F64, 0);
  const int32_t z1 = found(c, s1, (gain - k[0]) * c->level);
  const int32_t z2 = found(c, s2, (k[2] - k[5] * gain) * c->level);
  const int32_t y = weir_body_binary(c->b, WEIR_CODE_ADD, product(c, k[0], x), z1);
  const int32_t moved1 =
      weir_body_binary(c->b, WEIR_CODE_SUB, product(c, k[1], x), product(c, k[4], y));
  const int32_t moved2 =
      weir_body_binary(c->b, WEIR_CODE_SUB, product(c, k[2], x), product(c, k[5], y));

  leave(c, s1, weir_body_binary(c->b, WEIR_CODE_ADD, moved1, z2));
  leave(c, s2, moved2);
  c->level *= gain;
  return y;
}

static weir_status check_sos(const weir_scan *s, int n)
{
  const weir_dtype in = s->args->in[0].dtype;

  if (weir_dtype_is_whole(in)) {
    return weir_fail(WEIR_ERR_SHAPE, "sos: filters must be f32 or f64, not %s",
                     weir_dtype_name(in));
  }
  if (s->n_data == 2 && s->args->in[1].dtype != WEIR_BOOL) {
    return weir_fail(WEIR_ERR_SHAPE, "sos: the presence is %s: it must be bool",
                     weir_dtype_name(s->args->in[1].dtype));
  }
  if (n < 1 || n > WEIR_SOS_SECTIONS) {
    return weir_fail(WEIR_ERR_SHAPE, "sos: %d sections: 1 to %d are allowed", n, WEIR_SOS_SECTIONS);
  }
  for (int i = 0; i < n; i++) {
    const double *k = &s->parameter[SOS_COEFFICIENTS + 6 * i];

    if (k[3] != 1) {
      return weir_fail(WEIR_ERR_SHAPE, "sos: section %d has a0 = %g; divide it by a0", i, k[3]);
    }
    if (s->parameter[SOS_STEADY] != 0 && 1 + k[4] + k[5] == 0) {
      return weir_fail(WEIR_ERR_SHAPE, "sos: section %d has no steady state (a pole at 1)", i);
    }
  }
  return WEIR_OK;
}

/* With presence: `age` counts absent slots since the last present one, up to hold + 1, which it is
 * also before the first. Returns the filter's input. */
static int32_t define_presence(cascade *c, int32_t x, double hold, int32_t *present)
{
  weir_body *b = c->b;
  const int age = weir_scan_state(c->s, WEIR_I64, hold + 1);
  const int last = weir_scan_state(c->s, WEIR_F64, 0);
  const int32_t max = weir_body_int(b, WEIR_I64, (int64_t)hold);
  const int32_t one = weir_body_int(b, WEIR_I64, 1);
  const int32_t before = weir_scan_read(c->s, age);
  const int32_t gone = weir_body_binary(b, WEIR_CODE_GT, before, max);

  *present = weir_scan_load(c->s, 1);
  const int32_t absent = weir_body_unary(b, WEIR_CODE_NOT, *present);
  const int32_t older =
      weir_body_select(b, gone, before, weir_body_binary(b, WEIR_CODE_ADD, before, one));
  const int32_t now = weir_body_select(b, absent, older, weir_body_int(b, WEIR_I64, 0));
  const int32_t value = weir_body_select(b, *present, x, weir_scan_read(c->s, last));

  c->first = weir_body_binary(b, WEIR_CODE_AND, *present, gone);
  c->advance = weir_body_binary(b, WEIR_CODE_LE, now, max);
  weir_scan_next(c->s, age, now);
  weir_scan_next(c->s, last, value);
  weir_scan_skips(c->s, 1, (int64_t)hold + 1);
  return value;
}

/* Without presence a steady start needs to know the first slot. */
static void define_first(cascade *c)
{
  const int begun = weir_scan_state(c->s, WEIR_BOOL, 0);

  c->first = weir_body_unary(c->b, WEIR_CODE_NOT, weir_scan_read(c->s, begun));
  weir_scan_next(c->s, begun, weir_body_int(c->b, WEIR_BOOL, 1));
}

weir_status weir_scan_define_sos(weir_scan *s)
{
  const int n = (int)s->parameter[SOS_N];
  cascade c = {.s = s, .b = &s->access->body, .first = -1, .advance = -1, .level = 1};
  int32_t present = -1;

  WEIR_TRY(check_sos(s, n));
  const weir_dtype in = s->args->in[0].dtype;
  const int32_t raw = weir_scan_load(s, 0);
  int32_t x = in == WEIR_F64 ? raw : weir_body_cast(c.b, WEIR_F64, raw);

  c.steady = s->parameter[SOS_STEADY] != 0;
  if (s->n_data == 2) {
    x = define_presence(&c, x, s->parameter[SOS_HOLD], &present);
  } else if (c.steady) {
    define_first(&c);
  }
  c.u = x;
  for (int i = 0; i < n; i++) {
    x = section(&c, &s->parameter[SOS_COEFFICIENTS + 6 * i], x);
  }
  if (present >= 0) {
    x = weir_body_select(c.b, present, x, weir_body_real(c.b, WEIR_F64, 0));
  }
  weir_scan_emit(s, in == WEIR_F64 ? x : weir_body_cast(c.b, in, x));
  return WEIR_OK;
}

void weir_scan_pack_sos(const weir_sos_spec *sos, double *parameter)
{
  const int n = sos->n < WEIR_SOS_SECTIONS ? sos->n : WEIR_SOS_SECTIONS;

  parameter[SOS_N] = sos->n;
  parameter[SOS_STEADY] = sos->steady;
  parameter[SOS_HOLD] = (double)sos->hold;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 6; k++) {
      parameter[SOS_COEFFICIENTS + 6 * i + k] = sos->section[i][k];
    }
  }
}

weir_value weir_sos_at(weir_graph *g, const weir_sos_spec *spec, weir_value x, weir_value presence,
                       const char *where)
{
  const weir_value in[] = {x, presence};
  weir_scan_spec s = {.name = "sos",
                      .define = weir_scan_define_sos,
                      .dim = spec->dim,
                      .backward = spec->backward,
                      .n_data = presence.node >= 0 ? 2 : 1};

  if (spec->hold < 0 || spec->hold > INT32_MAX) {
    return weir_graph_fail(
        g, weir_fail(WEIR_ERR_SHAPE, "sos: hold of %lld slots", (long long)spec->hold));
  }
  weir_scan_pack_sos(spec, s.parameter);
  return weir_scan_at(g, &s, in, s.n_data, where);
}
