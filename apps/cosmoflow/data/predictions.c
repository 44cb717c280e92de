/* predictions.c - see predictions.h. */
#include "data/predictions.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "data/predicted.h"
#include "data/volume/volume_netcdf.h"

const char *const cf_subset_name[CF_SUBSETS] = {"train", "valid", "test"};

enum { WIDTH = CF_MAX_NAME - 1 /* letters of a name in the file */ };

weir_status cf_predictions_create(int64_t n, int64_t n_labels, cf_predictions **out)
{
  cf_predictions *p = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  if (n < 1 || n_labels < 1 || n_labels > CF_MAX_LABELS || n > INT64_MAX / CF_MAX_LABELS) {
    return weir_fail(WEIR_ERR_SHAPE, "predictions: %lld rows of %lld labels; 1 to %d labels can be",
                     (long long)n, (long long)n_labels, CF_MAX_LABELS);
  }
  WEIR_TRY(weir_alloc(1, sizeof *p, (void **)&p));
  p->n = n;
  p->n_labels = n_labels;
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *p->sample, (void **)&p->sample), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *p->universe, (void **)&p->universe), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *p->subset, (void **)&p->subset), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *p->known, (void **)&p->known), done);
  WEIR_TRY_GOTO(weir_alloc(n * n_labels, sizeof *p->truth, (void **)&p->truth), done);
  WEIR_TRY_GOTO(weir_alloc(n * n_labels, sizeof *p->predicted, (void **)&p->predicted), done);
  WEIR_TRY_GOTO(weir_alloc(n * CF_COSMOLOGY, sizeof *p->cosmology, (void **)&p->cosmology), done);
  (void)snprintf(p->model, sizeof p->model, "network");
  for (int64_t k = 0; k < n_labels; k++) {
    (void)snprintf(p->label[k], CF_MAX_NAME, "parameter_%lld", (long long)k + 1);
    p->lo[k] = -1;
    p->hi[k] = 1;
  }
  for (int64_t i = 0; i < n; i++) {
    p->sample[i] = i;
    p->known[i] = 1;
  }
  for (int64_t i = 0; i < n * n_labels; i++) {
    p->predicted[i] = NAN;
  }
  for (int64_t i = 0; i < n * CF_COSMOLOGY; i++) {
    p->cosmology[i] = NAN;
  }
  *out = p;
done:
  if (status != WEIR_OK) {
    cf_predictions_destroy(&p);
  }
  return status;
}

void cf_predictions_destroy(cf_predictions **p)
{
  if (*p == NULL) {
    return;
  }
  weir_free(&(*p)->sample);
  weir_free(&(*p)->universe);
  weir_free(&(*p)->subset);
  weir_free(&(*p)->known);
  weir_free(&(*p)->truth);
  weir_free(&(*p)->predicted);
  weir_free(&(*p)->cosmology);
  cf_posteriors_destroy(&(*p)->posterior);
  weir_origin_fini(&(*p)->origin);
  weir_free(p);
}

bool cf_predictions_ranged(const cf_predictions *p, int64_t label)
{
  return !(p->lo[label] == -1 && p->hi[label] == 1);
}

void cf_predictions_normalised(const cf_predictions *p, char *text, size_t size)
{
  text[0] = 0;
  for (int64_t k = 0; k < p->n_labels; k++) {
    const size_t n = strlen(text);

    if (!cf_predictions_ranged(p, k)) {
      (void)snprintf(text + n, size - n, "%s%s", n > 0 ? ", " : "", p->label[k]);
    }
  }
}

double cf_predictions_physical(const cf_predictions *p, int64_t label, double unit)
{
  return p->lo[label] + 0.5 * (unit + 1) * (p->hi[label] - p->lo[label]);
}

/* ---- what cannot be ---- */

