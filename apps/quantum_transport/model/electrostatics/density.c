/* density.c - see density.h: the contour, and all shares together. */
#include "model/electrostatics/density.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_signal.h"
#include "device/weir_parallel.h"
#include "model/electrostatics/contour.h"
#include "model/overlap.h"
#include "model/ranks.h"
#include "model/rgf/rgf.h"
#include "model/units.h"

/* Points of a thread between two exchanges with other ranks, at most. */
enum { POINTS_OF_THREAD = 4 };

/* Memory of a thread, and the first of its points that failed. */
typedef struct worker {
  weir_c128 *sigma[QT_LEADS], *g, *lesser, *overlap;
  void *scratch;
  int64_t failed; /* point; -1: none */
  weir_status status;
  char text[512];
} worker;

typedef struct job {
  const qt_system *s;
  const qt_density_spec *spec;
  qt_layout layout;
  qt_lead_opts lead;
  double height; /* > 0: what leads send so far above the real axis, in place of equilibria */
  qt_contour_point *point;
  int64_t n_points;
  qt_cell cell[QT_LEADS]; /* of the wave vector that runs */
  const double *k;
  bool same;
  int rank, ranks, threads;
  int64_t at_once;   /* points of all ranks                                      */
  int64_t first, lo; /* points at once, and of them this rank's: where they begin */
  worker *worker;    /* [threads]                                                */
  double *value;     /* [at_once, 2, n] weight G of each reservoir, imaginary part; what
                        each lead sends, times the weight */
} job;

typedef struct block_source {
  const job *j;
  const worker *w;
  weir_c128 z;
  int side; /* lead that sends */
} block_source;

/* qt_blocks.read: z S - H, minus Sigma at the ends. */
static void read_block(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const block_source *p = context;

  qt_system_inverse_block(p->j->s, p->j->k, p->z, p->w->sigma, row, column, out);
}

/* The same: i Gamma of the lead that sends, at its end. */
static void read_gamma(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const block_source *p = context;
  const int64_t rows = qt_layout_rows(&p->j->layout, row);
  const weir_c128 *sigma = p->w->sigma[p->side];

  memset(out, 0, (size_t)(rows * qt_layout_rows(&p->j->layout, column)) * sizeof *out);
  if (row != column || row != (p->side == QT_LEFT ? 0 : p->j->s->n_blocks - 1)) {
    return;
  }
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t k = 0; k < rows; k++) {
      const weir_c128 x = sigma[k * rows + i], y = sigma[i * rows + k];

      out[i * rows + k] = (weir_c128){x.re - y.re, -x.im - y.im};
    }
  }
}

/* (G S + S G)[i,i] / 2 of an orbital of block b, of blocks of G or G^<. */
static weir_c128 with_overlap(const block_source *p, const weir_c128 *bank, int64_t b, int64_t i)
{
  const qt_layout *l = &p->j->layout;
  const qt_system *s = p->j->s;
  const int64_t rows = qt_layout_rows(l, b);
  weir_c128 sum = {0, 0};

  if (s->s.count == 0) {
    return bank[qt_layout_at(l, b, b) + i * (rows + 1)];
  }
  for (int64_t c = b > 0 ? b - 1 : 0; c <= b + 1 && c < l->n_blocks; c++) {
    qt_overlap_add_population(rows, qt_layout_rows(l, c), bank + qt_layout_at(l, b, c),
                              bank + qt_layout_at(l, c, b), p->w->overlap + qt_layout_at(l, c, b),
                              i, &sum);
  }
  return sum;
}

static weir_status solve_leads(const job *j, worker *w, weir_c128 z)
{
  qt_lead_result r = {.residual = 0};

  for (int c = 0; c < QT_LEADS; c++) {
    if (c == QT_LEFT || !j->same) { /* else both at once */
      r.sigma[c] = w->sigma[c];
      r.sigma[1 - c] = j->same ? w->sigma[1 - c] : NULL;
      WEIR_TRY(qt_lead_solve(&j->lead, &j->cell[c], z.re, z.im, &r));
      if (r.method != QT_LEAD_DECIMATION) {
        return weir_fail(WEIR_ERR_NUMERIC,
                         "decimation gives no surface Green's function; enlarge lead.residual");
      }
    }
  }
  return WEIR_OK;
}

