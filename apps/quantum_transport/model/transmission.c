/* transmission.c - see transmission.h. */
#include "model/transmission.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "device/weir_parallel.h"
#include "model/rgf/rgf.h"

/* Memory of a thread, and the failure of the first of its points that failed. */
typedef struct worker {
  weir_c128 *sigma[QT_LEADS], *gamma[QT_LEADS]; /* of the end blocks                         */
  bool closed[QT_LEADS];                        /* nothing passes through that lead          */
  weir_c128 *corner, *memory;
  weir_c128 *g, *lesser, *overlap; /* banks, and one block, for the density of states        */
  void *scratch;
  double residual;
  int64_t shifted; /* points whose energy was shifted */
  int64_t failed;  /* point; -1: none */
  weir_status status;
  char text[512];
} worker;

typedef struct job {
  const qt_system *s;
  const qt_transport_spec *spec;
  qt_transport *out;
  qt_layout layout;
  qt_cell (*cell)[QT_LEADS]; /* [n_k]                                       */
  bool *same;                /* [n_k] both leads are the same wire          */
  worker *worker;            /* [threads]                                   */
  int64_t first;             /* point of the batch that runs                */
} job;

/* Whether blocks of G^<, and of G at all, are needed. */
static bool wants_lesser(const qt_transport_spec *spec)
{
  return spec->lead_dos || spec->bond_currents;
}

static bool wants_g(const qt_transport_spec *spec)
{
  return spec->dos || wants_lesser(spec);
}

/* A point of the grid. */
typedef struct point {
  const job *j;
  const worker *w;
  const double *k;
  double energy; /* E, of phonons the square of hbar omega */
} point;

/* Whether a lead has no broadening: no mode of those that the method of modes finds, or a Gamma
 * that is 0 but for rounding. */
static bool is_closed(const qt_lead_result *r, int64_t n, const weir_c128 *sigma,
                      const weir_c128 *gamma)
{
  const double rounding = 1e-13;
  double of_sigma = 0, of_gamma = 0;

  if (r->method != QT_LEAD_DECIMATION) { /* at a real energy */
    return r->n_modes == 0;
  }
  for (int64_t i = 0; i < n * n; i++) {
    of_sigma = fmax(of_sigma, hypot(sigma[i].re, sigma[i].im));
    of_gamma = fmax(of_gamma, hypot(gamma[i].re, gamma[i].im));
  }
  return of_gamma <= rounding * of_sigma;
}

/* qt_blocks.read: E S - H, minus Sigma at the ends. */
static void read_block(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const point *p = context;
  const qt_system *s = p->j->s;
  const int64_t rows = qt_layout_rows(&p->j->layout, row);
  const int64_t columns = qt_layout_rows(&p->j->layout, column);

  memset(out, 0, (size_t)(rows * columns) * sizeof *out);
  if (s->s.count > 0) {
    qt_system_add_block(s, &s->s, p->k, row, column, (weir_c128){p->energy, 0}, out);
  }
  for (int64_t i = 0; i < rows && s->s.count == 0 && row == column; i++) {
    out[i * (rows + 1)].re = p->energy;
  }
  qt_system_add_block(s, &s->h, p->k, row, column, (weir_c128){-1, 0}, out);
  for (int c = 0; c < QT_LEADS; c++) {
    const bool touches = row == column && row == (c == QT_LEFT ? 0 : s->n_blocks - 1);

    for (int64_t i = 0; i < rows * rows && touches; i++) {
      out[i].re -= p->w->sigma[c][i].re;
      out[i].im -= p->w->sigma[c][i].im;
    }
  }
}

/* The same of Sigma^< = i Gamma of the left lead, as if it alone were full. */
static void read_left(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const point *p = context;
  const int64_t count = qt_layout_rows(&p->j->layout, row) * qt_layout_rows(&p->j->layout, column);

  memset(out, 0, (size_t)count * sizeof *out);
  for (int64_t i = 0; i < count && row == 0; i++) {
    out[i] = (weir_c128){-p->w->gamma[QT_LEFT][i].im, p->w->gamma[QT_LEFT][i].re};
  }
}

