/* band_structure.c - see band_structure.h: with S = L L^H the eigenvalues of L^-1 H L^-H. */
#include "model/band_structure.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "graph/weir_complex_scalar.h"
#include "ops/linear/weir_linear.h"

/* Memory of a thread. */
typedef struct worker {
  weir_c128 *h, *s, *x; /* [n, n] */
  void *work;
} worker;

typedef struct job {
  const qt_cell *c;
  qt_particle particle;
  qt_band_structure *out;
  worker *worker; /* [threads]                                       */
  bool *failed;   /* [n_points] */
} job;

enum { STRIPE = 48 }; /* rows that a step of the factorization takes */

/* out = M0 + M1 exp(i phase) + adjoint of the second; M0 NULL: the identity. */
static void add_phases(int64_t n, const weir_c128 *m0, const weir_c128 *m1, double phase,
                       weir_c128 *out)
{
  const weir_c128 factor = {cos(phase), sin(phase)};

  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      weir_c128 z = m0 == NULL ? (weir_c128){i == j, 0} : m0[i * n + j];

      if (m1 != NULL) {
        z = weir_add_c128(z, weir_mul_c128(factor, m1[i * n + j]));
        z = weir_add_c128(z, weir_conj_c128(weir_mul_c128(factor, m1[j * n + i])));
      }
      out[i * n + j] = z;
    }
  }
}

/* The lower triangle of the block of `count` rows at (first, first) becomes its factor L, what is
 * above 0. False where it is not positive definite. */
static bool factor_block(int64_t n, int64_t first, int64_t count, weir_c128 *s)
{
  weir_c128 *a = s + first * (n + 1);

  for (int64_t j = 0; j < count; j++) {
    double square = a[j * (n + 1)].re;

    for (int64_t k = 0; k < j; k++) {
      square -= a[j * n + k].re * a[j * n + k].re + a[j * n + k].im * a[j * n + k].im;
    }
    if (!(square > 0)) {
      return false;
    }
    const double root = sqrt(square);

    a[j * (n + 1)] = (weir_c128){root, 0};
    for (int64_t i = j + 1; i < count; i++) {
      weir_c128 z = a[i * n + j];

      for (int64_t k = 0; k < j; k++) {
        z = weir_sub_c128(z, weir_mul_c128(a[i * n + k], weir_conj_c128(a[j * n + k])));
      }
      a[i * n + j] = (weir_c128){z.re / root, z.im / root};
      a[j * n + i] = (weir_c128){0, 0};
    }
  }
  return true;
}

/* s = L L^H becomes L; x: [n, n] of memory. False where s is not positive definite. */
static bool factor(int64_t n, weir_c128 *s, weir_c128 *x, void *work)
{
  for (int64_t first = 0; first < n; first += STRIPE) {
    const int64_t count = n - first < STRIPE ? n - first : STRIPE, next = first + count;
    const int64_t rest = n - next;
    weir_c128 *block = x, *below = x + count * count; /* [count, count], [count, rest] */

    if (!factor_block(n, first, count, s)) {
      return false;
    }
    for (int64_t i = 0; i < count; i++) {
      memcpy(block + i * count, s + (first + i) * n + first, (size_t)count * sizeof *block);
      for (int64_t j = 0; j < rest; j++) {
        below[i * rest + j] = weir_conj_c128(s[(next + j) * n + first + i]);
        s[(first + i) * n + next + j] = (weir_c128){0, 0};
      }
    }
    if (rest > 0 && !weir_linear_solve(count, rest, block, below, work)) {
      return false;
    }
    for (int64_t i = 0; i < count; i++) {
      for (int64_t j = 0; j < rest; j++) {
        s[(next + j) * n + first + i] = weir_conj_c128(below[i * rest + j]);
      }
    }
    weir_linear_multiply(rest, rest, count, -1, (weir_linear_factor){below, rest, true},
                         (weir_linear_factor){below, rest, false}, 1, s + next * (n + 1), n);
  }
  return true;
}

/* h becomes L^-1 h^H. False where it cannot. */
static bool divide(int64_t n, const weir_c128 *l, worker *w)
{
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j <= i; j++) {
      const weir_c128 z = weir_conj_c128(w->h[i * n + j]);

      w->h[i * n + j] = weir_conj_c128(w->h[j * n + i]);
      w->h[j * n + i] = z;
    }
  }
  memcpy(w->x, l, (size_t)(n * n) * sizeof *l);
  return weir_linear_solve(n, n, w->x, w->h, w->work);
}

