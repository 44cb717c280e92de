/* loading_page.c - see loading_page.h. */
#include "loading/loading_page.h"
#include <stdio.h>
#include "base/weir_alloc.h"

enum { COLUMNS = 11, MAX_POLICIES = 16 };
static const char *const head[COLUMNS] = {"policy",
                                          "workers",
                                          "time (s)",
                                          "time over that without stalls",
                                          "stalled (%)",
                                          "from memory (%)",
                                          "from directory (%)",
                                          "from other workers (%)",
                                          "from source (%)",
                                          "samples a worker accesses (%)",
                                          "samples any worker accesses (%)"};

/* format: of a number. */
static void make_rows(const cf_loading *s, const char *format, weir_table *out)
{
  for (int i = 0; i < s->n; i++) {
    const weir_load_simulated *const r = &s->row[i].result;
    double all = 0;

    for (int k = 0; k < WEIR_LOAD_TIERS; k++) {
      all += (double)r->from[k];
    }
    const double cells[] = {r->seconds,
                            r->seconds / r->bound_s,
                            100 * r->stalled_s / (r->seconds - r->staged_s),
                            100 * (double)r->from[WEIR_LOAD_MEMORY] / all,
                            100 * (double)r->from[WEIR_LOAD_DIRECTORY] / all,
                            100 * (double)r->from[WEIR_LOAD_REMOTE] / all,
                            100 * (double)r->from[WEIR_LOAD_SOURCE] / all,
                            100 * r->touched,
                            100 * r->reached};

    weir_table_add(out, "%s", weir_load_policy_name(s->row[i].policy));
    weir_table_add(out, "%lld", (long long)s->row[i].workers);
    for (size_t k = 0; k < sizeof cells / sizeof cells[0]; k++) {
      weir_table_add_number(out, format, cells[k], "nan");
    }
  }
}

void cf_loading_print(const cf_loading *s, FILE *out)
{
  weir_table rows = {0};

  make_rows(s, "%.4g", &rows);
  weir_table_print(&rows, COLUMNS, head, out);
  weir_table_fini(&rows);
}

/* ---- The page ---- */

static double slowdown_of(const weir_load_simulated *r)
{
  return r->seconds / r->bound_s;
}

static double source_of(const weir_load_simulated *r)
{
  double all = 0;

  for (int k = 0; k < WEIR_LOAD_TIERS; k++) {
    all += (double)r->from[k];
  }
  return 100 * (double)r->from[WEIR_LOAD_SOURCE] / all;
}

static const struct plot {
  const char *name, *title, *y;
  double (*value)(const weir_load_simulated *r);
} plots[] = {
    {"slowdown", "Time of the training", "time over that without stalls", slowdown_of},
    {"source", "Accesses of the source", "accesses from the source (%)", source_of},
};

/* A line for each policy over the number of workers. values: [2, n], scratch. */
static weir_status add_plot(weir_report *r, const cf_loading *s, const struct plot *p,
                            double *values)
{
  weir_figure_series series[MAX_POLICIES];
  double *const x = values, *const y = x + s->n;
  int lines = 0;

  for (int i = 0; i < s->n; i++) {
    const cf_loading_row *const row = &s->row[i];

    x[i] = (double)row->workers;
    y[i] = p->value(&row->result);
    if (i > 0 && row->policy == s->row[i - 1].policy) {
      series[lines - 1].n++;
    } else if (lines < MAX_POLICIES) {
      series[lines++] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                             .name = weir_load_policy_name(row->policy),
                                             .n = 1,
                                             .x = x + i,
                                             .y = y + i};
    }
  }
  return weir_report_figure(r, p->name,
                            &(weir_figure){.title = p->title,
                                           .x_label = "workers",
                                           .y_label = p->y,
                                           .series = series,
                                           .n_series = lines,
                                           .log_x = true,
                                           .empty = "nothing was simulated"});
}

static void add_speed(weir_table *t, const char *name, const char *of, const weir_real_list *speed)
{
  char text[512] = "";
  size_t at = 0;

  for (int64_t i = 0; i + 1 < speed->count && at < sizeof text; i += 2) {
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%g %s: %g", i > 0 ? ", " : "",
                           speed->items[i], of, speed->items[i + 1]);
  }
  weir_table_add_pair(t, name, "%s", text);
}

