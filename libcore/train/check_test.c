/* check_test.c - gradients against differences: smooth losses, losses with kinks, wrong
 * derivatives. */
#include "support/train/train_check.h"

#include "base/weir_log.h"
#include "ops/slice/weir_slice.h"

enum { UNITS = 16 };

/* What a check printed, and its result. */
typedef struct result {
  char text[8192];
  double worst;
} result;

static weir_status check_task(const weir_train_task *task, int64_t probes, result *r)
{
  weir_exec_cfg tier;
  const weir_plan_opts exec = on_threads(1, &tier);
  weir_train_check_cfg cfg;

  memset(r, 0, sizeof *r);
  FILE *out = fmemopen(r->text, sizeof r->text, "w");

  weir_opts_default(weir_train_check_opts, sizeof cfg, &cfg);
  cfg.probes = probes;
  const weir_status status = weir_train_check(task, &cfg, &exec, out, &r->worst);

  fclose(out);
  return status;
}

/* floor has the derivative 0; its steps are too small for differences. */
static weir_value in_steps(weir_graph *g, weir_value loss)
{
  return weir_scale(g, weir_floor(g, weir_scale(g, loss, 1e14)), 1e-14);
}

static void a_gradient_is_checked(void **state)
{
  toy t = {.noise = true};
  const weir_train_task task = toy_task(&t, 10, 0);
  result r;

  assert_ok(check_task(&task, 4, &r));
  assert_true(r.worst < 1e-7);
  assert_non_null(strstr(r.text, "enter/weight"));
  assert_non_null(strstr(r.text, "leave/bias"));
  assert_non_null(strstr(r.text, "; 0 others were excluded"));
  t.tail = in_steps;
  assert_int_equal(check_task(&task, 4, &r), WEIR_ERR_NUMERIC);
  assert_true(r.worst > 0.9);
  assert_non_null(strstr(r.text, "differs"));
}

/* sum (b_i - 1)^2 + sum of |b_i| over the first `kinks` of 16 elements, which begin at 0; the
 * derivative of |x| at 0 is not what central differences say, 0 + 0. `wrong`: that of the square is
 * planted to be 0. */
typedef struct kinked {
  int64_t kinks;
  double at; /* where the kink is, next to 0 */
  bool wrong;
} kinked;

static weir_status kinked_build(weir_net *net, const void *opts, const weir_value *in,
                                weir_value *loss)
{
  const kinked *k = opts;
  weir_graph *g = net->graph;
  const weir_value b = weir_param(
      net, "b",
      (&(weir_param_spec){.rank = 1, .shape = {UNITS}, .init = {.kind = WEIR_INIT_ZEROS}}));
  const weir_value some = weir_slice(g, b, 0, 0, k->kinks, 1);
  weir_value square = weir_sum(g, weir_square(g, weir_add_scalar(g, b, -1)), -1);

  square = k->wrong ? in_steps(g, square) : square;
  const weir_value sharp = weir_sum(g, weir_max_scalar(g, weir_add_scalar(g, some, -k->at), 0), -1);
  const weir_value data = weir_sum(g, weir_square(g, in[1]), -1);

  *loss = weir_add(g, weir_add(g, square, sharp), data);
  return weir_graph_status(g);
}

static weir_status check_kinks(kinked k, result *r)
{
  toy t = {.hidden = 0};
  weir_train_task task = toy_task(&t, 10, 0);

  task.opts = &k;
  task.build = kinked_build;
  task.n_metrics = 0;
  return check_task(&task, 4, r);
}

/* Wherever within the differences a kink stands, and on either side, it is left out; one beyond
 * them is not, and a derivative that is wrong is found next to kinks. */
static void elements_with_a_kink_are_left_out(void **state)
{
  static const double at[] = {0, 1e-6, 4e-6, 5.7e-6, 6.7e-6, 9e-6, 1.2e-5, 1.8e-5, -3e-6, -1.1e-5};
  result r;

  for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
    if (check_kinks((kinked){.kinks = 3, .at = at[i]}, &r) != WEIR_OK) {
      fail_msg("a kink at %g: %s\n%s", at[i], weir_last_message(), r.text);
    }
    assert_non_null(strstr(r.text, "compared 4 elements; 3 others were excluded"));
    assert_int_equal(check_kinks((kinked){.kinks = 3, .at = at[i], .wrong = true}, &r),
                     WEIR_ERR_NUMERIC);
    assert_non_null(strstr(r.text, "differs"));
    assert_true(r.worst > 0.9);
  }
  assert_ok(check_kinks((kinked){.kinks = 3, .at = 2.1e-5}, &r));
  assert_non_null(strstr(r.text, "compared 4 elements; 0 others were excluded"));
}

static void a_loss_of_kinks_is_refused(void **state)
{
  result r;

  assert_int_equal(check_kinks((kinked){.kinks = UNITS}, &r), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "at each of the 16 tested elements of b"));
  assert_int_equal(check_kinks((kinked){.kinks = 13}, &r), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "at 13 of 16 elements"));
}

static int all_tests(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_gradient_is_checked),
      cmocka_unit_test(elements_with_a_kink_are_left_out),
      cmocka_unit_test(a_loss_of_kinks_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
  weir_log_set_level(WEIR_LOG_ERROR);
  return toy_tests(all_tests);
}
