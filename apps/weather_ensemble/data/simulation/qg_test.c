/* qg_test.c - the model against what its equations say: inversion, linear growth, conservation,
 * relaxation, drag and viscosity in closed form, and the tendency of a few waves by hand. */
#include <math.h>
#include <string.h>
#include <stdio.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "data/simulation/qg_solver.h"
#include "device/weir_parallel.h"
#include "ops/fft/weir_fft_plan.h"

#define PI 3.14159265358979323846
enum { MOST = 64 * 32 };

/* A model, its workspace, a state, and fields of both layers. */
typedef struct bench {
  wx_qg *m;
  wx_qg_workspace *workspace;
  wx_qg_solver *solver;
  void *state;
  double psi[2 * MOST];
} bench;

/* Nothing but advection, unless a test says so. */
static wx_qg_params free_flow(int64_t nx, int64_t ny, double lx, double ly)
{
  return (wx_qg_params){.dtype = WEIR_F64,
                        .nx = nx,
                        .ny = ny,
                        .lx = lx,
                        .ly = ly,
                        .coupling = 1,
                        .tau_d = INFINITY,
                        .tau_f = INFINITY,
                        .width = 2,
                        .dt = 0.05};
}

static void set_up(const wx_qg_params *p, bench *b)
{
  if (!weir_fft_plan_available()) {
    printf("skipped: this build has no FFTW\n");
    skip();
  }
  assert_ok(wx_qg_create(p, &b->m));
  assert_ok(wx_qg_workspace_create(b->m, &b->workspace));
  assert_ok(wx_qg_solver_create(b->m, &(wx_qg_solver_opts){.threads = 1}, &b->solver));
  assert_ok(weir_alloc(wx_qg_state_bytes(b->m), 1, &b->state));
}

static void tear_down(bench *b)
{
  weir_free(&b->state);
  wx_qg_solver_destroy(&b->solver);
  wx_qg_workspace_destroy(&b->workspace);
  wx_qg_destroy(&b->m);
}

static void take_steps(bench *b, int64_t n)
{
  assert_ok(wx_qg_steps(b->solver, &b->state, 1, n));
}

/* Eddies with wave numbers around 1.2 and random phases, psi of each wave `size`. */
static void stir(bench *b, double size)
{
  const wx_qg_params *const p = wx_qg_get(b->m);
  const int64_t cells = p->nx * p->ny;

  memset(b->psi, 0, sizeof b->psi);
  for (int64_t m = -20; m <= 20; m++) {
    for (int64_t k = 0; k <= 20; k++) {
      const double kx = 2 * PI * (double)k / p->lx, ky = 2 * PI * (double)m / p->ly;

      if (fabs(hypot(kx, ky) - 1.2) > 0.15) {
        continue;
      }
      for (int64_t i = 0; i < 2 * cells; i++) {
        const uint64_t wave = (uint64_t)(((m + 20) * 32 + k) * 2 + i / cells);
        const double phase = 2 * PI * weir_random_uniform(1, 1, 0, wave);
        const double x = p->lx * (double)(i % p->nx) / (double)p->nx;
        const double y = p->ly * (double)(i % cells / p->nx) / (double)p->ny;

        b->psi[i] += size * cos(kx * x + ky * y + phase);
      }
    }
  }
  wx_qg_set_psi(b->m, b->workspace, b->psi, b->state);
}

static void inversion_gives_psi_back(void **state)
{
  const wx_qg_params p = free_flow(32, 16, 24, 12);
  double back[2 * MOST];
  bench b;

  set_up(&p, &b);
  stir(&b, 0.3);
  wx_qg_psi(b.m, b.workspace, b.state, back);
  for (int64_t i = 0; i < 2 * p.nx * p.ny; i++) {
    assert_near(back[i], b.psi[i], 1e-12);
  }
  tear_down(&b);
}

static void a_state_of_rest_stays(void **state)
{
  const wx_qg_params p = free_flow(32, 16, 24, 12);
  double energy = 1, enstrophy = 1;
  bench b;

  set_up(&p, &b);
  take_steps(&b, 10);
  wx_qg_invariants(b.m, b.workspace, b.state, &energy, &enstrophy);
  assert_true(energy == 0 && enstrophy == 0);
  tear_down(&b);
}

/* Phillips' instability without walls (Vallis, Atmospheric and oceanic fluid dynamics, 6.4). */
static double growth(double k, double beta, double coupling, double half_shear)
{
  const double k2 = k * k, kd2 = 2 * coupling;

  return k / (k2 * (k2 + kd2)) *
         sqrt(half_shear * half_shear * k2 * k2 * (kd2 * kd2 - k2 * k2) -
              beta * beta * kd2 * kd2 / 4);
}

