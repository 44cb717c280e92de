/* options.c - the option table of physio_stream: keys, defaults, ranges, units and help. */
#include "options.h"

static const weir_opt pair_options[] = {
    WEIR_OPT_PATH(ps_pair, reference, "", "annotation file with the true beats"),
    WEIR_OPT_PATH(ps_pair, test, "", "annotation file with the beats to score"),
    WEIR_OPT_END,
};

/* What compare reads of the section: no delays are drawn. */
static const weir_opt ps_scaling_options[] = {
    WEIR_OPT_INT_LIST(weir_scaling_cfg, ranks, "4, 8", 1, 4096, "ranks",
                      "numbers of ranks that are simulated"),
    WEIR_OPT_STRING_LIST(weir_scaling_cfg, policies, "",
                         "exchange policies; that of train.optim.exchange has the options it has "
                         "there, the others their defaults; empty: all"),
    WEIR_OPT_INT(weir_scaling_cfg, runs, 5, 1, 10000, "1",
                 "trainings under each, with other weights and another order of the recordings"),
    WEIR_OPT_TABLE(weir_scaling_cfg, network, weir_network_opts,
                   "network between the ranks, by the LogGOPS model (configs/networks)"),
    WEIR_OPT_END,
};

const weir_opt ps_options[] = {
    WEIR_OPT_INT(ps_cfg, seed, 1, 0, 0x1p62, "1", "seed of every random number"),
    WEIR_OPT_TABLE(ps_cfg, input, ps_input_options, "the signal that is read"),
    WEIR_OPT_TABLE(
        ps_cfg, ecgsyn, ps_synth_options,
        "the built-in recording (ECGSYN, McSharry et al. 2003); read where no other is named and "
        "one of these is stated"),
    WEIR_OPT_TABLE(ps_cfg, replay, ps_replay_options, "how a recording is sent as live samples"),
    WEIR_OPT_TABLE(ps_cfg, detect, ps_detect_options, "the beat detector"),
    WEIR_OPT_TABLE(ps_cfg, query, ps_query_options,
                   "what is computed; empty: beats are detected (docs/guide/physio_stream.md)"),
    WEIR_OPT_TABLE(ps_cfg, stream, weir_stream_opts, "division of the signal into chunks"),
    WEIR_OPT_TABLE(ps_cfg, exec, weir_exec_opts, "how the graph is computed"),
    WEIR_OPT_BOOL(ps_cfg, output.features, false,
                  "also write features.nc: filtered signal, feature and presence of every sample"),
    WEIR_OPT_BOOL(
        ps_cfg, output.follow, true,
        "live input: also print each result as soon as it is final: beats as in beats.csv, "
        "those of a query as lines of docs/reference/live.md"),
    WEIR_OPT_REAL(ps_cfg, output.strip, 10, 0, 600, "s",
                  "signal drawn in the report (results of 1 Hz and less, and events: up to 20,000 "
                  "values, unless output.start is stated); 0: none"),
    WEIR_OPT_REAL(ps_cfg, output.start, 0, 0, 1e9, "s",
                  "where the signal drawn begins; 0: at its first sample that is present"),
    WEIR_OPT_TABLE(ps_cfg, output.nn, ps_hrv_options, "how the report measures intervals"),
    WEIR_OPT_TABLE(
        ps_cfg, output.viewer, ps_viewer_options,
        "viewer.html of run: signals and annotations to pan and zoom through; of several "
        "recordings (input.records) only where one of these is stated"),
    WEIR_OPT_TABLE(ps_cfg, output.page, ps_live_page_options,
                   "page of live input, to read only, while run goes on"),
    WEIR_OPT_PATH(
        ps_cfg, eval.reference, "",
        "annotation file with the true beats; its record (RECORD.hea, .edf, .bdf or .nc) is in the "
        "same folder"),
    WEIR_OPT_PATH(ps_cfg, eval.test, "", "annotation file with the beats to score"),
    WEIR_OPT_LIST(ps_cfg, eval.pairs, ps_pair, pair_options, 100000,
                  "more such pairs: scored each and together (gross: of all beats; average: of the "
                  "records' figures)"),
    WEIR_OPT_STRING_LIST(
        ps_cfg, eval.records, "",
        "records, or files RECORDS that list some, in place of pairs: of each, the "
        "true beats are in its folder (eval.annotators.reference), those to score in "
        "eval.folder"),
    WEIR_OPT_PATH(ps_cfg, eval.folder, "",
                  "folder with the beats of eval.records: DIR/NAME/NAME.qrs, as a run over "
                  "input.records writes them, or DIR/NAME.qrs; empty: the folder of each record"),
    WEIR_OPT_STRING(ps_cfg, eval.annotators.reference, "atr",
                    "suffix of the annotation files of eval.records that are the reference"),
    WEIR_OPT_STRING(ps_cfg, eval.annotators.test, "qrs", "suffix of those that are scored"),
    WEIR_OPT_REAL(
        ps_cfg, eval.fs, 0, 0, 1e6, "1/s",
        "units of time per second of annotation files that state no time resolution; 0: frames "
        "of the record"),
    WEIR_OPT_INT(ps_cfg, eval.strips, 8, 0, 1000, "1",
                 "missed or false beats around which the report draws the signal (input.signal, "
                 "else the first in mV) and the reference; 0: none"),
    WEIR_OPT_REAL(ps_cfg, eval.nn.exclude, -1, -1, 1, "1",
                  "maximum deviation from the median, as a share of it, of intervals included in "
                  "hrv.csv; 0: no limit; -1: no limit if beat types are known, otherwise "
                  "output.nn.exclude"),
    WEIR_OPT_REAL(ps_cfg, eval.nn.bridge, 5, 0, 60, "s",
                  "longest stretch without normal beats that the spectrum interpolates"),
    WEIR_OPT_ENUM(ps_cfg, eval.nn.definitions, PS_HRV_TASK_FORCE, "task_force|neurokit2",
                  "of pNN50, SDANN, VLF, LF, HF, alpha 1 and alpha 2; as output.nn.definitions"),
    WEIR_OPT_ENUM(ps_cfg, eval.nn.spectrum, PS_HRV_WELCH, "welch|lomb",
                  "of the intervals at 4 Hz by a cubic spline, or as they are (with VLF)"),
    WEIR_OPT_TABLE(ps_cfg, eval.nn.entropy, ps_hrv_entropy_options,
                   "approximate, sample and multiscale entropy"),
    WEIR_OPT_TABLE(ps_cfg, eval.nn.dfa, ps_hrv_dfa_options, "detrended fluctuation analysis"),
    WEIR_OPT_REAL(ps_cfg, eval.start, 300.0, 0.0, 1e9, "s",
                  "start of the scored range; the first five minutes are learning time (EC57)"),
    WEIR_OPT_BOOL(
        ps_cfg, eval.alarms.score, false,
        "score alarms as the PhysioNet/CinC Challenge 2015 does, in place of beats: those "
        "that headers of eval.records label true or false, and the files NAME/ALARM.csv "
        "of a query below eval.folder"),
    WEIR_OPT_REAL(ps_cfg, eval.alarms.from, 290, 0, 1e9, "s",
                  "an alarm is raised if its file has a line from here on (Challenge 2015: 10 s "
                  "before the alarm of the monitor)"),
    WEIR_OPT_REAL(ps_cfg, eval.alarms.to, 300, 0, 1e9, "s",
                  "and before here (Challenge 2015: the alarm of the monitor)"),
    WEIR_OPT_REAL(ps_cfg, eval.window, 0.15, 0.001, 1.0, "s",
                  "maximum distance of matching beats (EC57: 150 ms)"),
    WEIR_OPT_STRING_LIST(ps_cfg, beats.records, "",
                         "train: annotated records, or files RECORDS that list some, one for each "
                         "patient, to learn classes of beats from"),
    WEIR_OPT_STRING_LIST(ps_cfg, beats.test, "",
                         "train: such records of other patients, to test on; empty: each of "
                         "beats.records is tested by what is learnt from the others"),
    WEIR_OPT_PATH(ps_cfg, beats.folder, "",
                  "train: folder of a run over these records with a step beat_class"),
    WEIR_OPT_STRING(ps_cfg, beats.file, "features.csv",
                    "train: its result, in the folder of each record"),
    WEIR_OPT_STRING(ps_cfg, beats.annotator, "atr",
                    "train: suffix of the annotation files, next to the records"),
    WEIR_OPT_INT(ps_cfg, beats.min_beats, 10, 2, 1e9, "1",
                 "train: a class with fewer beats is not learnt, and no beat is of it"),
    WEIR_OPT_STRING_LIST(ps_cfg, beats.same_patient, "",
                         "train: names of records of one patient, separated by blanks, for each "
                         "patient of whom there are several: \"201 202\""),
    WEIR_OPT_TABLE(ps_cfg, beats.network, ps_beat_network_options,
                   "train: a network in addition to the linear discriminant; section train has its "
                   "training"),
    WEIR_OPT_TABLE(ps_cfg, convert, ps_convert_options, "the record that convert writes"),
    WEIR_OPT_TABLE(ps_cfg, site, ps_site_options, "a study over several hospitals"),
    WEIR_OPT_TABLE(ps_cfg, rhythm, ps_rhythm_options,
                   "compare: recordings of different length, as ecgsyn says but for length, heart "
                   "rate and rhythm, and the network that classifies their rhythm"),
    WEIR_OPT_TABLE(ps_cfg, train, weir_train_opts,
                   "compare, train (beats.network): the training; seed is added to its"),
    WEIR_OPT_TABLE(ps_cfg, scaling, ps_scaling_options, "compare: simulated ranks"),
    WEIR_OPT_REAL(ps_cfg, compare.compute_s, 1e-3, 0, 1e6, "s",
                  "simulated time that a rank computes in a step for every second of the "
                  "recordings that it has in it"),
    WEIR_OPT_REAL(ps_cfg, compare.target, 0, 0, 1e30, "",
                  "validation loss, to which compare measures the simulated time; 0: the mean with "
                  "which allreduce ends on the most ranks (without it the first row) and, of "
                  "several runs, their standard deviation"),
    WEIR_OPT_REAL(
        ps_cfg, bench.duration, 3600, 1, 1e8, "s",
        "signal of the measurement, in memory; after 600 s it repeats, so 1e7 s of 256 Hz are "
        "2.6e9 samples without the cost of making them"),
    WEIR_OPT_INT(ps_cfg, bench.repeats, 5, 1, 1000, "1",
                 "runs measured, after one that is not; the median counts"),
    WEIR_OPT_END,
};
