/* matrix.c - see matrix.h. */
#include "model/qtbm/matrix.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"

/* Orbitals of the end cell that have an element of the coupling to its lead: rows of `next` on the
 * right, columns on the left. */
static void mark_ports(const qt_bloch *next, int side, bool *is_port)
{
  for (int64_t image = 0; image < next->count; image++) {
    const qt_sparse *x = &next->matrix[image];

    for (int64_t i = 0; i < x->rows; i++) {
      for (int64_t at = x->start[i]; at < x->start[i + 1]; at++) {
        is_port[side == QT_RIGHT ? i : x->column[at]] = true;
      }
    }
  }
}

static weir_status find_ports(const qt_system *s, int side, qtbm_matrix *m)
{
  const qt_lead *lead = &s->lead[side];
  bool *is_port = NULL;
  weir_status status = WEIR_OK;

  m->first[side] = s->block[side == QT_LEFT ? 0 : s->n_blocks - 1];
  WEIR_TRY(weir_alloc(lead->n, sizeof *is_port, (void **)&is_port));
  WEIR_TRY_GOTO(weir_alloc(lead->n, sizeof *m->port[side], (void **)&m->port[side]), done);
  mark_ports(&lead->next, side, is_port);
  mark_ports(&lead->next_overlap, side, is_port);
  for (int64_t i = 0; i < lead->n; i++) {
    if (is_port[i]) {
      m->port[side][m->n_ports[side]++] = i;
    }
  }
done:
  weir_free(&is_port);
  return status;
}

static void add_images(const qt_bloch *b, qt_entries *e)
{
  for (int64_t image = 0; image < b->count; image++) {
    const qt_sparse *x = &b->matrix[image];

    for (int64_t i = 0; i < x->rows; i++) {
      for (int64_t at = x->start[i]; at < x->start[i + 1]; at++) {
        qt_entries_add(e, i, x->column[at], (weir_c128){0, 0});
      }
    }
  }
}

static int64_t count_images(const qt_bloch *b)
{
  int64_t count = 0;

  for (int64_t image = 0; image < b->count; image++) {
    count += qt_sparse_count(&b->matrix[image]);
  }
  return count;
}

static weir_status make_pattern(const qt_system *s, qtbm_matrix *m)
{
  qt_entries e = {.count = 0};
  int64_t count = count_images(&s->h) + count_images(&s->s) + s->n;

  for (int side = 0; side < QT_LEADS; side++) {
    count += m->n_ports[side] * m->n_ports[side];
  }
  WEIR_TRY(weir_alloc(count, sizeof *e.item, (void **)&e.item));
  e.capacity = count;
  m->making_bytes = (double)(2 * count) * sizeof *e.item + (double)(s->n + 1) * sizeof(int64_t);
  add_images(&s->h, &e);
  add_images(&s->s, &e);
  for (int64_t i = 0; i < s->n; i++) {
    qt_entries_add(&e, i, i, (weir_c128){0, 0});
  }
  for (int side = 0; side < QT_LEADS; side++) {
    const int64_t n = m->n_ports[side], first = m->first[side];

    for (int64_t i = 0; i < n * n; i++) {
      qt_entries_add(&e, first + m->port[side][i / n], first + m->port[side][i % n],
                     (weir_c128){0, 0});
    }
  }
  const weir_status status = qt_sparse_create(s->n, s->n, &e, &m->a);

  qt_entries_fini(&e);
  return status;
}

/* Place of an element, which the pattern has. */
static int64_t find(const qt_sparse *a, int64_t row, int64_t column)
{
  int64_t lo = a->start[row], hi = a->start[row + 1];

  while (hi - lo > 1) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (a->column[middle] <= column) {
      lo = middle;
    } else {
      hi = middle;
    }
  }
  return lo;
}

