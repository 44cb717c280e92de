/* open_points.c - see open_points.h. */
#include "model/scattering/open_points.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "exec/weir_plan.h"
#include "model/point/point.h"
#include "model/scattering/power.h"
#include "ops/linear/weir_linear.h"

void qt_open_points_fini(qt_open_points *o)
{
  qt_layout_fini(&o->layout);
  weir_free(&o->k);
  weir_free(&o->energy);
  for (int c = 0; c < QT_LEADS; c++) {
    weir_free(&o->filling[c]);
    weir_free(&o->sigma[c]);
  }
  *o = (qt_open_points){.n_k = 0};
}

/* ---- Leads ---- */

typedef struct lead_job {
  const qt_open_points_spec *spec;
  qt_open_points *out;
  const qt_point_leads *leads; /* of wave vector k */
  int64_t k;
  bool *shifted;       /* [n_energies] */
  weir_status *status; /* [n_energies] */
} lead_job;

static bool is_of_phonons(const qt_open_points *o)
{
  return o->system->particle == QT_PHONONS;
}

/* The energy that matrices know. */
static double matrix_energy(const qt_open_points *o, double energy)
{
  return is_of_phonons(o) ? energy * energy : energy;
}

static weir_c128 *sigma_at(const qt_open_points *o, int64_t point, int lead)
{
  const int64_t n = o->system->lead[lead].n;

  return o->sigma[lead] + point * n * n;
}

static weir_status solve_leads(const lead_job *j, int64_t point, double energy)
{
  const qt_open_points_spec *s = j->spec;
  const double z = matrix_energy(j->out, energy);
  const double eta = qt_lead_eta(s->lead, s->system->particle, z);

  for (int c = 0; c < QT_LEADS; c++) {
    qt_lead_result r = {.residual = 0};

    if (c == QT_LEFT || !j->leads->same) { /* else both at once */
      r.sigma[c] = sigma_at(j->out, point, c);
      r.sigma[1 - c] = j->leads->same ? sigma_at(j->out, point, 1 - c) : NULL;
      WEIR_TRY(qt_lead_solve(s->lead, &j->leads->cell[c], z, eta, &r));
    }
  }
  return WEIR_OK;
}

static void solve_lead_item(void *context, int64_t item, int thread)
{
  const lead_job *j = context;
  const qt_open_points_spec *s = j->spec;
  const int64_t point = j->k * s->n_energies + item;

  (void)thread;
  j->status[item] = solve_leads(j, point, s->energy[item]);
  if (j->status[item] == WEIR_ERR_NUMERIC && s->shift > 0) {
    weir_clear_failure();
    j->shifted[item] = true;
    j->status[item] = solve_leads(j, point, s->energy[item] + s->shift);
  }
  if (j->status[item] != WEIR_OK) {
    weir_clear_failure();
  }
}

/* The first energy that failed, once more, for its message. */
static weir_status check_leads(const lead_job *j)
{
  const qt_open_points_spec *s = j->spec;

  for (int64_t e = 0; e < s->n_energies; e++) {
    j->out->n_shifted += j->shifted[e];
    if (j->status[e] != WEIR_OK) {
      const weir_status status =
          solve_leads(j, j->k * s->n_energies + e, s->energy[e] + (j->shifted[e] ? s->shift : 0));

      return status == WEIR_OK
                 ? j->status[e]
                 : weir_fail(status, "leads at k = (%g, %g), energy %.10g eV: %s", s->k[j->k][0],
                             s->k[j->k][1], s->energy[e], weir_last_message());
    }
  }
  return WEIR_OK;
}

static weir_status solve_all_leads(const qt_open_points_spec *s, qt_open_points *o)
{
  qt_point_leads leads = {.same = false};
  lead_job j = {.spec = s, .out = o, .leads = &leads};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(s->n_energies, sizeof *j.shifted, (void **)&j.shifted), done);
  WEIR_TRY_GOTO(weir_alloc(s->n_energies, sizeof *j.status, (void **)&j.status), done);
  for (j.k = 0; j.k < s->n_k && status == WEIR_OK; j.k++) {
    memset(j.shifted, 0, (size_t)s->n_energies * sizeof *j.shifted);
    WEIR_TRY_GOTO(qt_point_leads_set(s->system, s->k[j.k], &leads), done);
    weir_parallel(s->n_energies, s->threads, solve_lead_item, &j);
    status = check_leads(&j);
  }
