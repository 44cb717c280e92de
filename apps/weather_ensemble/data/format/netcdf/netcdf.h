/* netcdf.h - a NetCDF file that becomes part of an archive: what its sources share. */
#ifndef WX_NETCDF_H
#define WX_NETCDF_H
#include "base/weir_dtype.h"
#include "data/archive/archive_format.h"
#include "io/weir_netcdf.h"

enum { WX_NC_NAME = 128, WX_NC_MISSING = 4 };

/* What a dimension counts, or a variable of coordinates says. */
typedef enum wx_role {
  WX_ROLE_NONE,
  WX_ROLE_START,
  WX_ROLE_TIME, /* of validity, or of a start where there are leads too */
  WX_ROLE_LEAD,
  WX_ROLE_MEMBER,
  WX_ROLE_LEVEL,
  WX_ROLE_ROW,
  WX_ROLE_COLUMN,
  WX_ROLE_SITE,
} wx_role;

/* A variable of the file. */
typedef struct wx_seen {
  char name[WX_NC_NAME];
  weir_netcdf_shape shape;
  int dims[WEIR_NETCDF_MAX_DIMS];
  bool supported; /* false: of a type that is not */
  bool aside;     /* another one names it: bounds, mapping, coordinates, flags */
  wx_role role;
} wx_seen;

/* A variable of fields. */
typedef struct wx_nc_var {
  int var;
  weir_dtype dtype;
  int n_dims;
  int64_t length[WEIR_NETCDF_MAX_DIMS];
  int row, column, member; /* positions of these dimensions, -1: none */
  int64_t base, fields;    /* numbers [base, base + fields): positions of the outer dimensions */
  int64_t member_stride;   /* fields from a member to the next; 0: no such dimension */
  bool whole;              /* members stand before rows, rows before columns */
  double missing[WX_NC_MISSING], lo, hi; /* as stored; [lo, hi] is valid */
  int n_missing;
  double scale, offset;
} wx_nc_var;

typedef struct wx_nc {
  weir_netcdf *nc;
  char *path;
  int64_t bytes;   /* size of the file */
  wx_index *index; /* while it is opened */
  int n_seen;
  wx_seen *seen;
  int64_t n_vars, var_capacity, n_fields;
  wx_nc_var *vars;
  wx_grid grid; /* of all its variables; lat, lon: owned */
  double *lat, *lon;
  wx_grid_order order;
  bool has_grid;
  bool rotated; /* its rows and columns are those of a rotated pole */
  void *raw;    /* a read, as stored */
  float *stored;
  int64_t raw_capacity, stored_capacity;
} wx_nc;

/* Values of a variable of coordinates over some dimensions of a variable of fields. */
typedef struct wx_coordinate {
  const wx_seen *of; /* NULL: none */
  int var, n_dims;
  int at[2]; /* positions of its dimensions in those of the variable */
  int64_t length[2], n;
  double *value; /* [n]; times: seconds since 1970; leads: hours */
  bool years;    /* counted in years */
} wx_coordinate;

/* Returns whether the file can hold n values of `size` bytes: compression saves no more than 1 in
 * 1032 (deflate), and no more than `trusted` values cost little to believe. n * size does not
 * overflow.
 */
static inline bool wx_nc_can_hold(const wx_nc *f, int64_t n, size_t size, int64_t trusted)
{
  return n <= trusted || n * (int64_t)size / 1032 <= f->bytes;
}

/* roles.c */
/* Returns the role of the variable, by its standard name, axis and name. */
weir_status wx_nc_role(wx_nc *f, int var, wx_role *role) WEIR_CHECKED;
/* Returns the role of a dimension; *var: its variable of coordinates, -1: none. */
weir_status wx_nc_dim_role(wx_nc *f, int dim, wx_role *role, int *var) WEIR_CHECKED;
/* Returns whether a name, of a dimension, a coordinate or CF's table, is one of times, leads or
 * initialisation times. */
bool wx_nc_is_time(const wx_nc *f, const char *name);
/* Sets `aside` of the variables that others name. */
weir_status wx_nc_set_aside(wx_nc *f) WEIR_CHECKED;
/* Reads a text attribute into text[size], "" where there is none; truncated where it is too long.
 */
weir_status wx_nc_text(wx_nc *f, int var, const char *name, char *text, size_t size) WEIR_CHECKED;

/* coords.c */
/* Reads all values of a variable of coordinates, which the caller frees. */
weir_status wx_nc_values(wx_nc *f, int var, double **out, int64_t *n) WEIR_CHECKED;
/* The same, whatever they are: missing and non-finite values among them. */
weir_status wx_nc_any_values(wx_nc *f, int var, double **out, int64_t *n) WEIR_CHECKED;
/* Finds the coordinate of `role` whose dimensions are among those of `v` but its rows and columns;
 * values as they stand. value NULL: none. The caller frees value. */
weir_status wx_nc_coordinate(wx_nc *f, int v, wx_role role, wx_coordinate *out) WEIR_CHECKED;
/* Returns its value where the dimensions of the variable stand at index[]. */
double wx_coordinate_at(const wx_coordinate *c, const int64_t *index);
/* Converts them to seconds since 1970, or to hours (years: of initialisation times without units).
 */
