/* lead.c - see lead.h: cells, the choice of the method, and the test of what it gave. */
#include "model/lead/lead.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "graph/weir_complex_scalar.h"
#include "model/lead/lead_priv.h"
#include "model/rgf/rgf.h"
#include "ops/linear/weir_linear.h"

const weir_opt qt_lead_options[] = {
    WEIR_OPT_ENUM(
        qt_lead_opts, method, QT_LEAD_DECIMATION, "decimation|modes|contour|slepc",
        "self-energies by decimation, or without broadening by the modes of the lead: all, "
        "those that contour integrals find, or those that SLEPc finds by sparse matrices"),
    WEIR_OPT_REAL(qt_lead_opts, eta, 1e-6, 0, 1, "eV",
                  "imaginary part of the energy in the leads, for decimation; electrons"),
    WEIR_OPT_REAL(qt_lead_opts, eta_phonons, 1e-8, 0, 1, "eV^2",
                  "maximum imaginary part of the squared energy in the leads, for decimation; "
                  "phonons"),
    WEIR_OPT_REAL(qt_lead_opts, eta_relative, 1e-4, 0, 1, "1",
                  "the same relative to the squared energy; the smaller of the two is taken"),
    WEIR_OPT_REAL(qt_lead_opts, tolerance, 1e-12, 1e-16, 1e-2, "1",
                  "decimation: norm of the coupling at which it ends, relative to the first"),
    WEIR_OPT_REAL(qt_lead_opts, residual, 1e-8, 1e-14, 1, "1",
                  "maximum relative residual of a surface Green's function"),
    WEIR_OPT_REAL(qt_lead_opts, unit_circle, 1e-7, 1e-14, 1e-2, "1",
                  "modes: distance of |lambda| from 1 below which a mode propagates"),
    WEIR_OPT_REAL(
        qt_lead_opts, mode_error, 1e-2, 0, 1, "1",
        "maximum distance of the transmission of the perfect lead from an integer; beyond "
        "it, as near a band edge, the other method is tried; 1: any is accepted"),
    WEIR_OPT_INT(qt_lead_opts, max_steps, 100, 1, 1e4, "1", "decimation: maximum steps"),
    WEIR_OPT_INT(qt_lead_opts, contour.points, 16, 4, 4096, "1", "contour: points of each circle"),
    WEIR_OPT_REAL(qt_lead_opts, contour.outer, 10, 1.01, 1e6, "1",
                  "contour: largest |lambda|, the radius of the outer circle"),
    WEIR_OPT_REAL(qt_lead_opts, contour.inner, 0.1, 1e-6, 0.99, "1",
                  "contour: smallest |lambda|, the radius of the inner circle"),
    WEIR_OPT_REAL(qt_lead_opts, contour.residual, 1e-6, 1e-14, 1, "1",
                  "contour, slepc: maximum relative residual of a mode"),
    WEIR_OPT_INT(qt_lead_opts, contour.max_cells, 16, 1, 1000, "1",
                 "contour, slepc: maximum sub-cells of a cell that repeats them; 1: the whole "
                 "cell is one"),
    WEIR_OPT_INT(qt_lead_opts, slepc.targets, 12, 3, 1000, "1",
                 "slepc: points of the unit circle, of lambda of a sub-cell, about which modes are "
                 "searched"),
    WEIR_OPT_REAL(qt_lead_opts, slepc.outer, 8, 1.01, 1e6, "1",
                  "slepc: largest |lambda|, and the inverse of the smallest"),
    WEIR_OPT_END,
};

void qt_cell_fini(qt_cell *c)
{
  weir_free(&c->h0);
  weir_free(&c->h1);
  weir_free(&c->s0);
  weir_free(&c->s1);
  *c = (qt_cell){.n = 0};
}

/* M(k) as a dense matrix; NULL of a matrix that the lead lacks. */
static weir_status make_dense(const qt_bloch *m, int64_t n, const double k[2], weir_c128 **out)
{
  if (m->count == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(n * n, sizeof **out, (void **)out));
  qt_bloch_add(m, k, (weir_c128){1, 0}, *out);
  return WEIR_OK;
}

