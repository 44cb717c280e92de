/* predicted.h - finding what predict writes in a NetCDF file. */
#ifndef CF_PREDICTED_H
#define CF_PREDICTED_H
#include "io/weir_netcdf.h"

/* Finds a variable of a file of predictions, dtype and lengths[n_dims] as given, below 0: any above
 * 0; chars: of letters. Fails: WEIR_ERR_DATA, naming file and variable. */
weir_status cf_predicted_find(weir_netcdf *nc, const char *path, const char *name, weir_dtype dtype,
                              bool chars, int n_dims, const int64_t *lengths, int *var,
                              weir_netcdf_shape *s) WEIR_CHECKED;
/* Reads a text attribute of the file; `text` is unchanged without one. */
weir_status cf_predicted_text(weir_netcdf *nc, const char *name, char *text,
                              size_t size) WEIR_CHECKED;

#endif
