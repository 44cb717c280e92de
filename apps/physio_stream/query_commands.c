/* query_commands.c - see query_commands.h. */
#include "query_commands.h"
#include "base/weir_log.h"
#include "pipeline.h"
#include "query/files.h"
#include "query/shown.h"
#include "page/query_page.h"

static ps_query_job job_of(const weir_cli *cli, const ps_cfg *cfg, const weir_config *config)
{
  return (ps_query_job){.query = &cfg->query,
                        .config = config,
                        .input = &cfg->input,
                        .synth = &cfg->ecgsyn,
                        .seed = (uint64_t)cfg->seed,
                        .stream = &cfg->stream,
                        .exec = &cfg->exec,
                        .threads = cli->threads,
                        .start = cfg->output.start,
                        .strip = cfg->output.strip,
                        .follow = cfg->output.follow ? stdout : NULL,
                        .viewer = &cfg->output.viewer,
                        .page = &cfg->output.page};
}

static void warn_of_nothing(const ps_query_run *r)
{
  for (int64_t i = 0; i < r->query.n_columns; i++) {
    if (r->columns[i].present == 0 && r->columns[i].undefined.n == 0) {
      weir_warn("query", "%s: nothing is present in %lld slots of %s", r->columns[i].what->name,
                (long long)r->columns[i].slots, r->facts->name);
    }
  }
}

/* What expressions made of numbers: said once for each result, for a user would not look for it. */
static void warn_of_odd(const ps_query_run *r)
{
  for (int64_t i = 0; i < r->query.n_columns; i++) {
    const ps_column *c = &r->columns[i];

    if (c->infinite.n > 0) {
      weir_warn("query",
                "%s of %s: %lld of %lld values are infinite, the first at %.6g s: was "
                "something divided by 0?",
                c->what->name, r->facts->name, (long long)c->infinite.n, (long long)c->present,
                ps_column_time(c, c->infinite.first));
    }
    if (c->undefined.n > 0) {
      weir_warn("query",
                "%s of %s: in %lld slots, the first at %.6g s, the expression gives no "
                "number (0 / 0, the root or logarithm of a negative one): they are absent",
                c->what->name, r->facts->name, (long long)c->undefined.n,
                ps_column_time(c, c->undefined.first));
    }
  }
}

static weir_status write_all(const ps_one *one, ps_query_run *r)
{
  const weir_cli *cli = one->cli;
  const ps_cfg *cfg = one->cfg;
  const char *inputs[2];
  const ps_input *in = NULL;

  for (int i = WEIR_QUERY_SOURCES - 1; i >= 0; i--) {
    in = r->input[i] != NULL ? r->input[i] : in;
  }
  const int n_inputs = ps_input_files(in, inputs);

  ps_input_report(in);
  WEIR_TRY(weir_run_dir_commit(one->dir));
  WEIR_TRY(ps_query_files_write(&cfg->query, r, cli->out));
  WEIR_TRY(ps_write_provenance(cli, cfg, inputs, n_inputs));
  WEIR_TRY(ps_query_shown_write(&cfg->query, r, &cfg->input, cli->out));
  WEIR_TRY(ps_query_page_write(r, cli->out));
  warn_of_nothing(r);
  warn_of_odd(r);
  weir_info("query", "%lld results of %lld slots of %s; wrote %s/report.html",
            (long long)r->query.n_columns, (long long)r->report.slots, r->facts->name, cli->out);
  return WEIR_OK;
}

static weir_status add_to_pool(const ps_one *one, const ps_query_run *r)
{
  for (int64_t i = 0; i < r->query.n_columns; i++) {
    const ps_column *c = &r->columns[i];
    ps_pool_row row = {.rate = (double)c->what->rate_num / (double)c->what->rate_den,
                       .slots = c->slots,
                       .present = c->present,
                       .min = c->min,
                       .max = c->max,
                       .sum = c->sum};

    (void)snprintf(row.stream, sizeof row.stream, "%s", c->what->name);
    (void)snprintf(row.unit, sizeof row.unit, "%s", c->what->unit);
    WEIR_TRY(ps_one_add(one, &row));
  }
  return WEIR_OK;
}

