/* bands_petsc.c - see bands.h: eigenvalues of H(k) by the LAPACK that PETSc comes with. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "model/electrostatics/bands.h"
#include "model/lead/lead.h"
#include "petsc/qt_petsc.h"

#include <petscblaslapack.h>

/* Memory of one matrix. */
typedef struct space {
  PetscScalar *h, *s, *work;
  double *real;
  PetscBLASInt n, n_work;
} space;

static weir_status make_space(int64_t n, bool overlap, space *m)
{
  m->n = (PetscBLASInt)n;
  m->n_work = (PetscBLASInt)(33 * n);
  WEIR_TRY(weir_alloc(n * n, sizeof *m->h, (void **)&m->h));
  WEIR_TRY(weir_alloc(overlap ? n * n : 1, sizeof *m->s, (void **)&m->s));
  WEIR_TRY(weir_alloc(m->n_work, sizeof *m->work, (void **)&m->work));
  return weir_alloc(3 * n, sizeof *m->real, (void **)&m->real);
}

static void free_space(space *m)
{
  weir_free(&m->h);
  weir_free(&m->s);
  weir_free(&m->work);
  weir_free(&m->real);
}

/* cell + next exp(i phase) + its adjoint; either may be NULL. */
static void add_phase(int64_t n, const weir_c128 *cell, const weir_c128 *next, double phase,
                      PetscScalar *out)
{
  const double c = cos(phase), s = sin(phase);

  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      const weir_c128 x = cell[i * n + j];
      const weir_c128 up = next != NULL ? next[i * n + j] : (weir_c128){0, 0};
      const weir_c128 down = next != NULL ? next[j * n + i] : (weir_c128){0, 0};
      const double re = x.re + c * (up.re + down.re) - s * (up.im + down.im);
      const double im = x.im + c * (up.im - down.im) + s * (up.re - down.re);

      out[i * n + j] = re + im * _Complex_I; /* PETSC_i is 0 before the start */
    }
  }
}

static weir_status solve(const qt_cell *c, double phase, space *m, double *energy)
{
  PetscBLASInt one = 1, info = 0;

  add_phase(c->n, c->h0, c->h1, phase, m->h);
  if (c->s0 == NULL) {
    LAPACKsyev_("N", "U", &m->n, m->h, &m->n, energy, m->work, &m->n_work, m->real, &info);
  } else {
    add_phase(c->n, c->s0, c->s1, phase, m->s);
    LAPACKsygv_(&one, "N", "U", &m->n, m->h, &m->n, m->s, &m->n, energy, m->work, &m->n_work,
                m->real, &info);
  }
  if (info != 0) {
    return weir_fail(WEIR_ERR_NUMERIC, "bands of a lead at k_x = %g / cell: LAPACK returns %d",
                     phase, (int)info);
  }
  return WEIR_OK;
}

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* Band number j, counted from 0, fills an interval: those that leave a gap around mid_gap. */
static weir_status find_edges(const double *of_k, int64_t n, int64_t n_points, double mid_gap,
                              qt_bands *out)
{
  double below = -INFINITY, above = INFINITY; /* edges of the gaps nearest to mid_gap */
  double top = -INFINITY;

  out->valence = -INFINITY;
  out->conduction = INFINITY;
  for (int64_t j = 0; j < n; j++) {
    double lo = INFINITY, hi = -INFINITY;

    for (int64_t i = 0; i < n_points; i++) {
      lo = fmin(lo, of_k[i * n + j]);
      hi = fmax(hi, of_k[i * n + j]);
    }
    if (lo > top && (lo + top) / 2 < mid_gap) {
      below = j > 0 ? (lo + top) / 2 : lo - 1;
    }
    if (lo > top && (lo + top) / 2 > mid_gap && isinf(above)) {
      above = (lo + top) / 2;
    }
    top = fmax(top, hi);
    if (hi < mid_gap) {
      out->valence = fmax(out->valence, hi);
    } else if (lo > mid_gap) {
      out->conduction = fmin(out->conduction, lo);
    } else {
      out->conduction = NAN;
    }
  }
  if (isnan(out->conduction)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "electrostatics.mid_gap %g eV lies in a band of the leads: the middle of the "
                     "next gap below is %g eV, above %g eV",
                     mid_gap, below, isinf(above) ? top + 1 : above);
  }
  return WEIR_OK;
}

static weir_status compute(const qt_lead *lead, int64_t n_k, const double (*k)[2], int64_t points,
                           space *m, double *energy)
{
  for (int64_t i = 0; i < n_k; i++) {
    qt_cell cell = {.n = 0};

    WEIR_TRY(qt_cell_create(lead, k[i], &cell));
    for (int64_t p = 0; p < points; p++) {
      const weir_status status = solve(&cell, 2 * M_PI * (double)p / (double)points, m,
                                       energy + (i * points + p) * lead->n);

      if (status != WEIR_OK) {
        qt_cell_fini(&cell);
        return status;
      }
    }
    qt_cell_fini(&cell);
  }
  return WEIR_OK;
}

weir_status qt_bands_create(const qt_lead *lead, int64_t n_k, const double (*k)[2],
                            const qt_bands_spec *spec, qt_bands *out)
{
  space m = {.n = 0};
  weir_status status = WEIR_OK;
  int64_t n_points, count;

  *out = (qt_bands){.count = 0};
  if (!weir_mul_ok(n_k, spec->points, &n_points) || !weir_mul_ok(n_points, lead->n, &count)) {
    return weir_fail(WEIR_ERR_CONFIG, "electrostatics.band_points %lld: too many",
                     (long long)spec->points);
  }
  WEIR_TRY_GOTO(make_space(lead->n, lead->overlap.count > 0, &m), done);
  WEIR_TRY_GOTO(weir_alloc(count, sizeof *out->energy, (void **)&out->energy), done);
  WEIR_TRY_GOTO(compute(lead, n_k, k, spec->points, &m, out->energy), done);
  WEIR_TRY_GOTO(find_edges(out->energy, lead->n, n_points, spec->mid_gap, out), done);
  qsort(out->energy, (size_t)count, sizeof *out->energy, ascending);
  out->count = count;
  while (out->first < count && out->energy[out->first] < spec->mid_gap) {
    out->first++;
  }
  out->weight = spec->spin / (double)n_points;
done:
  free_space(&m);
  if (status != WEIR_OK) {
    qt_bands_fini(out);
  }
  return status;
}
