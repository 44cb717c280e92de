/* chop_priv.h - the options of the step `chop`. */
#ifndef WEIR_CHOP_PRIV_H
#define WEIR_CHOP_PRIV_H
typedef struct chop_opts {
  double period;
} chop_opts;
#endif
