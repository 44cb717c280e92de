/* universe_test.c - parameters, counts, samples and channels of universes; properties without
 * effect on their bits, and refusals. */
#include "data/simulation/universe.h"

#include <string.h>
#include "base/weir_signal.h"
#include "support/cosmoflow/mesh_check.h"
#include "device/weir_parallel.h"

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

static void every_particle_is_counted(void **state)
{
  NEEDS_FFTW();
  for (int method = CF_METHOD_1LPT; method <= CF_METHOD_PM; method++) {
    for (int64_t particles = 8; particles <= 16; particles += 4) {
      cf_universe_opts o = small(REDSHIFTS);

      o.method = method;
      o.particles = particles;
      int16_t *whole = make(&o, 1, 5);

      o.counts = CF_COUNTS_CIC;
      o.values = CF_VALUES_F32;
      float *blocks = make(&o, 1, 5);

      for (int64_t c = 0; c < REDSHIFTS; c++) {
        int64_t n = 0;
        double mass = 0;

        for (int64_t i = 0; i < CELLS; i++) {
          n += whole[i * REDSHIFTS + c];
          mass += (double)blocks[i * REDSHIFTS + c];
        }
        assert_int_equal(n, particles * particles * particles);
        assert_near(mass / (double)n, 1, 1e-6);
      }
      weir_free(&whole);
      weir_free(&blocks);
    }
  }
}

/* A channel is what its redshift alone would be; later ones are clumpier. */
static void channels_are_redshifts(void **state)
{
  NEEDS_FFTW();
  cf_universe_opts o = small(REDSHIFTS);
  double variance[REDSHIFTS] = {0};

  o.counts = CF_COUNTS_CIC;
  o.values = CF_VALUES_F32;
  float *all = make(&o, 2, 0);

  for (int64_t c = 0; c < REDSHIFTS; c++) {
    cf_universe_opts one = o;

    one.redshifts = (weir_real_list){&some_redshifts[c], 1};
    float *alone = make(&one, 2, 0);

    for (int64_t i = 0; i < CELLS; i++) {
      assert_true(all[i * REDSHIFTS + c] == alone[i]);
      variance[c] += pow((double)alone[i] - 1, 2);
    }
    weir_free(&alone);
  }
  assert_true(variance[0] > variance[2] && variance[2] > variance[1]);
  weir_free(&all);
}

/* With pm a channel is the same whether it is the last one or not: steps end at every redshift. */
static void earlier_channels_do_not_know_later_ones(void **state)
{
  NEEDS_FFTW();
  cf_universe_opts o = small(REDSHIFTS);

  o.method = CF_METHOD_PM;
  int16_t *all = make(&o, 2, 0);

  o.redshifts = (weir_real_list){some_redshifts + 1, 2}; /* 3 and 0.5 */
  int16_t *some = make(&o, 2, 0);

  for (int64_t i = 0; i < CELLS; i++) {
    assert_int_equal(all[i * REDSHIFTS + 1], some[i * 2]);
    assert_int_equal(all[i * REDSHIFTS + 2], some[i * 2 + 1]);
  }
  weir_free(&all);
  weir_free(&some);
}

static void samples_are_cubes_of_the_box(void **state)
{
  NEEDS_FFTW();
  cf_universe_opts o = small(2);
  int16_t *box = make(&o, 3, 1);

  o.block = 4;
  int16_t *divided = make(&o, 3, 1);

  for (int64_t i = 0; i < CELLS * 2; i++) {
    const int64_t cell = i / 2, x = cell / SIDE / SIDE, y = cell / SIDE % SIDE, z = cell % SIDE;
    const int64_t sample = (x / 4 * 3 + y / 4) * 3 + z / 4;

    assert_int_equal(box[i], divided[(sample * 64 + (x % 4 * 4 + y % 4) * 4 + z % 4) * 2 + i % 2]);
  }
  weir_free(&box);
  weir_free(&divided);
}

typedef struct several {
  const cf_generator *g;
  int16_t *out;
  bool backwards;
} several;

