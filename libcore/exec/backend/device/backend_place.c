/* backend_place.c - where a kernel of a device finds its operands: words of its parameter,
 * constants, and whether 32 bits hold all indices. */
#include <string.h>

#include "base/weir_alloc.h"
#include "exec/backend/device/backend.h"

static bool is_open(const weir_operand *x, int d)
{
  return x->extent[d] >= WEIR_UNBOUNDED;
}

/* Of a row-major array of the operand's numbers. */
static int64_t dense_stride(const weir_operand *x, int d)
{
  return native_unit(x) * weir_operand_stride(x, d);
}

/* ---- Proofs. ---- */

static int64_t largest(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

static int64_t magnitude(int64_t a)
{
  return a < 0 ? -a : a;
}

/* *sum += |a| |b|; false where it exceeds 32 bits, or |a| or |b| does. */
static bool add_magnitude(int64_t a, int64_t b, int64_t *sum)
{
  if (a < -INT32_MAX || a > INT32_MAX || b < -INT32_MAX || b > INT32_MAX) {
    return false;
  }
  *sum += magnitude(a) * magnitude(b);
  return *sum <= INT32_MAX;
}

/* True when offset, coefficients, all their products with iterations, and the sum of any of these
 * fit 32 bits, in whatever order they are added: the sum of the magnitudes does. Sets the least and
 * largest sum. A gathered number may be any. */
static bool bound_numerator(const weir_access *a, const weir_index *x, int64_t *lo, int64_t *hi)
{
  int64_t sum = 0;

  if (x->gather > 0 || !add_magnitude(x->offset, 1, &sum)) {
    return false;
  }
  *lo = *hi = x->offset;
  for (int k = 0; k < a->n_dims; k++) {
    const int64_t c = x->coef[k], first = a->dim[k].lo, last = a->dim[k].hi - 1;

    if (c == 0) {
      continue;
    }
    if (first > last || first < -INT32_MAX || last > INT32_MAX ||
        !add_magnitude(c, largest(magnitude(first), magnitude(last)), &sum)) {
      return false;
    }
    *lo += c * (c > 0 ? first : last);
    *hi += c * (c > 0 ? last : first);
  }
  return true;
}

/* 32 bits hold all that an index of the operand is made of: the numerators (bound_numerator); the
 * quotients, which are no larger; what border rules compute, at most 2 (extent - 1); each index
 * times its stride, and the sums of these, for an element is only addressed where the rules have
 * brought all indices into the array. Sets what of the rules has no effect. */
static bool prove_narrow(const weir_access *a, const weir_operand *x, native_place *p)
{
  int64_t offset = 0;

  for (int d = 0; d < x->rank; d++) {
    const weir_index *index = &x->index[d];
    int64_t lo, hi;

    if (p->stride_at[d] >= 0 || p->extent_at[d] >= 0 || index->div > INT32_MAX ||
        x->extent[d] < 1 || x->extent[d] > INT32_MAX / 2 ||
        !add_magnitude(x->extent[d] - 1, p->stride[d], &offset) ||
        !bound_numerator(a, index, &lo, &hi)) {
      return false;
    }
    const int64_t div = weir_index_divisor(index);

    p->upward[d] = lo >= 0;
    p->inside[d] = lo >= 0 && hi / div < x->extent[d];
  }
  return true;
}

/* ---- Loops of a thread. ---- */

int exec_access_bytes(weir_dtype dtype, int wide)
{
  const int most = 16, bytes = wide * (int)weir_dtype_size(dtype);

  return bytes < most ? bytes : most;
}

/* A multiple of n in every iteration that a vector along dimension k begins with: lo + n j of k. */
static bool is_aligned(const weir_access *a, const weir_index *x, int k, int n)
{
  bool all = (x->offset + x->coef[k] * a->dim[k].lo) % n == 0;

  for (int j = 0; j < a->n_dims; j++) {
    all = all && (j == k || x->coef[j] % n == 0);
  }
  return all;
}

/* True when n successive iterations of dimension k, from a multiple of n on, are at n successive
 * elements from an address that is a multiple of their bytes (arrays begin at multiples of 16), all
 * inside the array or all outside. That holds when the last index advances by one, is aligned, and
 * its extent is a multiple of n: wrapped around it, too. Other indices do not advance, or are
 * quotients by a multiple of n. */
static bool is_wide(const weir_access *a, const weir_operand *x, const native_place *p, int k,
                    int n)
{
  const int last = x->rank - 1;

  if (last < 0 || p->stride_at[last] >= 0 || p->stride[last] != 1 || x->extent[last] % n != 0) {
    return false;
  }
  for (int d = 0; d < x->rank; d++) {
    const weir_index *index = &x->index[d];
    const bool quotient = index->div > 1 && index->div % n == 0;
    const bool moved =
        (index->border == WEIR_BORDER_REPLICATE || index->border == WEIR_BORDER_REFLECT) &&
        !p->inside[d];

    if (index->gather > 0 || p->stride_at[d] >= 0 ||
        (d == last && (index->coef[k] != 1 || index->div > 1 || moved)) ||
        (index->coef[k] != 0 &&
         (index->coef[k] != 1 || !is_aligned(a, index, k, n) || (d < last && !quotient)))) {
      return false;
    }
  }
  return true;
}

static bool depends_on(const weir_operand *x, int k)
{
  bool any = false;

  for (int d = 0; d < x->rank; d++) {
    any = any || x->index[d].coef[k] != 0;
  }
  return any;
}

/* Sets wide, and the innermost of a thread's loops that the operand depends on. */
static void set_level(const weir_access *a, const exec_layout *l, const weir_operand *x,
                      native_place *p)
{
  const int last = l->n_repeats - 1;

  p->level = 0;
  p->wide = l->wide > 1 && is_wide(a, x, p, l->repeat[last].dim, l->wide) ? l->wide : 1;
  for (int r = 0; r < l->n_repeats - (p->wide > 1); r++) {
    p->level = depends_on(x, l->repeat[r].dim) ? r + 1 : p->level;
  }
}

/* Operand k of n: both parts of a complex number, which planar.c puts side by side, as it does in
 * memory: of arrays that begin at multiples of their elements. */
static bool is_pair(const exec_layout *l, const weir_operand *x, int k, int n)
{
  bool same = l->dense && x[k].part == 1 && k + 1 < n && x[k + 1].part == 2 &&
              x[k].rank == x[k + 1].rank && x[k].dtype == x[k + 1].dtype;

  for (int d = 0; same && d < x[k].rank; d++) {
    const weir_index *a = &x[k].index[d], *b = &x[k + 1].index[d];

    same = memcmp(a->coef, b->coef, sizeof a->coef) == 0 && a->offset == b->offset &&
           a->div == b->div && a->border == b->border && a->gather == b->gather &&
           x[k].extent[d] == x[k + 1].extent[d];
  }
  return same;
}

/* What is gathered is loaded no earlier than the indices, of which a wide load gives one at a time.
 */
static void set_gathered_levels(const weir_access *a, const exec_layout *l, exec_places *s)
{
  for (int k = 0; k < a->n_in; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      const int by = a->in[k].index[d].gather;
      const native_place *from = by > 0 ? &s->in[by - 1] : NULL;
      const int level = by == 0 ? 0 : from->wide > 1 ? l->n_repeats : from->level;

      s->in[k].level = level > s->in[k].level ? level : s->in[k].level;
    }
  }
}

