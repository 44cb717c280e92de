/* records.c - .TSHS of SIESTA: records of Fortran, each between two markers of 4 bytes with its
 * length, little-endian (sisl, tshs_read.f90). Ry and Bohr. Each row of the file is a column here:
 * SIESTA's H(k) is the transposed one; the 2 x 2 matrix of the spins of two orbitals is not
 * transposed (sisl, io/siesta/_help.py). */
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_units.h"
#include "io/io_priv.h"
#include "io/weir_tshs.h"

enum { MARKER = 4, INT = 4, REAL = 8, MAX_IMAGES = 1000000 };
enum { NON_COLLINEAR = 4, SPIN_ORBIT = 8, BOX = 4 /* elements of the matrix of two spins */ };

typedef struct reading {
  const char *path;
  int64_t size, at;             /* bytes of the file; of the next record  */
  unsigned char *bytes;         /* of the file                            */
  unsigned char *record;        /* that was read last                    */
  int64_t n_elements;           /* of the sparse pattern                    */
  int64_t *row_length, *column; /* [n_orbitals], [n_elements] index in the supercell */
  int64_t *met;                 /* [n_images] elements that were met, of spinors     */
  bool gamma, overlap_only;
} reading;

void weir_tshs_fini(weir_tshs *t)
{
  for (int64_t i = 0; i < t->n_images; i++) {
    if (t->h) {
      weir_triplets_fini(&t->h[i]);
    }
    if (t->s) {
      weir_triplets_fini(&t->s[i]);
    }
  }
  weir_free(&t->position);
  weir_free(&t->first);
  weir_free(&t->image);
  weir_free(&t->h);
  weir_free(&t->s);
  *t = (weir_tshs){.n_atoms = 0};
}

static int64_t integer(const unsigned char *b)
{
  return (int32_t)((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
                   (uint32_t)b[3] << 24);
}

static double real(const unsigned char *b)
{
  uint64_t x = 0;
  double out;

  for (int i = REAL - 1; i >= 0; i--) {
    x = x << 8 | b[i];
  }
  memcpy(&out, &x, sizeof out);
  return out;
}

/* Goes to the next record, of `length` bytes. */
static weir_status next(reading *r, const char *what, int64_t length)
{
  const int64_t left = r->size - r->at;
  const int64_t head = left >= MARKER ? integer(r->bytes + r->at) : -1;

  if (head != length) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: byte %lld: the record of %s should have %lld bytes, but its marker says "
                     "%lld: it is not a .TSHS of version 1 in little-endian order, or is damaged",
                     r->path, (long long)r->at, what, (long long)length, (long long)head);
  }
  if (length > left - 2 * MARKER || integer(r->bytes + r->at + MARKER + length) != length) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: byte %lld: the record of %s does not end after its %lld bytes: the file "
                     "is truncated or damaged",
                     r->path, (long long)r->at, what, (long long)length);
  }
  r->record = r->bytes + r->at + MARKER;
  r->at += length + 2 * MARKER;
  return WEIR_OK;
}

static weir_status refuse(const reading *r, const char *why, int64_t value)
{
  return weir_fail(WEIR_ERR_DATA, "%s: byte %lld: %s: %lld", r->path,
                   (long long)(r->record - r->bytes), why, (long long)value);
}

/* Integer i of the record, in [lo, hi]. */
static weir_status take(const reading *r, int64_t i, const char *what, int64_t lo, int64_t hi,
                        int64_t *out)
{
  *out = integer(r->record + i * INT);
  return *out >= lo && *out <= hi ? WEIR_OK : refuse(r, what, *out);
}

static weir_status take_real(const reading *r, int64_t i, const char *what, double unit,
                             double *out)
{
  *out = real(r->record + i * REAL) * unit;
  return isfinite(*out) ? WEIR_OK : refuse(r, what, i);
}

