/* keys_eccodes.c - what a message is, from the keys of the library. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "io/grib/eccodes_priv.h"

enum { SECONDS = 13, SHIFTED_ROWS = 0x0f, ALL_FLAGS = 0xf0, FLAGS_ONE = 0xe0, MAX_ROWS = 1 << 13 };
/* What is believed: a grid of 1 km has 40000 columns. */
enum { MAX_LINE = 1 << 20, MAX_POINTS = 1 << 30, MAX_REDUCED = 1 << 25 };

typedef struct message {
  codes_handle *h;
  weir_grib_kind *kind;
} message;

/* The first refusal stays. */
static bool refuse(const message *m, const char *key, const char *value, const char *reason)
{
  if (!m->kind->refused[0]) {
    snprintf(m->kind->refused, sizeof m->kind->refused, "%s%s%s: %s", key, value[0] ? "=" : "",
             value, reason);
  }
  return false;
}

/* An integer; false where there is none, or the key says that it is missing. */
static bool has(const message *m, const char *key, int64_t *out)
{
  long value = 0;
  int code = 0;

  if (codes_get_long(m->h, key, &value) != CODES_SUCCESS || value == CODES_MISSING_LONG ||
      codes_is_missing(m->h, key, &code)) {
    return false;
  }
  *out = value;
  return true;
}

static bool need(const message *m, const char *key, int64_t *out)
{
  long value = 0;
  const int code = codes_get_long(m->h, key, &value);
  char reason[256];

  if (code != CODES_SUCCESS) {
    return refuse(m, key, "", weir_grib_reason(code, reason));
  }
  *out = value;
  return value != CODES_MISSING_LONG || refuse(m, key, "", "is missing");
}

static bool need_real(const message *m, const char *key, double *out)
{
  const int code = codes_get_double(m->h, key, out);
  char reason[256];

  if (code != CODES_SUCCESS) {
    return refuse(m, key, "", weir_grib_reason(code, reason));
  }
  return isfinite(*out) ? true : refuse(m, key, "", "is not a finite number");
}

/* "" where there is none that fits, or the library does not know. */
static void text_of(const message *m, const char *key, char *text, size_t size)
{
  char found[256] = "";
  size_t length = sizeof found;

  memset(text, 0, size);
  if (codes_get_string(m->h, key, found, &length) == CODES_SUCCESS && strlen(found) < size &&
      strcmp(found, "unknown") != 0 && strcmp(found, "~") != 0) {
    memcpy(text, found, strlen(found));
  }
}

static void take_parameter(const message *m)
{
  weir_grib_kind *const k = m->kind;
  char numbers[64];
  int64_t n[3] = {-1, -1, -1};

  (void)has(m, "paramId", &k->param);
  text_of(m, "shortName", k->short_name, sizeof k->short_name);
  text_of(m, "units", k->units, sizeof k->units);
  text_of(m, "cfName", k->standard_name, sizeof k->standard_name);
  if (k->param == 0 && has(m, "parameterNumber", &n[2])) {
    (void)has(m, "discipline", &n[0]);
    (void)has(m, "parameterCategory", &n[1]);
    snprintf(numbers, sizeof numbers, "discipline %lld, category %lld, number %lld",
             (long long)n[0], (long long)n[1], (long long)n[2]);
    (void)refuse(m, "paramId", "0", numbers);
  } else if (k->param == 0) {
    (void)has(m, "table2Version", &n[0]);
    (void)has(m, "indicatorOfParameter", &n[1]);
    snprintf(numbers, sizeof numbers, "the library does not know parameter %lld of table %lld",
             (long long)n[1], (long long)n[0]);
    (void)refuse(m, "paramId", "0", numbers);
  }
}

static void take_level(const message *m)
{
  weir_grib_kind *const k = m->kind;
  double level = 0;

  text_of(m, "typeOfLevel", k->level_type, sizeof k->level_type);
  if (codes_get_double(m->h, "level", &level) != CODES_SUCCESS || !isfinite(level) ||
      level == CODES_MISSING_LONG) {
    level = 0;
  }
  k->level = strcmp(k->level_type, "isobaricInPa") == 0 ? level / 100 : level;
}