static weir_status check_labels(const cf_predictions *p, const char *path)
{
  for (int64_t k = 0; k < p->n_labels; k++) {
    if (p->label[k][0] == 0 || !isfinite(p->lo[k]) || !isfinite(p->hi[k]) || p->lo[k] >= p->hi[k]) {
      return weir_fail(WEIR_ERR_DATA, "%s: label %lld, '%s', has the range %g to %g", path,
                       (long long)k + 1, p->label[k], p->lo[k], p->hi[k]);
    }
    for (int64_t j = 0; j < k; j++) {
      if (strcmp(p->label[j], p->label[k]) == 0) {
        return weir_fail(WEIR_ERR_DATA, "%s: two labels have the name '%s'", path, p->label[k]);
      }
    }
  }
  return WEIR_OK;
}

static weir_status check_row(const cf_predictions *p, int64_t i, const char *path)
{
  const long long row = (long long)i + 1;

  if (p->subset[i] >= CF_SUBSETS || p->known[i] > 1 || p->universe[i] < 0 || p->sample[i] < 0) {
    return weir_fail(
        WEIR_ERR_DATA,
        "%s: row %lld: sample %lld of universe %lld, subset %d, predicted %d: subsets are "
        "0 to 2, predicted 0 or 1, the others not negative",
        path, row, (long long)p->sample[i], (long long)p->universe[i], p->subset[i], p->known[i]);
  }
  for (int64_t k = 0; k < p->n_labels; k++) {
    const double y = p->unlabelled ? 0 : (double)p->truth[i * p->n_labels + k];
    const double prediction = (double)p->predicted[i * p->n_labels + k];

    if (!isfinite(y) || (p->known[i] && !isfinite(prediction))) {
      return weir_fail(WEIR_ERR_NUMERIC, "%s: row %lld (sample %lld): %s is %g%s", path, row,
                       (long long)p->sample[i], p->label[k], isfinite(y) ? prediction : y,
                       isfinite(y) ? " by the prediction: it did not come from a sound network"
                                   : " by its label");
    }
  }
  return WEIR_OK;
}

typedef struct pair {
  int64_t key, row;
} pair;

static int by_key(const void *a, const void *b)
{
  const pair *const x = a, *const y = b;

  return x->key != y->key ? (x->key < y->key ? -1 : 1) : (x->row > y->row) - (x->row < y->row);
}

/* Checks that samples are unique, and that each universe is of one subset. */
static weir_status check_together(const cf_predictions *p, const char *path)
{
  pair *order = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(p->n, sizeof *order, (void **)&order));
  for (int which = 0; which < 2 && status == WEIR_OK; which++) {
    for (int64_t i = 0; i < p->n; i++) {
      order[i] = (pair){which == 0 ? p->sample[i] : p->universe[i], i};
    }
    qsort(order, (size_t)p->n, sizeof *order, by_key);
    for (int64_t i = 1; i < p->n && status == WEIR_OK; i++) {
      const int64_t a = order[i - 1].row, b = order[i].row;

      if (order[i - 1].key == order[i].key && which == 0) {
        status = weir_fail(WEIR_ERR_DATA, "%s: sample %lld stands in rows %lld and %lld", path,
                           (long long)p->sample[a], (long long)a + 1, (long long)b + 1);
      } else if (order[i - 1].key == order[i].key && p->subset[a] != p->subset[b]) {
        status =
            weir_fail(WEIR_ERR_DATA,
                      "%s: universe %lld is of %s in row %lld and of %s in row %lld: its samples "
                      "share their labels, and scores would be of what was learnt by heart",
                      path, (long long)p->universe[a], cf_subset_name[p->subset[a]],
                      (long long)a + 1, cf_subset_name[p->subset[b]], (long long)b + 1);
      }
    }
  }
  weir_free(&order);
  return status;
}

static weir_status check(const cf_predictions *p, const char *path)
{
  WEIR_TRY(check_labels(p, path));
  WEIR_TRY(p->posterior != NULL ? cf_posteriors_check_flow(p->posterior, path) : WEIR_OK);
  for (int64_t i = 0; i < p->n; i++) {
    WEIR_TRY(check_row(p, i, path));
    if (p->posterior != NULL && p->known[i]) {
      WEIR_TRY(cf_posteriors_check(p->posterior, i, path));
    }
  }
  return check_together(p, path);
}

