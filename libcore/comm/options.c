/* options.c - what may be chosen about messages. */
#include "comm/weir_comm.h"
#include "comm/weir_inproc.h"

const weir_opt weir_comm_opts[] = {
    WEIR_OPT_INT(weir_comm_cfg, max_message_bytes, 1073741824, 1, 2147483647, "bytes",
                 "maximum message size; longer messages are segmented", .alias = "piece"),
    WEIR_OPT_INT(
        weir_comm_cfg, tree_max_bytes, 16384, 0, 1e15, "bytes",
        "maximum size of an allreduce along a binary tree of ranks (few messages); larger ones are "
        "reduced in shares by all ranks (few bytes); both give bitwise identical results",
        .alias = "tree"),
    WEIR_OPT_REAL(weir_comm_cfg, timeout, 600, 0, 1e9, "s",
                  "time a rank waits without receiving a message before it fails with the names of "
                  "the missing ranks; 0: no timeout",
                  .alias = "patience"),
    WEIR_OPT_ENUM(weir_comm_cfg, stall, WEIR_STALL_REPORT, "ignore|report|fail",
                  "what a rank does in a wait much longer than the last ones for the same data: "
                  "report: warns once, naming the missing ranks; fail: also fails after twice that "
                  "time, before comm.timeout"),
    WEIR_OPT_REAL(weir_comm_cfg, stall_floor, 2, 0, 1e9, "s", "shortest wait that is a stall"),
    WEIR_OPT_REAL(weir_comm_cfg, stall_deviations, 5, 0, 1e9, "1",
                  "a stall lasts longer than the median of the last waits and this many median "
                  "absolute deviations, and than each of them"),
    WEIR_OPT_END,
};

const weir_opt weir_network_opts[] = {
    WEIR_OPT_REAL(weir_network, latency, 1e-6, 0, 1000, "s",
                  "L: time of the first byte from one network interface to another"),
    WEIR_OPT_REAL(weir_network, overhead, 3e-7, 0, 1000, "s",
                  "o: time of a processor per message, at each end"),
    WEIR_OPT_REAL(weir_network, gap, 1e-7, 0, 1000, "s",
                  "g: time of a network interface per message"),
    WEIR_OPT_REAL(weir_network, link_bw, 25e9, 0, 1e18, "bytes/s",
                  "1 / G: bandwidth of a network interface, in each direction; 0: no limit"),
    WEIR_OPT_REAL(weir_network, overhead_per_byte, 0, 0, 1, "s/byte",
                  "O: time of a processor per byte of a message"),
    WEIR_OPT_REAL(weir_network, eager_max_bytes, 8192, 0, 1e15, "bytes",
                  "S: longer messages wait until their receiver is ready"),
    WEIR_OPT_REAL(weir_network, reduce_bw, 10e9, 0, 1e18, "bytes/s",
                  "bandwidth of a reduction in a processor; 0: no limit"),
    WEIR_OPT_END,
};