/* G on the contour, for both reservoirs. */
static weir_status solve_equilibrium(const job *j, worker *w, int64_t number)
{
  const qt_contour_point *c = &j->point[j->first + number];
  const block_source p = {.j = j, .w = w, .z = c->energy};
  const qt_rgf_job rgf = {.layout = &j->layout, .a = {read_block, &p}, .g = {w->g, 1}};

  if (!qt_rgf_solve(&rgf, w->scratch)) {
    return weir_fail(WEIR_ERR_NUMERIC, "the Green's function of the device is singular");
  }
  for (int64_t b = 0; b < j->layout.n_blocks; b++) {
    for (int64_t i = 0; i < qt_layout_rows(&j->layout, b); i++) {
      const weir_c128 g = with_overlap(&p, w->g, b, i);

      for (int side = 0; side < QT_LEADS; side++) {
        j->value[(number * QT_LEADS + side) * j->s->n + j->layout.block[b] + i] =
            c->weight[side].re * g.im + c->weight[side].im * g.re;
      }
    }
  }
  return WEIR_OK;
}

/* States that each lead fills: G^< of its i Gamma is i G Gamma G^H. */
static weir_status solve_injected(const job *j, worker *w, int64_t number)
{
  const qt_contour_point *c = &j->point[j->first + number];

  for (int side = 0; side < QT_LEADS; side++) {
    const block_source p = {.j = j, .w = w, .z = c->energy, .side = side};
    const qt_rgf_job rgf = {.layout = &j->layout,
                            .a = {read_block, &p},
                            .sigma = {read_gamma, &p},
                            .g = {w->g, 1},
                            .lesser = {w->lesser, 1}};
    double *value = j->value + (number * QT_LEADS + side) * j->s->n;

    if (!qt_rgf_solve(&rgf, w->scratch)) {
      return weir_fail(WEIR_ERR_NUMERIC, "the Green's function of the device is singular");
    }
    for (int64_t b = 0; b < j->layout.n_blocks; b++) {
      for (int64_t i = 0; i < qt_layout_rows(&j->layout, b); i++) {
        value[j->layout.block[b] + i] = c->weight[side].re * with_overlap(&p, w->lesser, b, i).im;
      }
    }
  }
  return WEIR_OK;
}

static weir_status solve_point(const job *j, worker *w, int64_t number)
{
  WEIR_TRY(solve_leads(j, w, j->point[j->first + number].energy));
  return j->height > 0 ? solve_injected(j, w, number) : solve_equilibrium(j, w, number);
}

static void run_point(void *context, int64_t item, int thread)
{
  const job *j = context;
  const int64_t number = j->lo + item;
  worker *w = &j->worker[thread];
  const weir_status status = solve_point(j, w, number);

  if (status != WEIR_OK && (w->failed < 0 || number < w->failed)) {
    w->failed = number;
    w->status = status;
    (void)snprintf(w->text, sizeof w->text, "%s", weir_last_message());
  }
}

static weir_status make_worker(const job *j, worker *w)
{
  w->failed = -1;
  for (int c = 0; c < QT_LEADS; c++) {
    const int64_t n = j->s->lead[c].n;

    WEIR_TRY(weir_alloc(n * n, sizeof *w->sigma[c], (void **)&w->sigma[c]));
  }
  WEIR_TRY(weir_alloc(j->layout.count, sizeof *w->g, (void **)&w->g));
  if (j->s->s.count > 0) {
    WEIR_TRY(weir_alloc(j->layout.count, sizeof *w->overlap, (void **)&w->overlap));
  }
  if (j->height > 0) {
    WEIR_TRY(weir_alloc(j->layout.count, sizeof *w->lesser, (void **)&w->lesser));
  }
  return weir_alloc(qt_rgf_scratch(j->layout.max, j->height > 0), 1, &w->scratch);
}

