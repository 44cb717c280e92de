/* cmd_replay.c - sends a record as live samples: record -> lines -> pipe or socket. */
#include "base/weir_log.h"
#include "data/replay.h"
#include "commands.h"

static weir_status send_record(const ps_cfg *cfg, weir_record *record)
{
  weir_wire *to = NULL;
  ps_replay_counts c;
  int signal = -1;

  if (cfg->input.signal[0] != 0) {
    WEIR_TRY(weir_record_find(record, cfg->input.signal, &signal));
  }
  WEIR_TRY(weir_wire_connect(cfg->replay.to, cfg->replay.remote, cfg->replay.connect_timeout, &to));
  const weir_status status =
      ps_replay_send(&cfg->replay, (uint64_t)cfg->seed, record, signal, to, &c);

  weir_wire_close(&to);
  WEIR_TRY(status);
  weir_info("replay",
            "sent %lld samples of %s to %s: %lld of them duplicates, %lld late; %lld dropped, "
            "%lld absent",
            (long long)c.sent, weir_record_name(record), cfg->replay.to, (long long)c.duplicates,
            (long long)c.late, (long long)c.dropped, (long long)c.absent);
  return WEIR_OK;
}

static weir_status replay(weir_job *j)
{
  const ps_cfg *const cfg = j->cfg;
  const bool csv = cfg->input.csv[0] != 0;
  weir_record *record = NULL;

  WEIR_TRY(ps_input_open_record(&cfg->input, csv ? cfg->input.csv : cfg->input.record, &record));
  const weir_status status = send_record(cfg, record);

  weir_record_close(&record);
  return status;
}

weir_status ps_cmd_replay(const weir_cli *cli)
{
  ps_cfg cfg;

  return weir_job_run(cli, &ps_program, &cfg, replay);
}
