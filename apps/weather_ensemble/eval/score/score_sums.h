/* score_sums.h - sums of scores of one model for one quantity and lead: start after start, in
 * memory that does not grow with members times points. Each region, with areas as weights and
 * without. */
#ifndef WX_SCORE_SUMS_H
#define WX_SCORE_SUMS_H
#include "eval/climatology.h"
#include "eval/forecast_model.h"
#include "eval/score/hersbach.h"
#include "eval/score/probability.h"
#include "eval/region.h"

/* What is summed over points and, kept by start, over initialisation times. Those of events follow,
 * WX_EVENT_SUMS each. */
// clang-format off
typedef enum wx_sum {
  WX_SUM_CELLS,     /* points                                                   */
  WX_SUM_WEIGHT,
  WX_SUM_CRPS, WX_SUM_FAIR, WX_SUM_ALMOST, WX_SUM_GAUSS,
  WX_SUM_ERROR, WX_SUM_ABSOLUTE, WX_SUM_SQUARE, /* of the mean: forecast - truth */
  WX_SUM_UNBIASED,  /* square less variance / m                                 */
  WX_SUM_VARIANCE,
  WX_SUM_CORRECTED, /* variance (m + 1) / m; of a distribution its variance     */
  WX_SUM_SD, WX_SUM_SD_ABSOLUTE, /* spread, and times |error|                   */
  WX_SUM_LOG,
  WX_SUM_PIT, WX_SUM_PIT_SQUARE,
  WX_SUM_COVERED, WX_SUM_NOMINAL, WX_SUM_WIDTH, WX_SUM_INTERVAL,
  WX_SUM_EXTREME_WEIGHT, WX_SUM_EXTREME, WX_SUM_EXTREME_CRPS, /* 1, |EFI|, |EFI| CRPS */
  WX_SUM_PRODUCT, WX_SUM_FORECAST, WX_SUM_TRUTH, /* squares of anomalies          */
  WX_SUM_ONE, WX_SUM_ACC,                       /* of initialisation times        */
  WX_SUM_PATCH, WX_SUM_ENERGY, WX_SUM_ENERGY_FAIR, WX_SUM_VARIOGRAM,
  WX_SUMS
} wx_sum;
typedef enum wx_event_sum {
  WX_EVENT_WEIGHT, WX_EVENT_BRIER, WX_EVENT_BRIER_FAIR, WX_EVENT_TAIL, WX_EVENT_SUMS
} wx_event_sum;
typedef enum wx_map {
  WX_MAP_COUNT, WX_MAP_CRPS, WX_MAP_ERROR, WX_MAP_SQUARE, WX_MAP_VARIANCE, WX_MAPS
} wx_map;
typedef enum wx_weighting { WX_BY_AREA, WX_BY_POINT, WX_WEIGHTINGS } wx_weighting;
// clang-format on

typedef struct wx_score_sums_opts {
  int64_t ddof;       /* 0 or 1 */
  double almost_fair; /* share */
  double coverage;
  int64_t bins;
  int64_t patch;
  double order;
} wx_score_sums_opts;
extern const weir_opt wx_score_sums_options[];

/* Everything that is summed for a region and a weighting lies in one block of numbers. */
typedef struct wx_score_sums_block {
  int64_t sums, rank, pit, alpha, beta, hersbach, spread, events; /* offsets */
  int64_t size;
} wx_score_sums_block;

typedef struct wx_score_sums {
  const wx_score_sums_opts *opts;
  const wx_grid *grid;
  const wx_regions *regions;
  int64_t members; /* 0: a normal distribution */
  int64_t bins, pit_bins, n_events, cells, n_init_times;
  int64_t n_sums; /* WX_SUMS + WX_EVENT_SUMS n_events */
  int64_t n_rows; /* of series */
  wx_score_sums_block at;
  double *total;   /* [regions, weightings, block] of all initialisation times */
  double *series;  /* [regions, weightings, n_rows, n_init_times]: sums, then of every bin of every
                        event its weight and how often the event came */
  double *map;     /* [WX_MAPS, cells] */
  float *crps;     /* [cells] of the last start: empirical, or of the distribution; NaN: unused */
  double *partial; /* private: [chunks, regions, weightings, block] */
  double *lanes, *scratch; /* private: [threads, members, WX_LANES], [threads, 2 members + 1] */
  struct wx_patch *patch;  /* private: squares of points, and scratch for one per thread */
  double *patch_scratch;
  int64_t patch_capacity, patch_scratch_capacity;
} wx_score_sums;

