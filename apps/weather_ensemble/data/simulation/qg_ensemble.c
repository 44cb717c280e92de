/* qg_ensemble.c - see qg_ensemble.h; docs/science/weather_simulation.md. */
#include "data/simulation/qg_ensemble_priv.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "base/weir_signal.h"
#include "device/weir_parallel.h"

#define PI 3.14159265358979323846
#define DAY 86400.0
#define HOUR 3600.0

enum { EDDIES = 0x71670001, ANALYSES, MEMBERS }; /* purposes of random numbers */
enum { WAVES = 6 };                              /* of the first eddies, each way */
enum { CPU_POINTS = 1 << 14, CPU_BATCH = 16, DEVICE_BATCH = 64 };

char *qg_state_at(const wx_qg_ensemble *e, char *states, int64_t i)
{
  return states + i * e->bytes;
}

static wx_qg_params true_params(const wx_qg_opts *o)
{
  wx_qg_params p = {.dtype = o->precision == 1 ? WEIR_F64 : WEIR_F32,
                    .nx = o->lon,
                    .ny = o->lat,
                    .lx = o->lx,
                    .ly = o->ly,
                    .coupling = o->coupling,
                    .beta = o->beta,
                    .tau_d = o->tau_d,
                    .tau_f = o->tau_f,
                    .jet = o->jet,
                    .width = o->width,
                    .mountain = o->mountain,
                    .nu = o->nu,
                    .dt = o->step};

  p.u[0] = wx_qg_mean_wind(&p);
  return p;
}

static wx_qg_params forecast_params(const wx_qg_opts *o, double *perturbation)
{
  static const wx_qg_imperfect presets[] = {
      [WX_QG_REAL] = {WX_QG_REAL, 11.5, 0.65, 1.35, 1e-7, 0.03},
      [WX_QG_HARD] = {WX_QG_HARD, 13, 0.5, 1.3, 1e-7, 0.018},
  };
  wx_qg_params p = true_params(o);
  const wx_qg_imperfect *const f =
      o->forecast.preset == WX_QG_CUSTOM ? &o->forecast : &presets[o->forecast.preset % 2];

  *perturbation = 0.03;
  if (o->forecast.preset != WX_QG_PERFECT) {
    p.tau_f = f->tau_f;
    p.mountain = f->mountain;
    p.jet = f->jet;
    p.nu = f->nu;
    p.u[0] = wx_qg_mean_wind(&p);
    *perturbation = f->perturbation;
  }
  return p;
}

/* ---- the truth ---- */

static weir_status check_sound(const wx_qg *m, wx_qg_workspace *workspace, const void *state,
                               const char *what)
{
  double energy, enstrophy;

  wx_qg_invariants(m, workspace, state, &energy, &enstrophy);
  if (!isfinite(energy) || !isfinite(enstrophy)) {
    return weir_fail(WEIR_ERR_NUMERIC,
                     "simulate: %s broke down; take a shorter step (simulate.step: %.6g) or more "
                     "viscosity (nu)",
                     what, wx_qg_get(m)->dt);
  }
  return WEIR_OK;
}

static weir_status stopped(const char *where)
{
  return weir_fail(WEIR_ERR_STOPPED, "simulate: stopped in %s", where);
}