weir_status wx_nc_to_seconds(wx_nc *f, wx_coordinate *c) WEIR_CHECKED;
weir_status wx_nc_to_hours(wx_nc *f, wx_coordinate *c, bool years) WEIR_CHECKED;
/* Levels in hPa or m. */
weir_status wx_nc_to_levels(wx_nc *f, wx_coordinate *c, wx_level *kind) WEIR_CHECKED;

/* As wx_nc_coordinate, of variable k alone; false in *found: its dimensions are not those of v. */
weir_status wx_nc_coordinate_of(wx_nc *f, int v, int k, wx_coordinate *out,
                                bool *found) WEIR_CHECKED;

/* bounds.c */
/* The first and last time that values cover: seconds since 1970, or hours of a lead. lo.value and
 * hi.value NULL: the file does not state them; the caller frees both. */
typedef struct wx_bounds {
  wx_coordinate lo, hi;
  bool of_lead;
} wx_bounds;
/* Bounds of a coordinate of times or leads, whose values are converted, into *out where it has
 * them; years as of wx_nc_to_hours. */
weir_status wx_nc_bounds(wx_nc *f, const wx_coordinate *c, bool of_lead, bool years,
                         wx_bounds *out) WEIR_CHECKED;
/* Reads from cell_methods, or from attributes of GRIB tools, the method of variable v in time:
 * "sum", "point" ...; "": nothing. */
weir_status wx_nc_method(wx_nc *f, int v, char *method, size_t size) WEIR_CHECKED;

/* times.c */
/* The times of a variable's fields. Two of start, lead and time of validity give the third. */
typedef struct wx_times {
  wx_coordinate start, time, lead;
  wx_coordinate valid; /* the time of validity, stated where it is not needed: it has to agree */
  bool lead_is_rest;   /* lead = time - start */
  bool start_is_rest;  /* start = time - lead */
} wx_times;
/* Finds the coordinates of time of variable v; aside: its dimensions that are none of times, or -1.
 * Values in seconds since 1970 and hours. The caller ends it with wx_times_fini, also on failure.
 */
weir_status wx_nc_times(wx_nc *f, int v, const wx_nc_var *p, const int aside[2],
                        wx_times *t) WEIR_CHECKED;
void wx_times_fini(wx_times *t);
/* Returns whether initialisation times or times are counted in years, which are not exact. */
bool wx_times_years(const wx_times *t);
/* Computes start and lead of the field whose dimensions stand at index[]. */
void wx_times_at(const wx_times *t, const int64_t *index, wx_field *field);
/* Checks the valid time. Fails: WEIR_ERR_DATA where the file states another time of validity for
 * the field, which is valid at the end of what it covers. */
weir_status wx_times_agree(const wx_nc *f, int v, const wx_times *t, const int64_t *index,
                           const wx_field *field) WEIR_CHECKED;

/* Dimensions of a variable that count rows, columns and sites: positions, -1: none; and the
 * variables of one dimension, latitudes and longitudes, along them, -1: none. */
typedef struct wx_nc_dims {
  int row, column, site, line[2];
} wx_nc_dims;

/* grid.c: refuses grids whose cells are not where, or not as large as, the file says by
 * latitudes and longitudes, equal-area projections or areas. Fails: WEIR_ERR_DATA naming the grid
 * and what to do. check_grid: of rows and columns; weight NULL: no areas. */
weir_status wx_nc_check_dims(wx_nc *f, int v, const wx_nc_dims *d) WEIR_CHECKED;
weir_status wx_nc_check_grid(wx_nc *f, int v, const wx_nc_dims *d, const wx_grid *g) WEIR_CHECKED;
/* Checks whether latitudes and longitudes run along two of its dimensions together, or along one.
 */
weir_status wx_nc_is_located(wx_nc *f, int v, bool *is) WEIR_CHECKED;
/* Finds the variable that the attribute grid_mapping of v names, and its grid_mapping_name, "":
 * none; both of `size` bytes. */
weir_status wx_nc_mapping_name(wx_nc *f, int v, char *var, char *name, size_t size) WEIR_CHECKED;

/* Finds a variable over rows and columns of v that says where its cells are: of that role, or in
 * degrees north or east. -1: none. */
weir_status wx_nc_find_located(wx_nc *f, int v, wx_role role, int *var) WEIR_CHECKED;

/* rotated.c: where rows and columns g of v are those of a rotated pole and the caller regrids, the
 * same cells as points, in *out; *lat, which the caller frees, holds their places, NULL: they are
 * not. Fails: WEIR_ERR_DATA for a pole that is not known, or that the file contradicts. */
weir_status wx_nc_rotated(wx_nc *f, int v, const wx_nc_dims *d, const wx_grid *g,
                          const wx_grid_order *order, wx_grid *out, double **lat) WEIR_CHECKED;
/* Refuses a component of a vector along the axes of a rotated grid; stated: its standard_name in
 * the file. */
weir_status wx_nc_check_component(const wx_nc *f, int v, const char *stated,
                                  const wx_quantity *q) WEIR_CHECKED;

/* plane.c: finds rows and columns of variable v: positions of their dimensions, -1: none (a
 * single site). The grid is added to the index. */
weir_status wx_nc_plane(wx_nc *f, int v, int *row, int *column) WEIR_CHECKED;
/* vars.c: takes variable v as fields. */
weir_status wx_nc_add_var(wx_nc *f, int v) WEIR_CHECKED;
/* write.c */
extern const wx_sink wx_sink_netcdf;
#endif