static bool solve(const job *j, int64_t point, worker *w)
{
  const qt_cell *c = j->c;
  const int64_t n = c->n;
  const double phase = M_PI * j->out->wave_vector[point];
  double *energy = j->out->energy + point * n;

  add_phases(n, c->h0, c->h1, phase, w->h);
  if (w->s != NULL) {
    add_phases(n, c->s0, c->s1, phase, w->s);
    if (!factor(n, w->s, w->x, w->work) || !divide(n, w->s, w) || !divide(n, w->s, w)) {
      return false;
    }
  }
  if (!weir_linear_hermitian(n, w->h, energy, w->work)) {
    return false;
  }
  for (int64_t i = 0; i < n && j->particle == QT_PHONONS; i++) {
    energy[i] = copysign(sqrt(fabs(energy[i])), energy[i]);
  }
  return true;
}

static void run(void *context, int64_t item, int thread)
{
  const job *j = context;

  j->failed[item] = !solve(j, item, &j->worker[thread]);
}

static weir_status make_worker(const qt_cell *c, worker *w)
{
  const int64_t n = c->n;
  int64_t bytes = weir_linear_hermitian_work(n);

  WEIR_TRY(weir_alloc(n * n, sizeof *w->h, (void **)&w->h));
  if (c->s0 != NULL || c->s1 != NULL) {
    const int64_t solve_bytes = weir_linear_solve_work(n, n);

    bytes = bytes > solve_bytes ? bytes : solve_bytes;
    WEIR_TRY(weir_alloc(n * n, sizeof *w->s, (void **)&w->s));
    WEIR_TRY(weir_alloc(n * n, sizeof *w->x, (void **)&w->x));
  }
  return weir_alloc(bytes > 0 ? bytes : 1, 1, &w->work);
}

static void free_workers(int threads, worker *w)
{
  for (int t = 0; w != NULL && t < threads; t++) {
    weir_free(&w[t].h);
    weir_free(&w[t].s);
    weir_free(&w[t].x);
    weir_free(&w[t].work);
  }
  weir_free(&w);
}

static weir_status check(const job *j)
{
  for (int64_t i = 0; i < j->out->n_points; i++) {
    if (j->failed[i]) {
      return weir_fail(WEIR_ERR_NUMERIC,
                       "bands of a lead: no eigenvalues at k_x a = %g pi: the overlap of its cells "
                       "is not positive definite there, or the iteration does not converge",
                       j->out->wave_vector[i]);
    }
  }
  return WEIR_OK;
}

weir_status qt_band_structure_create(const qt_cell *c, qt_particle particle, int64_t n_points,
                                     int threads, qt_band_structure *out)
{
  job j = {.c = c, .particle = particle, .out = out};
  weir_status status = WEIR_OK;

  threads = threads > 0 ? threads : weir_threads_get();
  threads = n_points < threads ? (int)n_points : threads;
  *out = (qt_band_structure){.n_points = n_points, .n = c->n};
  weir_linear_start();
  WEIR_TRY_GOTO(weir_alloc(n_points, sizeof *out->wave_vector, (void **)&out->wave_vector), failed);
  WEIR_TRY_GOTO(weir_alloc(n_points * c->n, sizeof *out->energy, (void **)&out->energy), failed);
  WEIR_TRY_GOTO(weir_alloc(n_points, sizeof *j.failed, (void **)&j.failed), failed);
  WEIR_TRY_GOTO(weir_alloc(threads, sizeof *j.worker, (void **)&j.worker), failed);
  for (int t = 0; t < threads; t++) {
    WEIR_TRY_GOTO(make_worker(c, &j.worker[t]), failed);
  }
  for (int64_t i = 0; i < n_points; i++) {
    out->wave_vector[i] = (double)(2 * i - n_points + 1) / (double)(n_points - 1);
  }
  weir_parallel(n_points, threads, run, &j);
  WEIR_TRY_GOTO(check(&j), failed);
  goto done;
failed:
  qt_band_structure_fini(out);
done:
  free_workers(threads, j.worker);
  weir_free(&j.failed);
  return status;
}

void qt_band_structure_fini(qt_band_structure *b)
{
  weir_free(&b->wave_vector);
  weir_free(&b->energy);
  *b = (qt_band_structure){.n_points = 0};
}
