/* options.h - the configuration of weather_ensemble: one struct, one table. */
#ifndef WX_OPTIONS_H
#define WX_OPTIONS_H
#include "data/climate.h"
#include "data/split.h"
#include "data/survey.h"
#include "eval/verify.h"
#include "model/network.h"
#include "train/weir_train.h"

/* The samples that predict takes: those of a part, or all. */
enum { WX_PREDICT_ALL = WX_PARTS };

typedef struct wx_cfg {
  int64_t seed; /* of the simulation; added to those of train and check */
  struct {
    const char *file; /* "": the built-in simulation */
    weir_string_list forecast, truth;
    wx_split_opts split;
  } data;
  wx_import_opts import;
  wx_climate_opts climate;
  wx_simulate_opts simulate;
  wx_model_opts model;
  weir_train_cfg train;
  weir_train_check_cfg check;
  struct {
    const char *weights;
    int part; /* wx_part or WX_PREDICT_ALL */
  } predict;
  wx_verify_opts eval;
  weir_exec_cfg exec;
} wx_cfg;

extern const weir_opt wx_options[];
#endif