static weir_status read_sizes(reading *r, int64_t spin, weir_tshs *t)
{
  int64_t all = 0, product = 1, version = 0;

  WEIR_TRY(next(r, "the version", INT));
  WEIR_TRY(take(r, 0, "an unsupported version", 1, 1, &version));
  WEIR_TRY(next(r, "the sizes", 5 * INT));
  WEIR_TRY(take(r, 0, "number of atoms", 1, r->size, &t->n_atoms));
  WEIR_TRY(take(r, 1, "number of orbitals", 1, r->size, &t->n_orbitals));
  WEIR_TRY(take(r, 2, "number of orbitals of the supercell", 1, INT32_MAX, &all));
  WEIR_TRY(take(r, 3, "number of spins", 1, 8, &t->n_spins));
  WEIR_TRY(take(r, 4, "number of elements", 0, r->size, &r->n_elements));
  if (t->n_spins > 2 && t->n_spins != NON_COLLINEAR && t->n_spins != SPIN_ORBIT) {
    return refuse(r, "number of spin components, of 1, 2, 4 and 8", t->n_spins);
  }
  if (spin > 0 && t->n_spins > 2) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "%s: spin %lld is requested, but the %lld components include both spins: omit the spin",
        r->path, (long long)spin, (long long)t->n_spins);
  }
  if (spin >= t->n_spins) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: spin %lld is requested (counted from 0), but there are %lld", r->path,
                     (long long)spin, (long long)t->n_spins);
  }
  WEIR_TRY(next(r, "the supercell", 3 * INT));
  for (int d = 0; d < 3; d++) {
    int64_t n = 0;

    WEIR_TRY(take(r, d, "cells of the supercell", 1, MAX_IMAGES, &n));
    product *= n;
    if (product > MAX_IMAGES || product > r->size / INT) {
      return refuse(r, "too many cells in the supercell", product);
    }
  }
  t->n_images = product;
  return all == product * t->n_orbitals
             ? WEIR_OK
             : refuse(r, "orbitals of the supercell are not those of its cells", all);
}

static weir_status read_geometry(reading *r, weir_tshs *t)
{
  WEIR_TRY(next(r, "cell and atoms", (9 + 3 * t->n_atoms) * REAL));
  WEIR_TRY(weir_alloc(t->n_atoms, sizeof *t->position, (void **)&t->position));
  for (int64_t i = 0; i < 9; i++) {
    WEIR_TRY(
        take_real(r, i, "a non-finite component of the cell", WEIR_BOHR, &t->cell[i / 3][i % 3]));
  }
  for (int64_t i = 0; i < 3 * t->n_atoms; i++) {
    WEIR_TRY(take_real(r, 9 + i, "a non-finite coordinate", WEIR_BOHR, &t->position[i / 3][i % 3]));
  }
  WEIR_TRY(next(r, "the flags", 3 * INT));
  r->gamma = integer(r->record) != 0;
  r->overlap_only = integer(r->record + 2 * INT) != 0;
  if (r->overlap_only) {
    return weir_fail(WEIR_ERR_DATA, "%s: contains only the overlap: write it with the Hamiltonian",
                     r->path);
  }
  if (r->gamma && t->n_images != 1) {
    return refuse(r, "more than one cell in a calculation of the Gamma point", t->n_images);
  }
  WEIR_TRY(next(r, "the k points", 9 * INT + 3 * REAL));
  WEIR_TRY(next(r, "the Fermi energy", 3 * REAL));
  WEIR_TRY(take_real(r, 0, "a non-finite Fermi energy", WEIR_RYDBERG, &t->fermi));
  WEIR_TRY(next(r, "the step", 2 * INT));
  WEIR_TRY(next(r, "the last orbitals of atoms", (t->n_atoms + 1) * INT));
  WEIR_TRY(weir_alloc(t->n_atoms + 1, sizeof *t->first, (void **)&t->first));
  for (int64_t i = 0; i <= t->n_atoms; i++) {
    WEIR_TRY(take(r, i, "last orbital of an atom", i > 0 ? t->first[i - 1] : 0,
                  i > 0 ? t->n_orbitals : 0, &t->first[i]));
  }
  return t->first[t->n_atoms] == t->n_orbitals
             ? WEIR_OK
             : refuse(r, "the last orbital of the last atom is not the number of orbitals",
                      t->first[t->n_atoms]);
}

