/* matrices_test.h - matrices of a random device, and .TSHS of a chain, as files. Tests only. */
#ifndef QT_MATRICES_TEST_H
#define QT_MATRICES_TEST_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "data/matrices.h"
#include "model/device.h"

/* Layers of L orbitals: three of the left lead, some in between, three of the right lead. */
enum { L = 3, MIDDLE = 5, N = 6 * L + MIDDLE };

/* Where a test program puts its files, and their paths of late; it defines both. */
typedef struct matrices_paths {
  char text[8][512];
  int next;
} matrices_paths;
extern char dir[256];
extern matrices_paths paths;

static inline double draw(uint32_t which, int64_t i)
{
  return weir_random_uniform(3, which, 0, (uint64_t)i) - 0.5;
}

/* Element of a Hermitian random device (or its overlap): the left lead repeats orbitals of [0, L),
 * the right one those of [N - L, N). Elements couple up to L sites. */
static inline weir_c128 element(int64_t i, int64_t j, bool overlap)
{
  if (i < j) {
    const weir_c128 x = element(j, i, overlap);

    return (weir_c128){x.re, -x.im};
  }
  const bool left = i < 3 * L, right = j >= N - 3 * L;
  const int64_t row = left ? i % L : right ? (i - N + 3 * L) % L : i, apart = i - j;
  const uint32_t which = left ? 1 : right ? 2 : 3;

  if (apart > L) {
    return (weir_c128){0, 0};
  }
  const weir_c128 x = {draw(which, row * 100 + apart),
                       apart > 0 ? draw(which + 4, row * 100 + apart) : 0};

  return overlap ? (weir_c128){apart > 0 ? 0.05 * x.re : 1, apart > 0 ? 0.05 * x.im : 0} : x;
}

static inline const char *path_of(const char *name)
{
  char *const text = paths.text[paths.next];

  paths.next = (paths.next + 1) % 8;
  snprintf(text, sizeof paths.text[0], "%s/%s", dir, name);
  return text;
}

/* Rows [row, row + rows) and columns [column, column + columns) as Matrix Market. */
static inline const char *put(const char *name, int64_t row, int64_t rows, int64_t column,
                              int64_t columns, bool overlap)
{
  const char *const path = path_of(name);
  FILE *const f = fopen(path, "w");

  assert_non_null(f);
  fprintf(f, "%%%%MatrixMarket matrix coordinate complex general\n%lld %lld %lld\n",
          (long long)rows, (long long)columns, (long long)(rows * columns));
  for (int64_t i = 0; i < rows * columns; i++) {
    const weir_c128 x = element(row + i / columns, column + i % columns, overlap);

    fprintf(f, "%lld %lld %.17g %.17g\n", (long long)(i / columns) + 1,
            (long long)(i % columns) + 1, x.re, x.im);
  }
  assert_int_equal(fclose(f), 0);
  return path;
}

static inline qt_matrices_opts defaults(const char *h)
{
  qt_matrices_opts o;

  weir_opts_default(qt_matrices_options, sizeof o, &o);
  o.h = h;
  return o;
}

static inline weir_status build(const qt_matrices_opts *o, qt_system *out)
{
  *out = (qt_system){.n = 0};
  return qt_device_find("matrices")->build(o, 1, out);
}

/* The lead's matrix of two cells. */
static inline void put_leads(qt_matrices_opts *o)
{
  o->left.h = put("left.mtx", 0, 2 * L, 0, 2 * L, false);
  o->left.s = put("left_s.mtx", 0, 2 * L, 0, 2 * L, true);
  o->right.h = put("right.mtx", N - 2 * L, 2 * L, N - 2 * L, 2 * L, false);
  o->right.s = put("right_s.mtx", N - 2 * L, 2 * L, N - 2 * L, 2 * L, true);
}

/* Bytes of a .TSHS. */
typedef struct tshs {
  uint8_t data[1 << 17];
  size_t size;
} tshs;

static inline void put_int(tshs *t, int64_t x)
{
  const int32_t word = (int32_t)x;

  memcpy(t->data + t->size, &word, sizeof word);
  t->size += sizeof word;
}

static inline void put_reals(tshs *t, int64_t n, const double *x)
{
  put_int(t, 8 * n);
  for (int64_t i = 0; i < n; i++) {
    memcpy(t->data + t->size, &x[i], sizeof *x);
    t->size += sizeof *x;
  }
  put_int(t, 8 * n);
}

