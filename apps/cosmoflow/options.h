/* options.h - the configuration of cosmoflow: one struct, one table. */
#ifndef CF_OPTIONS_H
#define CF_OPTIONS_H
#include "data/convert.h"
#include "data/universe.h"
#include "eval/evaluation.h"
#include "model/network.h"

typedef struct cf_cfg {
  int64_t seed;
  cf_universe_opts simulate;
  cf_source_opts source;
  cf_volume_opts files;
  cf_convert_opts convert;
  cf_model_opts model;
  cf_eval_opts eval;
  struct {
    int64_t samples;
  } inspect;
  struct {
    int64_t side, channels, outputs;
  } describe;
} cf_cfg;

extern const weir_opt cf_options[];
#endif
