/* particles_test.c - mass is kept, schemes against their definition, the mesh seen through them. */
#include <string.h>
#include "base/weir_random.h"
#include "support/cosmoflow/mesh_check.h"
#include "device/weir_parallel.h"

/* Displacements of any length: up to some boxes, some exactly to points and half-way between. */
static void scatter(check_box *b, uint32_t draw_no, double length)
{
  for (int a = 0; a < 3; a++) {
    for (int64_t row = 0; row < b->n * b->n; row++) {
      for (int64_t z = 0; z < b->n; z++) {
        const uint64_t at = (uint64_t)(row * b->n + z);
        const double d = length * weir_random_normal(3, (uint32_t)a, draw_no, at);

        b->p.d[a][row * b->pitch + z] = (float)(at % 5 == 0 ? floor(2 * d) / 2 : d);
      }
    }
  }
}

/* By definition: the weight of a particle at distance r cells along an axis. */
static double weight(double r, double n, cf_scheme scheme)
{
  r -= n * floor(r / n + 0.5);
  if (scheme == CF_NGP) { /* half-way counts above: [-1/2, 1/2) from the point */
    return r >= -0.5 && r < 0.5 ? 1 : 0;
  }
  return fabs(r) < 1 ? 1 - fabs(r) : 0;
}

static void schemes_are_their_definitions(void **state)
{
  static const double lengths[] = {0, 0.3, 4, 40};

  NEEDS_FFTW();
  for (uint32_t draw_no = 0; draw_no < 8; draw_no++) {
    check_box b = check_open(draw_no % 2 ? 5 : 6, 1);
    cf_mesh *m = NULL;
    float *count = NULL;
    const int64_t n = draw_no % 3 == 0 ? b.n : 7;
    const cf_scheme scheme = draw_no < 4 ? CF_NGP : CF_CIC;

    assert_ok(cf_mesh_create(n, &m));
    assert_ok(cf_mesh_field(m, &count));
    scatter(&b, draw_no, lengths[draw_no % 4]);
    cf_particles_deposit(&b.p, scheme, m, count);
    for (int64_t cell = 0; cell < n * n * n; cell++) {
      const double at[3] = {(double)(cell / n / n), (double)(cell / n % n), (double)(cell % n)};
      double sum = 0;

      for (int64_t i = 0; i < b.n * b.n * b.n; i++) {
        const int64_t q[3] = {i / b.n / b.n, i / b.n % b.n, i % b.n};
        double w = 1;

        for (int a = 0; a < 3; a++) {
          const float d = b.p.d[a][(q[0] * b.n + q[1]) * b.pitch + q[2]];
          const float lattice_pos = ((float)q[a] + d) * (float)((double)n / (double)b.n);

          w *= weight((double)lattice_pos - at[a], (double)n, scheme);
        }
        sum += w;
      }
      assert_near((double)count[cell / n * cf_mesh_pitch(m) + cell % n], sum,
                  scheme == CF_NGP ? 0 : 1e-4);
    }
    weir_free(&count);
    cf_mesh_destroy(&m);
    check_close(&b);
  }
}

static void mass_is_kept(void **state)
{
  NEEDS_FFTW();
  check_box b = check_open(40, 1);

  for (uint32_t draw_no = 0; draw_no < 4; draw_no++) {
    scatter(&b, draw_no, draw_no == 3 ? 100 : 2);
    assert_true(check_density(&b, CF_NGP) == 1);
    for (int64_t row = 0; row < b.n * b.n; row++) {
      for (int64_t z = 0; z < b.n; z++) {
        const float c = b.field[8][row * b.pitch + z];

        assert_true(c >= 0 && c == floorf(c));
      }
    }
    assert_near(check_density(&b, CF_CIC), 1, 1e-6);
  }
  check_close(&b);
}

/* A particle that moves by whole cells, or once around, changes nothing but where it counts. */
static void the_box_is_periodic(void **state)
{
  NEEDS_FFTW();
  check_box b = check_open(10, 1);

  for (int64_t shift = -30; shift <= 30; shift += 10) {
    for (int64_t i = 0; i < b.n * b.n * b.pitch; i++) {
      b.p.d[0][i] = (float)shift;
      b.p.d[1][i] = (float)(shift + 3);
    }
    cf_particles_deposit(&b.p, CF_CIC, b.m, b.field[8]);
    for (int64_t row = 0; row < b.n * b.n; row++) {
      for (int64_t z = 0; z < b.n; z++) {
        assert_true(b.field[8][row * b.pitch + z] == 1);
      }
    }
  }
  check_close(&b);
}