/* The library makes 720 h of a month: valid times would be days away. Table 4.4: 3 is a month, 4 to
 * 7 are years, tens, normals and centuries of them. */
static void refuse_months(const message *m, const weir_grib_field *f)
{
  static const char *const keys[] = {"indicatorOfUnitOfTimeRange", "indicatorOfUnitForTimeRange"};
  const int64_t steps[] = {f->step_seconds[1], f->step_seconds[1] - f->step_seconds[0]};
  int64_t unit = 0;
  char text[32];

  for (int i = 0; i < 2; i++) {
    if (steps[i] != 0 && has(m, keys[i], &unit) && unit >= 3 && unit <= 7) {
      snprintf(text, sizeof text, "%lld", (long long)unit);
      (void)refuse(m, keys[i], text,
                   "months and years vary in length: give the step in hours or days");
    }
  }
}

/* Start of the forecast and what it covers. A reforecast names its own start, hdate. */
static void take_time(const message *m, weir_grib_field *f, bool *reforecast)
{
  int64_t date = 0, hhmm = 0, second = 0;
  char text[64], reason[256];

  *reforecast = has(m, "hdate", &date);
  if (!*reforecast && !need(m, "dataDate", &date)) {
    return;
  }
  (void)has(m, "second", &second);
  if (!need(m, "dataTime", &hhmm)) {
    return;
  }
  if (!weir_grib_time(date, hhmm, second, &f->start)) {
    snprintf(text, sizeof text, "%lld %04lld", (long long)date, (long long)hhmm);
    (void)refuse(m, "dataDate", text, "is not an existing date and time");
    return;
  }
  const int code = codes_set_long(m->h, "stepUnits", SECONDS);

  if (code != CODES_SUCCESS) {
    (void)refuse(m, "stepUnits", "s", weir_grib_reason(code, reason));
  } else if (need(m, "startStep", &f->step_seconds[0])) {
    (void)need(m, "endStep", &f->step_seconds[1]);
    refuse_months(m, f);
  }
}

static void take_member(const message *m, weir_grib_field *f)
{
  f->number = -1;
  (void)has(m, "number", &f->number);
  (void)has(m, "numberOfForecastsInEnsemble", &f->n_members);
}

static void take_product(const message *m)
{
  weir_grib_kind *const k = m->kind;

  k->derived = -1;
  (void)has(m, "derivedForecast", &k->derived);
  text_of(m, "dataType", k->type, sizeof k->type);
  text_of(m, "stream", k->stream, sizeof k->stream);
  text_of(m, "stepType", k->step_type, sizeof k->step_type);
}

static void take_packing(const message *m, weir_grib_field *f)
{
  weir_grib_kind *const k = m->kind;
  int64_t binary = 0, decimal = 0;

  text_of(m, "packingType", k->packing, sizeof k->packing);
  (void)has(m, "bitsPerValue", &k->bits);
  if (has(m, "binaryScaleFactor", &binary) && has(m, "decimalScaleFactor", &decimal)) {
    f->packing_error = weir_grib_packing_error(k->bits, binary, decimal);
  }
}

/* What messages with the same octets share. */
static void take_names(const message *m, const weir_grib_kind *known)
{
  if (known) {
    const weir_grib_kind own = *m->kind;

    *m->kind = *known;
    memcpy(m->kind->packing, own.packing, sizeof own.packing);
    memcpy(m->kind->refused, own.refused, sizeof own.refused);
    m->kind->bits = own.bits;
    return;
  }
  take_parameter(m);
  take_level(m);
  take_product(m);
}

