/* write_eccodes.c - members, means and spreads as messages of edition 2. Code tables: WMO Manual on
 * Codes I.2, FM 92 GRIB edition 2: 1.4, 4.0, 4.6, 4.7, 4.10. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/grib/eccodes_priv.h"

enum {
  CONTROL = 3, /* table 1.4 */
  PERTURBED = 4,
  BOTH = 5,
  MEAN = 0, /* table 4.7 */
  SPREAD = 4,
  UNPERTURBED_KIND = 1, /* table 4.6: control of the resolution of the members */
  PERTURBED_KIND = 3,
  NO_CENTRE = 255,
  MAX_NUMBER = 254,
  HOUR = 3600,
  UNIT_MINUTE = 0,
  UNIT_HOUR = 1,
  UNIT_SECOND = 13,
};

struct weir_grib_writer {
  weir_writer *file;
  char *path;
  int64_t message; /* being written: 1, 2, ... */
  double *values;
  int64_t capacity;
  uint8_t *source, *copy, *out; /* the message that is like it; its field alone; the new one */
  int64_t source_capacity, copy_capacity, out_capacity, size;
};

/* A message being made. */
typedef struct making {
  weir_grib_writer *w;
  const weir_grib_out *what;
  weir_grib_span like; /* bytes NULL: none */
  const weir_grib_grid *grid;
  int64_t points;
  bool missing, new_grid;
  codes_handle *h;
} making;

static weir_status failed(const making *m, const char *key, int code)
{
  char reason[256];

  return weir_fail(WEIR_ERR_EXTERNAL, "%s: message %lld: %s: %s", m->w->path,
                   (long long)m->w->message, key, weir_grib_reason(code, reason));
}

static weir_status set(const making *m, const char *key, int64_t value)
{
  const int code = codes_set_long(m->h, key, (long)value);

  return code == CODES_SUCCESS ? WEIR_OK : failed(m, key, code);
}

static weir_status set_real(const making *m, const char *key, double value)
{
  const int code = codes_set_double(m->h, key, value);

  return code == CODES_SUCCESS ? WEIR_OK : failed(m, key, code);
}

static weir_status set_text(const making *m, const char *key, const char *text)
{
  size_t length = strlen(text);
  const int code = codes_set_string(m->h, key, text, &length);

  return code == CODES_SUCCESS ? WEIR_OK : failed(m, key, code);
}

static int64_t param_of(const making *m)
{
  long param = 0;

  return codes_get_long(m->h, "paramId", &param) == CODES_SUCCESS ? param : 0;
}

/* The type of a MARS label, where the message has one: "pf" of the source is no mean. */
static weir_status set_type(const making *m)
{
  const weir_grib_product product = m->what->product;
  const char *const type = product == WEIR_GRIB_MEAN     ? "em"
                           : product == WEIR_GRIB_SPREAD ? "es"
                           : m->what->number == 0        ? "cf"
                                                         : "pf";

  return codes_is_defined(m->h, "type") ? set_text(m, "type", type) : WEIR_OK;
}

/* How the values of an interval came about (table 4.10): edition 1 has other codes, which the
 * library does not always convert. `step`: stepType of the source. */
static weir_status set_process(const making *m, const char *step)
{
  static const struct {
    const char *step;
    int code;
  } known[] = {{"avg", 0},  {"accum", 1}, {"max", 2}, {"min", 3},
               {"diff", 4}, {"rms", 5},   {"sd", 6}};

  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (strcmp(step, known[i].step) == 0) {
      return set(m, "typeOfStatisticalProcessing", known[i].code);
    }
  }
  return WEIR_OK;
}

static weir_status set_product(const making *m, const char *step)
{
  const weir_grib_out *const o = m->what;
  const bool interval = o->step_seconds[1] > o->step_seconds[0];
  const bool member = o->product == WEIR_GRIB_MEMBER;

  WEIR_TRY(set_type(m));
  WEIR_TRY(set(m, "productDefinitionTemplateNumber", (member ? 1 : 2) + (interval ? 10 : 0)));
  if (member) {
    WEIR_TRY(set(m, "typeOfProcessedData", o->number == 0 ? CONTROL : PERTURBED));
    WEIR_TRY(set(m, "typeOfEnsembleForecast", o->number == 0 ? UNPERTURBED_KIND : PERTURBED_KIND));
    WEIR_TRY(set(m, "perturbationNumber", o->number));
  } else {
    WEIR_TRY(set(m, "typeOfProcessedData", BOTH));
    WEIR_TRY(set(m, "derivedForecast", o->product == WEIR_GRIB_MEAN ? MEAN : SPREAD));
  }
  WEIR_TRY(set(m, "numberOfForecastsInEnsemble", o->n_members));
  if (o->process > 0) {
    WEIR_TRY(set(m, "typeOfGeneratingProcess", o->process));
  }
  return interval ? set_process(m, step) : WEIR_OK;
}

