/* sample_summaries.h - the summary statistics of one sample as tables. */
#ifndef CF_SAMPLE_SUMMARIES_H
#define CF_SAMPLE_SUMMARIES_H
#include "data/source.h"
#include "eval/summary/summaries.h"
#include "report/weir_report.h"

typedef struct cf_sample_summaries {
  cf_summaries of;
  unsigned which;                 /* bits 1 << cf_summary_kind */
  double *x[CF_SUMMARIES];        /* [channels, of.each[k]]; of the bispectrum B */
  double *q, *sigma;              /* [channels, triangles] of the bispectrum */
  double redshift[CF_MAX_LABELS]; /* NaN: not known */
  char where[CF_MAX_LOCATION];    /* file and sample */
} cf_sample_summaries;

/* Computes the summaries opts->use of sample opts->sample; opts are borrowed. Fails:
 * WEIR_ERR_CONFIG (no such sample), WEIR_ERR_DATA (voxels without the summaries), WEIR_ERR_MEMORY,
 * as cf_summaries_init and cf_source_read. */
weir_status cf_sample_summaries_make(const cf_summary_opts *opts, cf_source *source,
                                     cf_sample_summaries *out) WEIR_CHECKED;
void cf_sample_summaries_fini(cf_sample_summaries *s);
/* Returns the edges of bin b of a summary that counts; -inf and inf: of the open bins. */
void cf_count_edges(const cf_count_opts *o, int64_t b, double *from, double *to);
/* Returns a mean wave number, or a bispectrum, in h/Mpc and (Mpc/h)^6, or in radians per voxel and
 * voxel^6 where the side of a voxel is not known. */
double cf_sample_wave(const cf_sample_summaries *s, int64_t shell);
double cf_sample_bispectrum(const cf_sample_summaries *s, double b);
/* Columns of the file of a summary, NULL after the last. */
const char *const *cf_sample_summary_head(const cf_sample_summaries *s, cf_summary_kind which,
                                          int *columns);
/* Makes its rows, those of a channel, smoothing and bin, or of a channel and triangle; the caller
 * ends *out. */
void cf_sample_summary_table(const cf_sample_summaries *s, cf_summary_kind which, weir_table *out);
#endif
