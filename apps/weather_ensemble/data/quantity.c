/* quantity.c - see quantity.h. Numbers: ECMWF parameter database, table 128 where they are below
 * 256; names: CF standard name table. */
#include "data/quantity.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A row; `alias`: how NetCDF files made of GRIB call it; height 0: on any level. */
typedef struct row {
  const char *variable, *alias, *standard_name, *units;
  int64_t param;
  double height;
} row;

static const row known[] = {
    {"z", "z", "geopotential", "m2 s-2", 129, 0},
    {"t", "t", "air_temperature", "K", 130, 0},
    {"u", "u", "eastward_wind", "m s-1", 131, 0},
    {"v", "v", "northward_wind", "m s-1", 132, 0},
    {"q", "q", "specific_humidity", "kg kg-1", 133, 0},
    {"ws", "ws", "wind_speed", "m s-1", 10, 0},
    {"w", "w", "lagrangian_tendency_of_air_pressure", "Pa s-1", 135, 0},
    {"vo", "vo", "atmosphere_relative_vorticity", "s-1", 138, 0},
    {"d", "d", "divergence_of_wind", "s-1", 155, 0},
    {"gh", "gh", "geopotential_height", "m", 156, 0},
    {"r", "r", "relative_humidity", "%", 157, 0},
    {"pv", "pv", "ertel_potential_vorticity", "K m2 kg-1 s-1", 60, 0},
    {"cc", "cc", "cloud_area_fraction_in_atmosphere_layer", "1", 248, 0},
    {"sst", "sst", "sea_surface_temperature", "K", 34, 0},
    {"sp", "sp", "surface_air_pressure", "Pa", 134, 0},
    {"tcw", "tcw", "", "kg m-2", 136, 0},
    {"tcwv", "tcwv", "atmosphere_mass_content_of_water_vapor", "kg m-2", 137, 0},
    {"cp", "cp", "", "m", 143, 0},
    {"msl", "msl", "air_pressure_at_mean_sea_level", "Pa", 151, 0},
    {"tcc", "tcc", "cloud_area_fraction", "1", 164, 0},
    {"lsm", "lsm", "land_binary_mask", "1", 172, 0},
    {"orog", "orog", "surface_altitude", "m", 228002, 0},
    {"tp", "tp", "", "m", 228, 0},
    {"tprate", "tprate", "precipitation_flux", "kg m-2 s-1", 260048, 0},
    {"sf", "sf", "", "m", 144, 0},
    {"lsp", "lsp", "", "m", 142, 0},
    {"e", "e", "", "m", 182, 0},
    {"ro", "ro", "", "m", 205, 0},
    {"ssrd", "ssrd", "", "J m-2", 169, 0},
    {"strd", "strd", "", "J m-2", 175, 0},
    {"ssr", "ssr", "", "J m-2", 176, 0},
    {"str", "str", "", "J m-2", 177, 0},
    {"tsr", "tsr", "", "J m-2", 178, 0},
    {"ttr", "ttr", "", "J m-2", 179, 0},
    {"sshf", "sshf", "", "J m-2", 146, 0},
    {"slhf", "slhf", "", "J m-2", 147, 0},
    {"skt", "skt", "surface_temperature", "K", 235, 0},
    {"2t", "t2m", "air_temperature", "K", 167, 2},
    {"2d", "d2m", "dew_point_temperature", "K", 168, 2},
    {"10u", "u10", "eastward_wind", "m s-1", 165, 10},
    {"10v", "v10", "northward_wind", "m s-1", 166, 10},
    {"10si", "si10", "wind_speed", "m s-1", 207, 10},
    {"10fg", "fg10", "wind_speed_of_gust", "m s-1", 49, 10},
    {"10fg3", "fg310", "", "m s-1", 228028, 10},
    {"10fg6", "fg610", "", "m s-1", 123, 10},
    {"mx2t", "mx2t", "", "K", 201, 2},
    {"mn2t", "mn2t", "", "K", 202, 2},
    {"mx2t6", "mx2t6", "", "K", 121, 2},
    {"mn2t6", "mn2t6", "", "K", 122, 2},
    {"mx2t3", "mx2t3", "", "K", 228026, 2},
    {"mn2t3", "mn2t3", "", "K", 228027, 2},
};
enum { N_KNOWN = sizeof known / sizeof known[0] };

/* Names that are spelt out (ERA5 and WeatherBench 2, NCEP, CMIP); a name may be of two quantities,
 * which their units tell apart. */
