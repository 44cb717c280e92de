/* bench_papers_time.c - see bench_papers.h: what is measured, and times of iterations predicted
 * with these rates. */
#include "bench/bench_papers_priv.h"
#include "bench/bench_sample.h"
#include "pass/weir_pass.h"
#include "scatter.h"
#include "page/speed.h"

/* Self-energies at 12 orbitals, and at the sizes of the study where it scatters. */
enum { PRODUCTS_ALONE, RECIPE, LARGE, OWN, SAMPLES };

typedef struct times {
  const qt_study *study;
  double recursion; /* flop/s at the blocks of the study */
  double dense;     /* flop/s of products of matrices of LARGE_BLOCK rows */
  double seconds[SAMPLES], flops[SAMPLES];
  double iteration_s;             /* of the study; NaN: it does not scatter */
  double green_s, self_s;         /* of it                                  */
  double retarded_s[2];           /* of the retarded self-energy: qt_retarded */
  double green_flops, self_flops; /* of it                                  */
} times;

/* The published blocks have 1459 rows; products of so many rows are as fast. */
enum { LARGE_BLOCK = 512 };

static double rate_of(const times *t, int sample)
{
  return t->flops[sample] / t->seconds[sample];
}

static weir_status measure_sample(times *t, int which, const qt_recipe_sizes *s, int fission)
{
  const qt_cfg *cfg = t->study->cfg;
  const qt_bench_sample b = {.sizes = *s,
                             .fission = fission,
                             .window = fission != WEIR_FISSION_PRODUCTS,
                             .memory = cfg->scattering.memory * 0x1p20,
                             .repeats = cfg->bench.repeats};

  return qt_bench_sample_time(&b, &t->seconds[which], &t->flops[which]);
}

static weir_status measure_samples(times *t)
{
  qt_recipe_sizes s = {.n_k = 1,
                       .n_energies = 16,
                       .n_frequencies = 4,
                       .n_atoms = qt_bench_sample_atoms(2),
                       .n_neighbours = 2,
                       .n_orbitals = 12,
                       .n_directions = 3};

  WEIR_TRY(measure_sample(t, PRODUCTS_ALONE, &s, WEIR_FISSION_PRODUCTS));
  WEIR_TRY(measure_sample(t, RECIPE, &s, WEIR_FISSION_HOIST));
  s.n_energies = 128;
  s.n_frequencies = 16;
  s.n_atoms = qt_bench_sample_atoms(4);
  s.n_neighbours = 4;
  return measure_sample(t, LARGE, &s, WEIR_FISSION_HOIST);
}

/* The sums at the sizes of the study's device, of few atoms. */
static weir_status measure_own(times *t, const qt_scatter *scatter)
{
  qt_neighbours list;
  qt_recipe_sizes s;

  WEIR_TRY(qt_bench_sample_device(t->study, scatter, &list, &s));
  qt_neighbours_fini(&list);
  s.n_atoms = qt_bench_sample_atoms(s.n_neighbours);
  return measure_sample(t, OWN, &s, t->study->cfg->scattering.fission);
}

/* Sigma^R of the device, as half of a difference and with the Hilbert transform. */
typedef struct retarded {
  qt_self_energy plan;
  weir_tensor t[QT_SELF_ENERGY_ARRAYS];
} retarded;

static weir_status run_retarded(void *context)
{
  retarded *r = context;

  return qt_self_energy_run_retarded(&r->plan, r->t);
}

static weir_status time_retarded(const times *t, const qt_self_energy_spec *s, double *seconds)
{
  static const qt_self_energy_array arrays[] = {QT_SIGMA, QT_SIGMA_RETARDED};
  const double enough = 1; /* s: longer runs are not repeated */
  retarded r = {.plan = {.plan = NULL}};
  weir_status status = WEIR_OK;

  WEIR_TRY(qt_self_energy_create_retarded(s, &r.plan));
  for (int i = 0; i < 2; i++) {
    const weir_array_desc d = qt_self_energy_desc(s, arrays[i]);
    weir_tensor *x = &r.t[arrays[i]];

    WEIR_TRY_GOTO(weir_tensor_init(x, d.dtype, d.rank, d.shape), done);
    qt_bench_sample_fill(weir_tensor_numel(x), x->data);
  }
  status = qt_bench_seconds(run_retarded, &r, t->study->cfg->bench.repeats, enough, seconds);
done:
  qt_self_energy_fini(&r.plan);
  for (int i = 0; i < 2; i++) {
    weir_tensor_fini(&r.t[arrays[i]]);
  }
  return status;
}

