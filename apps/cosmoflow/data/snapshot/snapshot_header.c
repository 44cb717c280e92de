/* snapshot_header.c - see snapshot_header.h. Attributes of Gadget: Springel, users' guide of
 * GADGET-2 (2005), section 6, and documentation of GADGET-4, "snapshot files"; of SWIFT: its
 * documentation, "Snapshots". */
#include "data/snapshot/snapshot_header.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* cm of a Mpc (IAU 2015 resolution B2), g of the Sun (IAU 2015 resolution B3 with CODATA 2014). */
static const double mpc_cm = 3.0856775814913673e24, sun_g = 1.98848e33;

weir_status cf_snapshot_group(weir_netcdf *nc, const char *name, weir_netcdf **group)
{
  char has[256];
  int n = 0;

  *group = NULL;
  WEIR_TRY(weir_netcdf_count_groups(nc, &n));
  for (int i = 0; i < n; i++) {
    WEIR_TRY(weir_netcdf_group_name(nc, i, has, sizeof has));
    if (strcmp(has, name) == 0) {
      return weir_netcdf_open_group(nc, name, group);
    }
  }
  return WEIR_OK;
}

weir_status cf_snapshot_number(weir_netcdf *nc, int var, const char *const *names, double *out)
{
  double values[CF_PARTICLE_TYPES];

  *out = NAN;
  for (int i = 0; names[i] != NULL; i++) {
    const int64_t n = weir_netcdf_count_numbers(nc, var, names[i]);

    if (n >= 1 && n <= CF_PARTICLE_TYPES) { /* SWIFT writes arrays of one */
      WEIR_TRY(weir_netcdf_get_numbers(nc, var, names[i], values, n));
      *out = values[0];
      return WEIR_OK;
    }
  }
  return WEIR_OK;
}

/* Reads n numbers of the header. */
static weir_status read_row(weir_netcdf *nc, const char *path, const char *name, int64_t n,
                            double *out)
{
  if (weir_netcdf_count_numbers(nc, WEIR_NETCDF_FILE, name) != n) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: its Header has no attribute %s of %lld numbers: it is no snapshot in the "
                     "layout of Gadget or SWIFT, or is damaged",
                     path, name, (long long)n);
  }
  return weir_netcdf_get_numbers(nc, WEIR_NETCDF_FILE, name, out, n);
}

/* Numbers of particles; those of a million files can be added. */
static weir_status read_counts(weir_netcdf *nc, const char *path, const char *name, int64_t n,
                               int64_t *out)
{
  double values[CF_PARTICLE_TYPES];

  WEIR_TRY(read_row(nc, path, name, n, values));
  for (int64_t t = 0; t < n; t++) {
    if (!(values[t] >= 0 && values[t] <= 0x1p42) || values[t] != floor(values[t])) {
      return weir_fail(WEIR_ERR_DATA, "%s: Header: %s of type %lld is %g: the file is damaged",
                       path, name, (long long)t, values[t]);
    }
    out[t] = (int64_t)values[t];
  }
  return WEIR_OK;
}

static weir_status read_particles(weir_netcdf *nc, const char *path, cf_snapshot_header *h)
{
  static const char high[] = "NumPart_Total_HighWord";
  int64_t word[CF_PARTICLE_TYPES] = {0}, words = 0;

  h->n_types = weir_netcdf_count_numbers(nc, WEIR_NETCDF_FILE, "NumPart_ThisFile");
  if (h->n_types < 1 || h->n_types > CF_PARTICLE_TYPES) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: its Header has NumPart_ThisFile of %lld types, not of 1 to %d: it is no "
                     "snapshot in the layout of Gadget or SWIFT",
                     path, (long long)h->n_types, CF_PARTICLE_TYPES);
  }
  WEIR_TRY(read_counts(nc, path, "NumPart_ThisFile", h->n_types, h->here));
  WEIR_TRY(read_counts(nc, path, "NumPart_Total", h->n_types, h->total));
  words = weir_netcdf_count_numbers(nc, WEIR_NETCDF_FILE, high);
  words = words < h->n_types ? words : h->n_types; /* swiftsimio has 6 of more types */
  if (words > 0) {
    WEIR_TRY(read_counts(nc, path, high, words, word));
  }
  for (int64_t t = 0; t < h->n_types; t++) {
    if (word[t] >= 1 << 10) {
      return weir_fail(WEIR_ERR_DATA, "%s: Header: claims 2^42 particles of type %lld", path,
                       (long long)t);
    }
    h->total[t] += word[t] << 32;
  }
  WEIR_TRY(read_row(nc, path, "MassTable", h->n_types, h->each));
  for (int64_t t = 0; t < h->n_types; t++) {
    if (!isfinite(h->each[t]) || h->each[t] < 0) {
      return weir_fail(WEIR_ERR_DATA, "%s: Header: MassTable of type %lld is %g", path,
                       (long long)t, h->each[t]);
    }
  }
  return WEIR_OK;
}

