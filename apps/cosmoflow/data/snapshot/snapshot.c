/* snapshot.c - see snapshot.h. HDF5 is read through the NetCDF library, as samples are. */
#include "data/snapshot/snapshot.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "data/snapshot/snapshot_header.h"

enum { PATH = 4300, BLOCK = CF_SNAPSHOT_BLOCK };

struct cf_snapshot {
  cf_snapshot_info info;
  char *path; /* of the first file */
  cf_snapshot_opts opts;
  void *raw; /* [BLOCK, 3] of any type */
  double *position, *mass;
};

/* ---- Files ---- */

/* Finds N of NAME.N.hdf5: where it begins and ends; false: the name has none. */
static bool find_number(const char *path, size_t *from, size_t *to)
{
  const char *const slash = strrchr(path, '/');
  const char *const name = slash != NULL ? slash + 1 : path;
  const char *const dot = strrchr(name, '.');
  const char *at = dot;

  while (at != NULL && at > name && isdigit((unsigned char)at[-1])) {
    at--;
  }
  if (at == NULL || at == dot || at - name < 2 || at[-1] != '.' || dot - at > 6) {
    return false;
  }
  *from = (size_t)(at - path);
  *to = (size_t)(dot - path);
  return true;
}

/* Writes the path of another file of the same snapshot; the path itself where it has no number. */
static weir_status path_of(const char *path, int64_t file, char *out, int64_t size)
{
  size_t from = strlen(path), to = from;
  int64_t n = 0;

  if (find_number(path, &from, &to)) {
    n = snprintf(out, (size_t)size, "%.*s%lld%s", (int)from, path, (long long)file, path + to);
  } else {
    n = snprintf(out, (size_t)size, "%s", path);
  }
  return n < size ? WEIR_OK : weir_fail(WEIR_ERR_DATA, "%.64s...: the path is too long", path);
}

static weir_status read_header(const char *path, cf_snapshot_header *h)
{
  weir_netcdf *nc = NULL;

  WEIR_TRY(weir_netcdf_open(path, &nc));
  const weir_status status = cf_snapshot_header_read(nc, path, h);

  weir_netcdf_close(&nc);
  return status;
}

weir_status cf_snapshot_first(const char *path, char *first, int64_t size)
{
  cf_snapshot_header h = {.files = 1};

  WEIR_TRY(path_of(path, 0, first, size));
  if (strcmp(path, first) != 0 && weir_file_exists(first)) { /* or a number of the snapshot */
    WEIR_TRY(read_header(path, &h));
  }
  if (h.files == 1) {
    (void)snprintf(first, (size_t)size, "%s", path);
  }
  return WEIR_OK;
}

/* ---- Opening ---- */

/* Adds the particles of a further file, which has to be of the same snapshot. */
static weir_status agree(cf_snapshot *s, const cf_snapshot_header *first,
                         const cf_snapshot_header *h, const char *path)
{
  bool same = h->n_types == first->n_types && h->files == first->files && h->box == first->box;

  for (int64_t t = 0; same && t < h->n_types; t++) {
    same = h->total[t] == first->total[t] && h->each[t] == first->each[t];
    s->info.count[t] += h->here[t];
  }
  return same ? WEIR_OK
              : weir_fail(WEIR_ERR_DATA, "%s: is of another snapshot than %s: their headers differ",
                          path, s->path);
}

/* The path of a file of the snapshot. */
static weir_status path_in(const cf_snapshot *s, int64_t file, char *out, int64_t size)
{
  if (s->info.files > 1) {
    return path_of(s->path, file, out, size);
  }
  (void)snprintf(out, (size_t)size, "%s", s->path);
  return WEIR_OK;
}

static weir_status open_group(const char *path, int type, weir_netcdf **group)
{
  char name[32];
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;

  *group = NULL;
  (void)snprintf(name, sizeof name, "PartType%d", type);
  WEIR_TRY(weir_netcdf_open(path, &nc));
  WEIR_TRY_GOTO(cf_snapshot_group(nc, name, group), done);
  if (*group == NULL) {
    status = weir_fail(WEIR_ERR_DATA,
                       "%s: has no group %s, of which its Header counts particles: the file is "
                       "damaged",
                       path, name);
  }
done:
  weir_netcdf_close(&nc);
  return status;
}

/* Reads the exponent of h of a variable, NaN where it states none, and refuses lengths that are not
 * comoving. */
static weir_status read_exponents(weir_netcdf *group, const char *path, const char *name,
                                  double *of_h)
{
  static const char *const h_names[] = {"h_scaling", "h-scale exponent", "h-scale-exponent", NULL};
  static const char *const a_names[] = {"a_scaling", "a-scale exponent", "aexp-scale-exponent",
                                        NULL};
  const bool length = strcmp(name, "Coordinates") == 0;
  weir_netcdf_shape shape;
  double of_a = NAN;
  int var = -1;

  *of_h = NAN;
  if (weir_netcdf_find(group, name, &var, &shape) != WEIR_OK) {
    weir_clear_failure(); /* reading it names what is missing */
    return WEIR_OK;
  }
  WEIR_TRY(cf_snapshot_number(group, var, h_names, of_h));
  WEIR_TRY(cf_snapshot_number(group, var, a_names, &of_a));
  if (!isnan(of_a) && of_a != 1 && length) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: %s scale with a^%g, and have to be comoving, that is with a", path, name,
                     of_a);
  }
  return WEIR_OK;
}

