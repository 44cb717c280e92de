/* redshift_space_test.c - universes whose particles are moved by their peculiar velocities. */
#include "data/simulation/universe.h"
#include "support/cosmoflow/mesh_check.h"

enum { SIDE = 12, CELLS = SIDE * SIDE * SIDE, REDSHIFTS = 3 };

static double some_redshifts[REDSHIFTS] = {0, 3, 0.5};

static cf_universe_opts small(int64_t channels)
{
  cf_universe_opts o;

  weir_opts_default(cf_universe_options, sizeof o, &o);
  o.side = SIDE;
  o.box = 100;
  o.redshifts = (weir_real_list){some_redshifts, channels};
  return o;
}

/* All samples of a universe, the caller's to free. */
static void *make(const cf_universe_opts *o, uint64_t seed, int64_t universe)
{
  cf_generator *g = NULL;
  cf_generator_workspace *r = NULL;
  void *out = NULL;

  assert_ok(cf_generator_create(o, seed, &g));
  assert_ok(cf_generator_workspace_create(g, &r));
  assert_ok(weir_alloc(cf_generator_facts(g)->bytes, 1, &out));
  assert_ok(cf_generator_make(g, r, universe, out));
  cf_generator_workspace_destroy(&r);
  cf_generator_destroy(&g);
  return out;
}

/* Amplitude of the wave of length box along an axis. */
static double amplitude(const cf_universe_opts *o, cf_mesh *m, float *f, int axis)
{
  const int64_t n = cf_mesh_side(m), pitch = cf_mesh_pitch(m);
  float *counts = make(o, 5, 0);

  for (int64_t i = 0; i < n * n * n; i++) {
    f[i / n * pitch + i % n] = counts[i];
  }
  weir_free(&counts);
  cf_mesh_forward(m, f);
  const float *const c = f + (axis == 0 ? n * pitch : axis == 1 ? pitch : 2);

  return hypot((double)c[0], (double)c[1]);
}

/* Linear waves along the line of sight grow by 1 + dlnD/dlna, those across it are as they were
 * (Kaiser, MNRAS 227 (1987) 1). */
static void velocities_amplify_waves_along_the_line_of_sight(void **state)
{
  enum { N = 32 };
  cf_universe_opts o = small(1);
  double z = 1, unit[CF_PARAMETERS];
  cf_mesh *m = NULL;
  cf_generator *g = NULL;
  cf_cosmology c;
  cf_linear l;
  float *f = NULL;

  NEEDS_FFTW();
  o.side = N;
  o.box = 3000;
  o.fixed = true;
  o.counts = CF_COUNTS_CIC;
  o.values = CF_VALUES_F32;
  o.redshifts = (weir_real_list){&z, 1};
  assert_ok(cf_mesh_create(N, &m));
  assert_ok(cf_mesh_field(m, &f));
  assert_ok(cf_generator_create(&o, 5, &g));
  cf_generator_draw(g, 0, &c, unit);
  assert_ok(cf_linear_init(&c, CF_TRANSFER_FULL, &l));
  const double grows = 1 + cf_linear_growth_rate(&l, 0.5);

  for (int method = CF_METHOD_1LPT; method <= CF_METHOD_PM; method++) {
    o.method = method;
    for (int axis = 0; axis < 3; axis++) {
      double real[3];

      o.line_of_sight = CF_SIGHT_NONE;
      for (int along = 0; along < 3; along++) {
        real[along] = amplitude(&o, m, f, along);
      }
      o.line_of_sight = CF_SIGHT_X + axis;
      for (int along = 0; along < 3; along++) {
        const double ratio = amplitude(&o, m, f, along) / real[along];

        assert_near(ratio, along == axis ? grows : 1, 0.01);
      }
    }
  }
  weir_free(&f);
  cf_mesh_destroy(&m);
  cf_generator_destroy(&g);
}

/* A redshift in the middle of a simulation leaves its later ones as they would be. */
static void redshift_space_leaves_the_simulation_alone(void **state)
{
  NEEDS_FFTW();
  for (int method = CF_METHOD_2LPT; method <= CF_METHOD_PM; method++) {
    cf_universe_opts o = small(REDSHIFTS);

    o.method = method;
    o.line_of_sight = CF_SIGHT_Y;
    o.redshifts = (weir_real_list){some_redshifts + 1, 2}; /* 3 and 0.5 */
    int16_t *two = make(&o, 2, 0);

    o.line_of_sight = CF_SIGHT_NONE;
    int16_t *real = make(&o, 2, 0);

    o.line_of_sight = CF_SIGHT_Y;
    o.redshifts = (weir_real_list){some_redshifts, REDSHIFTS};
    int16_t *three = make(&o, 2, 0);
    int64_t moved = 0, n = 0;

    for (int64_t i = 0; i < CELLS; i++) {
      assert_int_equal(three[i * REDSHIFTS + 2], two[i * 2 + 1]);
      moved += real[i * 2 + 1] != two[i * 2 + 1];
      n += two[i * 2 + 1];
    }
    assert_true(moved > CELLS / 20);
    assert_int_equal(n, CELLS);
    weir_free(&two);
    weir_free(&real);
    weir_free(&three);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(velocities_amplify_waves_along_the_line_of_sight),
      cmocka_unit_test(redshift_space_leaves_the_simulation_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
