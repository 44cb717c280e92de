/* device_test.c - training on a device: the bits of the cpu, and copies of a step that do not grow
 * with the network. */
#include "device/weir_device.h"
#include "support/exec/copies_check.h"
#include "support/train/train_check.h"

/* Calls body for every device but the cpu that this machine has. */
static void each(void (*body)(const char *device))
{
  for (int k = 0; weir_device_row_get(k) != NULL; k++) {
    const char *name = weir_device_row_get(k)->name;
    weir_device *d = NULL;

    if (strcmp(name, "cpu") != 0 && weir_device_open(name, NULL, &d) == WEIR_OK) {
      weir_device_close(&d);
      body(name);
    }
  }
}

/* Trains on the cpu and on the device; all arrays of the stores are then the same. Libraries round
 * otherwise: neither has kernels. */
static void check_same(const char *device, const char *const *sets)
{
  toy t = {.noise = true, .kernel = "none"};
  session cpu = train_in(NULL, &t, 30, 10, 1, sets);

  t.device = device;
  session other = train_in(NULL, &t, 30, 10, 1, sets);

  assert_ok(cpu.status);
  assert_ok(other.status);
  assert_same(&cpu, &other);
  assert_true(cpu.result.loss == other.result.loss);
  close_session(&cpu);
  close_session(&other);
}

static void check_training(const char *device)
{
  check_same(device, SETS("epochs=3", "batch=8", "optim.rule=adam", "optim.average.decay=0.9"));
  check_same(device, SETS("epochs=2", "batch=4", "accumulate=3", "optim.clip.max_norm=0.5"));
}

static void training_gives_the_bits_of_the_cpu(void **state)
{
  each(check_training);
}

/* Half on the device, the rest from its checkpoint: there, and on the cpu. */
static void check_resumption(const char *device)
{
  toy t = {.noise = true, .kernel = "none"};
  session whole = train_in(NULL, &t, 30, 10, 1, SETS("steps=12", "batch=8"));

  for (int k = 0; k < 2; k++) {
    t.device = device;
    session half = train_in(NULL, &t, 30, 10, 1, SETS("steps=6", "batch=8"));

    t.device = k == 0 ? device : NULL;
    session rest = train_in(half.dir, &t, 30, 10, 1, SETS("steps=12", "batch=8"));

    assert_ok(half.status);
    assert_ok(rest.status);
    assert_int_equal(rest.result.first, 6);
    assert_same(&whole, &rest);
    close_session(&half);
    close_session(&rest);
  }
  close_session(&whole);
}

static void a_checkpoint_of_a_device_resumes(void **state)
{
  each(check_resumption);
}

static void check_nan(const char *device)
{
  toy t = {.noise = true, .bad_sample = 6, .bad_input = NAN, .device = device};

  session s = train_in(NULL, &t, 10, 0, 1, SETS("batch=2", "shuffle=false", "steps=5"));

  assert_int_equal(s.status, WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "the input 'x' has nan as element 0"));
  weir_clear_failure();
  close_session(&s);
}

static void a_nan_is_located(void **state)
{
  each(check_nan);
}

/* ---- Copies ---- */

/* Bytes up and down per run, as `describe` states them for the plans of a step. */
static void stated(toy *t, const char *const *sets, int n, int64_t *up, int64_t *down)
{
  const weir_train_task task = toy_task(t, 64, 0);
  weir_config *config = NULL;
  weir_exec_cfg tier;
  const weir_plan_opts exec = on_threads(1, &tier);
  const weir_train_cfg cfg = toy_cfg(sets, n, &config);
  long long u = 0, d = 0, host_down = 0, host_up = 0;
  FILE *f = tmpfile();
  char line[1024];
  int found = 0;

  assert_non_null(f);
  tier.device = t->device;
  assert_ok(weir_train_describe(&task, &cfg, &exec, f, NULL));
  rewind(f);
  while (fgets(line, sizeof line, f) != NULL) {
    if (sscanf(line,
               "copied per run: %lld bytes to the device for launches, %lld bytes of results back; "
               "for host calls %lld bytes to the host, %lld bytes to the device",
               &u, &d, &host_down, &host_up) == 4) {
      *up = u + host_up;
      *down = d + host_down;
      found++;
    }
  }
  fclose(f);
  weir_config_destroy(&config);
  assert_int_equal(found, 1);
}

/* What `steps` steps without validation copy. */
static void copied(toy *t, const char *const *sets, int64_t *up, int64_t *down)
{
  const weir_train_task task = toy_task(t, 64, 0);
  session s = {.status = WEIR_OK};

  assert_ok(weir_params_create(task.dtype, &s.params));
  assert_ok(weir_store_create(&s.store));
  assert_ok(weir_train_prepare(&task, 1, s.params, s.store));
  copies_begin(s.store, t->device);
  train_on(&s, NULL, t, 64, 0, 1, sets);
  assert_ok(s.status);
  *up = copies.up;
  *down = copies.down;
  copies_end(s.store);
  close_session(&s);
}

static void check_copies(const char *device)
{
  enum { BATCH = 8, MORE = 5 };
  int64_t up[2], down[2], bytes = 0;

  for (int wide = 0; wide < 2; wide++) {
    toy t = {.hidden = wide ? 200 : 20, .device = device};
    int64_t few_up, few_down, many_up, many_down;
    const char *const *few = SETS("steps=2", "batch=8", "checkpoint.every=0");
    const char *const *many = SETS("steps=7", "batch=8", "checkpoint.every=0");

    stated(&t, few, 3, &up[wide], &down[wide]);
    copied(&t, few, &few_up, &few_down);
    copied(&t, many, &many_up, &many_down);
    assert_int_equal(many_up - few_up, MORE * up[wide]);
    assert_int_equal(many_down - few_down, MORE * down[wide]);
    bytes = few_down;
  }
  assert_int_equal(up[0], up[1]); /* the batch and scalars, whatever the network */
  assert_int_equal(down[0], down[1]);
  assert_true(up[0] >= BATCH * 3 * 4 && up[0] < BATCH * 3 * 4 + 64);
  assert_true(down[0] < 64);
  assert_true(bytes > 200 * 8 * 4); /* the weights, at the end */
}

static void a_step_copies_its_batch_and_its_loss(void **state)
{
  each(check_copies);
}

static int tests(void)
{
  const struct CMUnitTest all[] = {
      cmocka_unit_test(training_gives_the_bits_of_the_cpu),
      cmocka_unit_test(a_checkpoint_of_a_device_resumes),
      cmocka_unit_test(a_nan_is_located),
      cmocka_unit_test(a_step_copies_its_batch_and_its_loss),
  };

  return cmocka_run_group_tests(all, NULL, NULL);
}

int main(void)
{
  return toy_tests(tests);
}
