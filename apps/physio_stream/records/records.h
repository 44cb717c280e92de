/* records.h - the same run on several recordings: side by side, each into a folder of its own. */
#ifndef PS_RECORDS_H
#define PS_RECORDS_H
#include "comm/weir_comm.h"
#include "commands.h"
#include "records/record.h"

/* What the run of one recording is given: `cli` with its folder and threads, `cfg` with its input.
 * `record` is NULL where it is alone; `comm` is that of the program, for ps_records_run. */
typedef struct ps_one {
  const weir_cli *cli;
  const ps_cfg *cfg;
  const weir_config *config;
  ps_record *record;
  weir_comm *comm;
  weir_run_dir *dir; /* accepted before the first result; NULL: accepted already */
} ps_one;

/* Adds a row of the pooled table; nothing where the recording is alone. Fails: WEIR_ERR_MEMORY. */
weir_status ps_one_add(const ps_one *one, const ps_pool_row *row) WEIR_CHECKED;

/* How one recording is run, and how it is seen, without any result, that it can be. */
typedef weir_status (*ps_one_fn)(const ps_one *one);

/* Accepts all->dir once `check` finds a recording of input.records that can be run. Local.
 * Fails: as ps_records_run where there is none; the earlier results then stand. */
weir_status ps_records_accept(const ps_one *all, ps_one_fn check) WEIR_CHECKED;
/* Runs every recording of input.records with `run`, one thread each, into the folder of its name
 * below cli->out. Rank 0 writes records.csv and report.html of all, unless all failed. A recording
 * that fails is named and does not stop the others. Collective. Fails: WEIR_ERR_CONFIG for names
 * that two recordings share, WEIR_ERR_DATA for a list that cannot be read; with the status of the
 * first recording that failed, naming all that did. */
weir_status ps_records_run(const ps_one *all, ps_one_fn run) WEIR_CHECKED;
#endif