/* Waves with random phases and rather random sizes, for the turbulence to begin with. */
static weir_status stir(wx_qg_ensemble *e)
{
  const wx_qg_opts *const o = e->o;
  const int64_t nx = o->refine * o->lon, ny = o->refine * o->lat, cells = nx * ny;
  double *psi = NULL;

  WEIR_TRY(weir_alloc(WX_QG_LAYERS * cells, sizeof *psi, (void **)&psi));
  for (int64_t w = 0; w < WX_QG_LAYERS * WAVES * WAVES; w++) {
    const double phase = 2 * PI * weir_random_uniform(e->seed, EDDIES, 0, 2 * (uint64_t)w);
    const double size = 0.1 * weir_random_normal(e->seed, EDDIES, 0, 2 * (uint64_t)w + 1);
    const int64_t k = 1 + w % WAVES, m = w / WAVES % WAVES - WAVES / 2;
    double *const layer = psi + w / (WAVES * WAVES) * cells;

    for (int64_t i = 0; i < cells; i++) {
      const double x = (double)(i % nx) / (double)nx;
      const double y = (double)(i / nx) / (double)ny;

      layer[i] += size * cos(2 * PI * ((double)k * x + (double)m * y) + phase);
    }
  }
  wx_qg_set_psi(e->fine, e->fine_workspace, psi, e->current);
  weir_free(&psi);
  return WEIR_OK;
}

/* So many steps of the forecasts, which are `refine` of the truth each. */
static weir_status step_truth(wx_qg_ensemble *e, int64_t n)
{
  void *const states[] = {e->current};

  return wx_qg_steps(e->fine_solver, states, 1, n * e->o->refine);
}

/* Steps of the spin-up, and between states of the library. */
static weir_status count_steps(const wx_qg_ensemble *e, int64_t *before, int64_t *between)
{
  WEIR_TRY(qg_steps_of(e, e->o->spin_up * DAY, "simulate.spin_up", before));
  return qg_steps_of(e, e->o->library.every * DAY, "simulate.library.every", between);
}

/* The truth before the first start: spin-up, then the library. */
static weir_status spin_up(wx_qg_ensemble *e)
{
  const wx_qg_opts *const o = e->o;
  int64_t before = 0, between = 0, day = llround(DAY / e->seconds);

  WEIR_TRY(count_steps(e, &before, &between));
  day = day < 1 ? 1 : day;
  WEIR_TRY(stir(e));
  const int64_t total = before + o->library.states * between;

  for (int64_t done = 0, state = 0; done < total;) {
    const int64_t next = done < before ? before : before + (state + 1) * between;
    const int64_t n = next - done < day ? next - done : day;

    if (weir_stop_requested()) {
      return stopped("the spin-up");
    }
    WEIR_TRY(step_truth(e, n));
    done += n;
    if (done == before + (state + 1) * between) {
      wx_qg_project(e->fine, e->current, e->truth, qg_state_at(e, e->library, state++));
    }
    weir_progress("spin-up", done, total, "steps");
  }
  return check_sound(e->fine, e->fine_workspace, e->current, "the truth");
}

/* Goes on with the truth until the marks [known, to) are kept. */
static weir_status follow_truth(wx_qg_ensemble *e, int64_t to)
{
  while (e->known < to && !weir_stop_requested()) {
    WEIR_TRY(step_truth(e, e->mark[e->known] - e->reached));
    e->reached = e->mark[e->known];
    wx_qg_project(e->fine, e->current, e->truth, qg_state_at(e, e->kept, e->known));
    e->known++;
  }
  return WEIR_OK;
}

/* ---- creation ---- */

static weir_status allocate(wx_qg_ensemble *e)
{
  int64_t bytes = 0;

  WEIR_TRY(wx_qg_workspace_create(e->truth, &e->workspace));
  WEIR_TRY(weir_alloc(e->threads, sizeof *e->failures, (void **)&e->failures));
  if (!weir_mul_ok(e->bytes, e->true_facts.n_init_times, &bytes) ||
      !weir_mul_ok(e->bytes, e->o->library.states, &bytes)) {
    return weir_fail(WEIR_ERR_MEMORY, "simulate: too many states");
  }
  WEIR_TRY(weir_alloc(e->o->library.states, (size_t)e->bytes, (void **)&e->library));
  WEIR_TRY(weir_alloc(e->true_facts.n_init_times, (size_t)e->bytes, (void **)&e->kept));
  return weir_alloc(1, (size_t)wx_qg_state_bytes(e->fine), (void **)&e->current);
}

