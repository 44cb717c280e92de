/* options.h - the configuration of weather_ensemble: one struct, one table. */
#ifndef WX_OPTIONS_H
#define WX_OPTIONS_H
#include "data/model_climate.h"
#include "data/extremes.h"
#include "data/simulation/qg_ensemble.h"
#include "data/samples/samples.h"
#include "data/samples/dummy.h"
#include "data/samples/standard.h"
#include "data/archive/inventory.h"
#include "eval/verify.h"
#include "model/network.h"
#include "place/weir_grid_options.h"
#include "train/weir_train.h"

/* The samples that predict takes: those of a subset, or all. */
enum { WX_PREDICT_ALL = WX_SUBSETS };
/* What predict writes. */
enum { WX_PREDICT_NETCDF, WX_PREDICT_GRIB, WX_PREDICT_BOTH };

/* The first of two stages. */
typedef struct wx_bias_cfg {
  bool use;
  int64_t folds;
  int loss; /* wx_loss: mse or mae */
  wx_input_opts data;
  wx_model_opts model;
  wx_standard_opts normalization;
  weir_train_cfg train;
} wx_bias_cfg;

/* Daily operation. */
typedef struct wx_watch_cfg {
  const char *directory, *pattern; /* "": one prediction of data.forecast */
  double interval, settle;         /* s */
  bool once, retry;
  int64_t attempts;
} wx_watch_cfg;

/* What forecasts to predict have to have; 0 and empty: anything. */
typedef struct wx_expect_cfg {
  int64_t init_times, members;
  weir_real_list leads; /* h */
} wx_expect_cfg;

typedef struct wx_cfg {
  int64_t seed; /* of the simulation; added to those of train and check */
  wx_data_opts data;
  wx_standard_opts normalization;
  wx_import_opts import;
  struct {
    bool statistics;
    int64_t listed;
  } inspect;
  wx_model_climate_opts climate;
  wx_qg_opts simulate;
  wx_dummy_opts dummy;
  wx_model_opts model;
  weir_train_cfg train;
  wx_eecrps_opts eecrps;
  wx_bias_cfg bias;
  weir_train_check_cfg check;
  struct {
    double rate; /* Tflop/s */
  } describe;
  struct {
    const char *weights;
    int part;   /* wx_subset or WX_PREDICT_ALL */
    int format; /* WX_PREDICT_NETCDF ... */
    bool members, overlap;
    weir_real_list quantiles;
    weir_struct_list events; /* wx_event_row */
    wx_model_row model;      /* in place of a network */
    wx_expect_cfg expect;
    wx_watch_cfg watch;
  } predict;
  wx_verify_opts eval;
  weir_grid_cfg grid;
  weir_comm_cfg comm;
  weir_exec_cfg exec;
} wx_cfg;

extern const weir_opt wx_options[];
#endif