/* ---- the file ---- */

typedef struct column {
  const char *name, *long_name;
  weir_dtype dtype;
  int n_dims; /* 1: sample, 2: sample and parameter */
} column;

enum { SAMPLE, UNIVERSE, SUBSET, KNOWN, TRUTH, SAID, TRUTH_PHYSICAL, SAID_PHYSICAL, COLUMNS };
static const column columns[COLUMNS] = {
    [SAMPLE] = {"sample_number", "number of the sample in the set of files, from 0", WEIR_I64, 1},
    [UNIVERSE] = {"universe", "number of the universe the sample was cut from", WEIR_I64, 1},
    [SUBSET] = {"part", "part of the split that the universe is of", WEIR_U8, 1},
    [KNOWN] = {"predicted", "1 where there is a prediction, 0 where the row is only listed",
               WEIR_U8, 1},
    [TRUTH] = {"unitPar", "labels, normalised to [-1, 1] of their ranges", WEIR_F32, 2},
    [SAID] = {"unitPredicted", "predictions, normalised as the labels", WEIR_F32, 2},
    [TRUTH_PHYSICAL] = {"physPar", "labels in their own units, NaN where rangeKnown is 0", WEIR_F64,
                        2},
    [SAID_PHYSICAL] = {"physPredicted",
                       "predictions in the labels' own units, NaN where rangeKnown is 0", WEIR_F64,
                       2},
};

/* Whether a file has the column. */
static bool is_stored(const cf_predictions *p, int c)
{
  return !p->unlabelled || (c != TRUTH && c != TRUTH_PHYSICAL);
}

/* Returns the address of a column that is stored unchanged; NULL: it is computed. */
static void *rows_of(const cf_predictions *p, int c)
{
  return c == SAMPLE     ? (void *)p->sample
         : c == UNIVERSE ? (void *)p->universe
         : c == SUBSET   ? (void *)p->subset
         : c == KNOWN    ? (void *)p->known
         : c == TRUTH    ? (void *)p->truth
         : c == SAID     ? (void *)p->predicted
                         : NULL;
}

static weir_status put_physical(weir_netcdf *nc, int var, const cf_predictions *p,
                                const float *unit)
{
  const int64_t zero[2] = {0, 0}, count[2] = {p->n, p->n_labels};
  double *value = NULL;

  WEIR_TRY(weir_alloc(p->n * p->n_labels, sizeof *value, (void **)&value));
  for (int64_t i = 0; i < p->n * p->n_labels; i++) {
    const int64_t k = i % p->n_labels;

    value[i] =
        cf_predictions_ranged(p, k) ? cf_predictions_physical(p, k, (double)unit[i]) : (double)NAN;
  }
  const weir_status status = weir_netcdf_write(nc, var, zero, count, value);

  weir_free(&value);
  return status;
}

static int64_t largest(const int64_t *x, int64_t n)
{
  int64_t max = 0;

  for (int64_t i = 0; i < n; i++) {
    max = x[i] > max ? x[i] : max;
  }
  return max;
}

