/* records.c - see records.h. */
#include "records/records.h"
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "device/weir_parallel.h"
#include "records/records_list.h"
#include "records/records_pool.h"

typedef struct job {
  const ps_one *all;
  ps_one_fn run;
  ps_records records;
  int workers;
} job;

weir_status ps_one_add(const ps_one *one, const ps_pool_row *row)
{
  ps_record *r = one->record;

  if (r == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_reserve(&r->rows, &r->capacity, r->n_rows + 1, sizeof *r->rows));
  r->rows[r->n_rows++] = *row;
  return WEIR_OK;
}

/* The configuration of the recording `r` alone. Viewers of many are large: they are asked for. */
static ps_cfg cfg_of(const ps_one *all, const ps_record *r)
{
  const ps_viewer_opts *const viewer = &all->cfg->output.viewer;
  ps_cfg cfg = *all->cfg;

  if (!weir_config_states(all->config, viewer, sizeof *viewer)) {
    cfg.output.viewer.size = 0;
  }
  cfg.input.record = r->path;
  cfg.input.records = (weir_string_list){NULL, 0};
  return cfg;
}

static weir_status run_record(job *j, ps_record *r)
{
  char dir[PS_PATH], path[PS_PATH];
  weir_cli cli = *j->all->cli;
  const ps_cfg cfg = cfg_of(j->all, r);
  const ps_one one = {.cli = &cli, .cfg = &cfg, .config = j->all->config, .record = r};

  if (weir_stop_requested()) {
    return weir_fail(WEIR_ERR_STOPPED, "stopped by signal %d before %s", weir_stop_signal(),
                     r->name);
  }
  WEIR_TRY(weir_path_join(cli.out, r->name, dir, sizeof dir));
  WEIR_TRY(weir_path_join(dir, "resolved.yaml", path, sizeof path));
  WEIR_TRY(weir_dir_create(dir));
  weir_event("record_start", WEIR_TEXT("record", r->name), WEIR_TEXT("path", r->path));
  cli.out = dir;
  cli.threads = 1;
  const weir_status status = j->run(&one);
  if (status == WEIR_OK) {
    return weir_config_write(j->all->config, path);
  }
  return status;
}

/* A recording that fails leaves no folder, and for want of space no part of its results. */
static weir_status try_record(job *j, ps_record *r)
{
  char dir[PS_PATH];
  const weir_status status = run_record(j, r);

  if (status != WEIR_OK && weir_path_join(j->all->cli->out, r->name, dir, sizeof dir) == WEIR_OK) {
    if (status == WEIR_ERR_SPACE) {
      weir_writer_undo(dir);
    }
    (void)rmdir(dir);
  }
  return status;
}

/* A failure's text is its thread's own, so it is kept. */
static void run_share(void *context, int64_t worker, int thread)
{
  job *j = context;

  (void)thread;
  for (int64_t i = 0; i < j->records.count; i++) {
    const ps_share share = ps_records_share(i, weir_comm_size(j->all->comm), j->workers);
    ps_record *r = &j->records.items[i];

    if (share.rank != weir_comm_rank(j->all->comm) || share.worker != (int)worker) {
      continue;
    }
    r->status = try_record(j, r);
    if (r->status != WEIR_OK) {
      (void)snprintf(r->message, sizeof r->message, "%s", weir_last_message());
    }
    if (r->status != WEIR_OK && r->status != WEIR_ERR_STOPPED) { /* a stop is said once, for all */
      weir_error("run", "%s: %s", r->name, r->message);
    }
    weir_event("record_end", WEIR_TEXT("record", r->name), WEIR_INT("status", (int)r->status),
               WEIR_TEXT("message", r->message));
  }
}

