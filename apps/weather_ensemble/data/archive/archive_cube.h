/* archive_cube.h - the files of an archive and where they hold each field of the cube: what the
 * sources of an open archive share. */
#ifndef WX_ARCHIVE_CUBE_H
#define WX_ARCHIVE_CUBE_H
#include "data/archive/archive_format.h"
#include "data/regrid/weights.h"

enum { WX_MAX_QUANTITIES = 4096 };

typedef struct wx_entry {
  union {
    wx_field field; /* while the files are opened */
    struct {
      int64_t key, number; /* key: [start, lead, quantity, member] */
      double step;         /* hours from the start in the file: a truth's lead is 0 */
    } at;
  } u;
  int64_t file;
} wx_entry;

/* How a file gives a quantity. */
typedef struct wx_converted {
  int64_t quantity;
  wx_naming as;
} wx_converted;

typedef struct wx_file {
  const wx_format *format;
  void *state;
  char *path;
  int64_t n_converted, converted_capacity;
  wx_converted *converted;
  int64_t used; /* when it was read last; 0: it rests */
} wx_file;

struct wx_archive {
  wx_archive_info facts;
  int64_t *start, *member;
  double *lead, *lat, *lon, *height, *weight, *period;
  wx_attrs *mapping, *notes;
  wx_quantity *quantity;
  int64_t quantity_capacity;
  int64_t n_files, n_open, max_open, clock;
  wx_file *files;
  int64_t n_entries, entry_capacity;
  wx_entry *entries;   /* ascending key */
  int64_t *number;     /* [n_members]: of fields to read at once */
  const float *values; /* of memory; NULL: of files */
  wx_weights *weights; /* to facts.grid from the grid of the files; NULL: it is theirs */
  double missing;      /* of wx_weights_apply */
  float *offset;       /* [cells] is added to fields of some quantities; NULL: to none */
  bool *has_offset;    /* [n_quantities] */
  float *source;       /* fields as read */
  int64_t source_capacity;
};

/* What is being opened: file `now`; of_grid: the file of the grid, -1 before there is one. */
struct wx_index {
  wx_archive *a;
  const wx_archive_in *how;
  bool truth; /* initialisation times become times of validity */
  int64_t now, of_grid;
  int64_t of_quantity[WX_MAX_QUANTITIES]; /* the file of each */
};

/* archive.c */
/* Sets the maximum number of files (> 0) open at once. */
void wx_archive_set_max_open(wx_archive *a, int64_t n);
/* Returns the format, its state and the number of a field of files; NULL: no file holds it, or not
 * in the units, under the name or on the grid that the archive has it on. */
const wx_format *wx_archive_locate(const wx_archive *a, int64_t start, int64_t lead,
                                   int64_t quantity, int64_t member, void **state, int64_t *number);
/* archive_regrid.c, of an archive with weights */
/* Returns the memory of n fields of the files' grid in *source. Borrowed. */
weir_status wx_archive_regrid_fields(wx_archive *a, int64_t n, float **source) WEIR_CHECKED;
/* Brings these fields of a quantity to the archive's grid, out[n, cells], with its offset. */
void wx_archive_regrid_apply(const wx_archive *a, int64_t quantity, int64_t n, float *out);
void wx_archive_regrid_fini(wx_archive *a);
/* archive_names.c */
/* Notes how the file gives its quantity. Fails: WEIR_ERR_DATA where it does so in two ways. */
weir_status wx_archive_convert(wx_file *f, const wx_quantity *q, int64_t quantity,
                               const wx_naming *as) WEIR_CHECKED;
/* Returns how values or names of a file become those of the quantity; NULL: they are it already. */
const wx_naming *wx_archive_converted(const wx_file *f, int64_t quantity);
/* archive_index.c */
/* Makes a copy of n elements into *out, a pointer; NULL of NULL. The caller frees it. */
weir_status wx_archive_copy(void *out, const void *from, int64_t n, size_t size) WEIR_CHECKED;
/* Makes the archive's own copy of a grid. */
weir_status wx_archive_take_grid(wx_archive *a, const wx_grid *grid) WEIR_CHECKED;
/* Returns the number of a field among those of a full cube; false: beyond 64 bits. */
bool wx_archive_key(const wx_archive_info *f, int64_t start, int64_t lead, int64_t quantity,
                    int64_t member, int64_t *key);
/* archive_period.c */
/* Sets facts.period of the fields of all files. Fails: WEIR_ERR_DATA naming both, where
 * fields of a quantity and lead (of a truth: of a quantity) cover different times. */
weir_status wx_archive_take_periods(wx_archive *a, bool truth) WEIR_CHECKED;
/* Axes and order of the fields of all files; of a truth by the times that they are valid at.
 * Fails: WEIR_ERR_DATA for one that is there twice. */
weir_status wx_archive_arrange(wx_archive *a, bool truth) WEIR_CHECKED;
#endif