static weir_status put_columns(weir_netcdf *nc, const cf_predictions *p, const int *dims)
{
  static const uint8_t flags[CF_SUBSETS] = {CF_TRAIN, CF_VALID, CF_TEST};
  const int64_t zero[2] = {0, 0}, count[2] = {p->n, p->n_labels};
  int var[COLUMNS];

  for (int c = 0; c < COLUMNS; c++) {
    if (!is_stored(p, c)) {
      continue;
    }
    WEIR_TRY(columns[c].dtype == WEIR_I64
                 ? weir_netcdf_whole_var(nc, columns[c].name, largest(rows_of(p, c), p->n), 1, dims,
                                         &var[c])
                 : weir_netcdf_var(nc, columns[c].name, columns[c].dtype, columns[c].n_dims, dims,
                                   &var[c]));
    WEIR_TRY(weir_netcdf_put_text(nc, var[c], "long_name", columns[c].long_name));
    if (c == TRUTH || c == SAID) {
      WEIR_TRY(weir_netcdf_put_text(nc, var[c], "units", "1"));
    }
  }
  WEIR_TRY(weir_netcdf_put_numbers(nc, var[SUBSET], "flag_values", WEIR_U8, flags, CF_SUBSETS));
  WEIR_TRY(weir_netcdf_put_text(nc, var[SUBSET], "flag_meanings", "train valid test"));
  for (int c = 0; c < COLUMNS; c++) {
    const void *const rows = rows_of(p, c);

    if (!is_stored(p, c)) {
      continue;
    }
    if (rows != NULL) {
      WEIR_TRY(weir_netcdf_write(nc, var[c], zero, count, rows));
    } else {
      WEIR_TRY(put_physical(nc, var[c], p, c == TRUTH_PHYSICAL ? p->truth : p->predicted));
    }
  }
  return WEIR_OK;
}

static weir_status put_labels(weir_netcdf *nc, const cf_predictions *p, int parameter)
{
  static const uint8_t flags[] = {0, 1};
  const int64_t zero[2] = {0, 0}, letters[2] = {p->n_labels, WIDTH}, ends[2] = {p->n_labels, 2};
  char name[CF_MAX_LABELS * WIDTH] = {0};
  double range[CF_MAX_LABELS][2];
  uint8_t known[CF_MAX_LABELS];
  int dims[2] = {parameter, 0}, var = 0;

  for (int64_t k = 0; k < p->n_labels; k++) {
    memcpy(name + k * WIDTH, p->label[k], strnlen(p->label[k], WIDTH));
    known[k] = cf_predictions_ranged(p, k);
    range[k][0] = known[k] ? p->lo[k] : (double)NAN;
    range[k][1] = known[k] ? p->hi[k] : (double)NAN;
  }
  WEIR_TRY(weir_netcdf_dim(nc, "name", WIDTH, &dims[1]));
  WEIR_TRY(weir_netcdf_char_var(nc, "namePar", 2, dims, &var));
  WEIR_TRY(weir_netcdf_write(nc, var, zero, letters, name));
  WEIR_TRY(weir_netcdf_dim(nc, "end", 2, &dims[1]));
  WEIR_TRY(weir_netcdf_var(nc, "rangePar", WEIR_F64, 2, dims, &var));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "long_name", "parameters at -1 and 1 of unitPar"));
  WEIR_TRY(weir_netcdf_write(nc, var, zero, ends, range));
  WEIR_TRY(weir_netcdf_var(nc, "rangeKnown", WEIR_U8, 1, dims, &var));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "long_name", "whether rangePar is known"));
  WEIR_TRY(weir_netcdf_put_numbers(nc, var, "flag_values", WEIR_U8, flags, 2));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "flag_meanings", "normalised_range_unknown physical"));
  return weir_netcdf_write(nc, var, zero, ends, known);
}

/* Writes the origin of the samples, as far as it is known. */
static weir_status put_box(weir_netcdf *nc, const cf_predictions *p, int sample)
{
  const int64_t zero[2] = {0, 0}, count[2] = {p->n, CF_COSMOLOGY};
  int dims[2] = {sample, 0}, var = 0;
  bool any = false;

  WEIR_TRY(cf_netcdf_put_box(nc, p->box, p->cell));
  for (int64_t i = 0; i < p->n * CF_COSMOLOGY; i++) {
    any = any || isfinite(p->cosmology[i]);
  }
  if (!any) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_netcdf_dim(nc, "cosmology_number", CF_COSMOLOGY, &dims[1]));
  WEIR_TRY(weir_netcdf_var(nc, "cosmology", WEIR_F64, 2, dims, &var));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "long_name", CF_COSMOLOGY_NAMES));
  return weir_netcdf_write(nc, var, zero, count, p->cosmology);
}

