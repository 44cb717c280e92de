/* posterior.c - see posterior.h. */
#include "data/posterior.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "data/predicted.h"
#include "data/volume/volume_info.h"
#include "data/volume/volume_netcdf.h"

enum {
  COMPONENT = 0x706f7374,
  NORMAL,
  MEAN_OF_FLOW, /* purposes of random numbers */
  MAX_TRIES = 1000,
  MEAN_DRAWS = 1000,
  MAX_START = CF_FLOW_MAX_TRANSFORMS * CF_FLOW_MAX_HIDDEN
};

static int64_t squared(const cf_posteriors *p)
{
  return p->n_labels * p->n_labels;
}

/* Allocates n numbers of NaN. */
static weir_status new_numbers(int64_t n, double **out)
{
  WEIR_TRY(weir_alloc(n, sizeof **out, (void **)out));
  for (int64_t i = 0; i < n; i++) {
    (*out)[i] = NAN;
  }
  return WEIR_OK;
}

weir_status cf_posteriors_create(int64_t n, int64_t n_labels, int64_t components,
                                 cf_posteriors **out)
{
  cf_posteriors *p = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  if (components < 1 || components > CF_MAX_COMPONENTS || n_labels > CF_MAX_LABELS) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "posteriors: %lld components of %lld labels; 1 to %d of at most %d can be",
                     (long long)components, (long long)n_labels, CF_MAX_COMPONENTS, CF_MAX_LABELS);
  }
  WEIR_TRY(weir_alloc(1, sizeof *p, (void **)&p));
  *p = (cf_posteriors){.n = n, .n_labels = n_labels, .components = components, .limit = INFINITY};
  const struct {
    double **to;
    int64_t n;
  } arrays[] = {{&p->weight, n * components},
                {&p->mean, n * components * n_labels},
                {&p->factor, n * components * squared(p)}};

  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
    WEIR_TRY_GOTO(new_numbers(arrays[k].n, arrays[k].to), done);
  }
  *out = p;
done:
  if (status != WEIR_OK) {
    cf_posteriors_destroy(&p);
  }
  return status;
}

weir_status cf_posteriors_create_flow(int64_t n, const cf_flow_shape *shape, cf_posteriors **out)
{
  cf_posteriors *p = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *p, (void **)&p));
  *p = (cf_posteriors){.n = n, .n_labels = shape->labels, .limit = INFINITY};
  WEIR_TRY_GOTO(cf_flow_create(shape, &p->flow), done);
  WEIR_TRY_GOTO(new_numbers(n * shape->features, &p->feature), done);
  *out = p;
done:
  if (status != WEIR_OK) {
    cf_posteriors_destroy(&p);
  }
  return status;
}

void cf_posteriors_destroy(cf_posteriors **p)
{
  if (*p == NULL) {
    return;
  }
  weir_free(&(*p)->weight);
  weir_free(&(*p)->mean);
  weir_free(&(*p)->factor);
  cf_flow_destroy(&(*p)->flow);
  weir_free(&(*p)->feature);
  weir_free(p);
}

/* The component k of a row. */
typedef struct gaussian {
  double weight;
  const double *mean, *factor;
} gaussian;

static gaussian component(const cf_posteriors *p, int64_t row, int64_t k)
{
  const int64_t at = row * p->components + k;

  return (gaussian){p->weight[at], p->mean + at * p->n_labels, p->factor + at * squared(p)};
}

/* Whether mean and factor are finite and its diagonal is above 0. */
static bool is_sound(const gaussian *c, int64_t n)
{
  bool sound = c->weight >= 0;

  for (int64_t i = 0; i < n; i++) {
    sound = sound && isfinite(c->mean[i]) && c->factor[i * n + i] > 0;
    for (int64_t j = 0; j < n; j++) {
      sound = sound && isfinite(c->factor[i * n + j]) && (j <= i || c->factor[i * n + j] == 0);
    }
  }
  return sound;
}

