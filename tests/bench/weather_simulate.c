/* weather_simulate.c - steps of the quasi-geostrophic model on one core against NumPy, and how
 * their cost grows with members and steps. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "data/simulation/qg_ensemble.h"
#include "data/simulation/qg_solver.h"
#include "ops/fft/weir_fft_plan.h"
#include "reference.h"
#include "simulation.h"
#include "weir_bench.h"

#define PI 3.14159265358979323846
enum {
  MOST = 8,
  BATCH = 2, /* as prepare takes on the CPU */
  STEPS = 8,
  RUNS = 40,
  SHORT = 2,
  SHORT_RUNS = 300,
  REFERENCE_RUNS = 5,
  WAVES = 12
};

/* Members of one model, and how many of them take how many steps. */
typedef struct work {
  wx_qg *m;
  wx_qg_workspace *workspace;
  wx_qg_solver *solver;
  char *first, *states; /* [MOST] */
  void *state[MOST];
  int64_t bytes, members, steps;
} work;

/* psi [MOST, 2, ny, nx] of waves with random phases. */
static double *make_psi(const wx_qg_params *p)
{
  const int64_t cells = p->nx * p->ny;
  double *psi = NULL;

  bench_must(weir_alloc(MOST * 2 * cells, sizeof *psi, (void **)&psi));
  for (int64_t f = 0; f < MOST * 2; f++) {
    for (int64_t w = 0; w < WAVES; w++) {
      const double phase = 2 * PI * weir_random_uniform(1, 1, (uint32_t)f, (uint64_t)w);

      for (int64_t i = 0; i < cells; i++) {
        const double x = (double)(i % p->nx) / (double)p->nx,
                     y = (double)(i / p->nx) / (double)p->ny;

        psi[f * cells + i] +=
            0.2 * cos(2 * PI * ((double)(1 + w % 6) * x + (double)(w % 4) * y) + phase);
      }
    }
  }
  return psi;
}

static void make(weir_dtype dtype, const double *psi, work *w)
{
  const wx_qg_params p = simulation_params(dtype);

  bench_must(wx_qg_create(&p, &w->m));
  bench_must(wx_qg_workspace_create(w->m, &w->workspace));
  bench_must(
      wx_qg_solver_create(w->m, &(wx_qg_solver_opts){.threads = 1, .batch = BATCH}, &w->solver));
  w->bytes = (wx_qg_state_bytes(w->m) + 63) / 64 * 64;
  bench_must(weir_alloc(MOST, (size_t)w->bytes, (void **)&w->first));
  bench_must(weir_alloc(MOST, (size_t)w->bytes, (void **)&w->states));
  for (int64_t k = 0; k < MOST; k++) {
    w->state[k] = w->states + k * w->bytes;
    wx_qg_set_psi(w->m, w->workspace, psi + k * 2 * p.nx * p.ny, w->first + k * w->bytes);
  }
}

static void unmake(work *w)
{
  weir_free(&w->first);
  weir_free(&w->states);
  wx_qg_solver_destroy(&w->solver);
  wx_qg_workspace_destroy(&w->workspace);
  wx_qg_destroy(&w->m);
}

static void run(void *context)
{
  work *const w = context;

  memcpy(w->states, w->first, (size_t)(MOST * w->bytes));
  bench_must(wx_qg_steps(w->solver, w->state, w->members, w->steps));
}

static double seconds(work *w, int64_t members, int64_t steps)
{
  w->members = members;
  w->steps = steps;
  return bench_best(RUNS, run, w);
}

static void compare(work *w, const double *psi, const char *name, const char *reference_name,
                    double tolerance)
{
  const wx_qg_params *const p = wx_qg_get(w->m);
  const int64_t cells = p->nx * p->ny;
  const reference_input in = {"psi", "f8", psi, MOST * 2 * cells};
  char arguments[512];
  double *grid = NULL;
  float *own = NULL;

  (void)snprintf(arguments, sizeof arguments,
                 "members=%d steps=%d nx=%lld ny=%lld single=%d lx=%.17g ly=%.17g coupling=%.17g "
                 "beta=%.17g tau_d=%.17g tau_f=%.17g jet=%.17g width=%.17g mountain=%.17g nu=%.17g "
                 "dt=%.17g",
                 MOST, STEPS, (long long)p->nx, (long long)p->ny, p->dtype == WEIR_F32, p->lx,
                 p->ly, p->coupling, p->beta, p->tau_d, p->tau_f, p->jet, p->width, p->mountain,
                 p->nu, p->dt);
  reference_result r =
      reference_run("weather_simulate.py", "run", arguments, REFERENCE_RUNS, 1, &in, 1);
  const double best = seconds(w, MOST, STEPS);

  bench_must(weir_alloc(2 * cells, sizeof *grid, (void **)&grid));
  bench_must(weir_alloc(MOST * 2 * cells, sizeof *own, (void **)&own));
  for (int64_t k = 0; k < MOST; k++) {
    wx_qg_psi(w->m, w->workspace, w->states + k * w->bytes, grid);
    for (int64_t i = 0; i < 2 * cells; i++) {
      own[k * 2 * cells + i] = (float)grid[i];
    }
  }
  reference_same_f32(name, &r, 0, own, MOST * 2 * cells, tolerance);
  reference_row_ms(name, reference_name, &r, MOST * STEPS, best, 3);
  reference_free(&r);
  weir_free(&grid);
  weir_free(&own);
}

/* Four times as many members or steps should take four times as long. Short runs alternately, of
 * which some are not disturbed by others. */
static void growth(const work *w, const char *name, int64_t members, int64_t steps)
{
  work one = *w, more = *w;
  double best[2];

  one.members = MOST / 4;
  one.steps = SHORT;
  more.members = members;
  more.steps = steps;
  bench_best_pair(SHORT_RUNS, run, &one, run, &more, best);
  bench_row(name, "limit", 4, best[1] / best[0], "1", 0, 0.9);
}

int main(void)
{
  work w = {.m = NULL};

  weir_log_set_level(WEIR_LOG_WARN);
  if (!weir_fft_plan_available() || !reference_ready("scipy")) {
    return REFERENCE_SKIP;
  }
  (void)bench_pin();
  const wx_qg_params p = simulation_params(WEIR_F64);
  double *psi = make_psi(&p);

  make(WEIR_F64, psi, &w);
  compare(&w, psi, "QG 128x64 f64: a step of a member", "NumPy", 1e-6);
  unmake(&w);
  make(WEIR_F32, psi, &w);
  compare(&w, psi, "QG 128x64 f32: a step of a member", "scipy.fft", 1e-4);
  growth(&w, "QG 128x64 f32: 4 x members", MOST, SHORT);
  growth(&w, "QG 128x64 f32: 4 x steps", MOST / 4, 4 * SHORT);
  unmake(&w);
  weir_free(&psi);
  return 0;
}