static wx_qg_params fine_params(const wx_qg_opts *o)
{
  wx_qg_params p = true_params(o);

  p.nx *= o->refine;
  p.ny *= o->refine;
  p.dt /= (double)o->refine;
  return p;
}

static weir_status make_fine(wx_qg_ensemble *e)
{
  const wx_qg_params p = fine_params(e->o);

  e->fine = e->truth;
  if (e->o->refine > 1) {
    WEIR_TRY(wx_qg_create(&p, &e->fine));
  }
  return wx_qg_workspace_create(e->fine, &e->fine_workspace);
}

static bool on_cpu(const wx_qg_ensemble *e)
{
  return e->exec == NULL || e->exec->device == NULL || strcmp(e->exec->device, "cpu") == 0;
}

/* States of a run: on the CPU so many that what a step touches stays in a core's cache. */
static int64_t batch_of(const wx_qg_ensemble *e)
{
  const int64_t fit = CPU_POINTS / (e->o->lon * e->o->lat);

  if (e->o->batch > 0 || !on_cpu(e)) {
    return e->o->batch > 0 ? e->o->batch : DEVICE_BATCH;
  }
  return fit < 1 ? 1 : fit > CPU_BATCH ? CPU_BATCH : fit;
}

/* Threads step different batches, and the truth: a step of one state is too short to be shared. */
static weir_status make_solvers(wx_qg_ensemble *e)
{
  const wx_qg_solver_opts one = {e->exec, 1, 1, e->o->unroll}, field = {e->exec, 1, 1, 1};
  const wx_qg_solver_opts many = {e->exec, 1, e->batch, e->o->unroll};

  WEIR_TRY(wx_qg_solver_create(e->fine, &one, &e->fine_solver));
  WEIR_TRY(wx_qg_solver_create(e->model, &field, &e->fields));
  WEIR_TRY(wx_qg_solver_create(e->truth, &field, &e->true_fields));
  WEIR_TRY(weir_alloc(e->threads, sizeof *e->solvers, (void **)&e->solvers));
  for (int t = 0; t < e->threads; t++) {
    WEIR_TRY(wx_qg_solver_create(e->model, &many, &e->solvers[t]));
  }
  return WEIR_OK;
}

/* What archives will hold: all that options alone say. */
static weir_status foresee(wx_qg_ensemble *e)
{
  e->scale = (wx_qg_scale){e->o->scale.length * 1e3, e->o->scale.wind, e->o->scale.coriolis};
  e->seconds = e->o->step * e->scale.length / e->scale.wind;
  e->threads = on_cpu(e) ? weir_threads_get() : 1;
  e->batch = batch_of(e);
  return qg_list_facts(e);
}

weir_status wx_qg_ensemble_check(const wx_qg_opts *opts)
{
  const wx_qg_params truth = true_params(opts), fine = fine_params(opts);
  int64_t before = 0, between = 0;
  wx_qg_ensemble *e = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(1, sizeof *e, (void **)&e));
  e->o = opts;
  WEIR_TRY_GOTO(foresee(e), done);
  WEIR_TRY_GOTO(count_steps(e, &before, &between), done);
  WEIR_TRY_GOTO(wx_qg_check(&truth), done);
  WEIR_TRY_GOTO(wx_qg_check(&fine), done);
  WEIR_TRY_GOTO(qg_surfaces_check(opts), done);
done:
  wx_qg_ensemble_destroy(&e);
  return status;
}

static weir_status begin(wx_qg_ensemble *e)
{
  const wx_qg_params truth = true_params(e->o);
  const wx_qg_params model = forecast_params(e->o, &e->perturbation);

  WEIR_TRY(foresee(e));
  WEIR_TRY(wx_qg_create(&truth, &e->truth));
  WEIR_TRY(make_fine(e));
  WEIR_TRY(wx_qg_create(&model, &e->model));
  e->bytes = (wx_qg_state_bytes(e->truth) + 63) / 64 * 64; /* so that each is aligned */
  WEIR_TRY(allocate(e));
  WEIR_TRY(make_solvers(e));
  WEIR_TRY(qg_surfaces_make(e));
  return spin_up(e);
}