static inline void put_ints(tshs *t, int64_t n, const int64_t *x)
{
  put_int(t, 4 * n);
  for (int64_t i = 0; i < n; i++) {
    put_int(t, x[i]);
  }
  put_int(t, 4 * n);
}

/* Hopping of atoms whose positions along the current differ by `along`, and by one cell across it
 * where `across`, in Ry. Both stand in a chain of two kinds of atoms. */
static inline double hopping(int64_t kind, int64_t along, int64_t across)
{
  if (across != 0) {
    return along == 0 ? -0.05 - 0.01 * (double)kind : 0;
  }
  return along == 0 ? 0.1 * (double)kind : along == 1 ? -0.2 : 0;
}

/* Columns (what 0), overlap (1) or Hamiltonian (2; 3: nothing) of each atom. */
static inline void put_rows(tshs *t, int what, int64_t n, int64_t images, const int64_t *isc,
                            const int64_t *order)
{
  for (int64_t a = 0; a < n; a++) {
    int64_t column[16 * 15];
    double value[16 * 15];

    for (int64_t j = 0; j < n * images; j++) {
      const int64_t b = j % n, *const r = isc + 3 * (j / n);
      const int64_t apart = llabs(order[b] + r[1] * n - order[a]);

      column[j] = j + 1;
      value[j] = what == 3   ? 0
                 : what == 2 ? hopping((order[a] + order[b] - (apart == 1)) / 2 % 2, apart, r[0])
                             : apart == 0 && r[0] == 0;
    }
    if (what == 0) {
      put_ints(t, n * images, column);
    } else {
      put_reals(t, n * images, value);
    }
  }
}

/* Atoms [0, n) of a chain along vector 2, a Bohr apart, with three images along x (vector 1,
 * across) and `along` (1, 3 or 5) of y; order: the position of each. The Fermi energy is 0.5 Ry.
 * Both spins, where there are two, have the same matrices. */
static inline const char *put_spins(const char *name, int64_t n, int64_t along,
                                    const int64_t *order, int64_t spins)
{
  const char *const path = path_of(name);
  const int64_t images = 3 * along, all = n * images;
  const double cell[9] = {3, 0, 0, 0, (double)n, 0, 0, 0, 9};
  double xa[9 + 3 * 16];
  int64_t isc[45], list[16 + 1];
  tshs bytes = {.size = 0}, *const t = &bytes;

  assert_true(n <= 16);
  memcpy(xa, cell, sizeof cell);
  for (int64_t a = 0; a < n; a++) {
    xa[9 + 3 * a] = xa[9 + 3 * a + 2] = 0;
    xa[9 + 3 * a + 1] = (double)order[a];
  }
  for (int64_t i = 0; i < images; i++) {
    isc[3 * i] = i % 3 == 2 ? -1 : i % 3;
    isc[3 * i + 1] = i / 3 > along / 2 ? i / 3 - along : i / 3;
    isc[3 * i + 2] = 0;
  }
  put_ints(t, 1, (const int64_t[]){1});
  put_ints(t, 5, (const int64_t[]){n, n, all, spins, n * all});
  put_ints(t, 3, (const int64_t[]){3, along, 1});
  put_reals(t, 9 + 3 * n, xa);
  put_ints(t, 3, (const int64_t[]){0, 0, 0});
  put_int(t, 60);
  t->size += 60;
  put_int(t, 60);
  put_reals(t, 3, (const double[]){0.5, 0, 0});
  put_ints(t, 2, (const int64_t[]){0, 0});
  for (int64_t a = 0; a <= n; a++) {
    list[a] = a;
  }
  put_ints(t, n + 1, list);
  for (int64_t a = 0; a < n; a++) {
    list[a] = all;
  }
  put_ints(t, n, list);
  for (int what = 0; what < 2 + spins;
       what++) { /* of more than 2 components those of up and down */
    put_rows(t, what < 2 ? what : what < 4 ? 2 : 3, n, images, isc, order);
  }
  put_ints(t, 3 * images, isc);
  weir_check_write(path, t->data, t->size);
  return path;
}

static inline const char *put_tshs(const char *name, int64_t n, int64_t along, const int64_t *order)
{
  return put_spins(name, n, along, order, 1);
}

static inline void assert_refused(const qt_matrices_opts *o, weir_status status, const char *said)
{
  qt_system s;

  assert_int_equal(build(o, &s), status);
  if (!strstr(weir_last_message(), said)) {
    fprintf(stderr, "%s\n", weir_last_message());
    fail();
  }
  qt_system_fini(&s);
}

#endif
