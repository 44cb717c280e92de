/* archive_info.h - what is known of an archive without reading a field, and how its files are read
 * and written. */
#ifndef WX_ARCHIVE_INFO_H
#define WX_ARCHIVE_INFO_H
#include <stdbool.h>
#include <stdint.h>
#include "conf/weir_opt.h"
#include "data/grid.h"
#include "data/quantity.h"

typedef struct wx_archive wx_archive;

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

/* Returns the hours that a quantity covers at a lead, as facts.period. */
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
/* Returns the number of a lead that is there, to the last bit; else -1. */
int64_t wx_archive_lead_number(const wx_archive_info *f, double lead);
/* Returns the index of the start of `truth`, an archive of one lead, that is valid then, or -1.
 */
int64_t wx_archive_find_valid(const wx_archive_info *truth, int64_t seconds);
/* Returns that index for the valid time of (start, lead) of `forecast`. Times within the greater of
 * both tolerances are the same. */
int64_t wx_archive_find_truth(const wx_archive_info *truth, const wx_archive_info *forecast,
                              int64_t start, int64_t lead);

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
  bool invariant;    /* fields without a time are accepted, as of 1970-01-01 */
  bool regrid; /* reduced and rotated grids are accepted: the caller regrids (wx_archive_regrid) */
  const wx_archive_names *names; /* NULL: names, units and levels are those of the files */
} wx_archive_in;
extern const weir_opt wx_archive_in_options[];

/* How a file is written; of GRIB alone where nothing else is said. */
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
#endif