static weir_status set_time(const making *m)
{
  const int64_t *const step = m->what->step_seconds;
  int64_t date = 0, hhmm = 0, second = 0, unit = UNIT_HOUR, length = HOUR;

  if (step[0] % HOUR != 0 || step[1] % HOUR != 0) {
    const bool minutes = step[0] % 60 == 0 && step[1] % 60 == 0;

    unit = minutes ? UNIT_MINUTE : UNIT_SECOND;
    length = minutes ? 60 : 1;
  }
  weir_grib_date(m->what->start, &date, &hhmm, &second);
  WEIR_TRY(set(m, "dataDate", date));
  WEIR_TRY(set(m, "dataTime", hhmm));
  WEIR_TRY(set(m, "second", second));
  WEIR_TRY(set(m, "indicatorOfUnitOfTimeRange", unit));
  WEIR_TRY(set(m, "stepUnits", unit));
  WEIR_TRY(set(m, "startStep", step[0] / length));
  return set(m, "endStep", step[1] / length);
}

/* Levels that are a single surface have no value. */
static weir_status set_level(const making *m, const char *type, double level)
{
  static const char *const numbers[] = {"scaleFactorOfFirstFixedSurface",
                                        "scaledValueOfFirstFixedSurface"};
  char back[64] = "";
  size_t length = sizeof back;

  WEIR_TRY(set_text(m, "typeOfLevel", type));
  if (strcmp(type, "surface") != 0 && strcmp(type, "meanSea") != 0) {
    WEIR_TRY(level == floor(level) ? set(m, "level", (int64_t)level) : set_real(m, "level", level));
  } else {
    for (int i = 0; i < 2; i++) {
      const int code = codes_set_missing(m->h, numbers[i]);

      if (code != CODES_SUCCESS) {
        return failed(m, numbers[i], code);
      }
    }
  }
  const int code = codes_get_string(m->h, "typeOfLevel", back, &length);

  if (code != CODES_SUCCESS || strcmp(back, type) != 0) { /* the library takes any text */
    return weir_fail(WEIR_ERR_EXTERNAL, "%s: message %lld: typeOfLevel: %s became %s", m->w->path,
                     (long long)m->w->message, type, back);
  }
  return WEIR_OK;
}

/* Parameter and level, where they do not come from a message. The parameter last: some are one at
 * their level only. */
static weir_status set_parameter(const making *m)
{
  const weir_grib_out *const o = m->what;
  const bool pascals = strcmp(o->level_type, "isobaricInhPa") == 0 && o->level != floor(o->level);

  WEIR_TRY(set(m, "centre", NO_CENTRE));
  WEIR_TRY(
      set_level(m, pascals ? "isobaricInPa" : o->level_type, pascals ? o->level * 100 : o->level));
  return set(m, "paramId", o->param);
}

static weir_status set_grid(const making *m)
{
  const weir_grib_grid *const g = m->grid;
  const int64_t rows = g->n_lat, columns = g->n_lon;

  WEIR_TRY(set_text(m, "gridType", g->gaussian > 0 ? "regular_gg" : "regular_ll"));
  WEIR_TRY(set(m, "Ni", columns));
  WEIR_TRY(set(m, "Nj", rows));
  WEIR_TRY(set(m, "iScansNegatively", 0));
  WEIR_TRY(set(m, "jScansPositively", 0));
  WEIR_TRY(set(m, "jPointsAreConsecutive", 0));
  WEIR_TRY(set(m, "alternativeRowScanning", 0));
  WEIR_TRY(set_real(m, "latitudeOfFirstGridPointInDegrees", g->lat[0]));
  WEIR_TRY(set_real(m, "longitudeOfFirstGridPointInDegrees", g->lon[0]));
  WEIR_TRY(set_real(m, "latitudeOfLastGridPointInDegrees", g->lat[rows - 1]));
  WEIR_TRY(set_real(m, "longitudeOfLastGridPointInDegrees", g->lon[columns - 1]));
  WEIR_TRY(set(m, "ijDirectionIncrementGiven", 1));
  if (columns > 1) {
    WEIR_TRY(set_real(m, "iDirectionIncrementInDegrees",
                      (g->lon[columns - 1] - g->lon[0]) / (double)(columns - 1)));
  }
  if (g->gaussian > 0) {
    return set(m, "N", g->gaussian);
  }
  return rows > 1 ? set_real(m, "jDirectionIncrementInDegrees",
                             (g->lat[0] - g->lat[rows - 1]) / (double)(rows - 1))
                  : WEIR_OK;
}

