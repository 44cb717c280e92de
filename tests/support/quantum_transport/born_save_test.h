/* born_save_test.h - iterations that are stopped after each step. Tests only. */
#ifndef QT_BORN_SAVE_TEST_H
#define QT_BORN_SAVE_TEST_H
#include "base/weir_signal.h"
#include "support/quantum_transport/born_test.h"
#include "train/weir_checkpoint.h"

static inline void check_same_born(const qt_born *a, const qt_born *b)
{
  assert_int_equal(a->n_steps, b->n_steps);
  for (int64_t s = 0; s < a->n_steps; s++) { /* NaN where phonons are a bath */
    const double *x = (const double *)(const void *)&a->step[s];
    const double *y = (const double *)(const void *)&b->step[s];

    for (size_t i = 0; i < sizeof *a->step / sizeof *x; i++) {
      assert_true(x[i] == y[i] || (isnan(x[i]) && isnan(y[i])));
    }
  }
  for (int c = 0; c < QT_LEADS; c++) {
    assert_memory_equal(a->flow[c], b->flow[c], (size_t)a->n_energies * sizeof(double));
  }
  assert_memory_equal(a->cut, b->cut, (size_t)(a->n_energies * a->n_cuts) * sizeof(double));
  assert_memory_equal(a->hop, b->hop, (size_t)a->n_cuts * sizeof(double));
  assert_memory_equal(a->gain_of_electrons, b->gain_of_electrons,
                      (size_t)a->n_atoms * sizeof(double));
  assert_memory_equal(a->temperature, b->temperature, (size_t)a->n_atoms * sizeof(double));
}

/* Iterates once without a stop, and once with one after each step, each time by another run;
 * returns how many. */
static inline int64_t check_resumption(chain *c)
{
  static const weir_string_list none = {.count = 0};
  char dir[256], path[512];
  qt_born_save save = {.keep = 2, .resume = true};
  qt_born whole, out;
  int64_t newest = -1, stops = 0;

  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/inner", dir);
  save.dir = path;
  assert_ok(qt_born_start(&c->opts, &none));
  assert_ok(qt_born_create(&c->spec, &whole));
  c->spec.save = &save;
  weir_stop_request(15);
  while (qt_born_create(&c->spec, &out) == WEIR_ERR_STOPPED) {
    assert_null(out.step);
    assert_non_null(strstr(weir_last_message(), "repeat the command to resume it"));
    assert_ok(weir_checkpoint_newest(path, &newest));
    assert_int_equal(newest, stops++);
    assert_true(stops < whole.n_steps);
  }
  weir_stop_request(0);
  /* not after the last one, nor the step before it of NGMRES, which may be near enough, too */
  assert_true(stops == whole.n_steps - 1 ||
              (c->opts.method == QT_BORN_NGMRES && stops == whole.n_steps - 2));
  check_same_born(&whole, &out);
  qt_born_fini(&out);
  assert_ok(qt_born_create(&c->spec, &out)); /* from the last but one again */
  check_same_born(&whole, &out);
  qt_born_fini(&out);
  qt_born_fini(&whole);
  c->spec.save = NULL;
  weir_check_rmdir(path);
  weir_check_rmdir(dir);
  return stops;
}

#endif
