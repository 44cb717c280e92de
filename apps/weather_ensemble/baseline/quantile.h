/* quantile.h - quantile mapping, y = Qo(Ff(x)): members are moved so that, over the dates of the
 * fit, they are distributed as the truth is, cell by cell (Panofsky and Brier 1968). It knows
 * nothing of a day's spread. */
#ifndef WX_QUANTILE_H
#define WX_QUANTILE_H
#include "base/weir_status.h"
#include "conf/weir_opt.h"

typedef enum wx_tails { WX_TAILS_SHIFT, WX_TAILS_LINEAR } wx_tails;
#define WX_TAILS_CHOICES "shift|linear"

typedef struct wx_quantile_opts {
  int64_t levels;
  int tails; /* wx_tails */
} wx_quantile_opts;
extern const weir_opt wx_quantile_options[];

typedef struct wx_quantile_data {
  int64_t dates, members, cells;
  const float *forecast, *truth; /* [dates, members, cells], [dates, cells] */
} wx_quantile_data;

/* Quantiles at p_k = (k + 1/2) / levels of each cell. */
typedef struct wx_quantile {
  int64_t levels, cells;
  int tails;
  float *forecast, *truth; /* [cells, levels]; NaN where there was nothing to fit */
} wx_quantile;

/* Fits a mapping. Missing values are left out. Levels: at most the dates. Fails: WEIR_ERR_MEMORY,
 * WEIR_ERR_DATA (no date). */
weir_status wx_quantile_fit(const wx_quantile_opts *opts, const wx_quantile_data *data,
                            wx_quantile *out) WEIR_CHECKED;
/* Moves n members [n, cells], in place. Between levels in proportion; beyond the first and last by
 * the shift there (shift), or along the line through the outermost tenth of the levels (linear).
 * What is the same in all members of the fit moves by the medians' difference. Cells without a fit
 * stay. */
void wx_quantile_apply(const wx_quantile *q, int64_t n, float *members);
/* Returns the moved value of x at a cell. */
float wx_quantile_of(const wx_quantile *q, int64_t cell, float x);
void wx_quantile_fini(wx_quantile *q);
#endif