static void make_one(void *context, int64_t item, int thread)
{
  const several *const s = context;
  const int64_t universe = s->backwards ? 5 - item : item;
  cf_generator_workspace *r = NULL;

  (void)thread;
  assert_ok(cf_generator_workspace_create(s->g, &r));
  assert_ok(cf_generator_make(s->g, r, universe, s->out + universe * CELLS));
  cf_generator_workspace_destroy(&r);
}

static void order_and_threads_make_no_difference(void **state)
{
  static int16_t first[6 * CELLS], again[6 * CELLS];
  cf_generator *g = NULL;

  NEEDS_FFTW();
  cf_universe_opts o = small(1);

  assert_ok(cf_generator_create(&o, 4, &g));
  for (int threads = 1; threads <= 4; threads++) {
    several s = {g, threads == 1 ? first : again, threads % 2 == 0};

    memset(again, 0, sizeof again);
    weir_threads_set(threads);
    weir_parallel(6, 0, make_one, &s);
    assert_true(threads == 1 || memcmp(first, again, sizeof first) == 0);
  }
  assert_true(memcmp(first, first + CELLS, CELLS * sizeof *first) != 0);
  weir_threads_set(0);
  cf_generator_destroy(&g);
}

static void labels_are_what_is_drawn(void **state)
{
  NEEDS_FFTW();
  for (int preset = CF_PRESET_SC18; preset <= CF_PRESET_WIDE2; preset++) {
    for (int draw = 0; draw < 2; draw++) {
      cf_universe_opts o = small(1);
      cf_generator *g = NULL;
      double sum[CF_PARAMETERS] = {0}, square[CF_PARAMETERS] = {0};

      o.preset = preset;
      o.draw = draw;
      assert_ok(cf_generator_create(&o, 11, &g));
      const cf_universe_facts *const f = cf_generator_facts(g);

      assert_int_equal(f->n_labels, preset == CF_PRESET_SC18 ? 4 : 2);
      for (int64_t i = 0; i < 4096; i++) {
        double unit[CF_PARAMETERS];
        cf_cosmology c;

        cf_generator_draw(g, i, &c, unit);
        const double p[CF_PARAMETERS] = {c.omega_m, c.sigma_8, c.n_s, c.h};

        assert_near(c.omega_b * c.h * c.h, 0.0224, 1e-12);
        for (int k = 0; k < f->n_labels; k++) {
          const double lo = f->lo[f->label[k]], hi = f->hi[f->label[k]];

          assert_true(unit[k] >= -1 && unit[k] <= 1);
          assert_near(p[f->label[k]], lo + (hi - lo) * (unit[k] + 1) / 2, 1e-12);
          sum[k] += unit[k] / 4096;
          square[k] += unit[k] * unit[k] / 4096;
        }
        assert_true(f->n_labels == 4 || (c.n_s == 0.9667 && c.h == 0.6774));
      }
      for (int k = 0; k < f->n_labels; k++) { /* guessing 0: an MSE of 1/3 */
        assert_near(sum[k], 0, draw ? 0.001 : 0.04);
        assert_near(square[k], 1.0 / 3, draw ? 0.001 : 0.02);
      }
      cf_generator_destroy(&g);
    }
  }
}

/* Of 2^k points of a Sobol sequence one is in each of 2^k intervals of every axis, and of the first
 * two in each cell of every grid of as many cells. */
static void sobol_points_are_spread(void **state)
{
  for (int k = 0; k <= 8; k++) {
    const int n = 1 << k;

    for (int d = 0; d < CF_PARAMETERS; d++) {
      int hits[256] = {0};

      for (int i = 0; i < n; i++) {
        hits[k > 0 ? cf_sobol(d, (uint32_t)i) >> (32 - k) : 0]++;
      }
      for (int i = 0; i < n; i++) {
        assert_int_equal(hits[i], 1);
      }
    }
    for (int a = 1; a < k; a++) {
      int hits[256] = {0};

      for (uint32_t i = 0; i < (uint32_t)n; i++) {
        hits[(cf_sobol(0, i) >> (32 - a)) << (k - a) | cf_sobol(1, i) >> (32 - k + a)]++;
      }
      for (int i = 0; i < n; i++) {
        assert_int_equal(hits[i], 1);
      }
    }
  }
  assert_true(cf_sobol(3, 7) != cf_sobol(2, 7));
}

