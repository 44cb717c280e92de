/* errors.c - see errors.h. */
#include "eval/errors.h"
#include <math.h>

const char *const wx_errors_head[2 + WX_ERRORS] = {"channel", "units", "forecast",
                                                   "without its bias", "network"};

void wx_errors_take(wx_errors *e, const wx_standard *s, const float *x, const float *truth,
                    const float *field)
{
  e->samples++;
  for (int64_t c = 0; c < s->n_y; c++) {
    const float *const raw = s->pair[c] >= 0 ? x + s->pair[c] * s->cells : NULL;

    for (int64_t i = 0; i < s->cells; i++) {
      const double y = (double)truth[c * s->cells + i];
      const double apart = raw != NULL ? y - (double)raw[i] : NAN;

      e->sum[c][WX_ERROR_RAW] += apart * apart;
      e->sum[c][WX_ERROR_UNBIASED] += pow(apart - s->bias[c], 2);
      e->sum[c][WX_ERROR_NETWORK] += pow(y - (double)field[c * s->cells + i], 2);
    }
  }
}

double wx_errors_rmse(const wx_errors *e, const wx_standard *s, int64_t channel, int which)
{
  const double n = (double)e->samples * (double)s->cells;

  return n > 0 ? sqrt(e->sum[channel][which] / n) : NAN;
}

void wx_errors_table(const wx_errors *e, const wx_standard *s, const wx_channel *channel,
                     weir_cells *cells)
{
  for (int64_t c = 0; c < s->n_y; c++) {
    weir_cells_add(cells, "%s", channel[c].name);
    weir_cells_add(cells, "%s", channel[c].units);
    for (int k = 0; k < WX_ERRORS; k++) {
      weir_cells_add_real(cells, wx_errors_rmse(e, s, c, k));
    }
  }
}