static void free_worker(worker *w)
{
  weir_free(&w->sigma[QT_LEFT]);
  weir_free(&w->sigma[QT_RIGHT]);
  weir_free(&w->g);
  weir_free(&w->lesser);
  weir_free(&w->overlap);
  weir_free(&w->scratch);
}

static void fill_overlap(const job *j, weir_c128 *out)
{
  const qt_layout *l = &j->layout;

  memset(out, 0, (size_t)l->count * sizeof *out);
  for (int64_t b = 0; b < l->n_blocks; b++) {
    for (int64_t c = b > 0 ? b - 1 : 0; c <= b + 1 && c < l->n_blocks; c++) {
      qt_system_add_block(j->s, &j->s->s, j->k, b, c, (weir_c128){1, 0},
                          out + qt_layout_at(l, b, c));
    }
  }
}

/* The failure of the first of this rank's points that failed. */
static weir_status find_failure(const job *j)
{
  const worker *first = NULL;

  for (int t = 0; t < j->threads; t++) {
    const worker *w = &j->worker[t];

    first = w->failed >= 0 && (first == NULL || w->failed < first->failed) ? w : first;
  }
  if (first == NULL) {
    return WEIR_OK;
  }
  const weir_c128 z = j->point[j->first + first->failed].energy;

  return weir_fail(first->status, "k (%g, %g), energy %g + %g i: %s", j->k[0], j->k[1], z.re, z.im,
                   first->text);
}

/* Points [first, first + n); what they give is added in their order. Collective. */
static weir_status solve_batch(job *j, int64_t n, double factor, double *const electrons[QT_LEADS])
{
  weir_comm *comm = j->spec->comm;
  int64_t hi;

  qt_ranks_share(n, j->rank, j->ranks, &j->lo, &hi);
  weir_parallel(hi - j->lo, j->threads, run_point, j);
  WEIR_TRY(qt_ranks_agree(comm, find_failure(j)));
  WEIR_TRY(qt_ranks_allgather(comm, "electrons", (size_t)(QT_LEADS * j->s->n) * sizeof *j->value, n,
                              j->value));
  for (int64_t p = 0; p < n; p++) {
    for (int c = 0; c < QT_LEADS; c++) {
      for (int64_t i = 0; i < j->s->n; i++) {
        electrons[c][i] += factor * j->value[(p * QT_LEADS + c) * j->s->n + i];
      }
    }
  }
  return qt_ranks_agree(comm,
                        weir_stop_requested() ? weir_fail(WEIR_ERR_STOPPED, "stopped") : WEIR_OK);
}

/* What a wave vector needs before its points. Local. */
static weir_status set_k(job *j, int64_t k)
{
  j->k = j->spec->k[k];
  for (int c = 0; c < QT_LEADS; c++) {
    WEIR_TRY(qt_cell_create(&j->s->lead[c], j->k, &j->cell[c]));
  }
  j->same = qt_cell_is_same(&j->cell[QT_LEFT], &j->cell[QT_RIGHT]);
  for (int t = 0; t < j->threads && j->s->s.count > 0; t++) {
    fill_overlap(j, j->worker[t].overlap);
  }
  return WEIR_OK;
}

/* All points of one wave vector; its share of the electrons is added. Collective. */
static weir_status solve_k(job *j, int64_t k, double *const electrons[QT_LEADS])
{
  const double factor = -j->spec->spin * j->spec->weight[k] / M_PI;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(qt_ranks_agree(j->spec->comm, set_k(j, k)), done);
  for (j->first = 0; j->first < j->n_points; j->first += j->at_once) {
    const int64_t left = j->n_points - j->first;

    WEIR_TRY_GOTO(solve_batch(j, left < j->at_once ? left : j->at_once, factor, electrons), done);
  }
done:
  qt_cell_fini(&j->cell[QT_LEFT]);
  qt_cell_fini(&j->cell[QT_RIGHT]);
  return status;
}

/* ---- Memory ---- */

double qt_density_left(const qt_density_spec *spec)
{
  return spec->budget > 0 ? fmax(1, spec->budget - (double)weir_alloc_bytes()) : 0;
}

