/* wannier_test.c - published Hamiltonians with known eigenvalues; files by hand; what is refused.
 */
#include <math.h>
#include "support/io/io_test.h"
#include "io/weir_wannier.h"

enum { MAX = 10 };

static char dir[256];

/* H(k) [n, n]. */
static void bloch(const weir_wannier *w, const double k[3], weir_c128 *out)
{
  memset(out, 0, (size_t)(w->n * w->n) * sizeof *out);
  for (int64_t i = 0; i < w->n_r; i++) {
    double angle = 0;

    for (int d = 0; d < 3; d++) {
      angle += 2 * M_PI * k[d] * (double)w->r[i][d];
    }
    for (int64_t e = 0; e < w->n * w->n; e++) {
      const weir_c128 h = w->h[i * w->n * w->n + e];

      out[e].re += cos(angle) * h.re - sin(angle) * h.im;
      out[e].im += cos(angle) * h.im + sin(angle) * h.re;
    }
  }
}

/* One rotation of Jacobi's method, that zeroes a[p][q]. */
static void rotate(int n, double a[2 * MAX][2 * MAX], int p, int q)
{
  const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
  const double c = 1 / sqrt(t * t + 1), s = t * c;

  for (int i = 0; i < n; i++) {
    const double x = a[i][p], y = a[i][q];

    a[i][p] = c * x - s * y;
    a[i][q] = s * x + c * y;
  }
  for (int i = 0; i < n; i++) {
    const double x = a[p][i], y = a[q][i];

    a[p][i] = c * x - s * y;
    a[q][i] = s * x + c * y;
  }
}

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* Eigenvalues of H(k), ascending: of the real symmetric matrix of twice the size, each twice. */
static void bands(const weir_wannier *w, const double k[3], double *out)
{
  const int n = (int)w->n;
  weir_c128 h[MAX * MAX];
  double a[2 * MAX][2 * MAX], twice[2 * MAX];

  bloch(w, k, h);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      const weir_c128 x = h[i * n + j], y = h[j * n + i];

      assert_true(hypot(x.re - y.re, x.im + y.im) < 1e-4); /* six digits after the point */
      a[i][j] = a[i + n][j + n] = (x.re + y.re) / 2;
      a[i + n][j] = (x.im - y.im) / 2;
      a[i][j + n] = -a[i + n][j];
    }
  }
  for (int sweep = 0; sweep < 30; sweep++) {
    for (int p = 0; p < 2 * n; p++) {
      for (int q = p + 1; q < 2 * n; q++) {
        if (fabs(a[p][q]) > 1e-14) {
          rotate(2 * n, a, p, q);
        }
      }
    }
  }
  for (int i = 0; i < 2 * n; i++) {
    twice[i] = a[i][i];
  }
  qsort(twice, (size_t)(2 * n), sizeof *twice, ascending);
  for (int i = 0; i < n; i++) {
    out[i] = twice[2 * i];
  }
}

static void assert_bands(const weir_wannier *w, double x, double y, double z,
                         const double *expected, int count)
{
  double e[MAX];

  bands(w, (const double[]){x, y, z}, e);
  for (int i = 0; i < count; i++) {
    if (!(fabs(e[i] - expected[i]) < 1.01e-4)) {
      fprintf(stderr, "band %d: %.6f, expected %.4f\n", i, e[i], expected[i]);
      fail();
    }
  }
}

/* Minimum of band 4 minus the maximum of band 3, on 51 points from Gamma to X. */
static double gap(const weir_wannier *w)
{
  double top = -1e9, bottom = 1e9;

  for (int i = 0; i <= 50; i++) {
    const double x = 0.01 * i;
    double e[MAX];

    bands(w, (const double[]){x, 0, x}, e);
    top = fmax(top, e[3]);
    bottom = fmin(bottom, e[4]);
  }
  return bottom - top;
}

static void read_shared(const char *name, bool shifts, weir_wannier *w)
{
  char path[1024];

  weir_check_shared(path, sizeof path, "quantum/%s", name);
  assert_ok(weir_wannier_read(path, shifts, w));
}

