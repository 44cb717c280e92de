/* beats.h - beat times of an annotation file, in samples of a record. */
#ifndef PS_BEATS_H
#define PS_BEATS_H
#include "eval/score.h"
#include "model/hrv.h"

typedef struct ps_beats {
  int64_t *times;  /* [n], in file order */
  uint8_t *normal; /* [n]: 1 for a normal beat (code N); NULL: not known */
  int64_t n;
  ps_span *excluded; /* [n_excluded]: fluttering, ascending and disjoint */
  int64_t n_excluded;
} ps_beats;

/* Reads the beats of an MIT annotation file whose record has fs_num/fs_den samples per second and
 * `length` samples. The file's own time resolution, where it states one, is converted to the
 * record's (to the nearest sample). Excluded are
 * stretches between `[` and `]` (ventricular flutter, which has no beats). Stretches marked
 * unreadable are not: bxb's counts hold the beats found there as false ones.
 * Fails: WEIR_ERR_DATA (as weir_annotations_read), WEIR_ERR_MEMORY; *out needs no fini then. */
weir_status ps_beats_read(const char *path, int64_t fs_num, int64_t fs_den, int64_t length,
                          ps_beats *out) WEIR_CHECKED;
/* The n - 1 intervals between the beats, of which those between two normal beats count; one that
 * holds an excluded stretch is no interval. out: [n]. Returns how many there are. */
int64_t ps_beats_intervals(const ps_beats *beats, ps_interval *out);
/* Frees and empties. */
void ps_beats_fini(ps_beats *beats);
#endif