/* sum over j of X[i,j] S[j,i] for every orbital i of block b. */
static void add_overlap(const point *p, const weir_c128 *bank, int64_t b, weir_c128 *sum)
{
  const qt_layout *l = &p->j->layout;
  const qt_system *s = p->j->s;
  const int64_t rows = qt_layout_rows(l, b);

  for (int64_t c = b > 0 ? b - 1 : 0; c <= b + 1 && c < l->n_blocks; c++) {
    const int64_t columns = qt_layout_rows(l, c);
    const weir_c128 *x = bank + qt_layout_at(l, b, c);
    weir_c128 *overlap = p->w->overlap;

    if (s->s.count > 0) {
      memset(overlap, 0, (size_t)(rows * columns) * sizeof *overlap);
      qt_system_add_block(s, &s->s, p->k, c, b, (weir_c128){1, 0}, overlap);
    }
    for (int64_t i = 0; i < rows && s->s.count > 0; i++) {
      for (int64_t j = 0; j < columns; j++) {
        const weir_c128 y = x[i * columns + j], z = overlap[j * rows + i];

        sum[i].re += y.re * z.re - y.im * z.im;
        sum[i].im += y.re * z.im + y.im * z.re;
      }
    }
    for (int64_t i = 0; i < rows && s->s.count == 0 && b == c; i++) {
      sum[i] = x[i * (rows + 1)];
    }
  }
}

/* factor times the imaginary part of that, of all orbitals. */
static void store_dos(const point *p, const weir_c128 *bank, double factor, double *out)
{
  const qt_layout *l = &p->j->layout;
  weir_c128 *sum = p->w->memory;

  for (int64_t b = 0; b < l->n_blocks; b++) {
    const int64_t rows = qt_layout_rows(l, b);

    memset(sum, 0, (size_t)rows * sizeof *sum);
    add_overlap(p, bank, b, sum);
    for (int64_t i = 0; i < rows; i++) {
      out[l->block[b] + i] = factor * sum[i].im;
    }
  }
}

static void store_bonds(const point *p, int64_t item)
{
  const job *j = p->j;
  const int64_t first = item * qt_sparse_count(&j->out->bonds);
  const qt_bonds_job bonds = {.s = j->s,
                              .layout = &j->layout,
                              .bonds = &j->out->bonds,
                              .k = p->k,
                              .energy = p->energy,
                              .g = p->w->g,
                              .lesser = p->w->lesser,
                              .room = p->w->overlap};

  qt_bonds_currents(&bonds, (double *const[QT_LEADS]){j->out->bond_current[QT_LEFT] + first,
                                                      j->out->bond_current[QT_RIGHT] + first});
}

/* Sigma and Gamma of both leads. */
static weir_status solve_leads(const job *j, worker *w, const point *p, int64_t k, int64_t item)
{
  const double eta = qt_lead_eta(&j->spec->lead, j->s->particle, p->energy);
  qt_lead_result r = {.residual = 0};

  for (int c = 0; c < QT_LEADS; c++) {
    const int64_t n = j->cell[k][c].n;

    if (c == QT_LEFT || !j->same[k]) { /* else both at once */
      r.sigma[c] = w->sigma[c];
      r.sigma[1 - c] = j->same[k] ? w->sigma[1 - c] : NULL;
      WEIR_TRY(qt_lead_solve(&j->spec->lead, &j->cell[k][c], p->energy, eta, &r));
      w->residual = fmax(w->residual, r.residual);
    }
    j->out->n_modes[c][item] = r.n_modes;
    qt_lead_gamma(n, w->sigma[c], w->gamma[c]);
    w->closed[c] = is_closed(&r, n, w->sigma[c], w->gamma[c]);
  }
  return WEIR_OK;
}