weir_status qt_cell_create(const qt_lead *lead, const double k[2], qt_cell *out)
{
  weir_status status = WEIR_OK;

  *out = (qt_cell){.n = lead->n};
  WEIR_TRY_GOTO(make_dense(&lead->cell, lead->n, k, &out->h0), failed);
  WEIR_TRY_GOTO(make_dense(&lead->next, lead->n, k, &out->h1), failed);
  WEIR_TRY_GOTO(make_dense(&lead->overlap, lead->n, k, &out->s0), failed);
  WEIR_TRY_GOTO(make_dense(&lead->next_overlap, lead->n, k, &out->s1), failed);
  return WEIR_OK;
failed:
  qt_cell_fini(out);
  return status;
}

bool qt_cell_is_same(const qt_cell *a, const qt_cell *b)
{
  const weir_c128 *const x[] = {a->h0, a->h1, a->s0, a->s1}, *const y[] = {b->h0, b->h1, b->s0,
                                                                           b->s1};
  bool same = a->n == b->n;

  for (int i = 0; i < 4 && same; i++) {
    same = (x[i] == NULL) == (y[i] == NULL) &&
           (x[i] == NULL || memcmp(x[i], y[i], (size_t)(a->n * a->n) * sizeof *x[i]) == 0);
  }
  return same;
}

double qt_lead_eta(const qt_lead_opts *o, qt_particle particle, double energy)
{
  return particle == QT_PHONONS ? fmin(o->eta_phonons, o->eta_relative * energy) : o->eta;
}

/* z s - h of one element; s or h NULL: 0. */
static weir_c128 element(weir_c128 z, const weir_c128 *s, const weir_c128 *h, int64_t i)
{
  const weir_c128 x = s != NULL ? s[i] : (weir_c128){0, 0},
                  y = h != NULL ? h[i] : (weir_c128){0, 0};

  return (weir_c128){z.re * x.re - z.im * x.im - y.re, z.re * x.im + z.im * x.re - y.im};
}

static void fill_blocks(const qt_cell *c, weir_c128 z, lead_blocks *b)
{
  const weir_c128 turned = {z.re, -z.im}; /* A- at z is the adjoint of A+ at z's conjugate */

  for (int64_t i = 0; i < c->n; i++) {
    for (int64_t j = 0; j < c->n; j++) {
      const int64_t at = i * c->n + j;
      const weir_c128 down = element(turned, c->s1, c->h1, j * c->n + i);

      b->a0[at] = element(z, c->s0, c->h0, at);
      if (c->s0 == NULL && i == j) {
        b->a0[at].re += z.re;
        b->a0[at].im += z.im;
      }
      b->up[at] = element(z, c->s1, c->h1, at);
      b->down[at] = (weir_c128){down.re, -down.im};
    }
  }
}

void qt_lead_gamma(int64_t n, const weir_c128 *sigma, weir_c128 *gamma)
{
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      const weir_c128 x = sigma[i * n + j], y = sigma[j * n + i]; /* x - conj(y) */

      gamma[i * n + j] = (weir_c128){-(x.im + y.im), x.re - y.re};
    }
  }
}

/* Memory of the tests below. */
typedef struct space {
  weir_c128 *matrix, *g, *other; /* [n, n] */
  void *work;
  double count; /* multiplications of complex numbers, of methods and tests so far */
} space;

static weir_status make_space(int64_t n, space *s)
{
  WEIR_TRY(weir_alloc(n * n, sizeof *s->matrix, (void **)&s->matrix));
  WEIR_TRY(weir_alloc(n * n, sizeof *s->g, (void **)&s->g));
  WEIR_TRY(weir_alloc(n * n, sizeof *s->other, (void **)&s->other));
  return weir_alloc(weir_linear_solve_work(n, n), 1, &s->work);
}

