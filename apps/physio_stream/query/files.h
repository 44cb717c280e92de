/* files.h - what a query writes: tables, NetCDF, annotations, WFDB records. */
#ifndef PS_QUERY_FILES_H
#define PS_QUERY_FILES_H
#include "query/run.h"

/* Writes the outputs of a run that is over into `dir`; they appear when all could be written.
 * Fails: WEIR_ERR_DATA; WEIR_ERR_UNSUPPORTED for format netcdf in a build without it;
 * WEIR_ERR_CONFIG for a record of a name that none can have. */
weir_status ps_query_files_write(const ps_query_cfg *cfg, const ps_query_run *r,
                                 const char *dir) WEIR_CHECKED;
/* Fails with WEIR_ERR_UNSUPPORTED what could not be written in this build. */
weir_status ps_query_files_check(const ps_query_cfg *cfg) WEIR_CHECKED;
/* Writes the name of the file that `output` becomes, suffix included ("" for one that has no file
 * of its own); record: name of the recording. */
void ps_query_file_name(const ps_query_output *output, const char *record, char *text, size_t size);
#endif
