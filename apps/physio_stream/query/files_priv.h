/* files_priv.h - the files of a query while they are written. */
#ifndef PS_QUERY_FILES_PRIV_H
#define PS_QUERY_FILES_PRIV_H
#include "base/weir_file.h"
#include "io/weir_annotation.h"
#include "io/weir_netcdf.h"
#include "io/weir_record_writer.h"
#include "query/files.h"

enum { PS_FILES_PATH = 4096 };

typedef struct ps_files {
  const ps_query_cfg *cfg;
  const ps_query_run *run;
  const char *dir;
  weir_netcdf *nc;
  weir_writer *csv[WEIR_QUERY_COLUMNS]; /* by output; NULL where it is of another format */
  weir_annotation_writer *marks[WEIR_QUERY_COLUMNS];
  weir_record_writer *record[WEIR_QUERY_COLUMNS];
  weir_netcdf *events[WEIR_QUERY_COLUMNS];
} ps_files;

/* Writes the outputs that go into results.nc, but not committed; nothing where there are none. */
weir_status ps_files_netcdf(ps_files *f) WEIR_CHECKED;
/* Returns true for outputs that results.nc holds. */
bool ps_files_in_netcdf(const ps_query_output *output);
/* Writes an output as rows of a NetCDF file, not committed. */
weir_status ps_files_events(ps_files *f, int output, const char *path) WEIR_CHECKED;
/* Writes the columns of an output as channels of a WFDB record, not committed. */
weir_status ps_files_wfdb(ps_files *f, int output) WEIR_CHECKED;

/* Slots of all columns of an output in one order of time. */
typedef struct ps_rows {
  int n;
  int64_t slot; /* the slot at hand, INT64_MAX past the last */
  ps_column_reader *reader;
} ps_rows;
/* Begins with the first slot that a column has a value in. Fails: as ps_column_open,
 * WEIR_ERR_MEMORY. */
weir_status ps_rows_open(const ps_query_run *run, const weir_query_output *output,
                         ps_rows *rows) WEIR_CHECKED;
/* Goes on to the next slot. Fails: as ps_column_next. */
weir_status ps_rows_next(ps_rows *rows) WEIR_CHECKED;
void ps_rows_close(ps_rows *rows);
#endif