static void silicon_has_its_bands(void **state)
{
  static const double gamma[] = {-5.8218, 6.2285, 6.2285, 6.2285, 8.7993, 8.7993, 8.7993, 9.7056};
  static const double x[] = {-1.6100, -1.6100, 3.3255, 3.3255, 6.8600, 6.8600, 16.3833, 16.3833};
  static const double l[] = {-3.4310, -0.8298, 5.0151, 5.0151, 7.7907};
  weir_wannier w;

  read_shared("silicon_w90/silicon", false, &w);
  assert_int_equal(w.n, 8);
  assert_int_equal(w.n_r, 93);
  assert_near(gap(&w), 0.5468, 1e-4);
  weir_wannier_fini(&w);
  read_shared("silicon_w90/silicon", true, &w);
  assert_int_equal(w.n_file, 93);
  assert_int_equal(w.n_r, 123);
  assert_bands(&w, 0, 0, 0, gamma, 8);
  assert_bands(&w, 0.5, 0, 0.5, x, 8);
  assert_bands(&w, 0.5, 0, 0, l, 5);
  assert_near(gap(&w), 0.6314, 1e-4);
  assert_true(w.has_cell && w.cell[2][0] == -2.6988 && w.cell[0][1] == 0);
  assert_true(w.centre[7][2] == 1.81009014);
  assert_int_equal(w.n_atoms, 2);
  assert_string_equal(w.atom[0].symbol, "Si");
  assert_true(w.atom[0].position[1] == 1.3494);
  weir_wannier_fini(&w);
}

static void graphene_has_its_dirac_point(void **state)
{
  static const double k[] = {-13.2011, -13.2011, -10.2966, -1.0367, -1.0367};
  weir_wannier w;

  read_shared("graphene_w90/graphene", true, &w);
  assert_int_equal(w.n, 5);
  assert_int_equal(w.n_file, 9);
  assert_bands(&w, 1.0 / 3, 1.0 / 3, 0, k, 5);
  assert_near(w.cell[0][0], 4.990767 * 0.529177210903, 1e-12);
  weir_wannier_fini(&w);
}

static void bismuth_is_hermitian(void **state)
{
  for (int shifts = 0; shifts < 2; shifts++) {
    weir_wannier w;
    double worst = 0;

    read_shared("bismuth_w90/bi", shifts == 1, &w);
    assert_int_equal(w.n_file, 267);
    for (int64_t i = 0; i < w.n_r; i++) {
      const int64_t minus[3] = {-w.r[i][0], -w.r[i][1], -w.r[i][2]};
      const int64_t other = weir_wannier_find(&w, minus);

      assert_true(other >= 0);
      for (int64_t e = 0; e < 100; e++) {
        const weir_c128 a = w.h[i * 100 + e], b = w.h[other * 100 + e % 10 * 10 + e / 10];

        worst = fmax(worst, hypot(a.re - b.re, a.im + b.im));
      }
    }
    assert_true(worst < 2e-6);
    weir_wannier_fini(&w);
  }
}

/* A chain: one function, energy 0.5 eV, hoppings -1 eV at R = +-1 and, of weight 1/2, 0.3 eV at
 * +-2. */
static const char *const chain[] = {
    "written by hand",
    "1",
    "5",
    "2 1 1 1 2",
    "-2 0 0 1 1 0.3 0.1",
    "-1 0 0 1 1 -1 0",
    "0 0 0 1 1 5D-1 0",
    "1 0 0 1 1 -1 0",
    "2 0 0 1 1 0.3 -0.1",
};
enum { LINES = 9 };

/* The chain with line `at` (from 0) in other words; returns the path. NULL: the line is left out.
 */
static const char *put(const char *end, int at, const char *line)
{
  static char path[512];
  char text[1024] = "";

  for (int i = 0; i < LINES; i++) {
    const char *const now = i == at ? line : chain[i];

    if (now) {
      strcat(strcat(text, now), "\n");
    }
  }
  snprintf(path, sizeof path, "%s/chain%s", dir, end);
  write_text(path, text);
  return path;
}

static void weights_are_applied(void **state)
{
  weir_wannier w;

  assert_ok(weir_wannier_read_hr(put("_hr.dat", -1, NULL), &w));
  assert_int_equal(w.n_r, 5);
  assert_int_equal(w.r[0][0], -2);
  assert_true(w.h[0].re == 0.15 && w.h[0].im == 0.05 && w.h[2].re == 0.5 && w.h[4].im == -0.05);
  assert_null(w.centre);
  assert_false(w.has_cell);
  weir_wannier_fini(&w);
}

