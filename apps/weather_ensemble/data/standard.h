/* standard.h - fields in units of their own spread: (field - mean) / standard deviation, per
 * channel, of the training samples alone. Kept in the store, so that checkpoints and weights have
 * them. */
#ifndef WX_STANDARD_H
#define WX_STANDARD_H
#include "data/samples.h"
#include "graph/weir_store.h"

/* What the network makes. */
typedef enum wx_target {
  WX_TARGET_DIFFERENCE, /* truth minus the channel of x of its name */
  WX_TARGET_FIELD,      /* truth                                   */
} wx_target;
#define WX_TARGET_CHOICES "difference|field"

/* Arrays of the store, one number a channel; bias: mean of truth minus x's channel of its name. */
typedef struct wx_standard {
  wx_target target;
  int64_t n_x, n_y, cells;
  double *x_mean, *x_sd, *y_mean, *y_sd, *bias;
  int64_t pair[WX_CHANNELS]; /* channel of x of the name of a channel of y, -1: none */
} wx_standard;

/* Adds the arrays to the store. Fails: WEIR_ERR_CONFIG where difference is asked for and x lacks a
 * channel of y; as wx_samples_pair and weir_store_add. */
weir_status wx_standard_open(const wx_facts *facts, wx_target target, weir_store *store,
                             wx_standard *out) WEIR_CHECKED;
/* Fills them from n samples; a channel that never changes has standard deviation 1. x, y: room for
 * a sample. Fails: as wx_samples_read, WEIR_ERR_STOPPED. */
weir_status wx_standard_fit(wx_standard *s, wx_samples *samples, const int64_t *sample, int64_t n,
                            float *x, float *y) WEIR_CHECKED;
/* x [channel, cells] to [cells, channel]. The same of truth y; x is that of its sample. */
void wx_standard_x(const wx_standard *s, const float *x, float *out);
void wx_standard_y(const wx_standard *s, const float *x, const float *y, float *out);
/* What a network gave, [cells, channel], as fields [channel, cells] in units of y, and a standard
 * deviation likewise. */
void wx_standard_field(const wx_standard *s, const float *x, const float *mean, float *out);
void wx_standard_spread(const wx_standard *s, const float *spread, float *out);
#endif
