/* compare_page.c - see compare_page.h. */
#include "page/compare_page.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"

enum { COLUMNS = 10, POINT_COLUMNS = 6, MAX_POLICIES = 32 };
static const char *const head[COLUMNS] = {"policy",
                                          "ranks",
                                          "validation loss",
                                          "std of the runs",
                                          "training (s)",
                                          "runs that reach the target",
                                          "time to the target (s)",
                                          "steps to the target",
                                          "contributions in time",
                                          "bytes sent per step"};
static const char *const point_head[POINT_COLUMNS] = {"policy", "ranks",    "run",
                                                      "step",   "time (s)", "validation loss"};

/* ---- Numbers ---- */

/* Whether the point is the last one of its run. */
static bool is_last(const cf_compared *c, int64_t i)
{
  return i + 1 == c->n_points || c->point[i + 1].row != c->point[i].row ||
         c->point[i + 1].run != c->point[i].run;
}

static void take_last(cf_compared *c, int k)
{
  cf_compared_row *const r = &c->row[k];
  double sum = 0, squares = 0, n = 0;

  r->seconds = 0;
  for (int64_t i = 0; i < c->n_points; i++) {
    if (c->point[i].row == k && is_last(c, i)) {
      sum += c->point[i].loss;
      r->seconds += c->point[i].seconds;
      n++;
    }
  }
  r->loss = sum / n;
  r->seconds /= n;
  for (int64_t i = 0; i < c->n_points; i++) {
    if (c->point[i].row == k && is_last(c, i)) {
      squares += (c->point[i].loss - r->loss) * (c->point[i].loss - r->loss);
    }
  }
  r->loss_std = n > 1 ? sqrt(squares / (n - 1)) : (double)NAN;
}

static void take_target(cf_compared *c)
{
  int best = 0;

  for (int k = 0; k < c->n; k++) {
    best = strcmp(c->row[k].policy->name, "allreduce") == 0 ? k : best;
  }
  if (c->target == 0 && c->n > 0) {
    c->target = c->row[best].loss + (c->cfg.runs > 1 ? c->row[best].loss_std : 0);
    c->target_of = c->row[best].policy->name;
  }
}

/* When each run has a loss of at most the target for the first time. */
static void take_times(cf_compared *c, int k)
{
  cf_compared_row *const r = &c->row[k];
  int done = -1;

  r->reached = 0;
  r->reach_s = r->reach_step = 0;
  for (int64_t i = 0; i < c->n_points; i++) {
    const cf_compared_point *const p = &c->point[i];

    if (p->row == k && p->run != done && p->loss <= c->target) {
      done = p->run;
      r->reached++;
      r->reach_s += p->seconds;
      r->reach_step += (double)p->step;
    }
  }
  r->reach_s = r->reached > 0 ? r->reach_s / (double)r->reached : (double)NAN;
  r->reach_step = r->reached > 0 ? r->reach_step / (double)r->reached : (double)NAN;
}

void cf_compared_summarize(cf_compared *c)
{
  for (int k = 0; k < c->n; k++) {
    take_last(c, k);
  }
  take_target(c);
  for (int k = 0; k < c->n; k++) {
    take_times(c, k);
  }
}

/* ---- Tables ---- */

/* format: of a number. */
static void make_rows(const cf_compared *c, const char *format, weir_table *out)
{
  for (int k = 0; k < c->n; k++) {
    const cf_compared_row *const r = &c->row[k];

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
  }
}

static void make_points(const cf_compared *c, weir_table *out)
{
  for (int64_t i = 0; i < c->n_points; i++) {
    const cf_compared_point *const p = &c->point[i];

    weir_table_add(out, "%s", c->row[p->row].policy->name);
    weir_table_add(out, "%d", c->row[p->row].ranks);
    weir_table_add(out, "%d", p->run);
    weir_table_add(out, "%lld", (long long)p->step);
    weir_table_add_number(out, "%.9g", p->seconds, "nan");
    weir_table_add_number(out, "%.9g", p->loss, "nan");
  }
}

void cf_compared_print(const cf_compared *c, FILE *out)
{
  weir_table rows = {0};

  make_rows(c, "%.4g", &rows);
  weir_table_print(&rows, COLUMNS, head, out);
  weir_table_fini(&rows);
}

/* ---- The page ---- */

/* Mean time and loss of each validation of a row, and the range of the losses; returns how many. */
static int64_t make_line(const cf_compared *c, int k, double *x, double *y, double *lo, double *hi)
{
  int64_t n = 0;

  for (int64_t i = 0; i < c->n_points; i++) {
    const cf_compared_point *const p = &c->point[i];

    if (p->row != k) {
      continue;
    }
    if (p->index == n) {
      x[n] = y[n] = 0;
      lo[n] = INFINITY;
      hi[n++] = -INFINITY;
    }
    x[p->index] += p->seconds / (double)c->cfg.runs;
    y[p->index] += p->loss / (double)c->cfg.runs;
    lo[p->index] = fmin(lo[p->index], p->loss);
    hi[p->index] = fmax(hi[p->index], p->loss);
  }
  return n;
}

/* A line for each policy on so many ranks. values: [4, n_points], scratch. */
static weir_status add_losses(weir_report *r, const cf_compared *c, int ranks, double *values)
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
                                           .lo = c->cfg.runs > 1 ? lo : NULL,
                                           .hi = c->cfg.runs > 1 ? hi : NULL};
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

static weir_status fill_page(weir_report *r, const cf_compared *c, double *values)
{
  weir_table rows = {0};

  WEIR_TRY(weir_report_text(
      r,
      "The network was trained for real under each policy, on simulated ranks: a step takes each "
      "of them %.4g s and its delay, messages take their time by the LogGOPS model, validations "
      "none. Lines: means of %lld runs with other seeds; bands: their smallest and largest loss.",
      c->cfg.compute_s, (long long)c->cfg.runs));
  WEIR_TRY(weir_report_text(r, "Target: a validation loss of %.4g%s%s%s.", c->target,
                            c->target_of != NULL ? ", the mean with which " : "",
                            c->target_of != NULL ? c->target_of : "",
                            c->target_of == NULL ? ""
                            : c->cfg.runs > 1    ? " ends and one standard deviation"
                                                 : " ends"));
  for (int64_t i = 0; i < c->cfg.ranks.count; i++) {
    WEIR_TRY(add_losses(r, c, (int)c->cfg.ranks.items[i], values));
  }
  make_rows(c, "%.4g", &rows);
  const weir_status status = weir_table_report(&rows, r, "compare", COLUMNS, head);

  weir_table_fini(&rows);
  return status;
}

weir_status cf_compared_write(const cf_compared *c, const char *dir)
{
  weir_table rows = {0}, points = {0};
  double *values = NULL;
  weir_report *r = NULL;
  weir_status status = WEIR_OK;

  make_rows(c, "%.9g", &rows);
  make_points(c, &points);
  WEIR_TRY_GOTO(weir_table_write_csv(&rows, dir, "compare.csv", COLUMNS, head), done);
  WEIR_TRY_GOTO(weir_table_write_csv(&points, dir, "losses.csv", POINT_COLUMNS, point_head), done);
  WEIR_TRY_GOTO(weir_alloc(4 * c->n_points, sizeof *values, (void **)&values), done);
  WEIR_TRY_GOTO(weir_report_open(dir, "cosmoflow: trainings under exchange policies", &r), done);
  status = weir_report_commit(&r, fill_page(r, c, values));
done:
  weir_table_fini(&rows);
  weir_table_fini(&points);
  weir_free(&values);
  return status;
}
