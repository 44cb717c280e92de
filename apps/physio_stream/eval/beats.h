/* beats.h - beat times of an annotation file, in samples of a record. */
#ifndef PS_BEATS_H
#define PS_BEATS_H
#include "eval/score.h"
#include "model/hrv.h"

/* Stretches that no interval may cross, ascending; times in samples with fractions. */
typedef struct ps_break {
  double begin, end; /* the first sample that is missing, and the first after it */
} ps_break;
typedef struct ps_breaks {
  ps_break *v; /* [n], owned */
  int64_t n, capacity;
} ps_breaks;

/* Appends one. Fails: WEIR_ERR_MEMORY. */
weir_status ps_breaks_add(ps_breaks *b, double begin, double end) WEIR_CHECKED;

typedef struct ps_beats {
  int64_t *times;   /* [n], in file order, to the nearest sample */
  double *position; /* [n]: the same as exact as the file has it */
  uint8_t *normal;  /* [n]: 1 for a normal beat (code N)         */
  int64_t *match; /* [n]: number of the reference's beat, -1 for none; NULL: types are the file's */
  int64_t n;
  int64_t beyond;    /* beats that are left out, being after the end of the record */
  double rate;       /* 1/s, of the times of the file            */
  bool stated;       /* the file states it                       */
  bool typed;        /* some beat is of another code than N: the file tells beats apart */
  ps_span *excluded; /* [n_excluded]: fluttering, ascending and disjoint */
  int64_t n_excluded;
  ps_breaks unreadable; /* stretches that the file marks so */
} ps_beats;

/* How times are read. */
typedef struct ps_beats_clock {
  int64_t fs_num, fs_den;     /* units of the times that are given, per second */
  int64_t base_num, base_den; /* the same of files that state no time resolution */
} ps_beats_clock;
/* Sets the units of time per second that an annotation file states; 0/0 where it states none.
 * Fails: as weir_annotations_read. */
weir_status ps_beats_rate(const char *path, int64_t *fs_num, int64_t *fs_den) WEIR_CHECKED;
/* Reads the beats of an MIT annotation file whose record has `length` units of the clock; beats
 * after its end (one may round to it) are left out. Times of a file that states its resolution are
 * converted to the clock's (`times` to the nearest unit). Excluded are stretches between `[` and
 * `]` (ventricular flutter, which has no beats). Stretches marked unreadable are not: bxb's counts
 * hold the beats found there as false ones. Such a stretch begins at a NOISE annotation whose
 * subtype has bits 16 and 32 (-1 has), and ends at the next one whose subtype lacks one of them;
 * without such an end, at the next beat (bxb; ecgcodes(5) of WFDB). Fails: WEIR_ERR_DATA (as
 * weir_annotations_read), WEIR_ERR_MEMORY; *out needs no fini then. */
weir_status ps_beats_read(const char *path, const ps_beats_clock *clock, int64_t length,
                          ps_beats *out) WEIR_CHECKED;
/* Leaves out beats before sample `first` and from `end` on. Before ps_beats_match. */
void ps_beats_trim(ps_beats *beats, double first, double end);
/* Warns of beats that were left out; `path` is their file. */
void ps_warn_of_beyond(const char *path, const ps_beats *beats);
/* Takes the types of the reference's beats, where it has some, for beats of which none is known:
 * each beat is that of the reference within `window` samples that is nearest to it, and nearer to
 * no other one. Both ascend. Fails: WEIR_ERR_MEMORY. */
weir_status ps_beats_match(ps_beats *beats, const ps_beats *reference, double window) WEIR_CHECKED;
/* Returns the n - 1 intervals between the beats, of which those between two normal beats count, and
 * of matched ones those between neighbours of the reference (no beat was missed). One that holds a
 * stretch that is excluded, unreadable or one of `breaks` (may be NULL) is no interval. out: [n].
 * Returns how many there are. */
int64_t ps_beats_intervals(const ps_beats *beats, const ps_breaks *breaks, ps_interval *out);
/* Frees and empties. */
void ps_beats_fini(ps_beats *beats);
#endif
