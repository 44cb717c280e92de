/* options.c - the option table of cosmoflow: keys, defaults, ranges, units and help. */
#include "options.h"

const weir_opt cf_options[] = {
    WEIR_OPT_INT(cf_cfg, seed, 0, 0, 0x1p52, "1", "seed of the universes, added to train.seed"),
    WEIR_OPT_TABLE(cf_cfg, simulate, cf_universe_options,
                   "the built-in universes, which prepare writes"),
    WEIR_OPT_TABLE(cf_cfg, source, cf_source_options, "samples that are read"),
    WEIR_OPT_TABLE(cf_cfg, files, cf_volume_options, "how files of samples are read"),
    WEIR_OPT_TABLE(cf_cfg, convert, cf_convert_options, "what convert writes"),
    WEIR_OPT_TABLE(cf_cfg, snapshot, cf_snapshot_options,
                   "how snapshots of simulations are read (paint, haloes)"),
    WEIR_OPT_TABLE(cf_cfg, paint, cf_paint_options, "samples that paint makes of snapshots"),
    WEIR_OPT_TABLE(cf_cfg, haloes, cf_haloes_options, "friends of friends that haloes finds"),
    WEIR_OPT_TABLE(cf_cfg, data, cf_data_options, "preprocessing of the samples"),
    WEIR_OPT_TABLE(cf_cfg, adapt, cf_adapt_options,
                   "domain adaptation: what run adds to the loss so that outputs for samples of "
                   "another simulation are distributed as those of the training are"),
    WEIR_OPT_TABLE(cf_cfg, load, weir_load_opts, "how the samples of a training are read ahead"),
    WEIR_OPT_TABLE(cf_cfg, model, cf_model_options, "what is trained"),
    WEIR_OPT_TABLE(cf_cfg, train, weir_train_opts,
                   "the training (MLPerf HPC: optim.rule {momentum: {form: keras}}, "
                   "optim.schedule.shape mlperf; the metric is mae)"),
    WEIR_OPT_TABLE(cf_cfg, eval, cf_eval_options, "what eval scores, and baselines"),
    WEIR_OPT_TABLE(cf_cfg, robustness, cf_robustness_options,
                   "what robustness tests, by the scores and baselines of section eval"),
    WEIR_OPT_INT(cf_cfg, inspect.samples, 1, 0, 1e9, "1",
                 "samples, from the first on, whose labels, universes and voxels inspect looks at "
                 "and checks as run and predict do"),
    WEIR_OPT_INT(cf_cfg, describe.side, 0, 0, 4096, "1",
                 "voxels along each side of the samples that the network is described for; 0: of "
                 "the samples of source.input, or of those that prepare writes"),
    WEIR_OPT_BOOL(cf_cfg, describe.map, false,
                  "they are maps of 1 x side x side voxels; false: as source.input has them, "
                  "else cubes"),
    WEIR_OPT_INT(cf_cfg, describe.channels, 0, 0, 64, "1",
                 "channels that it sees; 0: likewise, less the one that model.segment classifies"),
    WEIR_OPT_INT(cf_cfg, describe.outputs, 0, 0, 64, "1",
                 "parameters to be estimated, or classes of a voxel; 0: the labels of source.input "
                 "or those that prepare writes, or the classes of the files or the 3 of "
                 "model.segment"),
    WEIR_OPT_INT(cf_cfg, describe.ranks, 0, 0, 1000000, "ranks",
                 "that a run is to have: grid has to make that many, and --grid auto predicts a "
                 "step on each grid of them; 0: as many as the numbers of grid make, or 1"),
    WEIR_OPT_STRING_LIST(cf_cfg, describe.grids, "",
                         "grids to predict a step on instead, of any numbers of ranks, such as "
                         "[16x4, 16x8]; messages take the times of scaling.network"),
    WEIR_OPT_PATH(cf_cfg, predict.weights, "",
                  "weights.nc of a run, or one of its checkpoints; they carry their network"),
    WEIR_OPT_INT(cf_cfg, predict.batch, 8, 1, 1000000, "1", "samples that are computed at once"),
    WEIR_OPT_ENUM(cf_cfg, predict.part, CF_PREDICT_ALL, CF_SUBSET_CHOICES "|all",
                  "samples to predict: those of a subset, as the weights know their universes, or "
                  "all; the others are listed without a prediction"),
    WEIR_OPT_ENUM(cf_cfg, predict.symmetry, CF_SYMMETRY_NONE, CF_SYMMETRY_CHOICES,
                  "for networks that estimate parameters: mean of the estimates over the mirror "
                  "images or the octahedral group of each sample (data.augment.symmetry), which "
                  "takes as many times as long; none: estimate of the sample alone"),
    WEIR_OPT_BOOL(cf_cfg, predict.shift, false,
                  "each image of predict.symmetry but the first is moved around the box, by other "
                  "whole numbers of voxels (data.augment.shift): for whole periodic boxes; takes "
                  "no longer"),
    WEIR_OPT_BOOL(cf_cfg, predict.external_universes, false,
                  "the universes are others than those of the training, whatever their numbers: "
                  "all are tests",
                  .alias = "predict.strangers"),
    WEIR_OPT_BOOL(cf_cfg, predict.probabilities, false,
                  "of networks that segment: classes.nc has the probability of every class, too"),
    WEIR_OPT_INT(cf_cfg, predict.draws, 0, 0, 1e6, "1",
                 "of networks with model.head mixture or flow: draws from the posterior of each "
                 "sample, in predictions.nc; 0: none"),
    WEIR_OPT_BOOL(
        cf_cfg, predict.truncate, false,
        "of networks with model.head mixture or flow: posteriors are restricted to the ranges "
        "of the parameters, labels in [-1, 1], and renormalised; not with a "
        "files.label_limit above 1; false: as they were trained"),
    WEIR_OPT_INT(cf_cfg, predict.memory, (int64_t)4 << 30, 0, 1e15, "B",
                 "of networks that segment: fewer samples than predict.batch are computed at once "
                 "where they need more; one always is"),
    WEIR_OPT_TABLE(cf_cfg, power, cf_spectrum_options, "power spectrum of a sample (power)"),
    WEIR_OPT_TABLE(cf_cfg, summaries, cf_summary_options,
                   "other summary statistics: of a sample (summaries), and of those that "
                   "eval.regressions are on"),
    WEIR_OPT_TABLE(cf_cfg, mllog, cf_mllog_options,
                   "the log of MLPerf HPC, in addition to run.jsonl"),
    WEIR_OPT_TABLE(
        cf_cfg, scaling, weir_scaling_opts,
        "steps of replicas on many ranks, which scaling predicts; ranks, policies, runs, "
        "compute_s, imbalance and network are those of compare as well"),
    WEIR_OPT_TABLE(cf_cfg, loading, weir_load_simulation_opts,
                   "trainings that loading simulates, on a machine whose storage is section load"),
    WEIR_OPT_INT_LIST(
        cf_cfg, tune.threads, "1, 2, 4", 1, 64, "threads",
        "that read memory and load.directory.path in turn, ascending, at most 16 numbers; one of "
        "them becomes load.staging.threads"),
    WEIR_OPT_INT(cf_cfg, tune.bytes, 1 << 28, 1, 1e15, "B",
                 "samples that are read from memory and from files of load.directory.path each "
                 "time; memory: more than the caches have"),
    WEIR_OPT_INT(cf_cfg, tune.samples, 32, 1, 1e9, "1",
                 "samples of source.input that each reader reads, fewer where there are fewer"),
    WEIR_OPT_INT(cf_cfg, tune.workers, 0, 0, 65536, "workers",
                 "groups of ranks that read for themselves in the training for which settings are "
                 "chosen; 0: the ranks of tune"),
    WEIR_OPT_INT(cf_cfg, tune.max_memory_bytes, 0, 0, 1e15, "B",
                 "memory of a worker for its staging buffer, memory cache and received samples; 0: "
                 "half of what is free, divided by the ranks of tune"),
    WEIR_OPT_INT(cf_cfg, tune.max_directory_bytes, 0, 0, 1e18, "B",
                 "space of a worker in load.directory.path; 0: half of what is free, divided by "
                 "the ranks of tune"),
    WEIR_OPT_REAL(cf_cfg, compare.target, 0, 0, 1e30, "",
                  "validation loss, to which compare measures the simulated time; 0: the mean with "
                  "which allreduce ends on the most ranks (without it the first row) and, of "
                  "several runs, their "
                  "standard deviation"),
    WEIR_OPT_TABLE(cf_cfg, grid, weir_grid_opts,
                   "how the ranks of mpiexec or srun share a batch (run; --grid NxDxHxW or auto)"),
    WEIR_OPT_TABLE(cf_cfg, comm, weir_comm_opts, "messages between them"),
    WEIR_OPT_TABLE(cf_cfg, exec, weir_exec_opts, "how graphs are computed"),
    WEIR_OPT_END,
};
