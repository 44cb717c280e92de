/* standard.h - what a network sees: channels less their mean, over their standard deviation; what
 * it makes is counted from the raw mean of the members, in units of what that lacks.
 *
 *   x' = (x - mean) / sd                  of the channel (and depth), or of the position; x itself
 *                                         of coordinates and masks (wx_channel.plain)
 *   y' = (y - m - bias) / unit            m: mean of the members, 0 where y is a spread
 *   s' = s / unit                         s: their standard deviation
 *   e' = (e - m) / unit                   e: each of them
 *
 * From the climate: y' = (y - bias) / unit, bias that of y itself, and e' = (e - members) / unit.
 *
 * Statistics are of the training samples, in a store, so that checkpoints have them. */
#ifndef WX_STANDARD_H
#define WX_STANDARD_H
#include "data/maps.h"
#include "data/samples/samples.h"
#include "graph/weir_store.h"

typedef enum wx_where { WX_WHERE_GLOBAL, WX_WHERE_LOCAL } wx_where;
#define WX_WHERE_CHOICES "global|local"
typedef enum wx_bias { WX_BIAS_NONE, WX_BIAS_GLOBAL, WX_BIAS_LOCAL } wx_bias;
#define WX_BIAS_CHOICES "none|global|local"

/* What y is counted from. */
typedef enum wx_base {
  WX_BASE_RAW,    /* the raw mean, and the bias                       */
  WX_BASE_ZERO,   /* 0: y is a spread                                 */
  WX_BASE_CLIMATE /* the mean of y over the training samples           */
} wx_base;

typedef struct wx_standard_opts {
  int inputs, bias; /* wx_where, wx_bias */
  int64_t window;
  double smoothing_sigma, min_sd, bias_smooth;
  bool by_year;
} wx_standard_opts;
extern const weir_opt wx_standard_options[];

/* Arrays of the store. A position is a cell (local) or a depth (global). */
typedef struct wx_standard {
  const wx_standard_opts *opts;
  const wx_info *facts; /* borrowed */
  wx_base base;
  wx_map_shape map;
  int64_t n_positions;   /* of a channel of x */
  double *x_mean, *x_sd; /* [x channel, positions]                             */
  double *bias;          /* [y channel, cells]                              */
  double *unit;          /* [y channel]                                     */
  double *members;       /* [y channel, cells] mean of the members; NULL: not from the climate */
} wx_standard;

/* Checks the options. Fails: WEIR_ERR_CONFIG (an even window). */
weir_status wx_standard_check(const wx_standard_opts *opts) WEIR_CHECKED;
/* Adds the arrays to the store; options and facts are borrowed. Fails: as weir_store_add;
 * WEIR_ERR_CONFIG for smoothing between stations. */
weir_status wx_standard_open(const wx_standard_opts *opts, const wx_info *facts, bool wraps,
                             wx_base base, weir_store *store, wx_standard *out) WEIR_CHECKED;
/* Fills them from n samples. mean: NULL, or [all samples, y channel, cells] in place of the raw
 * mean. A channel that never changes has standard deviation 1. Fails: as wx_samples_read,
 * WEIR_ERR_DATA (no truth at all), WEIR_ERR_STOPPED. */
weir_status wx_standard_fit(wx_standard *s, wx_samples *samples, const int64_t *sample, int64_t n,
                            const float *mean) WEIR_CHECKED;
/* Normalises x [channel, cells] to [cells, channel]; missing values become 0. */
void wx_standard_x(const wx_standard *s, const float *x, float *out);
/* Computes y' and s' of y, m and s, [y channel, cells] to [cells, y channel]; y NULL: s' alone.
 * What is missing is 0 in both. */
void wx_standard_y(const wx_standard *s, const float *y, const float *m, const float *sd,
                   float *out_y, float *out_s);
/* Computes what a truth of lower, one value of a channel c, would be as y': [cells, y channel]. */
void wx_standard_bound(const wx_standard *s, int64_t c, double lower, const float *m, float *out_y);
/* Computes what a difference of truths of a channel c would be of y': [cells, y channel]. */
void wx_standard_width(const wx_standard *s, int64_t c, double difference, float *out_y);
/* Computes e' of members [y channel, depth, member, plane] to [member, cells, y channel]; what is
 * missing is 0. m: the raw mean. */
void wx_standard_members(const wx_standard *s, const float *e, const float *m, float *out);
/* Inverts it: the output of a network, [cells, y channel], as fields [y channel, cells] in units of
 * y. */
void wx_standard_field(const wx_standard *s, const float *m, const float *mean, float *out);
void wx_standard_spread(const wx_standard *s, const float *spread, float *out);
/* The same of members, whose y' are [member, cells, y channel], in place of the raw ones in e, [y
 * channel, depth, member, plane]: where these are missing they stay so. m: as the mean's. */
void wx_standard_members_field(const wx_standard *s, const float *m, const float *members,
                               float *e);
#endif
