/* weir_grib.h - fields of GRIB files, editions 1 and 2: indexed
 * by their contents, decoded on demand, and written as edition 2. A set is used by one thread at a
 * time, different sets by different threads concurrently (ecCodes is not safe for threads: its
 * calls wait for each other). Without ecCodes every function fails with WEIR_ERR_UNSUPPORTED.
 * Invalid contents are refused with WEIR_ERR_DATA, naming file, message, its first byte, key and
 * reason. */
#ifndef WEIR_GRIB_H
#define WEIR_GRIB_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/weir_file.h"
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* True when this build has the library. */
bool weir_grib_available(void);

/* Points of a latitude-longitude or Gaussian grid: regular, reduced or rotated. */
typedef struct weir_grib_grid {
  int64_t n_lat, n_lon;
  int64_t gaussian; /* rows between pole and equator of a Gaussian grid; 0: equidistant rows */
  /* [n_lat] north to south, [n_lon] west to east and ascending; degrees. Reduced: both [n_lon], the
   * location of each point in the order of its values; n_lat is 1. */
  const double *lat, *lon;
  bool wraps;           /* the columns cover the full circle of longitude; not of a reduced grid */
  bool reduced;         /* rows have different numbers of points */
  bool rotated;         /* lat and lon are those of a sphere that is rotated (WMO template 3.1) */
  double south_pole[2]; /* latitude and longitude of its south pole; 0 where it is not rotated */
} weir_grib_grid;

/* Properties shared by many messages. Texts are ecCodes' own, "" where it has none. */
typedef struct weir_grib_kind {
  int64_t param; /* paramId; 0: unknown to ecCodes */
  char short_name[32], units[32], standard_name[96];
  char level_type[32]; /* typeOfLevel */
  double level;        /* hPa on pressure levels, else in the unit of typeOfLevel */
  char step_type[16];  /* "instant", "accum", "max" ... */
  char type[16];       /* dataType: "pf", "cf", "fc", "an", "em" (mean), "es" (spread) ... */
  char stream[16];     /* "enfo", "oper" ...; "" outside MARS */
  char packing[32];    /* packingType */
  int64_t derived;     /* derivedForecast of edition 2; -1: none */
  int64_t bits;        /* per value */
  char refused[160]; /* key and reason why fields of this kind cannot be decoded; "" if they can */
} weir_grib_kind;

/* A field of a message. */
typedef struct weir_grib_field {
  int64_t file;              /* number of its path */
  int64_t message;           /* 1, 2, ... as grib_ls counts */
  int64_t submessage;        /* 0, 1, ... in a message of several fields */
  int64_t offset, length;    /* of the message, bytes */
  int64_t kind, grid;        /* numbers; grid -1 where it is refused */
  int64_t start;             /* of the forecast, also of a reforecast: seconds since 1970 */
  int64_t step_seconds[2];   /* times covered by the values: first and last; equal for an instant */
  int64_t number, n_members; /* member and size of the ensemble; -1 and 0 if not stated */
  double packing_error; /* quantisation error: half the distance of neighbouring values, in units */
  int32_t edition;      /* 1 or 2 */
  int32_t scanning;     /* octet of flags, as in code table 3.4 */
} weir_grib_field;

typedef struct weir_grib_opts {
  const char *index; /* file of the persistent index; NULL: none. It is rebuilt when a file differs
                        from it in size or time */
  bool skip_damaged; /* skip damaged messages, with a warning; otherwise they are refused */
  const char *how_to_skip; /* remedy named in the refusal; NULL: "skip it" */
} weir_grib_opts;

typedef struct weir_grib weir_grib;

/* Opens files and indexes all their messages; opts may be NULL. Intact messages that cannot be
 * decoded (spectral fields, projections) are indexed with the reason; so are components of vectors
 * along the rows and columns of a rotated grid, which are not eastward and northward. */
weir_status weir_grib_open(const char *const *paths, int64_t n, const weir_grib_opts *opts,
                           weir_grib **out) WEIR_CHECKED;
