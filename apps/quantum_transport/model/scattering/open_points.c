/* open_points.c - see open_points.h. */
#include "model/scattering/open_points.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "model/point.h"
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
  memcpy(o->energy, s->energy, (size_t)s->n_energies * sizeof *o->energy);
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
  qt_open_points o = {
      .system = s->system, .n_k = s->n_k, .n_energies = s->n_energies, .threads = threads};
  weir_status status = allocate(s, &o);

  *out = (qt_open_points){.n_k = 0};
  weir_linear_start();
  if (status == WEIR_OK) {
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

/* Memory of a thread. */
typedef struct space {
  weir_c128 *g, *lesser, *greater, *gamma;
  void *rgf;
} space;

typedef struct solve_job {
  const qt_open_points *o;
  const qt_scattering_source *scattering;
  void (*take)(void *context, const qt_open_point *point);
  void *context;
  space *spaces; /* [threads] */
  bool *failed;  /* [points]  */
} solve_job;

typedef struct point {
  const solve_job *job;
  int64_t point;
} point;

static bool touches(const qt_open_points *o, int64_t block, int lead)
{
  return block == (lead == QT_LEFT ? 0 : o->layout.n_blocks - 1);
}

/* E S - H of a block. */
static void assemble(const qt_open_points *o, int64_t at, int64_t row, int64_t column,
                     weir_c128 *out)
{
  const qt_system *s = o->system;
  const int64_t rows = qt_layout_rows(&o->layout, row),
                columns = qt_layout_rows(&o->layout, column);
  const double *k = o->k[at / o->n_energies];
  const double energy = matrix_energy(o, o->energy[at % o->n_energies]);

  memset(out, 0, (size_t)(rows * columns) * sizeof *out);
  if (s->s.count > 0) {
    qt_system_add_block(s, &s->s, k, row, column, (weir_c128){energy, 0}, out);
  }
  for (int64_t i = 0; i < rows && s->s.count == 0 && row == column; i++) {
    out[i * (rows + 1)].re = energy;
  }
  qt_system_add_block(s, &s->h, k, row, column, (weir_c128){-1, 0}, out);
}

/* qt_blocks.read of A. */
static void read_a(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const point *p = context;
  const qt_open_points *o = p->job->o;
  const qt_scattering_source *s = p->job->scattering;

  assemble(o, p->point, row, column, out);
  for (int c = 0; c < QT_LEADS && row == column; c++) {
    const weir_c128 *sigma = sigma_at(o, p->point, c);
    const int64_t n = o->system->lead[c].n;

    for (int64_t i = 0; i < n * n && touches(o, row, c); i++) {
      out[i].re -= sigma[i].re;
      out[i].im -= sigma[i].im;
    }
  }
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

static void solve_item(void *context, int64_t item, int thread)
{
  const solve_job *j = context;
  const qt_open_points *o = j->o;
  const space *s = &j->spaces[thread];
  const point p = {j, item};
  const qt_rgf_job rgf = {.layout = &o->layout,
                          .a = {read_a, &p},
                          .sigma = {read_lesser, &p},
                          .tridiagonal = j->scattering->add != NULL && j->scattering->tridiagonal,
                          .g = {s->g, 1},
                          .lesser = {s->lesser, 1},
                          .greater = {s->greater, 1}};
  qt_open_point result = {
      .point = item, .thread = thread, .g = s->g, .lesser = s->lesser, .greater = s->greater};

  j->failed[item] = !qt_rgf_solve(&rgf, s->rgf);
  if (!j->failed[item]) {
    for (int c = 0; c < QT_LEADS; c++) {
      find_flow(o, c, s->gamma, &result);
    }
    j->take(j->context, &result);
  }
}

static weir_status allocate_space(const qt_open_points *o, space *s)
{
  const qt_layout *l = &o->layout;

  WEIR_TRY(weir_alloc(l->count, sizeof *s->g, (void **)&s->g));
  WEIR_TRY(weir_alloc(l->count, sizeof *s->lesser, (void **)&s->lesser));
  WEIR_TRY(weir_alloc(l->count, sizeof *s->greater, (void **)&s->greater));
  WEIR_TRY(weir_alloc(l->max * l->max, sizeof *s->gamma, (void **)&s->gamma));
  return weir_alloc(qt_rgf_scratch(l->max, true), 1, &s->rgf);
}

static void space_fini(space *s)
{
  weir_free(&s->g);
  weir_free(&s->lesser);
  weir_free(&s->greater);
  weir_free(&s->gamma);
  weir_free(&s->rgf);
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
  const int64_t points = o->n_k * o->n_energies;
  solve_job j = {.o = o, .scattering = scattering, .take = take, .context = context};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(o->threads, sizeof *j.spaces, (void **)&j.spaces), done);
  WEIR_TRY_GOTO(weir_alloc(points, sizeof *j.failed, (void **)&j.failed), done);
  for (int t = 0; t < o->threads; t++) {
    WEIR_TRY_GOTO(allocate_space(o, &j.spaces[t]), done);
  }
  weir_parallel(points, o->threads, solve_item, &j);
  status = check_points(o, j.failed);
done:
  for (int t = 0; t < o->threads && j.spaces != NULL; t++) {
    space_fini(&j.spaces[t]);
  }
  weir_free(&j.spaces);
  weir_free(&j.failed);
  return status;
}

void qt_open_points_cuts(const qt_open_points *o, const qt_open_point *p, weir_c128 *room,
                         double *current)
{
  const qt_layout *l = &o->layout;
  weir_c128 *up = room, *down = room + l->max * l->max; /* of E S - H = -K */

  for (int64_t n = 0; n + 1 < l->n_blocks; n++) {
    const int64_t rows = qt_layout_rows(l, n), columns = qt_layout_rows(l, n + 1);

    assemble(o, p->point, n, n + 1, up);
    assemble(o, p->point, n + 1, n, down);
    current[n] = qt_trace_of_product(rows, columns, p->lesser + qt_layout_at(l, n, n + 1), down) -
                 qt_trace_of_product(rows, columns, up, p->lesser + qt_layout_at(l, n + 1, n));
  }
}