/* Bytes of a thread, with what the leads take for a while; cells of both leads. */
static double thread_bytes(const job *j)
{
  const double size = sizeof(weir_c128), banks = 1 + (j->s->s.count > 0) + (j->height > 0);
  double ends = 0, lead = 0;

  for (int c = 0; c < QT_LEADS; c++) {
    ends += size * (double)(j->s->lead[c].n * j->s->lead[c].n);
    lead = fmax(lead, qt_lead_bytes(&j->lead, &j->s->lead[c]));
  }
  return ends + size * banks * (double)j->layout.count +
         (double)qt_rgf_scratch(j->layout.max, j->height > 0) + lead;
}

static double cell_bytes(const job *j)
{
  double sum = 0;

  for (int c = 0; c < QT_LEADS; c++) {
    const qt_lead *l = &j->s->lead[c];
    const int matrices = 2 + (l->overlap.count > 0) + (l->next_overlap.count > 0);

    sum += (double)sizeof(weir_c128) * matrices * (double)(l->n * l->n);
  }
  return sum;
}

/* Layout, threads and points at once within the budget: threads first. Local. */
static weir_status fit(job *j, double *bytes)
{
  const int allowed = j->spec->threads > 0 ? j->spec->threads : weir_threads_get();
  const double left = qt_density_left(j->spec), mib = 1 << 20;
  const double of_point = (double)(QT_LEADS * j->s->n) * sizeof *j->value;
  double fixed, thread;

  j->lead.method = QT_LEAD_DECIMATION;
  j->lead.mode_error = 1; /* off the real axis a wire transmits no integer */
  WEIR_TRY(qt_layout_create(j->s->n_blocks, j->s->block, &j->layout));
  fixed = cell_bytes(j);
  thread = thread_bytes(j);
  for (j->threads = allowed; j->threads > 0; j->threads--) {
    for (int64_t n = POINTS_OF_THREAD; n > 0; n /= 2) {
      j->at_once = n * j->threads * j->ranks;
      *bytes = fixed + j->threads * thread + (double)j->at_once * of_point;
      if (left <= 0 || *bytes <= left) {
        return WEIR_OK;
      }
    }
  }
  return weir_fail(
      WEIR_ERR_CONFIG,
      "memory.budget: the electrons of one energy at a time take %.4g MiB more than it "
      "allows",
      (*bytes - left) / mib);
}

/* Heights of a line above the real axis in a step of it; maximum energies of one. */
static const double step_heights = 1.5, max_steps = 1e6;

/* The energies at which the leads differ. */
static void get_ends(const qt_density_spec *spec, double *lo, double *hi)
{
  const double beyond = 12; /* k_B T */
  const qt_reservoir *r = spec->reservoir;
  const double kt = QT_BOLTZMANN * r[QT_LEFT].temperature;

  *lo = fmin(r[0].mu, r[1].mu) - beyond * kt;
  *hi = fmax(r[0].mu, r[1].mu) + beyond * kt;
}

/* Before anything is computed. */
static weir_status check_broadening(const qt_density_spec *spec)
{
  double lo, hi;

  get_ends(spec, &lo, &hi);
  const double longest = step_heights * spec->broadening, steps = (hi - lo) / longest;

  return steps <= max_steps
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "electrostatics.broadening: %g eV needs %.3g energies from %g to %g eV, "
                         "at most %g are possible: give at least %.3g eV, or 0",
                         spec->broadening, steps, lo, hi, max_steps,
                         1.01 * (hi - lo) / (step_heights * max_steps));
}

/* Equal steps through the energies at which the leads differ; what is summed is their integral of
 * (f_L - f_R) G Gamma G^H / 2 pi. */
