/* cmd_site.c - a study over several hospitals: site prepare, check, stats, eval, approve, run,
 * merge.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_provenance.h"
#include "pipeline.h"
#include "site/model.h"
#include "commands.h"

/* Rate at which the graph that stands for the pipeline is printed, Hz: every site's is the same. */
enum { DIGEST_RATE = 250, PRINT_SLOTS = 1 };

typedef struct site {
  const weir_cli *cli;
  const ps_cfg *cfg;
} site;

/* Beats that the stream found in one record. */
typedef struct found {
  int64_t *times, n, capacity;
  ps_input *input;
} found;

static weir_status take_beats(void *context, const weir_view *view, int64_t lo, int64_t hi,
                              bool last)
{
  const int64_t *result = view->data;
  found *f = context;

  (void)lo;
  (void)hi;
  (void)last;
  WEIR_TRY(weir_reserve(&f->times, &f->capacity, f->n + result[0], sizeof *f->times));
  memcpy(f->times + f->n, result + 1, (size_t)result[0] * sizeof *f->times);
  f->n += result[0];
  return WEIR_OK;
}

static weir_status detect(const site *s, const char *record, found *f)
{
  ps_input_opts input;
  ps_pipeline p = {0};
  weir_stream_report report;

  weir_opts_default(ps_input_options, sizeof input, &input);
  input.record = record;
  input.signal = "0";
  WEIR_TRY(ps_input_open(&input, &s->cfg->ecgsyn, (uint64_t)s->cfg->seed, &f->input));
  const weir_stream_sink sink = {PS_RESULT_BEATS, take_beats, f};

  WEIR_TRY(ps_pipeline_create(s->cfg, ps_input_source(f->input), NULL, false, &sink, 1,
                              s->cli->threads, &p));
  const weir_status status = weir_stream_run(p.stream, &report);

  ps_pipeline_destroy(&p);
  return status;
}

static weir_status score(const site *s, const ps_dataset *d, int64_t i, ps_score *out)
{
  const ps_site_scoring scoring = {s->cfg->eval.start, s->cfg->eval.window, s->cfg->eval.fs};
  char record[PS_SITE_PATH];
  found f = {0};
  weir_status status = WEIR_OK;

  WEIR_TRY(ps_dataset_path(d, i, "", record));
  WEIR_TRY_GOTO(detect(s, record, &f), done);
  status = ps_site_score(d, i, s->cfg->site.annotator, &scoring, f.times, f.n, out);
done:
  ps_input_close(&f.input);
  weir_free(&f.times);
  return status;
}

static void print_options(const weir_opt *rows, const char *base, FILE *out)
{
  for (; rows->kind != WEIR_OPT_KIND_END; rows++) {
    const void *member = base + rows->offset;

    if (rows->kind == WEIR_OPT_KIND_TABLE) {
      print_options(rows->table, member, out);
    } else if (rows->kind == WEIR_OPT_KIND_REAL) {
      fprintf(out, "%s=%.17g\n", rows->key, *(const double *)member);
    } else if (rows->kind == WEIR_OPT_KIND_INT) {
      fprintf(out, "%s=%lld\n", rows->key, (long long)*(const int64_t *)member);
    } else {
      WEIR_ASSERT(rows->kind == WEIR_OPT_KIND_BOOL || rows->kind == WEIR_OPT_KIND_ENUM);
      fprintf(out, "%s=%d\n", rows->key,
              rows->kind == WEIR_OPT_KIND_BOOL ? *(const bool *)member : *(const int *)member);
    }
  }
}

/* SHA-256 of the graph at one rate and of every option of the detector. */
static weir_status digest_pipeline(const ps_cfg *cfg, char hex[65])
{
  ps_graph g = {0};
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  if (out == NULL) {
    return weir_fail(WEIR_ERR_MEMORY, "site eval: no memory for the digest of the pipeline");
  }
  print_options(ps_detect_options, (const char *)&cfg->detect, out);
  const weir_status status = ps_graph_create(&cfg->detect, DIGEST_RATE, 1, DIGEST_RATE, false, &g);
  if (status == WEIR_OK) {
    weir_graph_print(g.graph, PRINT_SLOTS, out);
  }
  fclose(out);
  weir_sha256(text, size, hex);
  free(text);
  ps_graph_destroy(&g);
  return status;
}

