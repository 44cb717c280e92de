/* sample_summaries.h - the summary statistics of one sample as tables. */
#ifndef CF_SAMPLE_SUMMARIES_H
#define CF_SAMPLE_SUMMARIES_H
#include "data/source.h"
#include "eval/summary/summaries.h"
#include "report/weir_report.h"

typedef struct cf_sample_summaries {
  cf_summaries of;
  unsigned which;                 /* bits 1 << cf_summary_kind */
  double *x[CF_SUMMARIES];        /* [channels, of.each[k]]; of the transforms B, P_l and S */
  double *q, *sigma;              /* [channels, triangles] of the bispectrum */
  double *kaiser;                 /* [channels, multipoles, bins] of linear theory, (Mpc/h)^3; NaN:
                                     not known */
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
/* Returns a wave number given in fundamental waves in h/Mpc, or in radians per voxel where the side
 * of a voxel is not known. */
double cf_sample_wave(const cf_sample_summaries *s, double waves);
/* Returns the side of a voxel in Mpc/h, or 1 where it is not known. */
double cf_sample_cell(const cf_sample_summaries *s);
/* Columns of the file of a summary, NULL after the last. */
const char *const *cf_sample_summary_head(const cf_sample_summaries *s, cf_summary_kind which,
                                          int *columns);
/* Makes its rows, those of a channel, smoothing and bin, of a channel and triangle or bin of k, or
 * of a channel, path, l and power; the caller ends *out. */
void cf_sample_summary_table(const cf_sample_summaries *s, cf_summary_kind which, weir_table *out);
#endif