done:
  qt_point_leads_fini(&leads);
  weir_free(&j.shifted);
  weir_free(&j.status);
  return status;
}

static weir_status allocate(const qt_open_points_spec *s, qt_open_points *o)
{
  const qt_system *system = s->system;

  WEIR_TRY(qt_layout_create(system->n_blocks, system->block, &o->layout));
  WEIR_TRY(weir_alloc(s->n_k, sizeof *o->k, (void **)&o->k));
  WEIR_TRY(weir_alloc(s->n_energies, sizeof *o->energy, (void **)&o->energy));
  memcpy(o->k, s->k, (size_t)s->n_k * sizeof *o->k);
  for (int64_t e = 0; e < s->n_energies; e++) {
    o->energy[e] = s->energy[e];
  }
  for (int c = 0; c < QT_LEADS; c++) {
    const int64_t n = system->lead[c].n;

    WEIR_TRY(weir_alloc(s->n_energies, sizeof *o->filling[c], (void **)&o->filling[c]));
    WEIR_TRY(
        weir_alloc(s->n_k * s->n_energies * n * n, sizeof *o->sigma[c], (void **)&o->sigma[c]));
    for (int64_t e = 0; e < s->n_energies; e++) {
      const qt_reservoir *r = &s->reservoir[c];

      o->filling[c][e] = is_of_phonons(o) ? -qt_bose(s->energy[e], r->temperature)
                                          : qt_fermi(s->energy[e], r->mu, r->temperature);
    }
  }
  return WEIR_OK;
}

weir_status qt_open_points_create(const qt_open_points_spec *s, qt_open_points *out)
{
  const int threads = s->threads > 0 ? s->threads : weir_threads_get();
  qt_open_points o = {.system = s->system,
                      .n_k = s->n_k,
                      .n_energies = s->n_energies,
                      .threads = threads,
                      .exec = s->exec};
  weir_status status = allocate(s, &o);

  *out = (qt_open_points){.n_k = 0};
  weir_linear_start();
  if (status == WEIR_OK && s->n_energies > 0) { /* a rank may have none */
    status = solve_all_leads(s, &o);
  }
  if (status != WEIR_OK) {
    qt_open_points_fini(&o);
    return status;
  }
  *out = o;
  return WEIR_OK;
}

/* ---- A point ---- */

/* Points at once, by the operator rgf; rows of its arrays are points. */
typedef struct batch {
  int64_t n;
  weir_graph *graph;
  weir_plan *plan;
} batch;

enum { RESULTS = 3 };
static const char *const result_name[RESULTS] = {"g", "lesser", "greater"};

typedef struct solve_job {
  const qt_open_points *o;
  const qt_scattering_source *scattering;
  void (*take)(void *context, const qt_open_point *point);
  void *context;
  bool tridiagonal;
  int64_t first, width;       /* of the points at once; elements of a Sigma^< */
  weir_c128 *a, *sigma;       /* [at once, layout.count], [at once, width]     */
  weir_c128 *result[RESULTS]; /* [at once, layout.count] G^R, G^<, G^>         */
  weir_c128 *gamma;           /* [threads, layout.max, layout.max]             */
  bool *failed;               /* [points]                                      */
  batch batch;
} solve_job;

typedef struct point {
  const solve_job *job;
  int64_t point;
} point;

static bool touches(const qt_open_points *o, int64_t block, int lead)
{
  return block == (lead == QT_LEFT ? 0 : o->layout.n_blocks - 1);
}

