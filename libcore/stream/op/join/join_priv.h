/* join_priv.h - the options of the step `join`. */
#ifndef WEIR_JOIN_PRIV_H
#define WEIR_JOIN_PRIV_H
typedef struct join_opts {
  int kind;
  double fill_left, fill_right;
  const char *value;
} join_opts;
#endif