/* The first file that has particles, and their type; -1: there are none. */
static weir_status find_particles(const cf_snapshot *s, char *path, int64_t size, int *type)
{
  *type = -1;
  for (int64_t file = 0; file < s->info.files && *type < 0; file++) {
    cf_snapshot_header h;

    WEIR_TRY(path_in(s, file, path, size));
    WEIR_TRY(read_header(path, &h));
    for (int t = 0; t < h.n_types && *type < 0; t++) {
      *type = h.here[t] > 0 ? t : -1;
    }
  }
  return WEIR_OK;
}

static weir_status take_units(cf_snapshot *s, const cf_snapshot_header *h)
{
  double length_h = NAN, mass_h = NAN;
  char path[PATH];
  int type = -1;
  weir_netcdf *group = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(find_particles(s, path, sizeof path, &type));
  if (type >= 0) {
    WEIR_TRY(open_group(path, type, &group));
    WEIR_TRY_GOTO(read_exponents(group, path, "Coordinates", &length_h), done);
    WEIR_TRY_GOTO(read_exponents(group, path, "Masses", &mass_h), done);
  }
  WEIR_TRY_GOTO(cf_snapshot_units(h, &s->opts, s->path, length_h, mass_h, &s->info), done);
done:
  weir_netcdf_close(&group);
  return status;
}

static weir_status take_files(cf_snapshot *s, cf_snapshot_header *first)
{
  char path[PATH];

  WEIR_TRY(read_header(s->path, first));
  s->info.n_types = first->n_types;
  s->info.files = first->files;
  s->info.redshift = first->redshift;
  s->info.h = first->h;
  s->info.omega_m = first->omega_m;
  memcpy(s->info.each, first->each, sizeof s->info.each);
  for (int64_t file = 0; file < first->files; file++) {
    cf_snapshot_header h = *first;

    WEIR_TRY(path_in(s, file, path, sizeof path));
    if (file > 0 && strcmp(path, s->path) == 0) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: is one of %lld files of its snapshot, and its name has no number "
                       "(NAME.0.hdf5)",
                       s->path, (long long)first->files);
    }
    if (first->files > 1 && !weir_file_exists(path)) {
      return weir_fail(WEIR_ERR_DATA, "%s: is missing: the snapshot has %lld files", path,
                       (long long)first->files);
    }
    WEIR_TRY(first->files > 1 ? read_header(path, &h) : WEIR_OK);
    WEIR_TRY(agree(s, first, &h, path));
  }
  for (int64_t t = 0; t < first->n_types; t++) {
    if (s->info.count[t] != first->total[t]) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: its %lld files have %lld particles of type %lld; Header: NumPart_Total "
                       "states %lld",
                       s->path, (long long)first->files, (long long)s->info.count[t], (long long)t,
                       (long long)first->total[t]);
    }
  }
  return WEIR_OK;
}

weir_status cf_snapshot_open(const char *path, const cf_snapshot_opts *opts, cf_snapshot **out)
{
  cf_snapshot *s = NULL;
  cf_snapshot_header first;
  char name[PATH];
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(cf_snapshot_first(path, name, sizeof name));
  WEIR_TRY(weir_alloc(1, sizeof *s, (void **)&s));
  s->opts = *opts;
  WEIR_TRY_GOTO(weir_strdup(name, &s->path), fail);
  WEIR_TRY_GOTO(take_files(s, &first), fail);
  WEIR_TRY_GOTO(take_units(s, &first), fail);
  WEIR_TRY_GOTO(weir_alloc(3 * BLOCK, sizeof(double), &s->raw), fail);
  WEIR_TRY_GOTO(weir_alloc(3 * BLOCK, sizeof(double), (void **)&s->position), fail);
  WEIR_TRY_GOTO(weir_alloc(BLOCK, sizeof(double), (void **)&s->mass), fail);
  *out = s;
  return WEIR_OK;
fail:
  cf_snapshot_close(&s);
  return status;
}

void cf_snapshot_close(cf_snapshot **s)
{
  if (*s) {
    weir_free(&(*s)->path);
    weir_free(&(*s)->raw);
    weir_free(&(*s)->position);
    weir_free(&(*s)->mass);
  }
  weir_free(s);
}

const cf_snapshot_info *cf_snapshot_get(const cf_snapshot *s)
{
  return &s->info;
}

/* ---- Particles ---- */

/* A type in a file: its variables; mass -1: every particle has the mass of the header. */
typedef struct column {
  const char *path;
  weir_netcdf *group;
  int type, position, mass;
  weir_dtype position_dtype, mass_dtype;
  int64_t n;
} column;