/* E S - H of a block, minus Sigma of the leads at the ends. */
static void assemble(const qt_open_points *o, int64_t at, int64_t row, int64_t column,
                     weir_c128 *out)
{
  weir_c128 *const sigma[QT_LEADS] = {sigma_at(o, at, QT_LEFT), sigma_at(o, at, QT_RIGHT)};
  const weir_c128 z = {matrix_energy(o, o->energy[at % o->n_energies]), 0};

  qt_system_inverse_block(o->system, o->k[at / o->n_energies], z, sigma, row, column, out);
}

/* qt_blocks.read of A. */
static void read_a(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const point *p = context;
  const qt_open_points *o = p->job->o;
  const qt_scattering_source *s = p->job->scattering;

  assemble(o, p->point, row, column, out);
  if (s->add != NULL) {
    s->add(s->context, p->point, QT_SCATTERING_RETARDED, row, column, -1, out);
  }
}

/* The same of Sigma^<: i l Gamma = -l (Sigma - Sigma^H). */
static void read_lesser(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const point *p = context;
  const qt_open_points *o = p->job->o;
  const qt_scattering_source *s = p->job->scattering;
  const int64_t rows = qt_layout_rows(&o->layout, row),
                columns = qt_layout_rows(&o->layout, column);

  memset(out, 0, (size_t)(rows * columns) * sizeof *out);
  for (int c = 0; c < QT_LEADS && row == column; c++) {
    const double l = o->filling[c][p->point % o->n_energies];
    const weir_c128 *sigma = sigma_at(o, p->point, c);

    for (int64_t i = 0; i < rows * rows && touches(o, row, c); i++) {
      const weir_c128 turned = sigma[i % rows * rows + i / rows];

      out[i].re -= l * (sigma[i].re - turned.re);
      out[i].im -= l * (sigma[i].im + turned.im);
    }
  }
  if (s->add != NULL) {
    s->add(s->context, p->point, QT_SCATTERING_LESSER, row, column, 1, out);
  }
}

/* Tr[Sigma^< G^> - Sigma^> G^<] of a lead. */
static void find_flow(const qt_open_points *o, int lead, weir_c128 *gamma, qt_open_point *p)
{
  const int64_t n = o->system->lead[lead].n, block = lead == QT_LEFT ? 0 : o->layout.n_blocks - 1;
  const int64_t at = qt_layout_at(&o->layout, block, block);
  const double l = o->filling[lead][p->point % o->n_energies];

  qt_lead_gamma(n, sigma_at(o, p->point, lead), gamma);
  for (int64_t i = 0; i < n * n; i++) {
    gamma[i] = (weir_c128){-gamma[i].im, gamma[i].re};
  }
  const double in = l * qt_trace_of_product(n, n, gamma, p->greater + at);
  const double out = (l - 1) * qt_trace_of_product(n, n, gamma, p->lesser + at);

  p->flow[lead] = in - out;
  p->gross[lead] = fmax(fabs(in), fabs(out));
}

/* A and Sigma^< of a point, blocks that the recursion reads. */
static void fill_item(void *context, int64_t item, int thread)
{
  const solve_job *j = context;
  const qt_layout *l = &j->o->layout;
  const point p = {j, j->first + item};
  weir_c128 *a = j->a + item * l->count, *sigma = j->sigma + item * j->width;

  (void)thread;
  for (int64_t n = 0; n < l->n_blocks; n++) {
    for (int64_t m = n > 0 ? n - 1 : 0; m <= n + 1 && m < l->n_blocks; m++) {
      read_a(&p, n, m, a + qt_layout_at(l, n, m));
    }
    read_lesser(&p, n, n, sigma + (j->tridiagonal ? qt_layout_at(l, n, n) : l->diagonal[n]));
    if (j->tridiagonal && n + 1 < l->n_blocks) {
      read_lesser(&p, n, n + 1, sigma + qt_layout_at(l, n, n + 1));
    }
  }
}

