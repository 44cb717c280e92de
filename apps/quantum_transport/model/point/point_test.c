/* point_test.c - the operator of points: what its access says, batches against single points,
 * points that fail. */
#include "exec/weir_plan.h"
#include "support/quantum_transport/transmission_test.h"

enum { POINTS = 7 };
static const double wave_vector[POINTS][2] = {{0, 0},    {0, 0},     {0, 0.13}, {0, 0.13},
                                              {0, 0.13}, {0.2, 0.4}, {0, 0}};
static const double energy_of[POINTS] = {0.3, 0.7, 0.3, -1.1, 2.7, 0.01, 0.3};

/* A rough ribbon, periodic along z, and all that is computed of it. */
typedef struct fixture {
  qt_system system;
  qt_layout layout;
  qt_lead_opts lead;
  qt_sparse bonds;
  qt_point_spec spec;
} fixture;

static void set_up(int method, bool bonds, fixture *f)
{
  const ribbon r = {
      .width = 3, .length = 5, .hopping = -1, .periodic = -1, .disorder = 1.5, .merge = 2};

  ribbon_create(&r, &f->system);
  assert_ok(qt_layout_create(f->system.n_blocks, f->system.block, &f->layout));
  assert_ok(qt_bonds_create(&f->system, &f->bonds));
  weir_opts_default(qt_lead_options, sizeof f->lead, &f->lead);
  f->lead.method = method;
  f->spec = (qt_point_spec){.system = &f->system,
                            .layout = &f->layout,
                            .lead = &f->lead,
                            .bonds = bonds ? &f->bonds : NULL,
                            .shift = 1e-6,
                            .dos = true,
                            .lead_dos = true};
}

static void tear_down(fixture *f)
{
  qt_sparse_fini(&f->bonds);
  qt_layout_fini(&f->layout);
  qt_system_fini(&f->system);
}

static weir_value build(weir_graph *g, const qt_point_spec *spec, int64_t n)
{
  const weir_value k = weir_input(g, "k", &(weir_array_desc){WEIR_F64, 2, {n, 2}, 0});
  const weir_value energy = weir_input(g, "energy", &(weir_array_desc){WEIR_F64, 1, {n}, 0});
  weir_value v = qt_points(g, k, energy, spec);

  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    if (qt_point_count(spec, (qt_point_array)i) > 0) {
      weir_output(g, qt_point_name((qt_point_array)i), v);
      v.output++;
    }
  }
  assert_ok(weir_graph_status(g));
  return v;
}

/* result[i]: [POINTS, elements of array i]. */
static void run_graph(const qt_point_spec *spec, const double *energy, int threads,
                      double *result[QT_POINT_ARRAYS])
{
  weir_tensor t[2 + QT_POINT_ARRAYS];
  weir_binding b[2 + QT_POINT_ARRAYS] = {{"k", &t[0]}, {"energy", &t[1]}};
  weir_graph *g;
  weir_plan *plan;
  int n = 2;

  assert_ok(weir_graph_create(&g));
  (void)build(g, spec, POINTS);
  t[0] = weir_tensor_wrap((void *)wave_vector, WEIR_F64, 2, (const int64_t[]){POINTS, 2});
  t[1] = weir_tensor_wrap((void *)energy, WEIR_F64, 1, (const int64_t[]){POINTS});
  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    const int64_t count = qt_point_count(spec, (qt_point_array)i);

    assert_ok(weir_alloc(POINTS * count, sizeof(double), (void **)&result[i]));
    if (count > 0) {
      t[n] = weir_tensor_wrap(result[i], WEIR_F64, 2, (const int64_t[]){POINTS, count});
      b[n] = (weir_binding){qt_point_name((qt_point_array)i), &t[n]};
      n++;
    }
  }
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.threads = threads}, &plan));
  assert_ok(weir_plan_run(plan, b, n));
  weir_plan_destroy(&plan);
  weir_graph_destroy(&g);
}

