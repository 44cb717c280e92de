/* matrices_refused_test.c - matrices and options that are refused; what is reported of the others.
 */
#include "base/weir_alloc.h"
#include "support/quantum_transport/matrices_test.h"
#include "model/system_check.h"

char dir[256];
matrices_paths paths;

static void wrong_wishes_are_refused(void **state)
{
  static const int64_t order[] = {0, 1, 2};
  const qt_matrices_opts whole = defaults(put("h.mtx", 0, N, 0, N, false));
  qt_matrices_opts o = defaults("");

  assert_int_equal(weir_opts_incomplete(qt_matrices_options), 0);
  assert_refused(&o, WEIR_ERR_CONFIG, "device.matrices.h is empty");
  o = whole;
  o.left.layer = 2;
  assert_refused(&o, WEIR_ERR_CONFIG,
                 "device.matrices.left.layer: 2: the layer is too thin: it "
                 "couples to orbital 5 from the left end");
  o.left.layer = N;
  assert_refused(&o, WEIR_ERR_CONFIG, "fewer than two such layers");
  o = whole;
  o.right.layer = 11;
  o.left.layer = 11;
  assert_refused(&o, WEIR_ERR_CONFIG, "couple to one another");
  o = whole;
  o.s = put("small.mtx", 0, 3, 0, 3, true);
  assert_refused(&o, WEIR_ERR_SHAPE, "small.mtx: a matrix of 3 x 3, expected 23 x 23");
  o = defaults(put("wide.mtx", 0, 3, 0, 4, false));
  assert_refused(&o, WEIR_ERR_SHAPE, "wide.mtx: a matrix of 3 x 4, expected 3 x 3");
  o = defaults(put("middle.mtx", 3 * L, MIDDLE, 3 * L, MIDDLE, false));
  assert_refused(&o, WEIR_ERR_DATA, "the left end of the device does not repeat a layer");
  o = whole;
  o.left.coupling = o.h;
  assert_refused(&o, WEIR_ERR_CONFIG, "device.matrices.left.coupling needs a file of the lead");
  o.left.h = put("left.mtx", 0, 2 * L, 0, 2 * L, false);
  assert_refused(&o, WEIR_ERR_SHAPE, "h.mtx: a coupling of 23 x 23, expected 3 x 23");
  o.left.h = put("odd.mtx", 0, L, 0, L, false);
  assert_refused(&o, WEIR_ERR_SHAPE, "odd.mtx: 3 orbitals: a lead's matrix has two cells");
  o = whole;
  o.cells = 2;
  o.left.h = o.right.h = put("left.mtx", 0, 2 * L, 0, 2 * L, false);
  assert_refused(&o, WEIR_ERR_CONFIG, "leave left.h and left.coupling out");
  o = defaults(put_tshs("three.TSHS", 3, 3, order));
  o.s = whole.h;
  assert_refused(&o, WEIR_ERR_CONFIG, "has an overlap of its own");
  o.s = "";
  o.spin = 1;
  assert_refused(&o, WEIR_ERR_CONFIG, "spin 1 is requested");
  for (int i = 0; i < 4; i++) {
    static const char *const keys[] = {"spin", "fermi", "sort", "direction"};
    char text[64];

    o = whole;
    o.spin = i == 0;
    o.fermi = i != 1;
    o.sort = i == 2;
    o.direction = i == 3 ? 2 : 1;
    snprintf(text, sizeof text, "device.matrices.%s is for .TSHS alone", keys[i]);
    assert_refused(&o, WEIR_ERR_CONFIG, text);
  }
}

static char said[4096];

static void listen(void *context, weir_log_level level, const char *module, const char *text)
{
  (void)snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", text);
}

/* Builds while messages are collected in `said`. */
static void build_and_listen(const qt_matrices_opts *o, qt_system *s)
{
  said[0] = 0;
  weir_log_set_level(WEIR_LOG_INFO);
  weir_log_set_sink(listen, NULL);
  assert_ok(build(o, s));
  weir_log_set_sink(NULL, NULL);
  weir_log_set_level(WEIR_LOG_ERROR);
}

static void overlaps_of_leads_are_compared(void **state)
{
  qt_matrices_opts o = defaults(put("h.mtx", 0, N, 0, N, false));
  qt_system s;

  o.s = put("s.mtx", 0, N, 0, N, true);
  put_leads(&o);
  build_and_listen(&o, &s);
  assert_null(strstr(said, "differs from a cell of its lead"));
  qt_system_fini(&s);
  o.left.s = o.right.s; /* of another lead */
  build_and_listen(&o, &s);
  assert_non_null(strstr(said,
                         "the left end of the device differs from a cell of its lead by 0 eV, "
                         "its overlap by 0.0"));
  assert_null(strstr(said, "the right end"));
  qt_system_fini(&s);
  o.left.s = "";
  assert_ok(build(&o, &s));
  assert_int_equal(qt_system_check(&s, 1e-14), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "the device has an overlap matrix, the lead none, at "
                                              "the left end"));
  qt_system_fini(&s);
}

