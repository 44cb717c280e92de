/* rows.c - which accesses are sums of rows, and the loops over their results. */
#include "ops/interpolate/rows.h"

#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "ops/contract/product.h"

rows_sum *rows_sum_get(weir_dtype x, weir_dtype out)
{
#if defined(__x86_64__)
  const weir_cpu *cpu = weir_cpu_get();
  const bool of_half = x == WEIR_BF16, to_half = out == WEIR_BF16;

  if ((x != WEIR_F32 && !of_half) || (out != WEIR_F32 && !to_half)) {
    return NULL;
  }
  if (of_half || to_half) {
    return !cpu->avx512bf16 ? NULL
           : !of_half       ? rows_sum_to_half
           : to_half        ? rows_sum_half_to_half
                            : rows_sum_of_half;
  }
  if (cpu->avx512) {
    return rows_sum_avx512;
  }
  if (cpu->avx2 && cpu->fma) {
    return rows_sum_avx2;
  }
#endif
  return NULL;
}

static bool involves(const weir_operand *o, int k)
{
  for (int d = 0; d < o->rank; d++) {
    if (o->index[d].coef[k] != 0) {
      return true;
    }
  }
  return false;
}

/* The index moves by a fixed number of elements along each iteration dimension. */
static bool is_plain(const weir_index *i)
{
  return weir_index_divisor(i) == 1 && i->border == WEIR_BORDER_NEVER;
}

/* The operand is read at places that can be listed. */
static bool is_listed(const weir_operand *o)
{
  for (int d = 0; d < o->rank; d++) {
    if (o->index[d].gather != 0 || o->index[d].border == WEIR_BORDER_VALUE) {
      return false;
    }
  }
  return true;
}

/* Coefficients, or places in x, do not follow dimension k by fixed steps. */
static bool is_point(const weir_access *a, const rows_form *f, int k)
{
  const weir_operand *x = &a->in[f->x];

  for (int d = 0; d < x->rank; d++) {
    if (x->index[d].coef[k] != 0 && !is_plain(&x->index[d])) {
      return true;
    }
  }
  return involves(&a->in[f->table], k);
}

/* Every dimension of the result is one parallel dimension, all others are reduced. */
static bool sort_dims(const weir_access *a, rows_form *f)
{
  const weir_operand *out = &a->out[0];
  bool parallel[WEIR_MAX_DIMS] = {false};

  f->rank = out->rank;
  for (int d = 0; d < out->rank; d++) {
    f->dim[d] = weir_index_follows(&out->index[d], a->n_dims);
    if (f->dim[d] < 0 || parallel[f->dim[d]] || a->dim[f->dim[d]].hi != out->extent[d]) {
      return false;
    }
    parallel[f->dim[d]] = true;
  }
  for (int k = 0; k < a->n_dims; k++) {
    if ((parallel[k] && a->dim[k].lo != 0) || a->dim[k].hi <= a->dim[k].lo || a->dim[k].time ||
        (a->dim[k].kind == WEIR_PARALLEL) != parallel[k]) {
      return false;
    }
    if (!parallel[k]) {
      f->reduced[f->n_reduced++] = k;
    }
  }
  return out->rank > 0;
}

static bool find_points(const weir_access *a, rows_form *f)
{
  const weir_operand *x = &a->in[f->x];
  const int row = f->dim[f->rank - 1];

  f->points = f->terms = 1;
  for (int d = 0; d < f->rank; d++) {
    f->point[d] = is_point(a, f, f->dim[d]);
    if (f->point[d] &&
        (!weir_mul_ok(f->points, a->dim[f->dim[d]].hi, &f->points) || f->points > ROWS_ENTRIES)) {
      return false;
    }
  }
  for (int i = 0; i < f->n_reduced; i++) {
    const weir_dim *d = &a->dim[f->reduced[i]];

    if (!weir_mul_ok(f->terms, d->hi - d->lo, &f->terms) || f->terms > ROWS_ENTRIES) {
      return false;
    }
  }
  bool in_band = false; /* else it is a product of matrices */

  for (int d = 0; d < x->rank; d++) {
    in_band = in_band || !is_plain(&x->index[d]);
    if (x->index[d].coef[row] != (d == x->rank - 1)) {
      return false;
    }
  }
  return in_band && !f->point[f->rank - 1] && f->points * f->terms <= ROWS_ENTRIES;
}