static weir_status evaluate(const site *s, const ps_dataset *d, ps_site_report *r)
{
  WEIR_TRY(ps_dataset_digest(d, s->cfg->site.annotator, r->dataset));
  WEIR_TRY(digest_pipeline(s->cfg, r->pipeline));
  WEIR_TRY(weir_alloc(d->n, sizeof *r->records, (void **)&r->records));
  (void)snprintf(r->program, sizeof r->program, "%s", weir_version());
  r->start = s->cfg->eval.start;
  r->window = s->cfg->eval.window;
  r->min_cell = s->cfg->site.min_cell;
  r->per_record = s->cfg->site.per_record;
  for (; r->n < d->n; r->n++) {
    WEIR_TRY(score(s, d, r->n, &r->records[r->n]));
    weir_progress("site eval", r->n + 1, d->n, "records");
  }
  ps_site_report_close(r);
  return WEIR_OK;
}

/* On the terminal until a person has read it; then also in --out. */
static weir_status write_report(const site *s, const ps_site_report *r)
{
  char path[PS_SITE_PATH], *text = NULL;
  size_t size = 0;
  weir_writer *w = NULL;
  FILE *out = open_memstream(&text, &size);

  if (out == NULL) {
    return weir_fail(WEIR_ERR_MEMORY, "site eval: no memory for the report");
  }
  weir_status status = ps_site_report_print(r, out);
  fclose(out);
  WEIR_TRY_GOTO(status, done);
  if (!s->cfg->site.approve) {
    fputs(text, stdout);
    weir_info("site",
              "nothing was written: this is what the report would say of %lld records; "
              "read it, then write it with --set site.approve=true",
              (long long)r->n);
    goto done;
  }
  WEIR_TRY_GOTO(weir_path_join(s->cli->out, "site_report.jsonl", path, sizeof path), done);
  WEIR_TRY_GOTO(weir_writer_open(path, &w), done);
  WEIR_TRY_GOTO(weir_writer_write(w, text, size), done);
  WEIR_TRY_GOTO(weir_writer_commit(&w), done);
  weir_info("site", "wrote %s: the report of %lld records", path, (long long)r->n);
done:
  weir_writer_destroy(&w);
  free(text);
  return status;
}

/* Nothing is said of records that a check would refuse. */
static weir_status refuse_faults(const site *s)
{
  weir_table cells = {0};
  int64_t failed = 0;
  const weir_status status = ps_site_check(&s->cfg->site, &cells, &failed);

  weir_table_fini(&cells);
  return status != WEIR_OK || failed == 0
             ? status
             : weir_fail(WEIR_ERR_DATA,
                         "site eval: %lld records of %s have faults: `site check` names them; mend "
                         "or leave them out, then evaluate",
                         (long long)failed, s->cfg->site.dataset);
}

static weir_status run_eval(const site *s)
{
  ps_dataset d = {0};
  ps_site_report r = {0};
  weir_status status = WEIR_OK;

  WEIR_TRY(refuse_faults(s));
  WEIR_TRY(ps_dataset_open(s->cfg->site.dataset, &d));
  WEIR_TRY_GOTO(evaluate(s, &d, &r), done);
  WEIR_TRY_GOTO(write_report(s, &r), done);
done:
  ps_site_report_fini(&r);
  ps_dataset_fini(&d);
  return status;
}

/* The table as NAME.csv in --out and on the terminal. */
static weir_status write_table(const site *s, const char *name, const weir_table *cells,
                               int columns, const char *const *head)
{
  weir_table_print(cells, columns, head, stdout);
  return weir_table_write_csv(cells, s->cli->out, name, columns, head);
}

static weir_status run_prepare(const site *s)
{
  int64_t n = 0;

  WEIR_TRY(ps_site_prepare(&s->cfg->site, (uint64_t)s->cfg->seed, s->cli->out, &n));
  weir_info("site",
            "wrote %lld records to %s; run.jsonl, resolved.yaml and provenance.json next to "
            "them name the sources and are not part of the dataset",
            (long long)n, s->cli->out);
  return WEIR_OK;
}

