/* derive.c - every operator of the registry derived: random cases against central differences, once
 * and twice, the vector engine against the reference, f32 against f64. A new folder is tested
 * without an edit here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_check.h"
#include "conf/weir_opt.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/ops_cases.h"
#include "support/ops/ops_check.h"
#include "ops/scan/weir_scan.h"
#include "pass/autodiff/weir_gradients.h"
#include "problem.h"

/* ROUNDINGS: of f32 gradients, of the largest element; sums of some thousand terms in the order of
 * weir_engine.h and functions of 9 stay far below. */
enum { PROBES = 4, ROUNDINGS = 100 };
/* Seeds are fresh in every run: under the sanitizers fewer cases a run will do. */
#if defined(__SANITIZE_ADDRESS__)
enum { CASES = 20 };
#else
enum { CASES = 48 };
#endif
#define WHERE "conform/derive.c:case"

/* What was done to one operator. */
typedef struct row {
  int cases;                 /* derived                                       */
  int refused, twice, again; /* refused; derived twice; refused the second time */
  int narrow;                /* f32 compared with f64                         */
  problem_count count;
  int64_t wrong;
  double worst; /* f32 against f64, in units of the bound        */
} row;

static const char *only; /* operator that is checked alone */

/* Sets of cases: the same in every run, unless WEIR_SEED says another. */
static uint64_t first_seed(void)
{
  const char *text = weir_env("WEIR_SEED");

  return text != NULL ? strtoull(text, NULL, 10) : 1;
}

/* Inputs of a case, floats as `floats`; every other case has its integers as constants. False where
 * there is nothing to derive by; libraries and calls know the dtypes of their own cases alone. */
static bool make_inputs(problem *p, const weir_op_desc *op, const weir_op_case *c,
                        weir_dtype floats)
{
  bool any = false;

  for (int k = 0; k < c->n_in; k++) {
    weir_array_desc d = c->in[k];
    const bool real = weir_dtype_is_real(d.dtype);

    if (d.time > 0 || (real && op->run != NULL && d.dtype != floats)) {
      return false;
    }
    d.dtype = real ? floats : d.dtype;
    p->moves[problem_input(p, &d, c->lo[k], c->hi[k], !real && p->seed % 2 == 0)] = real;
    any = any || real;
  }
  return any;
}

/* sum_o sum(w_o y_o), of the outputs that are floats. */
static bool make_loss(problem *p, const weir_op_desc *op, const weir_op_case *c, weir_dtype floats)
{
  const weir_value y = weir_graph_add(p->g, op, c->spec.bytes, p->in, c->n_in, WHERE);

  if (y.node < 0) {
    return false;
  }
  for (int o = 0; o < weir_graph_node(p->g, y.node)->n_out; o++) {
    const weir_value v = {y.node, o};
    const weir_dtype dtype = weir_value_desc(p->g, v)->dtype;

    if (weir_dtype_is_real(dtype)) {
      (void)problem_weigh(p, dtype == floats ? v : weir_cast(p->g, floats, v));
    }
  }
  return p->loss.node >= 0;
}

static bool make(problem *p, const weir_op_desc *op, uint64_t seed, weir_dtype floats)
{
  static weir_op_case c;

  problem_init(p, seed);
  weir_op_draw(op, seed, &c);
  return make_inputs(p, op, &c, floats) && make_loss(p, op, &c, floats);
}

/* Differences of less than double precision tell nothing, and a case of many flops takes long. */
static bool is_probed(const problem *p)
{
  bool yes = true;
  double flops = 0;

  for (int32_t i = 0; i < weir_graph_nodes(p->g); i++) {
    const weir_node *node = weir_graph_node(p->g, i);

    flops += weir_node_traffic(p->g, i, 1, NULL).flops;

    for (int32_t e = 0; node->op != NULL && e < node->access.body.n; e++) {
      const weir_dtype dtype = node->access.body.exprs[e].dtype;

      yes = yes && (dtype == WEIR_F64 || weir_dtype_is_whole(dtype));
    }
  }
  return yes && flops < 2e5;
}

/* A refusal names the operator and the line that built the node. */
static void check_refusal(const weir_op_desc *op, weir_status status)
{
  assert_int_equal(status, WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), op->name));
  assert_non_null(strstr(weir_last_message(), WHERE));
}

