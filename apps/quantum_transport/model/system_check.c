/* system_check.c - see system_check.h. */
#include "model/system_check.h"

#include <math.h>
#include <stdio.h>

#include "base/weir_alloc.h"
#include "model/overlap.h"

static int64_t block_of(const qt_system *s, int64_t orbital)
{
  int64_t lo = 0, hi = s->n_blocks;

  while (hi - lo > 1) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (s->block[middle] <= orbital) {
      lo = middle;
    } else {
      hi = middle;
    }
  }
  return lo;
}

static weir_status check_size(const char *name, const qt_bloch *m, int64_t n)
{
  for (int64_t i = 0; i < m->count; i++) {
    if (m->matrix[i].rows != n || m->matrix[i].columns != n) {
      return weir_fail(
          WEIR_ERR_SHAPE, "%s of image (%lld, %lld) is %lld x %lld, expected %lld x %lld", name,
          (long long)m->image[i][0], (long long)m->image[i][1], (long long)m->matrix[i].rows,
          (long long)m->matrix[i].columns, (long long)n, (long long)n);
    }
  }
  return WEIR_OK;
}

/* " of block (b, c)" of an element of the device; nothing of one of a lead (s NULL). */
static const char *block_text(const qt_system *s, int64_t row, int64_t column, char text[64])
{
  text[0] = 0;
  if (s != NULL) {
    (void)snprintf(text, 64, " of block (%lld, %lld)", (long long)block_of(s, row),
                   (long long)block_of(s, column));
  }
  return text;
}

static weir_status check_finite(const qt_system *s, const char *name, const qt_bloch *m)
{
  char text[64];

  for (int64_t i = 0; i < m->count; i++) {
    const qt_sparse *a = &m->matrix[i];

    for (int64_t row = 0; row < a->rows; row++) {
      for (int64_t e = a->start[row]; e < a->start[row + 1]; e++) {
        if (!isfinite(a->value[e].re) || !isfinite(a->value[e].im)) {
          return weir_fail(WEIR_ERR_DATA,
                           "%s: element (%lld, %lld)%s of image (%lld, %lld) is no finite number "
                           "(%g, %g)",
                           name, (long long)row, (long long)a->column[e],
                           block_text(s, row, a->column[e], text), (long long)m->image[i][0],
                           (long long)m->image[i][1], a->value[e].re, a->value[e].im);
        }
      }
    }
  }
  return WEIR_OK;
}

/* M_-m must be the conjugate transpose of M_m. */
static weir_status check_hermitian(const qt_system *s, const char *name, const qt_bloch *m,
                                   double tolerance)
{
  char text[64];

  for (int64_t i = 0; i < m->count; i++) {
    const int64_t *image = m->image[i];
    const int64_t other = qt_bloch_find(m, -image[0], -image[1]);
    int64_t row, column;

    if (other < 0) {
      return weir_fail(WEIR_ERR_DATA, "%s has image (%lld, %lld) but not (%lld, %lld)", name,
                       (long long)image[0], (long long)image[1], (long long)-image[0],
                       (long long)-image[1]);
    }
    const double error = qt_sparse_adjoint_error(&m->matrix[i], &m->matrix[other], &row, &column);

    if (!(error <= tolerance * qt_sparse_max(&m->matrix[i]))) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s is not Hermitian: element (%lld, %lld)%s of image (%lld, %lld) and its "
                       "Hermitian conjugate differ by %g",
                       name, (long long)row, (long long)column, block_text(s, row, column, text),
                       (long long)image[0], (long long)image[1], error);
    }
  }
  return WEIR_OK;
}

static weir_status check_blocks(const qt_system *s)
{
  if (s->n_blocks < 1 || s->block[0] != 0 || s->block[s->n_blocks] != s->n) {
    return weir_fail(WEIR_ERR_SHAPE, "the %lld blocks do not cover the %lld orbitals of the device",
                     (long long)s->n_blocks, (long long)s->n);
  }
  for (int64_t b = 0; b < s->n_blocks; b++) {
    if (s->block[b + 1] <= s->block[b]) {
      return weir_fail(WEIR_ERR_SHAPE, "block %lld of the device has no orbitals", (long long)b);
    }
  }
  return WEIR_OK;
}

