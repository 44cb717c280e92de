/* vectors.c - lattice vectors in order. */
#include <string.h>
#include "base/weir_alloc.h"
#include "io/wannier/wannier_priv.h"

void weir_wannier_vectors_fini(weir_wannier_vectors *v)
{
  weir_free(&v->r);
  weir_free(&v->order);
  *v = (weir_wannier_vectors){.count = 0};
}

static int compare(const int64_t a[3], const int64_t b[3])
{
  for (int d = 0; d < 3; d++) {
    if (a[d] != b[d]) {
      return a[d] < b[d] ? -1 : 1;
    }
  }
  return 0;
}

int64_t weir_wannier_vectors_find(const weir_wannier_vectors *v, const int64_t r[3], bool *found)
{
  int64_t lo = 0, hi = v->count;

  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (compare(v->r[v->order[middle]], r) < 0) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  *found = lo < v->count && compare(v->r[v->order[lo]], r) == 0;
  return lo;
}

weir_status weir_wannier_vectors_add(weir_wannier_vectors *v, const int64_t r[3], int64_t at)
{
  WEIR_TRY(weir_reserve(&v->r, &v->capacity, v->count + 1, sizeof *v->r));
  WEIR_TRY(weir_reserve(&v->order, &v->order_capacity, v->count + 1, sizeof *v->order));
  memmove(v->order + at + 1, v->order + at, (size_t)(v->count - at) * sizeof *v->order);
  v->order[at] = v->count;
  memcpy(v->r[v->count++], r, sizeof *v->r);
  return WEIR_OK;
}

weir_status weir_wannier_take(const weir_wannier_vectors *v, const weir_c128 *h, const char *path,
                              weir_wannier *w)
{
  const int64_t square = w->n * w->n;
  int64_t(*r)[3] = NULL;
  weir_c128 *sorted = NULL;
  weir_status status = WEIR_OK;

  for (int64_t i = 0; i < v->count; i++) {
    const int64_t *const a = v->r[i], b[3] = {-a[0], -a[1], -a[2]};
    bool found = false;

    (void)weir_wannier_vectors_find(v, b, &found);
    if (!found) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: has lattice vector (%lld, %lld, %lld) but not (%lld, %lld, %lld): the "
                       "Hamiltonian cannot be Hermitian",
                       path, (long long)a[0], (long long)a[1], (long long)a[2], (long long)b[0],
                       (long long)b[1], (long long)b[2]);
    }
  }
  WEIR_TRY_GOTO(weir_alloc(v->count, sizeof *r, (void **)&r), done);
  WEIR_TRY_GOTO(weir_alloc(v->count * square, sizeof *sorted, (void **)&sorted), done);
  for (int64_t i = 0; i < v->count; i++) {
    memcpy(r[i], v->r[v->order[i]], sizeof *r);
    memcpy(sorted + i * square, h + v->order[i] * square, (size_t)square * sizeof *sorted);
  }
  weir_free(&w->r);
  weir_free(&w->h);
  w->n_r = v->count;
  w->r = r;
  w->h = sorted;
  r = NULL;
  sorted = NULL;
done:
  weir_free(&r);
  weir_free(&sorted);
  return status;
}

int64_t weir_wannier_find(const weir_wannier *w, const int64_t r[3])
{
  int64_t lo = 0, hi = w->n_r;

  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (compare(w->r[middle], r) < 0) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return lo < w->n_r && compare(w->r[lo], r) == 0 ? lo : -1;
}

weir_status weir_wannier_read_vector(weir_io_numbers *n, int64_t r[3])
{
  for (int d = 0; d < 3; d++) {
    WEIR_TRY(weir_io_numbers_int(n, "a component of the lattice vector", -WEIR_WANNIER_REACH,
                                 WEIR_WANNIER_REACH, &r[d]));
  }
  return WEIR_OK;
}

weir_status weir_wannier_read_function(weir_io_numbers *n, const weir_wannier *w, int64_t *out)
{
  WEIR_TRY(weir_io_numbers_int(n, "the number of a function", 1, w->n, out));
  (*out)--;
  return WEIR_OK;
}
