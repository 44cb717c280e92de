/* cmd_bench.c - time of the self-energies of the leads and of the recursion at one energy of the
 * device, on one thread, relative to matrix products of the size of its largest block. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"
#include "base/weir_sort.h"
#include "bench/bench_papers.h"
#include "bench/bench_recipe.h"
#include "bench/bench_sample.h"
#include "model/rgf/rgf.h"
#include "page/speed.h"
#include "study.h"
#include "commands.h"

enum { METHODS = QT_LEAD_CONTOUR + 1, PHASES = METHODS + 2 };

/* One energy and wave vector of the device. */
typedef struct bench {
  const qt_cfg *cfg;
  qt_study study;
  double energy, eta; /* as qt_lead_solve takes them */
  const double *k;
  qt_cell cell;
  qt_layout layout;
  weir_c128 *sigma[QT_LEADS]; /* of the end blocks */
  weir_c128 *gamma, *g, *lesser, *corner;
  void *scratch;
  int64_t n_modes;   /* of the left lead */
  double *seconds;   /* [repeats + 1] */
  double rate;       /* of zgemm, flop/s */
  double lead_flops; /* of the last solve_lead */
  qt_speed_phase phase[PHASES];
  weir_table papers; /* bench.papers */
  weir_table recipe; /* bench.recipe */
} bench;

static void bench_fini(bench *b)
{
  weir_free(&b->sigma[QT_LEFT]);
  weir_free(&b->sigma[QT_RIGHT]);
  weir_free(&b->gamma);
  weir_free(&b->g);
  weir_free(&b->lesser);
  weir_free(&b->corner);
  weir_free(&b->scratch);
  weir_free(&b->seconds);
  weir_table_fini(&b->papers);
  weir_table_fini(&b->recipe);
  qt_cell_fini(&b->cell);
  qt_layout_fini(&b->layout);
  qt_study_fini(&b->study);
}

/* qt_blocks.read: E S - H, minus Sigma at the ends. */
static void read_block(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const bench *b = context;

  qt_system_inverse_block(&b->study.system, b->k, (weir_c128){b->energy, 0}, b->sigma, row, column,
                          out);
}

/* Sigma^< = i Gamma of the left lead. */
static void read_left(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const bench *b = context;
  const int64_t count = qt_layout_rows(&b->layout, row) * qt_layout_rows(&b->layout, column);

  memset(out, 0, (size_t)count * sizeof *out);
  for (int64_t i = 0; i < count && row == 0; i++) {
    out[i] = (weir_c128){-b->gamma[i].im, b->gamma[i].re};
  }
}

/* What a phase does once; false: no result. */
static bool solve_lead(bench *b, int method)
{
  qt_lead_opts o = b->cfg->lead;
  qt_lead_result r = {.sigma = {b->sigma[QT_LEFT], NULL}};

  o.method = method;
  const bool left = qt_lead_solve(&o, &b->cell, b->energy, b->eta, &r) == WEIR_OK;

  b->lead_flops = r.flops;
  return left && r.method == method;
}

static bool solve_corner(bench *b, int unused)
{
  const qt_blocks a = {read_block, b};

  (void)unused;
  return qt_rgf_corner(&b->layout, &a, b->corner, b->scratch);
}

static bool solve_blocks(bench *b, int unused)
{
  const qt_rgf_job job = {.layout = &b->layout,
                          .a = {read_block, b},
                          .sigma = {read_left, b},
                          .g = {b->g, 1},
                          .lesser = {b->lesser, 1},
                          .corner = b->corner};

  (void)unused;
  return qt_rgf_solve(&job, b->scratch);
}

/* Median of the repeats, after one that is not measured; NaN where there is no result. */
static double measure(bench *b, bool (*solve)(bench *, int), int which)
{
  const int64_t n = b->cfg->bench.repeats;

  for (int64_t i = 0; i <= n; i++) {
    const double began = weir_clock();

    if (!solve(b, which)) {
      return NAN;
    }
    b->seconds[i] = weir_clock() - began;
  }
  qsort(b->seconds + 1, (size_t)n, sizeof *b->seconds, weir_compare_f64);
  return n % 2 ? b->seconds[1 + n / 2] : (b->seconds[n / 2] + b->seconds[1 + n / 2]) / 2;
}

static weir_status prepare(bench *b)
{
  const qt_study *s = &b->study;

  WEIR_TRY(qt_study_check_size(b->cfg));
  WEIR_TRY(qt_study_open(b->cfg, &b->study));
  WEIR_TRY(qt_lead_start(&b->cfg->lead, &b->cfg->petsc));
  const bool phonons = s->system.particle == QT_PHONONS;

  b->energy = s->energy[s->n_energies / 2];
  b->energy = phonons ? b->energy * b->energy : b->energy;
  b->eta = qt_lead_eta(&b->cfg->lead, s->system.particle, b->energy);
  b->k = s->k[s->n_k / 2];
  WEIR_TRY(qt_cell_create(&s->system.lead[QT_LEFT], b->k, &b->cell));
  WEIR_TRY(qt_layout_create(s->system.n_blocks, s->system.block, &b->layout));
  const int64_t left = qt_layout_rows(&b->layout, 0);
  const int64_t right = qt_layout_rows(&b->layout, s->system.n_blocks - 1);

  WEIR_TRY(weir_alloc(left * left, sizeof *b->gamma, (void **)&b->sigma[QT_LEFT]));
  WEIR_TRY(weir_alloc(right * right, sizeof *b->gamma, (void **)&b->sigma[QT_RIGHT]));
  WEIR_TRY(weir_alloc(left * left, sizeof *b->gamma, (void **)&b->gamma));
  WEIR_TRY(weir_alloc(left * right, sizeof *b->corner, (void **)&b->corner));
  WEIR_TRY(weir_alloc(b->layout.count, sizeof *b->g, (void **)&b->g));
  WEIR_TRY(weir_alloc(b->layout.count, sizeof *b->lesser, (void **)&b->lesser));
  WEIR_TRY(weir_alloc(qt_rgf_scratch(b->layout.max, true), 1, &b->scratch));
  return weir_alloc(b->cfg->bench.repeats + 1, sizeof *b->seconds, (void **)&b->seconds);
}

