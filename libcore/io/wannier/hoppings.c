/* hoppings.c - seed_hr.dat and seed_tb.dat: counts, degeneracies, then a matrix for each lattice
 * vector. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "io/wannier/wannier_priv.h"

void weir_wannier_fini(weir_wannier *w)
{
  weir_free(&w->r);
  weir_free(&w->h);
  weir_free(&w->centre);
  weir_free(&w->atom);
  *w = (weir_wannier){.n = 0};
}

/* Memory of one file while it is read. */
typedef struct reading {
  weir_io_numbers *text;
  weir_wannier *w;
  weir_wannier_vectors vectors;
  double *degeneracy; /* [n_r] */
  weir_c128 *h;       /* [n_r, n, n] in the order of the file */
  bool *seen;         /* [n, n] of the lattice vector that is read */
} reading;

static void finish(reading *f)
{
  weir_io_numbers_close(&f->text);
  weir_wannier_vectors_fini(&f->vectors);
  weir_free(&f->degeneracy);
  weir_free(&f->h);
  weir_free(&f->seen);
}

/* Number of functions, of lattice vectors, and the degeneracies. row_bytes: minimum bytes of an
 * element's line. */
static weir_status read_counts(reading *f, int64_t row_bytes)
{
  weir_wannier *const w = f->w;
  int64_t elements = 0;

  WEIR_TRY(weir_io_numbers_row(f->text, "the number of Wannier functions"));
  WEIR_TRY(weir_io_numbers_int(f->text, "the number of Wannier functions", 1,
                               WEIR_WANNIER_FUNCTIONS, &w->n));
  WEIR_TRY(weir_io_numbers_row_end(f->text));
  WEIR_TRY(weir_io_numbers_row(f->text, "the number of lattice vectors"));
  WEIR_TRY(weir_io_numbers_int(f->text, "the number of lattice vectors", 1, INT32_MAX, &w->n_file));
  WEIR_TRY(weir_io_numbers_row_end(f->text));
  elements = w->n * w->n;
  if (!weir_mul_ok(elements, w->n_file, &elements)) {
    return weir_io_numbers_refuse(f->text, "%lld matrices of %lld x %lld are too many",
                                  (long long)w->n_file, (long long)w->n, (long long)w->n);
  }
  WEIR_TRY(weir_io_numbers_claim(f->text, "elements", elements, row_bytes));
  WEIR_TRY(weir_alloc(w->n_file, sizeof *f->degeneracy, (void **)&f->degeneracy));
  WEIR_TRY(weir_alloc(elements, sizeof *f->h, (void **)&f->h));
  WEIR_TRY(weir_alloc(w->n * w->n, sizeof *f->seen, (void **)&f->seen));
  f->text->flows = true;
  for (int64_t i = 0; i < w->n_file; i++) {
    int64_t degeneracy = 0;

    WEIR_TRY(weir_io_numbers_int(f->text, "a degeneracy", 1, 1000000, &degeneracy));
    f->degeneracy[i] = (double)degeneracy;
  }
  f->text->flows = false;
  return weir_io_numbers_row_end(f->text);
}

static weir_status begin_vector(reading *f, const int64_t r[3])
{
  bool found = false;
  const int64_t at = weir_wannier_vectors_find(&f->vectors, r, &found);

  if (found) {
    return weir_io_numbers_refuse(f->text, "the lattice vector (%lld, %lld, %lld) is given twice",
                                  (long long)r[0], (long long)r[1], (long long)r[2]);
  }
  memset(f->seen, 0, (size_t)(f->w->n * f->w->n) * sizeof *f->seen);
  return weir_wannier_vectors_add(&f->vectors, r, at);
}

/* Functions m and n of an element, as the index m * n_functions + n. */
static weir_status read_element(reading *f, int64_t *element)
{
  int64_t m = 0, n = 0;

  WEIR_TRY(weir_wannier_read_function(f->text, f->w, &m));
  WEIR_TRY(weir_wannier_read_function(f->text, f->w, &n));
  *element = m * f->w->n + n;
  if (f->seen[*element]) {
    return weir_io_numbers_refuse(f->text,
                                  "element (%lld, %lld) of this lattice vector is given twice",
                                  (long long)m + 1, (long long)n + 1);
  }
  f->seen[*element] = true;
  return WEIR_OK;
}

static weir_status read_value(reading *f, int64_t i, int64_t element)
{
  weir_c128 *const h = &f->h[i * f->w->n * f->w->n + element];

  WEIR_TRY(weir_io_numbers_real(f->text, "the real part", &h->re));
  WEIR_TRY(weir_io_numbers_real(f->text, "the imaginary part", &h->im));
  h->re /= f->degeneracy[i];
  h->im /= f->degeneracy[i];
  return weir_io_numbers_row_end(f->text);
}