static weir_status measure_retarded(times *t, const qt_scatter *scatter)
{
  qt_neighbours list;
  qt_recipe_sizes sizes;
  weir_status status = WEIR_OK;

  WEIR_TRY(qt_bench_sample_device(t->study, scatter, &list, &sizes));
  qt_self_energy_spec s = qt_bench_sample_spec(&sizes, &list);

  for (int kind = 0; kind < 2 && status == WEIR_OK; kind++) {
    s.retarded = (qt_retarded)kind;
    status = time_retarded(t, &s, &t->retarded_s[kind]);
  }
  qt_neighbours_fini(&list);
  return status;
}

/* Of two iterations or more. Step 0 has Green's functions alone. */
static void take_phases(times *t, const qt_scatter *scatter)
{
  const qt_born *b = &scatter->born;
  const double iterations = (double)b->n_steps - 1;
  const bool coupled = t->study->cfg->scattering.phonons.state == QT_PHONONS_COUPLED;

  t->iteration_s = b->seconds[QT_BORN_STEPS] / iterations;
  t->green_s = (b->seconds[QT_BORN_ELECTRONS] + b->seconds[QT_BORN_PHONONS]) / (iterations + 1);
  t->self_s = b->seconds[QT_BORN_SELF_ENERGIES] / iterations;
  t->green_flops = scatter->size.electron_flops + (coupled ? scatter->size.phonon_flops : 0);
  t->self_flops = scatter->size.self_energy.flops;
}

static weir_status measure_iteration(times *t)
{
  qt_cfg cfg = *t->study->cfg;
  qt_study study = *t->study;
  qt_scatter scatter = {.seconds = 0};
  weir_status status = WEIR_OK;

  study.cfg = &cfg;
  cfg.scattering.method = QT_BORN_SIMPLE;
  cfg.scattering.tolerance = 1; /* the change of the first iteration, from none, is 1 */
  cfg.scattering.current_tolerance = 1e30;
  cfg.scattering.energy_tolerance = 0;
  WEIR_TRY_GOTO(qt_scatter_open(&study, 1, &scatter), done);
  WEIR_TRY_GOTO(measure_own(t, &scatter), done);
  WEIR_TRY_GOTO(measure_retarded(t, &scatter), done);
  scatter.clock = qt_bench_processor;
  WEIR_TRY_GOTO(qt_scatter_solve(&study, 1, &scatter), done);
  take_phases(t, &scatter);
done:
  qt_scatter_fini(&scatter);
  return status;
}

/* A part of an iteration: its share and, where its flops are counted, its rate relative to products
 * of matrices. */
static void add_phase(weir_table *c, const times *t, papers_row r, const char *name, double seconds,
                      double flops)
{
  char quantity[96];

  (void)snprintf(quantity, sizeof quantity, "%s: time", name);
  r.quantity = quantity;
  r.unit = "s";
  r.formula = NAN;
  r.here = seconds;
  papers_add_row(c, &r);
  (void)snprintf(quantity, sizeof quantity, "%s: share of an iteration", name);
  r.unit = "1";
  r.here = seconds / t->iteration_s;
  papers_add_row(c, &r);
  if (flops > 0) {
    (void)snprintf(quantity, sizeof quantity, "%s: rate; formula: of products", name);
    r.unit = "Gflop/s";
    r.formula = 1e-9 * t->dense;
    r.here = 1e-9 * flops / seconds;
    papers_add_row(c, &r);
  }
}

