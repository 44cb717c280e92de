/* curve.c - see curve.h. */
#include "eval/curve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "conf/weir_number.h"
#include "eval/curve_priv.h"

#define MAX_BYTES ((int64_t)1 << 32)

void qt_curve_fini(qt_curve *c)
{
  weir_free(&c->energy);
  weir_free(&c->transmission);
  *c = (qt_curve){.n = 0};
}

static weir_status read_variable(weir_netcdf *nc, const char *path, const char *name, int64_t *n,
                                 double **out)
{
  weir_netcdf_shape shape;
  const int64_t start = 0;
  int var;

  WEIR_TRY(weir_netcdf_find(nc, name, &var, &shape));
  if (shape.n_dims != 1 || shape.text || shape.dtype != WEIR_F64 ||
      (*n > 0 && shape.lengths[0] != *n)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: '%s' is no list of as many doubles as there are energies: give "
                     "transport.nc of a run, .TBT.nc, or two columns of text",
                     path, name);
  }
  *n = shape.lengths[0];
  WEIR_TRY(weir_alloc(*n, sizeof **out, (void **)out));
  return weir_netcdf_read(nc, var, &start, n, *out);
}

static weir_status read_netcdf(const char *path, qt_curve *out)
{
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;
  int n_groups;

  WEIR_TRY(weir_netcdf_open(path, &nc));
  WEIR_TRY_GOTO(weir_netcdf_count_groups(nc, &n_groups), done);
  if (n_groups > 0) {
    status = curve_read_tbt(nc, path, out);
    goto done;
  }
  WEIR_TRY_GOTO(read_variable(nc, path, "energy", &out->n, &out->energy), done);
  WEIR_TRY_GOTO(read_variable(nc, path, "mean_transmission", &out->n, &out->transmission), done);
done:
  weir_netcdf_close(&nc);
  return status;
}

typedef struct capacity {
  int64_t energy, transmission;
} capacity;

static weir_status add(qt_curve *c, capacity *allocated, const double value[2])
{
  WEIR_TRY(weir_reserve(&c->energy, &allocated->energy, c->n + 1, sizeof *c->energy));
  WEIR_TRY(
      weir_reserve(&c->transmission, &allocated->transmission, c->n + 1, sizeof *c->transmission));
  c->energy[c->n] = value[0];
  c->transmission[c->n++] = value[1];
  return WEIR_OK;
}

/* The first two numbers of a line; which of them is none, or 2. */
static int parse(char *line, double value[2], const char **wrong)
{
  char *rest = NULL;
  int k = 0;

  *wrong = "the end of the line";
  for (char *word = strtok_r(line, " \t\r,", &rest); word != NULL && k < 2;
       word = strtok_r(NULL, " \t\r,", &rest)) {
    if (weir_number_real(word, &value[k]) != WEIR_NUMBER_OK) {
      *wrong = word;
      return k;
    }
    k++;
  }
  return k;
}

static weir_status read_text(const char *path, char *text, qt_curve *out)
{
  capacity allocated = {0, 0};
  char *rest = text;
  int64_t number = 0;

  for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
    const char *wrong;
    double value[2];

    number++;
    line += strspn(line, " \t\r");
    if (line[0] == '#' || line[0] == 0) {
      continue;
    }
    const int k = parse(line, value, &wrong);

    if (k == 0 && number == 1) { /* names of columns */
      continue;
    }
    if (k < 2) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s:%lld: an energy (eV) and a transmission are expected, not '%s'", path,
                       (long long)number, wrong);
    }
    WEIR_TRY(add(out, &allocated, value));
  }
  return WEIR_OK;
}

static weir_status check(const char *path, const qt_curve *c)
{
  if (c->n == 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s holds no transmission: give transport.nc of a run, or two columns of "
                     "text, energy (eV) and transmission",
                     path);
  }
  for (int64_t i = 0; i < c->n; i++) {
    if (!isfinite(c->energy[i]) || !isfinite(c->transmission[i]) ||
        (i > 0 && c->energy[i] <= c->energy[i - 1])) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: value %lld, %g at %g eV, is not finite, or its energy is not above the "
                       "one before",
                       path, (long long)i + 1, c->transmission[i], c->energy[i]);
    }
  }
  return WEIR_OK;
}

/* By its first bytes: a file of spectra may be larger than memory. False of one that is not there.
 */
static bool is_netcdf(const char *path)
{
  char begin[4] = "";
  FILE *file = fopen(path, "rb");

  if (file == NULL) {
    return false;
  }
  const bool whole = fread(begin, 1, sizeof begin, file) == sizeof begin;

  (void)fclose(file);
  return whole && (memcmp(begin, "\x89HDF", 4) == 0 || memcmp(begin, "CDF", 3) == 0);
}

static weir_status read_file(const char *path, qt_curve *out)
{
  char *text = NULL;
  int64_t size = 0;

  if (is_netcdf(path)) {
    return read_netcdf(path, out);
  }
  WEIR_TRY(weir_file_read(path, MAX_BYTES, &text, &size));
  const weir_status status = (int64_t)strlen(text) == size
                                 ? read_text(path, text, out)
                                 : weir_fail(WEIR_ERR_DATA, "%s is neither text nor NetCDF", path);

  weir_free(&text);
  return status;
}

weir_status qt_curve_read(const char *path, qt_curve *out)
{
  weir_status status = WEIR_OK;

  *out = (qt_curve){.n = 0};
  WEIR_TRY_GOTO(read_file(path, out), done);
  WEIR_TRY_GOTO(check(path, out), done);
done:
  if (status != WEIR_OK) {
    qt_curve_fini(out);
  }
  return status;
}

double qt_curve_at(const qt_curve *c, double energy)
{
  int64_t lo = 0, hi = c->n - 1;

  while (hi - lo > 1) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (c->energy[middle] <= energy) {
      lo = middle;
    } else {
      hi = middle;
    }
  }
  if (hi == lo || energy <= c->energy[lo]) {
    return c->transmission[lo];
  }
  const double share = (energy - c->energy[lo]) / (c->energy[hi] - c->energy[lo]);

  return share >= 1 ? c->transmission[hi]
                    : c->transmission[lo] + share * (c->transmission[hi] - c->transmission[lo]);
}
