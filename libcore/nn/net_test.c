/* net_test.c - what is declared is what is applied; first values; refusals. */
#include "support/graph/store_check.h"
#include "nn/weir_net.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "exec/weir_plan.h"
#include "ops/elementwise/weir_elementwise.h"

static const weir_param_spec matrix = {
    .rank = 2, .shape = {3, 5}, .init = {.kind = WEIR_INIT_HE_NORMAL}, .decay = true};
static const weir_param_spec vector = {.rank = 1, .shape = {4}, .init = {.kind = WEIR_INIT_ZEROS}};

/* A graph and a net of it. */
typedef struct site {
  weir_graph *g;
  weir_net net;
} site;

static site *open_site(site *s, weir_params *p)
{
  assert_ok(weir_graph_create(&s->g));
  weir_net_init(&s->net, s->g, p, true);
  return s;
}

static void close_site(site *s)
{
  weir_net_fini(&s->net);
  weir_graph_destroy(&s->g);
}

/* The graph's error is `status` and says `text`. */
static void assert_error(site *s, weir_value v, weir_status status, const char *text)
{
  assert_int_equal(v.node, -1);
  assert_int_equal(weir_graph_status(s->g), status);
  if (strstr(weir_last_message(), text) == NULL) {
    print_error("\"%s\" does not say \"%s\"\n", weir_last_message(), text);
    assert_true(0);
  }
  close_site(s);
}

/* a/weight, a/b/weight, bias, and the buffer a/mean. */
static void declare_all(weir_net *net)
{
  weir_net_push(net, "a");
  (void)weir_param(net, "weight", &matrix);
  (void)weir_buffer(net, "mean", 1, vector.shape, 0.5);
  weir_net_push(net, "b");
  (void)weir_param(net, "weight", &matrix);
  weir_net_pop(net);
  weir_net_pop(net);
  (void)weir_param(net, "bias", &vector);
}

static void make(weir_params **p, weir_store **store)
{
  site s;

  assert_ok(weir_params_create(WEIR_F32, p));
  declare_all(&open_site(&s, *p)->net);
  assert_ok(weir_graph_status(s.g));
  close_site(&s);
  assert_ok(weir_store_create(store));
  assert_ok(weir_params_seal(*p, *store));
}

static void rows_lie_side_by_side(void **state)
{
  weir_params *p;
  weir_store *store;

  make(&p, &store);
  assert_int_equal(weir_params_count(p), 3);
  assert_int_equal(weir_params_elements(p), 34);
  assert_string_equal(weir_params_get(p, 0)->name, "a/weight");
  assert_string_equal(weir_params_get(p, 1)->name, "a/b/weight");
  assert_string_equal(weir_params_get(p, 2)->name, "bias");
  assert_int_equal(weir_params_get(p, 1)->first, 15);
  assert_int_equal(weir_params_get(p, 2)->first, 30);
  assert_int_equal(weir_params_get(p, 2)->count, 4);
  assert_true(weir_params_get(p, 0)->decay);
  assert_false(weir_params_get(p, 2)->decay);
  assert_int_equal(weir_params_find(p, "bias"), 2);
  assert_int_equal(weir_params_find(p, "a/mean"), -1);
  assert_int_equal(weir_tensor_numel(check_stored(store, WEIR_PARAMS_FLAT)), 34);
  assert_int_equal(weir_tensor_numel(check_stored(store, "a/mean")), 4);
  assert_int_equal(weir_params_seal(p, store), WEIR_ERR_CONFIG);
  weir_params_destroy(&p);
  weir_store_destroy(&store);
}

/* The graph reads by name the elements of the row in the flat buffer. */
static void applied_values_are_parts_of_the_bank(void **state)
{
  weir_exec_cfg cfg;
  weir_params *p;
  weir_store *store;
  weir_plan *plan = NULL;
  site s;

  make(&p, &store);
  float *flat = check_stored(store, WEIR_PARAMS_FLAT)->data;

  for (int i = 0; i < 34; i++) {
    flat[i] = (float)i;
  }
  weir_net *net = &open_site(&s, p)->net;

  weir_net_push(net, "a");
  weir_net_push(net, "b");
  const weir_value w = weir_param(net, "weight", &matrix);

  assert_int_equal(weir_net_param_value(net, 1).node, w.node);
  assert_int_equal(weir_net_param_value(net, 0).node, -1);
  assert_int_equal(weir_net_param_value(net, 2).node, -1);
  weir_output(s.g, "w", weir_scale(s.g, w, 2));
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  assert_ok(weir_plan_create(s.g, store, &(weir_plan_opts){.exec = &cfg}, &plan));
  float made[15];
  weir_tensor t = weir_tensor_wrap(made, WEIR_F32, 2, matrix.shape);

  assert_ok(weir_plan_run(plan, (weir_binding[]){{"w", &t}}, 1));
  for (int i = 0; i < 15; i++) {
    assert_true(made[i] == (float)(2 * (15 + i)));
  }
  weir_plan_destroy(&plan);
  close_site(&s);
  weir_params_destroy(&p);
  weir_store_destroy(&store);
}

