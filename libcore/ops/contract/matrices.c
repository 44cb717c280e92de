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

/* Puts iteration dimension `label` where it belongs; false when the product has one already. */
static bool sort_label(const weir_access *a, int label, contract_matrices *s)
{
  const int in_a = weir_operand_follows(&a->in[s->a], a, label),
            in_b = weir_operand_follows(&a->in[1 - s->a], a, label);
  const int in_c = weir_operand_follows(&a->out[0], a, label);
  const int64_t extent = a->dim[label].hi;
  const bool first = in_a >= 0, second = in_b >= 0, third = in_c >= 0;
  int64_t *field = first && third    ? (second ? &s->stack : &s->m)
                   : second && third ? &s->n
                   : first && second ? &s->k
                                     : NULL;

  if (field == NULL || *field >= 0 || extent < 1 || extent > INT32_MAX || a->dim[label].time) {
    return false;
  }
  *field = extent;
  if (field == &s->stack) {
    s->as = in_a;
    s->bs = in_b;
    s->cs = in_c;
  } else if (field == &s->m) {
    s->am = in_a;
    s->cm = in_c;
  } else if (field == &s->n) {
    s->bn = in_b;
    s->cn = in_c;
  } else {
    s->ak = in_a;
    s->bk = in_b;
  }
  return true;
}

static bool shape_as(const weir_access *a, int first, contract_matrices *s)
{
  *s = (contract_matrices){
      .dtype = a->out[0].dtype, .m = -1, .n = -1, .k = -1, .stack = -1, .a = first};
  for (int k = 0; k < a->n_dims; k++) {
    if (!sort_label(a, k, s)) {
      return false;
    }
  }
  const bool stacked = s->stack >= 0;
  const int last = 1 + stacked; /* of three or two dimensions */

  return s->m > 0 && s->n > 0 && s->k > 0 && s->cn == last && (!stacked || s->as != last) &&
         (!stacked || s->bs != last);
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

bool contract_matrices_of(const weir_graph *g, const weir_group *group, contract_matrices *s)
{
  const weir_node *node = weir_graph_node(g, group->nodes[group->n_nodes - 1]);
  const weir_access *a = &node->access;
  const weir_dtype dtype = a->out[0].dtype;
  bool conj[2] = {false, false};
  bool right = group->n_nodes == 1 && contract_is_product(a, conj) && is_whole(a) &&
               !weir_dtype_is_whole(dtype);

  right = right && is_plain(a, &a->in[0]) && is_plain(a, &a->in[1]) && is_plain(a, &a->out[0]);
  right =
      right && has_short_rows(&a->in[0]) && has_short_rows(&a->in[1]) && has_short_rows(&a->out[0]);
  if (!right || !(shape_as(a, 0, s) || shape_as(a, 1, s))) {
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