static const char *const spelt_out[][2] = {
    {"geopotential", "z"},
    {"geopotential", "gh"},
    {"z", "gh"},
    {"geopotential_height", "gh"},
    {"hgt", "gh"},
    {"HGT", "gh"},
    {"zg", "gh"},
    {"temperature", "t"},
    {"u_component_of_wind", "u"},
    {"v_component_of_wind", "v"},
    {"specific_humidity", "q"},
    {"relative_humidity", "r"},
    {"vertical_velocity", "w"},
    {"2m_temperature", "2t"},
    {"2m_dewpoint_temperature", "2d"},
    {"10m_u_component_of_wind", "10u"},
    {"10m_v_component_of_wind", "10v"},
    {"10m_wind_speed", "10si"},
    {"mean_sea_level_pressure", "msl"},
    {"surface_pressure", "sp"},
    {"sea_surface_temperature", "sst"},
    {"skin_temperature", "skt"},
    {"total_column_water", "tcw"},
    {"total_column_water_vapour", "tcwv"},
    {"total_cloud_cover", "tcc"},
    {"land_sea_mask", "lsm"},
    {"sftlf", "lsm"},
    {"geopotential_at_surface", "z"},
    {"orography", "orog"},
    {"total_precipitation", "tp"},
};
enum { N_SPELT_OUT = sizeof spelt_out / sizeof spelt_out[0] };

/* Standard names that CF has had for a quantity besides that of its row. */
static const char *const other_names[][2] = {
    {"air_pressure_at_sea_level", "msl"},
    {"vertical_air_velocity_expressed_as_tendency_of_pressure", "w"},
    {"lwe_thickness_of_precipitation_amount", "tp"},
    {"land_area_fraction", "lsm"},
    {"surface_geopotential", "z"},
};
enum { N_OTHER = sizeof other_names / sizeof other_names[0] };

/* Units that are converted, exactly. */
static const struct {
  const char *from, *to;
  wx_conversion by;
} conversions[] = {
    {"degC", "K", {1, 273.15}},
    {"degrees_C", "K", {1, 273.15}},
    {"degree_C", "K", {1, 273.15}},
    {"Celsius", "K", {1, 273.15}},
    {"celsius", "K", {1, 273.15}},
    {"degree_Celsius", "K", {1, 273.15}},
    {"degrees_Celsius", "K", {1, 273.15}},
    {"hPa", "Pa", {100, 0}},
    {"mb", "Pa", {100, 0}},
    {"mbar", "Pa", {100, 0}},
    {"millibar", "Pa", {100, 0}},
    {"millibars", "Pa", {100, 0}},
    {"kPa", "Pa", {1000, 0}},
    {"dam", "m", {10, 0}},
    {"gpdam", "m", {10, 0}},
    {"km", "m", {1000, 0}},
    {"cm", "m", {0.01, 0}},
    {"mm", "m", {0.001, 0}},
    {"g kg-1", "kg kg-1", {0.001, 0}},
    {"g/kg", "kg kg-1", {0.001, 0}},
    {"km h-1", "m s-1", {1 / 3.6, 0}},
    {"km/h", "m s-1", {1 / 3.6, 0}},
    {"kt", "m s-1", {1852.0 / 3600, 0}},
    {"knots", "m s-1", {1852.0 / 3600, 0}},
    {"%", "1", {0.01, 0}},
    {"1", "%", {100, 0}},
};
enum { N_CONVERSIONS = sizeof conversions / sizeof conversions[0] };

static const char suffix[] = "_spread";

/* stepType of GRIB, cell_methods of CF. */
static const char *const step_words[][2] = {
    {"accum", "sum"},
    {"avg", "mean"},
    {"max", "maximum"},
    {"min", "minimum"},
    {"diff", "difference"},
    {"rms", "root_mean_square"},
    {"instant", ""},
    {"", ""},
    {"sd", "standard_deviation"},
};
enum { N_STEPS = sizeof step_words / sizeof step_words[0] };

const char *wx_quantity_step_method(const char *step_type)
{
  for (int i = 0; i < N_STEPS; i++) {
    if (strcmp(step_type, step_words[i][0]) == 0) {
      return step_words[i][1];
    }
  }
  return strncmp(step_type, "avg", 3) == 0 ? "mean" : step_type;
}

const char *wx_quantity_step_type(const char *method)
{
  for (int i = 0; i < N_STEPS; i++) {
    if (strcmp(method, step_words[i][1]) == 0) {
      return step_words[i][0];
    }
  }
  return NULL;
}

