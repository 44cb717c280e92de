/* compare_rows.c - see compare_rows.h. */
#include "app/compare_rows.h"
#include <math.h>
#include <string.h>

/* Whether the point is the last one of its run. */
static bool is_last(const weir_compared *c, int64_t i)
{
  return i + 1 == c->n_points || c->point[i + 1].row != c->point[i].row ||
         c->point[i + 1].run != c->point[i].run;
}

static void take_last(weir_compared *c, int k)
{
  weir_compared_row *const r = &c->row[k];
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

static void take_target(weir_compared *c)
{
  int best = 0;

  for (int k = 0; k < c->n; k++) {
    best = strcmp(c->row[k].policy->name, "allreduce") == 0 ? k : best;
  }
  if (c->target == 0 && c->n > 0) {
    c->target = c->row[best].loss + (c->runs > 1 ? c->row[best].loss_std : 0);
    c->target_of = c->row[best].policy->name;
  }
}

/* When each run has a loss of at most the target for the first time. */
static void take_times(weir_compared *c, int k)
{
  weir_compared_row *const r = &c->row[k];
  int done = -1;

  r->reached = 0;
  r->reach_s = r->reach_step = 0;
  for (int64_t i = 0; i < c->n_points; i++) {
    const weir_compared_point *const p = &c->point[i];

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

static void take_waiting(weir_compared *c, int k)
{
  double computed = 0, seconds = 0;

  for (int64_t i = 0; i < c->n_ranks; i++) {
    computed += c->rank[i].row == k ? c->rank[i].computed_s : 0;
    seconds += c->rank[i].row == k ? c->rank[i].seconds : 0;
  }
  c->row[k].waiting = seconds > 0 ? 1 - computed / seconds : 0;
}

void app_compare_summarize(weir_compared *c)
{
  for (int k = 0; k < c->n; k++) {
    take_last(c, k);
    take_waiting(c, k);
  }
  take_target(c);
  for (int k = 0; k < c->n; k++) {
    take_times(c, k);
  }
}
