/* options.h - the configuration of cosmoflow: one struct, one table. */
#ifndef CF_OPTIONS_H
#define CF_OPTIONS_H
#include "data/convert.h"
#include "data/simulation/universe.h"
#include "data/snapshot/haloes.h"
#include "data/snapshot/paint.h"
#include "eval/evaluation.h"
#include "eval/robustness/robustness.h"
#include "eval/spectrum.h"
#include "data/samples.h"
#include "data/adaptation.h"
#include "exec/weir_plan.h"
#include "load/weir_load_simulation.h"
#include "log/mllog.h"
#include "model/network.h"
#include "place/weir_grid_options.h"
#include "place/weir_scaling.h"
#include "train/weir_train.h"

enum { CF_PREDICT_ALL = CF_SUBSETS };

typedef struct cf_cfg {
  int64_t seed; /* of the universes; added to that of train */
  cf_universe_opts simulate;
  cf_source_opts source;
  cf_volume_opts files;
  cf_convert_opts convert;
  cf_snapshot_opts snapshot;
  cf_paint_opts paint;
  cf_haloes_opts haloes;
  cf_data_opts data;
  cf_adapt_opts adapt;
  weir_load_cfg load;
  cf_model_opts model;
  weir_train_cfg train;
  cf_eval_opts eval;
  cf_robustness_opts robustness;
  struct {
    int64_t samples;
  } inspect;
  struct {
    int64_t side, channels, outputs, ranks;
    bool map; /* of 1 x side x side voxels */
    weir_string_list grids;
  } describe;
  struct {
    const char *weights;
    int64_t batch;
    int part;                /* cf_subset, or CF_PREDICT_ALL */
    int symmetry;            /* cf_symmetry that estimates are averaged over */
    bool shift;              /* whose views are moved */
    bool external_universes; /* the universes are others than those of the training */
    bool probabilities;
    int64_t draws;
    bool truncate;
    int64_t memory; /* bytes */
  } predict;
  cf_spectrum_opts power;
  cf_summary_opts summaries;
  cf_mllog_opts mllog;
  weir_scaling_cfg scaling;
  weir_load_simulation loading;
  struct {
    weir_int_list threads;
    int64_t bytes, samples, workers, max_memory_bytes, max_directory_bytes;
  } tune;
  struct {
    double target;
  } compare;
  weir_grid_cfg grid;
  weir_comm_cfg comm;
  weir_exec_cfg exec;
} cf_cfg;

extern const weir_opt cf_options[];
#endif
