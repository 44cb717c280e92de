/* origin.h - what predictions came from, as attributes of their file: weights, resolved
 * configuration and samples by their SHA-256; and whether they belong to what is there now. */
#ifndef CF_ORIGIN_H
#define CF_ORIGIN_H
#include "base/weir_origin.h"
#include "data/source.h"
#include "io/weir_netcdf.h"

/* What is digested beside the samples (source.h). */
#define CF_ORIGIN_WEIGHTS "weights"
#define CF_ORIGIN_CONFIG "config"

/* Every line as an attribute of the file. */
weir_status cf_origin_put(weir_netcdf *nc, const weir_origin *o) WEIR_CHECKED;
/* Those that a file has; the caller ends *out. Fails: WEIR_ERR_MEMORY, as weir_netcdf_get_text. */
weir_status cf_origin_take(weir_netcdf *nc, weir_origin *out) WEIR_CHECKED;
/* Judges predictions of the file `path`: refused where their weights are no longer those of the
 * file that they name, and, same_files, where the truth is of other samples than were predicted;
 * warned of where it is not known, and where the configuration is another. truth NULL: none is
 * given. Fails: WEIR_ERR_DATA, naming both and what to do; as cf_source_belongs. */
weir_status cf_origin_judge(const weir_origin *o, const char *path, const cf_source *truth,
                            const char *truth_name, bool same_files) WEIR_CHECKED;
#endif