/* ---- Words. ---- */

static void set_place(const weir_access *a, const exec_layout *l, const weir_operand *x, int *word,
                      native_place *p)
{
  *p = (native_place){.at = (*word)++};
  for (int d = 0; d < x->rank; d++) {
    p->stride_at[d] = l->dense ? -1 : (*word)++;
    p->stride[d] = l->dense && !is_open(x, d) ? dense_stride(x, d) : 0;
    p->extent_at[d] = is_open(x, d) ? (*word)++ : -1;
    p->extent[d] = x->extent[d];
  }
  p->narrow = prove_narrow(a, x, p);
  set_level(a, l, x, p);
}

void exec_places_of(const weir_access *a, const exec_layout *l, exec_places *out)
{
  int word = 0;

  for (int k = 0; k < a->n_in; k++) {
    set_place(a, l, &a->in[k], &word, &out->in[k]);
    out->in[k].pair = is_pair(l, a->in, k, a->n_in);
  }
  for (int k = 0; k < a->n_out; k++) {
    set_place(a, l, &a->out[k], &word, &out->out[k]);
    out->out[k].pair = is_pair(l, a->out, k, a->n_out);
  }
  set_gathered_levels(a, l, out);
  out->bounds = word;
  for (int k = 0; k < a->n_dims && l->boxed; k++) {
    word += a->dim[k].kind == WEIR_PARALLEL ? 2 : 0;
  }
  out->points = word;
  out->parts = word + l->boxed;
  out->n_words = out->parts + l->parts;
}

static void fill_place(const native_place *p, const weir_view *v, int64_t *words)
{
  int64_t at = (int64_t)(intptr_t)v->data;

  for (int d = 0; d < v->rank; d++) {
    at -= v->origin[d] * v->stride[d] * (int64_t)weir_dtype_size(v->dtype);
    if (p->stride_at[d] >= 0) {
      words[p->stride_at[d]] = v->stride[d];
    } else {
      WEIR_ASSERT(v->stride[d] == p->stride[d] || v->extent[d] <= 1);
    }
    if (p->extent_at[d] >= 0) {
      words[p->extent_at[d]] = v->extent[d];
    }
  }
  WEIR_ASSERT(!p->pair || at % (2 * (int64_t)weir_dtype_size(v->dtype)) == 0);
  WEIR_ASSERT(p->wide <= 1 || at % exec_access_bytes(v->dtype, p->wide) == 0);
  words[p->at] = at;
}

void exec_places_fill(const exec_places *s, const weir_access *a, const exec_layout *l,
                      const weir_loop_run *run, int64_t *words)
{
  int64_t *word = words + s->bounds;

  for (int k = 0; k < a->n_in; k++) {
    fill_place(&s->in[k], &run->in[k], words);
  }
  for (int k = 0; k < a->n_out; k++) {
    fill_place(&s->out[k], &run->out[k], words);
  }
  for (int k = 0; k < a->n_dims && l->boxed; k++) {
    if (a->dim[k].kind == WEIR_PARALLEL) {
      *word++ = run->box.lo[k];
      *word++ = run->box.hi[k] - run->box.lo[k];
    }
  }
  if (l->boxed) {
    words[s->points] = l->points;
  }
}