/* The side of the box: one number, or three equal ones. */
static weir_status read_box(weir_netcdf *nc, const char *path, cf_snapshot_header *h)
{
  const int64_t n = weir_netcdf_count_numbers(nc, WEIR_NETCDF_FILE, "BoxSize");
  double side[3];

  if (n != 1 && n != 3) {
    return weir_fail(WEIR_ERR_DATA, "%s: Header: BoxSize has %lld numbers, not 1 or 3", path,
                     (long long)n);
  }
  WEIR_TRY(weir_netcdf_get_numbers(nc, WEIR_NETCDF_FILE, "BoxSize", side, n));
  h->box = side[0];
  for (int64_t i = 0; i < n; i++) {
    if (!(side[i] > 0) || !isfinite(side[i]) || side[i] != side[0]) {
      return weir_fail(WEIR_ERR_DATA, "%s: Header: the box is no cube: BoxSize[%lld] is %g", path,
                       (long long)i, side[i]);
    }
  }
  return WEIR_OK;
}

/* The first of some attributes that a group of the file has, which may be absent. */
static weir_status of_group(weir_netcdf *nc, const char *group, const char *const *names,
                            double *out)
{
  weir_netcdf *in = NULL;

  *out = NAN;
  WEIR_TRY(cf_snapshot_group(nc, group, &in));
  const weir_status status =
      in != NULL ? cf_snapshot_number(in, WEIR_NETCDF_FILE, names, out) : WEIR_OK;

  weir_netcdf_close(&in);
  return status;
}

/* Where programs state a number: group, names of the attribute. */
typedef struct stated {
  const char *group, *names[4];
  bool per_h;
} stated;

static weir_status seek(weir_netcdf *nc, const stated *at, int n, double *out, bool *per_h)
{
  for (int i = 0; i < n; i++) {
    WEIR_TRY(of_group(nc, at[i].group, at[i].names, out));
    if (!isnan(*out)) {
      *per_h = at[i].per_h;
      return WEIR_OK;
    }
  }
  return WEIR_OK;
}

static weir_status read_units(weir_netcdf *nc, const char *path, cf_snapshot_header *h)
{
  /* SWIFT; AREPO, GIZMO; Gadget-4; Gadget-3 of EAGLE. */
  static const stated length[] = {
      {"Units", {"Unit length in cgs (U_L)", NULL}, false},
      {"Header", {"UnitLength_in_cm", "UnitLength_In_CGS", NULL}, true},
      {"Parameters", {"UnitLength_in_cm", NULL}, true},
      {"Units", {"UnitLength_in_cm", NULL}, true},
  };
  static const stated mass[] = {
      {"Units", {"Unit mass in cgs (U_M)", NULL}, false},
      {"Header", {"UnitMass_in_g", "UnitMass_In_CGS", NULL}, true},
      {"Parameters", {"UnitMass_in_g", NULL}, true},
      {"Units", {"UnitMass_in_g", NULL}, true},
  };
  bool mass_per_h = true;

  h->per_h = true;
  WEIR_TRY(seek(nc, length, 4, &h->unit_cm, &h->per_h));
  WEIR_TRY(seek(nc, mass, 4, &h->unit_g, &mass_per_h));
  if (h->unit_cm <= 0 || isinf(h->unit_cm) || h->unit_g <= 0 || isinf(h->unit_g)) {
    return weir_fail(WEIR_ERR_DATA, "%s: states units of %g cm and %g g", path, h->unit_cm,
                     h->unit_g);
  }
  return WEIR_OK;
}

static weir_status read_cosmology(weir_netcdf *nc, const char *path, cf_snapshot_header *h)
{
  static const stated hubble[] = {{"Header", {"HubbleParam", NULL}, false},
                                  {"Parameters", {"HubbleParam", NULL}, false},
                                  {"Cosmology", {"h", NULL}, false}};
  static const stated matter[] = {{"Header", {"Omega0", "Omega_Matter", NULL}, false},
                                  {"Parameters", {"Omega0", NULL}, false},
                                  {"Cosmology", {"Omega_m", NULL}, false}};
  static const char *const redshift[] = {"Redshift", NULL}, *const scale[] = {"Scale-factor", NULL};
  double a = NAN;
  bool none = false;

  WEIR_TRY(of_group(nc, "Header", redshift, &h->redshift));
  WEIR_TRY(of_group(nc, "Header", scale, &a));
  h->redshift = isnan(h->redshift) && a > 0 ? 1 / a - 1 : h->redshift;
  WEIR_TRY(seek(nc, hubble, 3, &h->h, &none));
  WEIR_TRY(seek(nc, matter, 3, &h->omega_m, &none));
  if (h->redshift < -1 + 1e-9 || isinf(h->redshift) || h->h <= 0 || isinf(h->h)) {
    return weir_fail(WEIR_ERR_DATA, "%s: states a redshift of %g and h = %g", path, h->redshift,
                     h->h);
  }
  h->redshift = fabs(h->redshift) < 1e-9 ? 0 : h->redshift; /* rounding of 1 / a - 1 */
  return WEIR_OK;
}

