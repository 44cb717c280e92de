/* options.c - the option table of weather_ensemble: keys, defaults, ranges, units and help. */
#include "options.h"

static const weir_opt bias_options[] = {
    WEIR_OPT_BOOL(wx_bias_cfg, use, false,
                  "two stages (arXiv:2005.08748): a network corrects the mean first, and that of "
                  "the section model sees what is left"),
    WEIR_OPT_INT(
        wx_bias_cfg, folds, 5, 1, 100, "1",
        "the training samples of each of so many ranges of time are corrected by a network "
        "that was not trained on them; 1: by one that was, whose errors are too small"),
    WEIR_OPT_ENUM(wx_bias_cfg, loss, WX_LOSS_MSE, "mse|mae", "mean squared or absolute error"),
    WEIR_OPT_TABLE(wx_bias_cfg, data, wx_input_options,
                   "its inputs; everything else is as the section data says"),
    WEIR_OPT_TABLE(wx_bias_cfg, model, wx_model_options,
                   "the network; its head is mean, its loss that of bias.loss"),
    WEIR_OPT_TABLE(wx_bias_cfg, normalization, wx_standard_options, "what it sees, and counts from",
                   .alias = "standard"),
    WEIR_OPT_TABLE(wx_bias_cfg, train, weir_train_opts, "how it is trained"),
    WEIR_OPT_END,
};

static const weir_opt expect_options[] = {
    WEIR_OPT_INT(wx_expect_cfg, init_times, 0, 0, 1e9, "1",
                 "number of initialisation times; 0: any"),
    WEIR_OPT_INT(wx_expect_cfg, members, 0, 0, 100000, "1", "number of members; 0: any"),
    WEIR_OPT_REAL_LIST(wx_expect_cfg, leads, "", 0, 1e7, "h",
                       "lead times, all of which have to be there; empty: any"),
    WEIR_OPT_END,
};

static const weir_opt watch_options[] = {
    WEIR_OPT_PATH(wx_watch_cfg, directory, "",
                  "folder into which files of forecasts come: each is predicted once, in place of "
                  "data.forecast; empty: no folder"),
    WEIR_OPT_STRING(wx_watch_cfg, pattern, "*",
                    "names of its files, as *.grib; hidden files are left out"),
    WEIR_OPT_REAL(wx_watch_cfg, interval, 60, 0.01, 1e6, "s", "time between two looks at it"),
    WEIR_OPT_REAL(wx_watch_cfg, settle, 30, 0, 1e6, "s",
                  "a file is taken for whole when it has not changed for so long"),
    WEIR_OPT_BOOL(wx_watch_cfg, once, false,
                  "end when all files in it are predicted or have failed; false: end with a "
                  "signal (SIGTERM, SIGINT), after the file at work"),
    WEIR_OPT_BOOL(wx_watch_cfg, retry, false, "also predict files that failed in an earlier run"),
    WEIR_OPT_INT(wx_watch_cfg, attempts, 5, 1, 1000000, "1",
                 "starts of a prediction during which the program was killed, after which the file "
                 "counts as failed"),
    WEIR_OPT_END,
};

