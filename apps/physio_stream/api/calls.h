/* calls.h - detection and scoring of beats in memory, for programs in other languages: the library
 * libweir_physio_stream. Plain structs, no handles; each call is complete in itself. All return a
 * weir_status, 0 for success; weir_last_message then says what failed. Not at the same time from
 * several threads. */
#ifndef PS_CALLS_H
#define PS_CALLS_H
#include <stdint.h>
#include "base/weir_status.h"

/* One signal, borrowed. */
typedef struct ps_call_signal {
  const double *mv;        /* [n] mV, rounded to f32 as samples of files are; not finite: absent */
  int64_t n;               /* samples                                                            */
  int64_t fs_num, fs_den;  /* samples per second, as a fraction                                  */
  const char *const *sets; /* [n_sets] options of physio_stream as for --set: "KEY=VALUE"        */
  int64_t n_sets;
  int64_t threads; /* 0: all cores */
} ps_call_signal;

/* Beats in order of time. */
typedef struct ps_call_beats {
  int64_t *sample;  /* [n] sample of the R wave, from 0                    */
  double *position; /* [n] the same with its fraction of a sample          */
  int64_t *gap;     /* [n] 1: samples are absent between the beat before and it */
  int64_t n, capacity;
} ps_call_beats;

/* Finds the beats as `physio_stream run` does. *out need not be initialised; on success
 * ps_call_beats_free releases it, after a failure it is empty. Fails: WEIR_ERR_CONFIG (an option,
 * a rate that is not positive), as ps_graph_create and weir_stream_run. */
weir_status ps_call_detect(const ps_call_signal *signal, ps_call_beats *out) WEIR_CHECKED;
void ps_call_beats_free(ps_call_beats *beats);

/* Beats of a reference and of a test, borrowed: samples, ascending. */
typedef struct ps_call_pair {
  const int64_t *reference, *test;
  int64_t n_reference, n_test;
  double fs;               /* samples per second */
  int64_t length;          /* samples of the record; 0: up to the last beat of either */
  const char *const *sets; /* [n_sets] options, such as "eval.start=0" */
  int64_t n_sets;
} ps_call_pair;

/* Row of scores.csv. */
typedef struct ps_call_score {
  int64_t tp, fn, fp;
  double sensitivity, predictivity; /* %; NaN: undefined                                 */
  double rr_error;                  /* s, root mean square difference of RR intervals; NaN: none */
} ps_call_score;

/* Scores as `physio_stream eval` does, without stretches of flutter, which only annotation files
 * name. Fails: WEIR_ERR_CONFIG (an option), as ps_score_record; *out is then untouched. */
weir_status ps_call_compare(const ps_call_pair *pair, ps_call_score *out) WEIR_CHECKED;
#endif
