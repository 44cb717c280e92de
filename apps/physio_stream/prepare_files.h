/* prepare_files.h - the built-in recording as files: samples and the truth about them. */
#ifndef PS_PREPARE_FILES_H
#define PS_PREPARE_FILES_H
#include "base/weir_file.h"
#include "data/synth.h"
#include "io/weir_annotation.h"
#include "io/weir_record_writer.h"

/* The truth about the ABP. */
typedef struct ps_abp_files {
  ps_abp *gen; /* NULL: there is none */
  int64_t count, at;
  double rate;
  weir_annotation_writer *onsets;  /* NAME.abp      */
  weir_writer *beats, *abp_onsets; /* abp_beats.csv, abp_onsets.csv */
} ps_abp_files;

/* Opens them where opts->abp.on. Fails: as ps_abp_create; WEIR_ERR_DATA. */
weir_status ps_abp_files_open(const char *dir, const ps_synth_opts *opts, const ps_synth *synth,
                              uint64_t seed, ps_abp_files *out) WEIR_CHECKED;
/* Writes the next n samples, absent after the recording's end; defects go to `defects`. */
weir_status ps_abp_files_write(ps_abp_files *f, int64_t n, float *x, uint8_t *present,
                               weir_writer *defects) WEIR_CHECKED;
weir_status ps_abp_files_commit(ps_abp_files *f) WEIR_CHECKED;
void ps_abp_files_close(ps_abp_files *f);

/* A row of defects.csv: samples [lo, hi) of a signal of `rate`. */
#define PS_DEFECTS_HEAD "signal,kind,first_sample,end_sample,first_s,end_s,value\n"
/* Writes rows for the absent stretches of `gaps` that begin in samples [lo, hi) of the ECG;
 * *written: end of the last one. Calls ascend. */
weir_status ps_gap_rows(weir_writer *out, ps_gaps *gaps, const char *kind, double value, int64_t lo,
                        int64_t hi, int64_t count, double rate, int64_t *written) WEIR_CHECKED;
#endif