static weir_status solve_point(const job *j, worker *w, int64_t item, double energy)
{
  const int64_t k = item / j->spec->n_energies, n = j->out->n;
  const bool phonons = j->s->particle == QT_PHONONS;
  const point p = {j, w, j->spec->k[k], phonons ? energy * energy : energy};
  const qt_blocks a = {read_block, &p};
  const double slope = phonons ? 2 * energy : 1; /* dE / d(hbar omega) */
  qt_transport *out = j->out;
  bool regular = true;

  WEIR_TRY(solve_leads(j, w, &p, k, item));
  const bool open = !w->closed[QT_LEFT] && !w->closed[QT_RIGHT];

  if (wants_g(j->spec)) {
    const qt_rgf_job rgf = {.layout = &j->layout,
                            .a = a,
                            .sigma = {wants_lesser(j->spec) ? read_left : NULL, &p},
                            .g = {w->g, 1},
                            .lesser = {w->lesser, 1},
                            .corner = w->corner};

    regular = qt_rgf_solve(&rgf, w->scratch);
    if (out->dos != NULL) {
      store_dos(&p, w->g, -slope / M_PI, out->dos + item * n);
    }
    if (j->spec->bond_currents) {
      store_bonds(&p, item);
    }
    if (j->spec->lead_dos) {
      double *left = out->lead_dos[QT_LEFT] + item * n, *right = out->lead_dos[QT_RIGHT] + item * n;

      store_dos(&p, w->lesser, slope / (2 * M_PI), left);
      for (int64_t i = 0; i < n; i++) { /* the remaining part */
        right[i] = out->dos[item * n + i] - left[i];
      }
    }
  } else if (open) {
    regular = qt_rgf_corner(&j->layout, &a, w->corner, w->scratch);
  }
  if (!regular) {
    return weir_fail(WEIR_ERR_NUMERIC,
                     "the Green's function of the device is singular: a part of it has a state of "
                     "that energy; shift the energy");
  }
  out->transmission[item] =
      open ? qt_rgf_trace(j->cell[k][QT_LEFT].n, j->cell[k][QT_RIGHT].n, w->gamma[QT_LEFT],
                          w->corner, w->gamma[QT_RIGHT], w->memory)
           : 0;
  return WEIR_OK;
}

/* Points that run between two looks at the clock and at signals, for each thread. */
enum { BATCH = 4 };

static void run_point(void *context, int64_t number, int thread)
{
  const job *j = context;
  const int64_t item = j->first + number;
  worker *w = &j->worker[thread];
  const double energy = j->spec->energy[item % j->spec->n_energies];
  weir_status status = solve_point(j, w, item, energy);

  if (status == WEIR_ERR_NUMERIC && j->spec->shift > 0) {
    w->shifted++;
    status = solve_point(j, w, item, energy + j->spec->shift);
  }
  if (status != WEIR_OK && (w->failed < 0 || item < w->failed)) {
    w->failed = item;
    w->status = status;
    (void)snprintf(w->text, sizeof w->text, "%s", weir_last_message());
  }
}

static weir_status make_worker(const job *j, worker *w)
{
  const qt_layout *l = &j->layout;
  const bool g = wants_g(j->spec), lesser = wants_lesser(j->spec);
  const int64_t ends[] = {qt_layout_rows(l, 0), qt_layout_rows(l, l->n_blocks - 1)};
  const int64_t corner = ends[0] * ends[1], memory = 2 * corner > l->max ? 2 * corner : l->max;
  const size_t size = sizeof *w->g;

  w->failed = -1;
  for (int c = 0; c < QT_LEADS; c++) {
    WEIR_TRY(weir_alloc(ends[c] * ends[c], size, (void **)&w->sigma[c]));
    WEIR_TRY(weir_alloc(ends[c] * ends[c], size, (void **)&w->gamma[c]));
  }
  WEIR_TRY(weir_alloc(corner, size, (void **)&w->corner));
  WEIR_TRY(weir_alloc(memory, size, (void **)&w->memory));
  WEIR_TRY(weir_alloc(g ? l->count : 0, size, (void **)&w->g));
  WEIR_TRY(weir_alloc(lesser ? l->count : 0, size, (void **)&w->lesser));
  WEIR_TRY(weir_alloc(g ? l->max * l->max : 0, size, (void **)&w->overlap));
  return weir_alloc(qt_rgf_scratch(l->max, lesser), 1, &w->scratch);
}

