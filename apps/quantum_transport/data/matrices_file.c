/* matrices_file.c - files of matrices as images along x and across it. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "data/bloch.h"
#include "data/matrices.h"

void qt_matrices_file_fini(qt_matrices_file *f)
{
  weir_tshs_fini(&f->t);
  weir_free(&f->position);
  *f = (qt_matrices_file){.has_s = false};
}

/* A .TSHS: energies from its Fermi energy. */
static weir_status read_tshs(const qt_matrices_opts *opts, const char *h, const char *s,
                             qt_matrices_file *f)
{
  weir_tshs *const t = &f->t;

  if (s[0] != 0) {
    return weir_fail(WEIR_ERR_CONFIG, "%s has an overlap of its own: leave %s out", h, s);
  }
  WEIR_TRY(weir_tshs_read(h, opts->spin, t));
  f->has_s = true;
  for (int64_t i = 0; i < t->n_images && opts->fermi; i++) {
    for (int64_t e = 0; e < t->h[i].count; e++) { /* of one sparse pattern */
      t->h[i].item[e].value.re -= t->fermi * t->s[i].item[e].value.re;
    }
  }
  return WEIR_OK;
}

static weir_status check_square(const char *path, const weir_triplets *m, int64_t n)
{
  if (m->rows != m->columns || (n > 0 && m->rows != n)) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: a matrix of %lld x %lld, expected %lld x %lld", path,
                     (long long)m->rows, (long long)m->columns, (long long)(n > 0 ? n : m->rows),
                     (long long)(n > 0 ? n : m->rows));
  }
  return WEIR_OK;
}

/* Refuses more orbitals than the elements of a cell and its coupling (or 0 of it) can touch, before
 * memory is taken for them. */
static weir_status check_count(const char *path, const weir_triplets *m, int count)
{
  const int64_t max_rows = m[0].count + (count == 2 ? 2 * m[1].count : 0);

  return m[0].rows <= max_rows
             ? WEIR_OK
             : weir_fail(
                   WEIR_ERR_DATA,
                   "%s: %lld rows, but elements of no more than %lld: an orbital has none, so "
                   "that it is not part of the device",
                   path, (long long)m[0].rows, (long long)max_rows);
}

/* One matrix, or a cell and its coupling along the direction. */
static weir_status read_matrices(const qt_matrices_opts *opts, const char *h, const char *s,
                                 qt_matrices_file *f)
{
  weir_tshs *const t = &f->t;
  int count = 0;

  WEIR_TRY(weir_alloc(2, sizeof *t->h, (void **)&t->h));
  WEIR_TRY(weir_alloc(2, sizeof *t->s, (void **)&t->s));
  WEIR_TRY(weir_alloc(2, sizeof *t->image, (void **)&t->image));
  t->n_images = 2;
  WEIR_TRY(weir_triplets_read_cells(h, t->h, &count));
  t->n_images = count;
  t->image[1][opts->direction - 1] = 1;
  WEIR_TRY(check_square(h, &t->h[0], 0));
  WEIR_TRY(check_count(h, t->h, count));
  t->n_orbitals = t->h[0].rows;
  if (s[0] != 0) {
    int of_overlap = 0;

    t->n_images = 2; /* on failure both overlaps are freed */
    WEIR_TRY(weir_triplets_read_cells(s, t->s, &of_overlap));
    if (of_overlap != count) {
      return weir_fail(WEIR_ERR_SHAPE, "%s holds %d matrices, %s %d", s, of_overlap, h, count);
    }
    WEIR_TRY(check_square(s, &t->s[0], t->n_orbitals));
    t->n_images = count;
    f->has_s = true;
  }
  return WEIR_OK;
}

/* Orders atoms by x; their orbitals stay together. */
static weir_status sort_atoms(qt_matrices_file *f)
{
  weir_tshs *const t = &f->t;
  double *x = NULL;
  int64_t *position = NULL, *count = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(t->n_orbitals, sizeof *f->position, (void **)&f->position), done);
  WEIR_TRY_GOTO(weir_alloc(t->n_atoms, sizeof *x, (void **)&x), done);
  WEIR_TRY_GOTO(weir_alloc(t->n_atoms, sizeof *position, (void **)&position), done);
  WEIR_TRY_GOTO(weir_alloc(t->n_atoms + 1, sizeof *count, (void **)&count), done);
  for (int64_t a = 0; a < t->n_atoms; a++) {
    double at[3];

    qt_axes_position(&f->axes, t->position[a], at);
    x[a] = floor(at[0] * 100 + 0.5); /* those of a plane keep their order */
  }
  WEIR_TRY_GOTO(qt_axes_sort(x, t->n_atoms, position), done);
  for (int64_t a = 0; a < t->n_atoms; a++) {
    count[position[a] + 1] = t->first[a + 1] - t->first[a];
  }
  for (int64_t a = 0; a < t->n_atoms; a++) {
    count[a + 1] += count[a];
  }
  for (int64_t a = 0; a < t->n_atoms; a++) {
    for (int64_t i = t->first[a]; i < t->first[a + 1]; i++) {
      f->position[i] = count[position[a]] + i - t->first[a];
    }
  }
done:
  weir_free(&x);
  weir_free(&position);
  weir_free(&count);
  return status;
}

weir_status qt_matrices_file_read(const qt_matrices_opts *opts, const char *h, const char *s,
                                  qt_matrices_file *out)
{
  const bool tshs = weir_tshs_is(h);
  weir_status status = WEIR_OK;

  *out = (qt_matrices_file){.has_s = false};
  WEIR_TRY_GOTO(tshs ? read_tshs(opts, h, s, out) : read_matrices(opts, h, s, out), failed);
  WEIR_TRY_GOTO(qt_axes_set(tshs ? out->t.cell : NULL, opts->direction, h, &out->axes), failed);
  if (tshs && opts->sort) {
    WEIR_TRY_GOTO(sort_atoms(out), failed);
  }
  return WEIR_OK;
failed:
  qt_matrices_file_fini(out);
  return status;
}

qt_matrices_rest qt_matrices_file_beyond(const qt_matrices_file *f, int64_t n_cells)
{
  qt_matrices_rest out = {.norm = 0};
  double sum = 0;

  for (int64_t i = 0; i < f->t.n_images; i++) {
    const int64_t step = f->t.image[i][f->axes.vector[0]];

    for (int64_t e = 0; e < f->t.h[i].count && (step > n_cells || step < -n_cells); e++) {
      const weir_triplet *const x = &f->t.h[i].item[e];
      const double size = hypot(x->value.re, x->value.im);

      sum += size * size;
      if (size > out.largest) {
        out = (qt_matrices_rest){.largest = size, .image = i, .row = x->row, .column = x->column};
      }
    }
  }
  out.norm = sqrt(sum);
  return out;
}

weir_status qt_matrices_file_bloch(const qt_matrices_file *f, bool overlap, int64_t step,
                                   qt_bloch *out)
{
  const qt_images in = {.n = f->t.n_orbitals,
                        .count = f->t.n_images,
                        .image = f->t.image,
                        .vector = f->axes.vector,
                        .matrix = overlap ? f->t.s : f->t.h,
                        .position = f->position};

  return overlap && !f->has_s ? WEIR_OK : qt_bloch_of_images(&in, step, out);
}
