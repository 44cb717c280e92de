/* mllog_check.c - the rules of MLPerf HPC's compliance checker for CosmoFlow (mlcommons/logging,
 * hpc_3.0.0), on a log that is read line by line. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "log/mllog.h"

enum { MAX_FILE_BYTES = 1 << 28, DEPTH = 16, INIT_MS = 30 * 60 * 1000, LINES = 100 };

/* Others may stand between them. */
static bool is_of_log(const char *line)
{
  return strncmp(line, ":::MLLOG ", 9) == 0;
}

/* ---- JSON ---- */

/* A stretch of text; at NULL: none. */
typedef struct span {
  const char *at, *end;
} span;

static const char *skip_space(const char *at)
{
  return at + strspn(at, " \t");
}

/* Returns the end of a string; NULL: invalid. */
static const char *skip_string(const char *at)
{
  if (*at != '"') {
    return NULL;
  }
  for (at++; *at != '"'; at++) {
    if (*at == 0 || (*at == '\\' && *++at == 0)) {
      return NULL;
    }
  }
  return at + 1;
}

static const char *skip_value(const char *at, int depth);

/* Members of an object, elements of an array. */
static const char *skip_inside(const char *at, char close, int depth)
{
  at = skip_space(at + 1);
  if (*at == close) {
    return at + 1;
  }
  for (;;) {
    if (close == '}') {
      at = skip_string(at);
      at = at != NULL ? skip_space(at) : NULL;
      if (at == NULL || *at != ':') {
        return NULL;
      }
      at++;
    }
    at = skip_value(skip_space(at), depth + 1);
    if (at == NULL) {
      return NULL;
    }
    at = skip_space(at);
    if (*at == close) {
      return at + 1;
    }
    if (*at != ',') {
      return NULL;
    }
    at = skip_space(at + 1);
  }
}

/* Returns the end of a value; NULL: invalid. */
static const char *skip_value(const char *at, int depth)
{
  static const char *const words[] = {"true", "false", "null"};
  char *end = NULL;

  if (*at == '"') {
    return skip_string(at);
  }
  if (*at == '{' || *at == '[') {
    return depth < DEPTH ? skip_inside(at, *at == '{' ? '}' : ']', depth) : NULL;
  }
  for (int k = 0; k < 3; k++) {
    if (strncmp(at, words[k], strlen(words[k])) == 0) {
      return at + strlen(words[k]);
    }
  }
  if (*at != '-' && (*at < '0' || *at > '9')) {
    return NULL;
  }
  (void)strtod(at, &end);
  return end;
}

/* The value of a member of an object that was checked whole. */
static span member(const char *object, const char *key)
{
  const size_t n = strlen(key);
  const char *at = skip_space(object + 1);

  while (*at == '"') {
    const char *const name = at + 1, *const after = skip_string(at);
    const char *const value = skip_space(skip_space(after) + 1);
    const char *const end = skip_value(value, 0);

    if ((size_t)(after - 1 - name) == n && memcmp(name, key, n) == 0) {
      return (span){value, end};
    }
    at = skip_space(end);
    at = *at == ',' ? skip_space(at + 1) : at;
  }
  return (span){NULL, NULL};
}

static bool is_text(span s, const char *text)
{
  const size_t n = strlen(text);

  return s.at != NULL && (size_t)(s.end - s.at) == n + 2 && s.at[0] == '"' &&
         memcmp(s.at + 1, text, n) == 0;
}

/* NaN: not a number. */
static double number_of(span s)
{
  return s.at != NULL && (*s.at == '-' || (*s.at >= '0' && *s.at <= '9')) ? strtod(s.at, NULL)
                                                                          : NAN;
}

/* ---- Rules ---- */

typedef struct entry {
  int64_t line;
  double time;
  span key, value, epoch, status;
} entry;

typedef struct rule {
  const char *key;
  int min, max;      /* how often; max 0: any number */
  bool in_epoch;     /* has metadata.epoch_num, and lies between run_start and run_stop */
  double lo;         /* smallest value; NaN: any */
  const char *texts; /* "a|b": one of these; NULL: any */
} rule;