/* Gradients of the vector engine, of which `made` is the reference's. */
static int64_t compare_engines(problem *p, const char *what)
{
  weir_tensor expected[PROBLEM_INPUTS] = {{0}};
  int64_t wrong = 0;

  problem_plan(p, WEIR_TIER_REFERENCE);
  problem_run(p);
  for (int k = 0; k < p->n; k++) {
    expected[k] = p->made[k];
    memset(&p->made[k], 0, sizeof p->made[k]);
    if (p->moves[k]) {
      assert_ok(
          weir_tensor_init(&p->made[k], expected[k].dtype, expected[k].rank, expected[k].shape));
    }
  }
  problem_plan(p, WEIR_TIER_VECTOR);
  problem_run(p);
  for (int k = 0; k < p->n; k++) {
    if (p->moves[k]) {
      wrong += weir_compare(what, p->made[k].dtype, p->made[k].data, expected[k].data,
                            weir_tensor_numel(&p->made[k]), weir_tolerance_of(p->made[k].dtype));
    }
    weir_tensor_fini(&expected[k]);
  }
  return wrong;
}

/* Derived once: the engines agree, and differences say the same. */
static void check_once(problem *p, const weir_op_desc *op, row *r)
{
  r->wrong += compare_engines(p, op->name);
  if (is_probed(p)) {
    r->wrong += problem_check(p, PROBES, op->name, &r->count);
  }
}

/* The gradients, weighted, derived by the inputs and by the first weights. */
static void check_twice(const weir_op_desc *op, uint64_t seed, row *r)
{
  problem *p = calloc(1, sizeof *p);
  char what[64];

  assert_non_null(p);
  snprintf(what, sizeof what, "%s twice", op->name);
  if (make(p, op, seed, WEIR_F64)) {
    const int n = p->n;

    assert_ok(problem_derive(p));
    problem_turn(p);
    for (int k = 0; k < n; k++) {
      p->moves[k] = weir_dtype_is_real(p->from[k].dtype);
    }
    const weir_status status = problem_derive(p);

    if (status == WEIR_OK) {
      if (is_probed(p)) {
        problem_plan(p, WEIR_TIER_VECTOR);
        r->wrong += problem_check(p, PROBES / 2, what, &r->count);
      }
      r->twice++;
    } else {
      assert_int_equal(status, WEIR_ERR_UNSUPPORTED);
      assert_non_null(strstr(weir_last_message(), WHERE));
      r->again++;
    }
  }
  problem_fini(p);
  free(p);
}

static double largest(const weir_tensor *t)
{
  double most = 0;

  for (int64_t i = 0; i < weir_tensor_numel(t); i++) {
    const double x = fabs(weir_dtype_load_real(t->dtype, t->data, i));

    most = x > most ? x : most;
  }
  return most;
}

/* Worst |f32 - f64| of the gradients, in units of 2^-24 of the largest element. */
static double rounding(const problem *narrow, const problem *wide)
{
  double worst = 0;

  for (int k = 0; k < narrow->n; k++) {
    const weir_tensor *a = &narrow->made[k], *e = &wide->made[k];
    const double most = narrow->moves[k] ? largest(e) : 0;

    for (int64_t i = 0; narrow->moves[k] && i < weir_tensor_numel(e) && isfinite(most); i++) {
      const double off = fabs(weir_dtype_load_real(a->dtype, a->data, i) -
                              weir_dtype_load_real(e->dtype, e->data, i));

      worst = fmax(worst, off / (0x1p-24 * fmax(most, 1)));
    }
  }
  return worst;
}

/* The same values in f32 and f64. */
static void check_narrow(const weir_op_desc *op, uint64_t seed, row *r)
{
  problem *p = calloc(2, sizeof *p);

  assert_non_null(p);
  const bool both = make(&p[0], op, seed, WEIR_F32) && make(&p[1], op, seed, WEIR_F64);

  if (both && problem_derive(&p[0]) == WEIR_OK && problem_derive(&p[1]) == WEIR_OK) {
    for (int k = 0; k < 2; k++) {
      problem_plan(&p[k], WEIR_TIER_VECTOR);
      problem_run(&p[k]);
    }
    const double worst = rounding(&p[0], &p[1]);

    r->worst = worst > r->worst ? worst : r->worst;
    r->narrow++;
    if (worst > ROUNDINGS) {
      fprintf(stderr, "FAIL %s, seed %llu: f32 is %.0f roundings away from f64\n", op->name,
              (unsigned long long)seed, worst);
      r->wrong++;
    }
  }
  problem_fini(&p[0]);
  problem_fini(&p[1]);
  free(p);
}

