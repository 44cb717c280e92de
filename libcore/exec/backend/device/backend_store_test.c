/* backend_store_test.c - stored arrays of plans on a device: copied where a side is out of date and
 * nowhere else, shared by plans, and guarded against the host. */
#include "support/exec/backend_check.h"
#include "support/exec/copies_check.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"

enum { N = 100, BYTES = 4 * N };

static const int64_t shape[] = {N};

/* A store of "w" and "v", all 1 and all 2. */
static weir_store *make_store(void)
{
  weir_store *s = NULL;

  assert_ok(weir_store_create(&s));
  for (int k = 0; k < 2; k++) {
    const char *name = k == 0 ? "w" : "v";

    assert_ok(weir_store_add(s, name, WEIR_F32, 1, shape));
    for (int64_t i = 0; i < N; i++) {
      ((float *)check_stored(s, name)->data)[i] = (float)(k + 1);
    }
  }
  return s;
}

typedef enum what { STEP, LOSS, SWAP, TELL } what;

/* STEP: w <- w + x v, and the sum of the new w as result. LOSS: the sum of w. SWAP: w and v. TELL:
 * w itself, which becomes w + v. */
static weir_plan *make_plan(weir_store *s, what kind, const char *device)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 1, .shape = {N}};
  const weir_exec_cfg cfg = backend_config(device);
  weir_graph *g = NULL;
  weir_plan *p = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_value w = weir_stored(g, s, "w"), v = weir_stored(g, s, "v");

  if (kind == STEP) {
    const weir_value next = weir_add(g, w, weir_mul(g, v, weir_input(g, "x", &d)));

    weir_update(g, w, next);
    weir_output(g, "sum", weir_sum(g, next, -1));
  } else if (kind == LOSS) {
    weir_output(g, "sum", weir_sum(g, w, -1));
  } else if (kind == SWAP) {
    weir_update(g, w, v);
    weir_update(g, v, w);
    weir_output(g, "sum", weir_sum(g, weir_mul(g, w, v), -1));
  } else {
    weir_update(g, w, weir_add(g, w, v));
    weir_output(g, "w", w);
  }
  assert_ok(weir_graph_status(g));
  assert_ok(weir_plan_create(g, s, &(weir_plan_opts){.exec = &cfg}, &p));
  weir_graph_destroy(&g);
  return p;
}

static weir_status run_plan(weir_plan *p, what kind, float x, float *sum)
{
  float input[N];
  weir_tensor in = weir_tensor_wrap(input, WEIR_F32, 1, shape);
  weir_tensor out = weir_tensor_wrap(sum, WEIR_F32, 0, NULL);
  const weir_binding bindings[] = {{"sum", &out}, {"x", &in}};

  for (int i = 0; i < N; i++) {
    input[i] = x;
  }
  return weir_plan_run(p, bindings, kind == STEP ? 2 : 1);
}

static float run(weir_plan *p, what kind, float x)
{
  float sum = 0;

  assert_ok(run_plan(p, kind, x, &sum));
  return sum;
}

static float element(weir_store *s, const char *name)
{
  const weir_tensor *t = NULL;

  assert_ok(weir_store_read(s, name, &t));
  return ((const float *)t->data)[N - 1];
}

/* ---- What is copied ---- */

static void check_copies(const char *device)
{
  weir_store *s = make_store();
  weir_tensor *t = NULL;

  copies_begin(s, device);
  weir_plan *step = make_plan(s, STEP, device), *loss = make_plan(s, LOSS, device);

  assert_near(run(step, STEP, 3), 7 * N, 0);
  copies_expect(3 * BYTES, 4, BYTES); /* w, v and x */
  for (int k = 0; k < 3; k++) {
    assert_near(run(step, STEP, 3), (13 + 6 * (double)k) * N, 0);
    copies_expect(step->backend->counted.up, step->backend->counted.down, BYTES);
    assert_int_equal(step->backend->counted.up, BYTES); /* x, and the sum */
    assert_int_equal(step->backend->counted.down, 4);
  }
  assert_near(run(loss, LOSS, 0), 25 * N, 0); /* another plan over it */
  copies_expect(0, 4, 0);
  assert_int_equal(loss->backend->counted.up, 0);
  assert_near(element(s, "w"), 25, 0);
  assert_near(element(s, "w"), 25, 0);
  copies_expect(0, BYTES, 0); /* once */
  assert_near(run(loss, LOSS, 0), 25 * N, 0);
  copies_expect(0, 4, 0); /* what was only read is still there */
  assert_ok(weir_store_write(s, "w", &t));
  ((float *)t->data)[0] = 0;
  assert_near(run(loss, LOSS, 0), 25 * (N - 1), 0);
  copies_expect(BYTES, 4, 0);
  weir_plan_destroy(&step);
  weir_plan_destroy(&loss);
  assert_near(element(s, "v"), 2, 0);
  copies_end(s);
  weir_store_destroy(&s);
}

