/* qtbm.c - see qtbm.h: leads of some points by all threads, then their sparse systems in turn. */
#include "model/qtbm/qtbm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "device/weir_parallel.h"
#include "model/qtbm/solver.h"
#include "model/qtbm/states.h"
#include "ops/linear/weir_linear.h"

/* States that are solved for at once. */
enum { MAX_COLUMNS = 64 };

static const weir_string_list no_options = {.count = 0};

/* A point with its leads. */
typedef struct point {
  double energy;                                   /* eV, of phonons hbar omega; perhaps shifted */
  weir_c128 *sigma[QT_LEADS], *incoming[QT_LEADS]; /* [n, n] of a cell of the lead               */
  int64_t n_modes[QT_LEADS];
  double residual, leads_flops;
  double seconds[QT_PHASES];
  bool shifted;
  weir_status status;
  char text[512];
} point;

struct qt_qtbm {
  const qt_system *s;
  const qt_point_spec *spec;
  int threads;
  double matrix_bytes; /* of the matrix and the solver */
  qtbm_matrix matrix;
  qtbm_solver *solver;
  qt_point_leads leads;       /* of the wave vector that the matrix has       */
  point *point;               /* [threads]                                    */
  const double *energy;       /* of the points under way                      */
  int64_t columns;            /* states at once                               */
  weir_c128 *right, *psi, *t; /* [columns, n], [columns, n], [modes of both leads] */
  weir_c128 *memory;          /* [n] */
};

weir_status qt_qtbm_start(const qt_lead_opts *lead, const weir_string_list *petsc)
{
  if (lead->method == QT_LEAD_DECIMATION) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "transport.method: qtbm sends the modes of the leads, which decimation does "
                     "not find; set lead.method: modes");
  }
  return qtbm_solver_start(petsc != NULL ? petsc : &no_options);
}

weir_status qt_qtbm_create(const qt_system *s, const qt_lead_opts *lead,
                           const weir_string_list *petsc, qt_qtbm **out)
{
  const int64_t before = weir_alloc_bytes();
  qt_qtbm *q = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(qt_qtbm_start(lead, petsc));
  WEIR_TRY(weir_alloc(1, sizeof *q, (void **)&q));
  q->s = s;
  WEIR_TRY_GOTO(qtbm_matrix_create(s, &q->matrix), failed);
  WEIR_TRY_GOTO(qtbm_solver_create(&q->matrix.a, &q->solver), failed);
  q->matrix_bytes = (double)(weir_alloc_bytes() - before);
  *out = q;
  return WEIR_OK;
failed:
  qt_qtbm_destroy(&q);
  return status;
}

void qt_qtbm_destroy(qt_qtbm **out)
{
  qt_qtbm *q = *out;

  if (q == NULL) {
    return;
  }
  for (int t = 0; t < q->threads && q->point != NULL; t++) {
    for (int c = 0; c < QT_LEADS; c++) {
      weir_free(&q->point[t].sigma[c]);
      weir_free(&q->point[t].incoming[c]);
    }
  }
  weir_free(&q->point);
  weir_free(&q->right);
  weir_free(&q->psi);
  weir_free(&q->t);
  weir_free(&q->memory);
  qt_point_leads_fini(&q->leads);
  qtbm_solver_destroy(&q->solver);
  qtbm_matrix_fini(&q->matrix);
  weir_free(out);
}

int64_t qt_qtbm_channels(const qt_qtbm *q)
{
  const int64_t *ports = q->matrix.n_ports;

  return ports[QT_LEFT] < ports[QT_RIGHT] ? ports[QT_LEFT] : ports[QT_RIGHT];
}

weir_status qt_qtbm_factor_bytes(qt_qtbm *q, double *bytes)
{
  return qtbm_solver_estimate(q->solver, bytes);
}

/* ---- Memory ---- */

/* Whether states of both leads are needed, not those of the left one alone. */
static bool wants_both(const qt_point_spec *p)
{
  return qt_point_count(p, QT_POINT_DOS) > 0 || qt_point_count(p, QT_POINT_BOND_LEFT) > 0;
}

static int64_t columns_of(const qt_qtbm *q, const qt_point_spec *p)
{
  const qt_lead *lead = q->s->lead;
  const int64_t all = lead[QT_LEFT].n + (wants_both(p) ? lead[QT_RIGHT].n : 0);

  return all < MAX_COLUMNS ? all : MAX_COLUMNS;
}

