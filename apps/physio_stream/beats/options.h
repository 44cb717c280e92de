/* options.h - how the network of beats is made and trained. */
#ifndef PS_BEATS_OPTIONS_H
#define PS_BEATS_OPTIONS_H
#include "conf/weir_opt.h"

enum { PS_BEAT_FEATURES_RR, PS_BEAT_FEATURES_ALL };
enum { PS_BEAT_WEIGHTS_BALANCED, PS_BEAT_WEIGHTS_NONE };

/* Rows: ps_beat_network_options. */
typedef struct ps_beat_network_opts {
  bool use;
  weir_string_list signals;   /* leads: names of signals of the records */
  double rate, before, after; /* Hz; s of the window */
  int features;               /* PS_BEAT_FEATURES_* */
  int64_t filters, hidden;
  double dropout;
  int class_weights; /* PS_BEAT_WEIGHTS_* */
  double valid;      /* share of the patients learnt from */
} ps_beat_network_opts;
extern const weir_opt ps_beat_network_options[];
#endif
