/* cmd_model.c - evaluation of somebody's model: site approve, run, and merge of such reports. */
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_provenance.h"
#include "eval/beats.h"
#include "site/model.h"
#include "site/model_run.h"

/* SHA-256 over the records and what is known of the persons. */
static weir_status digest_data(const ps_dataset *d, const char *annotator, char hex[65])
{
  char both[130], path[PS_SITE_PATH];
  int64_t bytes = 0;

  memset(both, '0', sizeof both);
  WEIR_TRY(ps_dataset_digest(d, annotator, both));
  WEIR_TRY(weir_path_join(d->folder, "ATTRIBUTES.csv", path, sizeof path));
  if (weir_file_exists(path) && !weir_file_sha256(path, both + 65, &bytes)) {
    return weir_fail(WEIR_ERR_DATA, "%s: cannot read: %m", path);
  }
  weir_sha256(both, sizeof both, hex);
  return WEIR_OK;
}

/* Digests of what the options name; those of what is not named are "". */
static weir_status find_subjects(const ps_site_opts *o, const ps_study *s, ps_subjects *out)
{
  ps_dataset d = {0};

  memset(out, 0, sizeof *out);
  memcpy(out->digest[PS_OF_BENCHMARK], s->benchmark_digest, 65);
  if (o->model[0] != 0) {
    memcpy(out->digest[PS_OF_MODEL], s->model_digest, 65);
  }
  if (o->dataset[0] != 0) {
    WEIR_TRY(ps_dataset_open(o->dataset, &d));
    const weir_status status = digest_data(&d, s->benchmark.reference, out->digest[PS_OF_DATA]);

    ps_dataset_fini(&d);
    WEIR_TRY(status);
  }
  ps_sandbox_digest(&o->limits, &o->folders, out->digest[PS_OF_SANDBOX]);
  return WEIR_OK;
}

/* ---- site approve ---- */

static void print_approved(const ps_site_opts *o, const ps_study *s, const ps_subjects *of)
{
  const ps_benchmark *b = &s->benchmark;
  const ps_group *groups = b->cohort.groups.items;
  weir_table t = {0};
  static const char *const head[] = {"approved", "value"};

  weir_table_add_pair(&t, "benchmark", "%s", b->name);
  weir_table_add_pair(&t, "committee", "%s", b->committee);
  weir_table_add_pair(&t, "cohort", "%s",
                      b->cohort.where[0] != 0 ? b->cohort.where : "all records");
  for (int64_t i = 0; i < b->cohort.groups.count; i++) {
    weir_table_add_pair(&t, "group", "%s: %lld cells", groups[i].name,
                        (long long)groups[i].cells.count + 1);
  }
  weir_table_add_pair(&t, "smallest cell", "%lld records", (long long)b->min_records);
  weir_table_add_pair(&t, "SHA-256 of the benchmark", "%s", of->digest[PS_OF_BENCHMARK]);
  if (o->role >= PS_ROLE_MODEL_OWNER) {
    weir_table_add_pair(&t, "model", "%s", s->model.name);
    weir_table_add_pair(&t, "SHA-256 of the model", "%s", of->digest[PS_OF_MODEL]);
  }
  if (o->role == PS_ROLE_DATA_OWNER) {
    weir_table_add_pair(&t, "SHA-256 of the data", "%s", of->digest[PS_OF_DATA]);
    weir_table_add_pair(&t, "limits", "%g MiB, %g s of processor time, %g s", o->limits.memory,
                        o->limits.cpu, o->limits.wall);
    for (int64_t i = 0; i < o->folders.count; i++) {
      weir_table_add_pair(&t, "folder that the model sees", "%s", o->folders.items[i]);
    }
    weir_table_add_pair(&t, "SHA-256 of limits and folders", "%s", of->digest[PS_OF_SANDBOX]);
  }
  weir_table_print(&t, 2, head, stdout);
  weir_table_fini(&t);
}