weir_status wx_qg_ensemble_create(const wx_qg_opts *opts, const weir_exec_cfg *exec, uint64_t seed,
                                  wx_qg_ensemble **out)
{
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(wx_qg_ensemble), &memory));
  wx_qg_ensemble *e = memory;

  e->o = opts;
  e->exec = exec;
  e->seed = seed;
  const weir_status status = begin(e);

  if (status != WEIR_OK) {
    wx_qg_ensemble_destroy(&e);
    return status;
  }
  *out = e;
  return WEIR_OK;
}

void wx_qg_ensemble_destroy(wx_qg_ensemble **ensemble)
{
  wx_qg_ensemble *const e = *ensemble;

  if (e == NULL) {
    return;
  }
  const void *const borrowed[] = {
      e->forecasts.start,    e->forecasts.member,      e->forecasts.quantity, e->forecasts.grid.lat,
      e->forecasts.grid.lon, e->forecasts.grid.weight, e->true_facts.start,   e->true_facts.lead};

  for (size_t i = 0; i < sizeof borrowed / sizeof borrowed[0]; i++) {
    void *mine = (void *)(uintptr_t)borrowed[i];

    weir_free(&mine);
  }
  for (int t = 0; e->solvers != NULL && t < e->threads; t++) {
    wx_qg_solver_destroy(&e->solvers[t]);
  }
  weir_free(&e->solvers);
  wx_qg_solver_destroy(&e->fine_solver);
  wx_qg_solver_destroy(&e->fields);
  wx_qg_solver_destroy(&e->true_fields);
  wx_qg_workspace_destroy(&e->workspace);
  weir_free(&e->failures);
  weir_free(&e->kinds);
  weir_free(&e->library);
  weir_free(&e->current);
  weir_free(&e->mark);
  weir_free(&e->kept);
  weir_free(&e->start_mark);
  weir_free(&e->ready.states);
  weir_free(&e->next.states);
  qg_surfaces_fini(e);
  if (e->fine != e->truth) {
    wx_qg_destroy(&e->fine);
  }
  wx_qg_workspace_destroy(&e->fine_workspace);
  wx_qg_destroy(&e->truth);
  wx_qg_destroy(&e->model);
  weir_free(ensemble);
}

const wx_archive_info *wx_qg_ensemble_forecasts(const wx_qg_ensemble *e)
{
  return &e->forecasts;
}

const wx_archive_info *wx_qg_ensemble_truth(const wx_qg_ensemble *e)
{
  return &e->true_facts;
}

/* ---- forecasts ---- */

/* to += share x the difference of two states of the library, which (purpose, start, member) draws.
 */
static void perturb(const wx_qg_ensemble *e, double share, uint32_t purpose, int64_t start,
                    int64_t member, void *to)
{
  const int64_t n = e->o->library.states;
  const uint64_t at = 2 * (uint64_t)member;
  const double u = weir_random_uniform(e->seed, purpose, (uint32_t)start, at);
  const double v = weir_random_uniform(e->seed, purpose, (uint32_t)start, at + 1);
  const int64_t a = (int64_t)(u * (double)n), other = (int64_t)(v * (double)(n - 1));
  const int64_t b = other < a ? other : other + 1;

  wx_qg_add(e->truth, to, share, qg_state_at(e, e->library, a), qg_state_at(e, e->library, b));
}

/* What weir_parallel shares out: the caller's own work, the truth until `marks`, and batches of
 * members. */
typedef struct work {
  wx_qg_ensemble *e;
  int64_t marks;
  void (*meanwhile)(void *context);
  void *context;
} work;

