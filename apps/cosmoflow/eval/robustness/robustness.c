/* robustness.c - see robustness.h. */
#include "eval/robustness/robustness.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"

static const weir_opt set_options[] = {
    WEIR_OPT_STRING(cf_robustness_set_opts, name, "",
                    "of the set in tables and files: letters, digits, _, - and ."),
    WEIR_OPT_STRING_LIST(cf_robustness_set_opts, samples, "",
                         "files, folders or lists of samples with labels, or synth://"),
    WEIR_OPT_END,
};

static const weir_opt network_options[] = {
    WEIR_OPT_STRING(cf_robustness_network_opts, name, "", "of the network, likewise"),
    WEIR_OPT_PATH(cf_robustness_network_opts, weights, "", "weights.nc of a run"),
    WEIR_OPT_STRING(cf_robustness_network_opts, trained_on, "",
                    "name of the set with its training universes, which the regressions of the "
                    "same rows are fitted on"),
    WEIR_OPT_END,
};

const weir_opt cf_robustness_options[] = {
    WEIR_OPT_LIST(cf_robustness_opts, sets, cf_robustness_set_opts, set_options, 64,
                  "what the networks are tested on, a column each: simulations that differ in "
                  "method, resolution, noise or physics"),
    WEIR_OPT_LIST(cf_robustness_opts, networks, cf_robustness_network_opts, network_options, 64,
                  "networks to test, a row each, with rows of regressions for each set that one is "
                  "trained on"),
    WEIR_OPT_END,
};

/* ---- options ---- */

static bool is_name(const char *name)
{
  bool is = name[0] != 0 && name[0] != '.' && strlen(name) < CF_MAX_NAME;

  for (const char *c = name; *c != 0; c++) {
    is = is && (isalnum((unsigned char)*c) || strchr("_-.", *c) != NULL);
  }
  return is;
}

static weir_status check_name(const char *list, const char *name, const char *const *earlier,
                              int64_t n)
{
  if (!is_name(name)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "robustness.%s: '%s' is no name: up to %d letters, digits, _, - and . (it "
                     "becomes part of a file name)",
                     list, name, CF_MAX_NAME - 1);
  }
  for (int64_t i = 0; i < n; i++) {
    if (strcmp(earlier[i], name) == 0) {
      return weir_fail(WEIR_ERR_CONFIG, "robustness.%s: two have the name '%s'", list, name);
    }
  }
  return WEIR_OK;
}

/* Rows of regressions have the names of eval. */
static weir_status check_model(const char *name)
{
  for (int by = CF_FIRST_REGRESSION; by < CF_PREDICTORS; by++) {
    if (strcmp(name, cf_evaluation_name(NULL, 0, (cf_predictor)by)) == 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "robustness.networks: '%s' is the name of a regression or the mean: choose "
                       "another",
                       name);
    }
  }
  return WEIR_OK;
}