static void wrong_hoppings_are_refused_by_line(void **state)
{
  static const struct {
    int at;
    const char *line, *said;
  } cases[] = {
      {1, "0", "hr.dat:2: the number of Wannier functions is '0'"},
      {1, "1 1", "hr.dat:2: unexpected text"},
      {1, "100000", "hr.dat:3: 50000000000 elements are declared"},
      {2, "99999999999", "hr.dat:3: the number of lattice vectors"},
      {2, "6", "hr.dat:5: a degeneracy is '-2'"},
      {2, "4", "hr.dat:4: unexpected text at the end of the line: '2'"},
      {3, "2 1 0 1 2", "hr.dat:4: a degeneracy is '0'"},
      {3, "2 1 x 1 2", "hr.dat:4: a degeneracy is 'x'"},
      {4, "-2 0 0 1 2 0.3 0.1", "hr.dat:5: the number of a function is '2'"},
      {4, "-2 0 0 1 1 NaN 0.1", "hr.dat:5: the real part is 'NaN'"},
      {4, "-2 0 0 1 1 1 ****", "hr.dat:5: the imaginary part is '****'"},
      {4, "-2 0 0 1 1 1", "hr.dat:5: the line ends before the imaginary part"},
      {4, "-2 0 0 1 1 1 2 3", "hr.dat:5: unexpected text"},
      {4, "1e9 0 0 1 1 1 2", "hr.dat:5: a component of the lattice vector is '1e9'"},
      {5, "-2 0 0 1 1 -1 0", "hr.dat:6: the lattice vector (-2, 0, 0) is given twice"},
      {5, "-3 0 0 1 1 -1 0", "not (3, 0, 0)"},
      {5, NULL, "hr.dat:8: the file ends here, before the last element"},
      {8, "2 0 0 1 1 1 0\n3 0 0 1 1 1 0", "hr.dat:10: more lines than"},
      {8, NULL, "hr.dat:8: the file ends here"},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_wannier w;

    assert_int_equal(weir_wannier_read_hr(put("_hr.dat", cases[i].at, cases[i].line), &w),
                     WEIR_ERR_DATA);
    if (!strstr(weir_last_message(), cases[i].said)) {
      fprintf(stderr, "%s\n", weir_last_message());
      fail();
    }
    assert_null(w.h);
  }
}

static void elements_are_there_once(void **state)
{
  char path[512];
  weir_wannier w;

  snprintf(path, sizeof path, "%s/two_hr.dat", dir);
  write_text(path, "c\n2\n1\n1\n0 0 0 1 1 1 0\n0 0 0 2 1 2 0\n0 0 0 2 1 2 0\n0 0 0 2 2 4 0\n");
  assert_int_equal(weir_wannier_read_hr(path, &w), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(),
                         "two_hr.dat:7: element (2, 1) of this lattice vector is given twice"));
  write_text(path, "c\n2\n2\n1 1\n0 0 0 1 1 1 0\n0 0 0 2 1 2 0\n1 0 0 1 1 2 0\n0 0 0 2 2 4 0\n"
                   "0 0 0 1 1 1 0\n0 0 0 2 1 2 0\n1 0 0 1 1 2 0\n0 0 0 2 2 4 0\n");
  assert_int_equal(weir_wannier_read_hr(path, &w), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "two_hr.dat:7: lattice vector (1, 0, 0) begins after "
                                              "2 of the 4 elements of (0, 0, 0)"));
  write_text(path, "c\n2\n1\n1\n0 0 0 1 1 1 0\n0 0 0 2 1 2 5\n0 0 0 1 2 3 0\n0 0 0 2 2 4 0\n");
  assert_ok(weir_wannier_read_hr(path, &w)); /* row 2, column 1 */
  assert_true(w.h[1].re == 3 && w.h[2].re == 2 && w.h[2].im == 5);
  weir_wannier_fini(&w);
}

static const char shifts_text[] = "comment\n-2 0 0 1 1\n2\n0 0 0\n4 0 0\n-1 0 0 1 1\n1\n0 0 0\n"
                                  "0 0 0 1 1\n1\n0 0 0\n1 0 0 1 1\n1\n0 0 0\n2 0 0 1 1\n2\n"
                                  "0 0 0\n-4 0 0\n";

static void shares_of_images_are_added(void **state)
{
  char path[512];
  weir_wannier w;

  (void)put("_hr.dat", -1, NULL);
  snprintf(path, sizeof path, "%s/chain_wsvec.dat", dir);
  write_text(path, shifts_text);
  snprintf(path, sizeof path, "%s/chain", dir);
  assert_ok(weir_wannier_read(path, true, &w));
  assert_int_equal(w.n_r, 5);
  assert_true(w.h[0].re == 0.15 && w.h[0].im == 0 && w.h[4].re == 0.15 && w.h[1].re == -1);
  weir_wannier_fini(&w);
  assert_ok(weir_wannier_read(path, false, &w));
  assert_true(w.h[0].im == 0.05);
  weir_wannier_fini(&w);
}

