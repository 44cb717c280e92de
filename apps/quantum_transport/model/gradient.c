/* gradient.c - see gradient.h. */
#include "model/gradient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"

enum { MOVED_TO, MOVED_FROM };

void qt_gradient_fini(qt_gradient *g)
{
  weir_free(&g->pair);
  weir_free(&g->value);
  *g = (qt_gradient){.n_pairs = 0};
}

static int order(int64_t a, int64_t b)
{
  return (a > b) - (a < b);
}

static int compare(const void *a, const void *b)
{
  const qt_gradient_pair *const p = a, *const q = b;
  const int by[] = {order(p->from, q->from), order(p->to, q->to), order(p->image[0], q->image[0]),
                    order(p->image[1], q->image[1])};

  for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
    if (by[i] != 0) {
      return by[i];
    }
  }
  return 0;
}

/* From atom a to atom l of an image. */
static void vector_of(const qt_system *s, int64_t a, int64_t l, const int64_t image[2],
                      double out[3])
{
  for (int i = 0; i < 3; i++) {
    out[i] = s->atom[l].position[i] - s->atom[a].position[i] + (double)image[0] * s->cell[1][i] +
             (double)image[1] * s->cell[2][i];
  }
}

static double length_of(const double r[3])
{
  return sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
}

/* Lists the atoms that the rows of atom a couple to in image m, each once; met [n_atoms]: the last
 * (a, m) that met an atom. */
static weir_status list_pairs(const qt_system *s, int64_t a, int64_t m, const int64_t *atom_of,
                              double closest, int64_t *met, int64_t *capacity, qt_gradient *out)
{
  const qt_sparse *const h = &s->h.matrix[m];
  const qt_atom *const atom = &s->atom[a];
  const int64_t mark = a * s->h.count + m + 1;

  for (int64_t e = h->start[atom->first]; e < h->start[atom->first + atom->n_orbitals]; e++) {
    const int64_t l = atom_of[h->column[e]];
    qt_gradient_pair p = {.from = a, .to = l, .first = out->count};

    if (met[l] == mark || (h->value[e].re == 0 && h->value[e].im == 0)) {
      continue;
    }
    met[l] = mark;
    memcpy(p.image, s->h.image[m], sizeof p.image);
    vector_of(s, a, l, p.image, p.vector);
    if (l != a && length_of(p.vector) > closest) {
      WEIR_TRY(weir_reserve(&out->pair, capacity, out->n_pairs + 1, sizeof *out->pair));
      out->pair[out->n_pairs++] = p;
      out->count += 3 * atom->n_orbitals * s->atom[l].n_orbitals;
    }
  }
  return WEIR_OK;
}

weir_status qt_gradient_create(const qt_system *s, double closest, qt_gradient *out)
{
  int64_t *atom_of = NULL, *met = NULL, capacity = 0;
  weir_status status = WEIR_OK;

  *out = (qt_gradient){.n_pairs = 0};
  if (s->is_schematic) {
    return weir_fail(WEIR_ERR_DATA,
                     "the device's file holds no atoms: derivatives of H need their positions");
  }
  WEIR_TRY_GOTO(weir_alloc(s->n, sizeof *atom_of, (void **)&atom_of), done);
  WEIR_TRY_GOTO(weir_alloc(s->n_atoms, sizeof *met, (void **)&met), done);
  for (int64_t a = 0; a < s->n_atoms; a++) {
    for (int64_t i = 0; i < s->atom[a].n_orbitals; i++) {
      atom_of[s->atom[a].first + i] = a;
    }
  }
  for (int64_t i = 0; i < s->n_atoms * s->h.count; i++) {
    WEIR_TRY_GOTO(
        list_pairs(s, i / s->h.count, i % s->h.count, atom_of, closest, met, &capacity, out), done);
  }
  WEIR_TRY_GOTO(weir_alloc(out->count, sizeof *out->value, (void **)&out->value), done);
  if (out->n_pairs > 0) {
    qsort(out->pair, (size_t)out->n_pairs, sizeof *out->pair, compare);
  }
done:
  weir_free(&atom_of);
  weir_free(&met);
  if (status != WEIR_OK) {
    qt_gradient_fini(out);
  }
  return status;
}

/* The matrix of an image of H; NULL: there is none. */
static const qt_sparse *matrix_of(const qt_system *s, const int64_t image[2])
{
  const int64_t i = qt_bloch_find(&s->h, image[0], image[1]);

  return i >= 0 ? &s->h.matrix[i] : NULL;
}

void qt_gradient_scale(const qt_system *s, double exponent, qt_gradient *g)
{
  for (int64_t k = 0; k < g->n_pairs; k++) {
    qt_gradient_pair *const p = &g->pair[k];
    const qt_atom *const a = &s->atom[p->from], *const l = &s->atom[p->to];
    const qt_sparse *const h = matrix_of(s, p->image);
    const double r2 = pow(length_of(p->vector), 2);
    const int64_t count = a->n_orbitals * l->n_orbitals;

    for (int64_t i = 0; i < 3 * count; i++) {
      const double factor = -exponent * p->vector[i / count] / r2;
      const weir_c128 x = qt_sparse_get(h, a->first + i % count / l->n_orbitals,
                                        l->first + i % count % l->n_orbitals);

      g->value[p->first + i] = (weir_c128){factor * x.re, factor * x.im};
    }
    memset(p->is_known, 1, sizeof p->is_known);
  }
}

/* How two systems differ: atoms that are displaced alike. */
typedef struct displaced {
  bool *atom; /* [n_atoms] */
  int axis;
  double distance;
} displaced;

