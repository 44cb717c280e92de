/* samples.h - samples of fields: x, what is known when a forecast is given out, and y, the truth of
 * its valid time. Of a NetCDF-4 file (docs/science/weather_ensemble.md) or of the built-in
 * simulation; read one at a time. */
#ifndef WX_SAMPLES_H
#define WX_SAMPLES_H
#include "base/weir_status.h"
#include "data/channels.h"
#include "data/simulate.h"

enum { WX_SPACE = 3 };
typedef enum wx_side { WX_X, WX_Y, WX_SIDES } wx_side;

/* A coordinate of the grid; value NULL: the samples state none. */
typedef struct wx_axis {
  const char *name; /* level, lat or lon */
  int64_t length;
  const double *value; /* [length] */
  char units[WX_NAME];
} wx_axis;

/* What is known without reading a field. All borrowed. */
typedef struct wx_facts {
  const char *name; /* the file, or "built-in simulation" */
  int64_t n;
  int rank;                            /* 2: lat, lon; 3: level, lat, lon */
  wx_axis axis[WX_SPACE];              /* [rank] */
  int64_t cells;                       /* product of their lengths */
  int64_t n_channels[WX_SIDES];        /* y: 0 where the file has none */
  const wx_channel *channel[WX_SIDES]; /* [n_channels] */
  const double *time;                  /* [n] of validity, days since 1970-01-01 00:00 */
} wx_facts;

typedef struct wx_samples wx_samples;

/* The file `path`; "": the simulation. y: whether truth is needed. Fails: WEIR_ERR_DATA, naming
 * file, variable, reason and what to do (missing, no NetCDF, wrong shapes, a variable that is not
 * there, times that are none); WEIR_ERR_UNSUPPORTED without NetCDF; as wx_simulation_create. */
weir_status wx_samples_open(const char *path, bool y, const wx_simulate_opts *simulate,
                            uint64_t seed, wx_samples **out) WEIR_CHECKED;
/* Closes; accepts NULL. */
void wx_samples_close(wx_samples **s);
/* What is known of the samples. */
const wx_facts *wx_samples_get(const wx_samples *s);
/* One side of a sample, [channel, level, lat, lon] dense. Fails: WEIR_ERR_DATA (truncated; an
 * element that is missing or no number, named with channel and indices). */
weir_status wx_samples_read(wx_samples *s, wx_side side, int64_t sample, float *out) WEIR_CHECKED;
/* Whether x has a channel of the name of channel `y` of the truth: its number, else -1. Fails:
 * WEIR_ERR_DATA where their units differ. */
weir_status wx_samples_pair(const wx_facts *f, int64_t y, int64_t *x) WEIR_CHECKED;
#endif
