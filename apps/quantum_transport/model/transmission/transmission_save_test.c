/* transmission_save_test.c - computations that are stopped between two batches of points, and their
 * checkpoints. */
#include <math.h>
#include <stdio.h>

#include "base/weir_signal.h"
#include "support/quantum_transport/transmission_test.h"
#include "support/graph/store_check.h"
#include "train/weir_checkpoint.h"

enum { ENERGIES = 900, WAVE_VECTORS = 2, ALL = ENERGIES * WAVE_VECTORS };

static const double usual_k[WAVE_VECTORS][2] = {{0, 0.1}, {0, 0.3}};
static const double other_k[WAVE_VECTORS][2] = {{0, 0.1}, {0, 0.2}};

typedef struct fixture {
  char dir[256];
  double energy[ENERGIES];
  qt_system system;
  qt_transport_save save;
  qt_transport_spec spec;
  int begun; /* calls of save.begin */
} fixture;

static weir_status begin(void *context)
{
  ((fixture *)context)->begun++;
  return WEIR_OK;
}

static void set_up(fixture *f)
{
  const ribbon r = {.width = 2, .length = 4, .hopping = -1, .periodic = -0.5, .disorder = 1};

  memset(f, 0, sizeof *f);
  ribbon_create(&r, &f->system);
  for (int e = 0; e < ENERGIES; e++) {
    f->energy[e] = -2.0137 + 0.004 * e;
  }
  weir_check_mkdir(f->dir, sizeof f->dir);
  f->save =
      (qt_transport_save){.dir = f->dir, .keep = 2, .resume = true, .begin = begin, .context = f};
  f->spec = ribbon_spec(QT_LEAD_MODES, ENERGIES, f->energy);
  f->spec.n_k = WAVE_VECTORS;
  f->spec.k = usual_k;
  f->spec.lead_dos = true;
  f->spec.bond_currents = true;
  f->spec.shift = 1e-6;
  f->spec.save = &f->save;
}

static void tear_down(fixture *f)
{
  weir_stop_request(0);
  weir_check_rmdir(f->dir);
  qt_system_fini(&f->system);
}

/* Stops after the first batch; returns the points done. */
static int64_t stop_once(fixture *f)
{
  qt_transport out;
  int64_t done = -1;

  weir_stop_request(15);
  assert_int_equal(qt_transport_create(&f->system, &f->spec, &out), WEIR_ERR_STOPPED);
  weir_stop_request(0);
  assert_null(out.transmission);
  assert_ok(weir_checkpoint_newest(f->dir, &done));
  return done;
}

static void check_same(const qt_transport *a, const qt_transport *b, int64_t n)
{
  const size_t bonds = (size_t)(ALL * qt_sparse_count(&a->bonds));

  assert_memory_equal(a->transmission, b->transmission, ALL * sizeof(double));
  assert_memory_equal(a->dos, b->dos, (size_t)(ALL * n) * sizeof(double));
  for (int c = 0; c < QT_LEADS; c++) {
    assert_memory_equal(a->n_modes[c], b->n_modes[c], ALL * sizeof(int64_t));
    assert_memory_equal(a->lead_dos[c], b->lead_dos[c], (size_t)(ALL * n) * sizeof(double));
    assert_memory_equal(a->bond_current[c], b->bond_current[c], bonds * sizeof(double));
  }
  assert_near(a->residual, b->residual, 0);
  assert_int_equal(a->n_shifted, b->n_shifted);
  assert_near(a->flops, b->flops, 1e-12 * a->flops);
}

static void a_stopped_computation_has_the_same_bits(void **state)
{
  for (int format = WEIR_CHECKPOINT_AUTO; format <= WEIR_CHECKPOINT_RAW; format += 2) {
    qt_transport whole, out;
    int64_t last = 0;
    fixture f;

    set_up(&f);
    f.save.format = format;
    f.spec.save = NULL;
    assert_ok(qt_transport_create(&f.system, &f.spec, &whole));
    f.spec.save = &f.save;
    for (int i = 0; i < 3; i++) { /* one batch after the other */
      const int64_t done = stop_once(&f);

      assert_true(done > last && done < ALL);
      last = done;
    }
    assert_int_equal(f.begun, 5); /* 3 written, 2 read */
    f.spec.threads = 2;
    assert_ok(qt_transport_create(&f.system, &f.spec, &out));
    check_same(&whole, &out, f.system.n);
    qt_transport_fini(&whole);
    qt_transport_fini(&out);
    tear_down(&f);
  }
}

static void checkpoints_of_others_are_refused(void **state)
{
  qt_transport out;
  fixture f;

  set_up(&f);
  assert_true(stop_once(&f) > 0);
  f.spec.k = other_k;
  assert_int_equal(qt_transport_create(&f.system, &f.spec, &out), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "a checkpoint of a run with other wave vectors"));
  f.spec.k = usual_k;
  f.spec.n_energies--; /* results of another shape, too */
  assert_int_equal(qt_transport_create(&f.system, &f.spec, &out), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "other energies"));
  f.spec.n_energies++;
  f.spec.lead.slepc.targets++;
  assert_int_equal(qt_transport_create(&f.system, &f.spec, &out), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "other options of leads"));
  f.spec.lead.slepc.targets--;
  f.system.h.matrix[1].value[0].im += 1e-15;
  assert_int_equal(qt_transport_create(&f.system, &f.spec, &out), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "another device"));
  f.system.h.matrix[1].value[0].im -= 1e-15;
  assert_int_equal(f.begun, 1);
  tear_down(&f);
}

