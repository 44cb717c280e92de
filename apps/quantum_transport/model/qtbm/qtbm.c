/* qtbm.c - see qtbm.h: leads of a batch of points by all threads, then their sparse systems in
 * turn.
 */
#include "model/qtbm/qtbm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "comm/weir_comm.h"
#include "device/weir_parallel.h"
#include "model/qtbm/solver.h"
#include "model/qtbm/states.h"
#include "ops/linear/weir_linear.h"

static const weir_string_list no_options = {.count = 0};

/* A point of a batch, with its leads. */
typedef struct point {
  double energy;                                   /* eV, of phonons hbar omega; perhaps shifted */
  weir_c128 *sigma[QT_LEADS], *incoming[QT_LEADS]; /* [n, n] of a cell of the lead               */
  int64_t n_modes[QT_LEADS];
  double residual;
  bool shifted;
  weir_status status;
  char text[512];
} point;

typedef struct job {
  const qt_system *s;
  const qt_transport_spec *spec;
  qt_transport *out;
  int threads;
  int64_t points;
  qt_cell cell[QT_LEADS]; /* at wave vector k                  */
  bool same;              /* both leads are the same wire      */
  int64_t k;              /* wave vector of the cells; -1: none */
  point *point;           /* [threads]                         */
  int64_t first;          /* point of the batch that runs      */
  qtbm_matrix matrix;
  qtbm_solver *solver;
  int64_t columns;            /* that there is room for */
  weir_c128 *right, *psi, *t; /* [columns, n], [columns, n], [modes of both leads] */
  weir_c128 *memory;          /* [n] */
} job;

static bool wants_density(const qt_transport_spec *spec)
{
  return spec->dos || spec->lead_dos;
}

/* E of an energy, whose square it is of phonons. */
static double square(const job *j, double energy)
{
  return j->s->particle == QT_PHONONS ? energy * energy : energy;
}

static weir_status solve_leads(const job *j, point *p)
{
  qt_lead_result r = {.residual = 0};

  for (int c = 0; c < QT_LEADS; c++) {
    if (c == QT_LEFT || !j->same) { /* else both at once */
      r.sigma[c] = p->sigma[c];
      r.incoming[c] = p->incoming[c];
      r.sigma[1 - c] = j->same ? p->sigma[1 - c] : NULL;
      r.incoming[1 - c] = j->same ? p->incoming[1 - c] : NULL;
      WEIR_TRY(qt_lead_solve(&j->spec->lead, &j->cell[c], square(j, p->energy), 0, &r));
      p->residual = fmax(p->residual, r.residual);
    }
    p->n_modes[c] = r.n_modes;
  }
  return WEIR_OK;
}

static void run_leads(void *context, int64_t number, int thread)
{
  const job *j = context;
  point *p = &j->point[number];

  (void)thread;
  p->energy = j->spec->energy[(j->first + number) % j->spec->n_energies];
  p->shifted = false;
  p->residual = 0;
  p->status = solve_leads(j, p);
  if (p->status == WEIR_ERR_NUMERIC && j->spec->shift > 0) {
    p->shifted = true;
    p->energy += j->spec->shift;
    p->status = solve_leads(j, p);
  }
  if (p->status != WEIR_OK) {
    (void)snprintf(p->text, sizeof p->text, "%s", weir_last_message());
  }
}

static weir_status make_room(job *j, int64_t columns)
{
  const int64_t n = j->s->n;

  if (columns <= j->columns) {
    return WEIR_OK;
  }
  weir_free(&j->right);
  weir_free(&j->psi);
  j->columns = 0;
  WEIR_TRY(weir_alloc(columns * n, sizeof *j->right, (void **)&j->right));
  WEIR_TRY(weir_alloc(columns * n, sizeof *j->psi, (void **)&j->psi));
  j->columns = columns;
  return WEIR_OK;
}

