/* mask_priv.h - the options of the step `mask`. */
#ifndef WEIR_MASK_PRIV_H
#define WEIR_MASK_PRIV_H
typedef struct mask_opts {
  double tolerance;
} mask_opts;
#endif
