/* options.c - the option table of weather_ensemble: keys, defaults, ranges, units and help. */
#include "options.h"

const weir_opt wx_options[] = {
    WEIR_OPT_INT(wx_cfg, seed, 0, 0, 0x1p52, "1",
                 "of the simulation; it is added to train.seed and check.seed"),
    WEIR_OPT_PATH(wx_cfg, data.file, "",
                  "NetCDF-4 file of samples (docs/science/weather_ensemble.md); empty: the "
                  "built-in simulation"),
    WEIR_OPT_STRING_LIST(wx_cfg, data.forecast, "",
                         "files of the forecast archive, GRIB or NetCDF; prepare imports them"),
    WEIR_OPT_STRING_LIST(wx_cfg, data.truth, "",
                         "files of the truth: analyses whose start is the valid time"),
    WEIR_OPT_TABLE(wx_cfg, data.split, wx_split_options, "parts of the samples, by time"),
    WEIR_OPT_TABLE(wx_cfg, import, wx_import_options,
                   "what prepare does with data.forecast and data.truth"),
    WEIR_OPT_TABLE(wx_cfg, climate, wx_climate_options, "statistics of the training starts"),
    WEIR_OPT_TABLE(wx_cfg, simulate, wx_simulate_options, "the built-in simulation"),
    WEIR_OPT_TABLE(wx_cfg, model, wx_model_options, "network and loss"),
    WEIR_OPT_TABLE(wx_cfg, train, weir_train_opts, "how it is trained"),
    WEIR_OPT_TABLE(wx_cfg, check, weir_train_check_opts,
                   "the comparison of the gradient with differences"),
    WEIR_OPT_PATH(wx_cfg, predict.weights, "", "weights.nc of a run, or one of its checkpoints"),
    WEIR_OPT_ENUM(wx_cfg, predict.part, WX_PREDICT_ALL, WX_PART_CHOICES "|all",
                  "samples to predict: those of a part of data.split, or all"),
    WEIR_OPT_TABLE(wx_cfg, eval, wx_verify_options, "scores against the truth"),
    WEIR_OPT_TABLE(wx_cfg, exec, weir_exec_opts, "how graphs are computed"),
    WEIR_OPT_END,
};
