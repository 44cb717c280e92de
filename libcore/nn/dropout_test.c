/* dropout_test.c - how much is left out, what decides it, and that nothing is when applied. */
#include "support/exec/gradient_check.h"
#include "nn/weir_layer.h"

static weir_value build(weir_net *net, weir_value x, const void *spec)
{
  return weir_nn_dropout(net, "drop", spec, x);
}

static check_net open_case(const weir_nn_dropout_spec *s, bool train, int rank,
                           const int64_t *shape)
{
  check_net c = {.build = build, .spec = s, .seed = 5, .train = train, .key = {77, 3}};

  c.in.rank = rank;
  memcpy(c.in.shape, shape, (size_t)rank * sizeof *shape);
  check_open(&c);
  check_run(&c);
  return c;
}

/* Every element is 0 or x / (1 - rate); as many are 0 as the rate says, to 5 standard errors. */
static void a_share_is_left_out(void **state)
{
  const double rates[] = {0.1, 0.5, 0.8};

  for (int k = 0; k < 3; k++) {
    const weir_nn_dropout_spec s = {.rate = rates[k]};
    const double n = 20000;
    check_net c = open_case(&s, true, 2, (int64_t[]){100, 200});
    const double *x = check_data(&c.x), *y = check_data(&c.y);
    double zeros = 0;

    for (int64_t i = 0; i < 20000; i++) {
      zeros += y[i] == 0;
      assert_true(y[i] == 0 || fabs(y[i] - x[i] / (1 - rates[k])) <= 1e-15 * fabs(y[i]));
    }
    assert_true(fabs(zeros / n - rates[k]) < 5 * sqrt(rates[k] * (1 - rates[k]) / n));
    check_close(&c);
  }
}

static int64_t differences(const double *a, const double *b, int64_t n)
{
  int64_t count = 0;

  for (int64_t i = 0; i < n; i++) {
    count += (a[i] == 0) != (b[i] == 0);
  }
  return count;
}

/* The same seed and step give the same elements; another of either gives others. */
static void seed_and_step_decide(void **state)
{
  const weir_nn_dropout_spec s = {.rate = 0.5};
  check_net c = open_case(&s, true, 2, (int64_t[]){30, 10});
  double first[300];

  assert_true(c.has_seed && c.has_step);
  memcpy(first, c.y.data, sizeof first);
  check_run(&c);
  assert_memory_equal(first, c.y.data, sizeof first);
  c.key[1]++;
  check_run(&c);
  assert_true(differences(first, check_data(&c.y), 300) > 100);
  c.key[1]--;
  c.key[0]++;
  check_run(&c);
  assert_true(differences(first, check_data(&c.y), 300) > 100);
  check_close(&c);
}

static weir_value build_two(weir_net *net, weir_value x, const void *spec)
{
  const weir_value one = weir_nn_dropout(net, "a", spec, x);

  return weir_sub(net->graph, one, weir_nn_dropout(net, "b", spec, x));
}

static void layers_draw_apart(void **state)
{
  const weir_nn_dropout_spec s = {.rate = 0.5};
  check_net c = {.build = build_two, .spec = &s, .seed = 5, .train = true};
  int64_t apart = 0;

  c.in = (weir_array_desc){.rank = 1, .shape = {400}};
  check_open(&c);
  check_run(&c);
  for (int i = 0; i < 400; i++) {
    apart += check_data(&c.y)[i] != 0;
  }
  assert_true(apart > 150 && apart < 250);
  check_close(&c);
}

static void channels_go_as_a_whole(void **state)
{
  const weir_nn_dropout_spec s = {.rate = 0.5, .channels = true};
  check_net c = open_case(&s, true, 4, (int64_t[]){6, 3, 5, 40});
  const double *y = check_data(&c.y);
  int64_t zeros = 0;

  for (int64_t n = 0; n < 6; n++) {
    for (int64_t k = 0; k < 40; k++) {
      zeros += y[n * 600 + k] == 0;
      for (int64_t p = 1; p < 15; p++) {
        assert_true((y[n * 600 + p * 40 + k] == 0) == (y[n * 600 + k] == 0));
      }
    }
  }
  assert_true(zeros > 120 - 40 && zeros < 120 + 40);
  check_gradients(&c);
  check_close(&c);
}

static void nothing_is_left_out_when_applied(void **state)
{
  const weir_nn_dropout_spec s = {.rate = 0.5};
  check_net c = open_case(&s, false, 1, (int64_t[]){50});

  assert_false(c.has_seed || c.has_step);
  assert_memory_equal(c.x.data, c.y.data, 50 * sizeof(double));
  check_close(&c);
}

static void gradients_pass_what_was_kept(void **state)
{
  const weir_nn_dropout_spec s = {.rate = 0.3};
  check_net c = open_case(&s, true, 3, (int64_t[]){1, 3, 7});

  check_gradients(&c);
  for (int i = 0; i < 21; i++) {
    assert_true((check_data(&c.dx)[i] == 0) == (check_data(&c.y)[i] == 0));
  }
  check_close(&c);
}

static void refuse(const weir_nn_dropout_spec *s, weir_dtype dtype, int rank)
{
  const weir_array_desc d = {.dtype = dtype, .rank = rank, .shape = {3, 3}};

  assert_int_equal(check_refused(build, s, &d, "drop (", NULL), WEIR_ERR_SHAPE);
}

static void impossible_shares_are_refused(void **state)
{
  refuse(&(weir_nn_dropout_spec){.rate = 1}, WEIR_F32, 2);
  refuse(&(weir_nn_dropout_spec){.rate = -0.1}, WEIR_F32, 2);
  refuse(&(weir_nn_dropout_spec){.rate = NAN}, WEIR_F32, 2);
  refuse(&(weir_nn_dropout_spec){.rate = 0.5}, WEIR_I32, 2);
  refuse(&(weir_nn_dropout_spec){.rate = 0.5, .channels = true}, WEIR_F32, 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_share_is_left_out),
      cmocka_unit_test(seed_and_step_decide),
      cmocka_unit_test(layers_draw_apart),
      cmocka_unit_test(channels_go_as_a_whole),
      cmocka_unit_test(nothing_is_left_out_when_applied),
      cmocka_unit_test(gradients_pass_what_was_kept),
      cmocka_unit_test(impossible_shares_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