static weir_status set_values(const making *m)
{
  const weir_grib_out *const o = m->what;

  WEIR_TRY(set_text(m, "packingType", o->packing ? o->packing : "grid_simple"));
  WEIR_TRY(set_real(m, "missingValue", WEIR_GRIB_MISSING));
  WEIR_TRY(set(m, "bitmapPresent", m->missing));
  WEIR_TRY(set(m, "decimalScaleFactor", 0));
  WEIR_TRY(set(m, "bitsPerValue", o->bits));
  const int code = codes_set_double_array(m->h, "values", m->w->values, (size_t)m->points);

  return code == CODES_SUCCESS ? WEIR_OK : failed(m, "values", code);
}

/* All keys, in an order that the library keeps: the template before what is in it. */
static weir_status set_all(const making *m)
{
  char step[32] = "";
  size_t length = sizeof step;
  int64_t param = m->what->param;

  if (m->like.bytes) {
    (void)codes_get_string(m->h, "stepType", step, &length);
    param = param_of(m);
    WEIR_TRY(set(m, "edition", 2));
  }
  if (m->what->step_type != NULL && strcmp(m->what->step_type, "instant") != 0) {
    snprintf(step, sizeof step, "%s", m->what->step_type);
  }
  WEIR_TRY(set_product(m, step));
  if (!m->like.bytes) {
    WEIR_TRY(set_parameter(m));
  }
  WEIR_TRY(set_time(m));
  if (m->new_grid) {
    WEIR_TRY(set_grid(m));
  }
  WEIR_TRY(set_values(m));
  if (param_of(m) != param) {
    return weir_fail(WEIR_ERR_EXTERNAL,
                     "%s: message %lld: paramId: %lld became %lld: edition 2 has no such parameter "
                     "for this kind of product",
                     m->w->path, (long long)m->w->message, (long long)param,
                     (long long)param_of(m));
  }
  return WEIR_OK;
}

static weir_status take_bytes(const making *m)
{
  const void *bytes = NULL;
  size_t size = 0;
  const int code = codes_get_message(m->h, &bytes, &size);

  if (code != CODES_SUCCESS) {
    return failed(m, "message", code);
  }
  WEIR_TRY(weir_reserve(&m->w->out, &m->w->out_capacity, (int64_t)size, 1));
  memcpy(m->w->out, bytes, size);
  m->w->size = (int64_t)size;
  return WEIR_OK;
}

static weir_status make_message(void *context)
{
  making *const m = context;

  if (m->like.bytes) {
    m->h = codes_handle_new_from_message_copy(NULL, m->like.bytes, (size_t)m->like.size);
  } else {
    m->h = codes_grib_handle_new_from_samples(NULL, m->grid->gaussian > 0 ? "regular_gg_pl_grib2"
                                                                          : "regular_ll_pl_grib2");
  }
  if (!m->h) {
    return failed(m, m->like.bytes ? "the template message" : "the library's sample",
                  CODES_INTERNAL_ERROR);
  }
  weir_status status = set_all(m);

  if (status == WEIR_OK) {
    status = take_bytes(m);
  }
  codes_handle_delete(m->h);
  return status;
}

/* Widens the values; false for one that is infinite. */
static bool widen(making *m, const float *values)
{
  bool finite = true;

  m->missing = false;
  for (int64_t i = 0; i < m->points; i++) {
    const double v = (double)values[i];

    m->missing = m->missing || isnan(v);
    finite = finite && !isinf(v);
    m->w->values[i] = isnan(v) ? WEIR_GRIB_MISSING : v;
  }
  return finite;
}

/* Grid and bytes of the message that the new one is like. */
static weir_status take_like(making *m)
{
  const weir_grib_out *const o = m->what;

  m->grid = o->grid;
  m->new_grid = true;
  if (!o->like) {
    return WEIR_OK;
  }
  const weir_grib_field *const f = &o->like->fields[o->like_field];

  WEIR_TRY(weir_grib_message(o->like, o->like_field, &m->w->source, &m->w->source_capacity));
  WEIR_TRY(weir_grib_alone_in(o->like, o->like_field, m->w->source, &m->w->copy,
                              &m->w->copy_capacity, &m->like));
  if (!m->grid && f->grid >= 0) {
    m->grid = &o->like->grids[f->grid];
    m->new_grid = f->scanning != 0;
  }
  return WEIR_OK;
}