static const rule rules[] = {
    {"submission_org", 1, 1, false, NAN, NULL},
    {"submission_platform", 1, 1, false, NAN, NULL},
    {"submission_division", 1, 1, false, NAN, "closed|open"},
    {"submission_status", 1, 1, false, NAN, "cloud|onprem|preview|research"},
    {"submission_benchmark", 1, 1, false, NAN, "cosmoflow"},
    {"cache_clear", 1, 0, false, NAN, NULL},
    {"init_start", 1, 0, false, NAN, NULL},
    {"init_stop", 1, 1, false, NAN, NULL},
    {"run_start", 1, 1, false, NAN, NULL},
    {"run_stop", 1, 1, false, NAN, NULL},
    {"train_samples", 1, 1, false, 1, NULL},
    {"eval_samples", 1, 1, false, 1, NULL},
    {"number_of_nodes", 1, 1, false, 1, NULL},
    {"accelerators_per_node", 1, 1, false, 0, NULL},
    {"global_batch_size", 1, 1, false, 1, NULL},
    {"opt_name", 1, 1, false, NAN, NULL},
    {"opt_base_learning_rate", 1, 1, false, 0, NULL},
    {"opt_learning_rate_warmup_epochs", 1, 1, false, 0, NULL},
    {"opt_learning_rate_warmup_factor", 1, 1, false, 0, NULL},
    {"opt_learning_rate_decay_boundary_epochs", 1, 1, false, NAN, NULL},
    {"opt_learning_rate_decay_factor", 1, 1, false, NAN, NULL},
    {"epoch_start", 1, 0, true, NAN, NULL},
    {"epoch_stop", 1, 0, true, NAN, NULL},
    {"eval_start", 1, 0, true, NAN, NULL},
    {"eval_stop", 1, 0, true, NAN, NULL},
    {"eval_error", 1, 0, true, 0, NULL},
    {"seed", 0, 1, false, NAN, NULL},
    {"dropout", 0, 1, false, 0, NULL},
    {"opt_weight_decay", 0, 1, false, 0, NULL},
};
enum { RULES = sizeof rules / sizeof rules[0] };

typedef struct judge {
  const char *path;
  double target;
  int found[RULES];
  entry first[RULES], last[RULES];
  int64_t line;
  double time;   /* of the line before */
  double lowest; /* eval_error above 0 */
  bool reached;
  struct {
    bool is;
    double epoch;
  } open[2]; /* of pairs */
} judge;

static const char *const pairs[][2] = {{"epoch_start", "epoch_stop"}, {"eval_start", "eval_stop"}};

static int rule_of(const char *key)
{
  for (int k = 0; k < RULES; k++) {
    if (strcmp(rules[k].key, key) == 0) {
      return k;
    }
  }
  WEIR_ASSERT(false);
  return 0;
}

static weir_status fault(const judge *j, const char *key, const char *what)
{
  return weir_fail(WEIR_ERR_DATA, "%s: line %lld: %s: %s", j->path, (long long)j->line, key, what);
}

/* Checks that epochs and evaluations end before the next of their kind begins, and before the run
 * does. */
static weir_status check_pair(judge *j, const char *key, double epoch)
{
  for (int p = 0; p < 2; p++) {
    const char *const start = pairs[p][0], *const stop = pairs[p][1];
    const bool open = j->open[p].is, starts = strcmp(key, start) == 0;

    if (open && (starts || strcmp(key, "run_stop") == 0)) {
      return weir_fail(WEIR_ERR_DATA, "%s: line %lld: %s: the %s of epoch %g has no %s", j->path,
                       (long long)j->line, key, start, j->open[p].epoch, stop);
    }
    if (strcmp(key, stop) == 0 && !(open && j->open[p].epoch == epoch)) {
      return weir_fail(WEIR_ERR_DATA, "%s: line %lld: the %s of epoch %g has no %s", j->path,
                       (long long)j->line, stop, epoch, start);
    }
    if (starts || strcmp(key, stop) == 0) {
      j->open[p].is = starts;
      j->open[p].epoch = epoch;
    }
  }
  return WEIR_OK;
}