static void wrong_use_is_refused_by_name(void **state)
{
  const weir_param_spec other = {.rank = 2, .shape = {5, 3}, .init = {.kind = WEIR_INIT_ZEROS}};
  weir_params *p;
  weir_store *store;
  site s;

  make(&p, &store);
  assert_error(&s, weir_param(&open_site(&s, p)->net, "weight", &matrix), WEIR_ERR_CONFIG,
               "'weight' was not declared");
  assert_error(&s, weir_param(&open_site(&s, p)->net, "bias", &other), WEIR_ERR_SHAPE,
               "'bias' is requested as [5, 3] but was declared as [4]");
  (void)weir_param(&open_site(&s, p)->net, "bias", &vector);
  assert_error(&s, weir_param(&s.net, "bias", &vector), WEIR_ERR_CONFIG, "'bias' is used twice");
  weir_net_push(&open_site(&s, p)->net, "a");
  assert_error(&s, weir_buffer(&s.net, "var", 1, vector.shape, 0), WEIR_ERR_CONFIG,
               "'a/var' was not declared");
  weir_net_push(&open_site(&s, p)->net, "a");
  assert_error(&s, weir_buffer(&s.net, "mean", 2, matrix.shape, 0), WEIR_ERR_SHAPE,
               "'a/mean' is requested as [3, 5] but was declared as [4]");
  weir_net_pop(&open_site(&s, p)->net);
  assert_error(&s, weir_param(&s.net, "bias", &vector), WEIR_ERR_CONFIG, "without weir_net_push");
  assert_error(&s, weir_param(&open_site(&s, p)->net, "a/b", &vector), WEIR_ERR_CONFIG,
               "names are letters");
  weir_params_destroy(&p);
  weir_store_destroy(&store);
}

static void wrong_declarations_are_refused(void **state)
{
  const weir_param_spec empty = {.rank = 2, .shape = {5, 0}, .init = {.kind = WEIR_INIT_ZEROS}};
  const weir_param_spec vague = {.rank = 1, .shape = {5}};
  char name[WEIR_NET_NAME + 1];
  weir_params *p;
  site s;

  memset(name, 'n', WEIR_NET_NAME);
  name[WEIR_NET_NAME] = 0;
  assert_int_equal(weir_params_create(WEIR_I32, &p), WEIR_ERR_SHAPE);
  assert_ok(weir_params_create(WEIR_F64, &p));
  (void)weir_param(&open_site(&s, p)->net, "w", &matrix);
  assert_error(&s, weir_param(&s.net, "w", &matrix), WEIR_ERR_CONFIG, "'w' is declared twice");
  assert_error(&s, weir_buffer(&open_site(&s, p)->net, "w", 1, vector.shape, 0), WEIR_ERR_CONFIG,
               "'w' is declared twice");
  assert_error(&s, weir_param(&open_site(&s, p)->net, "params", &matrix), WEIR_ERR_CONFIG,
               "name of the flat buffer");
  assert_error(&s, weir_param(&open_site(&s, p)->net, "e", &empty), WEIR_ERR_SHAPE, "[5, 0]");
  assert_error(&s, weir_param(&open_site(&s, p)->net, "v", &vague), WEIR_ERR_CONFIG,
               "initialiser 0");
  assert_error(&s, weir_param(&open_site(&s, p)->net, name, &vector), WEIR_ERR_CONFIG, "longer");
  assert_error(&s, weir_param(&open_site(&s, p)->net, "", &vector), WEIR_ERR_CONFIG,
               "names are letters");
  weir_params_destroy(&p);
}

static void keys_are_inputs_made_once(void **state)
{
  weir_params *p;
  site s;

  assert_ok(weir_params_create(WEIR_F32, &p));
  weir_net *net = &open_site(&s, p)->net;
  const weir_value step = weir_net_step(net);

  assert_true(step.node >= 0 && weir_net_step(net).node == step.node);
  assert_true(weir_net_seed(net).node >= 0 && net->seed.node != step.node);
  assert_ok(weir_graph_status(s.g));
  close_site(&s);
  weir_params_destroy(&p);
}

