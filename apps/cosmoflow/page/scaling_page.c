/* scaling_page.c - see scaling_page.h. */
#include "page/scaling_page.h"
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"

enum { COLUMNS = 12, SIMULATED = 10, MAX_POLICIES = 32 };
static const char *const head[COLUMNS] = {"policy",
                                          "ranks",
                                          "time per step (s)",
                                          "smallest of the runs (s)",
                                          "largest of the runs (s)",
                                          "slowest rank (s)",
                                          "speed-up over allreduce",
                                          "waiting per step (s)",
                                          "bytes sent per step",
                                          "fresh fraction",
                                          "measured time per step (s)",
                                          "predicted / measured - 1 (%)"};

static int columns_of(const cf_scaling *s)
{
  return s->measured ? COLUMNS : SIMULATED;
}

/* format: of a number. */
static void make_rows(const cf_scaling *s, const char *format, weir_table *out)
{
  for (int i = 0; i < s->n; i++) {
    const cf_scaling_row *r = &s->row[i];
    const double cells[] = {r->mean.step_s,
                            r->lo,
                            r->hi,
                            r->mean.slowest_s,
                            r->speedup,
                            r->mean.waited_s,
                            r->mean.sent_bytes,
                            r->mean.fresh,
                            r->measured,
                            100 * (r->mean.step_s / r->measured - 1)};

    weir_table_add(out, "%s", r->policy->name);
    weir_table_add(out, "%d", r->ranks);
    for (int k = 0; k < columns_of(s) - 2; k++) {
      weir_table_add_number(out, format, cells[k], "nan");
    }
  }
}

void cf_scaling_print(const cf_scaling *s, FILE *out)
{
  weir_table rows = {0};

  make_rows(s, "%.4g", &rows);
  weir_table_print(&rows, columns_of(s), head, out);
  weir_table_fini(&rows);
}

/* ---- The page ---- */

typedef double (*value_of)(const cf_scaling_row *r);

static double step_of(const cf_scaling_row *r)
{
  return r->mean.step_s;
}

static double speedup_of(const cf_scaling_row *r)
{
  return r->speedup;
}

static double bytes_of(const cf_scaling_row *r)
{
  return r->mean.sent_bytes > 0 ? r->mean.sent_bytes : (double)NAN;
}

static double fresh_of(const cf_scaling_row *r)
{
  return r->mean.fresh;
}

static const struct plot {
  const char *name, *title, *y;
  value_of value;
  bool log_y, band;
} plots[] = {
    {"step", "Time per step", "time per step (s)", step_of, false, true},
    {"speedup", "Speed-up", "speed-up over allreduce", speedup_of, false, false},
    {"bytes", "Bytes", "bytes a rank sends per step", bytes_of, true, false},
    {"fresh", "Contributions in time", "fraction of contributions in the exchange of their step",
     fresh_of, false, false},
};

/* A line for each policy over the number of ranks. values: [4, n], scratch. */
static weir_status add_plot(weir_report *r, const cf_scaling *s, const struct plot *p,
                            double *values)
{
  weir_figure_series series[MAX_POLICIES];
  double *const x = values, *const y = x + s->n, *const lo = y + s->n, *const hi = lo + s->n;
  int lines = 0;

  for (int i = 0; i < s->n; i++) {
    const cf_scaling_row *const row = &s->row[i];

    x[i] = row->ranks;
    y[i] = p->value(row);
    lo[i] = row->lo;
    hi[i] = row->hi;
    if (i > 0 && row->policy == s->row[i - 1].policy) {
      series[lines - 1].n++;
    } else if (lines < MAX_POLICIES) {
      series[lines++] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                             .name = row->policy->name,
                                             .n = 1,
                                             .x = x + i,
                                             .y = y + i,
                                             .lo = p->band ? lo + i : NULL,
                                             .hi = p->band ? hi + i : NULL};
    }
  }
  return weir_report_figure(r, p->name,
                            &(weir_figure){.title = p->title,
                                           .x_label = "ranks",
                                           .y_label = p->y,
                                           .series = series,
                                           .n_series = lines,
                                           .log_x = true,
                                           .log_y = p->log_y,
                                           .empty = "nothing was simulated"});
}