weir_status ps_model_approve(const ps_site_opts *o, const char *out)
{
  ps_study s = {.folder = NULL};
  ps_subjects of;
  weir_status status = WEIR_OK;

  if ((o->role >= PS_ROLE_MODEL_OWNER && o->model[0] == 0) ||
      (o->role == PS_ROLE_DATA_OWNER && o->dataset[0] == 0)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "site approve: the %s approves benchmark and model%s: give site.model%s",
                     o->role == PS_ROLE_DATA_OWNER ? "data_owner" : "model_owner",
                     o->role == PS_ROLE_DATA_OWNER ? " for a dataset" : "",
                     o->role == PS_ROLE_DATA_OWNER ? " and site.dataset" : "");
  }
  WEIR_TRY(ps_study_open(o->benchmark, o->role == PS_ROLE_COMMITTEE ? "" : o->model, &s));
  WEIR_TRY_GOTO(find_subjects(o, &s, &of), done);
  print_approved(o, &s, &of);
  status = ps_approval_write(out, (ps_role)o->role, o->person, &of);
done:
  ps_study_fini(&s);
  return status;
}

/* ---- site run ---- */

typedef struct evaluation {
  const ps_site_opts *opts;
  const char *out;
  ps_study study;
  ps_subjects of;
  ps_dataset dataset;
  ps_attributes attributes;
  uint8_t *selected, *truth; /* [records] */
  int64_t *cell;             /* [groups, records]: the cell of each, counted in its group */
  int64_t *n_cells;          /* [groups], with `other`                                    */
  ps_model_report report;
} evaluation;

static weir_status refuse_faults(const ps_site_opts *opts, const char *reference)
{
  ps_site_opts o = *opts;
  weir_table cells = {0};
  int64_t failed = 0;

  o.annotator = reference;
  const weir_status status = ps_site_check(&o, &cells, &failed);

  weir_table_fini(&cells);
  return status != WEIR_OK || failed == 0
             ? status
             : weir_fail(WEIR_ERR_DATA,
                         "site run: %lld records of %s have faults: `site check` names them; mend "
                         "or leave them out, then have the dataset approved",
                         (long long)failed, o.dataset);
}

/* Whether the cohort or a cell asks for the quality of the signals. */
static bool asks_for_quality(const ps_benchmark *b)
{
  const ps_group *groups = b->cohort.groups.items;
  bool asks = ps_attributes_named(b->cohort.where, "quality");

  for (int64_t g = 0; g < b->cohort.groups.count; g++) {
    for (int64_t k = 0; k < groups[g].cells.count; k++) {
      asks = asks || ps_attributes_named(groups[g].cells.items[k], "quality");
    }
  }
  return asks;
}

static weir_status open_all(evaluation *e)
{
  const ps_site_opts *o = e->opts;

  if (o->model[0] == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "site.model names no folder");
  }
  WEIR_TRY(ps_study_open(o->benchmark, o->model, &e->study));
  WEIR_TRY(ps_dataset_open(o->dataset, &e->dataset));
  WEIR_TRY(find_subjects(o, &e->study, &e->of));
  WEIR_TRY(ps_approvals_check(&o->approvals, &e->of, e->report.approvals));
  WEIR_TRY(refuse_faults(o, e->study.benchmark.reference));
  return ps_attributes_read(&e->dataset, e->study.benchmark.reference,
                            asks_for_quality(&e->study.benchmark), &e->attributes);
}

