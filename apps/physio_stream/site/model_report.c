/* model_report.c - the report of a site about a model: counts of cells, closed by a checksum. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "report/weir_run_log.h"
#include "site/model.h"

#define VERSION 1
#define BEGIN "{\"event\": \"site_model\""

static const char *const approval_key[PS_ROLES] = {
    "approval_committee_sha256", "approval_model_owner_sha256", "approval_data_owner_sha256"};

/* The real numbers of a cell, and their keys. */
enum { N_MOMENTS = 5 };
static const char *const moment_key[N_MOMENTS] = {"tp_tp", "tp_ref", "ref_ref", "tp_test",
                                                  "test_test"};

static void moments(const ps_cell *c, double m[N_MOMENTS])
{
  const double of[N_MOMENTS] = {c->tp_tp, c->tp_ref, c->ref_ref, c->tp_test, c->test_test};

  memcpy(m, of, sizeof of);
}

void ps_model_report_fini(ps_model_report *r)
{
  weir_free(&r->cells);
  *r = (ps_model_report){0};
}

/* ---- Writing ---- */

static void print_cell(const ps_cell *c, FILE *out)
{
  double m[N_MOMENTS];

  fprintf(out, "{\"event\": \"cell\", \"group\": \"%s\", \"cell\": \"%s\", \"withheld\": %s",
          c->group, c->name, c->withheld ? "true" : "false");
  if (!c->withheld) {
    fprintf(out,
            ", \"records\": %" PRId64 ", \"tp\": %" PRId64 ", \"fn\": %" PRId64
            ", \"fp\": %" PRId64,
            c->records, c->tp, c->fn, c->fp);
    moments(c, m);
    for (int k = 0; k < N_MOMENTS; k++) {
      fprintf(out, ", \"%s\": %.17g", moment_key[k], m[k]);
    }
  }
  fprintf(out, "}\n");
}

static void print_body(const ps_model_report *r, FILE *out)
{
  fprintf(out,
          BEGIN ", \"version\": %d, \"benchmark\": \"%s\", \"benchmark_sha256\": \"%s\", "
                "\"model\": \"%s\", \"model_sha256\": \"%s\", \"dataset_sha256\": \"%s\", "
                "\"program\": \"%s\", \"start_s\": %.17g, \"window_s\": %.17g, "
                "\"min_records\": %" PRId64 ", \"max_share\": %.17g",
          VERSION, r->benchmark_name, r->benchmark, r->model_name, r->model, r->dataset, r->program,
          r->start, r->window, r->min_records, r->max_share);
  for (int k = 0; k < PS_ROLES; k++) {
    fprintf(out, ", \"%s\": \"%s\"", approval_key[k], r->approvals[k]);
  }
  fprintf(out, "}\n");
  for (int64_t i = 0; i < r->n; i++) {
    print_cell(&r->cells[i], out);
  }
}

weir_status ps_model_report_print(const ps_model_report *r, FILE *out)
{
  char *text = NULL;
  size_t size = 0;
  FILE *body = open_memstream(&text, &size);

  if (body == NULL) {
    return weir_fail(WEIR_ERR_MEMORY, "site run: no memory for the report");
  }
  print_body(r, body);
  fclose(body);
  const weir_status status = ps_checked_print(text, size, out);

  free(text);
  return status;
}

/* ---- Reading ---- */

bool ps_model_report_is(const char *path)
{
  char begin[sizeof BEGIN] = "";
  FILE *in = fopen(path, "re");

  if (in == NULL) {
    return false;
  }
  const size_t n = fread(begin, 1, sizeof BEGIN - 1, in);

  fclose(in);
  return n == sizeof BEGIN - 1 && strcmp(begin, BEGIN) == 0;
}

static weir_status get_text(const char *path, const weir_run_event *e, const char *key, size_t size,
                            char *out)
{
  const weir_field *f = weir_run_event_field(e, key);

  if (f == NULL || f->kind != 's' || f->text[0] == 0 || strlen(f->text) >= size ||
      (size == 65 && (strlen(f->text) != 64 || strspn(f->text, "0123456789abcdef") != 64))) {
    return weir_fail(WEIR_ERR_DATA, "%s: event %s has no proper `%s`", path, e->name, key);
  }
  (void)snprintf(out, size, "%s", f->text);
  return WEIR_OK;
}

static weir_status get_real(const char *path, const weir_run_event *e, const char *key, double *out)
{
  *out = weir_run_event_real(e, key, NAN);
  return *out >= 0 && !isinf(*out)
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s: event %s has no number `%s`", path, e->name, key);
}

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

