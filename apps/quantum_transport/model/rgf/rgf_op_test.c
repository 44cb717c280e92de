/* rgf_op_test.c - the operator in plans: batches, threads, what is refused. */
#include "support/quantum_transport/rgf_test.h"

#include "exec/weir_plan.h"
#include "support/ops/ops_check.h"

static const int64_t ragged[] = {0, 3, 4, 9, 11, 19, 23};
static rgf_case c;

enum { MAX_ARRAYS = 6 };
typedef struct program {
  weir_graph *g;
  weir_tensor tensor[MAX_ARRAYS];
  weir_binding binding[MAX_ARRAYS];
  int n;
} program;

static weir_tensor *add_array(program *p, const char *name, const weir_array_desc *d)
{
  weir_tensor *t = &p->tensor[p->n];

  assert_ok(weir_tensor_init(t, d->dtype, d->rank, d->shape));
  p->binding[p->n++] = (weir_binding){name, t};
  return t;
}

static weir_value add_input(program *p, const char *name, int rank, const int64_t *shape,
                            weir_tensor **t)
{
  weir_array_desc d = {.dtype = WEIR_C128, .rank = rank};

  memcpy(d.shape, shape, (size_t)rank * sizeof *shape);
  *t = add_array(p, name, &d);
  return weir_input(p->g, name, &d);
}

static weir_tensor *add_output(program *p, const char *name, weir_value v)
{
  assert_ok(weir_graph_status(p->g));
  weir_output(p->g, name, v);
  return add_array(p, name, weir_value_desc(p->g, v));
}

static void run(program *p, int threads)
{
  weir_plan *plan;

  assert_ok(weir_plan_create(p->g, NULL, &(weir_plan_opts){.threads = threads}, &plan));
  assert_ok(weir_plan_run(plan, p->binding, p->n));
  weir_plan_destroy(&plan);
}

static void end(program *p)
{
  for (int i = 0; i < p->n; i++) {
    weir_tensor_fini(&p->tensor[i]);
  }
  weir_graph_destroy(&p->g);
}

/* Six random matrices, the fifth singular, and a Sigma^< for each of three. */
enum { POINTS = 6, SIGMAS = 3, SINGULAR = 4 };

static void make_case(bool tridiagonal, int point)
{
  qt_layout_fini(&c.layout);
  rgf_case_create(&c, 6, ragged, tridiagonal, false, (uint64_t)(1 + point));
}

static void fill(const qt_layout *l, bool tridiagonal, weir_c128 *a, weir_c128 *sigma)
{
  for (int point = 0; point < POINTS; point++) {
    make_case(tridiagonal, point);
    memcpy(a + point * l->count, c.a, (size_t)l->count * sizeof *a);
    if (point == SINGULAR) {
      memset(a + point * l->count, 0, 9 * sizeof *a);
    }
    if (point < SIGMAS && tridiagonal) {
      memcpy(sigma + point * l->count, c.sigma, (size_t)l->count * sizeof *a);
    }
    for (int64_t b = 0; b < l->n_blocks && point < SIGMAS && !tridiagonal; b++) {
      const int64_t rows = qt_layout_rows(l, b);

      memcpy(sigma + point * l->diagonal_count + l->diagonal[b], c.sigma + l->offset[b],
             (size_t)(rows * rows) * sizeof *a);
    }
  }
}

/* Point by point what the dense inverse gives: out[0 .. n_out). */
static void check_points(const qt_layout *l, bool tridiagonal, weir_tensor *const out[3], int n_out)
{
  static weir_c128 sigma[RGF_DENSE], expected[RGF_DENSE];

  for (int point = 0; point < POINTS; point++) {
    make_case(tridiagonal, point % SIGMAS);
    memcpy(sigma, c.dense_sigma, sizeof sigma);
    make_case(tridiagonal, point);
    memcpy(c.dense_sigma, sigma, sizeof sigma);
    rgf_answer(&c);
    for (int o = 0; o < n_out; o++) {
      const weir_c128 *got = (weir_c128 *)out[o]->data + point * l->count;

      if (point == SINGULAR) {
        assert_true(isnan(got[0].re) && isnan(got[l->count - 1].im));
        continue;
      }
      for (int64_t i = 0; i < l->n * l->n && o == 2; i++) {
        c.lesser[i].re += c.g[i].re - c.g[i % l->n * l->n + i / l->n].re;
        c.lesser[i].im += c.g[i].im + c.g[i % l->n * l->n + i / l->n].im;
      }
      rgf_copy(l, true, expected, o == 0 ? c.g : c.lesser, false);
      assert_true(rgf_distance(l->count, got, expected) < 1e-13 * rgf_size(l->count, expected));
    }
  }
}

