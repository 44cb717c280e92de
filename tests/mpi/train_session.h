/* train_session.h - trainings of a small task on a grid of ranks, and the same on each rank alone:
 * losses of every step, weights and all that a checkpoint holds are compared. Tests only. */
#ifndef TRAIN_SESSION_H
#define TRAIN_SESSION_H
#include <math.h>
#include <stdlib.h>
#include "base/weir_log.h"
#include "support/train/ranks_check.h"
#include "support/graph/store_check.h"

enum { STEPS = 20, PATH = 512, GRIDS = 5 };

static weir_comm *comm;
static const char *folder;
static int runs; /* the same on all ranks: names of folders */

/* One training, and how it went. */
typedef struct session {
  weir_params *params;
  weir_store *store;
  weir_train_result result;
  weir_status status;
  char dir[PATH];
} session;

static inline void close_session(session *s)
{
  weir_params_destroy(&s->params);
  weir_store_destroy(&s->store);
}

/* A folder that no run has had: of all ranks together, or of one alone. */
static inline void new_dir(char *dir, bool alone)
{
  if (alone) {
    (void)snprintf(dir, PATH, "%s/run%d-rank%d", folder, runs, weir_comm_rank(comm));
  } else {
    (void)snprintf(dir, PATH, "%s/run%d", folder, runs);
  }
  runs++;
}

/* Trains on the grid of c (NULL: alone) in `dir`. */
static inline session train(weir_comm *c, const weir_grid *grid, const char *dir, volume *v,
                            int64_t n, const char *const *sets)
{
  const weir_train_task task = volume_task(v, n, 5);
  const weir_dist dist = {.comm = c, .grid = grid != NULL ? *grid : (weir_grid){.dims = 0}};
  session s = {.status = WEIR_OK};
  weir_exec_cfg exec;
  weir_config *config = NULL;
  weir_train_cfg cfg;
  char events[PATH + 16];
  int n_sets = 0;

  while (sets[n_sets] != NULL) {
    n_sets++;
  }
  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR; /* no compiler */
  const weir_plan_opts opts = {.exec = &exec, .threads = 1, .dist = c != NULL ? &dist : NULL};

  assert_ok(weir_config_load(weir_train_opts, sizeof cfg, NULL, 0, sets, n_sets, &cfg, &config));
  (void)snprintf(s.dir, sizeof s.dir, "%s", dir);
  (void)snprintf(events, sizeof events, "%s.jsonl", dir);
  if (c == NULL || weir_comm_rank(c) == 0) {
    assert_ok(weir_events_open(events));
  }
  v->fetched = 0;
  assert_ok(weir_params_create(task.dtype, &s.params));
  assert_ok(weir_store_create(&s.store));
  assert_ok(weir_train_prepare(&task, cfg.seed, s.params, s.store));
  v->context = s.store;
  s.status = weir_train_run(&task, &cfg, &opts, s.params, s.store, dir, &s.result);
  weir_events_close();
  weir_config_destroy(&config);
  return s;
}
#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline session train_alone(volume *v, int64_t n, const char *const *sets)
{
  char dir[PATH];

  new_dir(dir, true);
  return train(NULL, NULL, dir, v, n, sets);
}

static inline session train_on(const weir_grid *grid, volume *v, int64_t n, const char *const *sets)
{
  char dir[PATH];

  new_dir(dir, false);
  return train(comm, grid, dir, v, n, sets);
}

/* Losses of the steps of a run, from its events. */
static inline int losses(const session *s, double *loss)
{
  char path[PATH + 16], line[4096];
  int n = 0;

  (void)snprintf(path, sizeof path, "%s.jsonl", s->dir);
  FILE *f = fopen(path, "r");

  assert_non_null(f);
  while (fgets(line, sizeof line, f) != NULL) {
    const char *at = strstr(line, "\"loss\": ");

    if (strstr(line, "\"event\": \"step\"") != NULL && at != NULL && n < STEPS) {
      loss[n++] = strtod(at + strlen("\"loss\": "), NULL);
    }
  }
  fclose(f);
  return n;
}