/* J of the waves of a lead as right sides from number `first` on. */
static void set_right(job *j, const point *p, int side, int64_t first)
{
  const int64_t cell = j->s->lead[side].n, n = j->s->n;

  for (int64_t m = 0; m < p->n_modes[side]; m++) {
    memcpy(j->right + (first + m) * n + j->matrix.first[side], p->incoming[side] + m * cell,
           (size_t)cell * sizeof *j->right);
  }
}

/* What a point's states give, into the results. */
static weir_status store(job *j, const point *p, const qtbm_states *s, int64_t item)
{
  const double slope = j->s->particle == QT_PHONONS ? 2 * p->energy : 1; /* dE / d(hbar omega) */
  const double factor = slope / (2 * M_PI);
  const int64_t n = j->s->n, bonds = qt_sparse_count(&j->out->bonds);
  const int64_t amplitudes = s->n_right * s->count[QT_LEFT];
  qt_transport *out = j->out;
  double sum = 0;

  qtbm_states_amplitudes(s, j->t);
  for (int64_t i = 0; i < amplitudes; i++) {
    sum += j->t[i].re * j->t[i].re + j->t[i].im * j->t[i].im;
  }
  out->transmission[item] = sum;
  if (out->n_channels > 0) {
    WEIR_TRY(qtbm_states_channels(s->n_right, s->count[QT_LEFT], j->t,
                                  out->channel + item * out->n_channels));
  }
  for (int c = 0; c < QT_LEADS && out->dos != NULL; c++) {
    double *to = j->spec->lead_dos ? out->lead_dos[c] + item * n : out->dos + item * n;

    qtbm_states_add_density(s, c, factor, j->memory, to);
    for (int64_t i = 0; i < n && j->spec->lead_dos; i++) {
      out->dos[item * n + i] += to[i];
    }
  }
  for (int c = 0; c < QT_LEADS && j->spec->bond_currents; c++) {
    qtbm_states_currents(s, c, &out->bonds, out->bond_current[c] + item * bonds);
  }
  return WEIR_OK;
}

/* States of a point whose leads are solved. Where the transmission alone is wanted, states of the
 * left lead do, and none where the right lead has no wave. */
static weir_status solve_states(job *j, const point *p, int64_t item)
{
  const bool both = wants_density(j->spec) || j->spec->bond_currents;
  qtbm_states s = {.matrix = &j->matrix,
                   .energy = square(j, p->energy),
                   .n_right = p->n_modes[QT_RIGHT],
                   .incoming = p->incoming[QT_RIGHT]};

  s.count[QT_LEFT] = both || p->n_modes[QT_RIGHT] > 0 ? p->n_modes[QT_LEFT] : 0;
  s.count[QT_RIGHT] = both ? p->n_modes[QT_RIGHT] : 0;
  const int64_t columns = s.count[QT_LEFT] + s.count[QT_RIGHT];

  WEIR_TRY(make_room(j, columns));
  if (columns > 0) {
    memset(j->right, 0, (size_t)(columns * j->s->n) * sizeof *j->right);
  }
  if (s.count[QT_LEFT] > 0) {
    set_right(j, p, QT_LEFT, 0);
  }
  if (s.count[QT_RIGHT] > 0) {
    set_right(j, p, QT_RIGHT, s.count[QT_LEFT]);
  }
  qtbm_matrix_set_energy(&j->matrix, s.energy, p->sigma);
  WEIR_TRY(qtbm_solver_run(j->solver, columns, j->right, j->psi));
  s.psi = j->psi;
  return store(j, p, &s, item);
}

