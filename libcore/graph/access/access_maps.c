/* access_maps.c - which operands follow the iterations one to one. */
#include "graph/weir_access.h"

int weir_operand_moves(const weir_operand *o, int k)
{
  int found = -1;

  for (int d = 0; d < o->rank && found != -2; d++) {
    if (o->index[d].coef[k] != 0) {
      found = found < 0 ? d : -2;
    }
  }
  return found;
}

int64_t weir_operand_stride(const weir_operand *o, int d)
{
  int64_t stride = 1;

  for (int k = d + 1; k < o->rank; k++) {
    stride *= o->extent[k];
  }
  return stride;
}

int weir_operand_follows(const weir_operand *o, const weir_access *a, int k)
{
  for (int d = 0; d < o->rank; d++) {
    if (weir_index_follows(&o->index[d], a->n_dims) == k) {
      return d;
    }
  }
  return -1;
}

int weir_operand_dim(const weir_operand *o, const weir_access *a, int d)
{
  const int k = weir_index_follows(&o->index[d], a->n_dims);

  return k >= 0 && a->dim[k].lo == 0 && a->dim[k].hi == o->extent[d] ? k : -1;
}

int weir_operand_pieces(const weir_operand *o, const weir_access *a, int k)
{
  const int follows = weir_operand_follows(o, a, k);
  const bool alone = o->role == WEIR_ROLE_DATA && weir_operand_moves(o, k) == follows;

  return alone && (follows < 0 || o->extent[follows] == a->dim[k].hi) ? follows : -2;
}

/* True when every dimension is in the mask (bit k: dimension k) but those of one iteration. */
static bool are_all(unsigned dims, const weir_access *a)
{
  for (int k = 0; k < a->n_dims; k++) {
    if ((dims >> k & 1) == 0 && a->dim[k].hi - a->dim[k].lo != 1) {
      return false;
    }
  }
  return true;
}

bool weir_operand_is_one_to_one(const weir_operand *o, const weir_access *a, int *order)
{
  unsigned used = 0;

  for (int d = 0; d < o->rank; d++) {
    const int k = weir_operand_dim(o, a, d);

    if (k < 0 || (used >> k & 1u) != 0) {
      return false;
    }
    order[d] = k;
    used |= 1u << k;
  }
  return are_all(used, a);
}

bool weir_operand_is_permutation(const weir_operand *o, const weir_access *a, int *order)
{
  return o->rank == a->n_dims && o->role == WEIR_ROLE_DATA &&
         weir_operand_is_one_to_one(o, a, order);
}

bool weir_operand_is_identity(const weir_operand *o, const weir_access *a)
{
  int order[WEIR_MAX_RANK];
  bool same = weir_operand_is_permutation(o, a, order);

  for (int d = 0; d < o->rank && same; d++) {
    same = order[d] == d;
  }
  return same;
}

/* Extent of the one reduced dimension k of the index and what it is multiplied with elsewhere: the
 * index is stride * i + k, k < stride. */
static bool is_side_by_side(const weir_index *x, const weir_access *a, unsigned *used)
{
  int64_t stride = 0, extent = 1;

  for (int k = 0; k < a->n_dims; k++) {
    if (x->coef[k] == 0) {
      continue;
    }
    if (x->coef[k] < 0 || (*used >> k & 1) != 0) {
      return false;
    }
    *used |= 1u << k;
    if (a->dim[k].kind == WEIR_REDUCED && extent == 1 && x->coef[k] == 1) {
      extent = a->dim[k].hi - a->dim[k].lo;
    } else if (a->dim[k].kind != WEIR_REDUCED && stride == 0) {
      stride = x->coef[k];
    } else {
      return false;
    }
  }
  return x->div <= 1 && x->gather == 0 && (stride == 0 || extent <= stride);
}

bool weir_operand_reads_once(const weir_operand *o, const weir_access *a)
{
  unsigned used = 0;

  for (int d = 0; d < o->rank; d++) {
    if (!is_side_by_side(&o->index[d], a, &used)) {
      return false;
    }
  }
  return are_all(used, a);
}

bool weir_access_is_pointwise(const weir_access *a)
{
  bool yes = a->maker == WEIR_MADE_BY_BODY && a->combine == WEIR_COMBINE_NONE && a->n_states == 0;

  for (int k = 0; k < a->n_dims; k++) {
    yes = yes && a->dim[k].kind == WEIR_PARALLEL;
  }
  return yes;
}

int weir_access_time(const weir_access *a)
{
  int time = -1;

  for (int k = 0; k < a->n_dims; k++) {
    time = a->dim[k].time ? k : time;
  }
  return time;
}