/* The text with the first `from` replaced. */
static void write_replaced(const char *path, const char *text, const char *from, const char *to)
{
  char out[2048];
  const char *const at = strstr(text, from);

  assert_non_null(at);
  snprintf(out, sizeof out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  write_text(path, out);
}

static void wrong_shifts_are_refused_by_line(void **state)
{
  static const struct {
    const char *from, *to, *said;
  } cases[] = {
      {"-1 0 0 1 1", "-3 0 0 1 1", "wsvec.dat:6: the Hamiltonian has no lattice vector (-3, 0, 0)"},
      {"-1 0 0 1 1", "-2 0 0 1 1", "wsvec.dat:6: the shifts of this element are given twice"},
      {"\n2\n", "\n0\n", "wsvec.dat:3: the number of shifts is '0'"},
      {"\n2\n", "\n3\n", "wsvec.dat:6: unexpected text"},
      {"\n4 0 0\n", "\n4 0 nan\n", "wsvec.dat:5: a component of the lattice vector is 'nan'"},
      {"\n-4 0 0\n", "\n", "wsvec.dat:17: the file ends here, before the last shift"},
      {"\n-4 0 0\n", "\n-4 0 0\n1\n", "wsvec.dat:19: more lines"},
      {"\n4 0 0\n", "\n5 0 0\n", "has lattice vector (3, 0, 0) but not (-3, 0, 0)"},
  };
  char path[512];

  snprintf(path, sizeof path, "%s/bad_wsvec.dat", dir);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_wannier w;

    assert_ok(weir_wannier_read_hr(put("_hr.dat", -1, NULL), &w));
    write_replaced(path, shifts_text, cases[i].from, cases[i].to);
    assert_int_equal(weir_wannier_read_shifts(path, &w), WEIR_ERR_DATA);
    if (!strstr(weir_last_message(), cases[i].said)) {
      fprintf(stderr, "%s\n", weir_last_message());
      fail();
    }
    weir_wannier_fini(&w);
  }
}

static const char tb_text[] =
    "comment\n 2.5 0 0\n 0 10 0\n 0 0 10.0D0\n 1\n 3\n 1 1 1\n\n -1 0 0\n 1 1 -1 0\n\n 0 0 0\n"
    " 1 1 0.5 0\n\n 1 0 0\n 1 1 -1 0\n\n -1 0 0\n 1 1 0 0 0 0 0 0\n\n 0 0 0\n"
    " 1 1 1.25 0 0.5 0 -0.5 0\n\n 1 0 0\n 1 1 0 0 0 0 0 0\n";

static void tb_files_give_cell_and_centres(void **state)
{
  char path[512];
  weir_wannier w;

  snprintf(path, sizeof path, "%s/wire_tb.dat", dir);
  write_text(path, tb_text);
  snprintf(path, sizeof path, "%s/wire", dir);
  assert_ok(weir_wannier_read(path, true, &w));
  assert_int_equal(w.n_r, 3);
  assert_true(w.h[0].re == -1 && w.h[1].re == 0.5 && w.cell[0][0] == 2.5 && w.cell[2][2] == 10);
  assert_true(w.centre[0][0] == 1.25 && w.centre[0][1] == 0.5 && w.centre[0][2] == -0.5);
  weir_wannier_fini(&w);
  snprintf(path, sizeof path, "%s/wire_tb.dat", dir);
  write_replaced(path, tb_text, "1.25 0", "1.25");
  assert_int_equal(weir_wannier_read_tb(path, &w), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "wire_tb.dat:22: the line ends before an element of "
                                              "the position operator"));
  write_replaced(path, tb_text, "\n 1 1 0 0 0 0 0 0\n", "\n");
  assert_int_equal(weir_wannier_read_tb(path, &w), WEIR_ERR_DATA);
}

#define WIN_CELL "begin unit_cell_cart\n2 0 0\n0 1 0\n0 0 1\n"