/* Whether points are as far from each other as their ends say; to a thousandth of that. */
static bool equidistant(const double *x, int64_t n)
{
  const double step = n > 1 ? (x[n - 1] - x[0]) / (double)(n - 1) : 0;

  for (int64_t i = 1; i < n; i++) {
    if (!(fabs(x[i] - x[0] - (double)i * step) <= 1e-3 * fabs(step))) {
      return false;
    }
  }
  return true;
}

static weir_status check(const making *m)
{
  const weir_grib_out *const o = m->what;
  const char *wrong = NULL;

  if (!m->grid || m->grid->n_lat < 1 || m->grid->n_lon < 1) {
    wrong = "the grid is missing";
  } else if (m->grid->reduced || m->grid->rotated) {
    wrong = "reduced and rotated grids are not written: give a regular one";
  } else if (m->new_grid &&
             (!equidistant(m->grid->lon, m->grid->n_lon) ||
              (m->grid->gaussian == 0 && !equidistant(m->grid->lat, m->grid->n_lat)))) {
    wrong =
        "its rows or columns are not equidistant: GRIB messages need a regular or Gaussian grid";
  } else if (o->bits < 1 || o->bits > 32) {
    wrong = "bits of a value: 1 to 32";
  } else if (o->product == WEIR_GRIB_MEMBER && (o->number < 0 || o->number > MAX_NUMBER)) {
    wrong = "number of a member: 0 to 254";
  } else if (o->n_members < 0 || o->n_members > MAX_NUMBER) {
    wrong = "at most 254 members";
  } else if (o->step_seconds[0] < 0 || o->step_seconds[1] < o->step_seconds[0]) {
    wrong = "its steps are not in order";
  } else if (!o->like && (o->param <= 0 || !o->level_type)) {
    wrong = "neither a template message nor parameter and type of level are given";
  }
  return wrong ? weir_fail(WEIR_ERR_SHAPE, "%s: message %lld: %s", m->w->path,
                           (long long)m->w->message, wrong)
               : WEIR_OK;
}

weir_status weir_grib_write(weir_grib_writer *w, const weir_grib_out *what, const float *values)
{
  making m = {.w = w, .what = what};

  w->message++;
  WEIR_TRY(take_like(&m));
  WEIR_TRY(check(&m));
  m.points = m.grid->n_lat * m.grid->n_lon;
  WEIR_TRY(weir_reserve(&w->values, &w->capacity, m.points, sizeof(double)));
  if (!widen(&m, values)) {
    return weir_fail(WEIR_ERR_NUMERIC, "%s: message %lld: a value is infinite", w->path,
                     (long long)w->message);
  }
  WEIR_TRY(weir_grib_alone(make_message, &m));
  return weir_writer_write(w->file, w->out, (size_t)w->size);
}

weir_status weir_grib_create(const char *path, weir_grib_writer **out)
{
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(weir_grib_writer), &memory));
  weir_grib_writer *w = memory;
  weir_status status = weir_strdup(path, &w->path);

  if (status == WEIR_OK) {
    status = weir_writer_open(path, &w->file);
  }
  if (status != WEIR_OK) {
    weir_grib_abandon(&w);
  }
  *out = w;
  return status;
}

weir_status weir_grib_finish(weir_grib_writer **w, weir_writer **file)
{
  weir_status status = WEIR_OK;

  *file = NULL;
  if ((*w)->message == 0) {
    status = weir_fail(WEIR_ERR_SHAPE, "%s: no message was written to it", (*w)->path);
  } else {
    *file = (*w)->file;
    (*w)->file = NULL;
  }
  weir_grib_abandon(w);
  return status;
}

weir_status weir_grib_commit(weir_grib_writer **w)
{
  weir_writer *file = NULL;

  WEIR_TRY(weir_grib_finish(w, &file));
  return weir_writer_commit(&file);
}

void weir_grib_abandon(weir_grib_writer **writer)
{
  weir_grib_writer *const w = writer ? *writer : NULL;

  if (!w) {
    return;
  }
  weir_writer_destroy(&w->file);
  weir_free(&w->path);
  weir_free(&w->values);
  weir_free(&w->source);
  weir_free(&w->copy);
  weir_free(&w->out);
  weir_free(writer);
}