/* Closes the set; accepts NULL. */
void weir_grib_close(weir_grib **g);
/* Return the number of fields and grids. */
int64_t weir_grib_fields(const weir_grib *g);
int64_t weir_grib_grids(const weir_grib *g);
/* Return field i, kind i, grid i, borrowed. Fields are in the order of files and messages. */
const weir_grib_field *weir_grib_field_get(const weir_grib *g, int64_t i);
const weir_grib_kind *weir_grib_kind_get(const weir_grib *g, int64_t i);
const weir_grib_grid *weir_grib_grid_get(const weir_grib *g, int64_t i);
/* Returns the number of damaged regions that were skipped (skip_damaged). */
int64_t weir_grib_damaged(const weir_grib *g);
/* Writes "FILE: message 3 (byte 8640)", for messages about a field. Always terminated. */
void weir_grib_locate(const weir_grib *g, int64_t i, char *text, size_t size);

/* Returns the number of latitudes of a grid: n_lat, or of a reduced one n_lon. */
static inline int64_t weir_grib_grid_lats(const weir_grib_grid *grid)
{
  return grid->reduced ? grid->n_lon : grid->n_lat;
}

/* Decodes fields[n], in the order of the files, each into out[k]: [n_lat, n_lon] of its grid, NaN
 * for missing values. Fails also when a file has changed since it was opened. */
weir_status weir_grib_read(weir_grib *g, int64_t n, const int64_t *fields,
                           float *const *out) WEIR_CHECKED;

typedef enum weir_grib_product {
  WEIR_GRIB_MEMBER, /* templates 4.1, 4.11 */
  WEIR_GRIB_MEAN,   /* 4.2, 4.12, derivedForecast 0 */
  WEIR_GRIB_SPREAD, /* 4.2, 4.12, derivedForecast 4; the standard deviation of the members */
} weir_grib_product;

/* A field to write. With `like`, a template message, centre, parameter, level and all properties
 * not given here come from that message. */
typedef struct weir_grib_out {
  weir_grib_product product;
  const weir_grib *like; /* NULL: built from a sample of the library */
  int64_t like_field;
  const weir_grib_grid *grid; /* of the values; with `like` NULL means its grid */
  int64_t start;              /* seconds since 1970 */
  int64_t step_seconds[2];    /* first and last; equal for an instant */
  const char *step_type;     /* of an interval: "accum", "avg", "max" ..., as weir_grib_kind has it;
                                NULL and "instant": that of `like` */
  int64_t number, n_members; /* number counts for members only: 0 is the control; at most 254 */
  int64_t param;             /* paramId; this and the level count without `like` only */
  const char *level_type;    /* typeOfLevel */
  double level;              /* hPa on pressure levels */
  int bits;                  /* bits per value, 1..32; 16 suffices for members and 24 for spreads */
  const char *packing;       /* "grid_simple" (also for NULL), "grid_ccsds" */
  int process; /* typeOfGeneratingProcess (table 4.3): 4 ensemble forecast, 11 bias-corrected
                  ensemble forecast; 0: unchanged */
} weir_grib_out;

typedef struct weir_grib_writer weir_grib_writer;

/* Starts a file. Fails: WEIR_ERR_DATA where it cannot be created; *out is then NULL. */
weir_status weir_grib_create(const char *path, weir_grib_writer **out) WEIR_CHECKED;
/* Appends a message; NaN becomes a missing value. Fails: WEIR_ERR_EXTERNAL, naming the key that the
 * library refused; WEIR_ERR_NUMERIC for an infinite value; WEIR_ERR_SHAPE for fields that GRIB
 * cannot represent, and for reduced and rotated grids. */
weir_status weir_grib_write(weir_grib_writer *w, const weir_grib_out *what,
                            const float *values) WEIR_CHECKED;
/* Completes the file and renames it into place; *w is destroyed in either case. */
weir_status weir_grib_commit(weir_grib_writer **w) WEIR_CHECKED;
/* Completes the file into *file, which the caller renames into place (weir_writer_commit_all); *w
 * is destroyed in either case. *file is NULL on failure. */
weir_status weir_grib_finish(weir_grib_writer **w, weir_writer **file) WEIR_CHECKED;
/* Removes the temporary file; accepts NULL. */
void weir_grib_abandon(weir_grib_writer **w);

#ifdef __cplusplus
}
#endif
#endif