static weir_status make_line(job *j)
{
  const qt_reservoir *r = j->spec->reservoir;
  double lo, hi;

  get_ends(j->spec, &lo, &hi);
  const int64_t steps = (int64_t)ceil((hi - lo) / (step_heights * j->height));
  const double step = (hi - lo) / (double)steps;

  j->n_points = steps + 1;
  WEIR_TRY(weir_alloc(j->n_points, sizeof *j->point, (void **)&j->point));
  for (int64_t i = 0; i <= steps; i++) {
    const double x = lo + step * (double)i;
    const double differ =
        qt_fermi(x, r[0].mu, r[0].temperature) - qt_fermi(x, r[1].mu, r[1].temperature);
    const weir_c128 weight = {-differ * step / 2, 0};

    j->point[i] = (qt_contour_point){{x, j->height}, {weight, weight}};
  }
  return WEIR_OK;
}

static weir_status prepare(job *j)
{
  const qt_density_spec *spec = j->spec;
  double bytes;

  WEIR_TRY(fit(j, &bytes));
  WEIR_TRY(j->height > 0 ? make_line(j)
                         : qt_contour_create(spec->reference, spec->reservoir, spec->order,
                                             &j->point, &j->n_points));
  WEIR_TRY(weir_alloc(j->threads, sizeof *j->worker, (void **)&j->worker));
  for (int t = 0; t < j->threads; t++) {
    WEIR_TRY(make_worker(j, &j->worker[t]));
  }
  return WEIR_OK;
}

/* Electrons in equilibrium with either lead; height > 0: those that each lead injects so far above
 * the real axis. Its energies are added to *n_points. Collective. */
static weir_status solve_contour(const qt_system *s, const qt_density_spec *spec, double height,
                                 double *const electrons[QT_LEADS], int64_t *n_points)
{
  job j = {.s = s,
           .spec = spec,
           .height = height,
           .lead = spec->lead,
           .rank = qt_ranks_rank(spec->comm),
           .ranks = qt_ranks_size(spec->comm)};
  weir_status status = prepare(&j);

  WEIR_TRY_GOTO(qt_ranks_agree(spec->comm, status), done);
  WEIR_TRY_GOTO(qt_ranks_min(spec->comm, &j.at_once), done);
  status = weir_alloc(j.at_once * QT_LEADS * s->n, sizeof *j.value, (void **)&j.value);
  WEIR_TRY_GOTO(qt_ranks_agree(spec->comm, status), done);
  for (int64_t k = 0; k < spec->n_k; k++) {
    WEIR_TRY_GOTO(solve_k(&j, k, electrons), done);
  }
  *n_points += j.n_points * spec->n_k;
done:
  for (int t = 0; t < j.threads && j.worker != NULL; t++) {
    free_worker(&j.worker[t]);
  }
  weir_free(&j.worker);
  weir_free(&j.value);
  weir_free(&j.point);
  qt_layout_fini(&j.layout);
  return status;
}

weir_status qt_density_bytes(const qt_system *s, const qt_density_spec *spec, double *bytes)
{
  job j = {.s = s,
           .spec = spec,
           .height = spec->reservoir[QT_LEFT].mu != spec->reservoir[QT_RIGHT].mu,
           .lead = spec->lead,
           .ranks = qt_ranks_size(spec->comm)};
  const double fixed = 7 * (double)s->n * sizeof(double);
  double contour = 0, window = 0;
  const weir_status status = fit(&j, &contour);

  qt_layout_fini(&j.layout);
  WEIR_TRY(status);
  if (j.height > 0) {
    WEIR_TRY(qt_density_window_bytes(s, spec, &window));
  }
  *bytes = fixed + fmax(contour, window);
  return WEIR_OK;
}

double qt_density_share(double left, double right)
{
  const double all = left + right;

  return all != 0 ? fmin(1, fmax(0, left / all)) : 0.5;
}

/* Arrays [n] of each lead: electrons in equilibrium with it; those it injects; those it would
 * inject 2 k_B T above the real axis, by which states are shared that neither injects. */
enum { EQUILIBRIUM, INJECTED, SENT, KINDS };
typedef struct shares {
  double *of[KINDS][QT_LEADS];
} shares;

static void free_shares(shares *p)
{
  for (int i = 0; i < KINDS * QT_LEADS; i++) {
    weir_free(&p->of[i / QT_LEADS][i % QT_LEADS]);
  }
}