static const char *put_text(const char *name, const char *text)
{
  const char *const path = path_of(name);

  weir_check_write(path, text, strlen(text));
  return path;
}

static void what_is_left_out_or_made_up_is_told(void **state)
{
  static const int64_t order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  qt_matrices_opts o = defaults(put_tshs("device.TSHS", 10, 3, order));
  qt_system s;

  o.direction = 2;
  build_and_listen(&o, &s); /* the last atom couples to the first of the next image by 0.2 Ry */
  assert_non_null(strstr(said,
                         "device.TSHS: couplings of the device to its images along the current "
                         "are left out: 3.85 eV of norm; the largest, 2.72 eV, is of orbital "));
  assert_true(strstr(said, "of image (0, 1, 0)") || strstr(said, "of image (0, -1, 0)"));
  assert_false(s.is_schematic);
  qt_system_fini(&s);
  o.tolerance = 3;
  o.left.layer = o.right.layer = 2;
  build_and_listen(&o, &s);
  assert_null(strstr(said, "the largest"));
  assert_non_null(strstr(said, "are left out: 3.85 eV of norm\n"));
  qt_system_fini(&s);
  o = defaults(put("h.mtx", 0, N, 0, N, false));
  build_and_listen(&o, &s);
  assert_true(s.is_schematic && s.atom[N - 1].position[0] == (double)(s.n_blocks - 1));
  assert_non_null(strstr(said, "h.mtx: holds no atoms: orbitals stand 1 Angstrom apart"));
  qt_system_fini(&s);
}

static void unlike_cells_of_a_lead_are_refused(void **state)
{
  qt_matrices_opts o = defaults(put("h.mtx", 0, N, 0, N, false));

  o.left.h = put("unlike.mtx", 2 * L, 2 * L, 2 * L, 2 * L, false); /* a layer, and what follows */
  assert_refused(&o, WEIR_ERR_DATA, "unlike.mtx: the two cells of the lead differ by ");
}

/* Atom 1 lies beyond the next cell, and couples to the one after it. */
static void cells_that_reach_beyond_their_neighbours_are_refused(void **state)
{
  static const int64_t order[] = {0, 3};
  qt_matrices_opts o = defaults(put_tshs("short.TSHS", 2, 5, order));

  o.direction = 2;
  o.cells = 4;
  assert_refused(&o, WEIR_ERR_DATA,
                 "short.TSHS: cells couple beyond their neighbours (3.84827 eV of norm): make the "
                 "cell longer along the current");
}

/* Sizes that a small file claims take no memory; what was read before a refusal is freed. */
static void files_of_wrong_sizes_take_no_memory(void **state)
{
  static const char head[] = "%%MatrixMarket matrix coordinate real general\n";
  char text[128];
  qt_matrices_opts o = defaults("");
  const int64_t before = weir_alloc_bytes();

  snprintf(text, sizeof text, "%s%d %d 1\n1 1 1\n", head, INT32_MAX, INT32_MAX);
  o.h = put_text("empty.mtx", text);
  assert_refused(&o, WEIR_ERR_DATA, "empty.mtx: 2147483647 rows, but elements of no more than 1");
  o.h = put_text("bare_ht.dat", "a cell and its coupling\n2\n0 0 0 0\n2\n0 0 0 0\n");
  o.cells = 3;
  assert_refused(&o, WEIR_ERR_DATA, "bare_ht.dat: 2 rows, but elements of no more than 0");
  o.h = put_text("pair.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n2\n1\n");
  o.s = put_text("two_ht.dat", "a cell and its coupling\n2\n1 0 0 1\n2\n0 0 1 0\n");
  assert_refused(&o, WEIR_ERR_SHAPE, "two_ht.dat holds 2 matrices, ");
  assert_int_equal(weir_alloc_bytes(), before);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_wishes_are_refused),
      cmocka_unit_test(overlaps_of_leads_are_compared),
      cmocka_unit_test(what_is_left_out_or_made_up_is_told),
      cmocka_unit_test(unlike_cells_of_a_lead_are_refused),
      cmocka_unit_test(cells_that_reach_beyond_their_neighbours_are_refused),
      cmocka_unit_test(files_of_wrong_sizes_take_no_memory),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
