/* errors.h - root mean square errors of the forecast as it is, without its mean bias, and corrected
 * by the network. Every cell counts the same. */
#ifndef WX_ERRORS_H
#define WX_ERRORS_H
#include "data/standard.h"
#include "report/weir_report.h"

enum { WX_ERROR_RAW, WX_ERROR_UNBIASED, WX_ERROR_NETWORK, WX_ERRORS };

/* Sums of squares per channel of y. */
typedef struct wx_errors {
  int64_t samples;
  double sum[WX_CHANNELS][WX_ERRORS];
} wx_errors;

/* Counts a sample: x, truth and the network's field, [channel, cells] each. */
void wx_errors_take(wx_errors *e, const wx_standard *s, const float *x, const float *truth,
                    const float *field);
/* NaN where x has no such channel, or nothing was counted. */
double wx_errors_rmse(const wx_errors *e, const wx_standard *s, int64_t channel, int which);
/* A row for each channel of y: channel, units, the three errors. */
extern const char *const wx_errors_head[2 + WX_ERRORS];
void wx_errors_table(const wx_errors *e, const wx_standard *s, const wx_channel *channel,
                     weir_cells *cells);
#endif