static void take_item(void *context, int64_t item, int thread)
{
  const solve_job *j = context;
  const qt_open_points *o = j->o;
  const int64_t count = o->layout.count, max = o->layout.max;
  qt_open_point p = {.point = j->first + item,
                     .thread = thread,
                     .g = j->result[0] + item * count,
                     .lesser = j->result[1] + item * count,
                     .greater = j->result[2] + item * count};

  j->failed[p.point] = isnan(p.g[0].re); /* as qt_rgf_solve leaves what is singular */
  for (int c = 0; c < QT_LEADS && !j->failed[p.point]; c++) {
    find_flow(o, c, j->gamma + thread * max * max, &p);
  }
  if (!j->failed[p.point]) {
    j->take(j->context, &p);
  }
}

static void batch_fini(batch *b)
{
  weir_plan_destroy(&b->plan);
  weir_graph_destroy(&b->graph);
  *b = (batch){.n = 0};
}

/* Plans n points at once. */
static weir_status plan(solve_job *j, int64_t n)
{
  const qt_layout *l = &j->o->layout;
  const qt_rgf_spec spec = {l, j->tridiagonal, 1};
  batch *b = &j->batch;
  weir_exec_cfg cfg;

  if (b->n == n) {
    return WEIR_OK;
  }
  batch_fini(b);
  WEIR_TRY(weir_graph_create(&b->graph));
  const weir_value a =
      weir_input(b->graph, "a", &(weir_array_desc){WEIR_C128, 2, {n, l->count}, 0});
  const weir_value sigma =
      weir_input(b->graph, "sigma", &(weir_array_desc){WEIR_C128, 2, {n, j->width}, 0});
  weir_value v = qt_rgf(b->graph, a, sigma, &spec);

  for (int i = 0; i < RESULTS; i++, v.output++) {
    weir_output(b->graph, result_name[i], v);
  }
  WEIR_TRY(weir_graph_status(b->graph));
  qt_execution(j->o->exec, &cfg);
  cfg.tier = WEIR_TIER_VECTOR; /* there is no loop to compile */
  b->n = n;
  return weir_plan_create(b->graph, NULL,
                          &(weir_plan_opts){.exec = &cfg, .threads = j->o->threads, .terse = true},
                          &b->plan);
}

/* Points [first, first + n). */
static weir_status solve_batch(solve_job *j, int64_t n)
{
  const int64_t count = j->o->layout.count;
  weir_tensor t[2 + RESULTS];
  weir_binding bindings[2 + RESULTS];

  WEIR_TRY(plan(j, n));
  weir_parallel(n, j->o->threads, fill_item, j);
  t[0] = weir_tensor_wrap(j->a, WEIR_C128, 2, (const int64_t[]){n, count});
  t[1] = weir_tensor_wrap(j->sigma, WEIR_C128, 2, (const int64_t[]){n, j->width});
  bindings[0] = (weir_binding){"a", &t[0]};
  bindings[1] = (weir_binding){"sigma", &t[1]};
  for (int i = 0; i < RESULTS; i++) {
    t[2 + i] = weir_tensor_wrap(j->result[i], WEIR_C128, 2, (const int64_t[]){n, count});
    bindings[2 + i] = (weir_binding){result_name[i], &t[2 + i]};
  }
  WEIR_TRY(weir_plan_run(j->batch.plan, bindings, 2 + RESULTS));
  weir_parallel(n, j->o->threads, take_item, j);
  return WEIR_OK;
}

/* Points at once: one of each thread, of small devices as many as take a MiB. */
static int64_t points_at_once(const qt_layout *l, int threads, int64_t points)
{
  const int64_t mib = 1 << 20;
  const int64_t of_point = (2 + RESULTS) * l->count * (int64_t)sizeof(weir_c128);
  const int64_t n = threads * (of_point < mib ? mib / of_point : 1);

  return n < points ? n : points;
}

weir_status qt_open_points_bytes(const qt_system *s, int64_t points, int threads, bool tridiagonal,
                                 double *out)
{
  const int n_threads = threads > 0 ? threads : weir_threads_get();
  double elements = 0;
  qt_layout l;

  WEIR_TRY(qt_layout_create(s->n_blocks, s->block, &l));
  const double at_once = (double)points_at_once(&l, n_threads, points);
  const double max = (double)l.max * (double)l.max;

  for (int c = 0; c < QT_LEADS; c++) {
    elements += (double)points * (double)s->lead[c].n * (double)s->lead[c].n;
  }
  elements += at_once * ((double)l.count * (1 + RESULTS) +
                         (double)(tridiagonal ? l.count : l.diagonal_count));
  elements += n_threads * max;
  *out = elements * (double)sizeof(weir_c128) + n_threads * (double)qt_rgf_scratch(l.max, true);
  qt_layout_fini(&l);
  return WEIR_OK;
}