static void arrays_are_copied_where_a_side_is_old(void **state)
{
  backend_each(check_copies);
}

static void check_pinned(const char *device)
{
  weir_store *s = make_store();
  weir_tensor *w = NULL;

  copies_begin(s, device);
  weir_plan *step = make_plan(s, STEP, device);

  (void)run(step, STEP, 1);
  assert_ok(weir_store_pin(s, "w", &w)); /* 3 */
  weir_plan *again = make_plan(s, STEP, device);

  copies_expect(3 * BYTES, BYTES + 4, BYTES);
  for (int k = 0; k < 2; k++) {
    ((float *)w->data)[0] = 100;
    assert_near(run(again, STEP, 1), 102 + (5 + 2 * (double)k) * (N - 1), 0);
    assert_near(((float *)w->data)[0], 102, 0);
    copies_expect(again->backend->counted.up, again->backend->counted.down, 0);
    assert_int_equal(again->backend->counted.up, 2 * BYTES);
    assert_int_equal(again->backend->counted.down, BYTES + 4);
  }
  weir_plan_destroy(&step);
  weir_plan_destroy(&again);
  copies_end(s);
  weir_store_destroy(&s);
}

static void a_pinned_array_is_the_hosts_between_runs(void **state)
{
  backend_each(check_pinned);
}

static void check_inside(const char *device)
{
  weir_store *s = make_store();

  copies_begin(s, device);
  weir_plan *step = make_plan(s, STEP, device);

  (void)run(step, STEP, 1); /* w: 3 */
  copies_expect(3 * BYTES, 4, BYTES);
  assert_ok(weir_store_keep(s, "w"));
  assert_near(run(step, STEP, 1), 5 * N, 0);
  assert_ok(weir_store_restore(s, "w"));
  assert_ok(weir_store_copy(s, "v", "w")); /* 3 */
  copies_expect(BYTES, 4, 4 * BYTES);
  assert_near(run(step, STEP, 1), 6 * N, 0);
  assert_ok(weir_store_clear(s, "w"));
  copies_expect(BYTES + (1 << 20), 4, 2 * BYTES); /* zeros, the first time */
  assert_near(run(step, STEP, 2), 6 * N, 0);
  assert_ok(weir_store_clear(s, "w"));
  copies_expect(BYTES, 4, 2 * BYTES);
  assert_near(element(s, "w"), 0, 0);
  assert_int_equal(weir_store_restore(s, "v"), WEIR_ERR_CONFIG);
  assert_int_equal(weir_store_copy(s, "v", "u"), WEIR_ERR_CONFIG);
  weir_plan_destroy(&step);
  copies_end(s);
  weir_store_destroy(&s);
}

static void copies_of_arrays_stay_on_the_device(void **state)
{
  backend_each(check_inside);
}

/* ---- The host, where accesses are checked ---- */

static void the_old_side_of_the_host_is_poisoned(void **state)
{
  weir_store *s = make_store();
  const float *w = check_stored(s, "w")->data; /* kept across a run, wrongly */
  weir_plan *step = make_plan(s, STEP, "emulated");

  assert_near(w[0], 1, 0);
  (void)run(step, STEP, 1);
  for (int i = 0; i < N; i++) {
    assert_true(w[i] != w[i]); /* NaN */
  }
  assert_near(element(s, "w"), 3, 0);
  assert_near(w[0], 3, 0);
  weir_plan_destroy(&step);
  weir_store_destroy(&s);
}