static void warn_outside(const cf_predictions *p, int64_t rows, int64_t first)
{
  if (rows > 0) {
    weir_warn("predict",
              "%lld posteriors have fewer than 1 in 1000 draws within the ranges of the "
              "parameters, the first of them that of sample %lld: their draws are NaN; these "
              "samples are unlike those of the training, or the training was too short",
              (long long)rows, (long long)p->sample[first]);
  }
}

/* Writes draws from each posterior, a row at a time; NaN where there is none, or it is restricted
 * and too little of it is within the ranges. */
static weir_status put_draws(weir_netcdf *nc, const cf_predictions *p, const int *sample_parameter)
{
  const int64_t count[3] = {1, p->draws, p->n_labels}, n = p->draws * p->n_labels;
  int dims[3] = {sample_parameter[0], 0, sample_parameter[1]}, var = 0;
  double *value = NULL, inside = 1;
  int64_t outside = 0, first = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_netcdf_dim(nc, "draw", p->draws, &dims[1]));
  WEIR_TRY(weir_netcdf_var(nc, "physPosterior", WEIR_F64, 3, dims, &var));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "long_name",
                                "draws from the posterior in the labels' own units, normalised "
                                "where rangeKnown is 0"));
  WEIR_TRY(weir_alloc(n, sizeof *value, (void **)&value));
  for (int64_t i = 0; i < p->n; i++) {
    const bool drawn = p->known[i] && cf_posterior_draw(p->posterior, i, p->seed, p->sample[i],
                                                        p->draws, value, &inside);

    if (p->known[i] && !drawn) {
      first = outside == 0 ? i : first;
      outside++;
    }
    for (int64_t d = 0; d < n; d++) {
      value[d] = drawn ? cf_predictions_physical(p, d % p->n_labels, value[d]) : (double)NAN;
    }
    WEIR_TRY_GOTO(weir_netcdf_write(nc, var, (int64_t[]){i, 0, 0}, count, value), done);
  }
  warn_outside(p, outside, first);
done:
  weir_free(&value);
  return status;
}

static weir_status put_all(weir_netcdf *nc, const cf_predictions *p)
{
  int dims[2];

  WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "model", p->model));
  WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "source", p->source));
  WEIR_TRY(cf_origin_put(nc, &p->origin));
  WEIR_TRY(weir_netcdf_dim(nc, "sample", p->n, &dims[0]));
  WEIR_TRY(weir_netcdf_dim(nc, "parameter", p->n_labels, &dims[1]));
  WEIR_TRY(put_labels(nc, p, dims[1]));
  WEIR_TRY(put_box(nc, p, dims[0]));
  if (p->posterior != NULL) {
    WEIR_TRY(cf_posteriors_put(p->posterior, nc, dims[0], dims[1]));
    WEIR_TRY(p->draws > 0 ? put_draws(nc, p, dims) : WEIR_OK);
  }
  return put_columns(nc, p, dims);
}

weir_status cf_predictions_write(const cf_predictions *p, const char *path)
{
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(check(p, path));
  WEIR_TRY(weir_netcdf_create_cf(path, "cosmoflow: predictions", &nc));
  WEIR_TRY_GOTO(put_all(nc, p), done);
  status = weir_netcdf_commit(&nc);
done:
  weir_netcdf_close(&nc);
  return status;
}

