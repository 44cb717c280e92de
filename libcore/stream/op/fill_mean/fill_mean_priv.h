/* fill_mean_priv.h - the options of the step `fill_mean`. */
#ifndef WEIR_FILL_MEAN_PRIV_H
#define WEIR_FILL_MEAN_PRIV_H
#include <stdbool.h>

typedef struct fill_mean_opts {
  double window, tolerance;
  bool causal;
} fill_mean_opts;
#endif