static int64_t batches(const wx_qg_ensemble *e, int64_t n)
{
  return (n * e->forecasts.n_members + e->batch - 1) / e->batch;
}

/* The state of member i % members of initialisation time i / members of the batch, at a lead. */
static char *forecast_at(const wx_qg_ensemble *e, int64_t i, int64_t lead)
{
  const int64_t members = e->forecasts.n_members;

  return qg_state_at(e, e->next.states,
                     (i / members * e->forecasts.n_leads + lead) * members + i % members);
}

static void begin_forecast(const wx_qg_ensemble *e, int64_t i)
{
  const int64_t start = e->next.first + i / e->forecasts.n_members;
  const int64_t member = i % e->forecasts.n_members;
  char *const state = forecast_at(e, i, 0);

  memcpy(state, qg_state_at(e, e->kept, e->start_mark[start]), (size_t)e->bytes);
  perturb(e, e->o->analysis, ANALYSES, start, 0, state);
  if (member > 0) {
    perturb(e, e->perturbation, MEMBERS, start, member, state);
  }
}

/* States [first, first + n) of those that are computed. */
static weir_status forecast(const wx_qg_ensemble *e, wx_qg_solver *solver, int64_t first, int64_t n)
{
  weir_status status = WEIR_OK;
  void **states = NULL;
  int64_t reached = 0;

  WEIR_TRY(weir_alloc(n, sizeof *states, (void **)&states));
  for (int64_t l = 0; l < e->forecasts.n_leads && !weir_stop_requested(); l++) {
    const int64_t steps = llround(e->o->leads.items[l] * HOUR / e->seconds);

    for (int64_t i = 0; i < n; i++) {
      states[i] = forecast_at(e, first + i, l);
      if (l == 0) {
        begin_forecast(e, first + i);
      } else {
        memcpy(states[i], forecast_at(e, first + i, l - 1), (size_t)e->bytes);
      }
    }
    WEIR_TRY_GOTO(wx_qg_steps(solver, states, n, steps - reached), done);
    reached = steps;
  }
done:
  weir_free(&states);
  return status;
}

static void do_item(void *context, int64_t item, int thread)
{
  const work *const w = context;
  wx_qg_ensemble *const e = w->e;
  const int64_t first = (item - 2) * e->batch, left = e->next.n * e->forecasts.n_members - first;
  qg_failure *const failure = &e->failures[thread];
  weir_status status = WEIR_OK;

  if (item == 0 && w->meanwhile != NULL) {
    w->meanwhile(w->context);
  } else if (item == 1) {
    status = follow_truth(e, w->marks);
  } else if (item > 1) {
    status = forecast(e, e->solvers[thread], first, left < e->batch ? left : e->batch);
  }
  if (status != WEIR_OK && failure->status == WEIR_OK) {
    failure->status = status;
    (void)snprintf(failure->message, sizeof failure->message, "%s", weir_last_message());
  }
}

/* The plans before threads need them: of equal ones, the first one compiles the loops. */
static weir_status prepare_solvers(const wx_qg_ensemble *e, int64_t n)
{
  const int64_t states = n * e->forecasts.n_members;

  for (int t = 0; t < e->threads; t++) {
    WEIR_TRY(wx_qg_solver_prepare(e->solvers[t], states < e->batch ? states : e->batch));
    WEIR_TRY(wx_qg_solver_prepare(e->solvers[t], states % e->batch));
    e->failures[t].status = WEIR_OK;
  }
  return WEIR_OK;
}

static weir_status first_failure(const wx_qg_ensemble *e)
{
  for (int t = 0; t < e->threads; t++) {
    if (e->failures[t].status != WEIR_OK) {
      return weir_fail(e->failures[t].status, "%s", e->failures[t].message);
    }
  }
  return WEIR_OK;
}