const weir_opt wx_options[] = {
    WEIR_OPT_INT(wx_cfg, seed, 0, 0, 0x1p52, "1",
                 "of the simulation; it is added to train.seed and check.seed"),
    WEIR_OPT_TABLE(wx_cfg, data, wx_data_options, "archives, and the samples made of them"),
    WEIR_OPT_TABLE(wx_cfg, normalization, wx_standard_options,
                   "what the network sees, and counts from", .alias = "standard"),
    WEIR_OPT_TABLE(wx_cfg, import, wx_import_options,
                   "what prepare does with data.forecast and data.truth"),
    WEIR_OPT_BOOL(wx_cfg, inspect.statistics, true,
                  "inspect reads all values for their statistics; false: only what is known "
                  "without reading a field"),
    WEIR_OPT_INT(wx_cfg, inspect.listed, 20, 0, 1000000, "1",
                 "missing or incomplete initialisation times in a row, and intervals, that inspect "
                 "prints"),
    WEIR_OPT_TABLE(wx_cfg, climate, wx_model_climate_options,
                   "statistics of the training initialisation times"),
    WEIR_OPT_TABLE(wx_cfg, simulate, wx_qg_options,
                   "the built-in simulation: what prepare writes where data.forecast is not given"),
    WEIR_OPT_TABLE(wx_cfg, dummy, wx_dummy_options,
                   "an archive that is not there: for describe and check without data.forecast",
                   .alias = "sketch"),
    WEIR_OPT_TABLE(wx_cfg, model, wx_model_options, "network and loss"),
    WEIR_OPT_TABLE(wx_cfg, train, weir_train_opts, "how it is trained"),
    WEIR_OPT_TABLE(wx_cfg, eecrps, wx_eecrps_options,
                   "extremes: grid points count in the CRPS by their |EFI| too (model.loss: crps)"),
    WEIR_OPT_TABLE(wx_cfg, bias, bias_options, "a network before it"),
    WEIR_OPT_TABLE(wx_cfg, check, weir_train_check_opts,
                   "the comparison of the gradient with differences"),
    WEIR_OPT_REAL(wx_cfg, describe.rate, 0.1, 1e-6, 1e6, "Tflop/s",
                  "what the machine computes in a second: describe divides the cost of the "
                  "trainings by it"),
    WEIR_OPT_PATH(wx_cfg, predict.weights, "",
                  "weights.nc of a run, or one of its checkpoints; those of a bias network are "
                  "looked for in the folder bias next to it"),
    WEIR_OPT_ENUM(wx_cfg, predict.part, WX_PREDICT_ALL, WX_SUBSET_CHOICES "|all",
                  "samples to predict: those of a subset of data.split, or all"),
    WEIR_OPT_BOOL(wx_cfg, predict.members, false,
                  "also the members, moved and stretched to the corrected mean and standard "
                  "deviation, point by point; of distributions that are not normal their "
                  "quantiles, in the order of the members (model.head members: always, as the "
                  "network corrects them)"),
    WEIR_OPT_REAL_LIST(wx_cfg, predict.quantiles, "", 1e-9, 0.999999999, "1",
                       "probabilities in ascending order, as [0.1, 0.5, 0.9]: quantiles.nc has the "
                       "value below which the truth lies with each"),
    WEIR_OPT_LIST(wx_cfg, predict.events, wx_event_row, wx_event_row_options, WX_EVENTS,
                  "probabilities.nc has the probability of each, as [{quantity: 2t, value: 273.15, "
                  "above: false}]"),
    WEIR_OPT_TABLE(
        wx_cfg, predict.model, wx_model_row_options,
        "a statistical correction in place of a network, as {use: {emos: {}}}: fitted to "
        "the initialisation times of data.split.train that data.truth knows of"),
    WEIR_OPT_ENUM(wx_cfg, predict.format, WX_PREDICT_NETCDF, "netcdf|grib|both",
                  "what they are written as: predictions.nc and members.nc; GRIB edition 2 made of "
                  "the messages of the input (means predictions.grib, standard deviations "
                  "spread.grib, members.grib); or both"),
    WEIR_OPT_BOOL(wx_cfg, predict.overlap, true,
                  "samples are read and written while the network computes, in two further "
                  "threads, three samples being in memory (not with --threads 1)"),
    WEIR_OPT_TABLE(wx_cfg, predict.expect, expect_options,
                   "what the forecasts have to have: a file that was cut may look whole"),
    WEIR_OPT_TABLE(wx_cfg, predict.watch, watch_options, "daily operation"),
    WEIR_OPT_TABLE(wx_cfg, eval, wx_verify_options, "scores against the truth"),
    WEIR_OPT_TABLE(wx_cfg, grid, weir_grid_opts,
                   "how the ranks of run share a batch: depth is the axis of levels or leads of "
                   "three-dimensional samples, height the latitudes, width the longitudes (--grid "
                   "NxDxHxW or auto)"),
    WEIR_OPT_TABLE(wx_cfg, comm, weir_comm_opts, "messages between the ranks of run"),
    WEIR_OPT_TABLE(wx_cfg, exec, weir_exec_opts, "how graphs are computed"),
    WEIR_OPT_END,
};