/* Finds a variable of n rows of `width` floats. */
static weir_status find(const column *c, const char *name, int64_t width, int *var,
                        weir_dtype *dtype)
{
  weir_netcdf_shape s = {0};

  WEIR_TRY(weir_netcdf_find(c->group, name, var, &s));
  if (s.text || s.chars || !weir_dtype_is_real(s.dtype) || s.n_dims != (width > 1 ? 2 : 1) ||
      s.lengths[0] != c->n || (width > 1 && s.lengths[1] != width)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: PartType%d/%s is not %lld floats for each of the %lld particles that "
                     "the Header counts",
                     c->path, c->type, name, (long long)width, (long long)c->n);
  }
  *dtype = s.dtype;
  return WEIR_OK;
}

static bool has(weir_netcdf *group, const char *name)
{
  weir_netcdf_shape shape;
  int var = 0;
  const bool found = weir_netcdf_find(group, name, &var, &shape) == WEIR_OK;

  if (!found) {
    weir_clear_failure();
  }
  return found;
}

static weir_status open_column(const cf_snapshot *s, column *c)
{
  static const char *const names[] = {"Masses", "DynamicalMasses" /* black holes of SWIFT */};

  WEIR_TRY(open_group(c->path, c->type, &c->group));
  WEIR_TRY(find(c, "Coordinates", 3, &c->position, &c->position_dtype));
  c->mass = -1;
  for (int i = 0; i < 2; i++) {
    if (has(c->group, names[i])) { /* also where MassTable has a mean */
      return find(c, names[i], 1, &c->mass, &c->mass_dtype);
    }
  }
  return s->info.each[c->type] > 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: has no masses of type %d: neither PartType%d/Masses nor MassTable in "
                         "its Header",
                         c->path, c->type, c->type);
}

/* Positions of n particles from `first` on, in the box. */
static weir_status take_positions(cf_snapshot *s, const column *c, int64_t first, int64_t n)
{
  const int64_t start[2] = {first, 0}, count[2] = {n, 3};
  const double unit = s->info.length, box = s->info.box;

  WEIR_TRY(weir_netcdf_read(c->group, c->position, start, count, s->raw));
  for (int64_t i = 0; i < 3 * n; i++) {
    const double x = weir_dtype_load_real(c->position_dtype, s->raw, i) * unit;

    if (!(x >= -box && x <= 2 * box)) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: particle %lld of type %d is at %g Mpc/h, outside of the box of %g "
                       "Mpc/h: the file is damaged, or positions and BoxSize have different units",
                       c->path, (long long)(first + i / 3), c->type, x, box);
    }
    const double inside = x - box * floor(x / box);

    s->position[i] = inside < box ? inside : 0;
  }
  return WEIR_OK;
}

static weir_status take_masses(cf_snapshot *s, const column *c, int64_t first, int64_t n)
{
  if (c->mass >= 0) {
    WEIR_TRY(weir_netcdf_read(c->group, c->mass, &first, &n, s->raw));
  }
  for (int64_t i = 0; i < n; i++) {
    s->mass[i] =
        c->mass < 0 ? s->info.each[c->type] : weir_dtype_load_real(c->mass_dtype, s->raw, i);
    if (!(s->mass[i] >= 0) || isinf(s->mass[i])) {
      return weir_fail(WEIR_ERR_DATA, "%s: particle %lld of type %d has the mass %g", c->path,
                       (long long)(first + i), c->type, s->mass[i]);
    }
  }
  return WEIR_OK;
}

static weir_status read_file(cf_snapshot *s, column *c, cf_snapshot_visit visit, void *context)
{
  WEIR_TRY(open_column(s, c));
  for (int64_t first = 0; first < c->n; first += BLOCK) {
    const int64_t n = c->n - first < BLOCK ? c->n - first : BLOCK;

    WEIR_TRY(take_positions(s, c, first, n));
    WEIR_TRY(take_masses(s, c, first, n));
    WEIR_TRY(visit(context, n, s->position, s->mass));
  }
  return WEIR_OK;
}

weir_status cf_snapshot_read(cf_snapshot *s, int type, cf_snapshot_visit visit, void *context)
{
  char path[PATH];

  if (type < 0 || type >= s->info.n_types) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: there is no particle type %d: the Header has types 0 to "
                     "%lld",
                     s->path, type, (long long)s->info.n_types - 1);
  }
  for (int64_t file = 0; file < s->info.files; file++) {
    column c = {.path = path, .type = type};
    cf_snapshot_header h;

    WEIR_TRY(path_in(s, file, path, sizeof path));
    WEIR_TRY(read_header(path, &h));
    c.n = type < h.n_types ? h.here[type] : 0;
    const weir_status status = c.n > 0 ? read_file(s, &c, visit, context) : WEIR_OK;

    weir_netcdf_close(&c.group);
    WEIR_TRY(status);
  }
  return WEIR_OK;
}
