/* report.c - the scores that leave a site, and what several sites give together. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "report/weir_run_log.h"
#include "site/site.h"

#define VERSION 2 /* 1: all records, without checksum */

void ps_site_report_fini(ps_site_report *r)
{
  weir_free(&r->records);
  *r = (ps_site_report){0};
}

static int compare(const void *a, const void *b)
{
  const ps_score *x = a, *y = b;
  const int64_t left[] = {x->tp, x->fn, x->fp, x->excluded, x->n_rr};
  const int64_t right[] = {y->tp, y->fn, y->fp, y->excluded, y->n_rr};

  for (size_t k = 0; k < sizeof left / sizeof left[0]; k++) {
    if (left[k] != right[k]) {
      return left[k] < right[k] ? -1 : 1;
    }
  }
  return (x->rr_square > y->rr_square) - (x->rr_square < y->rr_square);
}

void ps_site_report_close(ps_site_report *r)
{
  r->sum = (ps_score){0};
  r->suppressed = r->n < r->min_cell;
  if (r->suppressed) {
    weir_free(&r->records);
    return;
  }
  qsort(r->records, (size_t)r->n, sizeof *r->records, compare);
  for (int64_t i = 0; i < r->n; i++) {
    ps_score_add(&r->sum, &r->records[i]);
  }
  if (!r->per_record) {
    weir_free(&r->records);
  }
}

static bool put_score(FILE *out, const char *event, const ps_score *s)
{
  return fprintf(out,
                 "{\"event\": \"%s\", \"tp\": %" PRId64 ", \"fn\": %" PRId64 ", \"fp\": %" PRId64
                 ", \"excluded\": %" PRId64 ", \"n_rr\": %" PRId64 ", \"rr_square_s2\": %.17g}\n",
                 event, s->tp, s->fn, s->fp, s->excluded, s->n_rr, s->rr_square) > 0;
}

static bool put_report(const ps_site_report *r, FILE *out)
{
  bool good = fprintf(out,
                      "{\"event\": \"site\", \"version\": %d, \"dataset_sha256\": \"%s\", "
                      "\"pipeline_sha256\": \"%s\", \"program\": \"%s\", \"start_s\": %.17g, "
                      "\"window_s\": %.17g, \"min_cell\": %" PRId64 ", \"suppressed\": %s",
                      VERSION, r->dataset, r->pipeline, r->program, r->start, r->window,
                      r->min_cell, r->suppressed ? "true" : "false") > 0;

  if (r->suppressed) {
    return fputs("}\n", out) >= 0 && good;
  }
  good = fprintf(out, ", \"records\": %" PRId64 ", \"per_record\": %s}\n", r->n,
                 r->per_record ? "true" : "false") > 0 &&
         good;
  good = put_score(out, "sum", &r->sum) && good;
  for (int64_t i = 0; r->per_record && i < r->n; i++) {
    good = put_score(out, "record", &r->records[i]) && good;
  }
  return good;
}

weir_status ps_site_report_print(const ps_site_report *r, FILE *out)
{
  char *text = NULL;
  size_t size = 0;
  FILE *body = open_memstream(&text, &size);

  if (body == NULL) {
    return weir_fail(WEIR_ERR_MEMORY, "site eval: no memory for the report");
  }
  bool good = put_report(r, body);

  good = fclose(body) == 0 && good;
  const weir_status status =
      good ? ps_checked_print(text, size, out)
           : weir_fail(WEIR_ERR_MEMORY, "site eval: no memory for the report");

  free(text);
  return status;
}

/* A count: whole, not negative. */
static weir_status get_count(const char *path, const weir_run_event *e, const char *key,
                             int64_t *out)
{
  const weir_field *f = weir_run_event_field(e, key);

  if (f == NULL || f->kind != 'i' || f->integer < 0 || f->integer > INT64_C(1) << 53) {
    return weir_fail(WEIR_ERR_DATA, "%s: event %s has no count `%s`", path, e->name, key);
  }
  *out = f->integer;
  return WEIR_OK;
}

static weir_status get_real(const char *path, const weir_run_event *e, const char *key, double *out)
{
  *out = weir_run_event_real(e, key, NAN);
  if (!(*out >= 0) || isinf(*out)) {
    return weir_fail(WEIR_ERR_DATA, "%s: event %s has no number `%s`", path, e->name, key);
  }
  return WEIR_OK;
}

/* A digest, or with max_length < 64 a version: nothing but letters, digits, dots and '-'. */
static weir_status get_word(const char *path, const weir_run_event *e, const char *key,
                            size_t max_length, char *out)
{
  const weir_field *f = weir_run_event_field(e, key);

  if (f == NULL || f->kind != 's' || strlen(f->text) > max_length || f->text[0] == 0 ||
      strspn(f->text, "0123456789abcdefghijklmnopqrstuvwxyz.-") != strlen(f->text) ||
      (max_length == 64 && strlen(f->text) != 64)) {
    return weir_fail(WEIR_ERR_DATA, "%s: event %s has no proper `%s`", path, e->name, key);
  }
  (void)snprintf(out, max_length + 1, "%s", f->text);
  return WEIR_OK;
}