static void free_results(double *result[QT_POINT_ARRAYS])
{
  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    weir_free(&result[i]);
  }
}

/* Compares with the points one by one, but for the seconds. */
static void check_points(const qt_point_spec *spec, double *const result[QT_POINT_ARRAYS])
{
  qt_point_leads leads = {.same = false};
  double *one[QT_POINT_ARRAYS];
  void *scratch;

  assert_ok(weir_alloc(qt_point_scratch(spec), 1, &scratch));
  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    assert_ok(weir_alloc(qt_point_count(spec, (qt_point_array)i), sizeof **one, (void **)&one[i]));
  }
  for (int p = POINTS - 1; p >= 0; p--) {
    assert_ok(qt_point_leads_set(spec->system, wave_vector[p], &leads));
    assert_ok(qt_point_solve(spec, &leads, energy_of[p], scratch, one));
    for (int i = 0; i < QT_POINT_ARRAYS; i++) {
      const int64_t count = qt_point_count(spec, (qt_point_array)i);
      const int64_t compared = i == QT_POINT_NUMBER ? QT_POINT_SECONDS : count;

      assert_true(count == 0 ||
                  memcmp(one[i], result[i] + p * count, (size_t)compared * sizeof(double)) == 0);
    }
    assert_near(one[QT_POINT_NUMBER][QT_POINT_FLOPS], qt_point_flops(spec), 0);
  }
  weir_free(&scratch);
  free_results(one);
  qt_point_leads_fini(&leads);
}

static void a_batch_has_the_bits_of_its_points(void **state)
{
  (void)state;
  for (int method = 0; method <= QT_LEAD_CONTOUR; method++) {
    for (int what = 0; what < 3; what++) { /* T alone; densities; bond currents, too */
      fixture f;

      set_up(method, what == 2, &f);
      f.spec.dos = f.spec.lead_dos = what > 0;
      for (int threads = 1; threads <= 2; threads++) {
        double *result[QT_POINT_ARRAYS];

        run_graph(&f.spec, energy_of, threads, result);
        check_points(&f.spec, result);
        free_results(result);
      }
      tear_down(&f);
    }
  }
}

static void points_need_their_own_inputs_alone(void **state)
{
  const weir_box some = {2, {2, 0}, {5, 2}};
  weir_graph *g;
  fixture f;

  (void)state;
  set_up(QT_LEAD_MODES, true, &f);
  assert_ok(weir_graph_create(&g));
  const weir_value v = build(g, &f.spec, POINTS);
  const weir_node *node = weir_graph_node(g, v.node);
  const weir_access *a = &node->access;
  weir_box box = weir_iterations(a);

  assert_int_equal(node->n_out, QT_POINT_CHANNEL); /* those of Green's functions */
  assert_near(weir_flops(a, &box), POINTS * qt_point_flops(&f.spec), 1);
  box.lo[0] = some.lo[0];
  box.hi[0] = some.hi[0];
  for (int i = 0; i < 2; i++) {
    const weir_region r = weir_needed(a, i, &box);
    const weir_box needed = weir_region_hull(&r);

    assert_int_equal(needed.lo[0], 2);
    assert_int_equal(needed.hi[0], 5);
  }
  for (int o = 0; o < QT_POINT_CHANNEL; o++) {
    const weir_region r = weir_written(a, o, &box);

    assert_int_equal(weir_region_volume(&r), 3 * qt_point_count(&f.spec, (qt_point_array)o));
  }
  weir_graph_destroy(&g);
  tear_down(&f);
}