/* Large waves of the counts follow linear theory of the universe's own cosmology. */
static void counts_have_the_spectrum_of_their_cosmology(void **state)
{
  enum { N = 32, UNIVERSES = 8 };
  cf_universe_opts o = small(1);
  cf_mesh *m = NULL;
  cf_power power;
  float *f = NULL;
  double ratio = 0, expected[N / 2], unit[CF_PARAMETERS];
  cf_generator *g = NULL;
  cf_generator_workspace *r = NULL;
  int16_t *out = NULL;

  NEEDS_FFTW();
  o.side = N;
  o.particles = 2 * N;
  o.box = 300;
  o.fixed = true;
  o.preset = CF_PRESET_WIDE2;
  o.redshifts = (weir_real_list){some_redshifts + 2, 1}; /* 0.5 */
  assert_ok(cf_generator_create(&o, 5, &g));
  assert_ok(cf_generator_workspace_create(g, &r));
  assert_ok(weir_alloc(cf_generator_facts(g)->bytes, 1, (void **)&out));
  assert_ok(cf_mesh_create(N, &m));
  assert_ok(cf_mesh_field(m, &f));
  assert_ok(cf_power_init(&power, m, o.box, cf_mesh_side(m) / 2));
  for (int64_t u = 0; u < UNIVERSES; u++) {
    cf_cosmology c;
    cf_linear l;

    assert_ok(cf_generator_make(g, r, u, out));
    for (int64_t i = 0; i < N * N * N; i++) { /* 8 particles a cell */
      f[i / N * cf_mesh_pitch(m) + i % N] = (float)out[i];
    }
    cf_mesh_forward(m, f);
    cf_power_measure(&power, m, f, 8, CF_NGP);
    cf_generator_draw(g, u, &c, unit);
    assert_ok(cf_linear_init(&c, CF_TRANSFER_FULL, &l));
    cf_power_expected(&power, m, &l, expected);
    ratio += (power.p[0] + power.p[1]) / (expected[0] + expected[1]) /
             pow(cf_linear_growth(&l, 1 / 1.5), 2) / UNIVERSES;
  }
  printf("P of counts / linear at z = 0.5, mean of %d: %.4f\n", UNIVERSES, ratio);
  assert_near(ratio, 1, 0.1);
  cf_power_fini(&power);
  weir_free(&f);
  weir_free(&out);
  cf_mesh_destroy(&m);
  cf_generator_workspace_destroy(&r);
  cf_generator_destroy(&g);
}

static void refuse(const cf_universe_opts *o, const char *text)
{
  cf_generator *g = NULL;

  assert_int_equal(cf_generator_create(o, 0, &g), WEIR_ERR_CONFIG);
  assert_null(g);
  assert_non_null(strstr(weir_last_message(), text));
}

