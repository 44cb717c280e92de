/* clip_priv.h - the options of the step `clip`. */
#ifndef WEIR_CLIP_PRIV_H
#define WEIR_CLIP_PRIV_H
typedef struct clip_opts {
  double longest;
} clip_opts;
#endif
