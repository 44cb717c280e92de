/* eval_alarms.c - see eval_alarms.h. */
#include "page/eval_alarms.h"
#include <stdio.h>
#include <string.h>
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "commands.h"
#include "data/checksums.h"
#include "eval/alarms.h"
#include "io/weir_record.h"
#include "page/table_files.h"
#include "records/records_list.h"
#include "report/weir_report.h"

enum { ROW = 5, COLUMNS = 9 };
static const char *const row_head[ROW] = {"record", "alarm", "label", "raised", "result"};
static const char *const head[COLUMNS] = {"alarm", "records", "tp",  "fp",   "fn",
                                          "tn",    "tpr",     "tnr", "score"};

typedef struct session {
  ps_records records;
  weir_table rows, cells;
  ps_alarm_counts counts[PS_ALARMS + 1]; /* the last: of all */
} session;

static weir_status judge(const ps_cfg *cfg, const ps_record *r, session *e)
{
  weir_record *record = NULL;
  ps_alarm alarm = PS_ALARMS;
  bool truth = false, raised = false;
  char file[PS_PATH], path[PS_PATH];

  WEIR_TRY(ps_checksums_verify(ps_input_checksums(&cfg->input, r->path), r->path));
  WEIR_TRY(weir_record_open(r->path, NULL, &record));
  const weir_status status = ps_alarm_label(r->path, weir_record_comments(record), &alarm, &truth);

  weir_record_close(&record);
  WEIR_TRY(status);
  (void)snprintf(file, sizeof file, "%s/%s.csv", r->name, ps_alarm_name[alarm]);
  WEIR_TRY(weir_path_join(cfg->eval.folder, file, path, sizeof path));
  WEIR_TRY(ps_alarm_raised(path, cfg->eval.alarms.from, cfg->eval.alarms.to, &raised));
  ps_alarm_count(&e->counts[alarm], truth, raised);
  ps_alarm_count(&e->counts[PS_ALARMS], truth, raised);
  weir_table_add(&e->rows, "%s", r->name);
  weir_table_add(&e->rows, "%s", ps_alarm_name[alarm]);
  weir_table_add(&e->rows, "%s", truth ? "true" : "false");
  weir_table_add(&e->rows, "%s", raised ? "yes" : "no");
  weir_table_add(&e->rows, "%s", truth ? raised ? "TP" : "FN" : raised ? "FP" : "TN");
  return e->rows.status;
}

static void add_scores(const char *name, const ps_alarm_counts *c, weir_table *cells)
{
  const int64_t n = c->tp + c->fp + c->fn + c->tn;

  weir_table_add(cells, "%s", name);
  weir_table_add(cells, "%lld", (long long)n);
  weir_table_add(cells, "%lld", (long long)c->tp);
  weir_table_add(cells, "%lld", (long long)c->fp);
  weir_table_add(cells, "%lld", (long long)c->fn);
  weir_table_add(cells, "%lld", (long long)c->tn);
  weir_table_add_number(cells, "%.2f", 100 * (double)c->tp / (double)(c->tp + c->fn), "");
  weir_table_add_number(cells, "%.2f", 100 * (double)c->tn / (double)(c->tn + c->fp), "");
  weir_table_add_number(cells, "%.2f", ps_alarm_score(c), "");
}

static weir_status fill(weir_report *r, const ps_cfg *cfg, const session *e)
{
  static const char *const titles[COLUMNS] = {"alarm", "records", "TP",      "FP",   "FN",
                                              "TN",    "TPR (%)", "TNR (%)", "score"};

  WEIR_TRY(weir_report_text(
      r,
      "Alarms of the records as the PhysioNet/CinC Challenge 2015 scores them: an alarm is raised "
      "if its file has a line from %g s on and before %g s. Score = 100 (TP + TN) / (TP + TN + FP "
      "+ 5 FN); TPR "
      "and TNR: shares of the true alarms that were raised, and of the false ones that were not.",
      cfg->eval.alarms.from, cfg->eval.alarms.to));
  WEIR_TRY(weir_table_report(&e->cells, r, "scores", COLUMNS, titles));
  WEIR_TRY(weir_report_heading(r, "Records"));
  return weir_table_report(&e->rows, r, "alarms", ROW, row_head);
}

static weir_status write_all(weir_job *j, const ps_cfg *cfg, const session *e)
{
  weir_report *r = NULL;

  WEIR_TRY(weir_run_dir_commit(&j->dir));
  WEIR_TRY(ps_table_write(&e->rows, j->cli->out, "alarms", ROW, row_head));
  WEIR_TRY(ps_table_write(&e->cells, j->cli->out, "scores", COLUMNS, head));
  WEIR_TRY(weir_report_open(j->cli->out, "physio_stream: evaluation of alarms", &r));
  weir_report_fact(r, "records", "%lld", (long long)e->records.count);
  WEIR_TRY(weir_report_commit(&r, fill(r, cfg, e)));
  return ps_write_provenance(j->cli, cfg, NULL, 0);
}

static weir_status score(weir_job *j, session *e)
{
  const ps_cfg *cfg = j->cfg;

  if (cfg->eval.records.count == 0 || cfg->eval.folder[0] == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "eval.alarms.score needs the records with labels (eval.records) and the "
                     "folder of the run that judged them (eval.folder)");
  }
  if (!(cfg->eval.alarms.from < cfg->eval.alarms.to)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "eval.alarms.from %g s is not before eval.alarms.to %g s: no line can be in "
                     "between",
                     cfg->eval.alarms.from, cfg->eval.alarms.to);
  }
  WEIR_TRY(ps_records_list("eval.records", &cfg->eval.records, cfg->input.physionet, &e->records));
  for (int64_t i = 0; i < e->records.count; i++) {
    WEIR_TRY(judge(cfg, &e->records.items[i], e));
  }
  for (int k = 0; k <= PS_ALARMS; k++) {
    const ps_alarm_counts *c = &e->counts[k];

    if (c->tp + c->fp + c->fn + c->tn > 0) {
      add_scores(k < PS_ALARMS ? ps_alarm_name[k] : "all", c, &e->cells);
    }
  }
  WEIR_TRY(e->cells.status);
  WEIR_TRY(write_all(j, cfg, e));
  const ps_alarm_counts *all = &e->counts[PS_ALARMS];

  weir_event("alarm_score", WEIR_INT("tp", all->tp), WEIR_INT("fp", all->fp),
             WEIR_INT("fn", all->fn), WEIR_INT("tn", all->tn),
             WEIR_REAL("score", ps_alarm_score(all)));
  weir_table_print(&e->cells, COLUMNS, head, stdout);
  return WEIR_OK;
}

weir_status ps_eval_alarms(weir_job *j)
{
  session e = {0};
  const weir_status status = score(j, &e);

  weir_table_fini(&e.rows);
  weir_table_fini(&e.cells);
  ps_records_fini(&e.records);
  return status;
}