/* Names of amounts that come together in a time; an amount of snow that lies is none. */
static bool is_amount(const char *standard_name)
{
  static const char *const ends[] = {"fall_amount",        "precipitation_amount",
                                     "evaporation_amount", "runoff_amount",
                                     "wrt_time",           "duration_of_sunshine"};
  const size_t n = strlen(standard_name);
  bool is = false;

  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    const size_t m = strlen(ends[i]);

    is = is || (n >= m && strcmp(standard_name + n - m, ends[i]) == 0);
  }
  return is;
}

const char *wx_quantity_method(const wx_quantity *q, double *hours)
{
  static const struct {
    int param;
    const char *method;
    double hours; /* 0: from the start, or since the last output: the files say */
  } of[] = {
      {8, "sum", 0},       {9, "sum", 0},          {44, "sum", 0},         {45, "sum", 0},
      {49, "maximum", 0},  {50, "sum", 0},         {57, "sum", 0},         {58, "sum", 0},
      {121, "maximum", 6}, {122, "minimum", 6},    {123, "maximum", 6},    {142, "sum", 0},
      {143, "sum", 0},     {144, "sum", 0},        {145, "sum", 0},        {146, "sum", 0},
      {147, "sum", 0},     {169, "sum", 0},        {175, "sum", 0},        {176, "sum", 0},
      {177, "sum", 0},     {178, "sum", 0},        {179, "sum", 0},        {180, "sum", 0},
      {181, "sum", 0},     {182, "sum", 0},        {189, "sum", 0},        {195, "sum", 0},
      {196, "sum", 0},     {197, "sum", 0},        {201, "maximum", 0},    {202, "minimum", 0},
      {205, "sum", 0},     {208, "sum", 0},        {209, "sum", 0},        {210, "sum", 0},
      {211, "sum", 0},     {212, "sum", 0},        {213, "sum", 0},        {228, "sum", 0},
      {239, "sum", 0},     {240, "sum", 0},        {228021, "sum", 0},     {228022, "sum", 0},
      {228129, "sum", 0},  {228130, "sum", 0},     {228216, "sum", 0},     {228228, "sum", 0},
      {228251, "sum", 0},  {228026, "maximum", 3}, {228027, "minimum", 3}, {228028, "maximum", 3},
  };

  for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
    if (of[i].param == q->param) {
      *hours = of[i].hours;
      return of[i].method;
    }
  }
  *hours = 0;
  return is_amount(q->standard_name) ? "sum" : NULL;
}

static void spell(char *units)
{
  char *to = units;

  for (const char *at = units; *at != 0; at++) {
    if (*at != '*' && *at != '^') {
      *to++ = *at;
    }
  }
  *to = 0;
}

bool wx_quantity_same_units(const char *a, const char *b)
{
  static const char *const same[][2] = {
      {"1", "(0 - 1)"},     {"1", "kg kg-1"},     {"kg kg-1", "kg/kg"},
      {"m s-1", "m/s"},     {"K", "kelvin"},      {"K", "Kelvin"},
      {"%", "percent"},     {"m2 s-2", "m2/s2"},  {"Pa s-1", "Pa/s"},
      {"hPa", "millibars"}, {"m", "gpm"},         {"m", "metre"},
      {"m", "meters"},      {"m2 s-2", "J kg-1"}, {"m", "m of water equivalent"},
  };
  bool is = strcmp(a, b) == 0;

  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
    is = is || (strcmp(a, same[i][0]) == 0 && strcmp(b, same[i][1]) == 0) ||
         (strcmp(b, same[i][0]) == 0 && strcmp(a, same[i][1]) == 0);
  }
  return is;
}

/* "2t" is at 1.5 m too: what is called screen level. */
static bool at_height(const row *r, const wx_quantity *q)
{
  return q->kind == WX_LEVEL_HEIGHT && fabs(q->level - r->height) <= 0.5;
}

/* Of units into those; false: these are not known to be of one kind. */
static bool convert(const char *from, const char *to, wx_conversion *by)
{
  *by = (wx_conversion){1, 0};
  if (wx_quantity_same_units(from, to)) {
    return true;
  }
  for (int i = 0; i < N_CONVERSIONS; i++) {
    if (wx_quantity_same_units(from, conversions[i].from) &&
        wx_quantity_same_units(to, conversions[i].to)) {
      *by = conversions[i].by;
      return true;
    }
  }
  return false;
}