static void check_case(const weir_op_desc *op, uint64_t seed, row *r)
{
  problem *p = calloc(1, sizeof *p);
  bool derived = false;

  assert_non_null(p);
  if (make(p, op, seed, WEIR_F64)) {
    const weir_status status = problem_derive(p);

    derived = status == WEIR_OK;
    if (derived) {
      r->cases++;
      check_once(p, op, r);
    } else {
      check_refusal(op, status);
      r->refused++;
    }
  }
  problem_fini(p);
  free(p);
  if (derived) {
    check_twice(op, seed, r);
    check_narrow(op, seed, r);
  }
}

/* A library or a call that says no rule cannot be derived. */
static bool has_rule(const weir_op_desc *op)
{
  return op->run == NULL || op->derive != NULL;
}

static void every_operator_is_derived(void **state)
{
  const uint64_t first = first_seed();
  int64_t wrong = 0;

  print_message("%-12s %6s %7s %6s %7s %8s %6s %6s %s\n", "operator", "cases", "refused", "twice",
                "refused", "probes", "kinks", "f32", "roundings");
  for (int i = 0; weir_op_table[i] != NULL; i++) {
    const weir_op_desc *op = weir_op_table[i];
    row r = {.cases = 0};

    if (only != NULL && strcmp(only, op->name) != 0) {
      continue;
    }
    for (uint64_t n = 0; n < 8 * CASES && r.cases + r.refused < CASES; n++) {
      check_case(op, first + n, &r);
    }
    print_message("%-12s %6d %7d %6d %7d %8lld %6lld %6d %.1f\n", op->name, r.cases, r.refused,
                  r.twice, r.again, (long long)r.count.probes, (long long)r.count.kinks, r.narrow,
                  r.worst);
    assert_true(!has_rule(op) || r.refused == 0);
    assert_true(r.cases == 0 || r.count.probes > 0 || !has_rule(op));
    assert_true(30 * r.count.kinks <= r.count.probes);
    wrong += r.wrong;
  }
  assert_int_equal(wrong, 0);
}

/* y = code(x..) of floats in [0.3, 1.7], the loss sum(w y); false where the code takes no floats or
 * gives none. condition: the first argument is a bool. */
static bool make_code(problem *p, weir_code code, bool condition)
{
  const weir_elementwise_spec s = {.code = code, .dtype = WEIR_F64};

  problem_init(p, 7 + (uint64_t)code);
  for (int k = 0; k < weir_code_args(code); k++) {
    const bool flag = condition && k == 0;
    const weir_array_desc d = {.dtype = flag ? WEIR_BOOL : WEIR_F64, .rank = 1, .shape = {17}};

    p->moves[problem_input(p, &d, flag ? 0 : 0.3, flag ? 1 : 1.7, false)] = !flag;
  }
  if (p->n == 0) {
    return false;
  }
  const weir_value y =
      weir_graph_add(p->g, &weir_op_elementwise, &s, p->in, weir_code_args(code), WHERE);

  if (y.node < 0 || weir_value_desc(p->g, y)->dtype != WEIR_F64) {
    return false;
  }
  (void)problem_weigh(p, y);
  return true;
}

static bool check_code(weir_code code, bool condition, int64_t *wrong)
{
  problem *p = calloc(1, sizeof *p);
  problem_count count = {0};
  const char *name = weir_code_name(code);

  assert_non_null(p);
  const bool real = make_code(p, code, condition);

  if (real) {
    assert_ok(problem_derive(p));
    problem_turn(p);
    p->moves[weir_code_args(code)] = true;
    assert_ok(problem_derive(p));
    problem_plan(p, WEIR_TIER_VECTOR);
    *wrong += problem_check(p, 12, name, &count);
    assert_true(count.probes >= 12 && 12 * count.kinks <= count.probes);
  }
  problem_fini(p);
  free(p);
  return real;
}

static void every_code_is_derived_twice(void **state)
{
  int checked = 0;
  int64_t wrong = 0;

  for (int code = 0; code < WEIR_CODE_COUNT && only == NULL; code++) {
    checked +=
        check_code((weir_code)code, false, &wrong) || check_code((weir_code)code, true, &wrong);
  }
  print_message("%d codes of floats\n", checked);
  assert_true(checked >= 20 || only != NULL);
  assert_int_equal(wrong, 0);
}

