/* cosmo_generate.c - a universe of 64^3 particles by second order, one redshift, with its power
 * spectrum, on one core: against 60 ms and against NumPy with scipy.fft; and one by particle-mesh
 * steps. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "data/simulation/field.h"
#include "data/simulation/lpt.h"
#include "data/simulation/particles.h"
#include "data/simulation/power.h"
#include "data/simulation/universe.h"
#include "device/weir_parallel.h"
#include "ops/fft/weir_fft_plan.h"
#include "reference.h"
#include "weir_bench.h"

#define PI 3.14159265358979323846
enum { N = 64, CELLS = N * N * N, RUNS = 30, REFERENCE_RUNS = 5, STEPS = 10 };
static const double box = 256;

/* The functions of universe.c whose results are compared with those of the reference: CIC and its
 * power. */
typedef struct state {
  cf_mesh *m;
  float *delta, *source, *density, *psi[3];
  cf_power power;
} state;

static const cf_cosmology planck = {0.3089, 0.0486, 0.6774, 0.9667, 0.8159};

static void run_parts(void *context)
{
  state *const p = context;
  cf_linear l;

  bench_must(cf_linear_init(&planck, CF_TRANSFER_FULL, &l));
  bench_must(cf_field_draw(p->m, &l, box, 1, false, p->delta));
  cf_lpt_source(p->m, p->delta, p->source, p->psi);
  cf_lpt_displace(p->m, p->delta, p->source, 1, cf_linear_growth2(&l, 1), p->psi);
  const cf_particles q = {p->m, {p->psi[0], p->psi[1], p->psi[2]}};

  cf_particles_deposit(&q, CF_CIC, p->m, p->density);
  cf_mesh_forward(p->m, p->density);
  cf_power_measure(&p->power, p->m, p->density, 1, CF_CIC);
}

static void make_state(state *p)
{
  float **const field[] = {&p->delta, &p->source, &p->density, &p->psi[0], &p->psi[1], &p->psi[2]};

  bench_must(cf_mesh_create(N, &p->m));
  for (size_t i = 0; i < sizeof field / sizeof field[0]; i++) {
    bench_must(cf_mesh_field(p->m, field[i]));
  }
  bench_must(cf_power_init(&p->power, p->m, box, cf_mesh_side(p->m) / 2));
}

static void free_state(state *p)
{
  float **const field[] = {&p->delta, &p->source, &p->density, &p->psi[0], &p->psi[1], &p->psi[2]};

  for (size_t i = 0; i < sizeof field / sizeof field[0]; i++) {
    weir_free(field[i]);
  }
  cf_power_fini(&p->power);
  cf_mesh_destroy(&p->m);
}

/* The reference takes the noise and sqrt(P) by |w|^2, which are not in its time. */
static void compare(state *p)
{
  const int64_t pitch = cf_mesh_pitch(p->m), squares = cf_mesh_squares(N);
  float *noise = NULL, *root = NULL, *density = NULL, power[N / 2];
  char arguments[256];
  cf_linear l;

  bench_must(weir_alloc(CELLS, sizeof *noise, (void **)&noise));
  bench_must(weir_alloc(CELLS, sizeof *density, (void **)&density));
  bench_must(weir_alloc(squares, sizeof *root, (void **)&root));
  bench_must(cf_linear_init(&planck, CF_TRANSFER_FULL, &l));
  cf_noise(1, N, N, 0, N, noise);
  for (int64_t i = 1; i < squares; i++) {
    root[i] = (float)sqrt(cf_linear_power(&l, 2 * PI / box * sqrt((double)i)));
  }
  const reference_input in[2] = {{"noise", "f4", noise, CELLS}, {"root", "f4", root, squares}};

  (void)snprintf(arguments, sizeof arguments, "n=%d box=%.17g first=%.17g second=%.17g", N, box,
                 1.0, cf_linear_growth2(&l, 1));
  reference_result r =
      reference_run("cosmo_generate.py", "universe", arguments, REFERENCE_RUNS, 1, in, 2);
  const double best = bench_best(RUNS, run_parts, p);

  cf_mesh_backward(p->m, p->density);
  for (int64_t i = 0; i < CELLS; i++) {
    density[i] = p->density[i / N * pitch + i % N];
  }
  for (int64_t i = 0; i < N / 2; i++) { /* of the order of 1 */
    power[i] = (float)(p->power.p[i] / cf_linear_power(&l, p->power.k[i]));
    ((float *)r.data[1])[i] /= (float)cf_linear_power(&l, p->power.k[i]);
  }
  reference_same_f32("density", &r, 0, density, CELLS, 2e-3);
  reference_same_f32("power", &r, 1, power, N / 2, 1e-4);
  reference_row_ms("universe 64^3 2LPT: P(k) of one redshift", "scipy.fft", &r, 1, best, 3);
  bench_row("universe 64^3 2LPT: P(k) of one redshift", "limit", 60, best * 1e3, "ms", 0, 1);
  reference_free(&r);
  weir_free(&noise);
  weir_free(&density);
  weir_free(&root);
}

typedef struct whole {
  cf_generator *g;
  cf_generator_workspace *r;
  int16_t *out;
} whole;

static void run_whole(void *context)
{
  whole *const w = context;

  bench_must(cf_generator_make(w->g, w->r, 0, w->out));
}

/* As prepare makes them: parameters to counts. */
static void time_whole(int method, const char *name, double limit, int runs)
{
  double redshift = 0;
  cf_universe_opts o;
  whole w;

  weir_opts_default(cf_universe_options, sizeof o, &o);
  o.side = N;
  o.box = box;
  o.steps = STEPS;
  o.method = method;
  o.redshifts = (weir_real_list){&redshift, 1};
  bench_must(cf_generator_create(&o, 1, &w.g));
  bench_must(cf_generator_workspace_create(w.g, &w.r));
  bench_must(weir_alloc(cf_generator_facts(w.g)->bytes, 1, (void **)&w.out));
  bench_row(name, "limit", limit, bench_best(runs, run_whole, &w) * 1e3, "ms", 0, 1);
  weir_free(&w.out);
  cf_generator_workspace_destroy(&w.r);
  cf_generator_destroy(&w.g);
}

int main(void)
{
  state p;

  weir_log_set_level(WEIR_LOG_WARN);
  if (!weir_fft_plan_available() || !reference_ready("scipy")) {
    return REFERENCE_SKIP;
  }
  (void)bench_pin();
  weir_threads_set(1);
  make_state(&p);
  compare(&p);
  free_state(&p);
  time_whole(CF_METHOD_2LPT, "universe 64^3 2LPT: counts of one redshift", 60, RUNS);
  /* The prototype of the reference, two threads: 0.6 s. */
  time_whole(CF_METHOD_PM, "universe 64^3 PM 10 steps: counts of one redshift", 600, 5);
  return 0;
}
