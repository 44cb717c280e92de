/* origin.h - the origin of predictions as attributes of their file: weights, resolved configuration
 * and samples by their SHA-256; and checks against the present files. */
#ifndef CF_ORIGIN_H
#define CF_ORIGIN_H
#include "base/weir_origin.h"
#include "data/source.h"
#include "io/weir_netcdf.h"

/* Digests in addition to that of the samples (source.h). */
#define CF_ORIGIN_WEIGHTS "weights"
#define CF_ORIGIN_CONFIG "config"

/* Writes every line as an attribute of the file. */
weir_status cf_origin_put(weir_netcdf *nc, const weir_origin *o) WEIR_CHECKED;
/* Reads the attributes of a file; the caller ends *out. Fails: WEIR_ERR_MEMORY, as
 * weir_netcdf_get_text. */
weir_status cf_origin_take(weir_netcdf *nc, weir_origin *out) WEIR_CHECKED;
/* Checks the predictions of the file `path`: refused where the weights file that they name has
 * changed, and, same_files, where the truth is of other samples than were predicted; warns where
 * this is not known, and where the configuration differs. truth NULL: none is given. Fails:
 * WEIR_ERR_DATA, naming both and the remedy; as cf_source_belongs. */
weir_status cf_origin_judge(const weir_origin *o, const char *path, const cf_source *truth,
                            const char *truth_name, bool same_files) WEIR_CHECKED;
#endif
