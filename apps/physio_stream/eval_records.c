/* eval_records.c - see eval_records.h. */
#include "eval_records.h"
#include <math.h>
#include <string.h>
#include <strings.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"

const char *const ps_eval_head[PS_EVAL_COLUMNS] = {
    "record",  "status",       "reference", "test",         "tp",     "fn",
    "fp",      "se",           "ppv",       "rr_rms_ms",    "hr_bpm", "hr_test_bpm",
    "sdnn_ms", "sdnn_test_ms", "rmssd_ms",  "rmssd_test_ms"};

/* The beats that a run of the record left: in a folder of its name, else in that of all. */
static weir_status find_test(const ps_cfg *cfg, const ps_record *r, int stem, char *out,
                             size_t size)
{
  const char *const path = r->path;
  const char *const suffix = cfg->eval.annotators.test;
  const char *const name = ps_base_name(path);
  const int length = stem - (int)(name - path);
  char file[PS_PATH];
  int n = 0;

  if (cfg->eval.folder[0] == 0) {
    n = snprintf(out, size, "%.*s.%s", stem, path, suffix);
    return n >= 0 && n < (int)size ? WEIR_OK
                                   : weir_fail(WEIR_ERR_CONFIG, "%s: the path is too long", path);
  }
  n = snprintf(file, sizeof file, "%s/%.*s.%s", r->name, length, name, suffix);
  if (n < 0 || n >= (int)sizeof file) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: the path is too long", path);
  }
  WEIR_TRY(weir_path_join(cfg->eval.folder, file, out, size));
  return weir_file_exists(out) ? WEIR_OK
                               : weir_path_join(cfg->eval.folder, ps_base_name(file), out, size);
}

weir_status ps_eval_list_read(const ps_cfg *cfg, ps_eval_list *list)
{
  char text[PS_PATH];

  WEIR_TRY(
      ps_records_list("eval.records", &cfg->eval.records, cfg->input.physionet, &list->records));
  WEIR_TRY(weir_alloc(3 * list->records.count, sizeof *list->paths, (void **)&list->paths));
  for (int64_t i = 0; i < list->records.count; i++) {
    const char *path = list->records.items[i].path;
    const int stem = ps_record_stem(path);
    const bool header = strcasecmp(path + stem, ".hea") == 0;
    const int n =
        snprintf(text, sizeof text, "%.*s.%s", stem, path, cfg->eval.annotators.reference);

    if (n < 0 || n >= (int)sizeof text) {
      return weir_fail(WEIR_ERR_CONFIG, "%s: the path is too long", path);
    }
    WEIR_TRY(weir_strdup(text, &list->paths[3 * i + 1]));
    WEIR_TRY(find_test(cfg, &list->records.items[i], stem, text, sizeof text));
    WEIR_TRY(weir_strdup(text, &list->paths[3 * i + 2]));
    (void)snprintf(text, sizeof text, "%.*s", header ? stem : (int)strlen(path), path);
    WEIR_TRY(weir_strdup(text, &list->paths[3 * i]));
  }
  return WEIR_OK;
}

void ps_eval_list_fini(ps_eval_list *list)
{
  for (int64_t i = 0; list->paths != NULL && i < 3 * list->records.count; i++) {
    weir_free(&list->paths[i]);
  }
  weir_free(&list->paths);
  ps_records_fini(&list->records);
}

void ps_eval_list_failed(ps_eval_list *list, int64_t i, const ps_outcome *o)
{
  ps_record *r = &list->records.items[i];

  r->status = o->status;
  (void)snprintf(r->message, sizeof r->message, "%s", o->message);
  weir_error("eval", "%s: %s", r->name, r->message);
  weir_event("record_end", WEIR_TEXT("record", r->name), WEIR_INT("status", (int)o->status),
             WEIR_TEXT("message", r->message));
}

weir_status ps_eval_list_verdict(const ps_eval_list *list)
{
  char names[512] = "";
  const ps_record *first = NULL;
  int64_t failed = 0;

  for (int64_t i = 0; i < list->records.count; i++) {
    const ps_record *r = &list->records.items[i];
    const size_t used = strlen(names);

    if (r->status != WEIR_OK) {
      (void)snprintf(names + used, sizeof names - used, "%s%s", failed > 0 ? ", " : "", r->name);
      first = first == NULL ? r : first;
      failed++;
    }
  }
  return first == NULL
             ? WEIR_OK
             : weir_fail(first->status,
                         "%lld of %lld records could not be scored (%s): see the messages above",
                         (long long)failed, (long long)list->records.count, names);
}

static void put(weir_table *cells, const char *format, double value)
{
  if (isfinite(value)) {
    weir_table_add(cells, format, value);
  } else {
    weir_table_add(cells, "%s", "");
  }
}

static void put_scored(weir_table *c, const ps_scored *s)
{
  const ps_score *score = &s->score;

  weir_table_add(c, "%s", ps_base_name(s->record));
  weir_table_add(c, "ok");
  weir_table_add(c, "%lld", (long long)s->rhythm[0].beats);
  weir_table_add(c, "%lld", (long long)s->rhythm[1].beats);
  weir_table_add(c, "%lld", (long long)score->tp);
  weir_table_add(c, "%lld", (long long)score->fn);
  weir_table_add(c, "%lld", (long long)score->fp);
  put(c, "%.2f", ps_score_sensitivity(score));
  put(c, "%.2f", ps_score_predictivity(score));
  put(c, "%.2f", 1000 * ps_score_rr_error(score));
  for (int k = 0; k < 2; k++) {
    put(c, "%.2f", 60000 / s->rhythm[k].times.mean);
  }
  for (int k = 0; k < 2; k++) {
    put(c, "%.2f", s->rhythm[k].times.sd);
  }
  for (int k = 0; k < 2; k++) {
    put(c, "%.2f", s->rhythm[k].times.rmssd);
  }
}

static void put_failed(weir_table *c, const ps_record *r)
{
  weir_table_add(c, "%s", r->name);
  weir_table_add(c, "failed");
  for (int k = 2; k < PS_EVAL_COLUMNS; k++) {
    weir_table_add(c, "%s", "");
  }
}

weir_status ps_eval_table_fill(const ps_eval_list *list, const ps_scored *s, int64_t n,
                               weir_table *cells)
{
  int64_t at = 0;

  for (int64_t i = 0; i < list->records.count; i++) {
    if (list->records.items[i].status != WEIR_OK) {
      put_failed(cells, &list->records.items[i]);
    } else {
      put_scored(cells, &s[at++]);
    }
  }
  for (; at < n; at++) {
    put_scored(cells, &s[at]);
  }
  return cells->status;
}