bool rows_form_of(const weir_access *a, rows_form *f)
{
  contract_product p;

  if (!contract_product_summed(a, &p) || a->n_in != 2 || a->accumulator != WEIR_F32 ||
      !is_listed(&a->in[0]) || !is_listed(&a->in[1])) {
    return false;
  }
  for (int i = 0; i < 2; i++) {
    *f = (rows_form){.x = p.operand[i],
                     .table = p.operand[1 - i],
                     .of = a->in[p.operand[i]].dtype,
                     .out = a->out[0].dtype};
    if (a->in[f->table].dtype == WEIR_F32 && rows_sum_get(f->of, f->out) != NULL &&
        a->in[f->x].rank > 0 && sort_dims(a, f) && find_points(a, f)) {
      return true;
    }
  }
  return false;
}

/* ---- what is known before a run ---- */

/* Iteration `number`, row-major, of some dimensions. */
static void unravel(const weir_access *a, const int *dim, int n, int64_t number, int64_t *iteration)
{
  for (int i = n - 1; i >= 0; i--) {
    const weir_dim *d = &a->dim[dim[i]];

    iteration[dim[i]] = d->lo + number % (d->hi - d->lo);
    number /= d->hi - d->lo;
  }
}

/* Places of an iteration in the operand; outside, the first becomes ROWS_OUTSIDE. Returns whether
 * the iteration counts, which it does not where the operand has nothing for it. */
static bool place(const weir_access *a, const weir_operand *o, const int64_t *iteration,
                  int64_t *index)
{
  bool outside = false, counts = true;

  for (int d = 0; d < o->rank; d++) {
    bool inside = true;

    index[d] = weir_index_border(
        &o->index[d], weir_index_raw(&o->index[d], a->n_dims, iteration, 0), o->extent[d], &inside);
    outside = outside || !inside;
    counts = counts && (inside || o->index[d].border != WEIR_BORDER_ABSENT);
  }
  if (outside) {
    index[0] = ROWS_OUTSIDE;
  }
  return counts;
}

static void list_places(rows_plan *p)
{
  const weir_access *a = &p->access;
  const rows_form *f = &p->form;
  const weir_operand *x = &a->in[f->x], *table = &a->in[f->table];
  int64_t iteration[WEIR_MAX_DIMS] = {0};
  int dim[WEIR_MAX_RANK], n = 0;

  for (int d = 0; d < f->rank; d++) {
    if (f->point[d]) {
      dim[n++] = f->dim[d];
    }
  }
  for (int64_t i = 0; i < f->points * f->terms; i++) {
    unravel(a, dim, n, i / f->terms, iteration);
    unravel(a, f->reduced, f->n_reduced, i % f->terms, iteration);
    const bool of_x = place(a, x, iteration, p->x + i * x->rank);
    const bool of_table = place(a, table, iteration, p->table + i * table->rank);

    if (!of_x || !of_table) {
      p->x[i * x->rank] = ROWS_NOTHING;
    }
  }
}

weir_status rows_plan_make(const weir_access *a, rows_plan *p)
{
  void *x = NULL, *table = NULL;
  weir_status status;

  *p = (rows_plan){.x = NULL};
  if (!rows_form_of(a, &p->form)) {
    return weir_fail(WEIR_ERR_SHAPE, "interpolate: the access is not a sum of rows");
  }
  const int64_t entries = p->form.points * p->form.terms;

  WEIR_TRY(weir_access_copy(a, &p->access));
  WEIR_TRY_GOTO(weir_alloc(entries * a->in[p->form.x].rank + 1, sizeof(int64_t), &x), fail);
  p->x = x;
  WEIR_TRY_GOTO(weir_alloc(entries * a->in[p->form.table].rank + 1, sizeof(int64_t), &table), fail);
  p->table = table;
  for (int d = 0; d < p->form.rank; d++) {
    p->extent[d] = a->out[0].extent[d];
  }
  list_places(p);
  return WEIR_OK;
fail:
  rows_plan_fini(p);
  return status;
}

void rows_plan_fini(rows_plan *p)
{
  void *x = p->x, *table = p->table;

  weir_free(&x);
  weir_free(&table);
  p->x = p->table = NULL;
  weir_access_fini(&p->access);
}
