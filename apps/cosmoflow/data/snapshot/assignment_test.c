/* assignment_test.c - schemes against their definition, mass is kept, and spectra of random
 * particles: shot noise with the aliases of a scheme in closed form. */
#include <stdlib.h>
#include <string.h>
#include "base/weir_random.h"
#include "data/snapshot/assignment.h"
#include "support/cosmoflow/mesh_check.h"

enum { N = 7, PARTICLES = 300, FINE = 16, MANY = 30000 };

static const double box = 50;

static void scatter(uint32_t draw, int64_t n, double *position, double *mass)
{
  for (int64_t i = 0; i < n; i++) {
    mass[i] = 0.5 + weir_random_uniform(5, 3, draw, (uint64_t)i);
    for (int d = 0; d < 3; d++) {
      const double u = weir_random_uniform(5, (uint32_t)d, draw, (uint64_t)i);

      position[3 * i + d] = box * (i % 5 == 0 ? floor(2 * N * u) / (2 * N) : u); /* or between */
    }
  }
}

/* The weight of a particle r cells from a point: NGP, and its convolutions with a cell. */
static double weight(double r, cf_scheme scheme)
{
  r -= N * floor(r / N + 0.5);
  const double a = fabs(r);

  if (scheme == CF_NGP) {
    return r >= -0.5 && r < 0.5 ? 1 : 0;
  }
  if (scheme == CF_CIC) {
    return a < 1 ? 1 - a : 0;
  }
  return a < 0.5 ? 0.75 - a * a : a < 1.5 ? 0.5 * (1.5 - a) * (1.5 - a) : 0;
}

static void compare(const cf_assignment *a, const double *position, const double *mass)
{
  double mesh[N * N * N] = {0}, total = 0, sum = 0;
  const int64_t points = a->dims == 3 ? N * N * N : N * N;

  cf_assign(a, PARTICLES, position, mass, mesh);
  for (int64_t p = 0; p < points; p++) {
    const int64_t at[3] = {a->dims == 3 ? p / N / N : p / N, a->dims == 3 ? p / N % N : p % N,
                           p % N};
    double expected = 0;

    for (int64_t i = 0; i < PARTICLES; i++) {
      double w = mass[i];

      for (int d = 0; d < a->dims; d++) {
        w *= weight(position[3 * i + a->axis[d]] * N / box + a->shift - (double)at[d], a->scheme);
      }
      expected += w;
    }
    assert_near(mesh[p], expected, 1e-12 * PARTICLES);
    sum += mesh[p];
  }
  for (int64_t i = 0; i < PARTICLES; i++) {
    total += mass[i];
  }
  assert_near(sum / total, 1, 1e-13);
}

static void schemes_are_their_definitions(void **state)
{
  double position[3 * PARTICLES], mass[PARTICLES];

  (void)state;
  for (uint32_t draw = 0; draw < 12; draw++) {
    const cf_assignment a = {.scheme = (cf_scheme)(1 + draw % 3),
                             .n = N,
                             .box = box,
                             .shift = draw % 2 == 0 ? 0 : 0.5,
                             .dims = draw < 6 ? 3 : 2,
                             .axis = {draw < 6 ? 0 : 2, draw < 6 ? 1 : 0, 2}};

    scatter(draw, PARTICLES, position, mass);
    compare(&a, position, mass);
  }
}

/* A particle on a point: all of it there, three quarters along an axis with TSC. */
static void a_single_particle_is_in_closed_form(void **state)
{
  static const double share[] = {1, 1, 0.75 * 0.75 * 0.75};
  const double position[3] = {2 * box / N, 0, 6 * box / N}, mass = 3;

  (void)state;
  for (int scheme = 1; scheme <= 3; scheme++) {
    const cf_assignment a = {(cf_scheme)scheme, N, box, 0, 3, {0, 1, 2}};
    double mesh[N * N * N] = {0};

    cf_assign(&a, 1, position, &mass, mesh);
    assert_near(mesh[2 * N * N + 6], 3 * share[scheme - 1], 1e-12);
    assert_near(mesh[1 * N * N + 6], scheme == 3 ? 3 * 0.125 * 0.75 * 0.75 : 0, 1e-12);
  }
}

/* MAS_library of Pylians 0.12 (single precision, NumPy 2.4.6): 200 particles at multiples of the
 * inverse powers of 1.2207440846, masses 2, 3, 1, 2, ..; six points of a mesh of 8^3. */
static void pylians_assigns_the_same(void **state)
{
  enum { SIDE = 8, COUNT = 200 };
  static const double step[3] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
  static const int64_t points[6][3] = {{0, 0, 0}, {1, 2, 3}, {7, 7, 7},
                                       {4, 0, 6}, {3, 5, 1}, {0, 7, 4}};
  static const double pylians[3][7] = {
      {0, 0, 1, 0, 4, 2, 1009},
      {0.436918, 0.188747, 0.708052, 0.315976, 1.42418, 0.813091, 425.9233},
      {0.593448, 0.377547, 0.683979, 0.628804, 1.1728, 0.841287, 353.4632},
  };
  double position[3 * COUNT], mass[COUNT];

  (void)state;
  for (int64_t i = 0; i < 3 * COUNT; i++) {
    const double turns = (double)(i / 3 + 1) * step[i % 3];

    position[i] = box * (turns - floor(turns));
    mass[i / 3] = (double)(1 + (i / 3 + 1) % 3);
  }
  for (int scheme = 1; scheme <= 3; scheme++) {
    const cf_assignment a = {(cf_scheme)scheme, SIDE, box, 0, 3, {0, 1, 2}};
    double mesh[SIDE * SIDE * SIDE] = {0}, squares = 0;

    cf_assign(&a, COUNT, position, mass, mesh);
    for (int64_t i = 0; i < SIDE * SIDE * SIDE; i++) {
      squares += mesh[i] * mesh[i];
    }
    for (int k = 0; k < 6; k++) {
      assert_near(mesh[(points[k][0] * SIDE + points[k][1]) * SIDE + points[k][2]],
                  pylians[scheme - 1][k], 1e-5);
    }
    assert_near(squares / pylians[scheme - 1][6], 1, 1e-6);
  }
}