/* A matrix of hr.dat: the lattice vector stands in each line. */
static weir_status read_hr_matrix(reading *f, int64_t i)
{
  const int64_t square = f->w->n * f->w->n;

  for (int64_t e = 0; e < square; e++) {
    int64_t r[3], element = 0;

    WEIR_TRY(weir_io_numbers_row(f->text, "the last element"));
    WEIR_TRY(weir_wannier_read_vector(f->text, r));
    if (e == 0) {
      WEIR_TRY(begin_vector(f, r));
    } else if (memcmp(r, f->vectors.r[i], sizeof r) != 0) {
      const int64_t *const now = f->vectors.r[i];

      return weir_io_numbers_refuse(
          f->text,
          "lattice vector (%lld, %lld, %lld) begins after %lld of the %lld elements of (%lld, "
          "%lld, %lld)",
          (long long)r[0], (long long)r[1], (long long)r[2], (long long)e, (long long)square,
          (long long)now[0], (long long)now[1], (long long)now[2]);
    }
    WEIR_TRY(read_element(f, &element));
    WEIR_TRY(read_value(f, i, element));
  }
  return WEIR_OK;
}

static weir_status read_hr(reading *f)
{
  WEIR_TRY(weir_io_numbers_line(f->text, "the first line, a comment"));
  WEIR_TRY(read_counts(f, 14));
  for (int64_t i = 0; i < f->w->n_file; i++) {
    WEIR_TRY(read_hr_matrix(f, i));
  }
  return weir_io_numbers_end(f->text);
}

/* Opens the file and reads it by the rules of its format. */
static weir_status read_file(const char *path, weir_status (*read_text)(reading *f),
                             weir_wannier *out)
{
  reading f = {.w = out};
  weir_status status = WEIR_OK;

  *out = (weir_wannier){.n = 0};
  WEIR_TRY_GOTO(weir_io_numbers_open(path, &f.text), done);
  WEIR_TRY_GOTO(read_text(&f), done);
  WEIR_TRY_GOTO(weir_wannier_take(&f.vectors, f.h, path, out), done);
done:
  finish(&f);
  if (status != WEIR_OK) {
    weir_wannier_fini(out);
  }
  return status;
}

weir_status weir_wannier_read_hr(const char *path, weir_wannier *out)
{
  return read_file(path, read_hr, out);
}

/* The header of a block of tb.dat: a lattice vector in a line. */
static weir_status read_tb_vector(reading *f, int64_t r[3])
{
  WEIR_TRY(weir_io_numbers_row(f->text, "the last lattice vector"));
  WEIR_TRY(weir_wannier_read_vector(f->text, r));
  return weir_io_numbers_row_end(f->text);
}

static weir_status read_tb_matrices(reading *f)
{
  const int64_t square = f->w->n * f->w->n;

  for (int64_t i = 0; i < f->w->n_file; i++) {
    int64_t r[3];

    WEIR_TRY(read_tb_vector(f, r));
    WEIR_TRY(begin_vector(f, r));
    for (int64_t e = 0; e < square; e++) {
      int64_t element = 0;

      WEIR_TRY(weir_io_numbers_row(f->text, "the last element"));
      WEIR_TRY(read_element(f, &element));
      WEIR_TRY(read_value(f, i, element));
    }
  }
  return WEIR_OK;
}

/* One element of the position operator: its diagonal at R = 0 is the centres. */
static weir_status read_position(reading *f, bool home)
{
  int64_t element = 0;
  double x[6];

  WEIR_TRY(weir_io_numbers_row(f->text, "the last element of the position operator"));
  WEIR_TRY(read_element(f, &element));
  for (int d = 0; d < 6; d++) {
    WEIR_TRY(weir_io_numbers_real(f->text, "an element of the position operator", &x[d]));
  }
  WEIR_TRY(weir_io_numbers_row_end(f->text));
  if (home && element % (f->w->n + 1) == 0) {
    for (int d = 0; d < 3; d++) {
      f->w->centre[element / (f->w->n + 1)][d] = x[2 * d];
    }
  }
  return WEIR_OK;
}

static weir_status read_positions(reading *f)
{
  const int64_t square = f->w->n * f->w->n;

  WEIR_TRY(weir_alloc(f->w->n, sizeof *f->w->centre, (void **)&f->w->centre));
  for (int64_t i = 0; i < f->w->n_file; i++) {
    int64_t r[3];
    bool found = false;

    WEIR_TRY(read_tb_vector(f, r));
    (void)weir_wannier_vectors_find(&f->vectors, r, &found);
    if (!found) {
      return weir_io_numbers_refuse(f->text, "the position operator has a lattice vector that the "
                                             "Hamiltonian lacks");
    }
    memset(f->seen, 0, (size_t)square * sizeof *f->seen);
    for (int64_t e = 0; e < square; e++) {
      WEIR_TRY(read_position(f, r[0] == 0 && r[1] == 0 && r[2] == 0));
    }
  }
  return weir_io_numbers_end(f->text);
}

static weir_status read_tb(reading *f)
{
  WEIR_TRY(weir_io_numbers_line(f->text, "the first line, a comment"));
  for (int v = 0; v < 3; v++) {
    WEIR_TRY(weir_io_numbers_row(f->text, "the third lattice vector"));
    for (int d = 0; d < 3; d++) {
      WEIR_TRY(weir_io_numbers_real(f->text, "a component of the cell", &f->w->cell[v][d]));
    }
    WEIR_TRY(weir_io_numbers_row_end(f->text));
  }
  f->w->has_cell = true;
  WEIR_TRY(read_counts(f, 8));
  WEIR_TRY(read_tb_matrices(f));
  return read_positions(f);
}

weir_status weir_wannier_read_tb(const char *path, weir_wannier *out)
{
  return read_file(path, read_tb, out);
}