weir_status cf_posteriors_check_flow(const cf_posteriors *p, const char *path)
{
  return p->flow == NULL || cf_flow_is_finite(p->flow)
             ? WEIR_OK
             : weir_fail(WEIR_ERR_NUMERIC,
                         "%s: the weights of the flow are not finite: they did not come from a "
                         "sound network",
                         path);
}

static weir_status check_features(const cf_posteriors *p, int64_t row, const char *path)
{
  const int64_t features = p->flow->shape.features;
  bool finite = true;

  for (int64_t k = 0; k < features; k++) {
    finite = finite && isfinite(p->feature[row * features + k]);
  }
  return finite ? WEIR_OK
                : weir_fail(WEIR_ERR_NUMERIC,
                            "%s: row %lld: the features of the flow are not finite: they did not "
                            "come from a sound network",
                            path, (long long)row + 1);
}

weir_status cf_posteriors_check(const cf_posteriors *p, int64_t row, const char *path)
{
  bool sound = true;
  double sum = 0;

  if (p->flow != NULL) {
    return check_features(p, row, path);
  }
  for (int64_t k = 0; k < p->components; k++) {
    const gaussian c = component(p, row, k);

    sound = sound && is_sound(&c, p->n_labels);
    sum += c.weight;
  }
  return sound && fabs(sum - 1) < 1e-6
             ? WEIR_OK
             : weir_fail(WEIR_ERR_NUMERIC,
                         "%s: row %lld: its posterior is no mixture of Gaussians (weights of sum "
                         "%g; means and Cholesky factors that are finite): it did not come from a "
                         "sound network",
                         path, (long long)row + 1, sum);
}

/* ---- Density and draws ---- */

/* ln N(y; mean, C C'), by forward substitution. */
static double log_normal(const gaussian *c, int64_t n, const double *y)
{
  double z[CF_MAX_LABELS], sum = -0.5 * (double)n * CF_LN_2PI;

  for (int64_t i = 0; i < n; i++) {
    double left = y[i] - c->mean[i];

    for (int64_t j = 0; j < i; j++) {
      left -= c->factor[i * n + j] * z[j];
    }
    z[i] = left / c->factor[i * n + i];
    sum -= 0.5 * z[i] * z[i] + log(c->factor[i * n + i]);
  }
  return sum;
}

static void start_flow(const cf_posteriors *p, int64_t row, double *start)
{
  cf_flow_start(p->flow, p->feature + row * p->flow->shape.features, start);
}

double cf_posterior_log_density(const cf_posteriors *p, int64_t row, const double *y)
{
  double term[CF_MAX_COMPONENTS], max = -INFINITY, sum = 0;

  if (p->flow != NULL) {
    double start[MAX_START];

    start_flow(p, row, start);
    return cf_flow_log_density(p->flow, start, y);
  }
  for (int64_t k = 0; k < p->components; k++) {
    const gaussian c = component(p, row, k);

    term[k] = log(c.weight) + log_normal(&c, p->n_labels, y);
    max = fmax(max, term[k]);
  }
  for (int64_t k = 0; k < p->components; k++) {
    sum += exp(term[k] - max);
  }
  return max + log(sum);
}

/* Draws y[n_labels] from the flow. */
static void draw_flow(const cf_posteriors *p, const double *start, uint64_t seed, uint32_t purpose,
                      uint32_t of, int64_t i, double *y)
{
  double z[CF_MAX_LABELS];

  for (int64_t k = 0; k < p->n_labels; k++) {
    z[k] = weir_random_normal(seed, purpose, of, (uint64_t)(i * CF_MAX_LABELS + k));
  }
  cf_flow_invert(p->flow, start, z, y);
}

static void mean_of_flow(const cf_posteriors *p, int64_t row, double *mean)
{
  double start[MAX_START], y[CF_MAX_LABELS];

  start_flow(p, row, start);
  memset(mean, 0, (size_t)p->n_labels * sizeof *mean);
  for (int64_t i = 0; i < MEAN_DRAWS; i++) {
    draw_flow(p, start, 0, MEAN_OF_FLOW, 0, i, y);
    for (int64_t k = 0; k < p->n_labels; k++) {
      mean[k] += y[k] / MEAN_DRAWS;
    }
  }
}