/* Elements of each row, and their indices in the supercell. */
static weir_status read_pattern(reading *r, const weir_tshs *t)
{
  int64_t count = 0;

  WEIR_TRY(next(r, "the lengths of rows", t->n_orbitals * INT));
  WEIR_TRY(weir_alloc(t->n_orbitals, sizeof *r->row_length, (void **)&r->row_length));
  WEIR_TRY(weir_alloc(r->n_elements, sizeof *r->column, (void **)&r->column));
  for (int64_t i = 0; i < t->n_orbitals; i++) {
    WEIR_TRY(take(r, i, "elements of a row", 0, r->n_elements - count, &r->row_length[i]));
    count += r->row_length[i];
  }
  if (count != r->n_elements) {
    return refuse(r, "rows do not have as many elements as are declared", count);
  }
  count = 0;
  for (int64_t i = 0; i < t->n_orbitals; i++) {
    WEIR_TRY(next(r, "the columns of a row", r->row_length[i] * INT));
    for (int64_t k = 0; k < r->row_length[i]; k++, count++) {
      WEIR_TRY(take(r, k, "column outside the supercell", 1, t->n_orbitals * t->n_images,
                    &r->column[count]));
      r->column[count]--;
    }
  }
  return WEIR_OK;
}

/* One matrix, row by row; out NULL: it is skipped. */
static weir_status read_matrix(reading *r, const weir_tshs *t, const char *what, double unit,
                               weir_triplets *out)
{
  int64_t e = 0;

  for (int64_t row = 0; row < t->n_orbitals; row++) {
    WEIR_TRY(next(r, what, r->row_length[row] * REAL));
    for (int64_t k = 0; k < r->row_length[row]; k++, e++) {
      double x = 0;

      WEIR_TRY(take_real(r, k, "a non-finite element", unit, &x));
      if (out) {
        WEIR_TRY(weir_triplets_add(&out[r->column[e] / t->n_orbitals], r->column[e] % t->n_orbitals,
                                   row, (weir_c128){x, 0}));
      }
    }
  }
  return WEIR_OK;
}

/* What one component of a row's element adds to the matrix of the spins up and down. */
typedef struct spin_term {
  int component, element; /* up-up, up-down, down-up, down-down */
  double re, im;          /* factor                             */
} spin_term;
static const spin_term non_collinear[] = {{0, 0, 1, 0}, {1, 3, 1, 0},  {2, 1, 1, 0},
                                          {2, 2, 1, 0}, {3, 1, 0, -1}, {3, 2, 0, 1}};
static const spin_term spin_orbit[] = {{0, 0, 1, 0}, {1, 3, 1, 0}, {2, 1, 1, 0}, {3, 1, 0, -1},
                                       {4, 0, 0, 1}, {5, 3, 0, 1}, {6, 2, 1, 0}, {7, 2, 0, 1}};

/* Adds a component to all elements of spinors; the first one of a matrix makes them. diagonal: the
 * same for both spins, 0 between them. */
static weir_status read_spinors(reading *r, const weir_tshs *t, const char *what, double unit,
                                int component, bool diagonal, weir_triplets *out)
{
  const bool all = t->n_spins == SPIN_ORBIT;
  const spin_term *const terms = all ? spin_orbit : non_collinear;
  const size_t n_terms =
      all ? sizeof spin_orbit / sizeof *spin_orbit : sizeof non_collinear / sizeof *non_collinear;
  int64_t e = 0;

  memset(r->met, 0, (size_t)t->n_images * sizeof *r->met);
  for (int64_t row = 0; row < t->n_orbitals; row++) {
    WEIR_TRY(next(r, what, r->row_length[row] * REAL));
    for (int64_t k = 0; k < r->row_length[row]; k++, e++) {
      const int64_t image = r->column[e] / t->n_orbitals, to = r->column[e] % t->n_orbitals;
      double x = 0;

      WEIR_TRY(take_real(r, k, "a non-finite element", unit, &x));
      for (int b = 0; b < BOX && component == 0; b++) {
        const double same = diagonal && b % 3 == 0 ? x : 0;

        WEIR_TRY(
            weir_triplets_add(&out[image], 2 * to + b / 2, 2 * row + b % 2, (weir_c128){same, 0}));
      }
      weir_triplet *const box = out[image].item + BOX * r->met[image]++;

      for (size_t i = 0; i < n_terms && !diagonal; i++) {
        if (terms[i].component == component) {
          box[terms[i].element].value.re += terms[i].re * x;
          box[terms[i].element].value.im += terms[i].im * x;
        }
      }
    }
  }
  return WEIR_OK;
}