/* Self-energies of both leads, for the recursion. */
static weir_status fill_sigma(bench *b)
{
  const qt_study *s = &b->study;

  for (int c = 0; c < QT_LEADS; c++) {
    qt_lead_result r = {.sigma = {NULL, NULL}};
    qt_cell cell = {.n = 0};

    r.sigma[c] = b->sigma[c];
    WEIR_TRY(qt_cell_create(&s->system.lead[c], b->k, &cell));
    const weir_status status = qt_lead_solve(&b->cfg->lead, &cell, b->energy, b->eta, &r);

    qt_cell_fini(&cell);
    WEIR_TRY(status);
    b->n_modes = c == QT_LEFT ? r.n_modes : b->n_modes;
  }
  qt_lead_gamma(qt_layout_rows(&b->layout, 0), b->sigma[QT_LEFT], b->gamma);
  return WEIR_OK;
}

static weir_status measure_all(bench *b)
{
  static const char *const method[METHODS] = {"lead by decimation", "lead by modes",
                                              "lead by contour integrals"};

  WEIR_TRY(prepare(b));
  WEIR_TRY(qt_speed_zgemm(b->layout.max, 1, b->cfg->bench.zgemm, &b->rate));
  for (int m = 0; m < METHODS; m++) {
    const double seconds = measure(b, solve_lead, m);

    b->phase[m] = (qt_speed_phase){method[m], seconds, isnan(seconds) ? 0 : b->lead_flops};
  }
  WEIR_TRY(fill_sigma(b));
  const qt_bench_clock began = qt_bench_clock_now();

  b->phase[METHODS] = (qt_speed_phase){"recursion, transmission alone", measure(b, solve_corner, 0),
                                       qt_rgf_corner_flops(&b->layout)};
  b->phase[METHODS + 1] =
      (qt_speed_phase){"recursion, blocks of G and G^<", measure(b, solve_blocks, 0),
                       qt_rgf_flops(&b->layout, true, false)};
  const double seconds = b->phase[METHODS + 1].seconds * qt_bench_clock_share(&began);

  if (b->cfg->bench.papers) {
    WEIR_TRY(qt_bench_papers(&b->study, b->phase[METHODS + 1].flops / seconds, &b->papers));
  }
  return b->cfg->bench.recipe ? qt_bench_recipe(&b->study, &b->recipe) : WEIR_OK;
}

/* A table that was asked for. */
static weir_status report_more(const weir_cli *cli, const weir_table *table, const char *file,
                               int columns, const char *const *head)
{
  if (table->count == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_table_write_csv(table, cli->out, file, columns, head));
  weir_table_print(table, columns, head, stdout);
  return WEIR_OK;
}

static weir_status report(const weir_job *j, const bench *b)
{
  const weir_cli *const cli = j->cli;
  static const char *const head[QT_SPEED_COLUMNS] = {"phase", "time_s", "gflop", "gflop_per_s",
                                                     "relative_to_zgemm"};
  weir_table cells = {0};
  weir_status status = WEIR_OK;

  qt_speed_table(PHASES, b->phase, b->layout.max, b->rate, &cells);
  weir_event("bench_end", WEIR_INT("block", b->layout.max), WEIR_INT("modes", b->n_modes),
             WEIR_REAL("zgemm_gflop_per_s", 1e-9 * b->rate),
             WEIR_REAL("lead_decimation_s", b->phase[QT_LEAD_DECIMATION].seconds),
             WEIR_REAL("lead_modes_s", b->phase[QT_LEAD_MODES].seconds),
             WEIR_REAL("lead_contour_s", b->phase[QT_LEAD_CONTOUR].seconds),
             WEIR_REAL("transmission_s", b->phase[METHODS].seconds),
             WEIR_REAL("blocks_s", b->phase[METHODS + 1].seconds));
  WEIR_TRY_GOTO(cells.status, done);
  WEIR_TRY_GOTO(qt_write_provenance(j), done);
  WEIR_TRY_GOTO(weir_table_write_csv(&cells, cli->out, "bench.csv", QT_SPEED_COLUMNS, head), done);
  weir_table_print(&cells, QT_SPEED_COLUMNS, head, stdout);
  WEIR_TRY_GOTO(
      report_more(cli, &b->papers, "papers.csv", QT_BENCH_PAPERS_COLUMNS, qt_bench_papers_head),
      done);
  WEIR_TRY_GOTO(
      report_more(cli, &b->recipe, "recipe.csv", QT_BENCH_RECIPE_COLUMNS, qt_bench_recipe_head),
      done);
done:
  weir_table_fini(&cells);
  return status;
}

static weir_status perform(weir_job *j)
{
  bench b = {.cfg = j->cfg};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(qt_begin(j, "bench"), done);
  WEIR_TRY_GOTO(measure_all(&b), done);
  WEIR_TRY_GOTO(weir_run_dir_commit(&j->dir), done);
  WEIR_TRY_GOTO(report(j, &b), done);
done:
  bench_fini(&b);
  return status;
}

weir_status qt_cmd_bench(const weir_cli *cli)
{
  qt_cfg cfg;

  return weir_job_run(cli, &qt_program, &cfg, perform);
}