static bool take_corners(const message *m, struct weir_grib_shape *s)
{
  if (!need_real(m, "latitudeOfFirstGridPointInDegrees", &s->first[0]) ||
      !need_real(m, "longitudeOfFirstGridPointInDegrees", &s->first[1]) ||
      !need_real(m, "latitudeOfLastGridPointInDegrees", &s->last[0]) ||
      !need_real(m, "longitudeOfLastGridPointInDegrees", &s->last[1])) {
    return false;
  }
  int64_t given = 0;

  if (has(m, "iDirectionIncrement", &given)) {
    (void)codes_get_double(m->h, "iDirectionIncrementInDegrees", &s->step[1]);
  }
  if (has(m, "jDirectionIncrement", &given)) {
    (void)codes_get_double(m->h, "jDirectionIncrementInDegrees", &s->step[0]);
  }
  return true;
}

static const char *why_not(const char *type)
{
  if (strstr(type, "sh")) {
    return "spectral coefficients are not grid values: transform them to a regular grid first";
  }
  return type[0] ? "only regular, reduced and rotated latitude-longitude and Gaussian grids are "
                   "supported: interpolate it first"
                 : "the library does not know this grid";
}

/* The pole of a rotated grid. */
static bool take_pole(const message *m, struct weir_grib_shape *s)
{
  double angle = 0;
  char text[32];

  if (!need_real(m, "latitudeOfSouthernPoleInDegrees", &s->south_pole[0]) ||
      !need_real(m, "longitudeOfSouthernPoleInDegrees", &s->south_pole[1]) ||
      !need_real(m, "angleOfRotationInDegrees", &angle)) {
    return false;
  }
  snprintf(text, sizeof text, "%g", angle != 0 ? angle : s->south_pole[0]);
  if (angle != 0) {
    return refuse(m, "angleOfRotation", text,
                  "a turn about the pole of a rotated grid is not supported: interpolate it first");
  }
  if (fabs(s->south_pole[0]) > 90 || fabs(s->south_pole[1]) > 720) {
    return refuse(m, "latitudeOfSouthernPole", text, "there is no such pole");
  }
  s->rotated = 1;
  return true;
}

/* Rows of different lengths: the library says where their points are. It does not heed the scanning
 * mode there. */
static bool take_reduced(const message *m, struct weir_grib_shape *s)
{
  size_t length = sizeof s->id;
  char text[32];

  if (!need(m, "numberOfDataPoints", &s->points) || !need(m, "scanningMode", &s->scanning) ||
      (strcmp(s->type, "reduced_gg") == 0 && !need(m, "N", &s->gaussian))) {
    return false;
  }
  snprintf(text, sizeof text, "%lld", (long long)s->points);
  if (s->points < 1 || s->points > MAX_REDUCED) {
    return refuse(m, "numberOfDataPoints", text, "no supported reduced grid has so many");
  }
  snprintf(text, sizeof text, "%lld", (long long)s->gaussian);
  if (s->gaussian < 0 || s->gaussian > MAX_ROWS) {
    return refuse(m, "N", text, "there are no such Gaussian grids");
  }
  snprintf(text, sizeof text, "%lld", (long long)s->scanning);
  if (s->scanning != 0) {
    return refuse(m, "scanningMode", text,
                  "the rows of a reduced grid have to go from north to south and west to east");
  }
  if (codes_get_string(m->h, "md5GridSection", s->id, &length) != CODES_SUCCESS) {
    return refuse(m, "md5GridSection", "", "the library does not give it");
  }
  s->n_lat = s->reduced = 1;
  s->n_lon = s->points;
  return true;
}

static bool is_one_of(const char *text, const char *const *list)
{
  while (*list != NULL && strcmp(text, *list) != 0) {
    list++;
  }
  return *list != NULL;
}

