/* table_files.h - tables of results as files for other programs. */
#ifndef PS_TABLE_FILES_H
#define PS_TABLE_FILES_H
#include "report/weir_report.h"

/* Writes a table as dir/NAME.csv and, where the build has NetCDF, as dir/NAME.nc (CF-1.8): a
 * dimension `row`, a variable for each column by its name there with long_name and, for numbers,
 * units. Numbers are f64, NaN for an empty cell; other columns are text. Fails: as
 * weir_table_write_csv and weir_netcdf.h. */
weir_status ps_table_write(const weir_table *cells, const char *dir, const char *name, int columns,
                           const char *const *head) WEIR_CHECKED;
#endif
