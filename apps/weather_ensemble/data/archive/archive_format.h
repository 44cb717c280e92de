/* archive_format.h - formats of the files of an archive: a folder of data/format/ defines one
 * descriptor wx_format_NAME, and the build lists them. */
#ifndef WX_ARCHIVE_FORMAT_H
#define WX_ARCHIVE_FORMAT_H
#include "base/weir_file.h"
#include "data/archive/archive_info.h"

/* Of all files together. */
enum { WX_MAX_FIELDS = 1 << 24 };
/* Hours that a forecast may run: beyond a thousand years a step is damage. */
enum { WX_MAX_LEAD = 10000000 };

/* An archive that is being opened: takes what a file holds. */
typedef struct wx_index wx_index;

/* A field of a file; number: its position in the file, as its format counts. */
typedef struct wx_field {
  int64_t start;    /* seconds since 1970-01-01 00:00 UTC */
  double lead;      /* hours */
  int64_t quantity; /* of wx_index_quantity */
  int64_t member, number;
  int64_t period; /* seconds that it covers, up to its valid time; 0: an instant */
} wx_field;

/* The period of a field that is a sum, mean or extreme of a time that its file does not state. */
enum { WX_PERIOD_UNKNOWN = -1 };

/* Functions that write a format. create: *state is NULL after a failure; write: numbers are within
 * those of the facts; finish and abandon end it. */
typedef struct wx_sink {
  weir_status (*create)(const char *path, const wx_archive_info *facts, const wx_archive_out *how,
                        void **state);
  weir_status (*put_text)(void *state, const char *name, const char *text);
  weir_status (*write)(void *state, int64_t start, int64_t lead, int64_t quantity, int64_t member,
                       int64_t n, const float *values);
  weir_status (*finish)(void **state, weir_writer **file); /* file: NULL on failure */
  void (*abandon)(void **state);
} wx_sink;

typedef struct wx_format {
  const char *name; /* in messages */
  /* Of names that are written in it, ".a|.b"; NULL: all that are of no other format. */
  const char *endings;
  /* Returns where in the first bytes of a file the format's signature begins; -1: nowhere. The file
   * is of the format whose signature comes first. */
  int64_t (*find)(const unsigned char *bytes, int64_t n);
  /* Returns whether a folder is such a file; NULL: none is. */
  bool (*is_folder)(const char *path);
  /* Adds the grid, quantities and fields of the file to the index. *state is closed by the archive,
   * also after a failure that left one. Messages name the file. */
  weir_status (*open)(const char *path, wx_index *index, void **state);
  /* Reads the fields number[n] into out[n, cells], in the order of the grid, NaN where a value is
   * missing. */
  weir_status (*read)(void *state, const int64_t *number, int64_t n, float *out);
  /* Releases memory and handles of an open file until it is read again; NULL: it has none. */
  void (*rest)(void *state);
  void (*close)(void **state);
  const wx_sink *sink; /* NULL: it is read only */
} wx_format;

/* Ended by NULL. */
extern const wx_format *const wx_format_table[];

/* Records the grid of the file's fields, in order (wx_grid_arrange); copied. weight NULL:
 * wx_grid_weights. Fails: WEIR_ERR_DATA where an earlier file has another one; `what`: variable or
 * message. */
weir_status wx_index_grid(wx_index *index, const wx_grid *grid, const char *what) WEIR_CHECKED;
/* How the values of a field become those of its quantity. */
typedef struct wx_naming {
  wx_conversion by;
  bool renamed; /* by a row of data.names.rename */
} wx_naming;
/* Completes a quantity (wx_quantity_complete) that the file calls `own`, by the caller's names and
 * into the units of the tables. Fails: WEIR_ERR_DATA naming the row of data.names.rename and the
 * units that do not go with it. */
weir_status wx_index_name(const wx_index *index, const char *own, wx_quantity *q,
                          wx_naming *out) WEIR_CHECKED;
/* Finds the number of a quantity of wx_index_name, which files may have in common. Fails:
 * WEIR_ERR_DATA where an earlier file has it in other units, or the same file under two names in
 * two units. */
weir_status wx_index_quantity(wx_index *index, const wx_quantity *q, const wx_naming *as,
                              int64_t *number) WEIR_CHECKED;
/* Records a field. Fails: WEIR_ERR_DATA where there are too many. */
weir_status wx_index_field(wx_index *index, const wx_field *field) WEIR_CHECKED;
/* Records attributes of the file; those of the first file that has any stay. */
weir_status wx_index_notes(wx_index *index, const wx_attrs *notes) WEIR_CHECKED;
/* Returns the units of levels whose coordinate states none; "": they are refused. */
const char *wx_index_level_units(const wx_index *index);
/* Returns the options of reading. Borrowed while the archive is opened. */
const wx_archive_in *wx_index_how(const wx_index *index);
/* Sets the uncertainty of the times of the file, hours. */
void wx_index_tolerance(wx_index *index, double hours);
#endif
