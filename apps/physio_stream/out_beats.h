/* out_beats.h - the beats of a run: kept in a nameless file while they come, so that memory does
 * not grow, and written at the end as an annotation file, as CSV and as NetCDF. */
#ifndef PS_OUT_BEATS_H
#define PS_OUT_BEATS_H
#include <stdio.h>
#include "data/input.h"
#include "io/weir_netcdf.h"

enum { PS_RR_BINS = 100 };
/* Width of a bin of the RR histogram, s; the last bin also holds what is longer. */
#define PS_RR_BIN 0.02
/* Intervals counted by the millisecond, for quantiles; the last count also holds what is longer. */
enum { PS_RR_MS = 5000 };

/* One beat as kept: what the NetCDF file says of it. */
typedef struct ps_beat {
  int64_t sample;
  int64_t fraction; /* how far it lies beyond the sample (model/graph.h)        */
  int64_t flags;    /* PS_BEAT_FIRST, PS_BEAT_GAP: then there is no RR interval */
} ps_beat;
enum { PS_BEAT_FIRST = 1, PS_BEAT_GAP = 2 };

typedef struct ps_out_beats {
  const ps_input_info *facts;
  FILE *kept;                  /* ps_beat records                                  */
  FILE *gaps;                  /* begin and end of each gap, int64_t               */
  int64_t n_gaps, seen;        /* slots whose presence is known                    */
  int64_t absent;              /* where the open gap began, -1 for none            */
  int64_t n;                   /* beats                                            */
  double last;                 /* samples from the first to the last one           */
  int64_t n_rr;                /* intervals                                        */
  double rr_sum, rr_square;    /* s, s^2                                           */
  double rr_count[PS_RR_BINS]; /* histogram                                        */
  int64_t rr_ms[PS_RR_MS + 1]; /* intervals of so many ms                          */
  int64_t rr_odd;              /* intervals below 0.3 s or above 2 s               */
  int64_t strip_lo, strip_hi;  /* samples of it: set before ps_out_beats_write */
  int64_t *strip;              /* samples of the beats in it, once written */
  int64_t n_strip, n_strip_capacity;
  FILE *follow; /* beats are printed here as they come, or NULL */
} ps_out_beats;

/* Initialises the list; `facts` is borrowed. Fails: WEIR_ERR_DATA when no nameless file can be
 * made. */
weir_status ps_out_beats_init(const ps_input_info *facts, ps_out_beats *out) WEIR_CHECKED;
void ps_out_beats_fini(ps_out_beats *b);
/* Prints beats from now on as they come, as in beats.csv, beginning with its header.
 * Fails: WEIR_ERR_DATA when nothing can be printed. */
weir_status ps_out_beats_follow(ps_out_beats *b, FILE *out) WEIR_CHECKED;
/* Returns the number of samples from the first one of the signal to the R wave. */
double ps_beat_position(const ps_beat *beat);
/* Adds the next n beats, ascending, as rows of the result `beats` (model/graph.h). Possibly at the
 * same time as ps_out_beats_present. Fails: WEIR_ERR_DATA when the disk is full. */
weir_status ps_out_beats_add(ps_out_beats *b, const int64_t *sample, const int64_t *gap,
                             const int64_t *fraction, int64_t n) WEIR_CHECKED;
/* Takes the presence of slots [lo, hi) of the signal; calls ascend, and slots may come again. What
 * is left out is absent. Fails: WEIR_ERR_DATA when the disk is full. */
weir_status ps_out_beats_present(ps_out_beats *b, int64_t lo, int64_t hi,
                                 const uint8_t *present) WEIR_CHECKED;
/* Ends the signal after `slots` slots. Fails: as above. */
weir_status ps_out_beats_end(ps_out_beats *b, int64_t slots) WEIR_CHECKED;
/* Writes DIR/NAME.qrs (with NOISE annotations of subtype -1 where a gap begins and 0 where the
 * signal comes back), DIR/beats.csv and, where this build has NetCDF, DIR/beats.nc. Nothing
 * appears unless all can be written. */
weir_status ps_out_beats_write(ps_out_beats *b, const char *dir) WEIR_CHECKED;

/* Reads the first n beats kept; n is at most b->n. Fails: WEIR_ERR_DATA when the file is lost. */
weir_status ps_out_beats_read(const ps_out_beats *b, int64_t n, ps_beat *beat) WEIR_CHECKED;

/* Returns the mean and standard deviation of the RR intervals, s; NaN without any. */
double ps_out_beats_rr_mean(const ps_out_beats *b);
double ps_out_beats_rr_std(const ps_out_beats *b);
/* Returns the quantile `share` (0 to 1) of the intervals, s: that of the nearest rank, to the
 * millisecond and at most 5 s; NaN without any. */
double ps_out_beats_rr_quantile(const ps_out_beats *b, double share);
#endif