/* Elements near the diagonal, and every block coupled to the one before it. */
static weir_status check_coupling(const qt_system *s, const char *name, const qt_bloch *m,
                                  bool coupled)
{
  bool *is_coupled = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(s->n_blocks, sizeof *is_coupled, (void **)&is_coupled));
  for (int64_t i = 0; i < m->count && status == WEIR_OK; i++) {
    const qt_sparse *a = &m->matrix[i];

    for (int64_t r = 0; r < a->rows && status == WEIR_OK; r++) {
      const int64_t row = block_of(s, r);

      for (int64_t e = a->start[r]; e < a->start[r + 1] && status == WEIR_OK; e++) {
        const int64_t column = block_of(s, a->column[e]);

        if (a->value[e].re == 0 && a->value[e].im == 0) {
          continue;
        }
        if (column - row > 1 || row - column > 1) {
          status = weir_fail(WEIR_ERR_DATA,
                             "%s couples block %lld to block %lld by element (%lld, %lld): blocks "
                             "must be thick enough to couple to their neighbours only",
                             name, (long long)row, (long long)column, (long long)r,
                             (long long)a->column[e]);
        }
        is_coupled[row] = is_coupled[row] || column == row - 1;
      }
    }
  }
  for (int64_t b = 1; b < s->n_blocks && coupled && status == WEIR_OK; b++) {
    if (!is_coupled[b]) {
      status = weir_fail(WEIR_ERR_DATA, "%s does not couple blocks %lld and %lld of the device",
                         name, (long long)b - 1, (long long)b);
    }
  }
  weir_free(&is_coupled);
  return status;
}

static weir_status check_lead(const qt_system *s, int c, double tolerance)
{
  const qt_lead *lead = &s->lead[c];
  const int64_t b = c == QT_LEFT ? 0 : s->n_blocks - 1;
  const char *side = c == QT_LEFT ? "left" : "right";
  double coupling = 0;
  char name[64];

  if (lead->n != s->block[b + 1] - s->block[b]) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "a cell of the %s lead has %lld orbitals, block %lld of the device, which "
                     "continues it, %lld",
                     side, (long long)lead->n, (long long)b,
                     (long long)(s->block[b + 1] - s->block[b]));
  }
  const struct {
    const char *what;
    const qt_bloch *m;
    bool hermitian;
  } rows[] = {{"cell", &lead->cell, true},
              {"cell overlap", &lead->overlap, true},
              {"coupling", &lead->next, false},
              {"overlap of cells", &lead->next_overlap, false}};

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    (void)snprintf(name, sizeof name, "%s of the %s lead", rows[i].what, side);
    WEIR_TRY(check_size(name, rows[i].m, lead->n));
    WEIR_TRY(check_finite(NULL, name, rows[i].m));
    if (rows[i].hermitian) {
      WEIR_TRY(check_hermitian(NULL, name, rows[i].m, tolerance));
    }
  }
  if ((lead->overlap.count > 0) != (s->s.count > 0)) {
    return weir_fail(WEIR_ERR_DATA,
                     "the %s has an overlap matrix, the %s none, at the %s end: give that of both, "
                     "or of neither",
                     s->s.count > 0 ? "device" : "lead", s->s.count > 0 ? "lead" : "device", side);
  }
  for (int64_t i = 0; i < lead->next.count; i++) {
    coupling = fmax(coupling, qt_sparse_max(&lead->next.matrix[i]));
  }
  if (coupling == 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "cells of the %s lead do not couple to one another: the transport direction "
                     "must be x, and a cell one period along it",
                     side);
  }
  return WEIR_OK;
}

weir_status qt_system_check(const qt_system *s, double tolerance)
{
  WEIR_TRY(check_blocks(s));
  WEIR_TRY(check_size("the Hamiltonian", &s->h, s->n));
  WEIR_TRY(check_size("the overlap matrix", &s->s, s->n));
  WEIR_TRY(check_finite(s, "the Hamiltonian", &s->h));
  WEIR_TRY(check_finite(s, "the overlap matrix", &s->s));
  WEIR_TRY(check_hermitian(s, "the Hamiltonian", &s->h, tolerance));
  WEIR_TRY(check_hermitian(s, "the overlap matrix", &s->s, tolerance));
  WEIR_TRY(check_coupling(s, "the Hamiltonian", &s->h, true));
  WEIR_TRY(check_coupling(s, "the overlap matrix", &s->s, false));
  for (int c = 0; c < QT_LEADS; c++) {
    WEIR_TRY(check_lead(s, c, tolerance));
  }
  return s->s.count > 0 ? qt_overlap_check(s) : WEIR_OK;
}
