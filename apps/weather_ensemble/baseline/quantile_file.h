/* quantile_file.h - a fitted quantile mapping as a NetCDF file: quantiles of forecast and truth at
 * each point. */
#ifndef WX_QUANTILE_FILE_H
#define WX_QUANTILE_FILE_H
#include "baseline/quantile.h"
#include "data/quantity.h"

/* Writes a mapping of a quantity at a lead (h). Fails: as the NetCDF interface. */
weir_status wx_quantile_write(const char *path, const wx_quantity *quantity, double lead,
                              const wx_quantile *map) WEIR_CHECKED;
/* Reads a mapping of `cells` points, freed by wx_quantile_fini. Fails: WEIR_ERR_DATA naming file,
 * variable and reason (missing, other units, size or type, not ascending); *out is then empty. */
weir_status wx_quantile_read(const char *path, const wx_quantity *quantity, int64_t cells,
                             wx_quantile *out) WEIR_CHECKED;
/* Writes the path of "quantile_z500_48h.nc" in a folder. Fails: WEIR_ERR_CONFIG where it does not
 * fit. */
weir_status wx_quantile_path(const char *folder, const wx_quantity *quantity, double lead,
                             char *path, size_t size) WEIR_CHECKED;
#endif