/* A start to be counted. Borrowed. */
typedef struct wx_start_case {
  const float *truth;            /* [cells] */
  const unsigned char *use;      /* [cells] 0: the point does not count */
  const float *efi;              /* [cells] or NULL */
  const wx_climatology *climate; /* NULL or of no start: no anomalies */
  uint64_t seed;                 /* of ties; the same for models and initialisation times */
  uint32_t number;               /* of quantity and lead */
  int64_t start;
} wx_start_case;

/* A start of which several quantities are counted as vectors. Borrowed. */
typedef struct wx_joint_case {
  int64_t n;           /* quantities */
  const float *truth;  /* [n, cells] */
  const float *member; /* [n, members, cells] */
  int64_t members;
  const double *scale;      /* [n] what numbers of a quantity are divided by */
  const unsigned char *use; /* [cells] 0: the point does not count */
} wx_joint_case;

/* Creates an accumulator. Fails: WEIR_ERR_MEMORY. */
weir_status wx_score_sums_create(const wx_score_sums_opts *opts, const wx_grid *grid,
                                 const wx_regions *regions, int64_t members, int64_t n_events,
                                 int64_t n_init_times, wx_score_sums *out) WEIR_CHECKED;
void wx_score_sums_fini(wx_score_sums *t);
/* Forgets all initialisation times. */
void wx_score_sums_clear(wx_score_sums *t);
/* Counts start `at` of n_init_times. */
void wx_score_sums_take(wx_score_sums *t, const wx_start_case *c, const wx_given *given,
                        int64_t at);
/* Counts start `at` by the energy and the variogram score alone: of vectors of all quantities at
 * the points of a square of `patch` points a side, of one point where the grid is of stations.
 * Fails: WEIR_ERR_MEMORY. */
weir_status wx_score_sums_take_joint(wx_score_sums *t, const wx_joint_case *c,
                                     int64_t at) WEIR_CHECKED;

/* Returns one sum of every start, [n_init_times]. */
const double *wx_score_sums_series(const wx_score_sums *t, int64_t region, int weighting,
                                   int64_t sum);
/* Returns the block of all initialisation times, to be read at t->at. */
const double *wx_score_sums_total(const wx_score_sums *t, int64_t region, int weighting);
/* Returns the number of a sum (wx_event_sum) of an event. */
int64_t wx_score_sums_event(int64_t event, int sum);
/* Views of the block. */
wx_hersbach wx_score_sums_hersbach(const wx_score_sums *t, int64_t region, int weighting);
const wx_reliability_bin *wx_score_sums_bins(const wx_score_sums *t, int64_t region, int weighting,
                                             int64_t event);
/* Points by their spread: bin k holds sd (corrected as WX_SUM_CORRECTED) from 2^((k - 64) / 4) on.
 */
enum { WX_SPREAD_BINS = 128 };
typedef struct wx_spread_bin {
  double spread, rmse, share; /* roots of means; share of all weight. NaN, NaN, 0: none */
} wx_spread_bin;
wx_spread_bin wx_spread_bin_get(const wx_score_sums *t, const double *block, int64_t k);
/* Returns the root mean square over the points of a region of each point's mean error: the
 * component of the error that is the same every day, with what few initialisation times leave of
 * the rest. NaN: nothing was counted. */
double wx_score_sums_local_bias(const wx_score_sums *t, int64_t region, int weighting);
/* Returns the correlation of spread and |error| over points and initialisation times. */
double wx_spread_correlation(const double *block);
/* Returns the rows of series of a bin of an event: its weight; the event in it follows. */
int64_t wx_score_sums_bin_row(const wx_score_sums *t, int64_t event, int64_t bin);
/* Returns whether all that a forecast gives for point i can be used: all members finite, or mean
 * and sd >= 0; with `some`, at least two members, or one of one. */
bool wx_given_is_whole(const wx_given *g, int64_t cells, int64_t i, bool some);
#endif