/* ---- First values ---- */

static void fill(weir_init_kind kind, const char *name, uint64_t seed, weir_tensor *t)
{
  assert_ok(weir_init_fill(&(weir_init){.kind = kind, .value = 1.5}, seed, name, t));
}

/* Mean, variance and largest absolute value. */
static void measure(const weir_tensor *t, double *mean, double *variance, double *max_abs)
{
  const int64_t n = weir_tensor_numel(t);
  const double *x = t->data;

  *mean = *variance = *max_abs = 0;
  for (int64_t i = 0; i < n; i++) {
    *mean += x[i] / (double)n;
    *max_abs = fmax(*max_abs, fabs(x[i]));
  }
  for (int64_t i = 0; i < n; i++) {
    *variance += (x[i] - *mean) * (x[i] - *mean) / (double)n;
  }
}

/* Kernel size 3, 50 channels in, 80 out: 12,000 numbers; limits are 5 standard errors. */
static void first_values_have_the_right_spread(void **state)
{
  const int64_t shape[] = {3, 50, 80};
  const double in = 150, out = 240, n = 12000;
  const struct {
    weir_init_kind kind;
    double variance;
    bool uniform;
  } rows[] = {{WEIR_INIT_GLOROT_UNIFORM, 2 / (in + out), true},
              {WEIR_INIT_GLOROT_NORMAL, 2 / (in + out), false},
              {WEIR_INIT_HE_UNIFORM, 2 / in, true},
              {WEIR_INIT_HE_NORMAL, 2 / in, false}};
  weir_tensor t;

  assert_ok(weir_tensor_init(&t, WEIR_F64, 3, shape));
  for (int k = 0; k < 4; k++) {
    const double want = rows[k].variance, limit = sqrt(3 * want);
    double mean, variance, max_abs;

    fill(rows[k].kind, "a/weight", 11, &t);
    measure(&t, &mean, &variance, &max_abs);
    assert_true(fabs(mean) < 5 * sqrt(want / n));
    /* var(x^2) is 4/5 (uniform) or 2 (normal) times the squared variance */
    assert_true(fabs(variance / want - 1) < 5 * sqrt((rows[k].uniform ? 0.8 : 2) / n));
    assert_true(rows[k].uniform ? max_abs < limit && max_abs > 0.99 * limit : max_abs > limit);
  }
  weir_tensor_fini(&t);
}

static void first_values_depend_on_seed_and_name_alone(void **state)
{
  double a[60], b[60], c[60];
  const int64_t shape[] = {6, 10};
  weir_tensor ta = weir_tensor_wrap(a, WEIR_F64, 2, shape), tb = ta, tc = ta;

  tb.data = b;
  tc.data = c;
  fill(WEIR_INIT_HE_NORMAL, "a/weight", 11, &ta);
  fill(WEIR_INIT_HE_NORMAL, "b/weight", 11, &tb);
  fill(WEIR_INIT_HE_NORMAL, "a/weight", 12, &tc);
  for (int i = 0; i < 60; i++) {
    assert_true(a[i] != b[i] && a[i] != c[i]);
  }
  fill(WEIR_INIT_HE_NORMAL, "a/weight", 11, &tb);
  assert_memory_equal(a, b, sizeof a);
  fill(WEIR_INIT_CONSTANT, "a/weight", 11, &ta);
  fill(WEIR_INIT_ZEROS, "a/weight", 11, &tb);
  assert_true(a[59] == 1.5 && b[59] == 0);
  assert_int_equal(weir_init_fill(&(weir_init){.kind = WEIR_INIT_DEFAULT}, 1, "a", &ta),
                   WEIR_ERR_CONFIG);
}

/* The same parameter of a longer declaration in another order begins the same. */
static void order_of_declaration_does_not_matter(void **state)
{
  weir_params *p, *q;
  weir_store *s, *t;
  site other;

  make(&p, &s);
  assert_ok(weir_params_create(WEIR_F32, &q));
  weir_net *net = &open_site(&other, q)->net;

  (void)weir_param(net, "bias", &vector);
  (void)weir_param(net, "new", &matrix);
  weir_net_push(net, "a");
  (void)weir_param(net, "weight", &matrix);
  close_site(&other);
  assert_ok(weir_store_create(&t));
  assert_ok(weir_params_seal(q, t));
  assert_ok(weir_params_init(p, s, 5));
  assert_ok(weir_params_init(q, t, 5));
  const float *a = check_stored(s, WEIR_PARAMS_FLAT)->data;
  const float *b = check_stored(t, WEIR_PARAMS_FLAT)->data;

  assert_memory_equal(a, b + 4 + 15, 15 * sizeof *a);
  assert_true(((const float *)check_stored(s, "a/mean")->data)[3] == 0.5f);
  weir_params_destroy(&p);
  weir_params_destroy(&q);
  weir_store_destroy(&s);
  weir_store_destroy(&t);
}