/* A point whose states fail where its leads do not is shifted, too. */
static weir_status finish_point(job *j, point *p, int64_t item)
{
  weir_status status = p->status;

  if (status != WEIR_OK) {
    return weir_fail(status, "%s", p->text);
  }
  status = solve_states(j, p, item);
  if (status == WEIR_ERR_NUMERIC && j->spec->shift > 0 && !p->shifted) {
    p->shifted = true;
    p->energy += j->spec->shift;
    WEIR_TRY(solve_leads(j, p));
    status = solve_states(j, p, item);
  }
  j->out->n_shifted += p->shifted;
  j->out->residual = fmax(j->out->residual, p->residual);
  for (int c = 0; c < QT_LEADS; c++) {
    j->out->n_modes[c][item] = p->n_modes[c];
  }
  return status;
}

static weir_status set_k(job *j, int64_t k)
{
  if (k == j->k) {
    return WEIR_OK;
  }
  for (int c = 0; c < QT_LEADS; c++) {
    qt_cell_fini(&j->cell[c]);
    WEIR_TRY(qt_cell_create(&j->s->lead[c], j->spec->k[k], &j->cell[c]));
  }
  j->same = qt_cell_is_same(&j->cell[QT_LEFT], &j->cell[QT_RIGHT]);
  qtbm_matrix_set_k(&j->matrix, j->spec->k[k]);
  j->k = k;
  return WEIR_OK;
}

/* The next points of one wave vector. */
static weir_status run_batch(job *j, int64_t *done)
{
  const int64_t n_e = j->spec->n_energies, left = n_e - j->first % n_e;
  const int64_t n = left < j->threads ? left : j->threads;

  WEIR_TRY(set_k(j, j->first / n_e));
  weir_parallel(n, j->threads, run_leads, j);
  for (int64_t i = 0; i < n; i++) {
    const int64_t item = j->first + i;
    const weir_status status = finish_point(j, &j->point[i], item);

    if (status != WEIR_OK) {
      char text[512];

      (void)snprintf(text, sizeof text, "%s", weir_last_message());
      return weir_fail(status, "k (%g, %g), energy %.12g eV: %s", j->spec->k[j->k][0],
                       j->spec->k[j->k][1], j->spec->energy[item % n_e], text);
    }
  }
  *done = j->first + n;
  return WEIR_OK;
}

static weir_status make_points(job *j)
{
  const int64_t modes = j->s->lead[QT_LEFT].n * j->s->lead[QT_RIGHT].n;

  WEIR_TRY(weir_alloc(j->threads, sizeof *j->point, (void **)&j->point));
  for (int t = 0; t < j->threads; t++) {
    for (int c = 0; c < QT_LEADS; c++) {
      const int64_t n = j->s->lead[c].n;
      point *p = &j->point[t];

      WEIR_TRY(weir_alloc(n * n, sizeof **p->sigma, (void **)&p->sigma[c]));
      WEIR_TRY(weir_alloc(n * n, sizeof **p->sigma, (void **)&p->incoming[c]));
    }
  }
  WEIR_TRY(weir_alloc(modes, sizeof *j->t, (void **)&j->t));
  return weir_alloc(j->s->n, sizeof *j->memory, (void **)&j->memory);
}

static weir_status make_results(const job *j, qt_transport *out)
{
  const qt_transport_spec *spec = j->spec;
  const int64_t *ports = j->matrix.n_ports, points = j->points;
  const int64_t least = ports[QT_LEFT] < ports[QT_RIGHT] ? ports[QT_LEFT] : ports[QT_RIGHT];

  out->n_k = spec->n_k;
  out->n_energies = spec->n_energies;
  out->n = j->s->n;
  out->n_channels = spec->channels ? least : 0;
  WEIR_TRY(weir_alloc(points, sizeof(double), (void **)&out->transmission));
  WEIR_TRY(weir_alloc(points * out->n_channels, sizeof(double), (void **)&out->channel));
  WEIR_TRY(
      weir_alloc(wants_density(spec) ? points * out->n : 0, sizeof(double), (void **)&out->dos));
  if (spec->bond_currents) {
    WEIR_TRY(qt_bonds_create(j->s, &out->bonds));
  }
  for (int c = 0; c < QT_LEADS; c++) {
    WEIR_TRY(weir_alloc(points, sizeof(int64_t), (void **)&out->n_modes[c]));
    WEIR_TRY(weir_alloc(spec->lead_dos ? points * out->n : 0, sizeof(double),
                        (void **)&out->lead_dos[c]));
    WEIR_TRY(weir_alloc(points * qt_sparse_count(&out->bonds), sizeof(double),
                        (void **)&out->bond_current[c]));
  }
  return WEIR_OK;
}

