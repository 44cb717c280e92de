/* options.h - the configuration of cosmoflow: one struct, one table. */
#ifndef CF_OPTIONS_H
#define CF_OPTIONS_H
#include "data/universe.h"

typedef struct cf_cfg {
  int64_t seed;
  cf_universe_opts simulate;
} cf_cfg;

extern const weir_opt cf_options[];
#endif