static weir_status add_settings(weir_report *r, const cf_scaling *s)
{
  static const char *const families[] = {"none", "fixed", "random", "tail", "slow", "bursts"};
  _Static_assert(sizeof families / sizeof *families == WEIR_IMBALANCE_BURSTS + 1, "all families");
  const weir_scaling_cfg *const c = &s->cfg;
  const weir_network *const n = &c->network;
  weir_table t = {0};

  weir_table_add_real_pair(&t, "bytes of gradient or weights", (double)c->bytes);
  weir_table_add_real_pair(&t, "computing time per step (s)", c->compute_s);
  weir_table_add_pair(&t, "delays", "%s", families[c->imbalance.family]);
  weir_table_add_count_pair(&t, "delayed ranks", c->imbalance.ranks);
  weir_table_add_real_pair(&t, "delay (s)", c->imbalance.delay_s);
  weir_table_add_pair(&t, "delay of tail (s)", "exp(%g + %g N), at most %g", c->imbalance.mu,
                      c->imbalance.sigma, c->imbalance.max_s);
  weir_table_add_pair(&t, "network", "%s", s->network);
  weir_table_add_real_pair(&t, "latency L (s)", n->latency);
  weir_table_add_real_pair(&t, "overhead o (s)", n->overhead);
  weir_table_add_real_pair(&t, "gap g (s)", n->gap);
  weir_table_add_real_pair(&t, "bandwidth 1 / G (bytes/s)", n->link_bw);
  weir_table_add_real_pair(&t, "overhead O (s/byte)", n->overhead_per_byte);
  weir_table_add_real_pair(&t, "eager up to S (bytes)", n->eager_max_bytes);
  weir_table_add_real_pair(&t, "reduction (bytes/s)", n->reduce_bw);
  weir_table_add_count_pair(&t, "steps of a run", c->steps);
  weir_table_add_count_pair(&t, "runs", c->runs);
  return weir_table_report_pairs(&t, r, "settings");
}

static weir_status fill_page(weir_report *r, const cf_scaling *s, double *values)
{
  weir_table rows = {0};

  WEIR_TRY(add_settings(r, s));
  WEIR_TRY(weir_report_text(
      r,
      "Each policy was run on so many simulated ranks: computations are waiting times, messages "
      "take their time by the LogGOPS model, without contention between pairs of ranks. Time per "
      "step: mean over ranks; in runs whose ranks never wait for one another the slowest rank "
      "takes longer. Bands: smallest and largest of the runs."));
  for (size_t k = 0; k < sizeof plots / sizeof plots[0]; k++) {
    WEIR_TRY(add_plot(r, s, &plots[k], values));
  }
  make_rows(s, "%.4g", &rows);
  const weir_status status = weir_table_report(&rows, r, "scaling", columns_of(s), head);

  weir_table_fini(&rows);
  return status;
}

weir_status cf_scaling_write(const cf_scaling *s, const char *dir)
{
  weir_table rows = {0};
  double *values = NULL;
  weir_report *r = NULL;
  weir_status status = WEIR_OK;

  make_rows(s, "%.9g", &rows);
  WEIR_TRY_GOTO(weir_table_write_csv(&rows, dir, "scaling.csv", columns_of(s), head), done);
  WEIR_TRY_GOTO(weir_alloc(4 * (int64_t)s->n, sizeof *values, (void **)&values), done);
  WEIR_TRY_GOTO(weir_report_open(dir, "cosmoflow: steps on many ranks", &r), done);
  status = weir_report_commit(&r, fill_page(r, s, values));
done:
  weir_table_fini(&rows);
  weir_free(&values);
  return status;
}
