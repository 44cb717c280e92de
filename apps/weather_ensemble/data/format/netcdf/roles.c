/* roles.c - what dimensions and variables of a NetCDF file are, by CF attributes where it
 * has them, else by the names that are in use. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/weir_alloc.h"
#include "data/format/netcdf/netcdf.h"

typedef struct word {
  const char *text;
  wx_role role;
} word;

static const word standard_names[] = {
    {"forecast_reference_time", WX_ROLE_START},
    {"time", WX_ROLE_TIME},
    {"forecast_period", WX_ROLE_LEAD},
    {"realization", WX_ROLE_MEMBER},
    {"air_pressure", WX_ROLE_LEVEL},
    {"height", WX_ROLE_LEVEL},
    {"latitude", WX_ROLE_ROW},
    {"longitude", WX_ROLE_COLUMN},
    {"projection_y_coordinate", WX_ROLE_ROW},
    {"projection_x_coordinate", WX_ROLE_COLUMN},
    {"grid_latitude", WX_ROLE_ROW},
    {"grid_longitude", WX_ROLE_COLUMN},
};

static const word names[] = {
    {"forecast_reference_time", WX_ROLE_START},
    {"reference_time", WX_ROLE_START},
    {"reftime", WX_ROLE_START},
    {"init", WX_ROLE_START},
    {"init_time", WX_ROLE_START},
    {"initial_time", WX_ROLE_START},
    {"start", WX_ROLE_START},
    {"start_time", WX_ROLE_START},
    {"time", WX_ROLE_TIME},
    {"valid_time", WX_ROLE_TIME},
    {"lead", WX_ROLE_LEAD},
    {"lead_time", WX_ROLE_LEAD},
    {"leadtime", WX_ROLE_LEAD},
    {"step", WX_ROLE_LEAD},
    {"forecast_period", WX_ROLE_LEAD},
    {"forecast_time", WX_ROLE_LEAD},
    {"prediction_timedelta", WX_ROLE_LEAD},
    {"number", WX_ROLE_MEMBER},
    {"member", WX_ROLE_MEMBER},
    {"members", WX_ROLE_MEMBER},
    {"ensemble", WX_ROLE_MEMBER},
    {"ensemble_member", WX_ROLE_MEMBER},
    {"ens", WX_ROLE_MEMBER},
    {"realization", WX_ROLE_MEMBER},
    {"realisation", WX_ROLE_MEMBER},
    {"isobaricInhPa", WX_ROLE_LEVEL},
    {"isobaricInPa", WX_ROLE_LEVEL},
    {"level", WX_ROLE_LEVEL},
    {"lev", WX_ROLE_LEVEL},
    {"levelist", WX_ROLE_LEVEL},
    {"plev", WX_ROLE_LEVEL},
    {"pressure", WX_ROLE_LEVEL},
    {"pressure_level", WX_ROLE_LEVEL},
    {"height", WX_ROLE_LEVEL},
    {"heightAboveGround", WX_ROLE_LEVEL},
    {"lat", WX_ROLE_ROW},
    {"latitude", WX_ROLE_ROW},
    {"y", WX_ROLE_ROW},
    {"rlat", WX_ROLE_ROW},
    {"projection_y_coordinate", WX_ROLE_ROW},
    {"lon", WX_ROLE_COLUMN},
    {"longitude", WX_ROLE_COLUMN},
    {"x", WX_ROLE_COLUMN},
    {"rlon", WX_ROLE_COLUMN},
    {"projection_x_coordinate", WX_ROLE_COLUMN},
    {"spot_index", WX_ROLE_SITE},
    {"station", WX_ROLE_SITE},
    {"station_id", WX_ROLE_SITE},
    {"site", WX_ROLE_SITE},
    {"location", WX_ROLE_SITE},
};

static const word axes[] = {
    {"T", WX_ROLE_TIME}, {"E", WX_ROLE_MEMBER}, {"Y", WX_ROLE_ROW}, {"X", WX_ROLE_COLUMN}};

static wx_role look_up(const word *words, size_t n, const char *text)
{
  for (size_t i = 0; i < n; i++) {
    if (strcasecmp(words[i].text, text) == 0) {
      return words[i].role;
    }
  }
  return WX_ROLE_NONE;
}

weir_status wx_nc_text(wx_nc *f, int var, const char *name, char *text, size_t size)
{
  char *found = NULL;
  const weir_status status =
      weir_netcdf_has(f->nc, var, name) ? weir_netcdf_get_text(f->nc, var, name, &found) : WEIR_OK;

  (void)snprintf(text, size, "%s", found != NULL ? found : "");
  weir_free(&found);
  return status == WEIR_ERR_DATA ? WEIR_OK : status; /* numbers, for example */
}

