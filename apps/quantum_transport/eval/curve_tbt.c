/* curve_tbt.c - the transmission of a file in the layout of TBtrans (data/tbt.h): a group for each
 * electrode, in it T(k, E) to the others. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "eval/curve_priv.h"
#include "model/units.h"

enum { NAME = 128 };

/* Reads a variable of real numbers of so many dimensions as doubles; lengths takes its shape. */
static weir_status read_real(weir_netcdf *nc, const char *path, const char *name, int n_dims,
                             int64_t *lengths, double **out)
{
  const int64_t start[2] = {0, 0};
  weir_netcdf_shape shape;
  int64_t count = 1;
  void *raw = NULL;
  int var;

  WEIR_TRY(weir_netcdf_find(nc, name, &var, &shape));
  if (shape.text || shape.n_dims != n_dims || !weir_dtype_is_real(shape.dtype)) {
    return weir_fail(WEIR_ERR_DATA, "%s: '%s' is no array of real numbers of %d dimensions", path,
                     name, n_dims);
  }
  for (int i = 0; i < n_dims; i++) {
    lengths[i] = shape.lengths[i];
    if (!weir_mul_ok(count, lengths[i], &count)) {
      return weir_fail(WEIR_ERR_DATA, "%s: '%s' has more numbers than can be counted: %lld x %lld",
                       path, name, (long long)shape.lengths[0], (long long)lengths[i]);
    }
  }
  WEIR_TRY(weir_alloc(count, weir_dtype_size(shape.dtype), &raw));
  weir_status status = weir_netcdf_read(nc, var, start, lengths, raw);

  if (status == WEIR_OK) {
    status = weir_alloc(count, sizeof **out, (void **)out);
  }
  for (int64_t i = 0; status == WEIR_OK && i < count; i++) {
    (*out)[i] = weir_dtype_load_real(shape.dtype, raw, i);
  }
  weir_free(&raw);
  return status;
}

/* eV of the unit of the energies. */
static weir_status find_unit(weir_netcdf *nc, const char *path, double *out)
{
  static const struct {
    const char *name;
    double ev;
  } known[] = {{"Ry", QT_RYDBERG},
               {"Rydberg", QT_RYDBERG},
               {"Ha", 2 * QT_RYDBERG},
               {"Hartree", 2 * QT_RYDBERG},
               {"eV", 1},
               {"meV", 1e-3}};
  weir_netcdf_shape shape;
  char *text = NULL;
  int var;

  WEIR_TRY(weir_netcdf_find(nc, "E", &var, &shape));
  const char *const attribute = weir_netcdf_has(nc, var, "unit") ? "unit" : "units";

  if (!weir_netcdf_has(nc, var, attribute)) {
    return weir_fail(WEIR_ERR_DATA, "%s: the energies 'E' have no attribute 'unit'", path);
  }
  WEIR_TRY(weir_netcdf_get_text(nc, var, attribute, &text));
  *out = 0;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    *out = strcmp(text, known[i].name) == 0 ? known[i].ev : *out;
  }
  const weir_status status =
      *out > 0 ? WEIR_OK
               : weir_fail(WEIR_ERR_DATA,
                           "%s: the energies 'E' are in '%.40s', which is none of Ry, Rydberg, Ha, "
                           "Hartree, eV, meV",
                           path, text);

  weir_free(&text);
  return status;
}

/* The electrodes; there are two. */
static weir_status find_electrodes(weir_netcdf *nc, const char *path, char name[2][NAME])
{
  int n;

  WEIR_TRY(weir_netcdf_count_groups(nc, &n));
  if (n != 2) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s has %d groups, each of an electrode: files of two electrodes are compared",
                     path, n);
  }
  WEIR_TRY(weir_netcdf_group_name(nc, 0, name[0], NAME));
  return weir_netcdf_group_name(nc, 1, name[1], NAME);
}

static weir_status has_variable(weir_netcdf *nc, const char *name, bool *out)
{
  char at[3 * NAME];
  int n = 0;

  *out = false;
  WEIR_TRY(weir_netcdf_count(nc, &n));
  for (int i = 0; i < n && !*out; i++) {
    WEIR_TRY(weir_netcdf_name(nc, i, at, sizeof at));
    *out = strcmp(at, name) == 0;
  }
  return WEIR_OK;
}

