/* options.c - see options.h. */
#include "beats/options.h"

const weir_opt ps_beat_network_options[] = {
    WEIR_OPT_BOOL(ps_beat_network_opts, use, false,
                  "train: also train a network, which is tested on the same beats"),
    WEIR_OPT_STRING_LIST(ps_beat_network_opts, signals, "",
                         "leads by name, in mV, one or more; empty: the first signal in mV"),
    WEIR_OPT_REAL(ps_beat_network_opts, rate, 128, 1, 10000, "Hz",
                  "sampling rate of the window of a beat, whatever that of the recording"),
    WEIR_OPT_REAL(ps_beat_network_opts, before, 0.3, 0, 5, "s", "window before the R wave"),
    WEIR_OPT_REAL(ps_beat_network_opts, after, 0.45, 0.01, 5, "s", "window from the R wave on"),
    WEIR_OPT_ENUM(
        ps_beat_network_opts, features, PS_BEAT_FEATURES_RR, "rr|all",
        "features of beat_class that the network is given too: the intervals pre, post and "
        "before, or all seven"),
    WEIR_OPT_INT(ps_beat_network_opts, filters, 8, 1, 1024, "1",
                 "channels of the first convolution; the second and third have twice as many"),
    WEIR_OPT_INT(ps_beat_network_opts, hidden, 32, 1, 4096, "1", "units of the hidden layer"),
    WEIR_OPT_REAL(ps_beat_network_opts, dropout, 0.3, 0, 0.9, "1",
                  "share of the hidden units that a step of the training leaves out"),
    WEIR_OPT_ENUM(ps_beat_network_opts, class_weights, PS_BEAT_WEIGHTS_BALANCED, "balanced|none",
                  "weights of beats in the loss: balanced: n / (K n_c), so that every one of the K "
                  "classes counts alike"),
    WEIR_OPT_REAL(ps_beat_network_opts, valid, 0.2, 0, 0.9, "1",
                  "share of the patients for validation alone, at least one; train.patience stops "
                  "the training by their loss, and the best weights are kept; 0: no validation, "
                  "all epochs are run"),
    WEIR_OPT_END,
};