void cf_posterior_mean(const cf_posteriors *p, int64_t row, double *mean)
{
  if (p->flow != NULL) {
    mean_of_flow(p, row, mean);
    return;
  }
  for (int64_t i = 0; i < p->n_labels; i++) {
    mean[i] = 0;
    for (int64_t k = 0; k < p->components; k++) {
      const gaussian c = component(p, row, k);

      mean[i] += c.weight * c.mean[i];
    }
  }
}

/* The component that a uniform number in [0, 1) selects. */
static int64_t select_component(const cf_posteriors *p, int64_t row, double u)
{
  double sum = 0;

  for (int64_t k = 0; k + 1 < p->components; k++) {
    sum += p->weight[row * p->components + k];
    if (u < sum) {
      return k;
    }
  }
  return p->components - 1;
}

/* Draws y[n_labels] from the mixture. */
static void draw_mixture(const cf_posteriors *p, int64_t row, uint64_t seed, uint32_t of, int64_t i,
                         double *y)
{
  const int64_t labels = p->n_labels;
  const double u = weir_random_uniform(seed, COMPONENT, of, (uint64_t)i);
  const gaussian c = component(p, row, select_component(p, row, u));
  double z[CF_MAX_LABELS];

  for (int64_t k = 0; k < labels; k++) {
    z[k] = weir_random_normal(seed, NORMAL, of, (uint64_t)(i * CF_MAX_LABELS + k));
    y[k] = c.mean[k];
    for (int64_t j = 0; j <= k; j++) {
      y[k] += c.factor[k * labels + j] * z[j];
    }
  }
}

static bool is_within(const cf_posteriors *p, const double *y)
{
  bool within = true;

  for (int64_t k = 0; k < p->n_labels; k++) {
    within = within && fabs(y[k]) <= p->limit;
  }
  return within;
}

bool cf_posterior_draw(const cf_posteriors *p, int64_t row, uint64_t seed, int64_t sample,
                       int64_t n, double *out, double *inside)
{
  const uint32_t of = (uint32_t)sample;
  int64_t kept = 0, tries = 0;
  double start[MAX_START];

  if (p->flow != NULL) {
    start_flow(p, row, start);
  }
  while (kept < n && tries < MAX_TRIES * n) {
    double *const y = out + kept * p->n_labels;

    if (p->flow != NULL) {
      draw_flow(p, start, seed, NORMAL, of, tries++, y);
    } else {
      draw_mixture(p, row, seed, of, tries++, y);
    }
    kept += is_within(p, y);
  }
  *inside = (double)kept / (double)tries;
  return kept == n;
}

/* ---- The variables ---- */

/* Attributes of the first variable: of mixtures the weights, of a flow its features. */
#define LIMIT "limit"
#define MOMENTS "moments"
#define TRANSFORMS "transforms"
#define HIDDEN "hidden"
#define FLOW "flowWeight"
#define FEATURE "flowFeature"

enum { WEIGHT, MEAN, FACTOR, COLUMNS };
static const struct {
  const char *name, *long_name;
  int n_dims;
} columns[COLUMNS] = {
    [WEIGHT] = {"mixtureWeight", "posterior: weights of the Gaussian components", 2},
    [MEAN] = {"unitMixtureMean", "posterior: means of the components, normalised as the labels", 3},
    [FACTOR] = {"unitMixtureFactor",
                "posterior: Cholesky factors C of the covariances C C' of the components, "
                "normalised as the labels",
                4},
};

static double *array_of(const cf_posteriors *p, int c)
{
  return c == WEIGHT ? p->weight : c == MEAN ? p->mean : p->factor;
}

static weir_status put_limit(const cf_posteriors *p, weir_netcdf *nc, int var)
{
  return isfinite(p->limit) ? weir_netcdf_put_numbers(nc, var, LIMIT, WEIR_F64, &p->limit, 1)
                            : WEIR_OK;
}