/* From a wave so small that only its linear part counts, once the other modes have died out. */
static double measured_growth(double k)
{
  const double before = 75, during = 50;
  wx_qg_params p = free_flow(8, 8, 2 * PI / k, 6);
  double energy[2], enstrophy;
  bench b;

  p.u[0] = 1;
  p.beta = 0.2;
  set_up(&p, &b);
  memset(b.psi, 0, sizeof b.psi);
  for (int64_t i = 0; i < p.nx * p.ny; i++) {
    b.psi[i] = 1e-30 * cos(2 * PI * (double)(i % p.nx) / (double)p.nx);
  }
  wx_qg_set_psi(b.m, b.workspace, b.psi, b.state);
  take_steps(&b, (int64_t)(before / p.dt));
  wx_qg_invariants(b.m, b.workspace, b.state, &energy[0], &enstrophy);
  take_steps(&b, (int64_t)(during / p.dt));
  wx_qg_invariants(b.m, b.workspace, b.state, &energy[1], &enstrophy);
  tear_down(&b);
  return log(energy[1] / energy[0]) / 2 / during;
}

static void waves_grow_at_the_rate_of_theory(void **state)
{
  static const struct {
    double k, rate;
  } known[] = {
      {PI / 6, .15428078}, {PI / 4, .26840352}, {PI * 7 / 24, .28260753}, {PI / 3, .27599913}};

  for (int i = 0; i < 4; i++) {
    assert_near(growth(known[i].k, 0.2, 1, 0.5), known[i].rate, 6e-9);
    assert_near(measured_growth(known[i].k), known[i].rate, 1e-8);
  }
}

/* Relative change of energy and enstrophy until time 10. */
static void drift(double dt, double mountain, double change[2])
{
  wx_qg_params p = free_flow(64, 32, 24, 12);
  double before[2], after[2];
  bench b;

  p.dt = dt;
  p.mountain = mountain;
  set_up(&p, &b);
  stir(&b, 0.45);
  wx_qg_invariants(b.m, b.workspace, b.state, &before[0], &before[1]);
  take_steps(&b, (int64_t)(10 / dt + 0.5));
  wx_qg_invariants(b.m, b.workspace, b.state, &after[0], &after[1]);
  change[0] = after[0] / before[0] - 1;
  change[1] = after[1] / before[1] - 1;
  tear_down(&b);
}

/* What the scheme loses is of fifth order in the step. */
static void energy_and_enstrophy_are_kept(void **state)
{
  double coarse[2], fine[2];

  drift(0.05, 0, coarse);
  drift(0.025, 0, fine);
  for (int i = 0; i < 2; i++) {
    assert_true(coarse[i] < 0 && coarse[i] > -1e-3);
    assert_near(coarse[i] / fine[i], 32, 0.06);
  }
}

static void mountains_keep_the_energy(void **state)
{
  double coarse[2], fine[2];

  drift(0.05, 0.8, coarse);
  drift(0.025, 0.8, fine);
  assert_true(coarse[0] < 0 && coarse[0] > -1e-3);
  assert_near(coarse[0] / fine[0], 32, 0.1);
  assert_true(fabs(coarse[1]) > 1e-4); /* that of q2 = q2' + h would be kept */
}

/* A wave of psi of one layer: amplitude cos(kx x + ky y + phase). */
typedef struct harmonic {
  int layer;
  double kx, ky, amplitude, phase; /* whole numbers around the domain */
} harmonic;

/* psi, its gradient and Laplacian, q, its gradient, lap^4 q, of one layer at a point. */
enum { PSI, PSI_X, PSI_Y, LAP, Q, Q_X, Q_Y, VISCOUS, TERMS };

static void add_wave(const wx_qg_params *p, const harmonic *w, double x, double y,
                     double of[2][TERMS])
{
  const double kx = 2 * PI * w->kx / p->lx, ky = 2 * PI * w->ky / p->ly, k2 = kx * kx + ky * ky;
  const double c = w->amplitude * cos(kx * x + ky * y + w->phase);
  const double s = w->amplitude * sin(kx * x + ky * y + w->phase);

  of[w->layer][PSI] += c;
  of[w->layer][PSI_X] -= kx * s;
  of[w->layer][PSI_Y] -= ky * s;
  of[w->layer][LAP] -= k2 * c;
  for (int layer = 0; layer < 2; layer++) {
    const double share = layer == w->layer ? -k2 - p->coupling : p->coupling;

    of[layer][Q] += share * c;
    of[layer][Q_X] -= share * kx * s;
    of[layer][Q_Y] -= share * ky * s;
    of[layer][VISCOUS] += share * pow(k2, 4) * c;
  }
}

