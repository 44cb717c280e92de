/* viewer.h - viewer.html: a page that pans and zooms through the signals of a run with annotations
 * and events, without a server or a network. */
#ifndef PS_VIEWER_H
#define PS_VIEWER_H
#include "conf/weir_opt.h"
#include "data/input.h"
#include "viewer/envelope.h"
#include "viewer/marks.h"

typedef struct ps_viewer_opts {
  double size;                  /* MiB of a signal in the page; 0: no page  */
  double around;                /* s of samples before and after events     */
  weir_string_list annotations; /* files to show too                        */
} ps_viewer_opts;

extern const weir_opt ps_viewer_options[];

enum { PS_VIEWER_SIGNALS = 64, PS_VIEWER_MARKS = 64 };

/* A run of samples that the envelope is too coarse for. */
typedef struct ps_viewer_samples {
  int64_t slot, n;
  float *value; /* NaN where absent; owned */
} ps_viewer_samples;

typedef struct ps_viewer_signal {
  char name[256], units[64];
  int64_t fs_num, fs_den;
  ps_envelope envelope;
  bool sparse;                /* values of few slots: drawn as points, without gaps     */
  ps_viewer_samples *samples; /* owned */
  int64_t n_samples, shown;   /* shown: events around which there are samples */
} ps_viewer_signal;

typedef struct ps_viewer {
  const ps_viewer_opts *opts;      /* borrowed; NULL: there is no page */
  int n_signals, n_marks, n_files; /* n_files: marks, the first ones, of files of the options */
  ps_viewer_signal signal[PS_VIEWER_SIGNALS];
  ps_marks marks[PS_VIEWER_MARKS];
  int64_t events; /* around which there could be samples; 0 where all are there */
} ps_viewer;

/* Creates a viewer without signals; *out is NULL where opts->size is 0, and the functions below
 * then do nothing. opts is borrowed. Fails: WEIR_ERR_MEMORY. */
weir_status ps_viewer_create(const ps_viewer_opts *opts, ps_viewer **out) WEIR_CHECKED;
/* Accepts NULL. */
void ps_viewer_destroy(ps_viewer **v);
/* Adds a signal, `count` slots (negative: not known) of fs_num/fs_den a second; its number is
 * v->n_signals - 1. Beyond PS_VIEWER_SIGNALS it is left out. Fails: WEIR_ERR_MEMORY. */
weir_status ps_viewer_add_signal(ps_viewer *v, const char *name, const char *units, int64_t fs_num,
                                 int64_t fs_den, int64_t count) WEIR_CHECKED;
/* Returns whether it has a signal of that name, or marks, those of files of the options apart: a
 * file of a former run may be named as one of this run. */
bool ps_viewer_has(const ps_viewer *v, const char *name);
/* Takes slots of signal i, as ps_envelope_take. */
void ps_viewer_take(ps_viewer *v, int i, int64_t lo, int64_t hi, const float *x,
                    const uint8_t *present);
/* Takes all slots of `in`, which can be read once more (ps_input_rereads), as signal i, and ends
 * it. Fails: as ps_input_read, WEIR_ERR_MEMORY. */
weir_status ps_viewer_read(ps_viewer *v, int i, ps_input *in) WEIR_CHECKED;
/* Ends signal i after so many slots. */
void ps_viewer_end(ps_viewer *v, int i, int64_t slots);
/* Returns whether it takes `n` more marks named `name`: of at most PS_VIEWER_MARKS files, 10^6 of
 * each; warns otherwise. */
bool ps_viewer_takes_marks(const ps_viewer *v, const char *name, int64_t n);
/* Adds marks, which the viewer then owns (all zero afterwards), if it takes them. */
void ps_viewer_add_marks(ps_viewer *v, ps_marks *m);
/* Adds the annotation files of the options, once there is a signal; files without a time resolution
 * count the frames of the record that `input` names, or slots of the first signal where it names
 * none. Fails: as weir_annotations_read and weir_record_read_clock. */
weir_status ps_viewer_add_files(ps_viewer *v, const ps_input_opts *input) WEIR_CHECKED;
/* Reads the samples around events (marks that are no normal beats) of signal i where its envelope
 * is coarser, up to half of opts->size. The caller sees that `in` can be read once more
 * (ps_input_rereads). Fails: as ps_input_read, WEIR_ERR_MEMORY. */
weir_status ps_viewer_read_samples(ps_viewer *v, int i, ps_input *in) WEIR_CHECKED;
/* What a report calls the page that it links to. */
#define PS_VIEWER_LINK "viewer.html: pan and zoom through signals and annotations, and edit them"
/* Writes DIR/viewer.html, and the event `viewer`. info: of the recording. Fails: as
 * weir_report_commit. */
weir_status ps_viewer_write(ps_viewer *v, const ps_input_info *info, const char *dir) WEIR_CHECKED;
#endif