static void free_space(space *s)
{
  weir_free(&s->matrix);
  weir_free(&s->g);
  weir_free(&s->other);
  weir_free(&s->work);
}

/* g = (a0 - sigma - more)^-1; more may be NULL. */
static bool invert(const lead_blocks *b, const weir_c128 *sigma, const weir_c128 *more, space *s,
                   weir_c128 *g)
{
  const int64_t n = b->n;

  memset(g, 0, (size_t)(n * n) * sizeof *g);
  for (int64_t i = 0; i < n * n; i++) {
    const weir_c128 x = more != NULL ? more[i] : (weir_c128){0, 0};

    s->matrix[i] = (weir_c128){b->a0[i].re - sigma[i].re - x.re, b->a0[i].im - sigma[i].im - x.im};
    g[i].re = i % (n + 1) == 0;
  }
  s->count += lead_solve_work((double)n, (double)n);
  return weir_linear_solve(n, n, s->matrix, g, s->work);
}

/* Puts the next Sigma of the fixed point in place, at most a few times; returns the residual of the
 * last surface Green's function before. */
static double refine(const qt_lead_opts *o, const lead_blocks *b, int side, int rounds,
                     weir_c128 *sigma, space *s)
{
  const int64_t n = b->n;
  const weir_linear_factor out = {side == QT_RIGHT ? b->up : b->down, n, false};
  const weir_linear_factor back = {side == QT_RIGHT ? b->down : b->up, n, false};
  double residual = INFINITY;

  if (!invert(b, sigma, NULL, s, s->g)) {
    return INFINITY;
  }
  for (int round = 0; round < rounds && !(residual <= 0.01 * o->residual); round++) {
    const weir_linear_factor g = {s->g, n, false}, product = {s->other, n, false};
    const double size = lead_norm(n * n, s->g);

    weir_linear_multiply(n, n, n, 1, out, g, 0, s->other, n);
    weir_linear_multiply(n, n, n, 1, product, back, 0, sigma, n);
    s->count += 2 * (double)n * (double)n * (double)n;
    if (!invert(b, sigma, NULL, s, s->other)) {
      return INFINITY;
    }
    for (int64_t i = 0; i < n * n; i++) {
      const weir_c128 next = s->other[i];

      s->other[i] = (weir_c128){next.re - s->g[i].re, next.im - s->g[i].im};
      s->g[i] = next;
    }
    residual = lead_norm(n * n, s->other) / size;
  }
  return isnan(residual) ? INFINITY : residual;
}

/* Transmission of the perfect wire, one cell of it between the leads; NaN where it has no Green's
 * function. */
static weir_status find_perfect(const lead_blocks *b, weir_c128 *const sigma[2], space *s,
                                double *transmission)
{
  const int64_t n = b->n;
  weir_c128 *gamma = NULL, *memory = NULL;
  weir_status status = WEIR_OK;

  *transmission = NAN;
  WEIR_TRY_GOTO(weir_alloc(2 * n * n, sizeof *gamma, (void **)&gamma), done);
  WEIR_TRY_GOTO(weir_alloc(2 * n * n, sizeof *memory, (void **)&memory), done);
  if (invert(b, sigma[QT_LEFT], sigma[QT_RIGHT], s, s->g)) {
    qt_lead_gamma(n, sigma[QT_LEFT], gamma);
    qt_lead_gamma(n, sigma[QT_RIGHT], gamma + n * n);
    *transmission = qt_rgf_trace(n, n, gamma, s->g, gamma + n * n, memory);
    s->count += 2 * (double)n * (double)n * (double)n;
  }
done:
  weir_free(&gamma);
  weir_free(&memory);
  return status;
}

/* J = -(coupling + Sigma u) of the modes from one side, into mode. Returns how far the sum of J J^H
 * is from Gamma, relative to Sigma. */
