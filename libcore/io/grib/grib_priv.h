/* grib_priv.h - frames of messages, the index, and what reading and writing share. */
#ifndef WEIR_GRIB_PRIV_H
#define WEIR_GRIB_PRIV_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "io/weir_grib.h"

enum { WEIR_GRIB_WHY = 160, WEIR_GRIB_SECTIONS = 8 };

/* A message that is being walked through: its sections are checked as they come. */
typedef struct weir_grib_frame {
  const uint8_t *bytes; /* of the message */
  int64_t length;
  int edition;
  int64_t at;       /* next section */
  int64_t n_fields; /* fields so far */
  int64_t bitmap, bitmap_length;
  struct {
    int64_t at, length;          /* 0: the field has none */
  } section[WEIR_GRIB_SECTIONS]; /* of the last field */
} weir_grib_frame;

/* Starts on the message at bytes[0], of which `size` bytes are there. False: `why` [WEIR_GRIB_WHY]
 * says key and reason. */
bool weir_grib_frame_open(const uint8_t *bytes, int64_t size, weir_grib_frame *f, char *why);
/* The next field of the message: 1, 0 at its end, -1 for damage with `why`. */
int weir_grib_frame_next(weir_grib_frame *f, char *why);
/* Bytes of a message that holds the field last found alone. */
int64_t weir_grib_frame_size(const weir_grib_frame *f);
/* Writes that message (edition 2); `out` has space for it. */
void weir_grib_frame_copy(const weir_grib_frame *f, uint8_t *out);
/* Offset of the next "GRIB" at or after `from`; size where there is none. */
int64_t weir_grib_frame_find(const uint8_t *bytes, int64_t size, int64_t from);

/* The octets that say what a field is, see print.c. */
enum { WEIR_GRIB_PRINT = 768 };
typedef struct weir_grib_print {
  int64_t size;
  uint8_t bytes[WEIR_GRIB_PRINT];
} weir_grib_print;

/* Of the field last found. False: there are too many. */
bool weir_grib_print_take(const weir_grib_frame *f, weir_grib_print *p, uint64_t *hash);
/* What prints leave out, of instants whose packing is one of the usual: start, step_seconds,
 * number and packing_error of the field. False: not that easily known. */
bool weir_grib_quick(const weir_grib_frame *f, weir_grib_field *field);
/* Half the distance of neighbouring values. */
double weir_grib_packing_error(int64_t bits, int64_t binary, int64_t decimal);

/* A file of a set. */
typedef struct weir_grib_file {
  char *path;
  int64_t size, mtime; /* bytes; nanoseconds since 1970 */
  uint8_t *bytes;      /* mapped, private */
} weir_grib_file;

weir_status weir_grib_file_open(const char *path, weir_grib_file *f) WEIR_CHECKED;
/* Opens it again, to read from; fails where it is no more as it was. */
weir_status weir_grib_file_reopen(const weir_grib_file *f, int *fd) WEIR_CHECKED;
void weir_grib_file_close(weir_grib_file *f);

/* The index of a set. */
struct weir_grib {
  weir_grib_file *files;
  int64_t n_files;
  weir_grib_kind *kinds;
  int64_t n_kinds, kinds_capacity;
  weir_grib_grid *grids; /* lat and lon in one block of lat's */
  int64_t n_grids, grids_capacity;
  weir_grib_field *fields;
  int64_t n_fields, fields_capacity;
  int64_t damaged;
  double *values; /* of one message, as the library gives them */
  int64_t values_capacity;
  uint8_t *message, *copy; /* a message; one of its fields */
  int64_t message_capacity, copy_capacity;
};

/* Appends; what is equal to an earlier kind or grid gets its number. Padding bytes must be 0. */
weir_status weir_grib_add_kind(weir_grib *g, const weir_grib_kind *kind,
                               int64_t *number) WEIR_CHECKED;
weir_status weir_grib_add_grid(weir_grib *g, const weir_grib_grid *grid,
                               int64_t *number) WEIR_CHECKED;
weir_status weir_grib_add_field(weir_grib *g, const weir_grib_field *field) WEIR_CHECKED;
/* Empties the index; the files stay. */
void weir_grib_forget(weir_grib *g);

/* Bytes of a message. */
typedef struct weir_grib_span {
  const uint8_t *bytes;
  int64_t size;
} weir_grib_span;

/* The bytes of the message of field i into *message, which grows and is the caller's. Fails where
 * the file is no more as it was: its mapping would end the process. */
weir_status weir_grib_message(const weir_grib *g, int64_t i, uint8_t **message,
                              int64_t *capacity) WEIR_CHECKED;
/* A message that holds field i alone: `message`, which holds it, or a copy of its parts in *copy,
 * which grows and is the caller's. */
weir_status weir_grib_alone_in(const weir_grib *g, int64_t i, const uint8_t *message,
                               uint8_t **copy, int64_t *capacity,
                               weir_grib_span *span) WEIR_CHECKED;

/* The index as a file. Reading fails with WEIR_ERR_DATA where bytes are no index of the set's
 * files as they are now; nothing in it is trusted. */
enum {
  WEIR_GRIB_INDEX_SUM = 32,   /* where its SHA-256 is, as 64 digits */
  WEIR_GRIB_INDEX_HEAD = 104, /* it is of what follows these bytes */
};
weir_status weir_grib_index_write(const weir_grib *g, const char *path) WEIR_CHECKED;
weir_status weir_grib_index_parse(weir_grib *g, const uint8_t *bytes, int64_t size) WEIR_CHECKED;

/* Values in the order of the message to rows from north to south and columns from west to east;
 * *missing becomes NaN, where it is not NULL. False: one is infinite. */
bool weir_grib_order(const double *in, int64_t n_lat, int64_t n_lon, int scanning,
                     const double *missing, float *out);

/* Seconds since 1970 of a date as 20240229, an hour as 1230 and seconds; false: no such time. */
bool weir_grib_time(int64_t date, int64_t hhmm, int64_t second, int64_t *seconds);
/* And back. */
void weir_grib_date(int64_t seconds, int64_t *date, int64_t *hhmm, int64_t *second);
#endif