/* One rank: nothing is exchanged. */
static void add_phases(weir_table *c, const times *t, const papers_row *r)
{
  const double green = t->green_s, self = t->self_s;

  add_phase(c, t, *r, "Green's functions", green, t->green_flops);
  add_phase(c, t, *r, "self-energies", self, t->self_flops);
  add_phase(c, t, *r, "Green's functions and self-energies", green + self,
            t->green_flops + t->self_flops);
  add_phase(c, t, *r, "Sigma^R as half a difference", t->retarded_s[QT_RETARDED_HALF], 0);
  add_phase(c, t, *r, "Sigma^R with its Hilbert transform", t->retarded_s[QT_RETARDED_FULL], 0);
  add_phase(c, t, *r, "currents, powers, mixing", t->iteration_s - green - self, 0);
}

/* Predicted is the formula, measured is here. */
static void add_iteration(weir_table *c, const times *t)
{
  const qt_study *s = t->study;
  papers_row r = {.section = "measured", .unit = "s", .published = NAN, .here = t->iteration_s};

  if (isnan(t->iteration_s)) {
    return;
  }
  const double self_s = t->self_flops / rate_of(t, OWN);

  r.formula = t->green_flops / t->recursion + self_s;
  (void)snprintf(r.setting, sizeof r.setting, "this device, %lld atoms, %lld energies, 1 thread",
                 (long long)s->system.n_atoms, (long long)s->n_energies);
  r.quantity = "an iteration; formula: predicted";
  papers_add_row(c, &r);
  r.quantity = "self-energies of it, predicted";
  r.formula = NAN;
  r.here = self_s;
  papers_add_row(c, &r);
  add_phases(c, t, &r);
}

static int64_t largest_block(const qt_system *s)
{
  int64_t max = 0;

  for (int64_t b = 0; b < s->n_blocks; b++) {
    const int64_t n = s->block[b + 1] - s->block[b];

    max = n > max ? n : max;
  }
  return max;
}

/* Rates, relative to products of matrices; what the recipe gains, at equal sizes, in one run. */
static void add_measured(weir_table *c, const times *t)
{
  static const char *const names[SAMPLES] = {
      "map fission, 12 orbitals, 16 energies", "windows, 12 orbitals, 16 energies",
      "windows, 12 orbitals, 128 energies", "sizes of this device"};
  const qt_papers_node *old = &qt_papers_nodes[QT_PAPERS_ORIGINAL];
  const qt_papers_node *new = &qt_papers_nodes[QT_PAPERS_RESTRUCTURED];
  papers_row r = {.section = "measured", .unit = "Gflop/s", .published = NAN, .formula = NAN};

  r.quantity = "rate of products of matrices";
  (void)snprintf(r.setting, sizeof r.setting, "%d x %d", LARGE_BLOCK, LARGE_BLOCK);
  r.here = 1e-9 * t->dense;
  papers_add_row(c, &r);
  r.formula = 1e-9 * t->dense;
  r.quantity = "rate of recursion; formula: of products";
  (void)snprintf(r.setting, sizeof r.setting, "this device, %lld rows",
                 (long long)largest_block(&t->study->system));
  r.here = 1e-9 * t->recursion;
  papers_add_row(c, &r);
  r.quantity = "rate of self-energies; formula: of products";
  for (int i = 0; i < SAMPLES && t->seconds[i] > 0; i++) {
    (void)snprintf(r.setting, sizeof r.setting, "%s", names[i]);
    r.here = 1e-9 * rate_of(t, i);
    papers_add_row(c, &r);
  }
  r = (papers_row){.section = "measured", .unit = "1", .formula = NAN};
  (void)snprintf(r.setting, sizeof r.setting, "published: one node; here: 1 thread, 12 orbitals");
  r.quantity = "self-energies, original / restructured: flops";
  r.published = old->self_tflop / new->self_tflop;
  r.here = t->flops[PRODUCTS_ALONE] / t->flops[RECIPE];
  papers_add_row(c, &r);
  r.quantity = "self-energies, original / restructured: time";
  r.published = old->self_s / new->self_s;
  r.here = t->seconds[PRODUCTS_ALONE] / t->seconds[RECIPE];
  papers_add_row(c, &r);
  add_iteration(c, t);
}

