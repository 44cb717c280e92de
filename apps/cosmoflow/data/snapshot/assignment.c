/* assignment.c - see assignment.h. */
#include "data/snapshot/assignment.h"
#include <math.h>
#include "base/weir_alloc.h"

static const double pi = 3.14159265358979323846;

/* The points along an axis that a particle is shared among, and its shares. */
typedef struct cell_weights {
  int64_t at[3];
  double weight[3];
} cell_weights;

static inline int64_t wrap(int64_t i, int64_t n)
{
  return i < 0 ? i + n : i >= n ? i - n : i;
}

/* Of a particle at u cells, in [0, n] of a periodic axis. */
static inline cell_weights weights_of(cf_scheme scheme, double u, int64_t n)
{
  const double first = floor(scheme == CF_CIC ? u : u + 0.5), d = u - first;
  const int64_t i = (int64_t)first;

  if (scheme == CF_NGP) {
    return (cell_weights){{wrap(i, n)}, {1}};
  }
  if (scheme == CF_CIC) {
    return (cell_weights){{wrap(i, n), wrap(i + 1, n)}, {1 - d, d}};
  }
  return (cell_weights){{wrap(i - 1, n), wrap(i, n), wrap(i + 1, n)},
                        {0.5 * (0.5 - d) * (0.5 - d), 0.75 - d * d, 0.5 * (0.5 + d) * (0.5 + d)}};
}

/* Adds a particle to a row of the mesh. */
static inline void add_row(const cell_weights *w, int points, double mass, double *row)
{
  for (int k = 0; k < points; k++) {
    row[w->at[k]] += mass * w->weight[k];
  }
}

void cf_assign(const cf_assignment *a, int64_t count, const double *position, const double *mass,
               double *mesh)
{
  const int points = (int)a->scheme;
  const double cells = (double)a->n / a->box;
  cell_weights w[3];

  for (int64_t p = 0; p < count; p++) {
    for (int d = 0; d < a->dims; d++) {
      double u = position[3 * p + a->axis[d]] * cells + a->shift;

      u -= u >= (double)a->n ? (double)a->n : 0;
      w[d] = weights_of(a->scheme, u, a->n);
    }
    for (int i = 0; i < points; i++) {
      const double share = mass[p] * w[0].weight[i];

      if (a->dims == 2) {
        add_row(&w[1], points, share, mesh + w[0].at[i] * a->n);
        continue;
      }
      for (int j = 0; j < points; j++) {
        add_row(&w[2], points, share * w[1].weight[j],
                mesh + (w[0].at[i] * a->n + w[1].at[j]) * a->n);
      }
    }
  }
}

/* ---- Density ---- */

/* Copies a mesh over its mean into a field; from there into rows without padding. */
static void to_field(const cf_mesh *m, const double *mesh, double mean, float *field)
{
  const int64_t n = cf_mesh_side(m), pitch = cf_mesh_pitch(m);

  for (int64_t row = 0; row < n * n; row++) {
    for (int64_t z = 0; z < n; z++) {
      field[row * pitch + z] = (float)(mesh[row * n + z] / mean);
    }
  }
}

static void to_rows(const cf_mesh *m, const float *field, float *density)
{
  const int64_t n = cf_mesh_side(m), pitch = cf_mesh_pitch(m);

  for (int64_t row = 0; row < n * n; row++) {
    for (int64_t z = 0; z < n; z++) {
      density[row * n + z] = field[row * pitch + z];
    }
  }
}

/* Adds coefficients c2 of particles moved by half a cell to those, c1, of particles in their place:
 * (c1 + c2 exp(i pi (w_x + w_y + w_z) / n)) / 2. */
static void interlace(const cf_mesh *m, const float *c2, float *c1)
{
  const int64_t n = cf_mesh_side(m), pitch = cf_mesh_pitch(m);

  for (int64_t x = 0; x < n; x++) {
    for (int64_t y = 0; y < n; y++) {
      for (int64_t z = 0; z <= n / 2; z++) {
        const int64_t at = (x * n + y) * pitch + 2 * z;
        const double angle = pi * (double)(cf_wave(x, n) + cf_wave(y, n) + z) / (double)n;
        const double re = cos(angle), im = sin(angle);

        if (2 * x != n && 2 * y != n && 2 * z != n) {
          const double real = c2[at] * re - c2[at + 1] * im, imag = c2[at] * im + c2[at + 1] * re;

          c1[at] = (float)(0.5 * (c1[at] + real));
          c1[at + 1] = (float)(0.5 * (c1[at + 1] + imag));
        }
      }
    }
  }
}

static double window(int64_t wave, int64_t n, cf_scheme scheme)
{
  const double x = pi * (double)wave / (double)n;

  return wave == 0 ? 1 : pow(sin(x) / x, (double)scheme);
}

static void divide(const cf_mesh *m, cf_scheme scheme, float *c)
{
  const int64_t n = cf_mesh_side(m), pitch = cf_mesh_pitch(m);

  for (int64_t x = 0; x < n; x++) {
    for (int64_t y = 0; y < n; y++) {
      const double row = window(cf_wave(x, n), n, scheme) * window(cf_wave(y, n), n, scheme);
      float *const at = c + (x * n + y) * pitch;

      for (int64_t z = 0; z <= n / 2; z++) {
        const double all = row * window(z, n, scheme);

        at[2 * z] = (float)(at[2 * z] / all);
        at[2 * z + 1] = (float)(at[2 * z + 1] / all);
      }
    }
  }
}

/* Both corrections, on the coefficients of fields. */
static weir_status correct(const cf_assignment *a, const double *mesh, const double *shifted,
                           bool deconvolve, double mean, float *density)
{
  cf_mesh *m = NULL;
  float *field = NULL, *other = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(cf_mesh_create(a->n, &m));
  WEIR_TRY_GOTO(cf_mesh_field(m, &field), done);
  to_field(m, mesh, mean, field);
  cf_mesh_forward(m, field);
  if (shifted != NULL) {
    WEIR_TRY_GOTO(cf_mesh_field(m, &other), done);
    to_field(m, shifted, mean, other);
    cf_mesh_forward(m, other);
    interlace(m, other, field);
  }
  if (deconvolve) {
    divide(m, a->scheme, field);
  }
  cf_mesh_backward(m, field);
  to_rows(m, field, density);
done:
  weir_free(&field);
  weir_free(&other);
  cf_mesh_destroy(&m);
  return status;
}

weir_status cf_density(const cf_assignment *a, const double *mesh, const double *shifted,
                       bool deconvolve, double mean, float *density)
{
  const int64_t n = a->n * a->n * (a->dims == 3 ? a->n : 1);

  if (shifted != NULL || deconvolve) {
    WEIR_ASSERT(a->dims == 3);
    return correct(a, mesh, shifted, deconvolve, mean, density);
  }
  for (int64_t i = 0; i < n; i++) {
    density[i] = (float)(mesh[i] / mean);
  }
  return WEIR_OK;
}
