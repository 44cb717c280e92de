/* compare_page.c - tables and page of weir_compare.h. */
#include "app/weir_compare.h"
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"
#include "report/weir_report.h"

enum { COLUMNS = 11, POINT_COLUMNS = 6, RANK_COLUMNS = 6, MAX_POLICIES = 32 };
static const char *const head[COLUMNS] = {"policy",
                                          "ranks",
                                          "validation loss",
                                          "std of the runs",
                                          "training (s)",
                                          "runs that reach the target",
                                          "time to the target (s)",
                                          "steps to the target",
                                          "contributions in time",
                                          "bytes sent per step",
                                          "waiting"};
static const char *const point_head[POINT_COLUMNS] = {"policy", "ranks",    "run",
                                                      "step",   "time (s)", "validation loss"};
static const char *const rank_head[RANK_COLUMNS] = {"policy", "ranks",         "run",
                                                    "rank",   "computing (s)", "training (s)"};

/* ---- Tables ---- */

/* format: of a number. */
static void make_rows(const weir_compared *c, const char *format, weir_table *out)
{
  for (int k = 0; k < c->n; k++) {
    const weir_compared_row *const r = &c->row[k];

    weir_table_add(out, "%s", r->policy->name);
    weir_table_add(out, "%d", r->ranks);
    weir_table_add_number(out, format, r->loss, "nan");
    weir_table_add_number(out, format, r->loss_std, "nan");
    weir_table_add_number(out, format, r->seconds, "nan");
    weir_table_add(out, "%lld", (long long)r->reached);
    weir_table_add_number(out, format, r->reach_s, "nan");
    weir_table_add_number(out, format, r->reach_step, "nan");
    weir_table_add_number(out, format, r->in_time, "nan");
    weir_table_add_number(out, format, r->sent_bytes, "nan");
    weir_table_add_number(out, format, r->waiting, "nan");
  }
}

static void make_points(const weir_compared *c, weir_table *out)
{
  for (int64_t i = 0; i < c->n_points; i++) {
    const weir_compared_point *const p = &c->point[i];

    weir_table_add(out, "%s", c->row[p->row].policy->name);
    weir_table_add(out, "%d", c->row[p->row].ranks);
    weir_table_add(out, "%d", p->run);
    weir_table_add(out, "%lld", (long long)p->step);
    weir_table_add_number(out, "%.9g", p->seconds, "nan");
    weir_table_add_number(out, "%.9g", p->loss, "nan");
  }
}

static void make_ranks(const weir_compared *c, weir_table *out)
{
  for (int64_t i = 0; i < c->n_ranks; i++) {
    const weir_compared_rank *const r = &c->rank[i];

    weir_table_add(out, "%s", c->row[r->row].policy->name);
    weir_table_add(out, "%d", c->row[r->row].ranks);
    weir_table_add(out, "%d", r->run);
    weir_table_add(out, "%d", r->rank);
    weir_table_add_number(out, "%.9g", r->computed_s, "nan");
    weir_table_add_number(out, "%.9g", r->seconds, "nan");
  }
}

void weir_compared_print(const weir_compared *c, FILE *out)
{
  weir_table rows = {0};

  make_rows(c, "%.4g", &rows);
  weir_table_print(&rows, COLUMNS, head, out);
  weir_table_fini(&rows);
}

/* ---- The page ---- */

/* Mean time and loss of each validation of a row, and the range of the losses; returns how many. */
static int64_t make_line(const weir_compared *c, int k, double *x, double *y, double *lo,
                         double *hi)
{
  int64_t n = 0;

  for (int64_t i = 0; i < c->n_points; i++) {
    const weir_compared_point *const p = &c->point[i];

    if (p->row != k) {
      continue;
    }
    if (p->index == n) {
      x[n] = y[n] = 0;
      lo[n] = INFINITY;
      hi[n++] = -INFINITY;
    }
    x[p->index] += p->seconds / (double)c->runs;
    y[p->index] += p->loss / (double)c->runs;
    lo[p->index] = fmin(lo[p->index], p->loss);
    hi[p->index] = fmax(hi[p->index], p->loss);
  }
  return n;
}