/* Fills d, whose array is there. */
static weir_status find_displaced(const qt_system *plus, const qt_system *minus, displaced *d)
{
  const double same = 1e-9; /* Angstrom */
  int64_t first = -1;

  for (int64_t i = 0; i < 3 * plus->n_atoms; i++) {
    const double by = plus->atom[i / 3].position[i % 3] - minus->atom[i / 3].position[i % 3];

    if (fabs(by) <= same) {
      continue;
    }
    if (first >= 0 && (i % 3 != d->axis || fabs(by - d->distance) > same)) {
      return weir_fail(WEIR_ERR_DATA,
                       "between two systems atom %lld is displaced by %g Angstrom along %c, atom "
                       "%lld by %g along %c: displace atoms along one axis, alike",
                       (long long)first, d->distance, "xyz"[d->axis], (long long)(i / 3), by,
                       "xyz"[i % 3]);
    }
    if (first < 0) {
      first = i / 3;
      d->axis = (int)(i % 3);
      d->distance = by;
    }
    d->atom[i / 3] = true;
  }
  return first >= 0 ? WEIR_OK
                    : weir_fail(WEIR_ERR_DATA,
                                "no atom is displaced between two systems: give one at either side "
                                "of its position");
}

static weir_status check_same(const qt_system *plus, const qt_system *minus, const qt_gradient *g)
{
  bool same = plus->n == minus->n && plus->n_atoms == minus->n_atoms &&
              plus->h.count == minus->h.count && g->n_pairs > 0;
  int64_t last = -1;

  for (int64_t k = 0; k < g->n_pairs; k++) {
    last = g->pair[k].to > last ? g->pair[k].to : last;
  }
  for (int64_t a = 0; a < plus->n_atoms && same; a++) {
    same = plus->atom[a].first == minus->atom[a].first &&
           plus->atom[a].n_orbitals == minus->atom[a].n_orbitals;
  }
  return same && last < plus->n_atoms
             ? WEIR_OK
             : weir_fail(WEIR_ERR_SHAPE,
                         "systems of %lld and %lld orbitals of %lld and %lld atoms: displaced "
                         "systems have those of the device",
                         (long long)plus->n, (long long)minus->n, (long long)plus->n_atoms,
                         (long long)minus->n_atoms);
}

/* Takes the derivatives of one pair, of whose atoms `moved` was displaced. */
static weir_status take(const qt_system *plus, const qt_system *minus, const displaced *d,
                        int moved, qt_gradient_pair *p, weir_c128 *value, double *mismatch)
{
  const qt_sparse *const more = matrix_of(plus, p->image), *const less = matrix_of(minus, p->image);
  const qt_atom *const a = &plus->atom[p->from], *const l = &plus->atom[p->to];
  const int64_t count = a->n_orbitals * l->n_orbitals;
  const double factor = (moved == MOVED_TO ? 1 : -1) / d->distance;
  const bool known = p->is_known[d->axis][!moved];

  if (more == NULL || less == NULL) {
    return weir_fail(WEIR_ERR_DATA, "a displaced system has no image (%lld, %lld)",
                     (long long)p->image[0], (long long)p->image[1]);
  }
  for (int64_t i = 0; i < count; i++) {
    const int64_t row = a->first + i / l->n_orbitals, column = l->first + i % l->n_orbitals;
    const weir_c128 x = qt_sparse_get(more, row, column), y = qt_sparse_get(less, row, column);
    const weir_c128 slope = {factor * (x.re - y.re), factor * (x.im - y.im)};
    weir_c128 *const out = &value[d->axis * count + i];

    if (known) {
      *mismatch = fmax(*mismatch, hypot(slope.re - out->re, slope.im - out->im) / 2);
    }
    *out = known ? (weir_c128){(slope.re + out->re) / 2, (slope.im + out->im) / 2} : slope;
  }
  p->is_known[d->axis][moved] = true;
  return WEIR_OK;
}

weir_status qt_gradient_difference(const qt_system *plus, const qt_system *minus, qt_gradient *g,
                                   double *mismatch)
{
  displaced d = {.atom = NULL};
  weir_status status = WEIR_OK;

  WEIR_TRY(check_same(plus, minus, g));
  WEIR_TRY(weir_alloc(plus->n_atoms, sizeof *d.atom, (void **)&d.atom));
  WEIR_TRY_GOTO(find_displaced(plus, minus, &d), done);
  for (int64_t k = 0; k < g->n_pairs; k++) {
    qt_gradient_pair *const p = &g->pair[k];

    if (d.atom[p->to] != d.atom[p->from]) { /* else the vector between them has not changed */
      WEIR_TRY_GOTO(take(plus, minus, &d, d.atom[p->to] ? MOVED_TO : MOVED_FROM, p,
                         g->value + p->first, mismatch),
                    done);
    }
  }
done:
  weir_free(&d.atom);
  return status;
}

weir_status qt_gradient_complete(const qt_gradient *g)
{
  for (int64_t k = 0; k < g->n_pairs; k++) {
    for (int i = 0; i < 3; i++) {
      const qt_gradient_pair *const p = &g->pair[k];

      if (!p->is_known[i][MOVED_TO] && !p->is_known[i][MOVED_FROM]) {
        return weir_fail(WEIR_ERR_DATA,
                         "the derivative of H between atoms %lld and %lld along %c is not known: "
                         "displace one of them",
                         (long long)p->from, (long long)p->to, "xyz"[i]);
      }
    }
  }
  return WEIR_OK;
}
