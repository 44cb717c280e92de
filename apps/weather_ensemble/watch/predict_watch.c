/* predict_watch.c - see predict_watch.h. What has to be true at any moment at which the program may
 * be killed: a result folder has its name only when it is whole, and the ledger says that it was
 * started before it gets that name. */
#include "watch/predict_watch.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "options.h"
#include "watch/attempt.h"
#include "watch/ledger.h"
#include "watch/listing.h"

enum { PATH_SIZE = 4096, REASON = 2048, SHORT_DIGEST = 12 };
static const double nap = 0.1; /* s, between two looks at the flag of a stop */

typedef struct work {
  const weir_cli *cli;
  const wx_watch_cfg *o;
  wx_ledger *ledger;
  wx_listing files;
  char partial[PATH_SIZE];      /* folder of what is not whole */
  int64_t done, failed, before; /* in this process; failures of earlier ones */
} work;

/* A file at work. */
typedef struct item {
  wx_listed *of;
  char path[PATH_SIZE], digest[65], name[PATH_SIZE]; /* name: of the result folder */
  char result[PATH_SIZE], stage[PATH_SIZE], log[PATH_SIZE];
} item;

static weir_status note(work *w, const item *it, wx_input_state state, const char *detail)
{
  const bool has = state == WX_INPUT_DONE || state == WX_INPUT_STARTED;

  WEIR_TRY(wx_ledger_add(w->ledger, &(wx_ledger_entry){.state = state,
                                                       .file = it->of->name,
                                                       .version = it->of->version,
                                                       .digest = it->digest,
                                                       .result = has ? it->name : "",
                                                       .detail = detail,
                                                       .bytes = it->of->bytes}));
  weir_event("input", WEIR_TEXT("file", it->of->name),
             WEIR_TEXT("state", wx_input_state_name[state]), WEIR_TEXT("sha256", it->digest),
             WEIR_TEXT("detail", detail));
  return WEIR_OK;
}

static weir_status fail_input(work *w, item *it, const char *reason)
{
  it->of->handled = true;
  w->failed++;
  weir_warn("predict", "%s failed: %s", it->path, reason);
  return note(w, it, WX_INPUT_FAILED, reason);
}

static weir_status finish_input(work *w, item *it, const char *detail)
{
  it->of->handled = true;
  w->done++;
  weir_info("predict", "%s: %s%s%s", it->path, it->result, detail[0] != 0 ? ": " : "", detail);
  return note(w, it, WX_INPUT_DONE, detail);
}

static weir_status name_all(const work *w, item *it)
{
  char log[PATH_SIZE];

  if (snprintf(it->name, sizeof it->name, "%s-%.*s", it->of->name, SHORT_DIGEST, it->digest) >=
          (int)sizeof it->name ||
      snprintf(log, sizeof log, "%s.log", it->name) >= (int)sizeof log) {
    return weir_fail(WEIR_ERR_DATA, "%s: its name is too long", it->of->name);
  }
  WEIR_TRY(weir_path_join(w->cli->out, it->name, it->result, sizeof it->result));
  WEIR_TRY(weir_path_join(w->partial, it->name, it->stage, sizeof it->stage));
  return weir_path_join(w->partial, log, it->log, sizeof it->log);
}

/* The messages of a failure stay, in the folder `failed`. */
static weir_status keep_log(const work *w, const item *it)
{
  char folder[PATH_SIZE], path[PATH_SIZE];

  WEIR_TRY(weir_path_join(w->cli->out, "failed", folder, sizeof folder));
  WEIR_TRY(weir_dir_create(folder));
  WEIR_TRY(weir_path_join(folder, strrchr(it->log, '/') + 1, path, sizeof path));
  return rename(it->log, path) == 0 ? WEIR_OK : weir_write_failed(path, errno, WEIR_ERR_DATA);
}

/* Whether a failure lies with the machine: the same input may succeed later. */
static bool ends_all(weir_status status)
{
  return status == WEIR_ERR_SPACE || status == WEIR_ERR_STOPPED;
}