static weir_status run_check(const site *s)
{
  weir_table cells = {0};
  int64_t failed = 0;
  weir_status status = ps_site_check(&s->cfg->site, &cells, &failed);

  if (status == WEIR_OK) {
    status = write_table(s, "check.csv", &cells, PS_CHECK_COLUMNS, ps_check_head);
  }
  weir_table_fini(&cells);
  return status != WEIR_OK || failed == 0
             ? status
             : weir_fail(WEIR_ERR_DATA, "site check: %lld records have faults", (long long)failed);
}

static weir_status run_stats(const site *s)
{
  weir_table cells = {0};
  weir_status status = ps_site_stats(&s->cfg->site, &cells);

  if (status == WEIR_OK) {
    status = write_table(s, "stats.csv", &cells, PS_STATS_COLUMNS, ps_stats_head);
  }
  weir_table_fini(&cells);
  return status;
}

static weir_status merge_detections(const site *s)
{
  const weir_string_list *paths = &s->cfg->site.reports;
  ps_site_report *reports = NULL;
  weir_table cells = {0};
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(paths->count, sizeof *reports, (void **)&reports));
  for (int64_t i = 0; i < paths->count; i++) {
    WEIR_TRY_GOTO(ps_site_report_read(paths->items[i], &reports[i]), done);
  }
  WEIR_TRY_GOTO(ps_site_merge(reports, paths->count, &cells), done);
  WEIR_TRY_GOTO(write_table(s, "merged.csv", &cells, PS_MERGE_COLUMNS, ps_merge_head), done);
done:
  weir_table_fini(&cells);
  for (int64_t i = 0; i < paths->count; i++) {
    ps_site_report_fini(&reports[i]);
  }
  weir_free(&reports);
  return status;
}

/* Reports of both kinds have one command: the first line tells which they are. */
static weir_status run_merge(const site *s)
{
  const weir_string_list *reports = &s->cfg->site.reports;

  return reports->count > 0 && ps_model_report_is(reports->items[0])
             ? ps_model_reports_merge(reports, s->cli->out)
             : merge_detections(s);
}

static weir_status run_approve(const site *s)
{
  return ps_model_approve(&s->cfg->site, s->cli->out);
}

static weir_status run_model(const site *s)
{
  return ps_model_evaluate(&s->cfg->site, s->cli->out);
}

typedef struct subcommand {
  const char *name;
  weir_status (*run)(const site *s);
  const char *owner;
} subcommand;

static const subcommand *find_subcommand(const char *name)
{
  static const subcommand subcommands[] = {
      {"prepare", run_prepare, "site prepare"}, {"check", run_check, "site check"},
      {"stats", run_stats, "site stats"},       {"eval", run_eval, "site eval"},
      {"merge", run_merge, "site merge"},       {"approve", run_approve, "site approve"},
      {"run", run_model, "site run"},
  };

  size_t i = 0;

  /* One of the words of the command's row. */
  while (strcmp(name, subcommands[i].name) != 0) {
    i++;
    WEIR_ASSERT(i < sizeof subcommands / sizeof subcommands[0]);
  }
  return &subcommands[i];
}

static weir_status perform(weir_job *j)
{
  const subcommand *const p = find_subcommand(j->cli->args[0]);
  const ps_cfg *const cfg = j->cfg;
  const site s = {j->cli, cfg};
  /* What is only shown leaves no folder, so that the run that writes it finds none. */
  const bool writes = p->run != run_eval || cfg->site.approve;

  if (writes) {
    WEIR_TRY(ps_start(j, p->owner));
  }
  WEIR_TRY(p->run(&s));
  return writes ? ps_write_provenance(j->cli, cfg, NULL, 0) : WEIR_OK;
}

weir_status ps_cmd_site(const weir_cli *cli)
{
  ps_cfg cfg;

  return weir_job_run(cli, &ps_program, &cfg, perform);
}
