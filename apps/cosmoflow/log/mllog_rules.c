/* mllog_rules.c - what the closed division of MLPerf HPC allows (hpc_training_rules, CosmoFlow),
 * checked on a configuration before anything is read or made. */
#include <math.h>
#include <string.h>
#include "log/mllog.h"
#include "model/nets.h"

/* Ends every message: what else one may do. */
#define OTHERWISE "; otherwise set mllog.division=open"

enum { BLOCKS = 5 };

/* Value of a numeric option of a filled struct; NaN for other kinds. */
static double number_at(const weir_opt *row, const void *opts)
{
  const char *const at = (const char *)opts + row->offset;

  switch (row->kind) {
  case WEIR_OPT_KIND_INT:
    return (double)*(const int64_t *)(const void *)at;
  case WEIR_OPT_KIND_REAL:
    return *(const double *)(const void *)at;
  case WEIR_OPT_KIND_BOOL:
    return *(const bool *)(const void *)at ? 1 : 0;
  case WEIR_OPT_KIND_ENUM:
    return *(const int *)(const void *)at;
  default:
    return NAN;
  }
}

double cf_mllog_rule_option(const weir_one_of *rule, const char *key)
{
  const weir_rule_desc *desc = NULL;

  if (weir_rule_find(rule->name != NULL ? rule->name : "adam", &desc) != WEIR_OK) {
    weir_clear_failure();
    return NAN;
  }
  for (const weir_opt *row = desc->opts; row != NULL && row->kind != WEIR_OPT_KIND_END; row++) {
    if (strcmp(row->key, key) == 0) {
      return rule->opts != NULL ? number_at(row, rule->opts) : row->number;
    }
  }
  return NAN;
}

static bool is_of(const char *key, const char *const *list)
{
  while (*list != NULL && strcmp(*list, key) != 0) {
    list++;
  }
  return *list != NULL;
}

/* Checks that all options but the free ones have their defaults, which are those of the reference;
 * opts NULL: they have. */
static weir_status check_defaults(const char *section, const weir_opt *table, const void *opts,
                                  const char *const *free)
{
  for (const weir_opt *row = table; opts != NULL && row->kind != WEIR_OPT_KIND_END; row++) {
    const double value = number_at(row, opts);

    if (!is_of(row->key, free) && !isnan(value) && value != row->number) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "%s.%s: %g: the closed division of MLPerf HPC requires that of the "
                       "reference, %g" OTHERWISE,
                       section, row->key, value, row->number);
    }
  }
  return WEIR_OK;
}

static weir_status check_network(const cf_model_opts *m)
{
  static const char *const free[] = {"dropout", "blocks", NULL};
  const cf_net *const net = cf_model_net(m);
  const cf_mlperf_opts *const o = m->net.opts;
  cf_loss loss;

  if (strcmp(net->name, "mlperf") != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "model.net: %s: the closed division of MLPerf HPC requires the network of the "
                     "reference, mlperf" OTHERWISE,
                     net->name);
  }
  WEIR_TRY(check_defaults("model.net.mlperf", cf_mlperf_options, o, free));
  if (o != NULL && cf_mlperf_blocks(o, CF_MLLOG_SIDE) != BLOCKS) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "model.net.mlperf.blocks: %lld: the closed division of MLPerf HPC requires "
                     "the %d of the reference" OTHERWISE,
                     (long long)o->blocks, BLOCKS);
  }
  WEIR_TRY(cf_model_loss_kind(m, &loss));
  return loss == CF_LOSS_MSE
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG, "model.loss: the closed division of MLPerf HPC requires "
                                          "the mean squared error, mse" OTHERWISE);
}

static weir_status check_data(const cf_data_opts *d)
{
  if (d->scale != CF_SCALE_LOG) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "data.scale: %s: the closed division of MLPerf HPC requires the preprocessing "
                     "of the reference, log1p" OTHERWISE,
                     cf_scale_name[d->scale]);
  }
  if (d->sizes.sides.count > 0) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "data.sizes.sides: the closed division of MLPerf HPC requires whole samples in "
        "all steps" OTHERWISE);
  }
  return d->augment.symmetry == CF_SYMMETRY_NONE && !d->augment.shift
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "data.augment.%s: the closed division of MLPerf HPC allows no "
                         "augmentation" OTHERWISE,
                         d->augment.shift ? "shift" : "symmetry");
}