/* A line for each policy on so many ranks. values: [4, n_points], scratch. */
static weir_status add_losses(weir_report *r, const weir_compared *c, int ranks, double *values)
{
  weir_figure_series series[MAX_POLICIES];
  double *x = values, *y = x + c->n_points, *lo = y + c->n_points, *hi = lo + c->n_points;
  char name[32], title[96];
  int lines = 0;

  for (int k = 0; k < c->n && lines < MAX_POLICIES; k++) {
    if (c->row[k].ranks != ranks) {
      continue;
    }
    const int64_t n = make_line(c, k, x, y, lo, hi);

    series[lines++] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                           .name = c->row[k].policy->name,
                                           .n = n,
                                           .x = x,
                                           .y = y,
                                           .lo = c->runs > 1 ? lo : NULL,
                                           .hi = c->runs > 1 ? hi : NULL};
    x += n;
    y += n;
    lo += n;
    hi += n;
  }
  (void)snprintf(name, sizeof name, "loss_%d", ranks);
  (void)snprintf(title, sizeof title, "Validation loss on %d ranks", ranks);
  return weir_report_figure(r, name,
                            &(weir_figure){.title = title,
                                           .x_label = "simulated time (s)",
                                           .y_label = "validation loss",
                                           .series = series,
                                           .n_series = lines,
                                           .empty = "nothing was trained"});
}

static weir_status fill_page(weir_report *r, const weir_compared *c, const char *step,
                             double *values)
{
  weir_table rows = {0};

  WEIR_TRY(weir_report_text(
      r,
      "The network was trained for real under each policy, on simulated ranks: a step %s, "
      "messages take their time by the LogGOPS model, validations none. Lines: means of %lld runs "
      "with other seeds; bands: their smallest and largest loss.",
      step, (long long)c->runs));
  WEIR_TRY(weir_report_text(r, "Target: a validation loss of %.4g%s%s%s.", c->target,
                            c->target_of != NULL ? ", the mean with which " : "",
                            c->target_of != NULL ? c->target_of : "",
                            c->target_of == NULL ? ""
                            : c->runs > 1        ? " ends and one standard deviation"
                                                 : " ends"));
  for (int64_t i = 0; i < c->ranks.count; i++) {
    WEIR_TRY(add_losses(r, c, (int)c->ranks.items[i], values));
  }
  make_rows(c, "%.4g", &rows);
  const weir_status status = weir_table_report(&rows, r, "compare", COLUMNS, head);

  weir_table_fini(&rows);
  return status;
}

weir_status weir_compared_write(const weir_compared *c, const char *title, const char *step,
                                const char *dir)
{
  weir_table rows = {0}, points = {0}, ranks = {0};
  double *values = NULL;
  weir_report *r = NULL;
  weir_status status = WEIR_OK;

  make_rows(c, "%.9g", &rows);
  make_points(c, &points);
  make_ranks(c, &ranks);
  WEIR_TRY_GOTO(weir_table_write_csv(&rows, dir, "compare.csv", COLUMNS, head), done);
  WEIR_TRY_GOTO(weir_table_write_csv(&points, dir, "losses.csv", POINT_COLUMNS, point_head), done);
  WEIR_TRY_GOTO(weir_table_write_csv(&ranks, dir, "computing.csv", RANK_COLUMNS, rank_head), done);
  WEIR_TRY_GOTO(weir_alloc(4 * c->n_points, sizeof *values, (void **)&values), done);
  WEIR_TRY_GOTO(weir_report_open(dir, title, &r), done);
  status = weir_report_commit(&r, fill_page(r, c, step, values));
done:
  weir_table_fini(&rows);
  weir_table_fini(&points);
  weir_table_fini(&ranks);
  weir_free(&values);
  return status;
}