double qt_qtbm_bytes(const qt_qtbm *q, const qt_point_spec *p, int threads)
{
  const qt_lead *lead = q->s->lead;
  const double n = (double)q->s->n, size = sizeof(weir_c128);
  const double cells[] = {(double)lead[QT_LEFT].n, (double)lead[QT_RIGHT].n};
  double max = 0, matrices = 0, work = 0;

  for (int c = 0; c < QT_LEADS; c++) {
    max = fmax(max, qt_lead_bytes(p->lead, &lead[c]));
    work = fmax(work, qt_lead_bytes(p->lead, &lead[c]) + 4 * size * cells[c] * cells[c]);
    matrices += 2 * size * cells[c] * cells[c];
  }
  const double both = qt_point_bytes(p) - max; /* cells of the leads */
  const double together = q->matrix_bytes + both + threads * (sizeof(point) + matrices + work) +
                          size * (cells[QT_LEFT] * cells[QT_RIGHT] + n) +
                          2 * size * n * (double)columns_of(q, p);

  return fmax(together, q->matrix.making_bytes);
}

weir_status qt_qtbm_open(qt_qtbm *q, const qt_point_spec *p, int threads)
{
  const qt_lead *lead = q->s->lead;
  const int64_t n = q->s->n;

  weir_linear_start();
  q->spec = p;
  WEIR_TRY(weir_alloc(threads, sizeof *q->point, (void **)&q->point));
  q->threads = threads;
  for (int t = 0; t < threads; t++) {
    for (int c = 0; c < QT_LEADS; c++) {
      const int64_t count = lead[c].n * lead[c].n;
      point *to = &q->point[t];

      WEIR_TRY(weir_alloc(count, sizeof **to->sigma, (void **)&to->sigma[c]));
      WEIR_TRY(weir_alloc(count, sizeof **to->sigma, (void **)&to->incoming[c]));
    }
  }
  q->columns = columns_of(q, p);
  WEIR_TRY(weir_alloc(q->columns * n, sizeof *q->right, (void **)&q->right));
  WEIR_TRY(weir_alloc(q->columns * n, sizeof *q->psi, (void **)&q->psi));
  WEIR_TRY(weir_alloc(lead[QT_LEFT].n * lead[QT_RIGHT].n, sizeof *q->t, (void **)&q->t));
  return weir_alloc(n, sizeof *q->memory, (void **)&q->memory);
}

/* ---- Leads ---- */

/* E of an energy, whose square it is of phonons. */
static double square(const qt_qtbm *q, double energy)
{
  return q->s->particle == QT_PHONONS ? energy * energy : energy;
}

static weir_status solve_leads(const qt_qtbm *q, point *p)
{
  const qt_point_leads *leads = &q->leads;
  qt_lead_result r = {.residual = 0};

  for (int c = 0; c < QT_LEADS; c++) {
    if (c == QT_LEFT || !leads->same) { /* else both at once */
      r.sigma[c] = p->sigma[c];
      r.incoming[c] = p->incoming[c];
      r.sigma[1 - c] = leads->same ? p->sigma[1 - c] : NULL;
      r.incoming[1 - c] = leads->same ? p->incoming[1 - c] : NULL;
      const weir_status status =
          qt_lead_solve(q->spec->lead, &leads->cell[c], square(q, p->energy), 0, &r);

      p->leads_flops += r.flops;
      WEIR_TRY(status);
      p->residual = fmax(p->residual, r.residual);
    }
    p->n_modes[c] = r.n_modes;
  }
  return WEIR_OK;
}

static weir_status shift(const qt_qtbm *q, point *p)
{
  p->shifted = true;
  p->energy += q->spec->shift;
  return solve_leads(q, p);
}

static void run_leads(void *context, int64_t number, int thread)
{
  const qt_qtbm *q = context;
  const double began = weir_clock();
  point *p = &q->point[number];

  (void)thread;
  p->energy = q->energy[number];
  p->shifted = false;
  p->residual = 0;
  p->leads_flops = 0;
  memset(p->seconds, 0, sizeof p->seconds);
  p->status = solve_leads(q, p);
  if (p->status == WEIR_ERR_NUMERIC && q->spec->shift > 0) {
    p->status = shift(q, p);
  }
  if (p->status != WEIR_OK) {
    (void)snprintf(p->text, sizeof p->text, "%s", weir_last_message());
  }
  p->seconds[QT_PHASE_LEADS] = weir_clock() - began;
}

/* ---- States ---- */

/* Adds the time since *began to a phase, which ends now. */
static void end_phase(point *p, qt_phase phase, double *began)
{
  const double now = weir_clock();

  p->seconds[phase] += now - *began;
  *began = now;
}