static bool take_shape(const message *m, int32_t edition, struct weir_grib_shape *s)
{
  static const char *const regular[] = {"regular_ll", "regular_gg", "rotated_ll", "rotated_gg",
                                        NULL};
  static const char *const reduced[] = {"reduced_ll", "reduced_gg", NULL};
  char text[64];

  text_of(m, "gridType", s->type, sizeof s->type);
  if (is_one_of(s->type, reduced)) {
    return take_reduced(m, s);
  }
  if (!is_one_of(s->type, regular)) {
    return refuse(m, "gridType", s->type[0] ? s->type : "unknown", why_not(s->type));
  }
  if (!need(m, "Ni", &s->n_lon) || !need(m, "Nj", &s->n_lat) ||
      !need(m, "numberOfDataPoints", &s->points) || !need(m, "scanningMode", &s->scanning) ||
      (s->type[8] == 'g' && !need(m, "N", &s->gaussian)) || !take_corners(m, s) ||
      (strncmp(s->type, "rotated", 7) == 0 && !take_pole(m, s))) {
    return false;
  }
  if (s->n_lon < 1 || s->n_lat < 1 || s->n_lon > MAX_LINE || s->n_lat > MAX_LINE ||
      s->points > MAX_POINTS) {
    snprintf(text, sizeof text, "%lld, Nj=%lld", (long long)s->n_lon, (long long)s->n_lat);
    return refuse(m, "Ni", text, "no supported grid has so many points, or there are none");
  }
  if (s->n_lon * s->n_lat != s->points) {
    snprintf(text, sizeof text, "%lld", (long long)s->points);
    return refuse(m, "numberOfDataPoints", text, "is not Ni * Nj");
  }
  if (s->gaussian < 0 || s->gaussian > MAX_ROWS) {
    snprintf(text, sizeof text, "%lld", (long long)s->gaussian);
    return refuse(m, "N", text, "there are no such Gaussian grids");
  }
  if (edition == 2 && (s->scanning & SHIFTED_ROWS)) {
    snprintf(text, sizeof text, "%lld", (long long)s->scanning);
    return refuse(m, "scanningMode", text,
                  "rows that are shifted against each other are not supported");
  }
  s->scanning &= edition == 2 ? ALL_FLAGS : FLAGS_ONE;
  return true;
}

/* Components of vectors along the rows and columns of a rotated grid, by what the library calls
 * them: eastward and northward is what their names promise. */
static void refuse_components(const message *m)
{
  static const char *const words[] = {
      "component", "eastward", "northward", "zonal",  "meridional", "U-",         "V-",
      "U wind",    "V wind",   "x_wind",    "y_wind", "east-west",  "north-south"};
  static const char *const names[] = {"u", "v", "10u", "10v", "100u", "100v", "200u", "200v", NULL};
  int64_t along = 0;
  char name[256];
  bool is = is_one_of(m->kind->short_name, names);

  text_of(m, "name", name, sizeof name);
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    is = is || strcasestr(name, words[i]) || strcasestr(m->kind->standard_name, words[i]);
  }
  if (is && (!has(m, "uvRelativeToGrid", &along) || along != 0)) {
    (void)refuse(m, "uvRelativeToGrid", "1",
                 "components along the rows and columns of a rotated grid: turn them to eastward "
                 "and northward first");
  }
}

weir_status weir_grib_keys_take(void *keys)
{
  weir_grib_keys *const k = keys;
  codes_handle *const h = codes_handle_new_from_message(NULL, k->bytes, (size_t)k->size);
  const message m = {h, &k->kind};
  int64_t edition = 0;

  memset(&k->kind, 0, sizeof k->kind);
  memset(&k->field, 0, sizeof k->field);
  memset(&k->shape, 0, sizeof k->shape);
  if (!h) {
    (void)refuse(&m, "identifier", "GRIB", "the library cannot decode it");
    return WEIR_OK;
  }
  (void)has(&m, "edition", &edition);
  k->field.edition = (int32_t)edition;
  take_packing(&m, &k->field);
  if (take_shape(&m, k->field.edition, &k->shape)) {
    k->field.scanning = (int32_t)k->shape.scanning;
  }
  take_names(&m, k->known);
  if (k->shape.rotated) {
    refuse_components(&m);
  }
  take_time(&m, &k->field, &k->reforecast);
  take_member(&m, &k->field);
  codes_handle_delete(h);
  return WEIR_OK;
}