static void cells_and_centres_are_read_as_people_write_them(void **state)
{
  static const struct {
    const char *text, *said;
    double x;
    bool spinors;
  } cells[] = {
      {"a = 1 ! begin unit_cell_cart\nBegin Unit_Cell_Cart # x\nBohr\n1 0 0\n\n0 1 0 ! y\n0 0 1\n"
       "end unit_cell_cart",
       NULL, 0.529177210903, false},
      {"begin: UNIT_CELL_CART\r\nAng\r\n1.0d0 0 0\r\n0 1 0\r\n0 0 1\r\n", NULL, 1, false},
      {"begin unit_cell_cart\n2 0 0\n0 1 0\n0 0 1\n", NULL, 2, false},
      {" Spinors = .TRUE. ! f\n" WIN_CELL, NULL, 2, true},
      {WIN_CELL "end unit_cell_cart\nspinors:t\n", NULL, 2, true},
      {"spinors\tF\r\n" WIN_CELL, NULL, 2, false},
      {"! spinors = true\nspinors_of = t\n" WIN_CELL, NULL, 2, false},
      {"spinors = 1\n" WIN_CELL, "cell.win:1: spinors is neither true nor false", 0, false},
      {"begin unit_cell_cart\nnm\n2 0 0\n", "cell.win:2: a component of the cell is 'nm'", 0,
       false},
      {"begin unit_cell_cart\n2 0 0\n", "cell.win:2: the file ends here", 0, false},
      {"num_wann = 2\n", "no block 'begin unit_cell_cart'", 0, false},
  };
  static const struct {
    const char *text, *said;
  } centres[] = {
      {"2\nc\nX 1 2 3\nBi 0 0 -1\n", NULL},
      {"0\nc\n", "xyz:1: the number of centres and atoms is '0'"},
      {"2\nc\nX 1 2 3\nX 0 0 -1\n", "xyz:4: more centres than the 1 functions"},
      {"1\nc\nBi 0 0 -1\n", "xyz:3: unknown chemical symbol 'Bi', or an atom too many"},
      {"2\nc\nX 1 2 3\nBismuth 0 0 -1\n", "xyz:4: unknown chemical symbol 'Bismuth'"},
      {"2\nc\nX 1 2 3\n", "xyz:3: the file ends here"},
      {"9999999\nc\nX 1 2 3\n", "xyz:1: 9999999 centres and atoms are declared"},
  };
  char path[512];
  weir_wannier w = {.n = 1};

  snprintf(path, sizeof path, "%s/cell.win", dir);
  for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
    write_text(path, cells[i].text);
    w.spinors = false;
    assert_int_equal(weir_wannier_read_win(path, &w), cells[i].said ? WEIR_ERR_DATA : WEIR_OK);
    assert_true(cells[i].said ? strstr(weir_last_message(), cells[i].said) != NULL
                              : w.cell[0][0] == cells[i].x && w.spinors == cells[i].spinors);
  }
  snprintf(path, sizeof path, "%s/centres.xyz", dir);
  for (size_t i = 0; i < sizeof centres / sizeof centres[0]; i++) {
    write_text(path, centres[i].text);
    assert_int_equal(weir_wannier_read_centres(path, &w),
                     centres[i].said ? WEIR_ERR_DATA : WEIR_OK);
    assert_true(!centres[i].said || strstr(weir_last_message(), centres[i].said));
  }
  weir_wannier_fini(&w);
}

static weir_status make(void *seed)
{
  weir_wannier w;

  WEIR_TRY(weir_wannier_read(seed, true, &w));
  weir_wannier_fini(&w);
  return WEIR_OK;
}

static void missing_memory_is_reported(void **state)
{
  char path[512];

  (void)put("_hr.dat", -1, NULL);
  snprintf(path, sizeof path, "%s/chain_wsvec.dat", dir);
  write_text(path, shifts_text);
  snprintf(path, sizeof path, "%s/chain_centres.xyz", dir);
  write_text(path, "2\nc\nX 1 2 3\nBi 0 0 -1\n");
  snprintf(path, sizeof path, "%s/chain", dir);
  assert_true(weir_check_faults(make, path) > 8);
  snprintf(path, sizeof path, "%s/wire_tb.dat", dir);
  write_text(path, tb_text);
  snprintf(path, sizeof path, "%s/wire", dir);
  assert_true(weir_check_faults(make, path) > 8);
}

static void absent_files_are_named(void **state)
{
  char path[512];
  weir_wannier w;

  snprintf(path, sizeof path, "%s/none", dir);
  assert_int_equal(weir_wannier_read(path, true, &w), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "none_hr.dat: cannot be opened"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(silicon_has_its_bands),
      cmocka_unit_test(graphene_has_its_dirac_point),
      cmocka_unit_test(bismuth_is_hermitian),
      cmocka_unit_test(weights_are_applied),
      cmocka_unit_test(wrong_hoppings_are_refused_by_line),
      cmocka_unit_test(elements_are_there_once),
      cmocka_unit_test(shares_of_images_are_added),
      cmocka_unit_test(wrong_shifts_are_refused_by_line),
      cmocka_unit_test(tb_files_give_cell_and_centres),
      cmocka_unit_test(cells_and_centres_are_read_as_people_write_them),
      cmocka_unit_test(missing_memory_is_reported),
      cmocka_unit_test(absent_files_are_named),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