/* What the operator says of its error, on sound results and with a number changed. */
static void check_error(const weir_node *node, const weir_tensor *a, const weir_tensor *sigma,
                        weir_tensor *const out[3])
{
  const weir_view in[] = {weir_view_of(a), weir_view_of(sigma)};
  const weir_view to[] = {weir_view_of(out[0]), weir_view_of(out[1])};
  const weir_op_run r = {.spec = node->spec,
                         .access = &node->access,
                         .box = weir_iterations(&node->access),
                         .n_in = 2,
                         .n_out = 2,
                         .in = in,
                         .out = to};

  assert_true(qt_op_rgf.error(&r) < 10);
  for (int o = 0; o < 2; o++) {
    ((weir_c128 *)out[o]->data)[100].re += 1e-6;
    assert_true(qt_op_rgf.error(&r) > 1e6);
    ((weir_c128 *)out[o]->data)[100].re -= 1e-6;
  }
}

static void batches_are_solved_point_by_point(void **state)
{
  static const char *const names[] = {"g", "lesser", "greater"};
  static weir_c128 kept[3][POINTS * RGF_DENSE];

  for (int form = 0; form < 4; form++) {
    const bool tridiagonal = form & 1;
    const int n_out = form >> 1 ? 3 : 2;
    program p = {.g = new_graph()};
    weir_tensor *a, *sigma, *out[3];
    qt_layout l;

    assert_ok(qt_layout_create(6, ragged, &l));
    const int64_t width = tridiagonal ? l.count : l.diagonal_count;
    const qt_rgf_spec spec = {&l, tridiagonal, n_out == 3};
    const weir_value x = add_input(&p, "a", 3, (const int64_t[]){2, SIGMAS, l.count}, &a);
    const weir_value y = add_input(&p, "sigma", 2, (const int64_t[]){SIGMAS, width}, &sigma);
    const weir_value first = qt_rgf(p.g, x, y, &spec);

    for (int o = 0; o < n_out; o++) {
      out[o] = add_output(&p, names[o], (weir_value){first.node, o});
    }
    fill(&l, tridiagonal, a->data, sigma->data);
    run(&p, 1);
    check_points(&l, tridiagonal, out, n_out);
    for (int o = 0; o < n_out; o++) {
      memcpy(kept[o], out[o]->data, (size_t)(POINTS * l.count) * sizeof **kept);
      memset(out[o]->data, 0, (size_t)(POINTS * l.count) * sizeof **kept);
    }
    run(&p, 2);
    for (int o = 0; o < n_out; o++) {
      assert_memory_equal(kept[o], out[o]->data, (size_t)(POINTS * l.count) * sizeof **kept);
    }
    if (n_out == 2) {
      memcpy((weir_c128 *)a->data + SINGULAR * l.count, a->data, (size_t)l.count * sizeof **kept);
      run(&p, 1);
      check_error(weir_graph_node(p.g, first.node), a, sigma, out);
    }
    end(&p);
    qt_layout_fini(&l);
  }
}

/* G^R alone, of three matrices. */
static void inverse_without_self_energy(void **state)
{
  static weir_c128 expected[RGF_DENSE];
  program p = {.g = new_graph()};
  weir_tensor *a, *g;
  qt_layout l;

  assert_ok(qt_layout_create(6, ragged, &l));
  const qt_rgf_spec spec = {&l, 0, 0};
  const weir_value x = add_input(&p, "a", 2, (const int64_t[]){3, l.count}, &a);

  g = add_output(&p, "g", qt_rgf(p.g, x, WEIR_NO_VALUE, &spec));
  for (int point = 0; point < 3; point++) {
    make_case(false, point);
    memcpy((weir_c128 *)a->data + point * l.count, c.a, (size_t)l.count * sizeof *c.a);
  }
  run(&p, 2);
  for (int point = 0; point < 3; point++) {
    make_case(false, point);
    rgf_copy(&l, true, expected, c.g, false);
    assert_true(rgf_distance(l.count, expected, (weir_c128 *)g->data + point * l.count) < 1e-13);
  }
  end(&p);
  qt_layout_fini(&l);
}

static void wrong_shapes_are_refused(void **state)
{
  qt_layout l;

  assert_ok(qt_layout_create(6, ragged, &l));
  const qt_rgf_spec spec = {&l, 0, 0};
  const int64_t n = l.count;
  weir_graph *g = new_graph();

  assert_refused(g, qt_rgf(g, GIVEN(g, "a", WEIR_C128, 5), WEIR_NO_VALUE, &spec),
                 "input 0 has 5 elements a matrix, its blocks");
  g = new_graph();
  assert_refused(g, qt_rgf(g, GIVEN(g, "a", WEIR_C64, n), WEIR_NO_VALUE, &spec), "of c64");
  g = new_graph();
  assert_refused(g, qt_rgf(g, GIVEN(g, "a", WEIR_C128, n), GIVEN(g, "s", WEIR_C128, n), &spec),
                 "input 1 has");
  qt_layout_fini(&l);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(batches_are_solved_point_by_point),
      cmocka_unit_test(inverse_without_self_energy),
      cmocka_unit_test(wrong_shapes_are_refused),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  qt_layout_fini(&c.layout);
  return failed;
}