static void check_orthogonal(int64_t rows, int64_t columns)
{
  const int64_t shape[] = {1, rows, columns};
  weir_tensor t;

  assert_ok(weir_tensor_init(&t, WEIR_F64, 3, shape));
  fill(WEIR_INIT_ORTHOGONAL, "w", 3, &t);
  const double *w = t.data;
  const int64_t n = rows >= columns ? columns : rows, m = rows >= columns ? rows : columns;

  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      double dot = 0;

      for (int64_t k = 0; k < m; k++) {
        dot += rows >= columns ? w[k * columns + i] * w[k * columns + j]
                               : w[i * columns + k] * w[j * columns + k];
      }
      assert_near(dot, i == j ? 1 : 0, 1e-14);
    }
  }
  weir_tensor_fini(&t);
}

static void orthogonal_is_orthonormal(void **state)
{
  check_orthogonal(7, 4);
  check_orthogonal(4, 9);
  check_orthogonal(5, 5);
  check_orthogonal(1, 1);
}

struct choice {
  int init;
};
static const weir_opt choice_rows[] = {
    WEIR_OPT_ENUM(struct choice, init, 0, WEIR_INIT_CHOICES, "initialiser"),
    WEIR_OPT_END,
};

static void names_choose(void **state)
{
  static const struct {
    const char *name;
    weir_init_kind kind;
  } rows[] = {
      {"default", WEIR_INIT_DEFAULT},
      {"glorot_uniform", WEIR_INIT_GLOROT_UNIFORM},
      {"glorot_normal", WEIR_INIT_GLOROT_NORMAL},
      {"he_uniform", WEIR_INIT_HE_UNIFORM},
      {"he_normal", WEIR_INIT_HE_NORMAL},
      {"orthogonal", WEIR_INIT_ORTHOGONAL},
      {"zeros", WEIR_INIT_ZEROS},
      {"constant", WEIR_INIT_CONSTANT},
  };
  char set[40];

  assert_int_equal(sizeof rows / sizeof rows[0], WEIR_INIT_KINDS);
  for (int k = 0; k < WEIR_INIT_KINDS; k++) {
    const char *const sets = set;
    weir_config *config = NULL;
    struct choice c;

    snprintf(set, sizeof set, "init=%s", rows[k].name);
    assert_ok(weir_config_load(choice_rows, sizeof c, NULL, 0, &sets, 1, &c, &config));
    assert_int_equal(c.init, rows[k].kind);
    weir_config_destroy(&config);
  }
}

/* ---- Memory ---- */

static weir_status make_and_free(void *context)
{
  weir_params *p = NULL;
  weir_store *store = NULL;
  weir_graph *g = NULL;
  weir_net net = {.value = NULL};
  weir_status status;

  WEIR_TRY_GOTO(weir_params_create(WEIR_F32, &p), out);
  WEIR_TRY_GOTO(weir_graph_create(&g), out);
  weir_net_init(&net, g, p, true);
  declare_all(&net);
  WEIR_TRY_GOTO(weir_graph_status(g), out);
  weir_net_fini(&net);
  weir_graph_destroy(&g);
  WEIR_TRY_GOTO(weir_store_create(&store), out);
  WEIR_TRY_GOTO(weir_params_seal(p, store), out);
  status = weir_params_init(p, store, 1);
out:
  weir_net_fini(&net);
  weir_graph_destroy(&g);
  weir_params_destroy(&p);
  weir_store_destroy(&store);
  return status;
}

static void no_memory_leaves_nothing_behind(void **state)
{
  assert_true(weir_check_faults(make_and_free, NULL) > 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_lie_side_by_side),
      cmocka_unit_test(applied_values_are_parts_of_the_bank),
      cmocka_unit_test(wrong_use_is_refused_by_name),
      cmocka_unit_test(wrong_declarations_are_refused),
      cmocka_unit_test(keys_are_inputs_made_once),
      cmocka_unit_test(first_values_have_the_right_spread),
      cmocka_unit_test(first_values_depend_on_seed_and_name_alone),
      cmocka_unit_test(order_of_declaration_does_not_matter),
      cmocka_unit_test(orthogonal_is_orthonormal),
      cmocka_unit_test(names_choose),
      cmocka_unit_test(no_memory_leaves_nothing_behind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
