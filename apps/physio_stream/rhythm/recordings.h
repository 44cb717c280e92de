/* recordings.h - synthetic recordings of different length, in sinus rhythm or atrial fibrillation,
 * for a network that tells one from the other. */
#ifndef PS_RECORDINGS_H
#define PS_RECORDINGS_H
#include "data/synth.h"

/* The section `rhythm:` of a configuration; rows in ps_rhythm_options. */
typedef struct ps_rhythm_opts {
  int64_t train, valid; /* recordings */
  struct {
    double median, sigma, min, max; /* s; sigma: of the logarithm */
  } length;
  struct {
    double min, max; /* 1/min */
  } heart_rate;
  struct {
    double share;     /* of the recordings */
    double irregular; /* ps_ecgsyn_opts.irregular of these */
    double p;         /* strength of their P wave relative to the others' */
  } fibrillation;
  double window;           /* s */
  int64_t filters, hidden; /* of the network */
} ps_rhythm_opts;
extern const weir_opt ps_rhythm_options[];

typedef struct ps_recording {
  int64_t first, count; /* its samples of ps_recordings.x */
  bool fibrillates;
} ps_recording;

typedef struct ps_recordings {
  int64_t n_train, n_valid;
  ps_recording *recording; /* [n_train + n_valid] */
  float *x;                /* mV, one recording after the other */
  double rate;             /* samples per second */
  int64_t window;          /* samples of a window */
  int64_t max_windows;     /* of a recording */
} ps_recordings;

/* Checks that such recordings can be made. Fails: WEIR_ERR_CONFIG, naming the option. */
weir_status ps_recordings_check(const ps_rhythm_opts *o, const ps_synth_opts *ecg) WEIR_CHECKED;
/* Makes the recordings: as `ecg` says but for length, heart rate and rhythm. A recording is a
 * function of options, seed and its number. *out: for ps_recordings_fini, also after a failure.
 * Fails: as ps_recordings_check, ps_synth_create. */
weir_status ps_recordings_make(const ps_rhythm_opts *o, const ps_synth_opts *ecg, uint64_t seed,
                               ps_recordings *out) WEIR_CHECKED;
void ps_recordings_fini(ps_recordings *r);
/* Returns the length of a recording in s. */
double ps_recordings_length(const ps_recordings *r, int64_t i);
/* Returns the number of windows that cover a recording: one after the other, and where its length
 * is no multiple of theirs, a last one that ends with it. */
int64_t ps_recordings_windows(const ps_recordings *r, int64_t i);
/* Copies the windows of a recording, x[windows of it, window]. */
void ps_recordings_copy(const ps_recordings *r, int64_t i, float *x);
/* Writes recordings.csv: number, subset, rhythm and length of each. Fails: as weir_table_write_csv.
 */
weir_status ps_recordings_write(const ps_recordings *r, const char *dir) WEIR_CHECKED;
#endif
