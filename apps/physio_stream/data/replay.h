/* replay.h - a record as the lines of live samples (docs/reference/live.md), with the disorder that
 * connections make: for trying set-ups and for tests. */
#ifndef PS_REPLAY_H
#define PS_REPLAY_H
#include "conf/weir_opt.h"
#include "io/weir_record.h"
#include "io/weir_wire.h"

typedef struct ps_replay_opts {
  const char *to;          /* address of weir_wire_connect                          */
  double connect_timeout;  /* s that the reader may take to be there                */
  double speed;            /* times real time; 0: as fast as the reader takes it    */
  double shuffle;          /* s, longest delay of a sample: they overtake each other */
  double drop, duplicates; /* shares of the samples                                 */
  double late, late_by;    /* share sent late_by s (and up to twice that) later     */
  double jitter;           /* s, maximum deviation of a time                        */
  bool remote;             /* send to other machines too                            */
} ps_replay_opts;

extern const weir_opt ps_replay_options[];

/* What was sent. */
typedef struct ps_replay_counts {
  int64_t sent, absent, dropped, duplicates, late; /* samples; those sent include the last two */
} ps_replay_counts;

/* Sends signal `signal` of the record, or all with -1: samples that are present, each at its time
 * and delay, a fixed function of the seed. Fails: as weir_record_read and weir_wire_send;
 * WEIR_ERR_CONFIG for over 64 signals; WEIR_ERR_STOPPED by a signal. */
weir_status ps_replay_send(const ps_replay_opts *opts, uint64_t seed, weir_record *record,
                           int signal, weir_wire *to, ps_replay_counts *counts) WEIR_CHECKED;
#endif
