/* matrices.c - see matrices.h. The access alone is asked, so that the derivatives of a contraction
 * are products too. */
#include "ops/contract/matrices.h"

#include "base/weir_alloc.h"
#include "ops/contract/product.h"

/* Every index is one label that stays in the array: no diagonal, no shift, no border. */
static bool is_plain(const weir_access *a, const weir_operand *o)
{
  bool plain = true;
  int used = 0;

  for (int d = 0; d < o->rank && plain; d++) {
    const int k = weir_index_follows(&o->index[d], a->n_dims);

    plain = k >= 0 && (used >> k & 1) == 0 && a->dim[k].hi <= o->extent[d];
    used |= plain ? 1 << k : 0;
  }
  return plain;
}

/* The label's dimension of the operand comes right after `before`, but for others of one element,
 * or is the first; two that follow one another are one dimension of rows of the second, which must
 * be complete. */
static bool extends(const weir_access *a, const weir_operand *o, int label, int before)
{
  const int at = weir_operand_follows(o, a, label);

  for (int d = before + 1; before >= 0 && d < at; d++) {
    if (o->extent[d] != 1) {
      return false;
    }
  }
  return before < at && (before < 0 || a->dim[label].hi == o->extent[at]);
}

/* Dimensions that follow the label have one element in all arrays. */
static bool is_one(const weir_access *a, int label)
{
  const weir_operand *of[] = {&a->in[0], &a->in[1], &a->out[0]};
  bool one = a->dim[label].hi == 1;

  for (int i = 0; i < 3 && one; i++) {
    const int at = weir_operand_follows(of[i], a, label);

    one = at < 0 || of[i]->extent[at] == 1;
  }
  return one;
}

/* Puts iteration dimension `label` where it belongs; false when the product has one there already
 * that it does not follow in both arrays. */
static bool sort_label(const weir_access *a, int label, contract_matrices *s)
{
  const weir_operand *oa = &a->in[s->a], *ob = &a->in[1 - s->a], *oc = &a->out[0];
  const int in_a = weir_operand_follows(oa, a, label), in_b = weir_operand_follows(ob, a, label);
  const int in_c = weir_operand_follows(oc, a, label);
  const int64_t extent = a->dim[label].hi;
  const bool first = in_a >= 0, second = in_b >= 0, third = in_c >= 0;
  int64_t *field = first && third    ? (second ? &s->stack : &s->m)
                   : second && third ? &s->n
                   : first && second ? &s->k
                                     : NULL;
  const bool stack = field == &s->stack;
  int *in[] = {first ? (stack   ? &s->as
                        : third ? &s->am
                                : &s->ak)
                     : NULL,
               second ? (stack   ? &s->bs
                         : third ? &s->bn
                                 : &s->bk)
                      : NULL,
               third ? (stack   ? &s->cs
                        : first ? &s->cm
                                : &s->cn)
                     : NULL};
  const weir_operand *of[] = {oa, ob, oc};
  const int at[] = {in_a, in_b, in_c};

  if (field == NULL || extent < 1 || a->dim[label].time) {
    return false;
  }
  for (int i = 0; i < 3; i++) {
    if (in[i] != NULL && !extends(a, of[i], label, *field < 0 ? -1 : *in[i])) {
      return false;
    }
  }
  for (int i = 0; i < 3; i++) {
    if (in[i] != NULL) {
      *in[i] = at[i];
    }
  }
  *field = (*field < 0 ? 1 : *field) * extent;
  return *field <= INT32_MAX;
}

/* With operand `first` as A; ones: labels of one element count. */
static bool shape_as(const weir_access *a, int first, bool ones, contract_matrices *s)
{
  *s = (contract_matrices){
      .dtype = a->out[0].dtype, .m = -1, .n = -1, .k = -1, .stack = -1, .a = first};
  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].hi > INT32_MAX || ((ones || !is_one(a, k)) && !sort_label(a, k, s))) {
      return false;
    }
  }
  const bool stacked = s->stack >= 0;

  if (stacked && !ones) { /* such a label behind the stack would hide that it is the last */
    return false;
  }

  return s->m > 0 && s->n > 0 && s->k > 0 && s->cn == a->out[0].rank - 1 &&
         (!stacked || s->as != a->in[first].rank - 1) &&
         (!stacked || s->bs != a->in[1 - first].rank - 1);
}

/* Every dimension counts from 0; those that the output lacks are the summed ones. */
static bool is_whole(const weir_access *a)
{
  bool whole = true;

  for (int k = 0; k < a->n_dims; k++) {
    const bool kept = weir_operand_follows(&a->out[0], a, k) >= 0;

    whole = whole && a->dim[k].lo == 0 && a->dim[k].kind == (kept ? WEIR_PARALLEL : WEIR_REDUCED);
  }
  return whole;
}

/* The library counts the elements from one row to the next in 32 bits. */
static bool has_short_rows(const weir_operand *o)
{
  int64_t stride = 1;

  for (int d = o->rank - 1; d > 0; d--) {
    if (!weir_mul_ok(stride, o->extent[d], &stride) || stride > INT32_MAX) {
      return false;
    }
  }
  return true;
}

static const weir_access *access_of(const weir_graph *g, const weir_group *group)
{
  return &weir_graph_node(g, group->nodes[group->n_nodes - 1])->access;
}

/* The labels of a product. */
static bool has_shape(const weir_access *a, contract_matrices *s)
{
  bool right = is_whole(a) && !weir_dtype_is_whole(a->out[0].dtype);

  right = right && is_plain(a, &a->in[0]) && is_plain(a, &a->in[1]) && is_plain(a, &a->out[0]);
  right =
      right && has_short_rows(&a->in[0]) && has_short_rows(&a->in[1]) && has_short_rows(&a->out[0]);
  return right && (shape_as(a, 0, true, s) || shape_as(a, 1, true, s) || shape_as(a, 0, false, s) ||
                   shape_as(a, 1, false, s));
}

bool contract_matrices_of_bf16(const weir_graph *g, const weir_group *group, contract_matrices *s)
{
  const weir_access *a = access_of(g, group);
  contract_product p;

  if (group->n_nodes != 1 || !contract_product_summed(a, &p) || a->n_in != 2 ||
      a->accumulator != WEIR_F32 || a->in[0].dtype != WEIR_BF16 || a->in[1].dtype != WEIR_BF16 ||
      (a->out[0].dtype != WEIR_F32 && a->out[0].dtype != WEIR_BF16) || !has_shape(a, s)) {
    return false;
  }
  s->dtype = WEIR_F32;
  return true;
}

bool contract_matrices_of(const weir_graph *g, const weir_group *group, contract_matrices *s)
{
  const weir_access *a = access_of(g, group);
  bool conj[2] = {false, false};

  if (group->n_nodes != 1 || !contract_is_product(a, conj) || !has_shape(a, s)) {
    return false;
  }
  s->a_conj = conj[s->a];
  s->b_conj = conj[1 - s->a];
  return true;
}

double contract_matrices_work(const contract_matrices *s)
{
  const double each = weir_dtype_is_complex(s->dtype) ? 4 : 1;

  return each * (double)s->m * (double)s->n * (double)s->k;
}
