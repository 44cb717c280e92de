/* emos_file.h - EMOS coefficients as the NetCDF files of IMPROVER (Met Office): variables
 * emos_coefficient_alpha, _beta, _gamma and _delta, single numbers or over the grid. */
#ifndef WX_EMOS_FILE_H
#define WX_EMOS_FILE_H
#include "baseline/emos.h"
#include "data/archive/archive.h"

/* What coefficients are of. */
typedef struct wx_emos_about {
  const wx_quantity *quantity;
  const wx_grid *grid;
  double lead;         /* hours */
  int64_t first, last; /* initialisation times that they were fitted on, s since 1970 */
} wx_emos_about;

/* Writes coefficients at[n]: one set, or one for each cell; f32, as there. A cell without
 * coefficients has NaN in all four. Fails: as the NetCDF interface. */
weir_status wx_emos_write(const char *path, const wx_emos_about *about, const wx_emos *at,
                          int64_t n) WEIR_CHECKED;
/* Sets *at, which the caller frees, and *n: 1, or `cells`. Fails: WEIR_ERR_DATA naming file,
 * variable and reason (missing, of another distribution, size or predictor, not finite but for
 * cells without any coefficient). */
weir_status wx_emos_read(const char *path, int64_t cells, wx_emos **at, int64_t *n) WEIR_CHECKED;
/* Writes the path of "emos_z500_48h.nc" in a folder. Fails: WEIR_ERR_CONFIG where it does not fit.
 */
weir_status wx_emos_path(const char *folder, const wx_emos_about *about, char *path,
                         size_t size) WEIR_CHECKED;
#endif