/* All that failed, by name, with the status of the first; each said why when it did. */
static weir_status verdict(const ps_records *list)
{
  char names[512] = "";
  const ps_record *first = NULL;
  int64_t failed = 0;

  for (int64_t i = 0; i < list->count; i++) {
    const ps_record *r = &list->items[i];
    const size_t used = strlen(names);

    if (r->status != WEIR_OK) {
      (void)snprintf(names + used, sizeof names - used, "%s%s", failed > 0 ? ", " : "", r->name);
      first = first == NULL ? r : first;
      failed++;
    }
  }
  if (first == NULL) {
    return WEIR_OK;
  }
  if (weir_stop_requested()) {
    const int64_t done = list->count - failed;

    return weir_fail(WEIR_ERR_STOPPED, "stopped by the user after %lld of %lld recordings: %s",
                     (long long)done, (long long)list->count,
                     done == 0 ? "no result was written; the same command may be run again"
                               : "those are kept; the same command with --overwrite replaces them");
  }
  return weir_fail(first->status, "%lld of %lld recordings failed (%s): see the messages above",
                   (long long)failed, (long long)list->count, names);
}

static bool all_failed(const ps_records *list)
{
  for (int64_t i = 0; i < list->count; i++) {
    if (list->items[i].status == WEIR_OK) {
      return false;
    }
  }
  return true;
}

/* The table of all and what failed: rank 0 knows. Without any result there is none, so that the
 * folder may be used again. */
static weir_status conclude(const job *j)
{
  if (!all_failed(&j->records)) {
    weir_run_dir_keep();
    WEIR_TRY(ps_records_pool_write(&j->records, j->all->cli->out));
  }
  WEIR_TRY(verdict(&j->records));
  weir_info("run", "%lld recordings; wrote %s/records.csv and report.html",
            (long long)j->records.count, j->all->cli->out);
  return WEIR_OK;
}

static weir_status accept_any(const ps_one *all, ps_records *list, ps_one_fn check)
{
  char first[1024] = "";
  weir_status status = WEIR_OK;

  WEIR_TRY(
      ps_records_list("input.records", &all->cfg->input.records, all->cfg->input.physionet, list));
  WEIR_TRY(ps_records_leave_out_missing("input.records", &all->cfg->input, list));
  for (int64_t i = 0; i < list->count; i++) {
    const ps_cfg cfg = cfg_of(all, &list->items[i]);
    const weir_status one = check(&(ps_one){.cli = all->cli, .cfg = &cfg, .config = all->config});

    if (one == WEIR_OK) {
      return weir_run_dir_commit(all->dir);
    }
    if (status == WEIR_OK) {
      status = one;
      (void)snprintf(first, sizeof first, "%s", weir_last_message());
    }
    weir_clear_failure();
  }
  return weir_fail(status, "none of %lld recordings can be run; the first: %s",
                   (long long)list->count, first);
}

weir_status ps_records_accept(const ps_one *all, ps_one_fn check)
{
  ps_records list = {0};
  const weir_status status = all->dir->waits ? accept_any(all, &list, check) : WEIR_OK;

  ps_records_fini(&list);
  return status;
}

weir_status ps_records_run(const ps_one *all, ps_one_fn run)
{
  job j = {.all = all, .run = run};
  const int64_t threads = weir_threads_get(), ranks = weir_comm_size(all->comm);
  weir_status status = ps_records_list("input.records", &all->cfg->input.records,
                                       all->cfg->input.physionet, &j.records);

  if (status == WEIR_OK) {
    status = ps_records_leave_out_missing("input.records", &all->cfg->input, &j.records);
  }
  WEIR_TRY_GOTO(weir_comm_agree(all->comm, status), done);
  weir_writer_remember(true); /* on every rank */
  const int64_t mine = (j.records.count + ranks - 1) / ranks;

  j.workers = (int)(mine < threads ? mine : threads);
  weir_parallel(j.workers, j.workers, run_share, &j);
  WEIR_TRY_GOTO(ps_records_collect(all->comm, &j.records), done);
  if (weir_comm_rank(all->comm) == 0) {
    status = conclude(&j);
  }
  WEIR_TRY_GOTO(weir_comm_agree(all->comm, status), done);
done:
  ps_records_fini(&j.records);
  return status;
}
