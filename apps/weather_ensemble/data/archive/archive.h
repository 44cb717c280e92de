/* archive.h - ensemble forecasts, or analyses, of any number of GRIB and NetCDF files as one cube
 * [start, lead, quantity, member, lat, lon]: opened by what they hold, read a piece at a time.
 * A quantity is a variable on a level: "z500", "2t". An archive is used by one thread at a time. */
#ifndef WX_ARCHIVE_H
#define WX_ARCHIVE_H
#include "base/weir_file.h"
#include "data/archive/archive_info.h"
#include "data/regrid/weights.h"

/* Opens an archive of files. Each path may be a pattern (* ? [...]), unless it is the name of a
 * file: the files that match it, in the order of their names. Formats are recognised by their first
 * bytes. Initialisation times, leads, members and quantities are those of all files together; the
 * grid has to be the same in all, and no field may be there twice. Fails: WEIR_ERR_DATA naming file
 * (both, where two disagree), variable or message, reason and what to do; WEIR_ERR_UNSUPPORTED for
 * a format that this build does not read.
 */
weir_status wx_archive_open_as(const char *const *paths, int n, const wx_archive_in *how,
                               wx_archive **out) WEIR_CHECKED;
/* Opens an archive with how: {"", false}. */
weir_status wx_archive_open(const char *const *paths, int n, wx_archive **out) WEIR_CHECKED;
/* Makes an archive of memory (tests, the simulator): facts are copied (weight NULL:
 * wx_grid_weights), values [start, lead, quantity, member, cells] are borrowed. Fails:
 * WEIR_ERR_SHAPE for facts that are not in order. */
weir_status wx_archive_of_memory(const wx_archive_info *facts, const float *values,
                                 wx_archive **out) WEIR_CHECKED;
/* Opens files as a truth: the start of each field becomes the time that it is valid at (start plus
 * lead) and the lead 0, so that analyses, and short forecasts of many initialisation times and
 * steps, are one series of times. Fails: as wx_archive_open_as; WEIR_ERR_DATA naming the files
 * where two fields of a quantity are valid at the same time. */
weir_status wx_archive_open_truth(const char *const *paths, int n, const wx_archive_in *how,
                                  wx_archive **out) WEIR_CHECKED;
/* Closes; accepts NULL. */
void wx_archive_close(wx_archive **a);
/* Brings all fields to a LATLON grid, or to SITES, as they are read: the grid of the metadata is
 * then this one. Weights are taken over, from the present grid to `to`; missing: of
 * wx_weights_apply. Once an archive. */
weir_status wx_archive_regrid(wx_archive *a, const wx_grid *to, double missing,
                              wx_weights *weights) WEIR_CHECKED;
/* Adds offset[cells], copied, to the fields of a quantity as they are read from now on: of an
 * archive that is regridded, one offset for all its quantities. */
weir_status wx_archive_offset(wx_archive *a, int64_t quantity, const float *offset) WEIR_CHECKED;
/* Returns the metadata, known without reading a field. */
const wx_archive_info *wx_archive_get(const wx_archive *a);
/* Returns whether the files hold this field at all. Four numbers, each in [0, n). */
bool wx_archive_has(const wx_archive *a, int64_t start, int64_t lead, int64_t quantity,
                    int64_t member);
/* Reads fields of n members from `member` on, [n, n_lat, n_lon]; NaN where a value is missing, and
 * in fields that no file holds. Fails: WEIR_ERR_DATA naming file, message or variable, and reason;
 * WEIR_ERR_SHAPE for numbers that the archive does not have. */
weir_status wx_archive_read(wx_archive *a, int64_t start, int64_t lead, int64_t quantity,
                            int64_t member, int64_t n, float *out) WEIR_CHECKED;
/* Writing: CF NetCDF-4 (reference 7.3), a chunk for every start, lead and level with all members of
 * a tile, what is not written is missing; or, to a name that ends in .grib, .grib2, .grb or .grb2,
 * GRIB edition 2, a message for every field that is written (lat-lon grids). Written to a temporary
 * file and renamed. */
typedef struct wx_archive_writer wx_archive_writer;
/* Starts a file; facts (and like) are borrowed until the end. Fails: as the NetCDF or GRIB
 * interface; WEIR_ERR_UNSUPPORTED for a grid that is no lat-lon one in GRIB. */
weir_status wx_archive_create_as(const char *path, const wx_archive_info *facts,
                                 const wx_archive_out *how, wx_archive_writer **out) WEIR_CHECKED;
/* Creates an archive with how: {NULL, 0}. */
weir_status wx_archive_create(const char *path, const wx_archive_info *facts,
                              wx_archive_writer **out) WEIR_CHECKED;
/* Sets a text attribute of the file: what made it, from what. GRIB cannot store it: nothing. */
weir_status wx_archive_put_text(wx_archive_writer *w, const char *name,
                                const char *text) WEIR_CHECKED;
/* Writes fields of n members from `member` on, [n, n_lat, n_lon]; NaN is missing. */
weir_status wx_archive_write(wx_archive_writer *w, int64_t start, int64_t lead, int64_t quantity,
                             int64_t member, int64_t n, const float *values) WEIR_CHECKED;
/* Completes the file; *w is destroyed either way. */
weir_status wx_archive_commit(wx_archive_writer **w) WEIR_CHECKED;
/* Completes the file, which *file, the caller's, renames into place (weir_writer_commit_all); *w is
 * destroyed either way. *file is NULL on failure. */
weir_status wx_archive_finish(wx_archive_writer **w, weir_writer **file) WEIR_CHECKED;
/* Removes what is not committed; accepts NULL. */
void wx_archive_abandon(wx_archive_writer **w);
#endif