static double make_incoming(int64_t n, int64_t n_modes, const weir_c128 *sigma,
                            const weir_c128 *coupling, weir_c128 *mode, space *s)
{
  const weir_linear_factor rows = {mode, n, false}, turned = {mode, n, true};

  for (int64_t i = 0; i < n * n; i++) { /* Sigma^T */
    s->matrix[i] = sigma[i % n * n + i / n];
  }
  weir_linear_multiply(n_modes, n, n, -1, rows, (weir_linear_factor){s->matrix, n, false}, 0,
                       s->other, n);
  for (int64_t i = 0; i < n_modes * n; i++) {
    mode[i] = (weir_c128){s->other[i].re - coupling[i].re, s->other[i].im - coupling[i].im};
  }
  qt_lead_gamma(n, sigma, s->g);
  weir_linear_multiply(n, n, n_modes, 1, turned, rows, 0, s->other, n); /* conj of J J^H */
  s->count += 2 * (double)n * (double)n * (double)n_modes;
  for (int64_t i = 0; i < n * n; i++) {
    s->g[i] = (weir_c128){s->g[i].re - s->other[i].re, s->g[i].im + s->other[i].im};
  }
  const double error = lead_norm(n * n, s->g), size = lead_norm(n * n, sigma);

  return isnan(error) ? INFINITY : size > 0 ? error / size : error;
}

/* From MODES on at a real energy. */
typedef enum attempt { DECIMATION, DOUBLED, MODES, CONTOUR, SLEPC, ATTEMPTS } attempt;
/* Steps of the fixed point afterwards. Modes beyond circles are left to it: errors shrink by their
 * |lambda| a step. */
enum { ROUNDS = 3, ROUNDS_CONTOUR = 12, MAX_ROUNDS = 200 };

static int rounds_of(const qt_lead_opts *o, attempt which)
{
  const double rounds = 2 + log(100 / o->residual) / log(o->slepc.outer);

  return which == CONTOUR ? ROUNDS_CONTOUR
         : which != SLEPC ? ROUNDS
                          : (int)fmin(rounds, MAX_ROUNDS);
}

/* One method: Sigma of both sides, tested; *residual infinite where it gives none. */
static weir_status attempt_one(const qt_lead_opts *o, const qt_cell *c, attempt which,
                               const lead_blocks *b, space *s, weir_c128 *const sigma[2],
                               const qt_lead_result *wanted, const lead_incoming *incoming,
                               qt_lead_result *got)
{
  const int rounds = rounds_of(o, which);
  double perfect = 0;
  lead_outcome outcome = {.found = false};

  got->residual = INFINITY;
  got->method = which == MODES     ? QT_LEAD_MODES
                : which == CONTOUR ? QT_LEAD_CONTOUR
                : which == SLEPC   ? QT_LEAD_SLEPC
                                   : QT_LEAD_DECIMATION;
  if (which == SLEPC) {
    WEIR_TRY(lead_slepc(o, c, b, sigma, incoming, &outcome));
  } else if (which == CONTOUR) {
    WEIR_TRY(lead_contour(o, c, b, sigma, incoming, &outcome));
  } else if (which == MODES) {
    WEIR_TRY(lead_modes(o, c, b, sigma, incoming, &outcome));
  } else if (which == DOUBLED) {
    WEIR_TRY(lead_decimate_double(o, b, sigma, &outcome));
  } else {
    WEIR_TRY(lead_decimate(o, b, sigma, &outcome));
  }
  s->count += outcome.work;
  if (!outcome.found) {
    return WEIR_OK;
  }
  got->residual = 0;
  for (int side = 0; side < QT_LEADS; side++) {
    if (wanted->sigma[side] != NULL) {
      got->residual = fmax(got->residual, refine(o, b, side, rounds, sigma[side], s));
    }
  }
  WEIR_TRY(find_perfect(b, sigma, s, &perfect));
  got->n_modes = which >= MODES ? outcome.n_modes : isfinite(perfect) ? lround(perfect) : 0;
  if (!(fabs(perfect - (double)got->n_modes) <= o->mode_error) &&
      (o->mode_error < 1 || isnan(perfect))) {
    got->residual = INFINITY;
  }
  for (int side = 0; side < QT_LEADS && isfinite(got->residual); side++) {
    if (wanted->incoming[side] != NULL) {
      got->residual =
          fmax(got->residual, make_incoming(b->n, got->n_modes, sigma[side],
                                            incoming->coupling[side], incoming->mode[side], s));
    }
  }
  return WEIR_OK;
}

