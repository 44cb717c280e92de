/* cmd_eval.c - compares the transmission of a run with a reference: a table, scores.csv and a
 * page. */
#include <stdio.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "eval/compare.h"
#include "report/weir_report.h"
#include "commands.h"

typedef struct evaluation {
  const qt_compare_opts *opts;
  qt_curve result, reference;
  double *difference; /* [result.n] */
  qt_scores scores;
} evaluation;

enum { COLUMNS = 10 };
static const char *const head[COLUMNS] = {"result",    "reference",      "energies", "near_steps",
                                          "outside",   "bias",           "mae",      "rmse",
                                          "max_error", "max_error_at_eV"};

static void make_table(const evaluation *e, weir_table *c)
{
  const qt_scores *s = &e->scores;
  const double numbers[] = {s->bias, s->mae, s->rmse, s->max_error, s->max_at};

  weir_table_add(c, "%s", e->opts->result);
  weir_table_add(c, "%s", e->opts->reference);
  weir_table_add(c, "%lld", (long long)s->compared);
  weir_table_add(c, "%lld", (long long)s->near_steps);
  weir_table_add(c, "%lld", (long long)s->outside);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    weir_table_add_number(c, "%.6g", numbers[i], "");
  }
}

static weir_status figures(weir_report *r, const evaluation *e)
{
  const qt_curve *a = &e->result, *b = &e->reference;
  double *moved = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(2 * b->n, sizeof *moved, (void **)&moved));
  for (int64_t i = 0; i < b->n; i++) {
    moved[i] = b->energy[i] + e->opts->shift;
    moved[b->n + i] = b->transmission[i] * e->opts->factor;
  }
  const weir_figure_series both[] = {
      {.kind = WEIR_FIGURE_LINE, .name = "reference", .n = b->n, .x = moved, .y = moved + b->n},
      {.kind = WEIR_FIGURE_LINE,
       .name = "result",
       .n = a->n,
       .x = a->energy,
       .y = a->transmission}};
  const weir_figure_series error = {
      .kind = WEIR_FIGURE_POINTS, .n = a->n, .x = a->energy, .y = e->difference};

  WEIR_TRY_GOTO(weir_report_figure(r, "transmission",
                                   &(weir_figure){.title = "Transmission",
                                                  .x_label = "E (eV)",
                                                  .y_label = "T(E)",
                                                  .series = both,
                                                  .n_series = 2}),
                done);
  status = weir_report_figure(
      r, "error",
      &(weir_figure){.title = "Difference of the transmission from the reference",
                     .x_label = "E (eV)",
                     .y_label = "T minus reference",
                     .series = &error,
                     .n_series = 1,
                     .empty = "no energy is compared"});
done:
  weir_free(&moved);
  return status;
}

static weir_status fill(weir_report *r, const evaluation *e, const weir_table *table)
{
  WEIR_TRY(weir_report_text(
      r,
      "The reference is interpolated to the energies of the result. Energies within %g eV of a "
      "step, "
      "a change of more than %g from one energy to the next of either, are left out, and those "
      "outside of the reference.",
      e->opts->margin, e->opts->step));
  WEIR_TRY(weir_table_report(table, r, "scores", COLUMNS, head));
  return figures(r, e);
}

static weir_status write_page(const evaluation *e, const weir_table *table, const char *dir)
{
  weir_report *r = NULL;

  WEIR_TRY(weir_report_open(dir, "quantum_transport: transmission compared with a reference", &r));
  return weir_report_commit(&r, fill(r, e, table));
}

static weir_status evaluate(evaluation *e)
{
  const qt_compare_opts *o = e->opts;

  if (o->result[0] == 0 || o->reference[0] == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "eval.%s is empty: give transport.nc or spectra.csv of a run%s",
                     o->result[0] == 0 ? "result" : "reference",
                     o->result[0] == 0 ? ""
                                       : ", .TBT.nc or .PHT.nc, or text of energies (eV) and "
                                         "transmissions");
  }
  WEIR_TRY(qt_curve_read(o->result, &e->result));
  WEIR_TRY(qt_curve_read(o->reference, &e->reference));
  WEIR_TRY(weir_alloc(e->result.n, sizeof *e->difference, (void **)&e->difference));
  qt_compare(o, &e->result, &e->reference, e->difference, &e->scores);
  if (e->scores.compared == 0) {
    weir_warn("eval",
              "no energy is compared: %lld of %lld lie outside of the reference, %lld near steps; "
              "see eval.shift, eval.margin",
              (long long)e->scores.outside, (long long)e->result.n,
              (long long)e->scores.near_steps);
  }
  return WEIR_OK;
}

static weir_status check(const evaluation *e)
{
  const double tolerance = e->opts->tolerance;

  if (tolerance > 0 && e->scores.compared == 0) {
    return weir_fail(WEIR_ERR_NUMERIC,
                     "eval.tolerance: no energy is compared with those of %s; see eval.shift, "
                     "eval.margin",
                     e->opts->reference);
  }
  if (tolerance > 0 && !(e->scores.max_error <= tolerance)) {
    return weir_fail(
        WEIR_ERR_NUMERIC,
        "eval.tolerance: the transmission differs by %g at %g eV from that of %s, more "
        "than %g",
        e->scores.max_error, e->scores.max_at, e->opts->reference, tolerance);
  }
  return WEIR_OK;
}

static weir_status write_results(const weir_job *j, const evaluation *e)
{
  const weir_cli *const cli = j->cli;
  const qt_scores *s = &e->scores;
  weir_table table = {0};
  weir_status status = WEIR_OK;

  make_table(e, &table);
  WEIR_TRY_GOTO(table.status, done);
  weir_event("eval_end", WEIR_INT("energies", s->compared), WEIR_INT("near_steps", s->near_steps),
             WEIR_INT("outside", s->outside), WEIR_REAL("bias", s->bias), WEIR_REAL("mae", s->mae),
             WEIR_REAL("rmse", s->rmse), WEIR_REAL("max_error", s->max_error),
             WEIR_REAL("max_error_at_eV", s->max_at));
  WEIR_TRY_GOTO(qt_write_provenance(j), done);
  WEIR_TRY_GOTO(weir_table_write_csv(&table, cli->out, "scores.csv", COLUMNS, head), done);
  WEIR_TRY_GOTO(write_page(e, &table, cli->out), done);
  weir_table_print(&table, COLUMNS, head, stdout);
  printf("report: %s/report.html\n", cli->out);
done:
  weir_table_fini(&table);
  return status;
}

static weir_status eval(weir_job *j)
{
  const qt_cfg *const cfg = j->cfg;
  evaluation e = {.opts = &cfg->eval};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(qt_begin(j, "eval"), done);
  WEIR_TRY_GOTO(evaluate(&e), done);
  WEIR_TRY_GOTO(weir_run_dir_commit(&j->dir), done);
  WEIR_TRY_GOTO(write_results(j, &e), done);
  weir_run_dir_keep(); /* the scores, where they are too large, too */
  status = check(&e);
done:
  qt_curve_fini(&e.result);
  qt_curve_fini(&e.reference);
  weir_free(&e.difference);
  return status;
}

weir_status qt_cmd_eval(const weir_cli *cli)
{
  qt_cfg cfg;

  return weir_job_run(cli, &qt_program, &cfg, eval);
}
