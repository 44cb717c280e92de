/* tuning.c - see weir_load_tuning.h. */
#include "load/weir_load_tuning.h"
#include <math.h>
#include <stdlib.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "load/load_priv.h"

enum { STAGINGS = 4, MEMORIES = 7, DIRECTORIES = 6, QUARTERS = 4 };

/* The grid. Capacities in samples. */
typedef struct grid {
  const weir_load_cfg *load;
  const weir_load_simulation *s;
  const weir_load_limits *limits;
  int64_t workers, memory, directory; /* limits */
  weir_load_setting *item;
  int64_t n;
} grid;

weir_load_cfg weir_load_cfg_of(const weir_load_cfg *load, const weir_load_setting *setting)
{
  weir_load_cfg c = *load;

  c.staging.bytes = setting->staging_bytes;
  c.staging.threads = setting->threads;
  c.memory.bytes = setting->memory_bytes;
  c.memory.threads = 0;
  c.directory.bytes = setting->directory_bytes;
  c.directory.threads = 0;
  c.remote = setting->remote ? WEIR_LOAD_AUTO : WEIR_LOAD_OFF;
  return c;
}

/* ---- The grid ---- */

/* Adds a value that is not in the list yet. */
static int add(int64_t *list, int n, int64_t value)
{
  for (int i = 0; i < n; i++) {
    if (list[i] == value) {
      return n;
    }
  }
  list[n] = value;
  return n + 1;
}

/* Capacities of a tier: none, quarters of the data set, `share` and the limit. Returns their
 * number. */
static int capacities(const grid *g, int64_t limit, int64_t share, int64_t *list)
{
  const int64_t all = g->s->samples;
  int n = add(list, 0, 0);

  if (share <= limit) {
    n = add(list, n, share);
  }
  for (int64_t k = 1; k <= QUARTERS; k++) {
    const int64_t some = (all * k + QUARTERS - 1) / QUARTERS;

    if (some <= limit) {
      n = add(list, n, some);
    }
  }
  return limit < all && limit > 0 ? add(list, n, limit) : n;
}

/* One with these capacities, for each number of threads. A tier that the loader does not use with
 * so many threads (load_pays) is that of a smaller setting. */
static void add_threads(grid *g, int64_t staging, int64_t memory, int64_t directory, bool remote)
{
  const int64_t bytes = g->s->sample_bytes;

  for (int64_t i = 0; i < g->limits->threads.count; i++) {
    weir_load_setting x = {.threads = g->limits->threads.items[i],
                           .staging_bytes = staging * bytes,
                           .memory_bytes = memory * bytes,
                           .directory_bytes = directory * bytes,
                           .received_bytes = remote ? 2 * g->s->batch * bytes : 0,
                           .remote = remote};
    const weir_load_cfg c = weir_load_cfg_of(g->load, &x);

    if ((memory == 0 || load_pays(&c, g->workers, &c.memory.speed)) &&
        (directory == 0 || load_pays(&c, g->workers, &c.directory.speed))) {
      g->item[g->n++] = x;
    }
  }
}

/* Those with a staging buffer of so many samples. */
static void add_settings(grid *g, int64_t staging, bool remote)
{
  const int64_t received = remote ? 2 * g->s->batch : 0;
  const int64_t left = g->memory - staging - received;
  int64_t memory[MEMORIES], directory[DIRECTORIES];
  const int memories = capacities(g, left, (g->s->samples - 1) / g->workers + 1, memory);
  const int directories = capacities(g, g->directory, g->s->samples, directory);

  for (int m = remote ? 1 : 0; m < memories; m++) {
    for (int d = 0; d < directories; d++) {
      add_threads(g, staging, memory[m], directory[d], remote);
    }
  }
}

static int64_t memory_of(const weir_load_setting *x)
{
  return x->staging_bytes + x->memory_bytes + x->received_bytes;
}

static int compare(int64_t a, int64_t b)
{
  return a < b ? -1 : a > b;
}

static int by_requirement(const void *a, const void *b)
{
  const weir_load_setting *const x = a, *const y = b;
  int order = compare(memory_of(x), memory_of(y));

  order = order != 0 ? order : compare(x->directory_bytes, y->directory_bytes);
  order = order != 0 ? order : compare(x->threads, y->threads);
  order = order != 0 ? order : (int)x->remote - (int)y->remote;
  return order != 0 ? order : compare(x->memory_bytes, y->memory_bytes);
}