static weir_status allocate_job(solve_job *j, int64_t at_once)
{
  const qt_open_points *o = j->o;
  const qt_layout *l = &o->layout;
  const size_t size = sizeof *j->a;

  WEIR_TRY(weir_alloc(at_once * l->count, size, (void **)&j->a));
  WEIR_TRY(weir_alloc(at_once * j->width, size, (void **)&j->sigma));
  for (int i = 0; i < RESULTS; i++) {
    WEIR_TRY(weir_alloc(at_once * l->count, size, (void **)&j->result[i]));
  }
  WEIR_TRY(weir_alloc(o->threads * l->max * l->max, size, (void **)&j->gamma));
  return weir_alloc(o->n_k * o->n_energies, sizeof *j->failed, (void **)&j->failed);
}

static void job_fini(solve_job *j)
{
  batch_fini(&j->batch);
  weir_free(&j->a);
  weir_free(&j->sigma);
  for (int i = 0; i < RESULTS; i++) {
    weir_free(&j->result[i]);
  }
  weir_free(&j->gamma);
  weir_free(&j->failed);
}

static weir_status check_points(const qt_open_points *o, const bool *failed)
{
  for (int64_t i = 0; i < o->n_k * o->n_energies; i++) {
    const double *k = o->k[i / o->n_energies];

    if (failed[i]) {
      return weir_fail(WEIR_ERR_NUMERIC,
                       "the Green's function of %s at k = (%g, %g), energy %.10g eV is singular or "
                       "not finite: shift the energies",
                       is_of_phonons(o) ? "phonons" : "electrons", k[0], k[1],
                       o->energy[i % o->n_energies]);
    }
  }
  return WEIR_OK;
}

weir_status qt_open_points_solve(const qt_open_points *o, const qt_scattering_source *scattering,
                                 void (*take)(void *context, const qt_open_point *point),
                                 void *context)
{
  const int64_t points = o->n_k * o->n_energies,
                at_once = points_at_once(&o->layout, o->threads, points);
  const bool tridiagonal = scattering->add != NULL && scattering->tridiagonal;
  solve_job j = {.o = o,
                 .scattering = scattering,
                 .take = take,
                 .context = context,
                 .tridiagonal = tridiagonal,
                 .width = tridiagonal ? o->layout.count : o->layout.diagonal_count};
  weir_status status = WEIR_OK;

  if (points == 0) {
    return WEIR_OK;
  }
  WEIR_TRY_GOTO(allocate_job(&j, at_once), done);
  for (; j.first < points; j.first += at_once) {
    const int64_t left = points - j.first;

    WEIR_TRY_GOTO(solve_batch(&j, left < at_once ? left : at_once), done);
  }
  status = check_points(o, j.failed);
done:
  job_fini(&j);
  return status;
}

void qt_open_points_cuts(const qt_open_points *o, const qt_open_point *p, weir_c128 *scratch,
                         double *current)
{
  const qt_layout *l = &o->layout;
  weir_c128 *up = scratch, *down = scratch + l->max * l->max; /* of E S - H = -K */

  for (int64_t n = 0; n + 1 < l->n_blocks; n++) {
    const int64_t rows = qt_layout_rows(l, n), columns = qt_layout_rows(l, n + 1);

    assemble(o, p->point, n, n + 1, up);
    assemble(o, p->point, n + 1, n, down);
    current[n] = qt_trace_of_product(rows, columns, p->lesser + qt_layout_at(l, n, n + 1), down) -
                 qt_trace_of_product(rows, columns, up, p->lesser + qt_layout_at(l, n + 1, n));
  }
}