static weir_status check_optimiser(const weir_optim_cfg *o)
{
  static const char *const free[] = {"weight_decay", "form", NULL};
  const weir_rule_desc *rule = NULL;

  WEIR_TRY(weir_optim_rule(o, &rule));
  if (strcmp(rule->name, "momentum") != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "train.optim.rule: %s: the closed division of MLPerf HPC requires SGD with "
                     "momentum 0.9, {momentum: {form: keras}}" OTHERWISE,
                     rule->name);
  }
  WEIR_TRY(check_defaults("train.optim.rule.momentum", rule->opts, o->rule.opts, free));
  if (o->clip.max_norm > 0 || o->average.decay > 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "train.optim.%s: %g: the closed division of MLPerf HPC allows neither "
                     "gradient clipping nor averages of weights" OTHERWISE,
                     o->clip.max_norm > 0 ? "clip.max_norm" : "average.decay",
                     o->clip.max_norm > 0 ? o->clip.max_norm : o->average.decay);
  }
  return WEIR_OK;
}

static weir_status check_schedule(const weir_schedule_cfg *s)
{
  if (s->shape != WEIR_SCHEDULE_MLPERF) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "train.optim.schedule.shape: the closed division of MLPerf HPC requires a "
                     "linear warm-up and step decays, mlperf" OTHERWISE);
  }
  for (int64_t i = 0; i < s->factors.count; i++) {
    if (!(s->factors.items[i] > 0 && s->factors.items[i] < 1)) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "train.optim.schedule.factors: %g: the closed division of MLPerf HPC "
                       "requires decay factors between 0 and 1" OTHERWISE,
                       s->factors.items[i]);
    }
  }
  return s->factors.count > 0 || s->at.count == 0 || (s->factor > 0 && s->factor < 1)
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "train.optim.schedule.factor: %g: the closed division of MLPerf HPC "
                         "requires decay factors between 0 and 1" OTHERWISE,
                         s->factor);
}

static weir_status check_target(const weir_train_cfg *t)
{
  const bool mae = t->target.metric != NULL && strcmp(t->target.metric, "mae") == 0;

  if (!mae || t->target.value != CF_MLLOG_TARGET) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "train.target.%s: the closed division of MLPerf HPC requires {metric: mae, "
                     "value: %g}" OTHERWISE,
                     mae ? "value" : "metric", CF_MLLOG_TARGET);
  }
  return WEIR_OK;
}

static bool is_closed(const cf_mllog_opts *o)
{
  return o->write && o->division == CF_MLLOG_CLOSED;
}

weir_status cf_mllog_check_rules(const cf_mllog_opts *opts, const cf_mllog_rules *r)
{
  if (!is_closed(opts)) {
    return WEIR_OK;
  }
  WEIR_TRY(check_network(r->model));
  WEIR_TRY(check_data(r->data));
  WEIR_TRY(check_optimiser(&r->train->optim));
  WEIR_TRY(check_schedule(&r->train->optim.schedule));
  return check_target(r->train);
}

weir_status cf_mllog_check_samples(const cf_mllog_opts *opts, const cf_volume_info *info,
                                   bool simulated, int64_t train, int64_t valid)
{
  const int64_t *const l = info->lengths;
  const bool shape = l[0] == CF_MLLOG_SIDE && l[1] == CF_MLLOG_SIDE && l[2] == CF_MLLOG_SIDE &&
                     l[3] == CF_MLLOG_CHANNELS && info->n_labels == CF_MLLOG_LABELS;

  if (!is_closed(opts)) {
    return WEIR_OK;
  }
  if (simulated) {
    return weir_fail(WEIR_ERR_CONFIG, "source.input: the closed division of MLPerf HPC requires "
                                      "the benchmark's data set (cosmoUniverse_2019_05_4parE), and "
                                      "these universes are simulated: name its files" OTHERWISE);
  }
  if (!shape || train != CF_MLLOG_TRAIN || valid != CF_MLLOG_VALID) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "source.input: the closed division of MLPerf HPC requires %d training samples "
                     "of %d^3 x %d with %d labels and %d for validation; these are %lld and %lld "
                     "of %lld x %lld x %lld x %lld with %lld" OTHERWISE,
                     CF_MLLOG_TRAIN, CF_MLLOG_SIDE, CF_MLLOG_CHANNELS, CF_MLLOG_LABELS,
                     CF_MLLOG_VALID, (long long)train, (long long)valid, (long long)l[0],
                     (long long)l[1], (long long)l[2], (long long)l[3], (long long)info->n_labels);
  }
  return WEIR_OK;
}