static void rates_by_hand(const wx_qg_params *p, const double of[2][TERMS], double rate[2])
{
  const double heat = (of[0][PSI] - of[1][PSI]) / p->tau_d;
  const double shear = p->coupling * (p->u[0] - p->u[1]);

  for (int l = 0; l < 2; l++) {
    const double sign = l == 0 ? 1 : -1, *const f = of[l];

    rate[l] = -(f[PSI_X] * f[Q_Y] - f[PSI_Y] * f[Q_X]) - p->u[l] * f[Q_X] -
              (p->beta + sign * shear) * f[PSI_X] + sign * heat - p->nu * f[VISCOUS];
  }
  rate[1] -= of[1][LAP] / p->tau_f;
}

static void tendencies_are_those_of_the_equations(void **state)
{
  static const harmonic waves[] = {{0, 2, 1, 1, 0},      {0, 1, -2, 0.4, 1},  {0, 0, 3, 0.5, 2},
                                   {1, 3, -1, 0.6, 0.3}, {1, 1, 2, 0.3, 0.7}, {1, 4, 0, 0.2, 1.9}};
  wx_qg_params p = free_flow(32, 24, 20, 14);
  void *rate = NULL;
  bench b;

  p.u[0] = 0.7;
  p.u[1] = 0.2;
  p.beta = 0.4;
  p.coupling = 1.3;
  p.tau_d = 9;
  p.tau_f = 7;
  p.nu = 1e-4;
  set_up(&p, &b);
  assert_ok(weir_alloc(wx_qg_state_bytes(b.m), 1, &rate));
  const int64_t cells = p.nx * p.ny;
  double expected[2 * MOST];

  for (int64_t i = 0; i < cells; i++) {
    double of[2][TERMS] = {{0}}, rates[2];

    for (size_t w = 0; w < sizeof waves / sizeof waves[0]; w++) {
      add_wave(&p, &waves[w], p.lx * (double)(i % p.nx) / (double)p.nx,
               p.ly * (double)(i / p.nx) / (double)p.ny, of);
    }
    rates_by_hand(&p, of, rates);
    for (int l = 0; l < 2; l++) {
      b.psi[l * cells + i] = of[l][PSI];
      expected[l * cells + i] = rates[l];
    }
  }
  wx_qg_set_psi(b.m, b.workspace, b.psi, b.state);
  assert_ok(wx_qg_tendency(b.solver, b.state, rate));
  wx_qg_q(b.m, b.workspace, rate, b.psi);
  for (int64_t i = 0; i < 2 * cells; i++) {
    assert_near(b.psi[i], expected[i], 1e-11);
  }
  weir_free(&rate);
  tear_down(&b);
}

/* Without eddies psi1 - psi2 goes to psiR in every ky alone: a factor
 * 1 - exp(-2 t / (tau_d (K^2 + 2 F))); and psiR has the jet's wind. */
static void the_jet_is_relaxed_to(void **state)
{
  wx_qg_params p = free_flow(8, 64, 24, 12);
  const double time = 20, ky = 2 * PI / p.ly;
  double late[2 * MOST];
  bench b;

  p.tau_d = 5;
  p.jet = 1.4;
  set_up(&p, &b);
  take_steps(&b, (int64_t)(time / p.dt + 0.5));
  wx_qg_psi(b.m, b.workspace, b.state, b.psi);
  take_steps(&b, (int64_t)(400 / p.dt));
  wx_qg_psi(b.m, b.workspace, b.state, late);
  const int64_t cells = p.nx * p.ny;
  double sum = 0, end = 0, worst = 0;

  for (int64_t j = 0; j < p.ny; j++) { /* the longest wave */
    const int64_t i = j * p.nx;

    sum += (b.psi[i] - b.psi[cells + i]) * sin(ky * p.ly * (double)j / (double)p.ny);
    end += (late[i] - late[cells + i]) * sin(ky * p.ly * (double)j / (double)p.ny);
  }
  assert_near(sum / end, 1 - exp(-2 * time / (p.tau_d * (ky * ky + 2 * p.coupling))), 1e-9);
  for (int64_t j = 1; j + 1 < p.ny; j++) { /* differences of second order, half a point wide */
    const double dy = p.ly / (double)p.ny, y = dy * ((double)j + 0.5) - p.ly / 2;
    const double wind = p.jet / pow(cosh(y / p.width), 2) - wx_qg_mean_wind(&p);
    const double rise = late[(j + 1) * p.nx] - late[cells + (j + 1) * p.nx] - late[j * p.nx] +
                        late[cells + j * p.nx];

    worst = fmax(worst, fabs(-rise / dy - wind));
  }
  assert_true(worst < 4e-3);
  tear_down(&b);
}

