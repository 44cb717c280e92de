/* simulate.h - the built-in samples: a field that is carried along, diffused and damped, and
 * stirred at random; a forecast of it by a model whose wind, diffusion and mountains are wrong.
 *
 * Per wave k along the (periodic) circle of latitude and mode m across it, with the wave number
 * K^2 = (2 pi k / length)^2 + (pi m / width)^2,
 *
 *   da/dt = -(i 2 pi k wind / length + diffusion K^2 + 1 / memory) a + noise
 *
 * whose solution over any time is exact (Ornstein and Uhlenbeck). Forecasts drop the noise, which
 * cannot be foreseen. */
#ifndef WX_SIMULATE_H
#define WX_SIMULATE_H
#include "conf/weir_opt.h"

typedef struct wx_simulate_opts {
  int64_t samples, lat, lon, waves, modes, lead;
  double step, length, width, wind, diffusion, memory, amplitude, slope;
  struct {
    double wind, diffusion, analysis, noise, mountain, offset;
  } error;
} wx_simulate_opts;
extern const weir_opt wx_simulate_options[];

/* Channels of x: the forecast, the analysis that it began from, the height of the ground. */
enum { WX_SIM_FORECAST, WX_SIM_ANALYSIS, WX_SIM_HEIGHT, WX_SIM_X };

#define WX_SIM_BEGIN 10957.0 /* days since 1970-01-01: the first forecast starts on 2000-01-01 */

typedef struct wx_simulation wx_simulation;

/* All states of the run. Bits depend on options and seed alone. Fails: WEIR_ERR_MEMORY. */
weir_status wx_simulation_create(const wx_simulate_opts *opts, uint64_t seed,
                                 wx_simulation **out) WEIR_CHECKED;
void wx_simulation_destroy(wx_simulation **s);
/* Valid time of a sample, days since the first start. */
double wx_simulation_time(const wx_simulation *s, int64_t sample);
/* x [WX_SIM_X, lat, lon] or the truth [lat, lon] of a sample. */
void wx_simulation_x(const wx_simulation *s, int64_t sample, float *out);
void wx_simulation_y(const wx_simulation *s, int64_t sample, float *out);
/* Middle of row j, degrees north; of column i, degrees east. */
double wx_simulation_lat(const wx_simulation *s, int64_t j);
double wx_simulation_lon(const wx_simulation *s, int64_t i);
#endif
