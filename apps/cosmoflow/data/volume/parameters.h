/* parameters.h - the table of parameters of a set of simulations: a simulation a line, numbers
 * separated by spaces, commas or tabs, as CAMELS (CosmoAstroSeed_*.txt) and Quijote
 * (latin_hypercube_params.txt) publish them. */
#ifndef CF_PARAMETERS_H
#define CF_PARAMETERS_H
#include "data/volume/volume_info.h"

typedef struct cf_parameters cf_parameters;

/* Reads a table; section: "paint" or "files", borrowed, which messages name options by. Names in
 * use are replaced by those of `prepare` (Omega_m, Om: omega_m; Omega_b, Ob: omega_b; sigma_8,
 * sigma8, s8: sigma_8; n_s, ns: n_s; h). Fails: WEIR_ERR_DATA for lines of other lengths and what
 * is no finite number, with file and line; WEIR_ERR_CONFIG for columns without names, labels that
 * are no columns, more than CF_MAX_LABELS labels, ranges of other lengths or that do not contain a
 * value. */
weir_status cf_parameters_read(const cf_parameters_opts *opts, const char *section,
                               cf_parameters **out) WEIR_CHECKED;
/* Accepts NULL. */
void cf_parameters_destroy(cf_parameters **p);
int64_t cf_parameters_count(const cf_parameters *p);
/* Sets the labels of info: number, names and ranges. */
void cf_parameters_info(const cf_parameters *p, cf_volume_info *info);
/* Returns in *row the number, from 0, of the simulation that a file is of: the line whose first
 * column is a folder of its path (LH_12); in a table of numbers alone, the last folder of its path
 * that is a whole number (12). Fails: WEIR_ERR_DATA where there is none. */
weir_status cf_parameters_find(const cf_parameters *p, const char *path, int64_t *row) WEIR_CHECKED;
/* Computes the labels of a simulation in [-1, 1], and what is known of it: parameters in their own
 * units, and CF_COSMOLOGY_NAMES where the table has all of them. */
void cf_parameters_get(const cf_parameters *p, int64_t row, float *labels, cf_facts *facts);
#endif