/* Cells of the report: all, then those of the groups with `other`; and the cell of each record. */
static weir_status select_records(evaluation *e)
{
  const ps_benchmark *b = &e->study.benchmark;
  const ps_group *groups = b->cohort.groups.items;
  const int64_t n = e->dataset.n;
  ps_cell *cell = NULL;

  e->report.n = 1;
  for (int64_t g = 0; g < b->cohort.groups.count; g++) {
    e->report.n += groups[g].cells.count + 1;
  }
  WEIR_TRY(weir_alloc(e->report.n, sizeof *e->report.cells, (void **)&e->report.cells));
  WEIR_TRY(weir_alloc(n, 1, (void **)&e->selected));
  WEIR_TRY(weir_alloc(n, 1, (void **)&e->truth));
  WEIR_TRY(weir_alloc(b->cohort.groups.count * n + 1, sizeof *e->cell, (void **)&e->cell));
  WEIR_TRY(weir_alloc(b->cohort.groups.count + 1, sizeof *e->n_cells, (void **)&e->n_cells));
  WEIR_TRY(ps_attributes_select(&e->attributes, "cohort.where", b->cohort.where, e->selected));
  cell = e->report.cells;
  *cell++ = (ps_cell){.group = "all", .name = "all"};
  for (int64_t g = 0; g < b->cohort.groups.count; g++) {
    e->n_cells[g] = groups[g].cells.count + 1;
    for (int64_t i = 0; i < n; i++) {
      e->cell[g * n + i] = groups[g].cells.count; /* other */
    }
    for (int64_t k = groups[g].cells.count; k-- > 0;) {
      WEIR_TRY(ps_attributes_select(&e->attributes, "cohort.groups", groups[g].cells.items[k],
                                    e->truth));
      for (int64_t i = 0; i < n; i++) {
        e->cell[g * n + i] = e->truth[i] ? k : e->cell[g * n + i];
      }
    }
    for (int64_t k = 0; k <= groups[g].cells.count; k++, cell++) {
      (void)snprintf(cell->group, sizeof cell->group, "%s", groups[g].name);
      (void)snprintf(cell->name, sizeof cell->name, "%s",
                     k < groups[g].cells.count ? groups[g].cells.items[k] : "other");
    }
  }
  return WEIR_OK;
}

static weir_status score_record(evaluation *e, int64_t i, ps_score *out)
{
  const ps_benchmark *b = &e->study.benchmark;
  const ps_site_scoring scoring = {b->start, b->window, b->fs};
  char name[2 * PS_SITE_NAME + 16], path[PS_SITE_PATH];
  weir_record_clock samples;
  ps_beats beats = {0};

  (void)snprintf(name, sizeof name, "predictions/%s.%s", e->dataset.names[i], b->predictions);
  WEIR_TRY(weir_path_join(e->out, name, path, sizeof path));
  WEIR_TRY(ps_site_clock(&e->dataset, i, &samples));
  const ps_beats_clock clock = {samples.fs_num, samples.fs_den, samples.fs_num, samples.fs_den};

  WEIR_TRY(ps_beats_read(path, &clock, samples.frames, &beats));
  ps_warn_of_beyond(path, &beats);
  const weir_status status =
      ps_site_score(&e->dataset, i, b->reference, &scoring, beats.times, beats.n, out);

  ps_beats_fini(&beats);
  return status;
}

static weir_status score_all(evaluation *e)
{
  const ps_benchmark *b = &e->study.benchmark;
  const ps_group *groups = b->cohort.groups.items;
  ps_score score;

  for (int64_t i = 0; i < e->dataset.n; i++) {
    ps_cell *cell = e->report.cells + 1;

    if (!e->selected[i]) {
      continue;
    }
    WEIR_TRY(score_record(e, i, &score));
    ps_cell_add(&e->report.cells[0], &score);
    for (int64_t g = 0; g < b->cohort.groups.count; g++) {
      ps_cell_add(&cell[e->cell[g * e->dataset.n + i]], &score);
      cell += groups[g].cells.count + 1;
    }
    weir_progress("site run", i + 1, e->dataset.n, "records");
  }
  ps_cell *cell = e->report.cells + 1;

  for (int64_t g = 0; g < b->cohort.groups.count; g++) {
    ps_cells_withhold(&e->report.cells[0], cell, groups[g].cells.count + 1, b->min_records,
                      b->max_share);
    cell += groups[g].cells.count + 1;
  }
  ps_cells_withhold(&e->report.cells[0], NULL, 0, b->min_records, b->max_share);
  const ps_divisions divisions = {.n_cells = e->n_cells,
                                  .cell = e->cell,
                                  .selected = e->selected,
                                  .n = b->cohort.groups.count,
                                  .records = e->dataset.n};

  ps_divisions_withhold(&divisions, e->report.cells + 1, b->min_records);
  return WEIR_OK;
}