/* One wave in the lower of two layers that do not see each other. */
static void drag_and_viscosity_are_exponentials(void **state)
{
  wx_qg_params p = free_flow(8, 32, 24, 6);
  const double time = 8, ky = 4 * 2 * PI / p.ly;
  bench b;

  p.coupling = 0;
  p.tau_f = 10;
  p.nu = 3e-6;
  set_up(&p, &b);
  memset(b.psi, 0, sizeof b.psi);
  for (int64_t i = 0; i < p.nx * p.ny; i++) {
    b.psi[p.nx * p.ny + i] = cos(ky * p.ly * (double)(i / p.nx) / (double)p.ny);
  }
  wx_qg_set_psi(b.m, b.workspace, b.psi, b.state);
  take_steps(&b, (int64_t)(time / p.dt + 0.5));
  wx_qg_psi(b.m, b.workspace, b.state, b.psi);
  assert_near(b.psi[p.nx * p.ny], exp(-time / p.tau_f - p.nu * pow(ky, 8) * time), 1e-9);
  assert_near(b.psi[0], 0, 1e-14);
  tear_down(&b);
}

/* The standard model on a small grid. */
static wx_qg_params standard(void)
{
  wx_qg_params p = free_flow(64, 32, 36, 12);

  p.beta = 0.3;
  p.tau_d = 40;
  p.tau_f = 10;
  p.jet = 1.4;
  p.mountain = 0.8;
  p.nu = 1e-5;
  p.u[0] = wx_qg_mean_wind(&p);
  return p;
}

/* From one stir: both dtypes, and the bits of two solvers. */
static void precisions_agree_and_bits_repeat(void **state)
{
  wx_qg_params p = standard();
  double psi[3][2 * MOST];

  for (int run = 0; run < 3; run++) {
    bench b;

    p.dtype = run == 0 ? WEIR_F64 : WEIR_F32;
    set_up(&p, &b);
    stir(&b, 0.12);
    take_steps(&b, run == 1 ? 60 : 20);
    if (run != 1) {
      take_steps(&b, 40);
    }
    wx_qg_psi(b.m, b.workspace, b.state, psi[run]);
    tear_down(&b);
  }
  assert_memory_equal(psi[1], psi[2], sizeof psi[1]);
  for (int64_t i = 0; i < 2 * p.nx * p.ny; i++) {
    assert_near(psi[1][i], psi[0][i], 1e-4);
  }
}

enum { STATES = 5, STEPS = 4 };

/* The states after STEPS steps from STATES stirs. */
static void step_states(const wx_qg_solver_opts *o, char *out)
{
  wx_qg_params p = standard();
  wx_qg_solver *solver = NULL;
  void *states[STATES];
  bench b;

  p.nx = 24;
  p.ny = 16;
  set_up(&p, &b);
  assert_ok(wx_qg_solver_create(b.m, o, &solver));
  const int64_t bytes = wx_qg_state_bytes(b.m);

  for (int64_t i = 0; i < STATES; i++) {
    stir(&b, 0.1 + 0.01 * (double)i);
    states[i] = out + i * bytes;
    memcpy(states[i], b.state, (size_t)bytes);
  }
  assert_ok(wx_qg_steps(solver, states, STATES, STEPS));
  wx_qg_solver_destroy(&solver);
  tear_down(&b);
}

/* Numbers of states are the same but for rounding. */
static void assert_near_states(const char *got, const char *expected, size_t bytes)
{
  double largest = 0, farthest = 0;

  for (size_t at = 0; at + sizeof(double) <= bytes; at += sizeof(double)) {
    double a, b;

    memcpy(&a, got + at, sizeof a);
    memcpy(&b, expected + at, sizeof b);
    assert_true(isfinite(a));
    largest = fmax(largest, fabs(b));
    farthest = fmax(farthest, fabs(a - b));
  }
  assert_true(largest > 0 && farthest <= 1e-11 * largest);
}

/* However states are batched, however many steps a run has, on any number of threads; near them on
 * a device, whose library makes the transforms. */
