/* archive.h - ensemble forecasts, or analyses, of any number of GRIB and NetCDF files as one cube
 * [start, lead, quantity, member, lat, lon]: opened by what they hold, read a piece at a time.
 * A quantity is a variable on a level: "z500", "2t". An archive is used by one thread at a time. */
#ifndef WX_ARCHIVE_H
#define WX_ARCHIVE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_file.h"
#include "conf/weir_opt.h"
#include "data/grid.h"
#include "data/quantity.h"

/* All borrowed from the archive. Not every start has to have every lead, quantity and member. */
typedef struct wx_archive_info {
  const char *name; /* of the first file, for messages                                       */
  int64_t n_files;  /* 0: of memory                                                          */
  int64_t n_init_times, n_leads, n_members, n_quantities;
  const int64_t *start;  /* [n_init_times] ascending, seconds since 1970-01-01 00:00 UTC      */
  const double *lead;    /* [n_leads] ascending, hours                                    */
  const int64_t *member; /* [n_members] ascending; 0 is the control                       */
  const wx_quantity *quantity; /* [n_quantities], as they come in the files                     */
  const double *period;        /* [n_quantities, n_leads] hours that values cover, up to the time
                                  that they are valid at; 0: an instant; NaN: the files do not say;
                                  NULL: all are of instants                                     */
  wx_grid grid;
  double tolerance; /* hours: times that differ by no more are the same; 24 where files count years
                       (a year of leads is 8766 h), else 0 */
  const wx_attrs
      *notes; /* of the first file that has any: institution, title, licence ...; or NULL */
} wx_archive_info;

typedef struct wx_archive wx_archive;

/* What fields of files are called here. */
typedef struct wx_rename {
  const char *from;  /* the name in the file, or the one that it has here without this row */
  const char *to;    /* short name; "": as it is                                           */
  const char *units; /* of files that state none; "": none                                 */
  double level;      /* hPa, of files that state none; 0: none                             */
} wx_rename;
typedef struct wx_archive_names {
  weir_struct_list rename; /* wx_rename */
  int level_units;         /* of levels without units: 0: refused; hPa, Pa, m */
} wx_archive_names;
extern const weir_opt wx_archive_names_options[];

/* How files are read. */
typedef struct wx_archive_in {
  const char *index; /* GRIB: folder that keeps what is in the files, for the next time; "": none */
  bool skip_damaged; /* GRIB: continue after damage, with a warning; else it is refused */
  const wx_archive_names *names; /* NULL: names, units and levels are those of the files */
} wx_archive_in;
extern const weir_opt wx_archive_in_options[];

/* Opens an archive of files. Each path may be a pattern (* ? [...]), unless it is the name of a
 * file: the files that match it, in the order of their names. Files are told apart by their first
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
/* Hours that a quantity covers at a lead, as facts.period. */
double wx_archive_period(const wx_archive_info *f, int64_t quantity, int64_t lead);
/* Returns whether quantity `of` of a truth, or of other forecasts at of_lead, is that of the
 * forecast at the lead: one method over one period, which files state. */
bool wx_archive_same_period(const wx_archive_info *forecast, int64_t quantity, int64_t lead,
                            const wx_archive_info *other, int64_t of, int64_t of_lead);
/* Checks this. Fails: WEIR_ERR_DATA naming both, and what to do. */
weir_status wx_archive_check_period(const wx_archive_info *forecast, int64_t quantity, int64_t lead,
                                    const wx_archive_info *other, int64_t of,
                                    int64_t of_lead) WEIR_CHECKED;
/* Return the number, or -1. Times within facts.tolerance are found: the nearest. */
int64_t wx_archive_find_quantity(const wx_archive_info *f, const char *name);
/* Returns the option to set where an archive has no quantity of this name, but one that a row of
 * data.names.rename makes it of: "; gh500 is there: ..."; "" where there is none. */
void wx_archive_hint(const wx_archive_info *f, const char *name, char *text, size_t size);
int64_t wx_archive_find_start(const wx_archive_info *f, int64_t seconds);
int64_t wx_archive_find_lead(const wx_archive_info *f, double hours);
/* Returns the index of the start of `truth`, an archive of one lead, that is valid then, or -1.
 */
int64_t wx_archive_find_valid(const wx_archive_info *truth, int64_t seconds);
/* Returns that index for the valid time of (start, lead) of `forecast`. Times within the greater of
 * both tolerances are the same. */
int64_t wx_archive_find_truth(const wx_archive_info *truth, const wx_archive_info *forecast,
                              int64_t start, int64_t lead);

/* Writing: CF NetCDF-4 (reference 7.3), a chunk for every start, lead and level with all members of
 * a tile, what is not written is missing; or, to a name that ends in .grib, .grib2, .grb or .grb2,
 * GRIB edition 2, a message for every field that is written (lat-lon grids). Written to a temporary
 * file and renamed. */
typedef struct wx_archive_writer wx_archive_writer;
/* GRIB only. */
typedef struct wx_archive_out {
  const wx_archive
      *like; /* of GRIB files: a message is made of that of the same start, lead,
                quantity and member there, or one as near; NULL: of paramId and level */
  int bits;  /* of a value; 0: 16 for members, 24 for means and spreads. The error is half the range
                of a field divided by 2^bits */
  int64_t n_members; /* of means and spreads: how many members they are of; 0: those of `like` */
  bool corrected;    /* the messages say that they are of a bias-corrected ensemble */
  const double *quantile; /* [n_members] NetCDF: fields are quantiles at these probabilities, along
                             a dimension `quantile`; NULL: members */
} wx_archive_out;
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