static weir_status run_model(evaluation *e)
{
  const ps_model_job job = {.study = &e->study,
                            .dataset = &e->dataset,
                            .selected = e->selected,
                            .limits = &e->opts->limits,
                            .folders = &e->opts->folders,
                            .out = e->out};
  char after[65];
  bool any = false;

  for (int64_t i = 0; i < e->dataset.n; i++) {
    any = any || e->selected[i];
  }
  if (!any) {
    return weir_fail(WEIR_ERR_DATA, "site run: no record of %s is in the cohort (%s)",
                     e->dataset.folder, e->study.benchmark.cohort.where);
  }
  WEIR_TRY(ps_model_run(&job));
  WEIR_TRY(ps_folder_digest(e->opts->model, after));
  if (strcmp(after, e->of.digest[PS_OF_MODEL]) != 0) {
    return weir_fail(WEIR_ERR_DATA, "site run: %s has changed since it was approved",
                     e->opts->model);
  }
  WEIR_TRY(digest_data(&e->dataset, e->study.benchmark.reference, after));
  return strcmp(after, e->of.digest[PS_OF_DATA]) == 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "site run: %s has changed since it was approved",
                         e->dataset.folder);
}

static weir_status write_report(evaluation *e)
{
  const ps_benchmark *b = &e->study.benchmark;
  ps_model_report *r = &e->report;
  char path[PS_SITE_PATH], *text = NULL;
  size_t size = 0;
  weir_writer *w = NULL;
  FILE *out = open_memstream(&text, &size);

  if (out == NULL) {
    return weir_fail(WEIR_ERR_MEMORY, "site run: no memory for the report");
  }
  (void)snprintf(r->benchmark_name, sizeof r->benchmark_name, "%s", b->name);
  (void)snprintf(r->model_name, sizeof r->model_name, "%s", e->study.model.name);
  (void)snprintf(r->program, sizeof r->program, "%s", weir_version());
  memcpy(r->benchmark, e->study.benchmark_digest, 65);
  memcpy(r->model, e->study.model_digest, 65);
  memcpy(r->dataset, e->of.digest[PS_OF_DATA], 65);
  r->start = b->start;
  r->window = b->window;
  r->min_records = b->min_records;
  r->max_share = b->max_share;
  weir_status status = ps_model_report_print(r, out);

  fclose(out);
  WEIR_TRY_GOTO(status, done);
  fputs(text, stdout);
  WEIR_TRY_GOTO(weir_path_join(e->out, "site_model.jsonl", path, sizeof path), done);
  WEIR_TRY_GOTO(weir_writer_open(path, &w), done);
  WEIR_TRY_GOTO(weir_writer_write(w, text, size), done);
  WEIR_TRY_GOTO(weir_writer_commit(&w), done);
  weir_info(
      "site",
      "wrote %s, which is all that leaves the site: read it before you send it; predictions/, "
      "model.log, RECORDS and run.jsonl stay",
      path);
done:
  weir_writer_destroy(&w);
  free(text);
  return status;
}

weir_status ps_model_evaluate(const ps_site_opts *opts, const char *out)
{
  evaluation e = {.opts = opts, .out = out};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(open_all(&e), done);
  WEIR_TRY_GOTO(select_records(&e), done);
  WEIR_TRY_GOTO(run_model(&e), done);
  WEIR_TRY_GOTO(score_all(&e), done);
  status = write_report(&e);
done:
  ps_model_report_fini(&e.report);
  weir_free(&e.n_cells);
  weir_free(&e.cell);
  weir_free(&e.truth);
  weir_free(&e.selected);
  ps_attributes_fini(&e.attributes);
  ps_dataset_fini(&e.dataset);
  ps_study_fini(&e.study);
  return status;
}

/* ---- site merge ---- */

weir_status ps_model_reports_merge(const weir_string_list *paths, const char *out)
{
  ps_model_report *reports = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(paths->count, sizeof *reports, (void **)&reports));
  for (int64_t i = 0; i < paths->count; i++) {
    WEIR_TRY_GOTO(ps_model_report_read(paths->items[i], &reports[i]), done);
  }
  status = ps_model_merge(reports, paths->count, out);
done:
  for (int64_t i = 0; i < paths->count; i++) {
    ps_model_report_fini(&reports[i]);
  }
  weir_free(&reports);
  return status;
}