/* Waves of a mesh of n up to half its Nyquist wave agree, once corrected, with a mesh of twice as
 * many points, where weights hardly matter; uncorrected they do not. */
static void corrected_power_is_that_of_a_finer_mesh(void **state)
{
  NEEDS_FFTW();
  check_box b = check_open(64, 256), fine = check_open(128, 256);
  double coarse[16], raw[16], worst = 0;

  assert_ok(cf_field_draw(b.m, &b.l, b.box, 4, true, b.delta));
  cf_lpt_source(b.m, b.delta, b.source, b.p.d);
  cf_lpt_displace(b.m, b.delta, b.source, 1, cf_linear_growth2(&b.l, 1), b.p.d);
  check_power(&b);
  memcpy(coarse, b.power.p, sizeof coarse);
  cf_power_measure(&b.power, b.m, b.field[8], 1, 0);
  memcpy(raw, b.power.p, sizeof raw);
  cf_particles_deposit(&b.p, CF_CIC, fine.m, fine.field[8]);
  cf_mesh_forward(fine.m, fine.field[8]);
  cf_power_measure(&fine.power, fine.m, fine.field[8], 0.125, CF_CIC);
  for (int i = 0; i < 16; i++) { /* bins to k_Ny / 2 */
    worst = fmax(worst, fabs(coarse[i] / fine.power.p[i] - 1));
  }
  printf("corrected: within %.4f; uncorrected at k_Ny / 2: %.4f\n", worst,
         raw[15] / fine.power.p[15]);
  assert_true(worst < 0.02);
  assert_true(raw[15] / fine.power.p[15] < 0.9);
  check_close(&b);
  check_close(&fine);
}

/* Interpolation is the transpose of the deposit: sum over particles of what a field is there = sum
 * over cells of field x density. */
static void forces_are_interpolated_by_the_same_weights(void **state)
{
  NEEDS_FFTW();
  check_box b = check_open(12, 1);
  float *force[3] = {b.field[5], b.field[6], b.field[7]};
  float *momentum[3] = {b.field[9], b.field[10], b.field[11]};

  scatter(&b, 7, 3);
  for (int64_t i = 0; i < b.n * b.n * b.pitch; i++) {
    for (uint32_t a = 0; a < 3; a++) {
      force[a][i] = (float)weir_random_normal(4, a, 0, (uint64_t)i);
    }
  }
  cf_particles_kick(&b.p, force, 2, momentum);
  (void)check_density(&b, CF_CIC);
  for (int a = 0; a < 3; a++) {
    double there = 0, here = 0;

    for (int64_t row = 0; row < b.n * b.n; row++) {
      for (int64_t z = 0; z < b.n; z++) {
        const int64_t at = row * b.pitch + z;

        there += (double)momentum[a][at];
        here += 2 * (double)b.field[8][at] * (double)force[a][at];
      }
    }
    assert_near(there, here, 1e-5);
  }
  check_close(&b);
}

static void what_is_no_number_is_found(void **state)
{
  NEEDS_FFTW();
  check_box b = check_open(9, 1);

  scatter(&b, 1, 1);
  assert_true(cf_particles_sound(&b.p));
  b.p.d[1][80 * b.pitch + 8] = NAN;
  assert_false(cf_particles_sound(&b.p));
  b.p.d[1][80 * b.pitch + 8] = -INFINITY;
  assert_false(cf_particles_sound(&b.p));
  b.p.d[1][80 * b.pitch + 8] = 0;
  b.p.d[1][80 * b.pitch + 9] = NAN; /* between rows */
  assert_true(cf_particles_sound(&b.p));
  check_close(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(schemes_are_their_definitions),
      cmocka_unit_test(mass_is_kept),
      cmocka_unit_test(the_box_is_periodic),
      cmocka_unit_test(corrected_power_is_that_of_a_finer_mesh),
      cmocka_unit_test(forces_are_interpolated_by_the_same_weights),
      cmocka_unit_test(what_is_no_number_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