static void what_cannot_be_is_refused(void **state)
{
  double permuted[2] = {0.4, 0.3}, once[1] = {0.3},
         fixed[4][2] = {{0.3, 0.3}, {1, 1}, {1, 1}, {1, 1}};
  cf_universe_opts o = small(REDSHIFTS);

  o.block = 5;
  refuse(&o, "simulate.block: 5 does not divide simulate.side=12");
  o = small(REDSHIFTS);
  o.particles = 2;
  refuse(&o, "simulate.particles: 2");
  o = small(REDSHIFTS);
  o.counts = CF_COUNTS_CIC;
  refuse(&o, "simulate.values=f32");
  o = small(0);
  refuse(&o, "simulate.redshifts");
  o = small(REDSHIFTS);
  o.method = CF_METHOD_PM;
  o.start = 0.3;
  refuse(&o, "simulate.redshifts: 3 is before simulate.start=0.3");
  o = small(REDSHIFTS);
  o.baryons = 0.2;
  refuse(&o, "simulate.baryons");
  o = small(REDSHIFTS);
  o.preset = CF_PRESET_CUSTOM;
  o.range.omega_m = o.range.sigma_8 = o.range.n_s = o.range.h = (weir_real_list){permuted, 2};
  refuse(&o, "simulate.range.omega_m");
  o.range.omega_m = (weir_real_list){once, 1};
  refuse(&o, "simulate.range.omega_m");
  o.range.omega_m = (weir_real_list){fixed[0], 2};
  refuse(&o, "simulate.range.sigma_8");
  o.range.sigma_8 = (weir_real_list){fixed[1], 2};
  o.range.n_s = (weir_real_list){fixed[2], 2};
  o.range.h = (weir_real_list){fixed[3], 2};
  refuse(&o, "there is no label");
}

/* More particles in a cell than i16 holds: all of a tiny, old box fall together. */
static void too_many_particles_are_refused(void **state)
{
  NEEDS_FFTW();
  cf_universe_opts o = small(1);
  cf_generator *g = NULL;
  cf_generator_workspace *r = NULL;
  static int16_t out[4 * 4 * 4];

  o.side = 4;
  o.particles = 160; /* 64000 a cell */
  assert_ok(cf_generator_create(&o, 0, &g));
  assert_ok(cf_generator_workspace_create(g, &r));
  assert_int_equal(cf_generator_make(g, r, 3, out), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "universe 3"));
  assert_non_null(strstr(weir_last_message(), "simulate.values=f32"));
  cf_generator_workspace_destroy(&r);
  cf_generator_destroy(&g);
}

static void a_request_to_stop_is_heard(void **state)
{
  NEEDS_FFTW();
  cf_universe_opts o = small(1);
  cf_generator *g = NULL;
  cf_generator_workspace *r = NULL;
  static int16_t out[CELLS];

  assert_ok(cf_generator_create(&o, 0, &g));
  assert_ok(cf_generator_workspace_create(g, &r));
  weir_stop_request(15);
  assert_int_equal(cf_generator_make(g, r, 0, out), WEIR_ERR_STOPPED);
  weir_stop_request(0);
  assert_ok(cf_generator_make(g, r, 0, out));
  cf_generator_workspace_destroy(&r);
  cf_generator_destroy(&g);
}

static void the_text_tells_options_apart(void **state)
{
  char text[18][1024];
  cf_universe_opts o[18];
  cf_universe_facts f;
  int n = 0;

  for (int i = 0; i < 18; i++) {
    o[i] = small(2);
  }
  o[n++].method = CF_METHOD_PM;
  o[n++].method = CF_METHOD_1LPT;
  o[n++].side = 16;
  o[n++].box = 101;
  o[n++].particles = 16;
  o[n++].block = 6;
  o[n++].fixed = true;
  o[n++].preset = CF_PRESET_WIDE2;
  o[n++].transfer = CF_TRANSFER_SMOOTH;
  o[n++].draw = CF_DRAW_SOBOL;
  o[n++].baryons = 0.022;
  o[n++].values = CF_VALUES_F32;
  o[n++].redshifts.count = 1;
  o[n++].line_of_sight = CF_SIGHT_X;
  o[n++].line_of_sight = CF_SIGHT_Z;
  o[n].method = CF_METHOD_PM;
  o[n++].steps = 11;
  n++; /* the small one itself */
  for (int i = 0; i < n; i++) {
    assert_ok(cf_universe_check(&o[i], &f));
    cf_universe_text(&o[i], &f, 0, text[i], sizeof text[i]);
    for (int k = 0; k < i; k++) {
      assert_string_not_equal(text[i], text[k]);
    }
  }
  o[n - 1].universes = o[n - 1].first = o[n - 1].file = o[n - 1].deflate = 2;
  assert_ok(cf_universe_check(&o[n - 1], &f));
  cf_universe_text(&o[n - 1], &f, 0, text[n], sizeof text[n]);
  assert_string_equal(text[n], text[n - 1]);
  cf_universe_text(&o[n - 1], &f, 1, text[n], sizeof text[n]);
  assert_string_not_equal(text[n], text[n - 1]);
}