static weir_status make_grid(grid *g)
{
  const int64_t most = 2 * STAGINGS * MEMORIES * DIRECTORIES * g->limits->threads.count;
  const bool network = g->workers > 1 && g->s->network_speed > 0;
  int64_t staging[STAGINGS];
  int stagings = 0;

  WEIR_TRY(weir_alloc(most, sizeof *g->item, (void **)&g->item));
  for (int k = 0; k < STAGINGS; k++) {
    const int64_t some = g->s->batch << (k + 1);

    stagings = add(staging, stagings, some < g->memory ? some : g->memory);
  }
  for (int k = 0; k < stagings; k++) {
    add_settings(g, staging[k], false);
    if (network) {
      add_settings(g, staging[k], true);
    }
  }
  qsort(g->item, (size_t)g->n, sizeof *g->item, by_requirement);
  return WEIR_OK;
}

/* ---- The choice ---- */

static bool is_within(const weir_load_setting *x, double seconds)
{
  return x->predicted.seconds <= seconds * (1 + WEIR_LOAD_TIE);
}

/* Simulates settings until one is as fast as the computation alone; returns the number of those
 * that were, of which the last one is it, or where there is none all. */
static weir_status simulate(grid *g, int64_t *chosen, int64_t *simulated)
{
  const int policy = weir_load_policy("weir");
  double least = INFINITY;

  *chosen = -1;
  for (int64_t i = 0; i < g->n && *chosen < 0; i++) {
    weir_load_setting *const x = &g->item[i];
    const weir_load_cfg c = weir_load_cfg_of(g->load, x);

    WEIR_TRY(weir_load_simulate(&c, g->s, policy, g->workers, &x->predicted));
    least = fmin(least, x->predicted.seconds);
    *simulated = i + 1;
    weir_progress("tune", i + 1, g->n, "settings");
    *chosen = is_within(x, x->predicted.bound_s) ? i : -1;
  }
  for (int64_t i = 0; i < g->n && *chosen < 0; i++) {
    *chosen = is_within(&g->item[i], least) ? i : -1;
  }
  return WEIR_OK;
}

static weir_status check(grid *g)
{
  const weir_load_limits *const o = g->limits;
  const weir_load_cfg one = weir_load_cfg_of(
      g->load, &(weir_load_setting){.threads = 1, .staging_bytes = g->s->sample_bytes});
  weir_load_simulation s = *g->s;

  s.workers = (weir_int_list){.items = &g->workers, .count = 1};
  WEIR_TRY(weir_load_simulation_check(&one, &s));
  if (o->directory_bytes >= s.sample_bytes && g->load->directory.speed.count == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "load.directory.speed: is empty: let tune measure it");
  }
  if (o->memory_bytes < s.sample_bytes) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "the limit of memory, %lld bytes, is below a sample (%lld bytes): increase it",
                     (long long)o->memory_bytes, (long long)s.sample_bytes);
  }
  for (int64_t i = 0; i < o->threads.count; i++) {
    if (o->threads.items[i] < 1) {
      return weir_fail(WEIR_ERR_CONFIG, "a number of threads is below 1");
    }
  }
  return o->threads.count > 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG, "the list of numbers of threads is empty");
}

static void set_choice(const grid *g, int64_t chosen, weir_load_choice *out)
{
  out->best = g->item[chosen];
  out->unstalled = is_within(&out->best, out->best.predicted.bound_s);
  out->before = chosen;
  out->settings = g->n;
  for (int64_t i = 0; i < chosen; i++) {
    if (i == 0 || g->item[i].predicted.seconds < out->smaller.predicted.seconds) {
      out->smaller = g->item[i];
    }
  }
}

weir_status weir_load_choose(const weir_load_cfg *load, const weir_load_simulation *s,
                             int64_t workers, const weir_load_limits *limits, weir_load_choice *out)
{
  grid g = {.load = load, .s = s, .limits = limits, .workers = workers};
  int64_t chosen = -1;
  weir_status status = WEIR_OK;

  *out = (weir_load_choice){.before = 0};
  WEIR_TRY(check(&g));
  g.memory = limits->memory_bytes / s->sample_bytes;
  g.directory = limits->directory_bytes / s->sample_bytes;
  WEIR_TRY_GOTO(make_grid(&g), done);
  WEIR_TRY_GOTO(simulate(&g, &chosen, &out->simulated), done);
  set_choice(&g, chosen, out);
done:
  weir_free(&g.item);
  return status;
}
