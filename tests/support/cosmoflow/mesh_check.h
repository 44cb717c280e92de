/* mesh_check.h - functions shared by the tests of fields and particles. */
#ifndef CF_MESH_CHECK_H
#define CF_MESH_CHECK_H
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "data/simulation/field.h"
#include "data/simulation/lpt.h"
#include "data/simulation/particles.h"
#include "data/simulation/power.h"
#include "ops/fft/weir_fft_plan.h"

#define PI 3.14159265358979323846
#define NEEDS_FFTW()                               \
  do {                                             \
    if (!weir_fft_plan_available()) {              \
      printf("skipped: this build has no FFTW\n"); \
      skip();                                      \
    }                                              \
  } while (0)

enum { CHECK_FIELDS = 12 };

/* A mesh with fields, the universe of the reference, and bins. */
typedef struct check_box {
  cf_mesh *m;
  cf_linear l;
  int64_t n, pitch;
  double box;
  float *field[CHECK_FIELDS];
  float *delta, *source; /* of field */
  cf_particles p;        /* of field */
  cf_power power;
} check_box;

static inline check_box check_open(int64_t n, double box)
{
  static const cf_cosmology planck = {0.3089, 0.0486, 0.6774, 0.9667, 0.8159};
  check_box b = {.n = n, .box = box};

  assert_ok(cf_linear_init(&planck, CF_TRANSFER_FULL, &b.l));
  assert_ok(cf_mesh_create(n, &b.m));
  b.pitch = cf_mesh_pitch(b.m);
  for (int i = 0; i < CHECK_FIELDS; i++) {
    assert_ok(cf_mesh_field(b.m, &b.field[i]));
  }
  assert_ok(cf_power_init(&b.power, b.m, box, cf_mesh_side(b.m) / 2));
  b.delta = b.field[0];
  b.source = b.field[1];
  b.p = (cf_particles){b.m, {b.field[2], b.field[3], b.field[4]}};
  return b;
}

static inline void check_close(check_box *b)
{
  cf_power_fini(&b->power);
  for (int i = 0; i < CHECK_FIELDS; i++) {
    weir_free(&b->field[i]);
  }
  cf_mesh_destroy(&b->m);
}

/* Sets 1 + delta [n, n, n] to the numbers of which tests/bench/cosmo_pylians.py computes reference
 * values: in [1/2, 3/2). */
static inline void golden_density(int64_t n, double *rho)
{
  for (int64_t i = 1; i <= n * n * n; i++) {
    const double turns = (double)(i * i) * 0.618033988749895;

    rho[i - 1] = 0.5 + turns - floor(turns);
  }
}

/* Field 8 becomes the density of the particles, its mean the return value. */
static inline double check_density(check_box *b, cf_scheme scheme)
{
  double sum = 0;

  cf_particles_deposit(&b->p, scheme, b->m, b->field[8]);
  for (int64_t row = 0; row < b->n * b->n; row++) {
    for (int64_t z = 0; z < b->n; z++) {
      sum += (double)b->field[8][row * b->pitch + z];
    }
  }
  return sum / pow((double)b->n, 3);
}

/* P of the particles by CIC, in b->power. */
static inline void check_power(check_box *b)
{
  (void)check_density(b, CF_CIC);
  cf_mesh_forward(b->m, b->field[8]);
  cf_power_measure(&b->power, b->m, b->field[8], 1, CF_CIC);
}
#endif