/* Every array of floats that the training keeps. */
static inline void compare(const char *what, const session *a, const session *b, double within)
{
  const weir_tolerance t = {within, within};

  for (int64_t i = 0; i < weir_store_count(a->store); i++) {
    const char *name = weir_store_name(a->store, i);
    const weir_tensor *x = check_stored(a->store, name), *y = check_stored(b->store, name);

    if (weir_dtype_is_real(x->dtype) &&
        weir_compare(name, x->dtype, y->data, x->data, weir_tensor_numel(x), t) != 0) {
      fail_msg("%s: '%s' differs", what, name);
    }
  }
}

static inline const char *grid_text(const weir_grid *g, char *text, size_t size)
{
  (void)snprintf(text, size, "grid %d x %d x %d x %d", g->extent[0], g->extent[1], g->extent[2],
                 g->extent[3]);
  return text;
}

static const struct {
  int ranks;
  weir_grid grid[GRIDS];
} grids[] = {
    {1, {{4, {1, 1, 1, 1}}}},
    {2, {{4, {2, 1, 1, 1}}, {4, {1, 2, 1, 1}}, {4, {1, 1, 2, 1}}, {4, {1, 1, 1, 2}}}},
    {3, {{4, {3, 1, 1, 1}}, {4, {1, 3, 1, 1}}, {4, {1, 1, 1, 3}}}},
    {4,
     {{4, {4, 1, 1, 1}},
      {4, {2, 2, 1, 1}},
      {4, {1, 2, 2, 1}},
      {4, {1, 4, 1, 1}},
      {4, {1, 1, 2, 2}}}},
};

/* Grids of so many ranks, the first along the samples. */
static inline const weir_grid *grids_of(int ranks, int *n)
{
  const size_t count = sizeof grids / sizeof grids[0];
  size_t i = 0;

  while (i < count && grids[i].ranks != ranks) {
    i++;
  }
  assert_true(i < count);
  *n = 0;
  while (*n < GRIDS && grids[i].grid[*n].dims > 0) {
    (*n)++;
  }
  return grids[i].grid;
}

static inline volume usual(weir_dtype dtype)
{
  return (volume){.dtype = dtype, .size = {8, 6, 8}, .blocks = 2, .dropout = 0.2};
}

/* 13 samples in batches of 4: the fourth has one, and most ranks none. On every step-th grid. */
static inline void assert_as_one_rank(volume v, double within, int step, const char *const *sets)
{
  double alone_loss[STEPS] = {0}, loss[STEPS] = {0};
  session alone = train_alone(&v, 13, sets);
  int n = 0;
  const weir_grid *grid = grids_of(weir_comm_size(comm), &n);

  assert_ok(alone.status);
  assert_int_equal(losses(&alone, alone_loss), STEPS);
  for (int i = 0; i < n; i += step) {
    char what[64];
    session s = train_on(&grid[i], &v, 13, sets);

    grid_text(&grid[i], what, sizeof what);
    assert_ok(s.status);
    assert_int_equal(s.result.step, alone.result.step);
    assert_int_equal(s.result.best_epoch, alone.result.best_epoch);
    if (weir_comm_rank(comm) == 0) {
      assert_int_equal(losses(&s, loss), STEPS);
    }
    for (int k = 0; k < STEPS && weir_comm_rank(comm) == 0; k++) {
      if (!(fabs(loss[k] - alone_loss[k]) <= within * fmax(1, fabs(alone_loss[k])))) {
        fail_msg("%s, step %d: loss %.17g, alone %.17g", what, k + 1, loss[k], alone_loss[k]);
      }
    }
    compare(what, &alone, &s, within);
    close_session(&s);
  }
  close_session(&alone);
}

#define COMMON                                                                 \
  "steps=20", "batch=4", "log_every=1", "compare_every=3", "validate_every=2", \
      "optim.schedule.lr=0.01"

/* Takes the arguments RANKS FOLDER and opens `comm`, for the caller to close. Returns the status to
 * exit with, 0: go on. */
static inline int session_open(int argc, char **argv)
{
  if (argc < 3) {
    fprintf(stderr, "%s RANKS FOLDER\n", argv[0]);
    return 2;
  }
  folder = argv[2];
  weir_log_set_level(WEIR_LOG_WARN);
  if (weir_comm_open(&comm) != WEIR_OK) {
    weir_print_trace(stderr);
    return 1;
  }
  return 0;
}

#endif
