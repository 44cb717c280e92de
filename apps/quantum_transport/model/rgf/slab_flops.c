/* slab_flops.c - flops of slabs, and slabs of nearly equal flops: see slabs.h. */
#include "model/rgf/slabs_priv.h"

/* ---- Flops, in multiplications of complex numbers ---- */

/* Of blocks [n, m], a and b rows: from a block to the next one, with all that blocks of G take. */
static double forward_work(const qt_slabs_spec *spec, double a, double b)
{
  double work = a * a * a / 3 + a * a * (a + b) + a * b * (a + b); /* factors, g, y; x, carry */

  if (spec->lesser) {
    work += 2 * a * a * a + a * b * (a + b);         /* g<; z, lost */
    work += spec->tridiagonal ? a * b * (a + b) : 0; /* p, A p      */
  }
  return work;
}

/* And back; without the diagonal block off the diagonal alone. */
static double back_work(const qt_slabs_spec *spec, double a, double b, bool diagonal)
{
  const double g = a * b * (2 * b + (diagonal ? a : 0));
  const double lesser = a * b * (2 * b + (diagonal ? 2 * a : 0));

  return g + (spec->lesser ? lesser : 0);
}

/* Of a block between separators, of which the left one has c rows: its elimination. */
static double fill_work(const qt_slabs_spec *spec, double a, double b, double c)
{
  double work = a * a * a / 3 + a * a * (c + b) + a * b * b; /* factors, u, y; carry      */

  work += a * c * (c + 2 * b); /* A[L,L], A[m,L], A[L,m] */
  if (spec->lesser) {
    work += a * a * a + 2 * a * a * a + a * b * (a + b); /* g; g<; z, lost                    */
    work += 2 * a * a * c + 2 * a * c * c + a * b * c;   /* p, A g<; Sigma^< [L,L] and [L,m]  */
    work += spec->tridiagonal ? a * b * (a + b) + a * b * c : 0; /* p, A p; A[L,n] p */
  }
  return work;
}

/* What the flops of a slab's blocks depend on. */
typedef struct where {
  int64_t left; /* rows of the separator on its left */
  bool first, last;
} where;

/* Of block n of a slab, which is no separator. */
static double block_work(const qt_slabs_spec *spec, const where *at, int64_t n)
{
  const qt_layout *l = spec->layout;
  const double a = (double)qt_rows_of(l, n);
  const double b = (double)qt_rows_of(l, at->last && !at->first ? n - 1 : n + 1);
  const double end = (double)qt_rows_of(l, at->first ? 0 : l->n_blocks - 1);

  if (spec->corner_only) {
    if (at->first) {
      return a * a * a / 3 + a * a * b + a * b * b + (n > 0 ? end * a * b : 0);
    }
    if (at->last) {
      return a * a * a / 3 + a * a * (end + b) + a * b * (b + end);
    }
    return fill_work(spec, a, b, (double)at->left);
  }
  const double recursion = forward_work(spec, a, b) + back_work(spec, a, b, true);

  return at->first || at->last ? recursion : recursion + fill_work(spec, a, b, (double)at->left);
}

static where where_is(const qt_slabs_spec *spec, int64_t slab, int64_t first)
{
  return (where){qt_rows_of(spec->layout, first - 1), slab == 0, slab == spec->n_slabs - 1};
}

/* Of the slab in addition to its blocks: that the recursion of one between two others begins at the
 * separator. */
static double entry_work(const qt_slabs_spec *spec, const where *at, int64_t first)
{
  const double a = (double)at->left, b = (double)qt_rows_of(spec->layout, first);

  return at->first || at->last || spec->corner_only
             ? 0
             : forward_work(spec, a, b) + back_work(spec, a, b, false);
}

double qt_slab_flops(const qt_slabs_spec *spec, int64_t slab)
{
  const int64_t lo = spec->first[slab], hi = spec->first[slab + 1];
  const where at = where_is(spec, slab, lo);
  double work = entry_work(spec, &at, lo);

  for (int64_t n = lo; n < (at.last ? hi : hi - 1); n++) {
    work += block_work(spec, &at, n);
  }
  return 8 * work;
}

double qt_slabs_flops(const qt_slabs_spec *spec)
{
  const int64_t separators = spec->n_slabs - 1;
  double flops = 0, work = 0;

  if (separators == 0) {
    return spec->corner_only ? qt_rgf_corner_flops(spec->layout)
                             : qt_rgf_flops(spec->layout, spec->lesser, spec->tridiagonal);
  }
  for (int64_t k = 0; k <= separators; k++) {
    flops += qt_slab_flops(spec, k);
  }
  const double end = (double)qt_rows_of(spec->layout, spec->first[1] - 1);
  qt_slabs_spec full = *spec;

  full.tridiagonal = true;
  for (int64_t k = 0; k < separators; k++) { /* as qt_rgf_flops and qt_rgf_corner_flops */
    const double a = (double)qt_rows_of(spec->layout, spec->first[k + 1] - 1);
    const double b =
        k + 1 < separators ? (double)qt_rows_of(spec->layout, spec->first[k + 2] - 1) : 0;
    const double sides = b > 0 ? b : a;

    work += spec->corner_only
                ? a * a * a / 3 + a * a * sides + a * b * b + (k > 0 ? end * a * sides : 0)
                : forward_work(&full, a, b) + back_work(&full, a, b, true);
  }
  return flops + 8 * work;
}

/* ---- Slabs of equal flops ---- */

/* Gives slabs one by one as many blocks as their work of at most `max_work` allows, one at least,
 * and the last one the remaining blocks; whether none has more work. */
static bool fill_slabs(const qt_slabs_spec *spec, double max_work, int64_t *first)
{
  bool fits = true;

  first[0] = 0;
  for (int64_t k = 0; k < spec->n_slabs; k++) {
    const where at = where_is(spec, k, first[k]);
    const int64_t limit = spec->layout->n_blocks - (spec->n_slabs - 1 - k); /* one for the others */
    double work = entry_work(spec, &at, first[k]);
    int64_t next = first[k];

    if (!at.last) { /* its separator */
      next++;
    }
    while (next < limit) {
      const double more = block_work(spec, &at, at.last ? next : next - 1);

      if (!at.last && work + more > max_work) {
        break;
      }
      work += more;
      next++;
    }
    first[k + 1] = next;
    fits = fits && work <= max_work;
  }
  return fits;
}

void qt_slabs_split(const qt_slabs_spec *spec, int64_t *first)
{
  enum { STEPS = 60 };
  double low = 0, high = 1;

  while (!fill_slabs(spec, high, first)) {
    low = high;
    high *= 2;
  }
  for (int i = 0; i < STEPS; i++) {
    const double middle = (low + high) / 2;

    if (fill_slabs(spec, middle, first)) {
      high = middle;
    } else {
      low = middle;
    }
  }
  (void)fill_slabs(spec, high, first);
}
