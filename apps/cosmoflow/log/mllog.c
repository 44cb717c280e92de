/* mllog.c - see mllog.h. */
#include "log/mllog.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "model/nets.h"

enum { PATH = 4096, TEXT = 1024 };

const weir_opt cf_mllog_options[] = {
    WEIR_OPT_BOOL(cf_mllog_opts, write, false, "write " CF_MLLOG_NAME " in addition to run.jsonl"),
    WEIR_OPT_STRING(cf_mllog_opts, org, "none", "submission_org: who submits"),
    WEIR_OPT_STRING(cf_mllog_opts, platform, "none", "submission_platform: on what"),
    WEIR_OPT_ENUM(cf_mllog_opts, division, CF_MLLOG_OPEN, "closed|open",
                  "submission_division; closed: a configuration or data set that its rules do not "
                  "allow is refused"),
    WEIR_OPT_ENUM(cf_mllog_opts, status, 3, "cloud|onprem|preview|research", "submission_status"),
    WEIR_OPT_INT(cf_mllog_opts, nodes, 1, 1, 1e9, "1", "number_of_nodes"),
    WEIR_OPT_INT(cf_mllog_opts, accelerators, 0, 0, 1e6, "1", "accelerators_per_node"),
    WEIR_OPT_BOOL(cf_mllog_opts, cache_cleared, false,
                  "cache_clear: whether what begins this run emptied the caches of files before, "
                  "which a program cannot do for itself"),
    WEIR_OPT_END,
};

struct cf_mllog {
  FILE *out;
  const cf_mllog_opts *opts;
  cf_mllog_run run;
  int64_t time;        /* of the lines; 0: now */
  int64_t epoch, eval; /* that began and have not ended; 0: none */
  bool described, resumed, reached;
};

typedef enum kind { POINT, START, END } kind;

/* value and more: JSON; more: members of metadata after the standard ones, each preceded by a
 * comma. */
static void put_line(cf_mllog *log, int line, kind what, const char *key, const char *value,
                     const char *more)
{
  static const char *const name[] = {"POINT_IN_TIME", "INTERVAL_START", "INTERVAL_END"};

  (void)fprintf(log->out,
                ":::MLLOG {\"namespace\": \"\", \"time_ms\": %lld, \"event_type\": \"%s\", "
                "\"key\": \"%s\", \"value\": %s, \"metadata\": {\"file\": \"mllog.c\", "
                "\"lineno\": %d%s}}\n",
                (long long)(log->time > 0 ? log->time : weir_clock_wall_ms()), name[what], key,
                value, line, more);
  (void)fflush(log->out);
}
#define PUT(log, what, key, value) put_line(log, __LINE__, what, key, value, "")

/* Letters that JSON takes as they are; others become '?'. */
static const char *quoted(const char *text, char out[TEXT])
{
  size_t n = 0;

  out[n++] = '"';
  for (const char *c = text; *c != 0 && n < TEXT - 2; c++) {
    out[n++] = (unsigned char)*c < ' ' || *c == '"' || *c == '\\' ? '?' : *c;
  }
  out[n++] = '"';
  out[n] = 0;
  return out;
}

static void put_text(cf_mllog *log, int line, const char *key, const char *text)
{
  char value[TEXT];

  put_line(log, line, POINT, key, quoted(text, value), "");
}

static void put_number(cf_mllog *log, int line, const char *key, double x)
{
  char value[64];

  (void)snprintf(value, sizeof value, "%.15g", x);
  put_line(log, line, POINT, key, value, "");
}

/* In an epoch; x: NULL: no value. */
static void put_epoch(cf_mllog *log, int line, kind what, const char *key, const double *x,
                      int64_t epoch)
{
  char value[64] = "null", more[64];

  if (x != NULL) {
    (void)snprintf(value, sizeof value, "%.15g", *x);
  }
  (void)snprintf(more, sizeof more, ", \"epoch_num\": %lld", (long long)epoch);
  put_line(log, line, what, key, value, more);
}

/* ---- What is known before the run ---- */