static weir_status add_settings(weir_report *r, const cf_loading *s)
{
  const weir_load_simulation *const o = &s->of;
  const weir_load_cfg *const c = s->load;
  weir_table t = {0};

  weir_table_add_count_pair(&t, "samples", o->samples);
  weir_table_add_count_pair(&t, "bytes of a sample", o->sample_bytes);
  weir_table_add_count_pair(&t, "epochs", o->epochs);
  weir_table_add_count_pair(&t, "batch of a worker", o->batch);
  weir_table_add_real_pair(&t, "computation (MB/s)", o->compute_speed);
  weir_table_add_real_pair(&t, "preprocessing of a thread (MB/s; 0: no time)", o->preprocess_speed);
  weir_table_add_real_pair(&t, "network between two workers (MB/s)", o->network_speed);
  weir_table_add_pair(&t, "staging buffer", "%lld bytes, %lld threads", (long long)c->staging.bytes,
                      (long long)c->staging.threads);
  weir_table_add_pair(&t, "memory of a worker", "%lld bytes", (long long)c->memory.bytes);
  weir_table_add_pair(&t, "directory of a worker", "%lld bytes", (long long)c->directory.bytes);
  add_speed(&t, "memory (MB/s)", "threads", &c->memory.speed);
  add_speed(&t, "directory (MB/s)", "threads", &c->directory.speed);
  add_speed(&t, "source (MB/s)", "readers", &c->source.speed);
  weir_table_add_pair(&t, "speed of a reader of the source", "%s",
                      o->source_per_thread ? "of each staging thread (as in the paper)"
                                           : "shared by the staging threads of a worker");
  return weir_table_report_pairs(&t, r, "settings");
}

static weir_status add_policies(weir_report *r, const cf_loading *s)
{
  static const char *const columns[] = {"policy", "where samples are"};
  weir_table t = {0};

  for (int i = 0; i < s->n; i++) {
    if (i == 0 || s->row[i].policy != s->row[i - 1].policy) {
      weir_table_add(&t, "%s", weir_load_policy_name(s->row[i].policy));
      weir_table_add(&t, "%s", weir_load_policy_help(s->row[i].policy));
    }
  }
  const weir_status status = weir_table_report(&t, r, "policies", 2, columns);

  weir_table_fini(&t);
  return status;
}

static weir_status fill_page(weir_report *r, const cf_loading *s, double *values)
{
  weir_table rows = {0};

  make_rows(s, "%.4g", &rows);
  weir_status status = weir_table_report(&rows, r, "loading", COLUMNS, head);

  weir_table_fini(&rows);
  WEIR_TRY(status);
  for (size_t k = 0; k < sizeof plots / sizeof plots[0]; k++) {
    WEIR_TRY(add_plot(r, s, &plots[k], values));
  }
  WEIR_TRY(weir_report_text(
      r,
      "Each worker follows the order of samples of a training with this loader, by the performance "
      "model of Dryden et al. (SC'21, arXiv:2101.08734, section 4); no sample was read. Time "
      "without stalls: the computation alone. Workers do not wait for one another at the end of a "
      "step, samples have one size, a tier has no time of writing, and threads that fill tiers "
      "ahead of the staging buffer are left out. Under sharding a worker trains on its own samples "
      "alone, and on those it can store."));
  WEIR_TRY(add_policies(r, s));
  return add_settings(r, s);
}

weir_status cf_loading_write(const cf_loading *s, const char *dir)
{
  weir_table rows = {0};
  double *values = NULL;
  weir_report *r = NULL;
  weir_status status = WEIR_OK;

  make_rows(s, "%.9g", &rows);
  WEIR_TRY_GOTO(weir_table_write_csv(&rows, dir, "loading.csv", COLUMNS, head), done);
  WEIR_TRY_GOTO(weir_alloc(2 * (int64_t)s->n, sizeof *values, (void **)&values), done);
  WEIR_TRY_GOTO(weir_report_open(dir, "cosmoflow: loading of samples", &r), done);
  status = weir_report_commit(&r, fill_page(r, s, values));
done:
  weir_table_fini(&rows);
  weir_free(&values);
  return status;
}