static weir_status get_head(const char *path, const weir_run_event *e, ps_model_report *r)
{
  int64_t version = 0;

  WEIR_TRY(get_count(path, e, "version", &version));
  if (version != VERSION) {
    return weir_fail(WEIR_ERR_DATA, "%s: version %lld, this program reads %d", path,
                     (long long)version, VERSION);
  }
  WEIR_TRY(get_text(path, e, "benchmark", sizeof r->benchmark_name, r->benchmark_name));
  WEIR_TRY(get_text(path, e, "benchmark_sha256", 65, r->benchmark));
  WEIR_TRY(get_text(path, e, "model", sizeof r->model_name, r->model_name));
  WEIR_TRY(get_text(path, e, "model_sha256", 65, r->model));
  WEIR_TRY(get_text(path, e, "dataset_sha256", 65, r->dataset));
  WEIR_TRY(get_text(path, e, "program", sizeof r->program, r->program));
  WEIR_TRY(get_real(path, e, "start_s", &r->start));
  WEIR_TRY(get_real(path, e, "window_s", &r->window));
  WEIR_TRY(get_count(path, e, "min_records", &r->min_records));
  WEIR_TRY(get_real(path, e, "max_share", &r->max_share));
  for (int k = 0; k < PS_ROLES; k++) {
    WEIR_TRY(get_text(path, e, approval_key[k], 65, r->approvals[k]));
  }
  return WEIR_OK;
}

static weir_status get_cell(const char *path, const weir_run_event *e, ps_cell *c)
{
  const weir_field *withheld = weir_run_event_field(e, "withheld");

  WEIR_TRY(get_text(path, e, "group", sizeof c->group, c->group));
  WEIR_TRY(get_text(path, e, "cell", sizeof c->name, c->name));
  if (withheld == NULL || withheld->kind != 'b') {
    return weir_fail(WEIR_ERR_DATA, "%s: a cell does not say whether it is withheld", path);
  }
  c->withheld = withheld->integer != 0;
  if (c->withheld) {
    return WEIR_OK;
  }
  WEIR_TRY(get_count(path, e, "records", &c->records));
  WEIR_TRY(get_count(path, e, "tp", &c->tp));
  WEIR_TRY(get_count(path, e, "fn", &c->fn));
  WEIR_TRY(get_count(path, e, "fp", &c->fp));
  WEIR_TRY(get_real(path, e, moment_key[0], &c->tp_tp));
  WEIR_TRY(get_real(path, e, moment_key[1], &c->tp_ref));
  WEIR_TRY(get_real(path, e, moment_key[2], &c->ref_ref));
  WEIR_TRY(get_real(path, e, moment_key[3], &c->tp_test));
  return get_real(path, e, moment_key[4], &c->test_test);
}

static weir_status get_cells(const char *path, const weir_run_log *log, ps_model_report *r)
{
  r->n = log->count - 2; /* without head and check */
  if (log->skipped > 0 || r->n < 1) {
    return weir_fail(WEIR_ERR_DATA, "%s: a line is no event, or there is no cell", path);
  }
  WEIR_TRY(weir_alloc(r->n, sizeof *r->cells, (void **)&r->cells));
  for (int64_t i = 0; i < r->n; i++) {
    if (strcmp(log->events[i + 1].name, "cell") != 0) {
      return weir_fail(WEIR_ERR_DATA, "%s: line %lld is no cell", path, (long long)i + 2);
    }
    WEIR_TRY(get_cell(path, &log->events[i + 1], &r->cells[i]));
  }
  return strcmp(r->cells[0].group, "all") == 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s: its first cell is not that of all records", path);
}

weir_status ps_model_report_read(const char *path, ps_model_report *out)
{
  weir_run_log log = {0};
  ps_model_report r = {.n = 0};
  weir_status status = WEIR_OK;

  WEIR_TRY(ps_checked_verify(path));
  WEIR_TRY(weir_run_log_read(path, &log));
  if (log.count < 1 || strcmp(log.events[0].name, "site_model") != 0) {
    status = weir_fail(WEIR_ERR_DATA, "%s: is no report of a site about a model", path);
    goto done;
  }
  WEIR_TRY_GOTO(get_head(path, &log.events[0], &r), done);
  WEIR_TRY_GOTO(get_cells(path, &log, &r), done);
done:
  weir_run_log_fini(&log);
  if (status != WEIR_OK) {
    ps_model_report_fini(&r);
    return status;
  }
  *out = r;
  return WEIR_OK;
}
