/* options.c - what may be chosen about messages. */
#include "comm/weir_comm.h"

const weir_opt weir_comm_opts[] = {
    WEIR_OPT_INT(weir_comm_cfg, max_message_bytes, 1073741824, 1, 2147483647, "bytes",
                 "largest message; longer ones are cut", .alias = "piece"),
    WEIR_OPT_INT(weir_comm_cfg, tree_max_bytes, 16384, 0, 1e15, "bytes",
                 "up to this an allreduce goes along its tree of ranks (few messages), beyond it "
                 "each rank merges its share (few bytes); the results are the same bits",
                 .alias = "tree"),
    WEIR_OPT_REAL(weir_comm_cfg, timeout, 600, 0, 1e9, "s",
                  "a rank that waits so long without any message fails, naming the ranks it waits "
                  "for; 0: it waits for ever",
                  .alias = "patience"),
    WEIR_OPT_END,
};
