/* flow.c - see flow.h. */
#include "data/flow.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/volume/volume_info.h"

/* ---- Weights ---- */

int64_t cf_flow_part_count(const cf_flow_shape *s, cf_flow_part part)
{
  switch (part) {
  case CF_FLOW_LABEL:
    return s->labels * s->hidden;
  case CF_FLOW_FEATURE:
    return s->features * s->hidden;
  case CF_FLOW_BIAS:
    return s->hidden;
  case CF_FLOW_OUT:
    return 2 * s->hidden * s->labels;
  default:
    return 2 * s->labels;
  }
}

int64_t cf_flow_count(const cf_flow_shape *s)
{
  int64_t sum = 0;

  for (int p = 0; p < CF_FLOW_PARTS; p++) {
    sum += s->transforms * cf_flow_part_count(s, (cf_flow_part)p);
  }
  return sum;
}

int64_t cf_flow_degree(const cf_flow_shape *s, int64_t transform, int64_t label)
{
  return transform % 2 == 0 ? label : s->labels - 1 - label;
}

weir_status cf_flow_create(const cf_flow_shape *shape, cf_flow **out)
{
  const cf_flow_shape *const s = shape;
  cf_flow *f = NULL;

  *out = NULL;
  if (s->labels < 2 || s->labels > CF_MAX_LABELS || s->features < 1 ||
      s->features > CF_FLOW_MAX_FEATURES || s->transforms < 1 ||
      s->transforms > CF_FLOW_MAX_TRANSFORMS || s->hidden < 1 || s->hidden > CF_FLOW_MAX_HIDDEN) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "flow: %lld labels, %lld features, %lld transforms of %lld hidden units; 2 to "
                     "%d, at most %d, %d and %d can be",
                     (long long)s->labels, (long long)s->features, (long long)s->transforms,
                     (long long)s->hidden, CF_MAX_LABELS, CF_FLOW_MAX_FEATURES,
                     CF_FLOW_MAX_TRANSFORMS, CF_FLOW_MAX_HIDDEN);
  }
  WEIR_TRY(weir_alloc(1, sizeof *f, (void **)&f));
  f->shape = *s;
  const weir_status status = weir_alloc(cf_flow_count(s), sizeof *f->weight, (void **)&f->weight);

  if (status != WEIR_OK) {
    cf_flow_destroy(&f);
    return status;
  }
  for (int64_t i = 0; i < cf_flow_count(s); i++) {
    f->weight[i] = NAN;
  }
  *out = f;
  return WEIR_OK;
}

void cf_flow_destroy(cf_flow **f)
{
  if (*f != NULL) {
    weir_free(&(*f)->weight);
    weir_free(f);
  }
}

bool cf_flow_is_finite(const cf_flow *f)
{
  bool finite = true;

  for (int64_t i = 0; i < cf_flow_count(&f->shape); i++) {
    finite = finite && isfinite(f->weight[i]);
  }
  return finite;
}

/* A part of transform t. */
static const double *part_of(const cf_flow *f, cf_flow_part part, int64_t t)
{
  int64_t first = 0;

  for (int p = 0; p < (int)part; p++) {
    first += f->shape.transforms * cf_flow_part_count(&f->shape, (cf_flow_part)p);
  }
  return f->weight + first + t * cf_flow_part_count(&f->shape, part);
}

/* ---- Density and draws ---- */

void cf_flow_start(const cf_flow *f, const double *features, double *start)
{
  const cf_flow_shape *const s = &f->shape;

  for (int64_t t = 0; t < s->transforms; t++) {
    const double *const w = part_of(f, CF_FLOW_FEATURE, t);
    double *const h = start + t * s->hidden;

    memcpy(h, part_of(f, CF_FLOW_BIAS, t), (size_t)s->hidden * sizeof *h);
    for (int64_t k = 0; k < s->features; k++) {
      for (int64_t j = 0; j < s->hidden; j++) {
        h[j] += features[k] * w[k * s->hidden + j];
      }
    }
  }
}

/* The weights of a transform, and its hidden units, of which those of lower degrees than the next
 * label are known. */
typedef struct conditioner {
  const cf_flow_shape *s;
  int64_t t;
  const double *label, *out, *out_bias, *start;
  double h[CF_FLOW_MAX_HIDDEN];
} conditioner;

static void begin(const cf_flow *f, const double *start, int64_t t, conditioner *c)
{
  c->s = &f->shape;
  c->t = t;
  c->label = part_of(f, CF_FLOW_LABEL, t);
  c->out = part_of(f, CF_FLOW_OUT, t);
  c->out_bias = part_of(f, CF_FLOW_OUT_BIAS, t);
  c->start = start + t * f->shape.hidden;
}

/* The label of a degree: the same function takes one to the other. */
static int64_t label_of(const conditioner *c, int64_t degree)
{
  return cf_flow_degree(c->s, c->t, degree);
}

/* Computes the hidden units of a degree from u of the labels of lower degrees, then shift and
 * logarithm of the factor of the label of that degree. */
static void step(conditioner *c, int64_t degree, const double *u, double *shift, double *log_factor)
{
  const int64_t labels = c->s->labels, hidden = c->s->hidden, i = label_of(c, degree);
  double m = c->out_bias[i], s = c->out_bias[labels + i];

  for (int64_t j = degree; j < hidden; j += labels) {
    double sum = c->start[j];

    for (int64_t k = 0; k < degree; k++) {
      sum += u[label_of(c, k)] * c->label[label_of(c, k) * hidden + j];
    }
    c->h[j] = tanh(sum);
  }
  for (int64_t j = 0; j < hidden; j++) {
    if (j % labels <= degree) {
      m += c->h[j] * c->out[2 * j * labels + i];
      s += c->h[j] * c->out[(2 * j + 1) * labels + i];
    }
  }
  *shift = m;
  *log_factor = s / (1 + fabs(s) / CF_FLOW_LN_MAX_FACTOR);
}

double cf_flow_log_density(const cf_flow *f, const double *start, const double *y)
{
  const int64_t n = f->shape.labels;
  double u[CF_MAX_LABELS], z[CF_MAX_LABELS], sum = -0.5 * (double)n * CF_LN_2PI;
  conditioner c;

  memcpy(u, y, (size_t)n * sizeof *u);
  for (int64_t t = 0; t < f->shape.transforms; t++) {
    begin(f, start, t, &c);
    for (int64_t k = 0; k < n; k++) {
      const int64_t i = label_of(&c, k);
      double shift, log_factor;

      step(&c, k, u, &shift, &log_factor);
      z[i] = u[i] * exp(log_factor) + shift;
      sum += log_factor;
    }
    memcpy(u, z, (size_t)n * sizeof *u);
  }
  for (int64_t i = 0; i < n; i++) {
    sum -= 0.5 * u[i] * u[i];
  }
  return sum;
}

void cf_flow_invert(const cf_flow *f, const double *start, const double *z, double *y)
{
  const int64_t n = f->shape.labels;
  double u[CF_MAX_LABELS];
  conditioner c;

  memcpy(y, z, (size_t)n * sizeof *y);
  for (int64_t t = f->shape.transforms - 1; t >= 0; t--) {
    begin(f, start, t, &c);
    for (int64_t k = 0; k < n; k++) {
      const int64_t i = label_of(&c, k);
      double shift, log_factor;

      step(&c, k, u, &shift, &log_factor);
      u[i] = (y[i] - shift) * exp(-log_factor);
    }
    memcpy(y, u, (size_t)n * sizeof *y);
  }
}