/* To memory that a run has made old, that it has left alone, and that was only read. */
static void an_undeclared_write_is_refused(void **state)
{
  for (int k = 0; k < 3; k++) {
    const char *name = k == 1 ? "v" : "w";
    weir_store *s = make_store();
    float *at = check_stored(s, name)->data;
    weir_plan *step = make_plan(s, STEP, "emulated");
    float sum = 0;

    (void)run(step, STEP, 1);
    if (k == 2) {
      (void)element(s, name);
    }
    at[7] = 5;
    assert_int_equal(run_plan(step, STEP, 1, &sum), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), name));
    assert_non_null(strstr(weir_last_message(), "without weir_store_write"));
    weir_plan_destroy(&step);
    weir_store_destroy(&s);
  }
}

static void a_store_is_on_one_device_at_a_time(void **state)
{
  const weir_store_device *shared = NULL;
  weir_store *s = make_store();
  weir_plan *step = make_plan(s, STEP, "emulated");

  (void)run(step, STEP, 1);
  assert_int_equal(weir_store_device_use(s, "cpu", &shared), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "use device emulated"));
  weir_plan_destroy(&step);
  assert_ok(weir_store_device_use(s, "cpu", &shared)); /* brings w to the host */
  assert_near(element(s, "w"), 3, 0);
  weir_store_device_release(s);
  weir_store_destroy(&s);
}

/* ---- The bits of the cpu ---- */

enum { PLANS = 4, ACTIONS = 40 };

/* Runs of plans, on the cpu too, and accesses of the host, drawn at random. */
static double act(weir_store *s, weir_plan **plan, uint64_t seed, uint64_t step)
{
  const int k = (int)(9 * weir_random_uniform(seed, 1, 0, step));
  weir_tensor *t = NULL;
  float out[N] = {0};
  weir_tensor w = weir_tensor_wrap(out, WEIR_F32, 1, shape);
  double value = 0;

  if (k <= 2) {
    return run(plan[k], (what)k, (float)step);
  }
  if (k == 3) {
    assert_ok(weir_plan_run(plan[TELL], &(weir_binding){"w", &w}, 1));
    return out[3];
  }
  if (k == 4) {
    return run(plan[PLANS], LOSS, 0); /* on the cpu */
  }
  if (k == 5) {
    return element(s, step % 2 == 0 ? "w" : "v");
  }
  if (k == 6) {
    assert_ok(weir_store_write(s, "v", &t));
    value = ((float *)t->data)[3];
    ((float *)t->data)[3] = (float)step;
  } else if (k == 7) {
    assert_ok(step % 2 == 0 ? weir_store_clear(s, "w") : weir_store_copy(s, "w", "v"));
  } else {
    assert_ok(step % 2 == 0 ? weir_store_keep(s, "v") : weir_store_restore(s, "v"));
  }
  return value;
}

static void check_actions(const char *device)
{
  enum { SEEDS = 4 };

  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    double value[2][ACTIONS];

    for (int side = 0; side < 2; side++) {
      weir_store *s = make_store();
      weir_plan *plan[PLANS + 1];

      for (int k = 0; k < PLANS; k++) {
        plan[k] = make_plan(s, (what)k, side == 0 ? "cpu" : device);
      }
      plan[PLANS] = make_plan(s, LOSS, "cpu");
      assert_ok(weir_store_keep(s, "v"));
      for (uint64_t step = 0; step < ACTIONS; step++) {
        value[side][step] = act(s, plan, seed, step);
      }
      for (int k = 0; k <= PLANS; k++) {
        weir_plan_destroy(&plan[k]);
      }
      weir_store_destroy(&s);
    }
    assert_memory_equal(value[0], value[1], sizeof value[0]);
  }
}

static void runs_and_accesses_give_the_bits_of_the_cpu(void **state)
{
  backend_each(check_actions);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays_are_copied_where_a_side_is_old),
      cmocka_unit_test(a_pinned_array_is_the_hosts_between_runs),
      cmocka_unit_test(copies_of_arrays_stay_on_the_device),
      cmocka_unit_test(the_old_side_of_the_host_is_poisoned),
      cmocka_unit_test(an_undeclared_write_is_refused),
      cmocka_unit_test(a_store_is_on_one_device_at_a_time),
      cmocka_unit_test(runs_and_accesses_give_the_bits_of_the_cpu),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
