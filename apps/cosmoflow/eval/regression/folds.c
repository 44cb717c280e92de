/* folds.c - see folds.h. */
#include "eval/regression/folds.h"
#include <stdlib.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"

enum { FOLDS = 0x43465246 }; /* purpose of the random bits */

typedef struct universe {
  uint64_t bits;
  int64_t group, fold;
} universe;

static int by_group(const void *a, const void *b)
{
  const universe *const x = a, *const y = b;

  return (x->group > y->group) - (x->group < y->group);
}

static int by_bits(const void *a, const void *b)
{
  const universe *const x = a, *const y = b;

  return x->bits != y->bits ? (x->bits > y->bits) - (x->bits < y->bits) : by_group(a, b);
}

static weir_status too_few(const char *what, int64_t n)
{
  return weir_fail(WEIR_ERR_DATA,
                   "%s: there are %lld universes to train on; cross-validation needs two", what,
                   (long long)n);
}

weir_status cf_folds_make(const cf_ridge_rows *rows, int64_t folds, uint64_t seed, const char *what,
                          int64_t *fold, int64_t *used, int64_t *groups)
{
  universe *u = NULL;
  int64_t n = 0;

  if (rows->n == 0) {
    return too_few(what, 0);
  }
  WEIR_TRY(weir_alloc(rows->n, sizeof *u, (void **)&u));
  for (int64_t i = 0; i < rows->n; i++) {
    u[i].group = rows->group[rows->row[i]];
  }
  qsort(u, (size_t)rows->n, sizeof *u, by_group);
  for (int64_t i = 0; i < rows->n; i++) {
    if (n == 0 || u[i].group != u[n - 1].group) {
      u[n].bits = weir_random_bits(seed, FOLDS, 0, (uint64_t)u[i].group);
      u[n++].group = u[i].group;
    }
  }
  *groups = n;
  *used = n < folds ? n : folds;
  qsort(u, (size_t)n, sizeof *u, by_bits);
  for (int64_t i = 0; i < n; i++) {
    u[i].fold = i % *used;
  }
  qsort(u, (size_t)n, sizeof *u, by_group);
  for (int64_t i = 0; i < rows->n; i++) {
    const universe key = {.group = rows->group[rows->row[i]]};
    const universe *const found = bsearch(&key, u, (size_t)n, sizeof *u, by_group);

    fold[i] = found->fold;
  }
  weir_free(&u);
  return n >= 2 ? WEIR_OK : too_few(what, n);
}