static weir_status measure(times *t)
{
  if (!(t->recursion > 0)) {
    return weir_fail(WEIR_ERR_NUMERIC, "bench.papers: the recursion has no result at the middle of "
                                       "the energies: move energy.min or energy.max");
  }
  const qt_bench_clock began = qt_bench_clock_now();

  WEIR_TRY(qt_speed_zgemm(LARGE_BLOCK, 1, t->study->cfg->bench.zgemm, &t->dense));
  t->dense /= qt_bench_clock_share(&began);
  WEIR_TRY(measure_samples(t));
  return t->study->cfg->scattering.kind == QT_SCATTERING_NONE ? WEIR_OK : measure_iteration(t);
}

/* ---- Times of the published devices ---- */

typedef struct prediction {
  qt_papers_time original, restructured;           /* with the rates of one thread here     */
  qt_papers_time node_original, node_restructured; /* with those published of a node        */
} prediction;

/* Flops of Sigma and t of all atoms. */
static weir_status sum_flops(const qt_recipe_sizes *s, qt_recipe_step step, double *out)
{
  qt_recipe_count electrons, phonons;

  WEIR_TRY(qt_recipe_count_of(s, step, QT_RECIPE_ELECTRONS, &electrons));
  WEIR_TRY(qt_recipe_count_of(s, step, QT_RECIPE_PHONONS, &phonons));
  *out = electrons.flops + phonons.flops;
  return WEIR_OK;
}

/* What a rank has, but for flops. Messages: four tensors to all other ranks; in the original scheme
 * G and Sigma of every point for each phonon, D and Pi for each. */
static qt_papers_load load_of(const qt_recipe_sizes *s, int64_t ranks, bool original)
{
  const papers_volume v = papers_volume_of(s, ranks);
  const double points = ceil((double)(s->n_k * s->n_energies) / (double)ranks);

  return (qt_papers_load){.points = points,
                          .bytes = (original ? v.original : v.best) / (double)ranks,
                          .messages = original
                                          ? 2 * (double)(s->n_k * s->n_frequencies) * (points + 1)
                                          : 4 * (double)(ranks - 1)};
}

/* Flops as this program takes them; the recursion at the rate of products. */
static weir_status predict_here(const times *t, const qt_recipe_sizes *s, int64_t ranks,
                                prediction *out)
{
  const qt_papers_rates rates = {.dense = t->dense,
                                 .batch = rate_of(t, LARGE),
                                 .link = t->study->cfg->bench.link,
                                 .latency = t->study->cfg->bench.latency};

  for (int original = 0; original < 2; original++) {
    qt_papers_load load = load_of(s, ranks, original);
    double flops = 0;

    WEIR_TRY(papers_point_flops(s, &load.point_flops));
    WEIR_TRY(sum_flops(s, original ? QT_RECIPE_FISSIONED : QT_RECIPE_WINDOWED, &flops));
    load.self_flops = flops / (double)ranks;
    *(original ? &out->original : &out->restructured) = qt_papers_time_of(&load, &rates);
  }
  return WEIR_OK;
}

/* Flops by the formulas, a rank a node. */
static void predict_nodes(const times *t, const qt_recipe_sizes *s, int64_t ranks, prediction *out)
{
  const double blocks = (double)qt_papers_blocks(s);

  for (int original = 0; original < 2; original++) {
    const qt_papers_node *n =
        &qt_papers_nodes[original ? QT_PAPERS_ORIGINAL : QT_PAPERS_RESTRUCTURED];
    const double flops = original ? qt_papers_original_flops(s) : qt_papers_restructured_flops(s);
    const qt_papers_rates rates = {.dense = 1e12 * n->green_tflop / n->green_s,
                                   .batch = 1e12 * n->self_tflop / n->self_s,
                                   .link = t->study->cfg->bench.link,
                                   .latency = t->study->cfg->bench.latency};
    qt_papers_load load = load_of(s, ranks, original);

    load.point_flops =
        qt_papers_recursion_flops(blocks, (double)(s->n_atoms * s->n_orbitals) / blocks);
    load.self_flops = flops / (double)ranks;
    *(original ? &out->node_original : &out->node_restructured) = qt_papers_time_of(&load, &rates);
  }
}