static void a_checkpoint_of_another_name_is_refused(void **state)
{
  char from[512], to[512];
  qt_transport out;
  fixture f;

  set_up(&f);
  f.save.format = WEIR_CHECKPOINT_RAW;
  const int64_t done = stop_once(&f);

  assert_ok(weir_checkpoint_path(f.dir, done, WEIR_CHECKPOINT_RAW, from, sizeof from));
  assert_ok(weir_checkpoint_path(f.dir, done + 1, WEIR_CHECKPOINT_RAW, to, sizeof to));
  assert_int_equal(rename(from, to), 0);
  assert_int_equal(qt_transport_create(&f.system, &f.spec, &out), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "not as many as its name says"));
  tear_down(&f);
}

/* The file after `done` points, with other totals: n of them, without those from `gap` on. */
static void rewrite_totals(const fixture *f, int64_t done, int64_t bonds, int64_t n, int64_t gap)
{
  static const char *const fields[] = {"device", "lead",   "energy", "k",
                                       "output", "method", "slabs"};
  enum { TOTALS = 5 + QT_PHASES };
  char path[512], name[64];
  weir_store *all = NULL, *other = NULL;
  double total[TOTALS + 1];

  assert_ok(weir_checkpoint_path(f->dir, done, WEIR_CHECKPOINT_RAW, path, sizeof path));
  assert_ok(weir_store_create(&all));
  assert_ok(weir_store_create(&other));
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    (void)snprintf(name, sizeof name, "identity/%s", fields[i]);
    assert_ok(weir_store_add(all, name, WEIR_U8, 1, (const int64_t[]){64}));
  }
  assert_ok(weir_store_add(all, "point/totals", WEIR_F64, 1, (const int64_t[]){TOTALS}));
  assert_ok(weir_store_add(all, "point/transmission", WEIR_F64, 1, (const int64_t[]){ALL}));
  assert_ok(weir_store_add(all, "point/modes_left", WEIR_I64, 1, (const int64_t[]){ALL}));
  assert_ok(weir_store_add(all, "point/modes_right", WEIR_I64, 1, (const int64_t[]){ALL}));
  for (int i = QT_POINT_DOS; i < QT_POINT_CHANNEL; i++) {
    const bool of_bonds = i == QT_POINT_BOND_LEFT || i == QT_POINT_BOND_RIGHT;

    (void)snprintf(name, sizeof name, "point/%s", qt_point_name((qt_point_array)i));
    assert_ok(weir_store_add(all, name, WEIR_F64, 2,
                             (const int64_t[]){ALL, of_bonds ? bonds : f->system.n}));
  }
  assert_ok(weir_checkpoint_load(&(weir_checkpoint){.store = all}, path, false));
  const double *const had = check_stored(all, "point/totals")->data;

  for (int64_t i = 0; i < n; i++) {
    total[i] = had[i < gap ? i : i + TOTALS - n];
  }
  const weir_tensor less = weir_tensor_wrap(total, WEIR_F64, 1, &n);

  for (int64_t i = 0; i < weir_store_count(all); i++) {
    const char *const array = weir_store_name(all, i);
    const bool is_total = strcmp(array, "point/totals") == 0;

    assert_ok(weir_store_add_view(other, array, is_total ? &less : check_stored(all, array)));
  }
  assert_ok(weir_checkpoint_save(&(weir_checkpoint){.store = other}, WEIR_CHECKPOINT_RAW, path));
  weir_store_destroy(&other);
  weir_store_destroy(&all);
}

/* Versions before flops of leads were counted wrote one total less: what they computed is resumed.
 * Files of yet others are refused. */
static void checkpoints_of_earlier_versions_are_resumed(void **state)
{
  qt_transport whole, out;
  fixture f;

  (void)state;
  set_up(&f);
  f.spec.save = NULL;
  assert_ok(qt_transport_create(&f.system, &f.spec, &whole));
  f.spec.save = &f.save;
  f.save.format = WEIR_CHECKPOINT_RAW;
  const int64_t done = stop_once(&f), bonds = qt_sparse_count(&whole.bonds);

  rewrite_totals(&f, done, bonds, 4 + QT_PHASES, 4);
  assert_ok(qt_transport_create(&f.system, &f.spec, &out));
  check_same(&whole, &out, f.system.n);
  assert_true(isnan(out.leads_flops));
  for (int p = 0; p < QT_PHASES; p++) {
    assert_true(out.seconds[p] >= 0 && out.seconds[p] < 1e3);
  }
  qt_transport_fini(&out);
  qt_transport_fini(&whole);
  tear_down(&f);
  set_up(&f);
  f.save.format = WEIR_CHECKPOINT_RAW;
  rewrite_totals(&f, stop_once(&f), bonds, 3 + QT_PHASES, 3);
  assert_int_equal(qt_transport_create(&f.system, &f.spec, &out), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "another version of this program"));
  assert_non_null(strstr(weir_last_message(), "--overwrite"));
  tear_down(&f);
}

static void without_a_folder_nothing_is_written(void **state)
{
  qt_transport out;
  fixture f;

  set_up(&f);
  f.spec.save = NULL;
  weir_stop_request(2);
  assert_int_equal(qt_transport_create(&f.system, &f.spec, &out), WEIR_ERR_STOPPED);
  assert_non_null(strstr(weir_last_message(), "of 1800 points: nothing is written"));
  tear_down(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_stopped_computation_has_the_same_bits),
      cmocka_unit_test(checkpoints_of_others_are_refused),
      cmocka_unit_test(a_checkpoint_of_another_name_is_refused),
      cmocka_unit_test(checkpoints_of_earlier_versions_are_resumed),
      cmocka_unit_test(without_a_folder_nothing_is_written),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