static weir_status make_arrays(int64_t n, shares *p, qt_density *out)
{
  for (int i = 0; i < KINDS * QT_LEADS; i++) {
    WEIR_TRY(weir_alloc(n, sizeof(double), (void **)&p->of[i / QT_LEADS][i % QT_LEADS]));
  }
  return weir_alloc(n, sizeof *out->electrons, (void **)&out->electrons);
}

/* Electrons of an orbital beyond the right lead's equilibrium. Where the real axis has nearly all
 * states that the leads fill differently, they are shared as injected there, so that errors of its
 * integrals cancel. Others, which are bound or too narrow for it, are shared as leads send. */
static double fill(const shares *p, const qt_density_spec *spec, int64_t i)
{
  const double few = 10 * spec->tolerance, many = 40 * spec->tolerance; /* of the states */
  const double left = p->of[INJECTED][QT_LEFT][i], right = p->of[INJECTED][QT_RIGHT][i];
  const double all = p->of[EQUILIBRIUM][QT_LEFT][i] - p->of[EQUILIBRIUM][QT_RIGHT][i];
  const double lacks = all - left - right;
  const double missing = all != 0 ? fabs(lacks / all) : 0;
  const double x = fmin(1, fmax(0, (missing - few) / (many - few)));
  const double as_sent = spec->broadening > 0 ? 1 : x * x * (3 - 2 * x); /* rises smoothly */
  const double sent = qt_density_share(p->of[SENT][QT_LEFT][i], p->of[SENT][QT_RIGHT][i]);

  return (1 - as_sent) * qt_density_share(left, right) * all + as_sent * (left + sent * lacks);
}

static weir_status put_together(const qt_system *s, const shares *p, const qt_density_spec *spec,
                                double *electrons)
{
  for (int64_t i = 0; i < s->n; i++) {
    electrons[i] = p->of[EQUILIBRIUM][QT_RIGHT][i] + fill(p, spec, i);
    if (!isfinite(electrons[i])) {
      return weir_fail(WEIR_ERR_NUMERIC, "the electrons of orbital %lld are no finite number",
                       (long long)i);
    }
  }
  return WEIR_OK;
}

weir_status qt_density_create(const qt_system *s, const qt_density_spec *spec, qt_density *out)
{
  const bool biased = spec->reservoir[QT_LEFT].mu != spec->reservoir[QT_RIGHT].mu;
  const double kt = QT_BOLTZMANN * spec->reservoir[QT_LEFT].temperature;
  shares p = {{{NULL}}};
  weir_status status = WEIR_OK;

  *out = (qt_density){.electrons = NULL};
  if (biased && spec->broadening > 0) {
    WEIR_TRY(check_broadening(spec));
  }
  WEIR_TRY_GOTO(qt_ranks_agree(spec->comm, make_arrays(s->n, &p, out)), done);
  WEIR_TRY_GOTO(solve_contour(s, spec, 0, p.of[EQUILIBRIUM], &out->n_contour), done);
  if (biased) {
    WEIR_TRY_GOTO(solve_contour(s, spec, 2 * kt, p.of[SENT], &out->n_contour), done);
    WEIR_TRY_GOTO(qt_density_window(s, spec, p.of[INJECTED], &out->current, &out->n_real), done);
  }
  if (biased && spec->broadening > 0) { /* the real axis has given the current */
    for (int c = 0; c < QT_LEADS; c++) {
      memset(p.of[INJECTED][c], 0, (size_t)s->n * sizeof(double));
    }
    WEIR_TRY_GOTO(solve_contour(s, spec, spec->broadening, p.of[INJECTED], &out->n_contour), done);
  }
  status = qt_ranks_agree(spec->comm, put_together(s, &p, spec, out->electrons));
done:
  free_shares(&p);
  if (status != WEIR_OK) {
    qt_density_fini(out);
  }
  return status;
}

void qt_density_fini(qt_density *d)
{
  weir_free(&d->electrons);
  *d = (qt_density){.electrons = NULL};
}