/* Predicts; the ledger has an entry that it started. */
static weir_status attempt(work *w, item *it)
{
  char reason[REASON], version[WX_VERSION];
  weir_status result = WEIR_OK;
  int64_t bytes = 0, modified = 0;

  WEIR_TRY(wx_attempt_remove(it->stage));
  WEIR_TRY(wx_attempt_run(w->cli, it->path, it->stage, it->log, &result, reason, sizeof reason));
  if (!wx_listing_version(it->path, version, &bytes, &modified) ||
      strcmp(version, it->of->version) != 0) {
    weir_info("predict", "%s changed while it was predicted: it waits until it is whole", it->path);
    return note(w, it, WX_INPUT_CHANGED, "");
  }
  if (ends_all(result)) {
    return weir_fail(result, "%s: %s", it->path, reason);
  }
  if (result != WEIR_OK) {
    WEIR_TRY(keep_log(w, it));
    return fail_input(w, it, reason);
  }
  WEIR_TRY(wx_attempt_publish(it->stage, it->result));
  return finish_input(w, it, "");
}

/* A content that no entry says is over. */
static weir_status begin(work *w, item *it)
{
  const int64_t starts = wx_ledger_starts(w->ledger, it->digest);
  char reason[128];

  WEIR_TRY(name_all(w, it));
  if (starts > 0 && weir_file_exists(it->result)) { /* killed between rename and entry */
    return finish_input(w, it, "finished before the program was killed");
  }
  if (starts >= w->o->attempts) {
    (void)snprintf(
        reason, sizeof reason,
        "begun %lld times, and the program was killed each time (predict.watch.attempts)",
        (long long)starts);
    return fail_input(w, it, reason);
  }
  if (weir_file_exists(it->result)) {
    return fail_input(w, it,
                      "a folder of the name of its result exists, and ledger.csv has not "
                      "started it: move that folder away");
  }
  WEIR_TRY(note(w, it, WX_INPUT_STARTED, ""));
  return attempt(w, it);
}

static bool is_over(const work *w, const wx_ledger_entry *e)
{
  return e != NULL && (e->state == WX_INPUT_DONE || e->state == WX_INPUT_DUPLICATE ||
                       (e->state == WX_INPUT_FAILED && !w->o->retry));
}

/* A content under another name, or a file whose times alone have changed. */
static weir_status duplicate(work *w, item *it, const wx_ledger_entry *of)
{
  char detail[PATH_SIZE];

  it->of->handled = true;
  (void)snprintf(detail, sizeof detail, "the content of %s%s", of->file,
                 of->state == WX_INPUT_FAILED ? ", which failed" : "");
  weir_info("predict", "%s has %s: it is not predicted again", it->path, detail);
  return note(w, it, WX_INPUT_DUPLICATE, detail);
}

/* A file that has been as it is for long enough. */
static weir_status take(work *w, wx_listed *of)
{
  item it = {.of = of};
  char version[WX_VERSION];
  int64_t bytes = 0, modified = 0;
  const wx_ledger_entry *known = wx_ledger_find_file(w->ledger, of->name, of->version);

  if (is_over(w, known)) {
    of->handled = true;
    return WEIR_OK;
  }
  WEIR_TRY(weir_path_join(w->o->directory, of->name, it.path, sizeof it.path));
  const bool read = weir_file_sha256(it.path, it.digest, &bytes);

  if (!wx_listing_version(it.path, version, &bytes, &modified) ||
      strcmp(version, of->version) != 0) {
    of->since = weir_clock(); /* gone, or changed: the next look at the folder tells */
    return WEIR_OK;
  }
  if (!read) {
    it.digest[0] = 0;
    return fail_input(w, &it, "it cannot be read: has the program the permission?");
  }
  known = wx_ledger_find_content(w->ledger, it.digest);
  return is_over(w, known) ? duplicate(w, &it, known) : begin(w, &it);
}

static weir_status stopped(const work *w)
{
  return weir_fail(WEIR_ERR_STOPPED,
                   "stopped by a signal: %lld files predicted, %lld failed, %lld in %s wait: "
                   "repeat the command to continue",
                   (long long)w->done, (long long)w->failed,
                   (long long)wx_listing_waiting(&w->files), w->o->directory);
}

static weir_status pause_for(const work *w, double seconds)
{
  const double end = weir_clock() + seconds;

  for (double left = seconds; left > 0; left = end - weir_clock()) {
    const double part = left < nap ? left : nap;
    const struct timespec t = {.tv_nsec = (long)(part * 1e9)};

    if (weir_stop_requested()) {
      return stopped(w);
    }
    (void)nanosleep(&t, NULL);
  }
  return WEIR_OK;
}