static weir_status check(const qt_system *s, const qt_transport_spec *spec, int64_t *points)
{
  int64_t values;

  if (spec->lead.method == QT_LEAD_DECIMATION) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "transport.method: qtbm sends the modes of the leads, which decimation does "
                     "not find; set lead.method: modes");
  }
  if (spec->slabs > 1 || spec->memory > 0 ||
      (spec->comm != NULL && weir_comm_size(spec->comm) > 1)) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "transport.method: qtbm computes in one process, without parallel.slabs and "
                     "memory.budget; leave these out, or set transport.method: rgf");
  }
  if (!weir_mul_ok(spec->n_k, spec->n_energies, points) || !weir_mul_ok(*points, s->n, &values)) {
    return weir_fail(WEIR_ERR_MEMORY, "%lld wave vectors, %lld energies, %lld orbitals: too many",
                     (long long)spec->n_k, (long long)spec->n_energies, (long long)s->n);
  }
  for (int c = 0; c < QT_LEADS; c++) {
    const int64_t b = c == QT_LEFT ? 0 : s->n_blocks - 1, rows = s->block[b + 1] - s->block[b];

    if (s->lead[c].n != rows) {
      return weir_fail(WEIR_ERR_SHAPE, "a lead's cell of %lld orbitals at a block of %lld",
                       (long long)s->lead[c].n, (long long)rows);
    }
  }
  return WEIR_OK;
}

static weir_status run_all(job *j)
{
  const int allowed = j->spec->threads > 0 ? j->spec->threads : weir_threads_get();

  weir_linear_start();
  WEIR_TRY(check(j->s, j->spec, &j->points));
  j->threads = j->points < allowed ? (int)j->points : allowed;
  WEIR_TRY(qtbm_matrix_create(j->s, &j->matrix));
  WEIR_TRY(qtbm_solver_create(j->spec->petsc != NULL ? j->spec->petsc : &no_options, &j->matrix.a,
                              &j->solver));
  WEIR_TRY(make_points(j));
  WEIR_TRY(make_results(j, j->out));
  while (j->first < j->points) {
    WEIR_TRY(run_batch(j, &j->first));
    if (!j->spec->quiet) {
      weir_progress("transport", j->first, j->points, "points");
    }
    if (j->first < j->points && weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED, "stopped after %lld of %lld points: nothing is written",
                       (long long)j->first, (long long)j->points);
    }
  }
  return WEIR_OK;
}

weir_status qt_qtbm_create(const qt_system *s, const qt_transport_spec *spec, qt_transport *out)
{
  job j = {.s = s, .spec = spec, .out = out, .k = -1};

  *out = (qt_transport){.n = 0};
  const weir_status status = run_all(&j);

  for (int c = 0; c < QT_LEADS; c++) {
    qt_cell_fini(&j.cell[c]);
    for (int t = 0; t < j.threads && j.point != NULL; t++) {
      weir_free(&j.point[t].sigma[c]);
      weir_free(&j.point[t].incoming[c]);
    }
  }
  weir_free(&j.point);
  weir_free(&j.right);
  weir_free(&j.psi);
  weir_free(&j.t);
  weir_free(&j.memory);
  qtbm_solver_destroy(&j.solver);
  qtbm_matrix_fini(&j.matrix);
  if (status != WEIR_OK) {
    qt_transport_fini(out);
  }
  return status;
}