static void inputs_of_other_shapes_are_refused(void **state)
{
  static const struct {
    weir_array_desc k, energy;
    const char *text;
  } cases[] = {
      {{WEIR_F64, 2, {4, 3}, 0}, {WEIR_F64, 1, {4}, 0}, "input 0, wave vectors, is no f64"},
      {{WEIR_F32, 2, {4, 2}, 0}, {WEIR_F64, 1, {4}, 0}, "input 0, wave vectors, is no f64"},
      {{WEIR_F64, 2, {4, 2}, 0}, {WEIR_F64, 1, {5}, 0}, "input 1, energies, is no f64 [4]"},
      {{WEIR_F64, 2, {4, 2}, 0}, {WEIR_F64, 2, {4, 1}, 0}, "input 1, energies, is no f64 [4]"},
  };
  fixture f;

  (void)state;
  set_up(QT_LEAD_MODES, false, &f);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    weir_graph *g;

    assert_ok(weir_graph_create(&g));
    (void)qt_points(g, weir_input(g, "k", &cases[i].k), weir_input(g, "e", &cases[i].energy),
                    &f.spec);
    assert_int_equal(weir_graph_status(g), WEIR_ERR_SHAPE);
    assert_non_null(strstr(weir_last_message(), cases[i].text));
    weir_graph_destroy(&g);
  }
  tear_down(&f);
}

/* Of leads of 3 sites in a ring at k = 0: levels -2, 1, 1, as bands 2 wider on each side. */
static const double band_edge = -4;

static void a_point_that_fails_spoils_no_other(void **state)
{
  double *result[QT_POINT_ARRAYS], *usual[QT_POINT_ARRAYS], energy[POINTS];
  fixture f;

  (void)state;
  set_up(QT_LEAD_MODES, false, &f);
  memcpy(energy, energy_of, sizeof energy);
  energy[1] = band_edge;
  f.spec.shift = 0;
  run_graph(&f.spec, energy_of, 2, usual);
  run_graph(&f.spec, energy, 2, result);
  for (int p = 0; p < POINTS; p++) {
    const double *number = result[QT_POINT_NUMBER] + p * QT_POINT_NUMBERS;
    const int64_t n = f.layout.n;

    assert_int_equal((int)number[QT_POINT_STATUS], p == 1 ? WEIR_ERR_NUMERIC : WEIR_OK);
    assert_true(isnan(number[QT_POINT_TRANSMISSION]) == (p == 1));
    assert_true(isnan(result[QT_POINT_DOS][p * n]) == (p == 1));
    assert_true(p == 1 || memcmp(result[QT_POINT_DOS] + p * n, usual[QT_POINT_DOS] + p * n,
                                 (size_t)n * sizeof(double)) == 0);
  }
  free_results(result);
  free_results(usual);
  tear_down(&f);
}

static void singular_energies_are_shifted_or_refused(void **state)
{
  static const double at[2] = {0, 0};
  qt_point_leads leads = {.same = false};
  double number[QT_POINT_NUMBERS], *out[QT_POINT_ARRAYS] = {number};
  void *scratch;
  fixture f;

  (void)state;
  set_up(QT_LEAD_MODES, false, &f);
  f.spec.dos = f.spec.lead_dos = false;
  assert_ok(weir_alloc(qt_point_scratch(&f.spec), 1, &scratch));
  assert_ok(qt_point_leads_set(&f.system, at, &leads));
  f.spec.shift = 0;
  assert_int_equal(qt_point_solve(&f.spec, &leads, band_edge, scratch, out), WEIR_ERR_NUMERIC);
  assert_int_equal((int)number[QT_POINT_STATUS], WEIR_ERR_NUMERIC);
  f.spec.shift = 1e-6;
  assert_ok(qt_point_solve(&f.spec, &leads, band_edge, scratch, out));
  assert_near(number[QT_POINT_SHIFTED], 1, 0);
  assert_ok(qt_point_solve(&f.spec, &leads, 0.3, scratch, out));
  assert_near(number[QT_POINT_SHIFTED], 0, 0);
  qt_point_leads_fini(&leads);
  weir_free(&scratch);
  tear_down(&f);
}

