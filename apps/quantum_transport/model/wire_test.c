/* wire_test.c - where elements of a cell stand in the device and its leads; what is refused. */
#include "model/wire.h"

#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "model/system_check.h"

/* Cells of 2 orbitals: 0 is coupled to 1 of the cell at larger x, and to itself along z. */
static void fill(qt_elements *e)
{
  qt_elements_add(e, 0, 1, (const int64_t[3]){1, 0, 0}, (weir_c128){2, 3});
  qt_elements_add(e, 1, 0, (const int64_t[3]){-1, 0, 0}, (weir_c128){2, -3});
  qt_elements_add(e, 0, 0, (const int64_t[3]){0, 0, 1}, (weir_c128){4, 5});
  qt_elements_add(e, 0, 0, (const int64_t[3]){0, 0, -1}, (weir_c128){4, -5});
  qt_elements_add(e, 1, 1, (const int64_t[3]){0, 0, 0}, (weir_c128){6, 0});
}

static weir_status build(void *context)
{
  const double onsite[] = {0, 0, 0.5, 0.25, 0, 0}, lead[] = {-1, -2};
  qt_wire w = {.n = 2,
               .n_atoms = 1,
               .cell = {{3, 0, 0}, {0, 1, 0}, {0, 0, 1}},
               .periodic = {true, false, true}};
  qt_system s = {.n = 0};
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(1, sizeof *w.atom, (void **)&w.atom));
  w.atom[0] = (qt_atom){.position = {0, 1, 2}, .n_orbitals = 2, .symbol = "X"};
  fill(&w.elements);
  status = qt_wire_create(&w, 3, onsite, lead, &s);
  qt_wire_fini(&w);
  if (status == WEIR_OK && context != NULL) {
    *(qt_system *)context = s;
  } else {
    qt_system_fini(&s);
  }
  return status;
}

static void check(const qt_sparse *m, int64_t row, int64_t column, double re, double im)
{
  const weir_c128 x = qt_sparse_get(m, row, column);

  assert_true(x.re == re && x.im == im);
}

static void cells_are_repeated_and_continued_by_leads(void **state)
{
  qt_system s;

  assert_ok(build(&s));
  assert_ok(qt_system_check(&s, 0));
  assert_int_equal(s.n, 6);
  assert_int_equal(s.h.count, 3);
  check(&s.h.matrix[0], 0, 3, 2, 3);
  check(&s.h.matrix[0], 5, 2, 2, -3);
  check(&s.h.matrix[0], 2, 2, 0.5, 0);
  check(&s.h.matrix[0], 3, 3, 6.25, 0);
  assert_int_equal(qt_sparse_count(&s.h.matrix[0]), 4 + 3 + 1);
  assert_int_equal(s.h.image[1][1], 1);
  check(&s.h.matrix[1], 4, 4, 4, 5);
  assert_int_equal(qt_sparse_count(&s.h.matrix[1]), 3);
  for (int c = 0; c < QT_LEADS; c++) {
    check(&s.lead[c].cell.matrix[0], 0, 0, -1 - c, 0);
    check(&s.lead[c].cell.matrix[0], 1, 1, 5 - c, 0);
    check(&s.lead[c].cell.matrix[2], 0, 0, 4, -5);
    check(&s.lead[c].next.matrix[0], 0, 1, 2, 3);
    assert_int_equal(qt_sparse_count(&s.lead[c].next.matrix[0]), 1);
    assert_int_equal(qt_sparse_count(&s.lead[c].next.matrix[1]), 0);
    assert_true(s.lead[c].length == 3);
  }
  assert_true(s.atom[2].position[0] == 6 && s.atom[2].position[2] == 2 && s.atom[2].first == 4);
  assert_true(s.cell[0][0] == 9 && s.cell[2][2] == 1);
  assert_true(!s.periodic[0] && !s.periodic[1] && s.periodic[2]);
  qt_system_fini(&s);
}

static void elements_beyond_neighbours_are_refused(void **state)
{
  const qt_element bad[] = {{.column = 2}, {.row = -1}, {.offset = {2, 0, 0}}};
  const char *const text[] = {"(0, 2)", "(-1, 0)", "2 cells along x"};

  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    qt_system s = {.n = 0};
    qt_wire w = {.n = 2};

    qt_elements_add(&w.elements, bad[i].row, bad[i].column, bad[i].offset, (weir_c128){1, 0});
    assert_int_equal(qt_wire_create(&w, 3, NULL, (const double[2]){0, 0}, &s), WEIR_ERR_SHAPE);
    assert_non_null(strstr(weir_last_message(), text[i]));
    qt_wire_fini(&w);
    qt_system_fini(&s);
  }
}

static void missing_memory_is_reported(void **state)
{
  assert_true(weir_check_faults(build, NULL) > 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cells_are_repeated_and_continued_by_leads),
      cmocka_unit_test(elements_beyond_neighbours_are_refused),
      cmocka_unit_test(missing_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