/* J of the waves [first, first + count) of a lead as right sides from `to` on. */
static void set_right(const qt_qtbm *q, const point *p, int side, int64_t first, int64_t count,
                      weir_c128 *to)
{
  const int64_t cell = q->s->lead[side].n, n = q->s->n;

  memset(to, 0, (size_t)(count * n) * sizeof *to);
  for (int64_t m = 0; m < count; m++) {
    memcpy(to + m * n + q->matrix.first[side], p->incoming[side] + (first + m) * cell,
           (size_t)cell * sizeof *to);
  }
}

/* Adds what some of the states of a point give. */
static void add_states(const qt_qtbm *q, const point *p, const qtbm_states *s,
                       double *const out[QT_POINT_ARRAYS])
{
  const double slope = q->s->particle == QT_PHONONS ? 2 * p->energy : 1; /* dE / d(hbar omega) */
  const bool bonds = out[QT_POINT_BOND_LEFT] != NULL;

  if (s->count[QT_LEFT] > 0) {
    qtbm_states_amplitudes(s, q->t);
  }
  for (int c = 0; c < QT_LEADS; c++) {
    if (out[QT_POINT_DOS] != NULL) {
      qtbm_states_add_density(s, c, slope / (2 * M_PI), q->memory,
                              q->spec->lead_dos ? out[QT_POINT_DOS_LEFT + c] : out[QT_POINT_DOS]);
    }
    if (bonds) {
      qtbm_states_add_currents(s, c, q->spec->bonds, out[QT_POINT_BOND_LEFT + c]);
    }
  }
}

/* States of numbers [first, first + n) of `all`, those of the left lead before the others. */
static weir_status solve_some(const qt_qtbm *q, point *p, const int64_t all[QT_LEADS],
                              int64_t first, int64_t n, double *const out[QT_POINT_ARRAYS])
{
  const int64_t remain = all[QT_LEFT] > first ? all[QT_LEFT] - first : 0;
  const int64_t left = remain < n ? remain : n;
  const qtbm_states s = {.matrix = &q->matrix,
                         .energy = square(q, p->energy),
                         .count = {left, n - left},
                         .first = first,
                         .all = all[QT_LEFT],
                         .psi = q->psi,
                         .n_right = p->n_modes[QT_RIGHT],
                         .incoming = p->incoming[QT_RIGHT]};
  double began = weir_clock();

  set_right(q, p, QT_LEFT, first, left, q->right);
  set_right(q, p, QT_RIGHT, first + left - all[QT_LEFT], n - left, q->right + left * q->s->n);
  end_phase(p, QT_PHASE_ASSEMBLY, &began);
  const weir_status status = qtbm_solver_solve(q->solver, n, q->right, q->psi);

  end_phase(p, QT_PHASE_RECURSION, &began);
  WEIR_TRY(status);
  add_states(q, p, &s, out);
  end_phase(p, QT_PHASE_ASSEMBLY, &began);
  return WEIR_OK;
}

/* T and its eigenvalues from the amplitudes t; the density of states from its shares. */
static weir_status finish_states(const qt_qtbm *q, int64_t rows, int64_t columns,
                                 double *const out[QT_POINT_ARRAYS])
{
  double sum = 0;

  for (int64_t i = 0; i < rows * columns; i++) {
    sum += q->t[i].re * q->t[i].re + q->t[i].im * q->t[i].im;
  }
  out[QT_POINT_NUMBER][QT_POINT_TRANSMISSION] = sum;
  for (int64_t i = 0; i < q->s->n && q->spec->lead_dos; i++) {
    out[QT_POINT_DOS][i] = out[QT_POINT_DOS_LEFT][i] + out[QT_POINT_DOS_RIGHT][i];
  }
  if (out[QT_POINT_CHANNEL] == NULL) {
    return WEIR_OK;
  }
  if ((rows < columns ? rows : columns) > q->spec->n_channels) {
    return weir_fail(WEIR_ERR_NUMERIC,
                     "qtbm: the leads have %lld and %lld modes, but couple by "
                     "%lld orbitals: shift the energy",
                     (long long)columns, (long long)rows, (long long)q->spec->n_channels);
  }
  return qtbm_states_channels(rows, columns, q->t, out[QT_POINT_CHANNEL]);
}

/* States of a point whose leads are solved. Where the transmission alone is wanted, states of the
 * left lead do, and none where the right lead has no wave. */
