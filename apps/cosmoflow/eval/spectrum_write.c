/* spectrum_write.c - a power spectrum as rows and as NetCDF. */
#include <math.h>
#include "base/weir_alloc.h"
#include "eval/spectrum.h"
#include "io/weir_netcdf.h"

const char *const *cf_spectrum_head(const cf_spectrum *s)
{
  static const char *const physical[CF_SPECTRUM_COLUMNS] = {
      "channel", "redshift",   "k_min_h_per_Mpc", "k_max_h_per_Mpc", "k_h_per_Mpc",
      "modes",   "P_Mpc3_h-3", "sigma_P",         "P_linear"};
  static const char *const voxels[CF_SPECTRUM_COLUMNS] = {
      "channel", "redshift", "k_min_per_voxel", "k_max_per_voxel", "k_per_voxel",
      "modes",   "P_voxel3", "sigma_P",         "P_linear"};

  static const char *const physical_map[CF_SPECTRUM_COLUMNS] = {
      "channel", "redshift",   "k_min_h_per_Mpc", "k_max_h_per_Mpc", "k_h_per_Mpc",
      "modes",   "P_Mpc2_h-2", "sigma_P",         "P_linear"};
  static const char *const pixels[CF_SPECTRUM_COLUMNS] = {
      "channel", "redshift", "k_min_per_voxel", "k_max_per_voxel", "k_per_voxel",
      "modes",   "P_voxel2", "sigma_P",         "P_linear"};

  if (s->depth == 1) {
    return s->physical ? physical_map : pixels;
  }
  return s->physical ? physical : voxels;
}

/* A number, or an empty cell. */
static void put(weir_table *t, double x)
{
  weir_table_add_number(t, "%.7g", x, "");
}

void cf_spectrum_table(const cf_spectrum *s, weir_table *out)
{
  for (int64_t c = 0; c < s->n_channels; c++) {
    for (int64_t b = 0; b < s->n_bins; b++) {
      const int64_t i = c * s->n_bins + b;

      weir_table_add(out, "%lld", (long long)c);
      put(out, s->redshift[c]);
      put(out, s->lo[b]);
      put(out, s->hi[b]);
      put(out, s->k[b]);
      put(out, s->modes[b]);
      put(out, s->power[i]);
      put(out, s->power[i] * sqrt(2 / s->modes[b]));
      put(out, s->linear[i]);
    }
  }
}

/* Defines a variable over dims, with description and units. */
static weir_status put_var(weir_netcdf *nc, const char *name, const char *long_name,
                           const char *units, int n_dims, const int *dims, const int64_t *count,
                           const double *values)
{
  const int64_t zero[2] = {0, 0};
  int var = 0;

  WEIR_TRY(weir_netcdf_var(nc, name, WEIR_F64, n_dims, dims, &var));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "long_name", long_name));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "units", units));
  return weir_netcdf_write(nc, var, zero, count, values);
}

static weir_status put_edges(weir_netcdf *nc, const cf_spectrum *s, const int *dims)
{
  const int64_t zero[2] = {0, 0}, count[2] = {s->n_bins, 2};
  double *edges = NULL;
  int var = 0;

  WEIR_TRY(weir_alloc(2 * s->n_bins, sizeof *edges, (void **)&edges));
  for (int64_t b = 0; b < s->n_bins; b++) {
    edges[2 * b] = s->lo[b];
    edges[2 * b + 1] = s->hi[b];
  }
  weir_status status = weir_netcdf_var(nc, "k_bounds", WEIR_F64, 2, dims, &var);

  status = status == WEIR_OK ? weir_netcdf_write(nc, var, zero, count, edges) : status;
  weir_free(&edges);
  return status;
}

static weir_status put_k(weir_netcdf *nc, const cf_spectrum *s, int k, int ends)
{
  const int64_t zero[1] = {0}, count[1] = {s->n_bins};
  const int edges[2] = {k, ends};
  int var = 0;

  WEIR_TRY(weir_netcdf_var(nc, "k", WEIR_F64, 1, &k, &var));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "long_name", "wave number, mean over the modes of a bin"));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "units", s->physical ? "megaparsec-1" : "1"));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "comment",
                                s->physical ? "in h/Mpc, h = H0 / (100 km/s/Mpc)"
                                            : "in radians per voxel"));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "bounds", "k_bounds"));
  WEIR_TRY(weir_netcdf_write(nc, var, zero, count, s->k));
  return put_edges(nc, s, edges);
}

static weir_status put_all(weir_netcdf *nc, const cf_spectrum *s)
{
  const int64_t channels[2] = {s->n_channels, s->n_bins}, bins[1] = {s->n_bins};
  const bool map = s->depth == 1;
  const char *const volume = !s->physical ? "1" : map ? "megaparsec2" : "megaparsec3";
  int dims[2] = {0, 0}, ends = 0;

  WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "Conventions", "CF-1.8"));
  WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "title", "cosmoflow: power spectrum"));
  WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "source", s->where));
  WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "field", cf_field_name[s->field]));
  WEIR_TRY(weir_netcdf_dim(nc, "channel", s->n_channels, &dims[0]));
  WEIR_TRY(weir_netcdf_dim(nc, "k", s->n_bins, &dims[1]));
  WEIR_TRY(weir_netcdf_dim(nc, "end", 2, &ends));
  WEIR_TRY(put_k(nc, s, dims[1], ends));
  WEIR_TRY(put_var(nc, "modes", "modes of a bin, +k and -k both counted", "1", 1, &dims[1], bins,
                   s->modes));
  WEIR_TRY(put_var(nc, "redshift", "redshift of the channel; NaN: not stated", "1", 1, dims,
                   channels, s->redshift));
  WEIR_TRY(put_var(nc, "mean", "mean of the voxels", "1", 1, dims, channels, s->mean));
  WEIR_TRY(put_var(nc, "power",
                   !s->physical ? "power spectrum of the overdensity, in voxels"
                   : map        ? "power spectrum of the overdensity, in (Mpc/h)^2"
                                : "power spectrum of the overdensity, in (Mpc/h)^3",
                   volume, 2, dims, channels, s->power));
  return put_var(nc, "linear",
                 "P(k) of linear theory at the redshift of the channel, (Mpc/h)^3; NaN: cosmology "
                 "not stated",
                 volume, 2, dims, channels, s->linear);
}

weir_status cf_spectrum_write(const cf_spectrum *s, const char *path)
{
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_netcdf_create(path, &nc));
  WEIR_TRY_GOTO(put_all(nc, s), done);
  status = weir_netcdf_commit(&nc);
done:
  weir_netcdf_close(&nc);
  return status;
}