static void add_prediction(weir_table *c, const prediction *p, const qt_recipe_sizes *s,
                           int64_t ranks)
{
  const struct {
    const char *quantity;
    double seconds;
  } of[] = {{"Green's functions", p->restructured.green},
            {"self-energies, original", p->original.self},
            {"self-energies, restructured", p->restructured.self},
            {"exchange, original", p->original.exchange},
            {"exchange, restructured", p->restructured.exchange},
            {"an iteration, original", p->original.total},
            {"an iteration, restructured", p->restructured.total},
            {"an iteration, original, published rates of a node", p->node_original.total},
            {"an iteration, restructured, published rates of a node", p->node_restructured.total}};

  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    papers_row r = {.section = "time",
                    .quantity = of[i].quantity,
                    .unit = "s",
                    .published = NAN,
                    .formula = NAN,
                    .here = of[i].seconds};

    papers_set(&r, s, ranks);
    papers_add_row(c, &r);
  }
}

/* The largest gain of predictions: by exchange alone; by all, with the rates here, where the
 * original has the rate of products, too; and with the published rates of a node. */
enum { EXCHANGE, HERE, NODES, GAINS };

static void raise_gains(const prediction *p, double *gain)
{
  gain[EXCHANGE] = fmax(gain[EXCHANGE], p->original.exchange / p->restructured.exchange);
  gain[HERE] = fmax(gain[HERE], p->original.total / p->restructured.total);
  gain[NODES] = fmax(gain[NODES], p->node_original.total / p->node_restructured.total);
}

/* Published: the best of the settings of a machine. */
static void add_gains(weir_table *c, const double *gain)
{
  static const char *const names[GAINS] = {
      [EXCHANGE] = "exchange, original / restructured",
      [HERE] = "an iteration, original / restructured",
      [NODES] = "an iteration, original / restructured, published rates of a node"};
  static const double published[2][GAINS] = {{417, 16.3, 16.3}, {79.7, 24.5, 24.5}};

  for (int i = 0; i < 2 * GAINS; i++) {
    papers_row r = {.section = "time",
                    .quantity = names[i % GAINS],
                    .unit = "1",
                    .published = published[i / GAINS][i % GAINS],
                    .formula = NAN,
                    .here = gain[i % GAINS]};

    (void)snprintf(r.setting, sizeof r.setting, "most of all settings; published: %s",
                   i < GAINS ? "Piz Daint" : "Summit");
    papers_add_row(c, &r);
  }
}

static weir_status add_setting(weir_table *c, const times *t, const qt_recipe_sizes *s,
                               int64_t ranks, double *gain)
{
  prediction p;

  WEIR_TRY(predict_here(t, s, ranks, &p));
  predict_nodes(t, s, ranks, &p);
  add_prediction(c, &p, s, ranks);
  raise_gains(&p, gain);
  return WEIR_OK;
}

/* Both tables of P2, and the device of 10,240 atoms on 1 and 6 ranks of each of 4,560 nodes. */
static weir_status add_times(weir_table *c, const times *t)
{
  const qt_papers_row *const tables[] = {qt_papers_momenta, qt_papers_ranks};
  const qt_recipe_sizes large = qt_papers_large();
  const int64_t nodes = 4560;
  double gain[GAINS] = {0}, unused[GAINS] = {0};

  for (int i = 0; i < 2 * QT_PAPERS_ROWS; i++) {
    const qt_papers_row *row = &tables[i / QT_PAPERS_ROWS][i % QT_PAPERS_ROWS];
    const qt_recipe_sizes s = qt_papers_device(row->n_k);

    WEIR_TRY(add_setting(c, t, &s, row->ranks, gain));
  }
  add_gains(c, gain);
  WEIR_TRY(add_setting(c, t, &large, nodes, unused));
  return add_setting(c, t, &large, 6 * nodes, unused);
}

weir_status papers_measure(const qt_study *study, double recursion, weir_table *out)
{
  times t = {.study = study, .recursion = recursion, .iteration_s = NAN};

  WEIR_TRY(measure(&t));
  add_measured(out, &t);
  return add_times(out, &t);
}
