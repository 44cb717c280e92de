/* eval_scored.h - one pair of annotation files as it is scored, and what is measured of it. */
#ifndef PS_EVAL_SCORED_H
#define PS_EVAL_SCORED_H
#include "eval/beats.h"
#include "model/hrv_nonlinear.h"
#include "commands.h"

/* After every beat. */
#define PS_FAR (INT64_MAX / 8)

/* What is measured of the intervals of one annotation file. */
typedef struct ps_measures {
  int64_t beats;
  ps_hrv_times times;
  ps_hrv_bands bands;
  ps_hrv_nonlinear nonlinear;
  char types[32], gaps[32]; /* PS_TYPES_*, PS_GAPS_* */
} ps_measures;

/* What one pair of files gives. */
typedef struct ps_scored {
  ps_pair files;
  char record[PS_PATH]; /* path without suffix                     */
  char signal[PS_PATH]; /* of the record to open, "" where there is none */
  ps_beats_clock clock; /* of the times                            */
  double sample_rate;   /* 1/s, of the times of the reference's file */
  int64_t end;          /* of the record, PS_FAR where not known   */
  ps_score score;
  ps_score_error *errors; /* [score.fn + score.fp], owned            */
  ps_breaks gaps;         /* where the record has no signal, owned   */
  bool has_signal;        /* the record tells of gaps                */
  ps_measures rhythm[2];  /* of reference and test                   */
} ps_scored;

/* Returns the part of a path after its last folder. Borrowed. */
const char *ps_base_name(const char *path);
/* Returns the time of a sample as hh:mm:ss.sss. */
const char *ps_time_text(double seconds, char text[32]);

#endif