weir_status qtbm_matrix_create(const qt_system *s, qtbm_matrix *out)
{
  *out = (qtbm_matrix){.system = s};
  WEIR_TRY(find_ports(s, QT_LEFT, out));
  WEIR_TRY(find_ports(s, QT_RIGHT, out));
  WEIR_TRY(make_pattern(s, out));
  const int64_t count = qt_sparse_count(&out->a);

  WEIR_TRY(weir_alloc(count, sizeof *out->h, (void **)&out->h));
  if (s->s.count > 0) {
    WEIR_TRY(weir_alloc(count, sizeof *out->s, (void **)&out->s));
  }
  for (int side = 0; side < QT_LEADS; side++) {
    const int64_t n = out->n_ports[side], first = out->first[side];

    WEIR_TRY(weir_alloc(n * n, sizeof **out->sigma, (void **)&out->sigma[side]));
    for (int64_t i = 0; i < n * n; i++) {
      out->sigma[side][i] =
          find(&out->a, first + out->port[side][i / n], first + out->port[side][i % n]);
    }
  }
  return WEIR_OK;
}

void qtbm_matrix_fini(qtbm_matrix *m)
{
  qt_sparse_fini(&m->a);
  weir_free(&m->h);
  weir_free(&m->s);
  for (int side = 0; side < QT_LEADS; side++) {
    weir_free(&m->port[side]);
    weir_free(&m->sigma[side]);
  }
}

/* out, on the pattern of a, = M(k). */
static void sum_images(const qt_bloch *b, const double k[2], const qt_sparse *a, weir_c128 *out)
{
  memset(out, 0, (size_t)qt_sparse_count(a) * sizeof *out);
  for (int64_t image = 0; image < b->count; image++) {
    const qt_sparse *x = &b->matrix[image];
    const weir_c128 phase = qt_bloch_phase(b, image, k);

    for (int64_t i = 0; i < x->rows; i++) {
      int64_t to = a->start[i]; /* both columns ascend */

      for (int64_t at = x->start[i]; at < x->start[i + 1]; at++) {
        const weir_c128 v = x->value[at];

        while (a->column[to] < x->column[at]) {
          to++;
        }
        out[to].re += phase.re * v.re - phase.im * v.im;
        out[to].im += phase.re * v.im + phase.im * v.re;
      }
    }
  }
}

void qtbm_matrix_set_k(qtbm_matrix *m, const double k[2])
{
  sum_images(&m->system->h, k, &m->a, m->h);
  if (m->s != NULL) {
    sum_images(&m->system->s, k, &m->a, m->s);
  }
}

void qtbm_matrix_set_energy(qtbm_matrix *m, double energy, weir_c128 *const sigma[QT_LEADS])
{
  const qt_sparse *a = &m->a;

  for (int64_t i = 0; i < a->rows; i++) {
    for (int64_t at = a->start[i]; at < a->start[i + 1]; at++) {
      const weir_c128 s = m->s != NULL ? m->s[at] : (weir_c128){a->column[at] == i, 0};

      a->value[at] = (weir_c128){energy * s.re - m->h[at].re, energy * s.im - m->h[at].im};
    }
  }
  for (int side = 0; side < QT_LEADS; side++) {
    const int64_t n = m->n_ports[side], rows = m->system->lead[side].n;

    for (int64_t i = 0; i < n * n; i++) {
      const weir_c128 x = sigma[side][m->port[side][i / n] * rows + m->port[side][i % n]];
      weir_c128 *to = &a->value[m->sigma[side][i]];

      *to = (weir_c128){to->re - x.re, to->im - x.im};
    }
  }
}

void qtbm_matrix_overlap(const qtbm_matrix *m, const weir_c128 *psi, weir_c128 *out)
{
  const qt_sparse *a = &m->a;

  if (m->s == NULL) {
    memcpy(out, psi, (size_t)a->rows * sizeof *out);
    return;
  }
  for (int64_t i = 0; i < a->rows; i++) {
    weir_c128 sum = {0, 0};

    for (int64_t at = a->start[i]; at < a->start[i + 1]; at++) {
      const weir_c128 s = m->s[at], x = psi[a->column[at]];

      sum.re += s.re * x.re - s.im * x.im;
      sum.im += s.re * x.im + s.im * x.re;
    }
    out[i] = sum;
  }
}