static void differing_parameters_are_named(void **state)
{
  static const char line[] =
      "seed 0; 2lpt of 8^3 particles; ngp on 8^3 cells of 128 Mpc/h, i16; z 0";
  static const struct {
    const char *other, *expected;
  } cases[] = {
      {line, ""},
      {"seed 1; 2lpt of 8^3 particles; ngp on 8^3 cells of 128 Mpc/h, i16; z 0",
       "\"seed 0\" and \"seed 1\""},
      {"seed 0; pm of 8^3 particles, 3 steps; ngp on 8^3 cells of 128 Mpc/h, f32; z 0",
       "\"2lpt of 8^3 particles\" and \"pm of 8^3 particles, 3 steps\", \"i16\" and \"f32\""},
      {"seed 0; 2lpt of 8^3 particles; ngp on 8^3 cells of 128 Mpc/h, i16; z 0; 1 tracers",
       "nothing and \"1 tracers\""},
      {"another", "\"seed 0; 2lpt of 8^3 particles; ngp on 8^3 cells of 128 Mpc/h, i16; z 0\" and "
                  "\"another\""},
  };
  char text[512];

  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    cf_universe_text_compare(line, cases[k].other, text, sizeof text);
    assert_string_equal(text, cases[k].expected);
  }
}

/* Twice as many particles along a side are twice as far from home, early ones nearer than late. */
static void motion_is_counted_in_their_distance(void **state)
{
  cf_universe_opts o = small(1);
  cf_universe_facts f;
  double coarse, fine, early;

  assert_ok(cf_universe_check(&o, &f));
  assert_ok(cf_universe_motion(&o, &f, 0, &coarse));
  assert_ok(cf_universe_motion(&o, &f, 3, &early));
  o.particles = 2 * SIDE;
  assert_ok(cf_universe_motion(&o, &f, 0, &fine));
  assert_true(fine > 2 * coarse && fine < 3 * coarse); /* and shorter waves count */
  assert_true(early < coarse / 2 && early > coarse / 5);
  assert_true(coarse > 0.5 && coarse < 0.9); /* about 5 of 8.3 Mpc/h */
}

static weir_status make_all(void *context)
{
  cf_generator *g = NULL;
  cf_generator_workspace *r = NULL;
  static int16_t out[CELLS];
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(cf_generator_create(context, 0, &g), done);
  WEIR_TRY_GOTO(cf_generator_workspace_create(g, &r), done);
  WEIR_TRY_GOTO(cf_generator_make(g, r, 0, out), done);
done:
  cf_generator_workspace_destroy(&r);
  cf_generator_destroy(&g);
  return status;
}

static void every_allocation_may_fail(void **state)
{
  NEEDS_FFTW();
  cf_universe_opts o = small(1);

  o.particles = 8;
  o.method = CF_METHOD_PM;
  assert_true(weir_check_faults(make_all, &o) > 15);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_particle_is_counted),
      cmocka_unit_test(channels_are_redshifts),
      cmocka_unit_test(earlier_channels_do_not_know_later_ones),
      cmocka_unit_test(samples_are_cubes_of_the_box),
      cmocka_unit_test(order_and_threads_make_no_difference),
      cmocka_unit_test(labels_are_what_is_drawn),
      cmocka_unit_test(sobol_points_are_spread),
      cmocka_unit_test(counts_have_the_spectrum_of_their_cosmology),
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(too_many_particles_are_refused),
      cmocka_unit_test(a_request_to_stop_is_heard),
      cmocka_unit_test(the_text_tells_options_apart),
      cmocka_unit_test(differing_parameters_are_named),
      cmocka_unit_test(motion_is_counted_in_their_distance),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