static void any_batch_has_the_same_bits(void **state)
{
  static char expected[STATES << 17], got[STATES << 17];
  weir_exec_cfg emulated, vector;

  weir_opts_default(weir_exec_opts, sizeof emulated, &emulated);
  vector = emulated;
  emulated.device = "emulated";
  vector.tier = WEIR_TIER_VECTOR;
  const wx_qg_solver_opts runs[] = {
      {NULL, 3, 2, 1}, {NULL, 2, STATES, 3}, {NULL, 1, 8, STEPS}, {&vector, 1, 3, 1}};

  step_states(&(wx_qg_solver_opts){NULL, 1, 1, 1}, expected);
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
    step_states(&runs[i], got);
    assert_memory_equal(got, expected, sizeof got);
  }
  step_states(&(wx_qg_solver_opts){&emulated, 1, 3, 1}, got);
  assert_near_states(got, expected, sizeof got);
}

/* To a finer grid and back; and the fine state has the same psi at the points of both. */
static void projections_keep_common_waves(void **state)
{
  const wx_qg_params coarse = free_flow(24, 16, 24, 12), fine = free_flow(48, 32, 24, 12);
  void *kept = NULL;
  bench a, b;

  set_up(&coarse, &a);
  set_up(&fine, &b);
  stir(&a, 0.3);
  assert_ok(weir_alloc(wx_qg_state_bytes(a.m), 1, &kept));
  wx_qg_project(a.m, a.state, b.m, b.state);
  wx_qg_project(b.m, b.state, a.m, kept);
  assert_memory_equal(kept, a.state, (size_t)wx_qg_state_bytes(a.m));
  wx_qg_psi(a.m, a.workspace, a.state, a.psi);
  wx_qg_psi(b.m, b.workspace, b.state, b.psi);
  for (int64_t i = 0; i < 2 * 24 * 16; i++) {
    const int64_t x = i % 24, y = i / 24 % 16, layer = i / 24 / 16;

    assert_near(a.psi[i], b.psi[(layer * 32 + 2 * y) * 48 + 2 * x], 1e-13);
  }
  weir_free(&kept);
  tear_down(&a);
  tear_down(&b);
}

static void grids_that_cannot_be_are_refused(void **state)
{
  static const int64_t wrong[][2] = {{6, 8}, {8, 9}, {8, 1 << 20}};
  wx_qg *m = NULL;

  for (int i = 0; i < 3; i++) {
    const wx_qg_params p = free_flow(wrong[i][0], wrong[i][1], 24, 12);

    assert_int_equal(wx_qg_create(&p, &m), WEIR_ERR_CONFIG);
    assert_null(m);
  }
}

static weir_status make(void *context)
{
  const wx_qg_params p = free_flow(8, 8, 24, 12);
  wx_qg_workspace *workspace = NULL;
  wx_qg_solver *solver = NULL;
  wx_qg *m = NULL;
  weir_status status = wx_qg_create(&p, &m);

  if (status == WEIR_OK) {
    status = wx_qg_workspace_create(m, &workspace);
  }
  if (status == WEIR_OK) {
    status = wx_qg_solver_create(m, &(wx_qg_solver_opts){.exec = context, .threads = 1}, &solver);
  }
  if (status == WEIR_OK) {
    status = wx_qg_solver_prepare(solver, 1);
  }
  wx_qg_solver_destroy(&solver);
  wx_qg_workspace_destroy(&workspace);
  wx_qg_destroy(&m);
  return status;
}

static void allocations_may_fail(void **state)
{
  weir_exec_cfg exec;

  if (!weir_fft_plan_available()) {
    printf("skipped: this build has no FFTW\n");
    skip();
  }
  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR;
  assert_true(weir_check_some_faults(make, &exec, 499) > 10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inversion_gives_psi_back),
      cmocka_unit_test(a_state_of_rest_stays),
      cmocka_unit_test(waves_grow_at_the_rate_of_theory),
      cmocka_unit_test(energy_and_enstrophy_are_kept),
      cmocka_unit_test(mountains_keep_the_energy),
      cmocka_unit_test(tendencies_are_those_of_the_equations),
      cmocka_unit_test(the_jet_is_relaxed_to),
      cmocka_unit_test(drag_and_viscosity_are_exponentials),
      cmocka_unit_test(precisions_agree_and_bits_repeat),
      cmocka_unit_test(any_batch_has_the_same_bits),
      cmocka_unit_test(projections_keep_common_waves),
      cmocka_unit_test(grids_that_cannot_be_are_refused),
      cmocka_unit_test(allocations_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