static weir_status get_score(const char *path, const weir_run_event *e, ps_score *s)
{
  WEIR_TRY(get_count(path, e, "tp", &s->tp));
  WEIR_TRY(get_count(path, e, "fn", &s->fn));
  WEIR_TRY(get_count(path, e, "fp", &s->fp));
  WEIR_TRY(get_count(path, e, "excluded", &s->excluded));
  WEIR_TRY(get_count(path, e, "n_rr", &s->n_rr));
  return get_real(path, e, "rr_square_s2", &s->rr_square);
}

static weir_status get_bool(const char *path, const weir_run_event *e, const char *key, bool *out)
{
  const weir_field *f = weir_run_event_field(e, key);

  if (f == NULL || f->kind != 'b') {
    return weir_fail(WEIR_ERR_DATA, "%s: event %s does not say `%s`: true or false", path, e->name,
                     key);
  }
  *out = f->integer != 0;
  return WEIR_OK;
}

static weir_status get_head(const char *path, const weir_run_event *e, int64_t *version,
                            ps_site_report *r)
{
  WEIR_TRY(get_count(path, e, "version", version));
  if (*version < 1 || *version > VERSION) {
    return weir_fail(WEIR_ERR_DATA, "%s: version %lld, this program reads 1 to %d", path,
                     (long long)*version, VERSION);
  }
  WEIR_TRY(get_word(path, e, "dataset_sha256", 64, r->dataset));
  WEIR_TRY(get_word(path, e, "pipeline_sha256", 64, r->pipeline));
  WEIR_TRY(get_word(path, e, "program", sizeof r->program - 1, r->program));
  WEIR_TRY(get_real(path, e, "start_s", &r->start));
  WEIR_TRY(get_real(path, e, "window_s", &r->window));
  WEIR_TRY(get_count(path, e, "min_cell", &r->min_cell));
  WEIR_TRY(get_bool(path, e, "suppressed", &r->suppressed));
  if (r->suppressed) {
    return WEIR_OK;
  }
  r->per_record = true;
  WEIR_TRY(get_count(path, e, "records", &r->n));
  return *version == 1 ? WEIR_OK : get_bool(path, e, "per_record", &r->per_record);
}

/* The scores of the records, whose sum is stated too. */
static weir_status get_records(const char *path, const weir_run_log *log, ps_site_report *r)
{
  const ps_score stated = r->sum;
  ps_score *found = NULL;

  WEIR_TRY(weir_alloc(r->n, sizeof *r->records, (void **)&r->records));
  found = r->records;
  for (int64_t i = 0; i < log->count; i++) {
    if (strcmp(log->events[i].name, "record") == 0 && found < r->records + r->n) {
      WEIR_TRY(get_score(path, &log->events[i], found));
      found++;
    }
  }
  if (found != r->records + r->n) {
    return weir_fail(WEIR_ERR_DATA, "%s: holds lines that are no records", path);
  }
  const int64_t min_cell = r->min_cell;
  r->min_cell = 0;
  ps_site_report_close(r);
  r->min_cell = min_cell;
  return compare(&stated, &r->sum) == 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s: its sum is not that of its records", path);
}

static weir_status get_figures(const char *path, const weir_run_log *log, int64_t version,
                               ps_site_report *r)
{
  const weir_run_event *const sum = weir_run_log_last(log, "sum");
  const int64_t others = version == 1 ? 1 : 2; /* the head, and the checksum */

  if (r->suppressed) {
    return log->count == others
               ? WEIR_OK
               : weir_fail(WEIR_ERR_DATA, "%s: is suppressed, yet has figures", path);
  }
  if (sum == NULL || r->n < 1 || log->count != others + 1 + (r->per_record ? r->n : 0)) {
    return weir_fail(WEIR_ERR_DATA, "%s: %lld records are announced, %lld lines follow", path,
                     (long long)r->n, (long long)log->count - 1);
  }
  WEIR_TRY(get_score(path, sum, &r->sum));
  return r->per_record ? get_records(path, log, r) : WEIR_OK;
}

weir_status ps_site_report_read(const char *path, ps_site_report *out)
{
  weir_run_log log = {0};
  ps_site_report r = {0};
  int64_t version = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_run_log_read(path, &log));
  if (log.count < 1 || strcmp(log.events[0].name, "site") != 0) {
    status = weir_fail(WEIR_ERR_DATA, "%s: is no report of a site", path);
    goto done;
  }
  WEIR_TRY_GOTO(get_head(path, &log.events[0], &version, &r), done);
  if (version > 1) {
    WEIR_TRY_GOTO(ps_checked_verify(path), done);
  }
  WEIR_TRY_GOTO(get_figures(path, &log, version, &r), done);