/* T(k, E) from one electrode to the other, from whichever has it; all of the other order are the
 * same. */
static weir_status read_transmission(weir_netcdf *nc, const char *path, int64_t lengths[2],
                                     double **out)
{
  char name[2][NAME], variable[NAME + 2];
  weir_status status = WEIR_OK;

  WEIR_TRY(find_electrodes(nc, path, name));
  for (int from = 0; from < 2 && *out == NULL && status == WEIR_OK; from++) {
    weir_netcdf *group = NULL;
    bool has = false;

    (void)snprintf(variable, sizeof variable, "%s.T", name[1 - from]);
    WEIR_TRY(weir_netcdf_open_group(nc, name[from], &group));
    status = has_variable(group, variable, &has);
    if (status == WEIR_OK && has) {
      status = read_real(group, path, variable, 2, lengths, out);
    }
    weir_netcdf_close(&group);
  }
  if (status == WEIR_OK && *out == NULL) {
    status = weir_fail(WEIR_ERR_DATA,
                       "%s: no transmission between electrodes '%s' and '%s': group '%s' has no "
                       "variable '%s.T', nor the other way round",
                       path, name[0], name[1], name[0], name[1]);
  }
  return status;
}

typedef struct pair {
  double energy, transmission;
} pair;

static int ascending(const void *a, const void *b)
{
  const pair *x = a, *y = b;

  return (x->energy > y->energy) - (x->energy < y->energy);
}

/* TBtrans lists energies in the order of its contour. */
static weir_status sort(qt_curve *c)
{
  pair *all = NULL;

  WEIR_TRY(weir_alloc(c->n, sizeof *all, (void **)&all));
  for (int64_t i = 0; i < c->n; i++) {
    all[i] = (pair){c->energy[i], c->transmission[i]};
  }
  qsort(all, (size_t)c->n, sizeof *all, ascending);
  for (int64_t i = 0; i < c->n; i++) {
    c->energy[i] = all[i].energy;
    c->transmission[i] = all[i].transmission;
  }
  weir_free(&all);
  return WEIR_OK;
}

/* out->transmission = sum over k of weight[k] t[k, ..] */
static weir_status average(const char *path, int64_t n_k, const double *weight, const double *t,
                           qt_curve *out)
{
  double sum = 0;

  WEIR_TRY(weir_alloc(out->n, sizeof *out->transmission, (void **)&out->transmission));
  for (int64_t k = 0; k < n_k; k++) {
    sum += weight[k];
    for (int64_t i = 0; i < out->n; i++) {
      out->transmission[i] += weight[k] * t[k * out->n + i];
    }
  }
  return fabs(sum - 1) < 1e-4
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: the weights 'wkpt' of its wave vectors sum to %g, not 1", path, sum);
}

weir_status curve_read_tbt(weir_netcdf *nc, const char *path, qt_curve *out)
{
  double *weight = NULL, *t = NULL, unit = 1;
  int64_t n_k = 0, lengths[2] = {0, 0};
  weir_status status = WEIR_OK;

  WEIR_TRY(find_unit(nc, path, &unit));
  WEIR_TRY_GOTO(read_real(nc, path, "E", 1, &out->n, &out->energy), done);
  WEIR_TRY_GOTO(read_real(nc, path, "wkpt", 1, &n_k, &weight), done);
  WEIR_TRY_GOTO(read_transmission(nc, path, lengths, &t), done);
  if (lengths[0] != n_k || lengths[1] != out->n) {
    status = weir_fail(WEIR_ERR_DATA,
                       "%s: its transmission is %lld x %lld, for %lld wave vectors and %lld "
                       "energies",
                       path, (long long)lengths[0], (long long)lengths[1], (long long)n_k,
                       (long long)out->n);
    goto done;
  }
  WEIR_TRY_GOTO(average(path, n_k, weight, t, out), done);
  for (int64_t i = 0; i < out->n; i++) {
    out->energy[i] *= unit;
  }
  status = sort(out);
done:
  weir_free(&weight);
  weir_free(&t);
  return status;
}