/* When results of live input come. */
static void tell_latency(const ps_one *one, const ps_query_run *r)
{
  const double lateness = one->cfg->input.lateness, chunk = weir_stream_window(r->stream);
  double most = 0;

  if (one->cfg->input.live[0] == 0) {
    return;
  }
  for (int64_t i = 0; i < r->query.n_columns; i++) {
    double back = 0, ahead = 0;

    weir_stream_reach(r->stream, (int)i, &back, &ahead);
    most = ahead > most ? ahead : most;
  }
  weir_info("query",
            "latency of a result: at most %.6g s = %.6g s (input.lateness) + %.6g s (chunk) + %.6g "
            "s (look-ahead)",
            lateness + chunk + most, lateness, chunk, most);
}

static weir_status perform(const ps_one *one, ps_query_run *r)
{
  tell_latency(one, r);
  WEIR_TRY(ps_query_perform(r));
  WEIR_TRY(write_all(one, r));
  return add_to_pool(one, r);
}

weir_status ps_query_check(const ps_one *one)
{
  const ps_query_job job = job_of(one->cli, one->cfg, one->config);
  ps_query_run r;

  WEIR_TRY(ps_query_files_check(&one->cfg->query));
  WEIR_TRY(ps_query_open(&job, &r));
  ps_query_close(&r);
  return WEIR_OK;
}

weir_status ps_query_run_one(const ps_one *one)
{
  const ps_query_job job = job_of(one->cli, one->cfg, one->config);
  ps_query_run r;

  WEIR_TRY(ps_query_files_check(&one->cfg->query));
  WEIR_TRY(ps_query_open(&job, &r));
  const weir_status status = perform(one, &r);

  ps_query_close(&r);
  return status;
}

static void print_inputs(const ps_query_run *r)
{
  for (int i = 0; i < WEIR_QUERY_SOURCES; i++) {
    if (r->input[i] != NULL) {
      const ps_input_info *facts = ps_input_get(r->input[i]);

      printf("# stream %s: %s, signal %s (%s), %lld samples, %lld/%lld per second\n",
             r->text.sources[i].name, facts->name, facts->signal, facts->units,
             (long long)facts->count, (long long)facts->fs_num, (long long)facts->fs_den);
    }
  }
}

/* What a user asks for first: how far each result looks and when it comes; then how. */
static weir_status print_all(const weir_cli *cli, const ps_query_run *r, const weir_config *config)
{
  weir_table reach = {0}, groups = {0};

  printf("# results: latency is a chunk of %.6g s and the look-ahead; of live input with "
         "stream.live_window as chunk, and input.lateness more\n",
         weir_stream_window(r->stream));
  ps_query_reach(r, &reach);
  weir_table_print(&reach, PS_REACH_COLUMNS, ps_reach_head, stdout);
  weir_table_fini(&reach);
  printf("\n");
  print_inputs(r);
  printf("# buffers: %lld bytes, fixed before the first sample\n",
         (long long)weir_stream_buffer_bytes(r->stream));
  printf("# clocks meet every %lld/%lld s\n", (long long)r->query.period_num,
         (long long)r->query.period_den);
  printf("\n# groups of operators that run together: what each does and moves in a chunk\n");
  ps_stream_groups(r->stream, PS_GROUP_PLANNED, &groups);
  weir_table_print(&groups, PS_GROUP_PLANNED, ps_group_head, stdout);
  weir_table_fini(&groups);
  printf("\n");
  WEIR_TRY(weir_cli_print_config(cli, config, stdout));
  return cli->all ? ps_stream_print(r->stream, stdout) : WEIR_OK;
}

weir_status ps_query_cmd_describe(const weir_cli *cli, const ps_cfg *cfg, const weir_config *config)
{
  const ps_query_job job = job_of(cli, cfg, config);
  ps_query_run r;

  WEIR_TRY(ps_query_open(&job, &r));
  const weir_status status = print_all(cli, &r, config);

  ps_query_close(&r);
  return status;
}