static int64_t find_set(const cf_robustness_opts *o, const char *name)
{
  const cf_robustness_set_opts *const set = o->sets.items;

  for (int64_t i = 0; i < o->sets.count; i++) {
    if (strcmp(set[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

/* Names have dashes, too: network a of set b-c and network a-b of set c would share a file. */
static weir_status check_paths(const cf_robustness_opts *o)
{
  const cf_robustness_network_opts *const network = o->networks.items;
  const cf_robustness_set_opts *const set = o->sets.items;

  for (int64_t i = 0; i < o->networks.count * o->networks.count; i++) {
    const char *const one = network[i / o->networks.count].name;
    const char *const two = network[i % o->networks.count].name;
    const size_t n = strlen(one);
    const char *const rest = strncmp(one, two, n) == 0 && two[n] == '-' ? two + n + 1 : NULL;

    for (int64_t k = 0; rest != NULL && k < o->sets.count; k++) {
      const size_t m = strlen(rest);
      const bool starts = strncmp(set[k].name, rest, m) == 0 && set[k].name[m] == '-';

      if (starts && find_set(o, set[k].name + m + 1) >= 0) {
        return weir_fail(WEIR_ERR_CONFIG,
                         "robustness: network '%s' on set '%s' and network '%s' on set '%s' have "
                         "one file of predictions, predictions-%s-%s.nc: choose other names",
                         one, set[k].name, two, set[k].name + m + 1, one, set[k].name);
      }
    }
  }
  return WEIR_OK;
}

static weir_status check_network(const cf_robustness_opts *o, const cf_robustness_network_opts *n)
{
  if (n->weights[0] == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "robustness.networks: '%s' names no weights", n->name);
  }
  return find_set(o, n->trained_on) >= 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "robustness.networks: '%s' is trained_on '%s', which is no name of "
                         "robustness.sets",
                         n->name, n->trained_on);
}

weir_status cf_robustness_check(const cf_robustness_opts *o)
{
  const cf_robustness_set_opts *const set = o->sets.items;
  const cf_robustness_network_opts *const network = o->networks.items;
  const char *name[64];

  if (o->sets.count == 0 || o->networks.count == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "robustness.%s is empty: list sets to test on and networks, e.g. "
                     "robustness.sets=[{name: lpt, samples: [lpt]}, {name: pm, samples: [pm]}] and "
                     "robustness.networks=[{name: net, weights: run/weights.nc, trained_on: lpt}]",
                     o->sets.count == 0 ? "sets" : "networks");
  }
  for (int64_t i = 0; i < o->sets.count; i++) {
    WEIR_TRY(check_name("sets", set[i].name, name, i));
    name[i] = set[i].name;
    if (set[i].samples.count == 0) {
      return weir_fail(WEIR_ERR_CONFIG, "robustness.sets: '%s' names no samples", set[i].name);
    }
  }
  for (int64_t i = 0; i < o->networks.count; i++) {
    WEIR_TRY(check_name("networks", network[i].name, name, i));
    name[i] = network[i].name;
    WEIR_TRY(check_model(network[i].name));
    WEIR_TRY(check_network(o, &network[i]));
  }
  return check_paths(o);
}

int64_t cf_robustness_own(const cf_robustness_opts *o, int64_t network)
{
  return find_set(o, ((const cf_robustness_network_opts *)o->networks.items)[network].trained_on);
}

weir_status cf_robustness_path(const cf_robustness_opts *o, const char *dir, int64_t network,
                               int64_t set, char *path, size_t size)
{
  const cf_robustness_set_opts *const s = o->sets.items;
  const cf_robustness_network_opts *const n = o->networks.items;
  const int length =
      snprintf(path, size, "%s/predictions-%s-%s.nc", dir, n[network].name, s[set].name);

  return length > 0 && (size_t)length < size
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG, "--out %s: the path is too long", dir);
}

/* ---- scores ---- */

const cf_robustness_cell *cf_robustness_at(const cf_robustness *r, int64_t row, int64_t set,
                                           int64_t label)
{
  return &r->row[row].cell[set * (1 + r->n_labels) + label];
}

static void take_posterior(const cf_posterior_scores *s, int64_t label, cf_robustness_cell *c)
{
  if (s->n == 0) {
    return;
  }
  if (label == 0) {
    c->posterior[CF_POSTERIOR_GAIN] = s->information;
    return;
  }
  const double share =
      cf_coverage_central(s->rank + (label - 1) * s->cases, s->cases, s->draws, 0.68);

  c->posterior[CF_POSTERIOR_COVERAGE].value = share;
  c->posterior[CF_POSTERIOR_CHI2].value = s->square[label - 1];
}

/* Sets the cells of a model on set k of the evaluation. */
static void take_cells(const cf_evaluation *e, const cf_score_tables *t, cf_predictor by, int64_t k,
                       cf_robustness_cell *cell)
{
  const weir_estimate none = {NAN, NAN, NAN};

  for (int64_t label = 0; label <= e->n_labels; label++) {
    const cf_score_row *const from =
        cf_score_tables_find(t, k, by, CF_BY_SAMPLE, label == 0 ? CF_ALL_LABELS : label - 1);
    cf_robustness_cell *const c = &cell[label];

    for (int s = 0; s < CF_SCORES; s++) {
      const bool has = from != NULL && (label > 0 || s == CF_MAE || s == CF_RMSE);

      c->score[s] = has ? from->score[s] : none;
    }
    for (int s = 0; s < CF_POSTERIOR_SCORES; s++) {
      c->posterior[s] = none;
    }
    c->half = from != NULL ? from->half : 1;
    c->samples = from != NULL ? from->samples : 0;
    c->universes = from != NULL ? from->universes : 0;
    if (by == CF_BY_NETWORK) {
      take_posterior(&e->posterior[k], label, c);
    }
  }
}

static weir_status add_row(const cf_evaluation *e, const cf_score_tables *t, const int64_t *set,
                           cf_predictor by, cf_robustness *r)
{
  WEIR_TRY(weir_reserve(&r->row, &r->capacity, r->n_rows + 1, sizeof *r->row));
  cf_robustness_row *const row = &r->row[r->n_rows];

  *row = (cf_robustness_row){.trained_on = set[0], .network = by == CF_BY_NETWORK};
  (void)snprintf(row->model, sizeof row->model, "%s", cf_evaluation_name(e, 0, by));
  WEIR_TRY(weir_alloc(r->n_sets * (1 + r->n_labels), sizeof *row->cell, (void **)&row->cell));
  r->n_rows++;
  for (int64_t k = 0; k < e->n_sets; k++) {
    take_cells(e, t, by, k, row->cell + set[k] * (1 + r->n_labels));
  }
  return WEIR_OK;
}

/* Takes the labels of the first evaluation, and compares those of others. */
static weir_status take_labels(const cf_evaluation *e, cf_robustness *r)
{
  const cf_predictions *const p = e->set[0].p;

  if (r->n_rows == 0) {
    r->n_labels = e->n_labels;
    memcpy(r->label, p->label, sizeof r->label);
  }
  return r->n_labels == e->n_labels && memcmp(r->label, p->label, sizeof r->label) == 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: the labels of its network are not those of the network before it",
                         e->set[0].opts->predictions);
}

weir_status cf_robustness_add(const cf_robustness_opts *opts, const cf_evaluation *e,
                              const cf_score_tables *t, const int64_t *set, cf_robustness *r)
{
  bool fitted = false;

  r->opts = opts;
  r->n_sets = opts->sets.count;
  WEIR_TRY(take_labels(e, r));
  for (int64_t i = 0; i < r->n_rows; i++) {
    fitted = fitted || (!r->row[i].network && r->row[i].trained_on == set[0]);
  }
  for (int by = 0; by < CF_PREDICTORS; by++) {
    const bool has =
        cf_score_tables_find(t, 0, (cf_predictor)by, CF_BY_SAMPLE, CF_ALL_LABELS) != NULL;

    if (has && (by == CF_BY_NETWORK || !fitted)) {
      WEIR_TRY(add_row(e, t, set, (cf_predictor)by, r));
    }
  }
  return WEIR_OK;
}

void cf_robustness_fini(cf_robustness *r)
{
  for (int64_t i = 0; i < r->n_rows; i++) {
    weir_free(&r->row[i].cell);
  }
  weir_free(&r->row);
  r->n_rows = 0;
}
