/* eval_intervals.h - the intervals of one side of a scored record, and what is known of them. */
#ifndef PS_EVAL_INTERVALS_H
#define PS_EVAL_INTERVALS_H
#include "page/eval_scored.h"
#include "model/hrv.h"

/* Intervals between the beats of one annotation file. */
typedef struct ps_side {
  ps_interval *v; /* [n], owned; `counts` says which are measured                     */
  int64_t n, beats;
  ps_hrv_opts nn;    /* how they are measured: eval.nn, its `exclude` by what is known  */
  const char *types; /* what tells beats apart: a PS_TYPES_* text                      */
  const char *gaps;  /* what tells of gaps: a PS_GAPS_* text                           */
} ps_side;

#define PS_TYPES_ANNOTATED "annotated"
#define PS_TYPES_REFERENCE "reference"
#define PS_TYPES_UNKNOWN "unknown"
#define PS_GAPS_UNKNOWN "unknown"

/* Reads where the signal of the scored record (input.signal, else the first in mV) is absent, if
 * there is one: s->gaps and s->has_signal. A record whose signal cannot be read has none.
 * Fails: WEIR_ERR_MEMORY, WEIR_ERR_DATA where samples cannot be read. */
weir_status ps_eval_gaps(const ps_cfg *cfg, ps_scored *s) WEIR_CHECKED;
/* Return the begin of scoring, s, and the frames [first, end) whose beats count (input.from,
 * input.to). */
double ps_eval_start(const ps_cfg *cfg);
/* Writes "from 300 s on", "from 300 s to 900 s". */
void ps_eval_range_text(const ps_cfg *cfg, char *text, size_t size);
ps_break ps_eval_range(const ps_cfg *cfg, const ps_scored *s);
/* Reads the intervals of the test or the reference, within the range. Beats whose file tells none
 * apart (all are of code N, as those of a detector) have the types of the reference where it has
 * some. Fails: as ps_beats_read; *out needs no fini then. */
weir_status ps_side_read(const ps_cfg *cfg, const ps_scored *s, bool test,
                         ps_side *out) WEIR_CHECKED;
/* Frees and empties. */
void ps_side_fini(ps_side *side);
#endif