/* Attempts in turn until one is good enough. */
static weir_status attempt_all(const qt_lead_opts *o, const qt_cell *c, weir_c128 z, lead_blocks *b,
                               space *s, weir_c128 *const sigma[2], const lead_incoming *incoming,
                               qt_lead_result *out)
{
  static const attempt order[][ATTEMPTS] = {
      [QT_LEAD_DECIMATION] = {DECIMATION, MODES, DOUBLED, ATTEMPTS},
      [QT_LEAD_MODES] = {MODES, DECIMATION, DOUBLED, ATTEMPTS},
      [QT_LEAD_CONTOUR] = {CONTOUR, MODES, DECIMATION, DOUBLED, ATTEMPTS},
      [QT_LEAD_SLEPC] = {SLEPC, MODES, DECIMATION, DOUBLED, ATTEMPTS},
  };
  /* Modes are those of a real energy, broadened no more than leads are. */
  const bool modes_apply = o->method != QT_LEAD_DECIMATION || z.im <= fmax(o->eta, o->eta_phonons);
  double best = INFINITY;

  for (int i = 0; order[o->method][i] != ATTEMPTS; i++) {
    const attempt which = order[o->method][i];
    qt_lead_result got = {.residual = 0};

    if (which < MODES ? incoming->mode[QT_LEFT] != NULL : !modes_apply) {
      continue;
    }
    fill_blocks(c, which >= MODES ? (weir_c128){z.re, 0} : z, b);
    WEIR_TRY(attempt_one(o, c, which, b, s, sigma, out, incoming, &got));
    best = fmin(best, got.residual);
    if (got.residual <= o->residual) {
      for (int side = 0; side < QT_LEADS; side++) {
        if (out->sigma[side] != NULL) {
          memcpy(out->sigma[side], sigma[side], (size_t)(c->n * c->n) * sizeof *sigma[side]);
        }
        if (out->incoming[side] != NULL) {
          memcpy(out->incoming[side], incoming->mode[side],
                 (size_t)(got.n_modes * c->n) * sizeof *incoming->mode[side]);
        }
      }
      out->residual = got.residual;
      out->n_modes = got.n_modes;
      out->method = got.method;
      return WEIR_OK;
    }
  }
  return weir_fail(WEIR_ERR_NUMERIC,
                   "lead: no surface Green's function at %.12g + %g i (residual %.1e): the energy "
                   "is that of a band edge or of a state that does not propagate; shift it",
                   z.re, z.im, best);
}

weir_status qt_lead_start(const qt_lead_opts *o, const weir_string_list *petsc)
{
  return o->method == QT_LEAD_SLEPC ? lead_slepc_start(petsc) : WEIR_OK;
}

weir_status qt_lead_solve(const qt_lead_opts *o, const qt_cell *c, double energy, double eta,
                          qt_lead_result *out)
{
  weir_c128 *sigma[QT_LEADS] = {NULL, NULL};
  lead_blocks b = {.n = 0};
  space s = {.count = 0};
  lead_incoming incoming = {.mode = {NULL, NULL}};
  const bool wanted = out->incoming[QT_LEFT] != NULL || out->incoming[QT_RIGHT] != NULL;
  weir_status status = WEIR_OK;

  weir_linear_start();
  WEIR_TRY_GOTO(lead_blocks_create(c->n, &b), done);
  WEIR_TRY_GOTO(make_space(c->n, &s), done);
  for (int side = 0; side < QT_LEADS; side++) {
    WEIR_TRY_GOTO(weir_alloc(c->n * c->n, sizeof **sigma, (void **)&sigma[side]), done);
    if (wanted) {
      WEIR_TRY_GOTO(weir_alloc(c->n * c->n, sizeof **sigma, (void **)&incoming.mode[side]), done);
      WEIR_TRY_GOTO(weir_alloc(c->n * c->n, sizeof **sigma, (void **)&incoming.coupling[side]),
                    done);
    }
  }
  WEIR_TRY_GOTO(attempt_all(o, c, (weir_c128){energy, eta}, &b, &s, sigma, &incoming, out), done);
done:
  out->flops = 8 * s.count;
  lead_blocks_fini(&b);
  free_space(&s);
  for (int side = 0; side < QT_LEADS; side++) {
    weir_free(&sigma[side]);
    weir_free(&incoming.mode[side]);
    weir_free(&incoming.coupling[side]);
  }
  return status;
}