/* Densities of a point with the leads' shares; free_results frees them. */
static void solve_densities(const ribbon *r, const double k[2], double energy,
                            double *out[QT_POINT_ARRAYS])
{
  qt_point_leads leads = {.same = false};
  qt_lead_opts lead;
  qt_layout layout;
  qt_system s;
  void *scratch;

  ribbon_create(r, &s);
  assert_ok(qt_layout_create(s.n_blocks, s.block, &layout));
  weir_opts_default(qt_lead_options, sizeof lead, &lead);
  lead.method = QT_LEAD_MODES;
  const qt_point_spec spec = {
      .system = &s, .layout = &layout, .lead = &lead, .dos = true, .lead_dos = true};

  assert_ok(weir_alloc(qt_point_scratch(&spec), 1, &scratch));
  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    assert_ok(weir_alloc(qt_point_count(&spec, (qt_point_array)i), sizeof **out, (void **)&out[i]));
  }
  assert_ok(qt_point_leads_set(&s, k, &leads));
  assert_ok(qt_point_solve(&spec, &leads, energy, scratch, out));
  weir_free(&scratch);
  qt_point_leads_fini(&leads);
  qt_layout_fini(&layout);
  qt_system_fini(&s);
}

/* What the right lead fills is what the left one fills of the same device, turned round: also where
 * H and S are not symmetric, as at k and with an overlap, each orbital by itself. */
static void shares_of_leads_are_those_of_the_mirrored_device(void **state)
{
  enum { WIDTH = 3, LENGTH = 6 };
  static const double k[][2] = {{0, 0}, {0, 0.13}};

  (void)state;
  for (int i = 0; i < 4; i++) {
    ribbon r = {.width = WIDTH,
                .length = LENGTH,
                .hopping = -1,
                .periodic = -0.8,
                .disorder = 1.2,
                .overlap = i < 2 ? 0 : 0.1};
    double *here[QT_POINT_ARRAYS], *mirrored[QT_POINT_ARRAYS];

    solve_densities(&r, k[i % 2], 0.37, here);
    r.mirrored = true;
    solve_densities(&r, k[i % 2], 0.37, mirrored);
    for (int64_t at = 0; at < WIDTH * LENGTH; at++) {
      const int64_t turned = (LENGTH - 1 - at / WIDTH) * WIDTH + at % WIDTH;

      assert_near(here[QT_POINT_DOS_RIGHT][at], mirrored[QT_POINT_DOS_LEFT][turned], 1e-10);
      assert_near(here[QT_POINT_DOS][at], mirrored[QT_POINT_DOS][turned], 1e-10);
    }
    free_results(here);
    free_results(mirrored);
  }
}

static weir_status solve_one(void *context)
{
  const qt_point_spec *spec = context;
  double number[QT_POINT_NUMBERS], *out[QT_POINT_ARRAYS] = {number};
  qt_point_leads leads = {.same = false};
  void *scratch = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(qt_point_scratch(spec), 1, &scratch), done);
  WEIR_TRY_GOTO(qt_point_leads_set(spec->system, wave_vector[3], &leads), done);
  WEIR_TRY_GOTO(qt_point_solve(spec, &leads, energy_of[3], scratch, out), done);
done:
  qt_point_leads_fini(&leads);
  weir_free(&scratch);
  return status;
}

static void missing_memory_is_reported(void **state)
{
  fixture f;

  (void)state;
  set_up(QT_LEAD_MODES, false, &f);
  f.spec.dos = f.spec.lead_dos = false;
  assert_true(weir_check_faults(solve_one, &f.spec) > 20);
  tear_down(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_batch_has_the_bits_of_its_points),
      cmocka_unit_test(points_need_their_own_inputs_alone),
      cmocka_unit_test(inputs_of_other_shapes_are_refused),
      cmocka_unit_test(a_point_that_fails_spoils_no_other),
      cmocka_unit_test(singular_energies_are_shifted_or_refused),
      cmocka_unit_test(shares_of_leads_are_those_of_the_mirrored_device),
      cmocka_unit_test(missing_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