/* Overlap and all components of spinors: of orbital o up 2 o and down 2 o + 1. */
static weir_status read_all_spinors(reading *r, weir_tshs *t)
{
  WEIR_TRY(weir_alloc(t->n_images, sizeof *r->met, (void **)&r->met));
  WEIR_TRY(read_spinors(r, t, "a row of the overlap", 1, 0, true, t->s));
  for (int c = 0; c < (int)t->n_spins; c++) {
    WEIR_TRY(read_spinors(r, t, "a row of the Hamiltonian", WEIR_RYDBERG, c, false, t->h));
  }
  for (int64_t i = 0; i < t->n_images; i++) {
    t->h[i].rows = t->h[i].columns = t->s[i].rows = t->s[i].columns = 2 * t->n_orbitals;
  }
  for (int64_t a = 0; a <= t->n_atoms; a++) {
    t->first[a] *= 2;
  }
  t->n_orbitals *= 2;
  return WEIR_OK;
}

static weir_status read_spins(reading *r, int64_t spin, weir_tshs *t)
{
  if (t->n_spins > 2) {
    return read_all_spinors(r, t);
  }
  WEIR_TRY(read_matrix(r, t, "a row of the overlap", 1, t->s));
  for (int64_t i = 0; i < t->n_spins; i++) {
    WEIR_TRY(read_matrix(r, t, "a row of the Hamiltonian", WEIR_RYDBERG, i == spin ? t->h : NULL));
  }
  return WEIR_OK;
}

/* The images, with the sign that belongs to the transposed matrices. */
static weir_status read_images(reading *r, weir_tshs *t)
{
  if (r->gamma) {
    return WEIR_OK;
  }
  WEIR_TRY(next(r, "the cells of the supercell", 3 * INT * t->n_images));
  for (int64_t i = 0; i < 3 * t->n_images; i++) {
    int64_t x = 0;

    WEIR_TRY(take(r, i, "position of a cell in the supercell", -MAX_IMAGES, MAX_IMAGES, &x));
    t->image[i / 3][i % 3] = -x;
  }
  return WEIR_OK;
}

static weir_status read_all(reading *r, int64_t spin, weir_tshs *t)
{
  WEIR_TRY(read_sizes(r, spin, t));
  WEIR_TRY(weir_alloc(t->n_images, sizeof *t->image, (void **)&t->image));
  WEIR_TRY(weir_alloc(t->n_images, sizeof *t->h, (void **)&t->h));
  WEIR_TRY(weir_alloc(t->n_images, sizeof *t->s, (void **)&t->s));
  for (int64_t i = 0; i < t->n_images; i++) {
    t->h[i].rows = t->h[i].columns = t->s[i].rows = t->s[i].columns = t->n_orbitals;
  }
  WEIR_TRY(read_geometry(r, t));
  WEIR_TRY(read_pattern(r, t));
  WEIR_TRY(read_spins(r, spin, t));
  WEIR_TRY(read_images(r, t));
  return r->at == r->size
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s: byte %lld: %lld bytes after the last record", r->path,
                         (long long)r->at, (long long)(r->size - r->at));
}

weir_status weir_tshs_read(const char *path, int64_t spin, weir_tshs *out)
{
  reading r = {.path = path};
  weir_status status = WEIR_OK;

  *out = (weir_tshs){.n_atoms = 0};
  WEIR_TRY(weir_io_read(path, INT64_MAX / 64, (char **)&r.bytes, &r.size));
  WEIR_TRY_GOTO(read_all(&r, spin, out), done);
done:
  weir_free(&r.bytes);
  weir_free(&r.row_length);
  weir_free(&r.column);
  weir_free(&r.met);
  if (status != WEIR_OK) {
    weir_tshs_fini(out);
  }
  return status;
}

bool weir_tshs_is(const char *path)
{
  static const unsigned char begin[] = {4, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 20, 0, 0, 0};
  unsigned char head[sizeof begin];
  int64_t size = 0;
  int fd = -1;

  if (weir_io_open(path, &fd, &size) != WEIR_OK) {
    return false;
  }
  const bool is = size >= (int64_t)sizeof head &&
                  weir_io_pread(fd, path, head, sizeof head, 0) == WEIR_OK &&
                  memcmp(head, begin, sizeof begin) == 0;

  close(fd);
  return is;
}