done:
  weir_run_log_fini(&log);
  if (status != WEIR_OK) {
    ps_site_report_fini(&r);
    return status;
  }
  *out = r;
  return WEIR_OK;
}

const char *const ps_merge_head[PS_MERGE_COLUMNS] = {"site", "records", "tp",  "fn",
                                                     "fp",   "se",      "ppv", "rr_rms_ms"};

static weir_status check_pair(const ps_site_report *a, const ps_site_report *b)
{
  if (strcmp(a->pipeline, b->pipeline) != 0) {
    return weir_fail(WEIR_ERR_DATA, "site merge: pipelines differ: %.12s and %.12s", a->pipeline,
                     b->pipeline);
  }
  if (a->start < b->start || a->start > b->start || a->window < b->window ||
      a->window > b->window) {
    return weir_fail(WEIR_ERR_DATA,
                     "site merge: scored from %g s within %g s, and from %g s "
                     "within %g s",
                     a->start, a->window, b->start, b->window);
  }
  if (strcmp(a->dataset, b->dataset) == 0) {
    return weir_fail(WEIR_ERR_DATA, "site merge: the dataset %.12s comes twice", a->dataset);
  }
  return WEIR_OK;
}

static void put_percent(weir_table *c, double value)
{
  weir_table_add_number(c, "%.2f", value, "nan");
}

static void put_row(weir_table *c, const char *site, int64_t records, const ps_score *s)
{
  weir_table_add(c, "%s", site);
  weir_table_add(c, "%lld", (long long)records);
  weir_table_add(c, "%lld", (long long)s->tp);
  weir_table_add(c, "%lld", (long long)s->fn);
  weir_table_add(c, "%lld", (long long)s->fp);
  put_percent(c, ps_score_sensitivity(s));
  put_percent(c, ps_score_predictivity(s));
  put_percent(c, 1000 * ps_score_rr_error(s));
}

/* all: NULL where a report withholds its records. */
static void put_average(weir_table *c, const ps_score *all, int64_t n)
{
  weir_table_add(c, "average");
  weir_table_add(c, "%lld", (long long)n);
  if (all == NULL) {
    for (int k = 2; k < PS_MERGE_COLUMNS; k++) {
      weir_table_add(c, "withheld");
    }
    return;
  }
  const ps_score_average mean = ps_score_mean(all, n);

  for (int k = 0; k < 3; k++) {
    weir_table_add(c, "-");
  }
  put_percent(c, mean.sensitivity);
  put_percent(c, mean.predictivity);
  put_percent(c, 1000 * mean.rr_error);
}

static int by_dataset(const void *a, const void *b)
{
  return strcmp((*(const ps_site_report *const *)a)->dataset,
                (*(const ps_site_report *const *)b)->dataset);
}

/* Rows of the sites in order of their digests, then what they give together. all: room for the
 * records that are reported. */
static weir_status pool(const ps_site_report **order, int64_t n, ps_score *all, weir_table *cells)
{
  ps_score gross = {0};
  int64_t records = 0, n_all = 0;

  for (int64_t i = 0; i < n; i++) {
    char site[16];

    (void)snprintf(site, sizeof site, "%.12s", order[i]->dataset);
    if (order[i]->suppressed) {
      weir_table_add(cells, "%s", site);
      for (int k = 1; k < PS_MERGE_COLUMNS; k++) {
        weir_table_add(cells, "suppressed");
      }
      continue;
    }
    put_row(cells, site, order[i]->n, &order[i]->sum);
    if (order[i]->per_record) {
      memcpy(all + n_all, order[i]->records, (size_t)order[i]->n * sizeof *all);
      n_all += order[i]->n;
    }
    records += order[i]->n;
    ps_score_add(&gross, &order[i]->sum);
  }
  put_row(cells, "gross", records, &gross);
  put_average(cells, n_all == records ? all : NULL, records);
  return cells->status;
}

weir_status ps_site_merge(const ps_site_report *reports, int64_t n, weir_table *cells)
{
  const ps_site_report **order = NULL;
  ps_score *all = NULL;
  int64_t records = 0;
  weir_status status = WEIR_OK;

  if (n < 1) {
    return weir_fail(WEIR_ERR_CONFIG, "site.reports names no report");
  }
  WEIR_TRY(weir_alloc(n, sizeof *order, (void **)&order));
  for (int64_t i = 0; i < n; i++) {
    order[i] = &reports[i];
    records += reports[i].per_record && !reports[i].suppressed ? reports[i].n : 0;
    for (int64_t k = 0; k < i; k++) {
      WEIR_TRY_GOTO(check_pair(&reports[k], &reports[i]), done);
    }
  }
  qsort(order, (size_t)n, sizeof *order, by_dataset);
  WEIR_TRY_GOTO(weir_alloc(records, sizeof *all, (void **)&all), done);
  WEIR_TRY_GOTO(pool(order, n, all, cells), done);
done:
  weir_free(&all);
  weir_free(&order);
  return status;
}