static weir_status take_labels(weir_netcdf *nc, const char *path, cf_predictions *p)
{
  weir_netcdf_shape s;
  double range[CF_MAX_LABELS][2];
  int var = 0;

  WEIR_TRY(cf_predicted_find(nc, path, "namePar", WEIR_U8, true, 2, (int64_t[]){p->n_labels, -1},
                             &var, &s));
  if (s.lengths[1] > WIDTH) {
    return weir_fail(WEIR_ERR_DATA, "%s: names of labels of %lld letters; at most %d can be", path,
                     (long long)s.lengths[1], WIDTH);
  }
  for (int64_t k = 0; k < p->n_labels; k++) {
    memset(p->label[k], 0, CF_MAX_NAME);
    WEIR_TRY(
        weir_netcdf_read(nc, var, (int64_t[]){k, 0}, (int64_t[]){1, s.lengths[1]}, p->label[k]));
  }
  WEIR_TRY(cf_predicted_find(nc, path, "rangePar", WEIR_F64, false, 2, (int64_t[]){p->n_labels, 2},
                             &var, &s));
  WEIR_TRY(weir_netcdf_read(nc, var, (int64_t[]){0, 0}, s.lengths, range));
  for (int64_t k = 0; k < p->n_labels; k++) {
    const bool unknown = isnan(range[k][0]) && isnan(range[k][1]);

    p->lo[k] = unknown ? -1 : range[k][0];
    p->hi[k] = unknown ? 1 : range[k][1];
  }
  return WEIR_OK;
}

/* Determines whether a file has predictions without labels. */
static weir_status look_for_labels(weir_netcdf *nc, bool *unlabelled)
{
  int truth = 0, predicted = 0, dims[WEIR_NETCDF_MAX_DIMS];
  weir_netcdf_shape s;

  WEIR_TRY(cf_netcdf_seek(nc, columns[TRUTH].name, &truth, &s, dims));
  WEIR_TRY(cf_netcdf_seek(nc, columns[SAID].name, &predicted, &s, dims));
  *unlabelled = truth == CF_NETCDF_NONE && predicted >= 0;
  return WEIR_OK;
}

static weir_status take_all(weir_netcdf *nc, const char *path, cf_predictions **out)
{
  const int64_t zero[2] = {0, 0};
  weir_netcdf_shape s;
  bool unlabelled = false;
  int var = 0;

  WEIR_TRY(look_for_labels(nc, &unlabelled));
  WEIR_TRY(cf_predicted_find(nc, path, columns[unlabelled ? SAID : TRUTH].name, WEIR_F32, false, 2,
                             (int64_t[]){-1, -1}, &var, &s));
  WEIR_TRY(cf_predictions_create(s.lengths[0], s.lengths[1], out));
  cf_predictions *const p = *out;

  p->unlabelled = unlabelled;
  for (int64_t i = 0; unlabelled && i < p->n * p->n_labels; i++) {
    p->truth[i] = NAN;
  }

  WEIR_TRY(cf_predicted_text(nc, "model", p->model, sizeof p->model));
  WEIR_TRY(cf_predicted_text(nc, "source", p->source, sizeof p->source));
  WEIR_TRY(cf_origin_take(nc, &p->origin));
  WEIR_TRY(take_labels(nc, path, p));
  for (int c = 0; c < COLUMNS; c++) {
    void *const rows = rows_of(p, c);

    if (rows != NULL && is_stored(p, c)) {
      WEIR_TRY(cf_predicted_find(nc, path, columns[c].name, columns[c].dtype, false,
                                 columns[c].n_dims, (int64_t[]){p->n, p->n_labels}, &var, &s));
      WEIR_TRY(columns[c].dtype == WEIR_I64
                   ? weir_netcdf_read_whole(nc, var, &s, zero, s.lengths, rows)
                   : weir_netcdf_read(nc, var, zero, s.lengths, rows));
    }
  }
  WEIR_TRY(cf_posteriors_take(nc, path, p->n, p->n_labels, &p->posterior));
  return check(p, path);
}

weir_status cf_predictions_read(const char *path, cf_predictions **out)
{
  weir_netcdf *nc = NULL;
  cf_predictions *p = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_netcdf_open(path, &nc));
  WEIR_TRY_GOTO(take_all(nc, path, &p), done);
  *out = p;
  p = NULL;
done:
  cf_predictions_destroy(&p);
  weir_netcdf_close(&nc);
  return status;
}
