/* tbt_test.c - the pattern of bonds in a file of TBtrans's layout, and missing memory. What sisl
 * reads of a run's file: tests/integration/quantum_transport/files.py. */
#include "data/tbt.h"

#include <stdio.h>

#include "io/weir_netcdf.h"
#include "support/quantum_transport/transmission_test.h"

typedef struct subject {
  qt_system system;
  qt_transport transport;
  char dir[256], path[300];
} subject;

static const double energy[] = {-0.4, 0.3}, k[1][2] = {{0, 0}}, weight[] = {1};

/* Sites 0 1 | 2 3 | 4 5, each coupled to the other and to the next slice. */
static void begin(subject *s)
{
  const ribbon r = {.width = 2, .length = 3, .hopping = -1};
  qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, 2, energy);

  if (!weir_netcdf_available()) {
    fprintf(stderr, "skipped: this build has no NetCDF\n");
    skip();
  }
  spec.bond_currents = spec.lead_dos = true;
  ribbon_create(&r, &s->system);
  assert_ok(qt_transport_create(&s->system, &spec, &s->transport));
  weir_check_mkdir(s->dir, sizeof s->dir);
  (void)snprintf(s->path, sizeof s->path, "%s/chain.TBT.nc", s->dir);
}

static void end(subject *s)
{
  weir_check_rmdir(s->dir);
  qt_transport_fini(&s->transport);
  qt_system_fini(&s->system);
}

static weir_status write(void *context)
{
  const subject *s = context;
  const qt_transport *t = &s->transport;
  qt_tbt out = {.system = &s->system,
                .n_k = 1,
                .n_energies = 2,
                .k = k,
                .weight = weight,
                .energy = energy,
                .transmission = t->transmission,
                .dos = t->dos,
                .bonds = &t->bonds};

  for (int c = 0; c < QT_LEADS; c++) {
    out.lead[c] = (qt_tbt_lead){
        .dos = t->lead_dos[c], .bond_current = t->bond_current[c], .modes = t->n_modes[c]};
  }
  return qt_tbt_write(s->path, &out);
}

static void bonds_are_listed_in_both_directions(void **state)
{
  static const int32_t n_col[] = {2, 2, 3, 3, 2, 2};
  static const int32_t list_col[] = {2, 3, 1, 4, 1, 4, 5, 2, 3, 6, 3, 6, 4, 5};
  const struct {
    const char *name;
    const int32_t *expected;
    int64_t count;
  } variables[] = {{"n_col", n_col, 6}, {"list_col", list_col, 14}};
  const int64_t start = 0;
  weir_netcdf *nc = NULL;
  subject s;

  (void)state;
  begin(&s);
  assert_int_equal(qt_sparse_count(&s.transport.bonds), 7);
  assert_ok(write(&s));
  assert_ok(weir_netcdf_open(s.path, &nc));
  for (int i = 0; i < 2; i++) {
    weir_netcdf_shape shape;
    int32_t got[14];
    int var;

    assert_ok(weir_netcdf_find(nc, variables[i].name, &var, &shape));
    assert_int_equal(shape.dtype, WEIR_I32);
    assert_int_equal(shape.lengths[0], variables[i].count);
    assert_ok(weir_netcdf_read(nc, var, &start, &variables[i].count, got));
    assert_memory_equal(got, variables[i].expected, (size_t)variables[i].count * sizeof *got);
  }
  weir_netcdf_close(&nc);
  end(&s);
}

static void missing_memory_is_reported(void **state)
{
  subject s;

  (void)state;
  begin(&s);
  assert_true(weir_check_faults(write, &s) > 20);
  end(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bonds_are_listed_in_both_directions),
      cmocka_unit_test(missing_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