static void free_worker(worker *w)
{
  for (int c = 0; c < QT_LEADS; c++) {
    weir_free(&w->sigma[c]);
    weir_free(&w->gamma[c]);
  }
  weir_free(&w->corner);
  weir_free(&w->memory);
  weir_free(&w->g);
  weir_free(&w->lesser);
  weir_free(&w->overlap);
  weir_free(&w->scratch);
}

static weir_status make_results(const job *j, qt_transport *out)
{
  const qt_transport_spec *spec = j->spec;
  const bool dos = spec->dos || spec->lead_dos;

  out->n_k = spec->n_k;
  out->n_energies = spec->n_energies;
  out->n = j->s->n;
  const int64_t points = out->n_k * out->n_energies;

  WEIR_TRY(weir_alloc(points, sizeof(double), (void **)&out->transmission));
  WEIR_TRY(weir_alloc(dos ? points * out->n : 0, sizeof(double), (void **)&out->dos));
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

/* Cells at every wave vector, and memory of every thread. */
static weir_status prepare(job *j, int threads)
{
  WEIR_TRY(qt_layout_create(j->s->n_blocks, j->s->block, &j->layout));
  for (int c = 0; c < QT_LEADS; c++) {
    const int64_t rows = qt_layout_rows(&j->layout, c == QT_LEFT ? 0 : j->s->n_blocks - 1);

    if (j->s->lead[c].n != rows) {
      return weir_fail(WEIR_ERR_SHAPE, "a lead's cell of %lld orbitals at a block of %lld",
                       (long long)j->s->lead[c].n, (long long)rows);
    }
  }
  WEIR_TRY(weir_alloc(j->spec->n_k, sizeof *j->cell, (void **)&j->cell));
  WEIR_TRY(weir_alloc(j->spec->n_k, sizeof *j->same, (void **)&j->same));
  WEIR_TRY(weir_alloc(threads, sizeof *j->worker, (void **)&j->worker));
  for (int64_t k = 0; k < j->spec->n_k; k++) {
    for (int c = 0; c < QT_LEADS; c++) {
      WEIR_TRY(qt_cell_create(&j->s->lead[c], j->spec->k[k], &j->cell[k][c]));
    }
    j->same[k] = qt_cell_is_same(&j->cell[k][QT_LEFT], &j->cell[k][QT_RIGHT]);
  }
  for (int t = 0; t < threads; t++) {
    WEIR_TRY(make_worker(j, &j->worker[t]));
  }
  return WEIR_OK;
}

/* The failure of the first point that failed, whoever computed it. */
static weir_status first_failure(const job *j, int threads)
{
  const worker *first = NULL;

  for (int t = 0; t < threads; t++) {
    const worker *w = &j->worker[t];

    if (w->failed >= 0 && (first == NULL || w->failed < first->failed)) {
      first = w;
    }
    j->out->residual = fmax(j->out->residual, w->residual);
    j->out->n_shifted += w->shifted;
    j->worker[t].shifted = 0; /* counted */
  }
  if (first == NULL) {
    return WEIR_OK;
  }
  const double *k = j->spec->k[first->failed / j->spec->n_energies];

  return weir_fail(first->status, "k (%g, %g), energy %.12g eV: %s", k[0], k[1],
                   j->spec->energy[first->failed % j->spec->n_energies], first->text);
}

static weir_status count_points(const qt_system *s, const qt_transport_spec *spec, int64_t *points,
                                int *threads)
{
  const int allowed = spec->threads > 0 ? spec->threads : weir_threads_get();
  int64_t values;

  if (!weir_mul_ok(spec->n_k, spec->n_energies, points) || !weir_mul_ok(*points, s->n, &values)) {
    return weir_fail(WEIR_ERR_MEMORY, "%lld wave vectors, %lld energies, %lld orbitals: too many",
                     (long long)spec->n_k, (long long)spec->n_energies, (long long)s->n);
  }
  *threads = *points < allowed ? (int)*points : allowed;
  return WEIR_OK;
}

weir_status qt_transport_create(const qt_system *s, const qt_transport_spec *spec,
                                qt_transport *out)
{
  job j = {.s = s, .spec = spec, .out = out};
  weir_status status = WEIR_OK;
  int64_t points = 0;
  int threads = 0;

  *out = (qt_transport){.n = 0};
  WEIR_TRY(count_points(s, spec, &points, &threads));
  WEIR_TRY_GOTO(make_results(&j, out), done);
  WEIR_TRY_GOTO(prepare(&j, threads), done);
  for (; j.first < points && status == WEIR_OK; j.first += BATCH * threads) {
    const int64_t left = points - j.first;

    weir_parallel(left < BATCH * threads ? left : BATCH * threads, threads, run_point, &j);
    status = first_failure(&j, threads);
    weir_progress("transport", points - left + (left < BATCH * threads ? left : BATCH * threads),
                  points, "points");
    if (status == WEIR_OK && left > BATCH * threads && weir_stop_requested()) {
      status = weir_fail(WEIR_ERR_STOPPED, "stopped after %lld of %lld points: nothing is written",
                         (long long)(j.first + BATCH * threads), (long long)points);
    }
  }
done:
  for (int64_t k = 0; k < spec->n_k && j.cell != NULL; k++) {
    qt_cell_fini(&j.cell[k][QT_LEFT]);
    qt_cell_fini(&j.cell[k][QT_RIGHT]);
  }
  for (int t = 0; t < threads && j.worker != NULL; t++) {
    free_worker(&j.worker[t]);
  }
  weir_free(&j.cell);
  weir_free(&j.same);
  weir_free(&j.worker);
  qt_layout_fini(&j.layout);
  if (status != WEIR_OK) {
    qt_transport_fini(out);
  }
  return status;
}

weir_status qt_transport_bytes(const qt_system *s, const qt_transport_spec *spec, double *bytes)
{
  const bool dos = spec->dos || spec->lead_dos;
  const double size = sizeof(weir_c128);
  double per_point = sizeof(double) + QT_LEADS * sizeof(int64_t), cells = 0, thread = 0;
  qt_layout l = {.n = 0};
  int64_t points = 0;
  int threads = 0;

  WEIR_TRY(count_points(s, spec, &points, &threads));
  WEIR_TRY(qt_layout_create(s->n_blocks, s->block, &l));
  for (int c = 0; c < QT_LEADS; c++) {
    const qt_lead *lead = &s->lead[c];
    const double n = (double)lead->n;

    cells += size * n * n * (lead->overlap.count > 0 ? 4 : 2);
    thread += size * n * n * 2; /* sigma, gamma */
  }
  const double corner = (double)s->lead[QT_LEFT].n * (double)s->lead[QT_RIGHT].n;

  for (int64_t i = 0; i < s->h.count && spec->bond_currents; i++) { /* at most: half are bonds */
    per_point += QT_LEADS * sizeof(double) * (double)qt_sparse_count(&s->h.matrix[i]) / 2;
  }
  per_point += (double)(s->n * (int64_t)sizeof(double)) * (dos + (spec->lead_dos ? QT_LEADS : 0));
  thread += size * (corner + fmax(2 * corner, (double)l.max)) +
            (double)qt_rgf_scratch(l.max, spec->lead_dos) +
            size * ((double)l.count * (dos + spec->lead_dos) + (dos ? (double)(l.max * l.max) : 0));
  *bytes = (double)points * per_point + (double)spec->n_k * cells + threads * thread;
  qt_layout_fini(&l);
  return WEIR_OK;
}

void qt_transport_fini(qt_transport *t)
{
  weir_free(&t->transmission);
  weir_free(&t->dos);
  qt_sparse_fini(&t->bonds);
  for (int c = 0; c < QT_LEADS; c++) {
    weir_free(&t->n_modes[c]);
    weir_free(&t->bond_current[c]);
    weir_free(&t->lead_dos[c]);
  }
  *t = (qt_transport){.n = 0};
}

void qt_transport_average(int64_t n_k, const double *weight, int64_t count, const double *values,
                          double *out)
{
  memset(out, 0, (size_t)count * sizeof *out);
  for (int64_t k = 0; k < n_k; k++) {
    for (int64_t i = 0; i < count; i++) {
      out[i] += weight[k] * values[k * count + i];
    }
  }
}