static weir_status check_entry(judge *j, int k, const entry *e)
{
  const rule *const r = &rules[k];
  const bool running = j->found[rule_of("run_start")] > 0 && j->found[rule_of("run_stop")] == 0;
  const double value = number_of(e->value);
  bool known = r->texts == NULL;

  if (r->max > 0 && j->found[k] == r->max) {
    return fault(j, r->key, "a second one");
  }
  for (const char *at = r->texts; at != NULL && *at != 0; at += *at == '|') {
    char text[32];
    const size_t n = strcspn(at, "|");

    (void)snprintf(text, sizeof text, "%.*s", (int)n, at);
    known = known || is_text(e->value, text);
    at += n;
  }
  if (!known) {
    char what[256];

    (void)snprintf(what, sizeof what, "found %.*s, required: %s",
                   (int)(e->value.end - e->value.at < 128 ? e->value.end - e->value.at : 128),
                   e->value.at, r->texts);
    return fault(j, r->key, what);
  }
  if (!isnan(r->lo) && !(value >= r->lo)) {
    return fault(j, r->key, "its value is not a number, or too small");
  }
  if (r->in_epoch && isnan(number_of(e->epoch))) {
    return fault(j, r->key, "without metadata.epoch_num");
  }
  if (r->in_epoch && !running) {
    return fault(j, r->key, "not between run_start and run_stop");
  }
  WEIR_TRY(check_pair(j, r->key, number_of(e->epoch)));
  if (strcmp(r->key, "eval_error") == 0 && value > 0) {
    j->lowest = value < j->lowest ? value : j->lowest;
    j->reached = j->lowest <= j->target;
  }
  return WEIR_OK;
}

static weir_status take_line(judge *j, const char *text)
{
  static const char *const keys[] = {"namespace", "time_ms", "event_type",
                                     "key",       "value",   "metadata"};
  static const char tag[] = ":::MLLOG ";
  const char *const object = skip_space(text + sizeof tag - 1);
  const char *const end = *object == '{' ? skip_value(object, 0) : NULL;

  if (end == NULL || *skip_space(end) != 0) {
    return fault(j, "no object", "the line is no JSON");
  }
  for (int k = 0; k < 6; k++) {
    if (member(object, keys[k]).at == NULL) {
      return fault(j, keys[k], "is not there");
    }
  }
  const span meta = member(object, "metadata"), kind = member(object, "event_type");
  entry e = {.line = j->line,
             .time = number_of(member(object, "time_ms")),
             .key = member(object, "key"),
             .value = member(object, "value")};

  if (*meta.at != '{' || !(e.time >= j->time) ||
      (!is_text(kind, "POINT_IN_TIME") && !is_text(kind, "INTERVAL_START") &&
       !is_text(kind, "INTERVAL_END"))) {
    return fault(j, "metadata, time_ms, event_type",
                 "an object, a time that does not go back, and one of the three kinds");
  }
  j->time = e.time;
  e.epoch = member(meta.at, "epoch_num");
  e.status = member(meta.at, "status");
  for (int k = 0; k < RULES; k++) {
    if (is_text(e.key, rules[k].key)) {
      WEIR_TRY(check_entry(j, k, &e));
      j->first[k] = j->found[k] == 0 ? e : j->first[k];
      j->last[k] = e;
      j->found[k]++;
    }
  }
  return WEIR_OK;
}

/* Checks of the whole log. */
static weir_status check_all(judge *j)
{
  static const char *const order[] = {"init_start", "init_stop", "run_start", "run_stop"};

  for (int k = 0; k < RULES; k++) {
    if (j->found[k] < rules[k].min) {
      return weir_fail(WEIR_ERR_DATA, "%s: %s is not there", j->path, rules[k].key);
    }
  }
  for (int k = 1; k < 4; k++) {
    const entry *const a = &j->first[rule_of(order[k - 1])], *const b =
                                                                 &j->first[rule_of(order[k])];

    if (a->line > b->line) {
      return weir_fail(WEIR_ERR_DATA, "%s: %s is in line %lld, after %s in line %lld", j->path,
                       order[k - 1], (long long)a->line, order[k], (long long)b->line);
    }
  }
  if (j->first[rule_of("init_stop")].time - j->first[rule_of("init_start")].time >= INIT_MS) {
    return weir_fail(WEIR_ERR_DATA, "%s: from init_start to init_stop it took over 30 minutes",
                     j->path);
  }
  if (!is_text(j->first[rule_of("run_stop")].status, "success")) {
    return weir_fail(WEIR_ERR_DATA, "%s: run_stop: metadata.status is not \"success\"", j->path);
  }
  return j->reached
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: no eval_error is in (0, %g], the lowest is %g. The target is that of "
                         "the configuration, without one the benchmark's %g: give the "
                         "configuration of the run (--config), or --set train.target.metric=mae "
                         "--set train.target.value=TARGET",
                         j->path, j->target, j->lowest, CF_MLLOG_TARGET);
}

/* A list of numbers, or one, between 0 and 1. */
static bool is_factor(span s)
{
  const char *at = s.at + (*s.at == '[');
  char *end = NULL;

  while (at < s.end && *at != ']') {
    const double x = strtod(at, &end);

    if (end == at || !(x > 0 && x < 1)) {
      return false;
    }
    at = end + strspn(end, " ,");
  }
  return true;
}