/* Looks at the folder until a signal, or with `once` until all files are handled. */
static weir_status loop(work *w)
{
  for (;;) {
    const weir_status listed =
        wx_listing_update(&w->files, w->o->directory, w->o->pattern, weir_clock());

    if (listed != WEIR_OK && (w->o->once || listed != WEIR_ERR_DATA)) {
      return listed;
    }
    if (listed != WEIR_OK) { /* a disk that is mounted again, perhaps */
      weir_warn("predict", "%s", weir_last_message());
    }
    for (wx_listed *f = NULL;
         (f = wx_listing_next(&w->files, weir_clock(), w->o->settle)) != NULL;) {
      if (weir_stop_requested()) {
        return stopped(w);
      }
      WEIR_TRY(take(w, f));
      if (!f->handled) { /* it is looked at again */
        break;
      }
    }
    if (w->o->once && wx_listing_waiting(&w->files) == 0) {
      return WEIR_OK;
    }
    WEIR_TRY(pause_for(w, w->o->interval));
  }
}

/* A part of a file that is a whole archive cannot be told from it by its content alone. */
static void warn_of_expectations(const wx_cfg *cfg)
{
  if (cfg->predict.expect.members == 0 && cfg->data.members == 0) {
    weir_warn("predict", "neither predict.expect.members nor data.members is set: a file that was "
                         "cut after some of its members would be taken for whole");
  }
  if (cfg->predict.expect.leads.count == 0 && cfg->data.lead.count == 0) {
    weir_warn("predict", "neither predict.expect.leads nor data.lead is set: a file that was cut "
                         "after some of its lead times would be taken for whole");
  }
}

static weir_status watch(const wx_cfg *cfg, work *w)
{
  char path[PATH_SIZE];

  WEIR_TRY(weir_path_join(w->cli->out, ".partial", w->partial, sizeof w->partial));
  WEIR_TRY(wx_attempt_remove(w->partial)); /* of a process that was killed */
  WEIR_TRY(weir_dir_create(w->partial));
  WEIR_TRY(weir_path_join(w->cli->out, "ledger.csv", path, sizeof path));
  WEIR_TRY(wx_ledger_open(path, &w->ledger));
  w->before = wx_ledger_failures(w->ledger);
  if (w->before > 0 && !w->o->retry) {
    weir_warn("predict",
              "%s: %lld files failed earlier: predict.watch.retry=true predicts them again", path,
              (long long)w->before);
  }
  warn_of_expectations(cfg);
  const weir_status looped = loop(w);

  WEIR_TRY(looped == WEIR_OK || looped == WEIR_ERR_STOPPED ? WEIR_OK : looped);
  WEIR_TRY(wx_attempt_remove(w->partial));
  WEIR_TRY(looped);
  weir_event("predict_end", WEIR_INT("done", w->done), WEIR_INT("failed", w->failed));
  weir_info("predict", "%lld files of %s predicted, %lld failed", (long long)w->done,
            w->o->directory, (long long)w->failed);
  return w->failed == 0 ? WEIR_OK
                        : weir_fail(WEIR_ERR_DATA, "%lld files of %s failed: %s names the reasons",
                                    (long long)w->failed, w->o->directory, path);
}

weir_status wx_predict_watch(weir_job *j)
{
  const wx_cfg *const cfg = j->cfg;
  work w = {.cli = j->cli, .o = &cfg->predict.watch};

  if (j->comm != NULL && weir_comm_size(j->comm) > 1) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "predict.watch.directory: on one rank only: start it without mpiexec");
  }
  if (j->cli->overwrite) {
    return weir_fail(WEIR_ERR_CONFIG, "predict.watch.directory: results of daily operation are not "
                                      "overwritten: choose another --out");
  }
  WEIR_TRY(weir_job_begin(j, "predict watch", true));
  WEIR_TRY(weir_run_dir_commit(&j->dir));
  weir_run_dir_keep();
  const weir_status status = watch(cfg, &w);

  wx_ledger_close(&w.ledger);
  wx_listing_fini(&w.files);
  return status;
}