weir_status cf_snapshot_header_read(weir_netcdf *nc, const char *path, cf_snapshot_header *out)
{
  static const char *const files[] = {"NumFilesPerSnapshot", NULL};
  weir_netcdf *header = NULL;
  double n = NAN;
  weir_status status = WEIR_OK;

  memset(out, 0, sizeof *out);
  WEIR_TRY(cf_snapshot_group(nc, "Header", &header));
  if (header == NULL) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: has no group Header: it is no snapshot in the layout of Gadget or SWIFT",
                     path);
  }
  WEIR_TRY_GOTO(read_particles(header, path, out), done);
  WEIR_TRY_GOTO(read_box(header, path, out), done);
  WEIR_TRY_GOTO(cf_snapshot_number(header, WEIR_NETCDF_FILE, files, &n), done);
  out->files = n >= 1 && n <= 1e6 ? (int64_t)n : 0;
  if (out->files == 0) {
    status = weir_fail(WEIR_ERR_DATA, "%s: Header: NumFilesPerSnapshot is %g", path, n);
    goto done;
  }
  WEIR_TRY_GOTO(read_units(nc, path, out), done);
  WEIR_TRY_GOTO(read_cosmology(nc, path, out), done);
done:
  weir_netcdf_close(&header);
  return status;
}

/* ---- Units ---- */

/* A unit in its cgs unit and the power of h that values are multiplied by. */
typedef struct unit {
  double cgs, h;
} unit;

/* Returns what the file states, or what an option does where it states none. *differ: both do, and
 * contradict each other. */
static unit choose(unit file, unit option, bool *differ)
{
  *differ = option.cgs > 0 && !isnan(file.cgs) &&
            (fabs(file.cgs / option.cgs - 1) > 1e-3 || file.h != option.h);
  return isnan(file.cgs) ? option : file;
}

/* Returns the number of units per h that a unit is, `one` of which is `base` in cgs. */
static double per_h(unit u, double base, double h)
{
  return u.cgs / base * (u.h == -1 ? 1 : pow(h, u.h + 1));
}

weir_status cf_snapshot_units(const cf_snapshot_header *h, const cf_snapshot_opts *opts,
                              const char *path, double length_h, double mass_h,
                              cf_snapshot_info *info)
{
  const unit lengths[] = {[CF_LENGTH_AUTO] = {0, 0},
                          [CF_LENGTH_KPC_H] = {1e-3 * mpc_cm, -1},
                          [CF_LENGTH_MPC_H] = {mpc_cm, -1},
                          [CF_LENGTH_KPC] = {1e-3 * mpc_cm, 0},
                          [CF_LENGTH_MPC] = {mpc_cm, 0}};
  const unit masses[] = {[CF_MASS_AUTO] = {0, 0},
                         [CF_MASS_1E10_H] = {1e10 * sun_g, -1},
                         [CF_MASS_SUN_H] = {sun_g, -1},
                         [CF_MASS_1E10] = {1e10 * sun_g, 0},
                         [CF_MASS_SUN] = {sun_g, 0}};
  const double usual = h->per_h ? -1 : 0;
  bool differ = false, mass_differs = false;
  const unit length = choose((unit){h->unit_cm, isnan(length_h) ? usual : length_h},
                             lengths[opts->length_unit], &differ);
  const unit mass = choose((unit){h->unit_g, isnan(mass_h) ? usual : mass_h},
                           masses[opts->mass_unit], &mass_differs);

  if (differ || mass_differs) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: states a unit of %s of %g %s h^%g, and snapshot.%s_unit another: leave "
                     "the option out",
                     path, differ ? "length" : "mass", differ ? length.cgs : mass.cgs,
                     differ ? "cm" : "g", differ ? length.h : mass.h, differ ? "length" : "mass");
  }
  if (length.cgs == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: does not state its unit of length (a box of %g): set "
                     "snapshot.length_unit to kpc/h, Mpc/h, kpc or Mpc, as the simulation is "
                     "described",
                     path, h->box);
  }
  if (isnan(h->h) && (length.h != -1 || (mass.cgs > 0 && mass.h != -1))) {
    return weir_fail(WEIR_ERR_DATA, "%s: its units do not contain h, and it does not state h",
                     path);
  }
  info->length = per_h(length, mpc_cm, h->h);
  info->mass = mass.cgs > 0 ? per_h(mass, sun_g, h->h) : NAN;
  info->box = h->box * info->length;
  return info->box > 0 && isfinite(info->box)
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s: its box is %g Mpc/h wide", path, info->box);
}
