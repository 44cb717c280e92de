/* eof.h - a correction of the mean that depends on the state of the whole field: the error of each
 * cell as a linear function of the field's leading empirical orthogonal functions (EOFs),
 *
 *   truth - m = slope_0 + sum_k slope_k u_k,   u_k = sum_c w_c (m_c - <m_c>) pattern_k,c
 *
 * EOFs by the method of snapshots (Sirovich 1987): eigenvectors of the dates' products. */
#ifndef WX_EOF_H
#define WX_EOF_H
#include "base/weir_status.h"
#include "baseline/cases.h"
#include "conf/weir_opt.h"

typedef struct wx_eof_opts {
  int64_t count;
} wx_eof_opts;
extern const weir_opt wx_eof_options[];

typedef struct wx_eof {
  int64_t count, cells; /* count: at most dates - 2 */
  float *mean;          /* [cells] over the dates; NaN where the field is not always there */
  float *pattern;       /* [count, cells], of u with variance 1 over the dates             */
  float *slope;         /* [1 + count, cells]                                              */
  double *share;        /* [count] of the variance                                         */
} wx_eof;

/* Fits the regression. Cells that miss a date take no part in the EOFs; a missing truth counts as
 * the mean error of its cell. left_out [dates, cells], where it is not NULL: the corrected mean of
 * each date by slopes fitted without it (the same EOFs), for a spread that is not too small. Fails:
 * WEIR_ERR_MEMORY, WEIR_ERR_DATA (fewer than 4 dates). */
weir_status wx_eof_fit(const wx_eof_opts *opts, const wx_cases *cases, wx_eof *out,
                       float *left_out) WEIR_CHECKED;
/* Computes the corrected mean of a field. weight: as in the fit. */
void wx_eof_apply(const wx_eof *eof, const double *weight, const float *mean, float *corrected);
void wx_eof_fini(wx_eof *eof);
#endif