/* Checks the rules of the closed division beyond the keys. */
static weir_status check_closed(const judge *j)
{
  static const struct {
    const char *key;
    double value;
  } set[] = {{"train_samples", CF_MLLOG_TRAIN}, {"eval_samples", CF_MLLOG_VALID}};
  const entry *const dropout = &j->first[rule_of("dropout")];
  const span name = j->first[rule_of("opt_name")].value;

  if (!is_text(name, "sgd") && !is_text(name, "SGD")) {
    return weir_fail(WEIR_ERR_DATA, "%s: opt_name: found %.*s, the closed division has sgd",
                     j->path, (int)(name.end - name.at < 128 ? name.end - name.at : 128), name.at);
  }
  for (size_t k = 0; k < sizeof set / sizeof set[0]; k++) {
    const double value = number_of(j->first[rule_of(set[k].key)].value);

    if (value != set[k].value) {
      return weir_fail(WEIR_ERR_DATA, "%s: %s: %g: the closed division has %g", j->path, set[k].key,
                       value, set[k].value);
    }
  }
  if (!is_factor(j->first[rule_of("opt_learning_rate_decay_factor")].value)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: opt_learning_rate_decay_factor: those of the closed division lie between "
                     "0 and 1",
                     j->path);
  }
  return j->found[rule_of("dropout")] == 0 || number_of(dropout->value) < 1
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s: dropout: that of the closed division is below 1",
                         j->path);
}

static cf_mllog_judged summarise(const judge *j)
{
  const entry *const seed = &j->first[rule_of("seed")];
  const double ms = j->last[rule_of("run_stop")].time - j->first[rule_of("run_start")].time;

  return (cf_mllog_judged){.closed =
                               is_text(j->first[rule_of("submission_division")].value, "closed"),
                           .seed = j->found[rule_of("seed")] > 0 ? number_of(seed->value) : NAN,
                           .minutes = ms / 60000};
}

bool cf_mllog_is(const char *path)
{
  char line[4096];
  FILE *const f = fopen(path, "rb");
  bool is = false;

  for (int k = 0; f != NULL && k < LINES && !is && fgets(line, sizeof line, f) != NULL; k++) {
    is = is_of_log(line);
  }
  if (f != NULL) {
    (void)fclose(f);
  }
  return is;
}

/* The target of a closed log is the benchmark's: an error between it and a larger `target` is no
 * success. */
static weir_status check_division(const judge *j)
{
  if (!summarise(j).closed) {
    return WEIR_OK;
  }
  if (!(j->lowest <= CF_MLLOG_TARGET)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: no eval_error is in (0, %g], the target of the closed division", j->path,
                     CF_MLLOG_TARGET);
  }
  return check_closed(j);
}

weir_status cf_mllog_check(const char *path, double target, cf_mllog_judged *out)
{
  judge j = {.path = path, .target = target, .lowest = INFINITY};
  char *text = NULL, *rest = NULL;
  int64_t size = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_file_read(path, MAX_FILE_BYTES, &text, &size));
  for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    j.line++;
    if (is_of_log(line)) {
      WEIR_TRY_GOTO(take_line(&j, line), done);
    }
  }
  WEIR_TRY_GOTO(check_all(&j), done);
  WEIR_TRY_GOTO(check_division(&j), done);
  if (out != NULL) {
    *out = summarise(&j);
  }
done:
  weir_free(&text);
  return status;
}

weir_status cf_mllog_check_runs(const char *const *path, const cf_mllog_judged *log, int n,
                                double *minutes)
{
  double sum = 0, fastest = INFINITY, slowest = 0;

  for (int k = 0; k < n; k++) {
    for (int i = 0; i < k; i++) {
      if (log[i].closed != log[k].closed) {
        return weir_fail(WEIR_ERR_DATA, "%s, %s: runs of a submission are of one division", path[i],
                         path[k]);
      }
      if (log[i].seed == log[k].seed) {
        return weir_fail(WEIR_ERR_DATA,
                         "%s, %s: runs of a submission have seeds that differ, and "
                         "both have %.0f",
                         path[i], path[k], log[k].seed);
      }
    }
    sum += log[k].minutes;
    fastest = fmin(fastest, log[k].minutes);
    slowest = fmax(slowest, log[k].minutes);
  }
  *minutes = n < 3 ? sum / n : (sum - fastest - slowest) / (n - 2);
  return WEIR_OK;
}