static bool is_named(const row *r, const char *variable)
{
  bool is = strcmp(r->variable, variable) == 0 || strcmp(r->alias, variable) == 0;

  for (int i = 0; i < N_SPELT_OUT; i++) {
    is =
        is || (strcmp(spelt_out[i][0], variable) == 0 && strcmp(spelt_out[i][1], r->variable) == 0);
  }
  return is;
}

static bool is_standard(const row *r, const char *standard_name)
{
  bool is = strcmp(r->standard_name, standard_name) == 0;

  for (int i = 0; i < N_OTHER; i++) {
    is = is || (strcmp(other_names[i][0], standard_name) == 0 &&
                strcmp(other_names[i][1], r->variable) == 0);
  }
  return is && standard_name[0] != 0;
}

/* Whether units, stated or not, may be those of the row: a name alone does not make a share of 1 a
 * percentage. */
static bool fits_units(const row *r, const wx_quantity *q)
{
  wx_conversion by;

  return q->units[0] == 0 ? q->standard_name[0] != 0
                          : wx_quantity_same_units(q->units, r->units) ||
                                (strcmp(q->units, "1") != 0 && convert(q->units, r->units, &by));
}

/* Whether row and quantity have standard names of the table, and not the same. */
static bool contradicts(const row *r, const wx_quantity *q)
{
  bool other = false;

  if (r->standard_name[0] == 0) {
    return false;
  }
  for (int i = 0; i < N_KNOWN; i++) {
    other = other || is_standard(&known[i], q->standard_name);
  }
  return other && !is_standard(r, q->standard_name);
}

/* Rows in the order of what is surest: number, name, standard name. */
static const row *find(const wx_quantity *q)
{
  for (int i = 0; i < N_KNOWN && q->param != 0; i++) {
    if (known[i].param == q->param) {
      return &known[i];
    }
  }
  for (int i = 0; i < N_KNOWN && q->param == 0; i++) {
    const row *const r = &known[i];
    const bool of_height = r->height > 0 && q->kind != WX_LEVEL_PRESSURE;

    if (is_named(r, q->variable) && fits_units(r, q) && !contradicts(r, q) &&
        (of_height || (r->height <= 0 && q->kind != WX_LEVEL_HEIGHT))) {
      return r;
    }
  }
  for (int i = 0; i < N_KNOWN && q->param == 0; i++) {
    const row *const r = &known[i];

    if (is_standard(r, q->standard_name) &&
        (r->height > 0 ? at_height(r, q) : q->kind != WX_LEVEL_HEIGHT)) {
      return r;
    }
  }
  return NULL;
}

/* Letters of the variable without what says that it is a spread. */
static size_t base_length(const char *variable)
{
  const size_t n = strlen(variable), m = sizeof suffix - 1;

  return n > m && strcmp(variable + n - m, suffix) == 0 ? n - m : n;
}

static const row *of_variable(const char *variable)
{
  const size_t n = base_length(variable);

  for (int i = 0; i < N_KNOWN; i++) {
    if (strlen(known[i].variable) == n && memcmp(known[i].variable, variable, n) == 0) {
      return &known[i];
    }
  }
  return NULL;
}

void wx_quantity_set_name(wx_quantity *q)
{
  char level[WX_SHORT] = "", name[2 * WX_SHORT];
  const row *const r = of_variable(q->variable);

  if (q->kind == WX_LEVEL_PRESSURE) {
    (void)snprintf(level, sizeof level, "%.6g", q->level);
  } else if (q->kind == WX_LEVEL_HEIGHT && !(r != NULL && r->height > 0 && at_height(r, q))) {
    (void)snprintf(level, sizeof level, "_%.6gm", q->level);
  }
  (void)snprintf(name, sizeof name, "%s%s", q->variable, level);
  name[WX_SHORT - 1] = 0;
  for (char *at = strchr(name, ' '); at != NULL; at = strchr(at, ' ')) {
    *at = '_';
  }
  memcpy(q->name, name, WX_SHORT);
}

/* Appends what says that it is a spread. */
static void add_suffix(wx_quantity *q)
{
  const size_t n = strlen(q->variable), max_length = sizeof q->variable - sizeof suffix;

  memcpy(q->variable + (n < max_length ? n : max_length), suffix, sizeof suffix);
}