static void put_submission(cf_mllog *log)
{
  static const char *const division[] = {"closed", "open"};
  static const char *const status[] = {"cloud", "onprem", "preview", "research"};
  const cf_mllog_opts *const o = log->opts;

  put_text(log, __LINE__, "submission_benchmark", "cosmoflow");
  put_text(log, __LINE__, "submission_org", o->org);
  put_text(log, __LINE__, "submission_platform", o->platform);
  put_text(log, __LINE__, "submission_division", division[o->division]);
  put_text(log, __LINE__, "submission_status", status[o->status]);
  put_number(log, __LINE__, "number_of_nodes", (double)o->nodes);
  put_number(log, __LINE__, "accelerators_per_node", (double)o->accelerators);
  PUT(log, POINT, "cache_clear", o->cache_cleared ? "true" : "false");
  PUT(log, START, "init_start", "null");
}

/* "[1, 2]"; less than TEXT: a list of more numbers loses its end. */
static void put_list(cf_mllog *log, int line, const char *key, const double *x, int64_t n)
{
  char value[TEXT] = "[";

  for (int64_t i = 0; i < n; i++) {
    const size_t at = strlen(value);

    if (at > TEXT - 40) {
      break;
    }
    (void)snprintf(value + at, TEXT - at, "%s%.15g", i > 0 ? ", " : "", x[i]);
  }
  (void)snprintf(value + strlen(value), TEXT - strlen(value), "]");
  put_line(log, line, POINT, key, value, "");
}

static void put_schedule(cf_mllog *log, const weir_schedule_run *run)
{
  const weir_schedule_cfg *const c = &log->run.train->optim.schedule;
  const double peak = weir_schedule_peak(c, run), first = weir_schedule_lr(c, run, 1);
  double factor[64];
  const int64_t n = c->at.count < 64 ? c->at.count : 64;

  for (int64_t i = 0; i < n; i++) {
    factor[i] = c->factors.count > 0 ? c->factors.items[i] : pow(c->factor, (double)i + 1);
  }
  put_number(log, __LINE__, "opt_base_learning_rate", peak);
  put_number(log, __LINE__, "opt_learning_rate_warmup_epochs",
             c->unit == 1 ? c->warmup : c->warmup / (double)run->per_epoch);
  put_number(log, __LINE__, "opt_learning_rate_warmup_factor", first > 0 ? peak / first : 0);
  put_list(log, __LINE__, "opt_learning_rate_decay_boundary_epochs", c->at.items, n);
  put_list(log, __LINE__, "opt_learning_rate_decay_factor", factor, n);
}

static void put_network(cf_mllog *log)
{
  const cf_model_opts *const m = log->run.model;
  const weir_one_of *const rule = &log->run.train->optim.rule;
  const char *const name = rule->name != NULL ? rule->name : "adam";
  const bool sgd = strcmp(name, "sgd") == 0 || strcmp(name, "momentum") == 0;

  const double decay = cf_mllog_rule_option(rule, "weight_decay");

  put_text(log, __LINE__, "opt_name", sgd ? "sgd" : name);
  if (!isnan(decay)) {
    put_number(log, __LINE__, "opt_weight_decay", decay);
  }
  if (strcmp(cf_model_net(m)->name, "mlperf") == 0) {
    cf_mlperf_opts usual;

    weir_opts_default(cf_mlperf_options, sizeof usual, &usual);
    put_number(log, __LINE__, "dropout",
               m->net.opts != NULL ? ((const cf_mlperf_opts *)m->net.opts)->dropout
                                   : usual.dropout);
  }
}

/* Event train_begin: everything is ready. */
static void put_run(cf_mllog *log)
{
  const weir_train_cfg *const t = log->run.train;
  const int64_t batch = t->batch * t->accumulate, n = log->run.train_samples;
  const int64_t per_epoch = t->drop_last ? n / batch : n / batch + (n % batch > 0);

  put_number(log, __LINE__, "seed", (double)t->seed);
  put_number(log, __LINE__, "train_samples", (double)n);
  put_number(log, __LINE__, "eval_samples", (double)log->run.eval_samples);
  put_number(log, __LINE__, "global_batch_size", (double)batch);
  put_network(log);
  put_schedule(log, &(weir_schedule_run){t->epochs * per_epoch, per_epoch, batch});
  PUT(log, END, "init_stop", "null");
  PUT(log, START, "run_start", "null");
}

/* ---- Events ---- */

static const weir_field *field_of(const weir_field *fields, int n, const char *key)
{
  for (int i = 0; i < n; i++) {
    if (strcmp(fields[i].key, key) == 0) {
      return &fields[i];
    }
  }
  return NULL;
}

