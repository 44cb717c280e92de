/* packed_locate.c - see packed.h: where elements of the arrays of a product lie. */
#include "ops/contract/packed.h"

#include "base/weir_status.h"

packed_array packed_array_of(const packed_form *f, const packed_map *m, const weir_view *v)
{
  packed_array x = {.data = v->data};

  for (int d = 0; d < m->rank; d++) {
    for (int k = 0; k < f->n_labels; k++) {
      x.step[k] += m->coef[d][k] * v->stride[d];
    }
    x.data += (m->first[d] - v->origin[d]) * v->stride[d] * (int64_t)weir_dtype_size(v->dtype);
  }
  return x;
}

bool packed_locate(const packed_form *f, const packed_labels *l, const packed_array *x,
                   int64_t from, int64_t n, int64_t *to)
{
  int64_t digit[WEIR_MAX_DIMS] = {0}, at = 0, rest = from;
  bool joined = true;

  for (int i = l->n - 1; i >= 0; i--) {
    digit[i] = rest % f->extent[l->label[i]];
    rest /= f->extent[l->label[i]];
    at += digit[i] * x->step[l->label[i]];
  }
  for (int64_t j = 0; j < n; j++) {
    to[j] = at;
    joined = joined && at == to[0] + j;
    for (int i = l->n - 1; i >= 0; i--) {
      at += x->step[l->label[i]];
      if (++digit[i] < f->extent[l->label[i]]) {
        break;
      }
      at -= digit[i] * x->step[l->label[i]];
      digit[i] = 0;
    }
  }
  return joined;
}

packed_source packed_source_of(const packed_form *f, int operand, const weir_view *views)
{
  const packed_gather *g = &f->gather[operand];

  if (g->dim < 0) {
    return (packed_source){.stride = 0};
  }
  return (packed_source){packed_array_of(f, &g->map, &views[g->view]), views[g->view].dtype,
                         views[operand].stride[g->dim]};
}

int packed_arrays(const packed_form *form, const weir_node *node, int32_t *list, int n)
{
  int used = 3;

  WEIR_ASSERT(n >= 5);
  list[2] = node->out[0];
  for (int i = 0; i < 2; i++) {
    list[i] = node->in[form->operand[i]];
    if (form->index[i] >= 0) {
      list[used++] = node->in[form->index[i]];
    }
  }
  return used;
}