/* Share of white noise that a mesh has at a wave, all aliases included (Jing, ApJ 620 (2005) 559,
 * eq. 20). */
static double aliased(int64_t wave, cf_scheme scheme)
{
  const double s = pow(sin(PI * (double)wave / FINE), 2);

  return scheme == CF_NGP ? 1 : scheme == CF_CIC ? 1 - 2 * s / 3 : 1 - s + 2 * s * s / 15;
}

/* The mean of aliased over the waves of each bin of a spectrum. */
static void expect(cf_scheme scheme, const cf_power *s, double *mean)
{
  double *const modes = calloc((size_t)s->n_bins, sizeof *modes);

  memset(mean, 0, (size_t)s->n_bins * sizeof *mean);
  for (int64_t i = 0; i < FINE * FINE * FINE; i++) {
    const int64_t w[3] = {cf_wave(i / FINE / FINE, FINE), cf_wave(i / FINE % FINE, FINE),
                          cf_wave(i % FINE, FINE)};
    const double length = sqrt((double)(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]));
    const int64_t bin = (int64_t)floor(length + 0.5) - 1;

    if (bin >= 0 && bin < s->n_bins) {
      mean[bin] += aliased(w[0], scheme) * aliased(w[1], scheme) * aliased(w[2], scheme);
      modes[bin]++;
    }
  }
  for (int64_t b = 0; b < s->n_bins; b++) {
    mean[b] /= modes[b];
  }
  free(modes);
}

/* Measures P of a density [FINE^3]. */
static void measure(const float *density, const cf_mesh *m, cf_power *s)
{
  float *field = NULL;

  assert_ok(cf_mesh_field(m, &field));
  for (int64_t row = 0; row < FINE * FINE; row++) {
    memcpy(field + row * cf_mesh_pitch(m), density + row * FINE, FINE * sizeof *field);
  }
  cf_mesh_forward(m, field);
  cf_power_measure(s, m, field, 1, 0);
  weir_free(&field);
}

static void random_particles_have_shot_noise(void **state)
{
  const int64_t cells = FINE * FINE * FINE;
  double *const position = malloc(3 * MANY * sizeof *position);
  double *const mass = malloc(MANY * sizeof *mass), *const mesh = malloc(2 * (size_t)cells * 8);
  float *const density = malloc((size_t)cells * sizeof *density);
  cf_mesh *m = NULL;
  cf_power s;

  (void)state;
  NEEDS_FFTW();
  assert_ok(cf_mesh_create(FINE, &m));
  assert_ok(cf_power_init(&s, m, box, FINE / 2));
  for (int64_t i = 0; i < 3 * MANY; i++) {
    position[i] = box * weir_random_uniform(8, 0, 0, (uint64_t)i);
    mass[i / 3] = 1;
  }
  for (int scheme = 1; scheme <= 3; scheme++) {
    cf_assignment a = {(cf_scheme)scheme, FINE, box, 0, 3, {0, 1, 2}};
    double expected[FINE];

    memset(mesh, 0, 2 * (size_t)cells * sizeof *mesh);
    cf_assign(&a, MANY, position, mass, mesh);
    a.shift = 0.5;
    cf_assign(&a, MANY, position, mass, mesh + cells);
    assert_ok(cf_density(&a, mesh, NULL, false, MANY / (double)cells, density));
    measure(density, m, &s);
    expect(a.scheme, &s, expected);
    const double noise = box * box * box / MANY;

    for (int64_t b = 0; b < s.n_bins; b++) { /* 4 standard deviations */
      assert_near(s.p[b] / noise / expected[b], 1, 4 * sqrt(2 / s.modes[b]));
    }
    if (scheme ==
        3) { /* interlaced, its aliases are small: the window alone remains, divided out */
      assert_ok(cf_density(&a, mesh, mesh + cells, true, MANY / (double)cells, density));
      measure(density, m, &s);
      for (int64_t b = 0; b < s.n_bins - 1; b++) {
        assert_near(s.p[b] / noise, 1, 4 * sqrt(2 / s.modes[b]) + 0.03);
      }
    }
  }
  cf_power_fini(&s);
  cf_mesh_destroy(&m);
  free(position);
  free(mass);
  free(mesh);
  free(density);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(schemes_are_their_definitions),
      cmocka_unit_test(a_single_particle_is_in_closed_form),
      cmocka_unit_test(pylians_assigns_the_same),
      cmocka_unit_test(random_particles_have_shot_noise),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