/* Allocates memory for the states of n initialisation times. */
static weir_status reserve_states(const wx_qg_ensemble *e, qg_batch *b, int64_t n)
{
  int64_t states = 0;

  if (n <= b->capacity) {
    return WEIR_OK;
  }
  weir_free(&b->states);
  *b = (qg_batch){.first = 0};
  if (!weir_mul_ok(n, e->forecasts.n_leads * e->forecasts.n_members, &states)) {
    return weir_fail(WEIR_ERR_MEMORY, "simulate: forecasts of %lld initialisation times at once",
                     (long long)n);
  }
  WEIR_TRY(weir_alloc(states, (size_t)e->bytes, (void **)&b->states));
  b->capacity = n;
  return WEIR_OK;
}

/* Marks that are reached when the forecasts of a start end. */
static int64_t marks_until(const wx_qg_ensemble *e, int64_t start)
{
  const double last = e->o->leads.items[e->o->leads.count - 1];
  const int64_t end = e->mark[e->start_mark[start]] + llround(last * HOUR / e->seconds);
  int64_t n = e->start_mark[start] + 1;

  while (n < e->true_facts.n_init_times && e->mark[n] <= end) {
    n++;
  }
  return n;
}

/* Whether truth and forecasts, at their last leads, are still numbers. */
static weir_status check_all(const wx_qg_ensemble *e)
{
  const int64_t leads = e->forecasts.n_leads, members = e->forecasts.n_members;

  WEIR_TRY(check_sound(e->fine, e->fine_workspace, e->current, "the truth"));
  for (int64_t i = 0; i < e->next.n * members; i++) {
    const int64_t at = (i / members * leads + leads - 1) * members + i % members;

    WEIR_TRY(check_sound(e->model, e->workspace, qg_state_at(e, e->next.states, at), "a forecast"));
  }
  return WEIR_OK;
}

weir_status wx_qg_ensemble_compute(wx_qg_ensemble *e, int64_t start, int64_t n,
                                   void (*meanwhile)(void *context), void *context)
{
  const int64_t last = start + n - 1, ahead = last + n, init_times = e->forecasts.n_init_times;

  WEIR_ASSERT(start >= 0 && n > 0 && last < init_times);
  WEIR_TRY(reserve_states(e, &e->next, n));
  WEIR_TRY(prepare_solvers(e, n));
  WEIR_TRY(follow_truth(e, e->start_mark[last] + 1));
  e->next.first = start;
  e->next.n = n;
  /* Meanwhile the truth is continued to where the next n initialisation times need it. */
  const int64_t end = marks_until(e, last);
  const int64_t soon = e->start_mark[ahead < init_times ? ahead : init_times - 1] + 1;
  work w = {e, end > soon ? end : soon, meanwhile, context};

  if (!weir_stop_requested()) {
    weir_parallel(2 + batches(e, n), e->threads, do_item, &w);
  }
  if (weir_stop_requested()) {
    return stopped("the forecasts");
  }
  WEIR_TRY(first_failure(e));
  WEIR_TRY(check_all(e));
  const qg_batch before = e->ready;

  e->ready = e->next;
  e->next = before;
  return WEIR_OK;
}

weir_status wx_qg_ensemble_finish_truth(wx_qg_ensemble *e)
{
  WEIR_TRY(follow_truth(e, e->true_facts.n_init_times));
  return weir_stop_requested() ? stopped("the truth")
                               : check_sound(e->fine, e->fine_workspace, e->current, "the truth");
}

int64_t wx_qg_ensemble_known(const wx_qg_ensemble *e)
{
  return e->known;
}

int64_t wx_qg_ensemble_batch(const wx_qg_ensemble *e)
{
  const int64_t states = on_cpu(e) ? 2 * e->threads * e->batch : e->batch;
  const int64_t n = (states + e->forecasts.n_members - 1) / e->forecasts.n_members;

  return n < e->forecasts.n_init_times ? n : e->forecasts.n_init_times;
}