static weir_status put_flow(const cf_posteriors *p, weir_netcdf *nc, int sample)
{
  const cf_flow_shape *const s = &p->flow->shape;
  const int64_t zero[2] = {0}, count = cf_flow_count(s), all[2] = {p->n, s->features};
  const int32_t transforms = (int32_t)s->transforms, hidden = (int32_t)s->hidden;
  int dims[2] = {sample, 0}, weights = 0, feature = 0, weight = 0;

  WEIR_TRY(weir_netcdf_dim(nc, "flow_feature", s->features, &dims[1]));
  WEIR_TRY(weir_netcdf_dim(nc, "flow_weight", count, &weights));
  WEIR_TRY(weir_netcdf_var(nc, FEATURE, WEIR_F64, 2, dims, &feature));
  WEIR_TRY(weir_netcdf_put_text(nc, feature, "long_name",
                                "posterior: features on which the flow is conditioned"));
  WEIR_TRY(weir_netcdf_put_text(nc, feature, "units", "1"));
  WEIR_TRY(weir_netcdf_var(nc, FLOW, WEIR_F64, 1, &weights, &weight));
  WEIR_TRY(weir_netcdf_put_text(nc, weight, "long_name",
                                "posterior: weights of the flow of the normalised labels, in the "
                                "order label, feature, bias, out, out_bias"));
  WEIR_TRY(weir_netcdf_put_text(nc, weight, "units", "1"));
  WEIR_TRY(weir_netcdf_put_numbers(nc, feature, TRANSFORMS, WEIR_I32, &transforms, 1));
  WEIR_TRY(weir_netcdf_put_numbers(nc, feature, HIDDEN, WEIR_I32, &hidden, 1));
  WEIR_TRY(put_limit(p, nc, feature));
  WEIR_TRY(weir_netcdf_write(nc, weight, zero, &count, p->flow->weight));
  return weir_netcdf_write(nc, feature, zero, all, p->feature);
}

weir_status cf_posteriors_put(const cf_posteriors *p, weir_netcdf *nc, int sample, int parameter)
{
  const int64_t zero[4] = {0}, count[4] = {p->n, p->components, p->n_labels, p->n_labels};
  int dims[4] = {sample, 0, parameter, 0}, var[COLUMNS];

  if (p->flow != NULL) {
    return put_flow(p, nc, sample);
  }
  WEIR_TRY(weir_netcdf_dim(nc, "component", p->components, &dims[1]));
  WEIR_TRY(weir_netcdf_dim(nc, "parameter_column", p->n_labels, &dims[3]));
  for (int c = 0; c < COLUMNS; c++) {
    WEIR_TRY(weir_netcdf_var(nc, columns[c].name, WEIR_F64, columns[c].n_dims, dims, &var[c]));
    WEIR_TRY(weir_netcdf_put_text(nc, var[c], "long_name", columns[c].long_name));
    WEIR_TRY(weir_netcdf_put_text(nc, var[c], "units", "1"));
  }
  WEIR_TRY(put_limit(p, nc, var[WEIGHT]));
  if (p->moments) {
    WEIR_TRY(weir_netcdf_put_numbers(nc, var[WEIGHT], MOMENTS, WEIR_I32, &(int32_t){1}, 1));
  }
  for (int c = 0; c < COLUMNS; c++) {
    WEIR_TRY(weir_netcdf_write(nc, var[c], zero, count, array_of(p, c)));
  }
  return WEIR_OK;
}

/* An attribute of the features, 0 where it is absent. */
static weir_status take_number(weir_netcdf *nc, int var, const char *name, double *out)
{
  *out = 0;
  return weir_netcdf_has(nc, var, name) ? weir_netcdf_get_numbers(nc, var, name, out, 1) : WEIR_OK;
}

