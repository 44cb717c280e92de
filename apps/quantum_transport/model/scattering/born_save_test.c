/* born_save_test.c - iterations that are stopped between two steps, and their checkpoints. */
#include "support/quantum_transport/born_save_test.h"

#include <stdlib.h>

#include "pass/weir_pass.h"

static void a_stopped_iteration_has_the_same_bits(void **state)
{
  static const struct {
    int state, retarded;
    double mixing;
  } cases[] = {{QT_PHONONS_COUPLED, QT_RETARDED_FULL, 1},
               {QT_PHONONS_COUPLED, QT_RETARDED_HALF, 0.7},
               {QT_PHONONS_BATH, QT_RETARDED_HALF, 0.9}};

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    chain c;

    chain_init(6, 40, 0.3, &c);
    c.opts.phonons.state = cases[i].state;
    c.opts.retarded = cases[i].retarded;
    c.opts.mixing = cases[i].mixing;
    c.opts.tolerance = 1e-4;
    assert_true(check_resumption(&c) > 4);
    chain_fini(&c);
  }
}

typedef struct fixture {
  char dir[256];
  qt_born_save save;
  chain c;
} fixture;

static void set_up(fixture *f)
{
  weir_check_mkdir(f->dir, sizeof f->dir);
  f->save = (qt_born_save){.dir = f->dir, .keep = 3, .resume = true};
  chain_init(5, 30, 0.3, &f->c);
  f->c.opts.tolerance = 1e-8;
  f->c.spec.save = &f->save;
}

static void tear_down(fixture *f)
{
  chain_fini(&f->c);
  weir_check_rmdir(f->dir);
}

/* Stops so many times. */
static void stop(fixture *f, int times)
{
  qt_born out;

  weir_stop_request(15);
  for (int i = 0; i < times; i++) {
    assert_int_equal(qt_born_create(&f->c.spec, &out), WEIR_ERR_STOPPED);
  }
  weir_stop_request(0);
}

static int64_t newest_of(const fixture *f)
{
  int64_t newest = -1;

  assert_ok(weir_checkpoint_newest(f->dir, &newest));
  return newest;
}

static void refuse(fixture *f, const char *text)
{
  qt_born out;

  assert_int_equal(qt_born_create(&f->c.spec, &out), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), text));
  assert_non_null(strstr(weir_last_message(), "checkpoint-000000002"));
  assert_int_equal(newest_of(f), 2);
}

static void checkpoints_of_others_are_refused(void **state)
{
  fixture f;
  chain *c = &f.c;
  qt_born out;

  (void)state;
  set_up(&f);
  stop(&f, 3);
  const weir_c128 gradient = c->gradient.value[0];

  c->reservoir[QT_LEFT].mu += 1e-9;
  refuse(&f, "other chemical potentials or temperatures");
  c->reservoir[QT_LEFT].mu = 0.12;
  c->opts.mixing = 0.9;
  refuse(&f, "other options of scattering");
  c->opts.mixing = 1;
  c->opts.precision = WEIR_PRODUCTS_F16;
  refuse(&f, "other options of scattering");
  c->opts.precision = WEIR_PRODUCTS_F64;
  c->opts.normalise = !c->opts.normalise;
  refuse(&f, "other options of scattering");
  c->opts.normalise = !c->opts.normalise;
  c->opts.phonons.frequencies--;
  refuse(&f, "other options of scattering");
  c->opts.phonons.frequencies++;
  c->lead.eta *= 2;
  refuse(&f, "other options of leads");
  c->lead.eta /= 2;
  c->spec.n_energies--;
  refuse(&f, "other energies");
  c->spec.n_energies++;
  c->gradient.value[0].re *= 1 + 1e-15;
  refuse(&f, "other phonons");
  c->gradient.value[0] = gradient;
  c->electrons.h.matrix[0].value[1].re += 1e-9;
  refuse(&f, "another device");
  c->electrons.h.matrix[0].value[1].re -= 1e-9;
  c->opts.max_iterations = 3; /* this one may differ */
  assert_int_equal(qt_born_create(&c->spec, &out), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "after 3 iterations"));
  assert_int_equal(newest_of(&f), 3);
  tear_down(&f);
}

/* Of the newest file the first half is left: a warning says so, and nothing is lost. */
static void a_damaged_checkpoint_is_told(void **state)
{
  char command[700], path[512];
  qt_born out, whole;
  fixture f;

  (void)state;
  set_up(&f);
  f.save.format = WEIR_CHECKPOINT_RAW;
  f.c.spec.save = NULL;
  assert_ok(qt_born_create(&f.c.spec, &whole));
  f.c.spec.save = &f.save;
  stop(&f, 4);
  assert_ok(weir_checkpoint_path(f.dir, 3, WEIR_CHECKPOINT_RAW, path, sizeof path));
  (void)snprintf(command, sizeof command, "truncate -s 4000 %s", path);
  assert_int_equal(system(command), 0); /* NOLINT: a path of the test */
  assert_int_equal(qt_born_create(&f.c.spec, &out), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "is damaged"));
  assert_non_null(strstr(weir_last_message(), "remove it to resume from the one before it"));
  assert_int_equal(newest_of(&f), 3);
  assert_int_equal(remove(path), 0);
  assert_ok(qt_born_create(&f.c.spec, &out));
  check_same_born(&whole, &out);
  qt_born_fini(&out);
  qt_born_fini(&whole);
  tear_down(&f);
}

/* Every second iteration, the newest three; of a run that is not resumed none stay. */
static void checkpoints_come_when_asked(void **state)
{
  fixture f;
  qt_born out;

  (void)state;
  set_up(&f);
  f.save.iterations = 2;
  assert_ok(qt_born_create(&f.c.spec, &out));
  const int64_t last = out.n_steps - 1;

  assert_int_equal(newest_of(&f), (last - 2) / 2 * 2 + 1); /* 1, 3, 5, ..., before the last */
  qt_born_fini(&out);
  f.save.resume = false;
  f.save.iterations = 0;
  assert_ok(qt_born_create(&f.c.spec, &out));
  assert_int_equal(newest_of(&f), -1);
  assert_int_equal(out.n_steps - 1, last);
  qt_born_fini(&out);
  f.save.interval = 1e-9;
  assert_ok(qt_born_create(&f.c.spec, &out));
  assert_int_equal(newest_of(&f), last - 1);
  qt_born_fini(&out);
  f.c.spec.save = NULL;
  weir_stop_request(2);
  assert_int_equal(qt_born_create(&f.c.spec, &out), WEIR_ERR_STOPPED);
  assert_non_null(strstr(weir_last_message(), "after iteration 0 of scattering: nothing is"));
  weir_stop_request(0);
  tear_down(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_stopped_iteration_has_the_same_bits),
      cmocka_unit_test(checkpoints_of_others_are_refused),
      cmocka_unit_test(a_damaged_checkpoint_is_told),
      cmocka_unit_test(checkpoints_come_when_asked),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