/* Most that the rank of A+ can be: rows or columns that are not empty. */
static int64_t max_coupling_rank(const qt_bloch *next, int64_t n, bool *used)
{
  int64_t rows = 0, columns = 0;

  for (int64_t i = 0; i < next->count; i++) {
    const qt_sparse *m = &next->matrix[i];

    for (int64_t row = 0; row < n; row++) {
      used[row] = used[row] || m->start[row + 1] > m->start[row];
    }
    for (int64_t at = 0; at < m->start[n]; at++) {
      used[n + m->column[at]] = true;
    }
  }
  for (int64_t i = 0; i < n; i++) {
    rows += used[i];
    columns += used[n + i];
  }
  return rows < columns ? rows : columns;
}

static int64_t coupling_rank(const qt_lead *lead)
{
  bool *used = NULL;
  int64_t rank = lead->n;

  if (lead->next_overlap.count == 0 &&
      weir_alloc(2 * lead->n, sizeof *used, (void **)&used) == WEIR_OK) {
    rank = max_coupling_rank(&lead->next, lead->n, used);
  }
  weir_free(&used);
  return rank;
}

qt_lead_work qt_lead_flops(const qt_lead_opts *o, const qt_lead *lead, int sides)
{
  const double n = (double)lead->n, invert = lead_solve_work(n, n), products = 2 * n * n * n;
  const double test = sides * (2 * invert + products) + invert + products;
  qt_lead_work work = {.fixed = 8 * test};

  switch (o->method) {
  case QT_LEAD_DECIMATION:
    work.step = 8 * lead_decimation_work(lead->n);
    break;
  case QT_LEAD_MODES:
    work.fixed += 8 * lead_modes_work(lead->n, coupling_rank(lead));
    break;
  default:
    work.fixed = NAN;
    break;
  }
  return work;
}

double qt_lead_bytes(const qt_lead_opts *o, const qt_lead *lead)
{
  const int64_t n = lead->n, r = o->method == QT_LEAD_DECIMATION ? 0 : coupling_rank(lead);
  const double all = (double)n * (double)n, half = (double)n * (double)r;
  const double small = 4 * (double)r * (double)r;
  const double test = 4 * all; /* find_perfect, after the method's own is freed */
  const int64_t solve = weir_linear_solve_work(n, 2 * r), pair = weir_linear_pair_work(2 * r);
  double elements = 0, bytes = 0;

  switch (o->method) {
  case QT_LEAD_DECIMATION:
    elements = 10 * all;
    bytes = (double)weir_linear_solve_work(n, 2 * n);
    break;
  case QT_LEAD_CONTOUR:
    elements = (3 + 3 + 1) * all + (2 + 2 + 2 + 1 + 4 + 4) * half + (3 + 3) * small;
    bytes = (double)(solve > pair ? solve : pair) + (double)pair;
    break;
  default:
    elements = 3 * all + 4 * half + 3 * small;
    bytes = (double)(solve > pair ? solve : pair);
    break;
  }
  const double size = sizeof(weir_c128);

  return size * 8 * all + (double)weir_linear_solve_work(n, n) +
         fmax(size * elements + bytes, size * test);
}