/* Most dimensions that a variable of a role has: latitudes and times may go over two. */
static bool fits(const wx_seen *s, wx_role role)
{
  const bool one = role == WX_ROLE_MEMBER || role == WX_ROLE_LEVEL || role == WX_ROLE_SITE;

  return s->supported && !s->shape.text && !s->shape.chars && s->shape.n_dims <= (one ? 1 : 2);
}

weir_status wx_nc_role(wx_nc *f, int var, wx_role *role)
{
  const wx_seen *const s = &f->seen[var];
  char text[WX_NC_NAME];
  wx_role found = WX_ROLE_NONE;

  WEIR_TRY(wx_nc_text(f, var, "standard_name", text, sizeof text));
  found = look_up(standard_names, sizeof standard_names / sizeof standard_names[0], text);
  if (found == WX_ROLE_NONE && text[0] == 0) {
    found = look_up(names, sizeof names / sizeof names[0], s->name);
  }
  if (found == WX_ROLE_NONE && s->shape.n_dims == 1) {
    char dim[WX_NC_NAME];

    WEIR_TRY(weir_netcdf_dim_name(f->nc, s->dims[0], dim, sizeof dim));
    WEIR_TRY(wx_nc_text(f, var, "axis", text, sizeof text));
    found = strcmp(dim, s->name) == 0 ? look_up(axes, sizeof axes / sizeof axes[0], text)
                                      : WX_ROLE_NONE;
  }
  *role = fits(s, found) ? found : WX_ROLE_NONE;
  return WEIR_OK;
}

weir_status wx_nc_dim_role(wx_nc *f, int dim, wx_role *role, int *var)
{
  char name[WX_NC_NAME];

  *var = -1;
  WEIR_TRY(weir_netcdf_dim_name(f->nc, dim, name, sizeof name));
  *role = look_up(names, sizeof names / sizeof names[0], name);
  for (int v = 0; v < f->n_seen; v++) {
    const wx_seen *const s = &f->seen[v];

    if (strcmp(s->name, name) == 0 && s->supported && !s->shape.text && s->shape.n_dims == 1 &&
        s->dims[0] == dim) {
      *var = v;
      *role = s->role != WX_ROLE_NONE ? s->role : *role;
    }
  }
  return WEIR_OK;
}

bool wx_nc_is_time(const wx_nc *f, const char *name)
{
  wx_role role = look_up(standard_names, sizeof standard_names / sizeof standard_names[0], name);

  role = role == WX_ROLE_NONE ? look_up(names, sizeof names / sizeof names[0], name) : role;
  for (int v = 0; v < f->n_seen && role == WX_ROLE_NONE; v++) {
    role = strcmp(f->seen[v].name, name) == 0 ? f->seen[v].role : role;
  }
  return role == WX_ROLE_TIME || role == WX_ROLE_LEAD || role == WX_ROLE_START;
}

/* Marks the variables that an attribute names: words between blanks; those that end in a colon
 * ("area: areacella") are no names. */
static void mark(wx_nc *f, char *text)
{
  for (char *save = NULL, *at = strtok_r(text, " ", &save); at != NULL;
       at = strtok_r(NULL, " ", &save)) {
    for (int v = 0; v < f->n_seen; v++) {
      f->seen[v].aside = f->seen[v].aside || strcmp(f->seen[v].name, at) == 0;
    }
  }
}

/* Observations of all stations one after another: CF's ragged arrays, contiguous and indexed. */
static weir_status refuse_ragged(wx_nc *f, int v)
{
  static const char *const attributes[] = {"sample_dimension", "instance_dimension"};

  for (int k = 0; k < 2; k++) {
    if (weir_netcdf_has(f->nc, v, attributes[k])) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: variable %s has the attribute %s, that of a ragged array of "
                       "observations: write an array of stations and times, with missing values "
                       "where a station has none (orthogonal array representation of CF)",
                       f->path, f->seen[v].name, attributes[k]);
    }
  }
  return WEIR_OK;
}

weir_status wx_nc_set_aside(wx_nc *f)
{
  static const char *const attributes[] = {"bounds",       "climatology",         "coordinates",
                                           "grid_mapping", "ancillary_variables", "cell_measures"};

  for (int v = 0; v < f->n_seen; v++) {
    char name[WX_NC_NAME];

    WEIR_TRY(refuse_ragged(f, v));
    WEIR_TRY(wx_nc_text(f, v, "standard_name", name, sizeof name));
    f->seen[v].aside = f->seen[v].aside || strcmp(name, "cell_area") == 0 ||
                       strcmp(f->seen[v].name, "cell_area") == 0;
    for (size_t k = 0; k < sizeof attributes / sizeof attributes[0]; k++) {
      char text[4096];

      WEIR_TRY(wx_nc_text(f, v, attributes[k], text, sizeof text));
      mark(f, text);
    }
  }
  return WEIR_OK;
}