void wx_quantity_complete(wx_quantity *q)
{
  spell(q->units);
  if (q->product == WX_PRODUCT_SPREAD) {
    q->variable[base_length(q->variable)] = 0;
  }
  const row *const r = find(q);

  if (r != NULL) {
    (void)snprintf(q->variable, sizeof q->variable, "%s", r->variable);
    q->param = r->param;
    if (q->standard_name[0] == 0) {
      (void)snprintf(q->standard_name, sizeof q->standard_name, "%s", r->standard_name);
    }
    if (r->height > 0 && q->kind == WX_LEVEL_SURFACE) {
      q->kind = WX_LEVEL_HEIGHT;
      q->level = r->height;
    }
  }
  if (q->product == WX_PRODUCT_SPREAD) {
    add_suffix(q);
  }
  wx_quantity_set_name(q);
}

static const row *of_param(int64_t param)
{
  for (int i = 0; i < N_KNOWN && param != 0; i++) {
    if (known[i].param == param) {
      return &known[i];
    }
  }
  return NULL;
}

/* Sets the units to those of the row. False: there is no conversion. */
static bool convert_to(const row *r, wx_quantity *q, wx_conversion *out)
{
  if (!convert(q->units, r->units, out) || (q->product == WX_PRODUCT_SPREAD && out->offset != 0)) {
    return false;
  }
  if (!wx_quantity_same_units(q->units, r->units)) {
    (void)snprintf(q->units, sizeof q->units, "%s", r->units);
  }
  return true;
}

wx_conversion wx_quantity_convert(wx_quantity *q)
{
  const row *const r = of_param(q->param);
  wx_conversion by = {1, 0};

  if (r != NULL && !convert_to(r, q, &by)) {
    by = (wx_conversion){1, 0};
  }
  return by;
}

bool wx_quantity_rename(wx_quantity *q, const char *name, wx_conversion *out)
{
  static const double gravity = 9.80665; /* m s-2, CGPM 1901 */
  const row *const r = of_variable(name), *const height = of_param(WX_GRIB_HEIGHT);
  const row *const geopotential = of_param(WX_GRIB_GEOPOTENTIAL);
  bool known_units = true;

  *out = (wx_conversion){1, 0};
  (void)snprintf(q->variable, sizeof q->variable, "%s", name);
  q->param = 0;
  q->standard_name[0] = 0;
  spell(q->units);
  if (r == NULL) {
    wx_quantity_complete(q);
    return true;
  }
  if (r == geopotential && convert(q->units, height->units, out)) {
    out->scale *= gravity;
    (void)snprintf(q->units, sizeof q->units, "%s", r->units);
  } else if (r == height && convert(q->units, geopotential->units, out)) {
    out->scale /= gravity;
    (void)snprintf(q->units, sizeof q->units, "%s", r->units);
  } else {
    known_units = convert_to(r, q, out);
  }
  q->param = r->param;
  wx_quantity_complete(q);
  return known_units;
}

void wx_quantity_derive(const wx_quantity *q, wx_product product, wx_quantity *out)
{
  *out = *q;
  out->product = product;
  if (product == WX_PRODUCT_SPREAD) {
    add_suffix(out);
  }
  wx_quantity_set_name(out);
}

void wx_quantity_parameter(const wx_quantity *q, const char *ending, wx_quantity *out)
{
  *out = *q;
  out->product = WX_PRODUCT_MEMBER;
  out->standard_name[0] = 0;
  out->param = 0;
  (void)snprintf(out->variable, sizeof out->variable, "%.*s%s",
                 (int)(WX_SHORT - 1 - strlen(ending)), q->variable, ending);
  wx_quantity_set_name(out);
}

void wx_quantity_file_name(const wx_quantity *q, char *name, size_t size)
{
  const row *const r = of_variable(q->variable);
  const bool digit = q->variable[0] >= '0' && q->variable[0] <= '9';

  (void)snprintf(name, size, "%s%s", r == NULL && digit ? "v" : "",
                 r != NULL ? r->alias : q->variable);
  if (r != NULL) {
    const size_t n = strlen(name);

    (void)snprintf(name + n, size - n, "%s", q->variable + base_length(q->variable));
  }
}

bool wx_quantity_confused(const wx_quantity *a, const wx_quantity *b)
{
  char one[2 * WX_SHORT], other[2 * WX_SHORT];

  if (strcmp(a->variable, b->variable) == 0) {
    return false;
  }
  wx_quantity_file_name(a, one, sizeof one);
  wx_quantity_file_name(b, other, sizeof other);
  return strcmp(one, other) == 0;
}