static weir_status solve_states(qt_qtbm *q, point *p, double *const out[QT_POINT_ARRAYS])
{
  const bool both = wants_both(q->spec);
  const int64_t all[] = {both || p->n_modes[QT_RIGHT] > 0 ? p->n_modes[QT_LEFT] : 0,
                         both ? p->n_modes[QT_RIGHT] : 0};
  const int64_t count = all[QT_LEFT] + all[QT_RIGHT];
  double began = weir_clock();

  for (int a = 0; a < QT_POINT_ARRAYS; a++) {
    if (out[a] != NULL) {
      memset(out[a], 0, (size_t)qt_point_count(q->spec, (qt_point_array)a) * sizeof **out);
    }
  }
  if (count > 0) {
    qtbm_matrix_set_energy(&q->matrix, square(q, p->energy), p->sigma);
    end_phase(p, QT_PHASE_ASSEMBLY, &began);
    const weir_status status = qtbm_solver_factor(q->solver);

    end_phase(p, QT_PHASE_RECURSION, &began);
    WEIR_TRY(status);
  }
  for (int64_t first = 0; first < count; first += q->columns) {
    const int64_t left = count - first;

    WEIR_TRY(solve_some(q, p, all, first, left < q->columns ? left : q->columns, out));
  }
  began = weir_clock();
  const weir_status status = finish_states(q, p->n_modes[QT_RIGHT], all[QT_LEFT], out);

  end_phase(p, QT_PHASE_ASSEMBLY, &began);
  return status;
}

/* ---- Points ---- */

/* A point whose states fail where its leads do not is shifted, too. */
static weir_status finish_point(qt_qtbm *q, point *p, double *const out[QT_POINT_ARRAYS])
{
  double *number = out[QT_POINT_NUMBER];

  if (p->status != WEIR_OK) {
    return weir_fail(p->status, "%s", p->text);
  }
  weir_status status = solve_states(q, p, out);

  if (status == WEIR_ERR_NUMERIC && q->spec->shift > 0 && !p->shifted) {
    double began = weir_clock();

    status = shift(q, p);
    end_phase(p, QT_PHASE_LEADS, &began);
    WEIR_TRY(status);
    status = solve_states(q, p, out);
  }
  WEIR_TRY(status);
  for (int c = 0; c < QT_LEADS; c++) {
    number[QT_POINT_MODES + c] = (double)p->n_modes[c];
  }
  number[QT_POINT_RESIDUAL] = p->residual;
  number[QT_POINT_SHIFTED] = p->shifted;
  number[QT_POINT_LEADS_FLOPS] = p->leads_flops;
  memcpy(number + QT_POINT_SECONDS, p->seconds, sizeof p->seconds);
  return WEIR_OK;
}

/* H, S and the cells of the leads are those of k. */
static weir_status set_k(qt_qtbm *q, const double k[2])
{
  const qt_point_leads *leads = &q->leads;

  if (leads->cell[QT_LEFT].n > 0 && leads->k[0] == k[0] && leads->k[1] == k[1]) {
    return WEIR_OK;
  }
  WEIR_TRY(qt_point_leads_set(q->s, k, &q->leads));
  qtbm_matrix_set_k(&q->matrix, k);
  return WEIR_OK;
}

/* Points from the first on that have its wave vector, no more than threads. */
static int64_t count_same(const qt_qtbm *q, int64_t n, const double *k)
{
  int64_t count = 1;

  while (count < n && count < q->threads && k[2 * count] == k[0] && k[2 * count + 1] == k[1]) {
    count++;
  }
  return count;
}

weir_status qt_qtbm_run(qt_qtbm *q, int64_t n, const double *k, const double *energy,
                        double *const out[QT_POINT_ARRAYS])
{
  weir_status last = WEIR_OK;

  for (int64_t first = 0, count; first < n; first += count) {
    count = count_same(q, n - first, k + 2 * first);
    q->energy = energy + first;
    const weir_status ready = set_k(q, k + 2 * first);

    if (ready == WEIR_OK) {
      weir_parallel(count, q->threads, run_leads, q);
    }
    for (int64_t i = 0; i < count; i++) {
      double *of_point[QT_POINT_ARRAYS] = {NULL};

      for (int a = 0; a < QT_POINT_ARRAYS; a++) {
        const int64_t elements = qt_point_count(q->spec, (qt_point_array)a);

        of_point[a] = elements > 0 ? out[a] + (first + i) * elements : NULL;
      }
      const weir_status status = ready == WEIR_OK ? finish_point(q, &q->point[i], of_point) : ready;

      if (status != WEIR_OK) {
        qt_point_fail(q->spec, status, of_point);
        last = status;
      }
    }
  }
  return last;
}