double cf_mllog_target(const weir_train_cfg *train)
{
  const char *const metric = train->target.metric;

  return metric != NULL && strcmp(metric, "mae") == 0 ? train->target.value : CF_MLLOG_TARGET;
}

/* Event epoch_end, or validation where a run ends within an epoch. */
static void put_eval_stop(cf_mllog *log, const weir_field *fields, int n)
{
  const weir_field *const error = field_of(fields, n, "mae");

  if (error != NULL && log->eval > 0) {
    put_epoch(log, __LINE__, POINT, "eval_error", &error->real, log->eval);
    put_epoch(log, __LINE__, END, "eval_stop", NULL, log->eval);
    log->reached = log->reached || error->real <= cf_mllog_target(log->run.train);
    log->eval = 0;
  }
}

static void put_epoch_stop(cf_mllog *log)
{
  if (log->epoch > 0) {
    put_epoch(log, __LINE__, END, "epoch_stop", NULL, log->epoch);
    log->epoch = 0;
  }
}

static void put_stop(cf_mllog *log, const weir_field *fields, int n)
{
  const weir_field *const reason = field_of(fields, n, "reason");
  const bool success = log->reached && reason != NULL && strcmp(reason->text, "signal") != 0;

  put_line(log, __LINE__, END, "run_stop", "null",
           success ? ", \"status\": \"success\"" : ", \"status\": \"aborted\"");
}

static void watch(void *context, const char *name, const weir_field *fields, int n)
{
  cf_mllog *const log = context;
  const weir_field *const in = field_of(fields, n, "epoch");
  const int64_t epoch = in != NULL ? in->integer : 0;

  if (!log->described) {
    return;
  }
  if (strcmp(name, "train_begin") == 0 && !log->resumed) {
    put_run(log);
  } else if (strcmp(name, "epoch_begin") == 0) {
    log->epoch = epoch;
    put_epoch(log, __LINE__, START, "epoch_start", NULL, epoch);
  } else if (strcmp(name, "validation_begin") == 0) {
    log->eval = log->epoch > 0 ? log->epoch : epoch;
    put_epoch(log, __LINE__, START, "eval_start", NULL, log->eval);
  } else if (strcmp(name, "epoch_end") == 0) {
    put_eval_stop(log, fields, n);
    put_epoch_stop(log);
  } else if (strcmp(name, "validation") == 0) {
    put_eval_stop(log, fields, n);
  } else if (strcmp(name, "stop") == 0) {
    put_epoch_stop(log);
    put_stop(log, fields, n);
  }
}

/* ---- The file ---- */

weir_status cf_mllog_open(const cf_mllog_opts *opts, const char *dir, int64_t began, bool resumed,
                          cf_mllog **out)
{
  cf_mllog *log = NULL;
  char path[PATH];
  weir_status status = WEIR_OK;

  *out = NULL;
  if (!opts->write) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_path_join(dir, CF_MLLOG_NAME, path, sizeof path));
  WEIR_TRY(weir_alloc(1, sizeof *log, (void **)&log));
  log->opts = opts;
  log->resumed = resumed && weir_file_exists(path);
  log->out = fopen(path, log->resumed ? "ae" : "we");
  if (log->out == NULL) {
    status = weir_fail(WEIR_ERR_DATA, "%s: cannot be written: %m", path);
    weir_free(&log);
    return status;
  }
  weir_event("file", WEIR_TEXT("name", CF_MLLOG_NAME));
  if (!log->resumed) {
    log->time = began;
    put_submission(log);
    log->time = 0;
  }
  weir_events_subscribe(watch, log);
  *out = log;
  return WEIR_OK;
}

void cf_mllog_describe(cf_mllog *log, const cf_mllog_run *run)
{
  if (log != NULL) {
    log->run = *run;
    log->described = true;
  }
}

void cf_mllog_close(cf_mllog **log)
{
  if (*log == NULL) {
    return;
  }
  weir_events_subscribe(NULL, NULL);
  const int failed = ferror((*log)->out);

  if (fclose((*log)->out) != 0 || failed) {
    weir_warn("mllog", CF_MLLOG_NAME " is incomplete: writing to it failed");
  }
  weir_free(log);
}