/* s <- tanh(a s + b x + c t), t <- d t + s y, out s x + t y: numbers from the parameters. */
static weir_status define_recurrence(weir_scan *s)
{
  const double *k = s->parameter;
  weir_body *b = &s->access->body;
  const int32_t x = weir_scan_load(s, 0), y = weir_scan_load(s, 1);
  const int u = weir_scan_state(s, WEIR_F64, 0.3), t = weir_scan_state(s, WEIR_F64, -0.2);
  const int32_t su = weir_scan_read(s, u), st = weir_scan_read(s, t);
  int32_t sum = weir_body_binary(b, WEIR_CODE_MUL, su, weir_body_real(b, WEIR_F64, k[0]));

  sum = weir_body_binary(b, WEIR_CODE_ADD, sum,
                         weir_body_binary(b, WEIR_CODE_MUL, x, weir_body_real(b, WEIR_F64, k[1])));
  sum = weir_body_binary(b, WEIR_CODE_ADD, sum,
                         weir_body_binary(b, WEIR_CODE_MUL, st, weir_body_real(b, WEIR_F64, k[2])));
  weir_scan_next(s, u, weir_body_unary(b, WEIR_CODE_TANH, sum));
  const int32_t kept = weir_body_binary(b, WEIR_CODE_MUL, st, weir_body_real(b, WEIR_F64, k[3]));

  weir_scan_next(
      s, t, weir_body_binary(b, WEIR_CODE_ADD, kept, weir_body_binary(b, WEIR_CODE_MUL, su, y)));
  weir_scan_emit(s, weir_body_binary(b, WEIR_CODE_ADD, weir_body_binary(b, WEIR_CODE_MUL, su, x),
                                     weir_body_binary(b, WEIR_CODE_MUL, st, y)));
  return WEIR_OK;
}

/* Both ways, y repeated along one dimension or none, initial and final states given or not. */
static bool check_recurrence(uint64_t seed, int64_t *wrong)
{
  problem *p = calloc(1, sizeof *p);
  weir_draw w = {.seed = seed};
  weir_scan_spec s = {.name = "recurrence", .define = define_recurrence, .n_data = 2};
  weir_array_desc x = {.dtype = WEIR_F64, .rank = 2};
  problem_count count = {0};

  assert_non_null(p);
  problem_init(p, seed);
  x.shape[0] = weir_draw_int(&w, 1, 5);
  x.shape[1] = weir_draw_int(&w, 0, 9);
  s.dim = (int)weir_draw_int(&w, 0, 1);
  s.backward = weir_draw_one_in(&w, 2);
  s.take_state = weir_draw_one_in(&w, 2);
  s.give_state = weir_draw_one_in(&w, 2);
  for (int k = 0; k < 4; k++) {
    s.parameter[k] = (double)weir_draw_int(&w, -9, 9) / 10;
  }
  weir_array_desc y = x;
  const weir_array_desc state = {.dtype = WEIR_F64, .rank = 2, .shape = {2, x.shape[1 - s.dim]}};

  y.shape[weir_draw_int(&w, 0, 1)] = 1;
  p->moves[problem_input(p, &x, -1, 1, false)] = true;
  p->moves[problem_input(p, &y, -1, 1, false)] = true;
  if (s.take_state) {
    p->moves[problem_input(p, &state, -1, 1, false)] = true;
  }
  const weir_value v = weir_scan_at(p->g, &s, p->in, p->n, WHERE);

  (void)problem_weigh(p, v);
  if (s.give_state) {
    (void)problem_weigh(p, (weir_value){v.node, 1});
  }
  assert_ok(problem_derive(p));
  *wrong += compare_engines(p, "recurrence");
  *wrong += problem_check(p, PROBES, "recurrence", &count);
  problem_fini(p);
  free(p);
  return count.probes > 0;
}

static void recurrences_of_ones_own(void **state)
{
  int checked = 0;
  int64_t wrong = 0;

  for (uint64_t seed = first_seed(); checked < CASES && only == NULL; seed++) {
    checked += check_recurrence(seed, &wrong);
  }
  assert_int_equal(wrong, 0);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_operator_is_derived),
      cmocka_unit_test(every_code_is_derived_twice),
      cmocka_unit_test(recurrences_of_ones_own),
  };

  only = argc > 1 ? argv[1] : NULL;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