/* Reads the posteriors of a flow, whose features are the variable var. */
static weir_status take_flow(weir_netcdf *nc, const char *path, int64_t n, int64_t n_labels,
                             cf_posteriors **out)
{
  const int64_t zero[2] = {0};
  weir_netcdf_shape s;
  double transforms, hidden;
  int var = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(cf_predicted_find(nc, path, FEATURE, WEIR_F64, false, 2, (int64_t[]){n, -1}, &var, &s));
  WEIR_TRY(take_number(nc, var, TRANSFORMS, &transforms));
  WEIR_TRY(take_number(nc, var, HIDDEN, &hidden));
  if (!(transforms >= 1 && transforms <= CF_FLOW_MAX_TRANSFORMS && hidden >= 1 &&
        hidden <= CF_FLOW_MAX_HIDDEN)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: %s: its attributes transforms and hidden state no flow: predict again",
                     path, FEATURE);
  }
  const cf_flow_shape shape = {n_labels, s.lengths[1], (int64_t)transforms, (int64_t)hidden};
  const int64_t count = cf_flow_count(&shape), all[2] = {n, shape.features};

  WEIR_TRY(cf_posteriors_create_flow(n, &shape, out));
  if (weir_netcdf_has(nc, var, LIMIT)) {
    WEIR_TRY_GOTO(weir_netcdf_get_numbers(nc, var, LIMIT, &(*out)->limit, 1), done);
  }
  WEIR_TRY_GOTO(weir_netcdf_read(nc, var, zero, all, (*out)->feature), done);
  WEIR_TRY_GOTO(cf_predicted_find(nc, path, FLOW, WEIR_F64, false, 1, &count, &var, &s), done);
  WEIR_TRY_GOTO(weir_netcdf_read(nc, var, zero, &count, (*out)->flow->weight), done);
done:
  if (status != WEIR_OK) {
    cf_posteriors_destroy(out);
  }
  return status;
}

static weir_status take_mixtures(weir_netcdf *nc, const char *path, int64_t n, int64_t n_labels,
                                 cf_posteriors **out)
{
  const int64_t zero[4] = {0};
  int var = 0;
  double moments = 0;
  weir_netcdf_shape s;
  weir_status status = WEIR_OK;

  WEIR_TRY(cf_predicted_find(nc, path, columns[WEIGHT].name, WEIR_F64, false, 2, (int64_t[]){n, -1},
                             &var, &s));
  const int64_t shape[4] = {n, s.lengths[1], n_labels, n_labels};

  WEIR_TRY(cf_posteriors_create(n, n_labels, s.lengths[1], out));
  if (weir_netcdf_has(nc, var, LIMIT)) {
    WEIR_TRY_GOTO(weir_netcdf_get_numbers(nc, var, LIMIT, &(*out)->limit, 1), done);
  }
  WEIR_TRY_GOTO(take_number(nc, var, MOMENTS, &moments), done);
  (*out)->moments = moments != 0;
  for (int c = 0; c < COLUMNS; c++) {
    WEIR_TRY_GOTO(cf_predicted_find(nc, path, columns[c].name, WEIR_F64, false, columns[c].n_dims,
                                    shape, &var, &s),
                  done);
    WEIR_TRY_GOTO(weir_netcdf_read(nc, var, zero, shape, array_of(*out, c)), done);
  }
done:
  if (status != WEIR_OK) {
    cf_posteriors_destroy(out);
  }
  return status;
}

weir_status cf_posteriors_take(weir_netcdf *nc, const char *path, int64_t n, int64_t n_labels,
                               cf_posteriors **out)
{
  int weight = 0, feature = 0, dims[WEIR_NETCDF_MAX_DIMS];
  weir_netcdf_shape s;

  *out = NULL;
  WEIR_TRY(cf_netcdf_seek(nc, columns[WEIGHT].name, &weight, &s, dims));
  WEIR_TRY(cf_netcdf_seek(nc, FEATURE, &feature, &s, dims));
  if (weight == CF_NETCDF_NONE && feature == CF_NETCDF_NONE) {
    return WEIR_OK;
  }
  return (feature == CF_NETCDF_NONE ? take_mixtures : take_flow)(nc, path, n, n_labels, out);
}
