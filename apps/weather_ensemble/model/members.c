/* members.c - see members.h. */
#include "model/members.h"
#include <string.h>
#include "ops/broadcast/weir_broadcast.h"
#include "ops/concat/weir_concat.h"
#include "ops/reshape/weir_reshape.h"

weir_value wx_members_shared(weir_graph *g, weir_value v)
{
  const weir_array_desc *const d = weir_value_desc(g, v);

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  weir_reshape_spec s = {.rank = d->rank + 1, .shape = {d->shape[0], 1}};

  memcpy(s.shape + 2, d->shape + 1, sizeof *s.shape * (size_t)(d->rank - 1));
  return weir_reshape(g, v, &s);
}

weir_value wx_members_fold(weir_graph *g, weir_value x, weir_value members)
{
  const weir_array_desc *const d = weir_value_desc(g, x), *const e = weir_value_desc(g, members);

  if (d == NULL || e == NULL) {
    return WEIR_NO_VALUE;
  }
  const int last = d->rank - 1;
  weir_broadcast_spec all = {.rank = e->rank};
  weir_reshape_spec folded = {.rank = d->rank};

  memcpy(all.shape, e->shape, sizeof *all.shape * (size_t)e->rank);
  all.shape[e->rank - 1] = d->shape[last];
  memcpy(folded.shape, d->shape, sizeof *folded.shape * (size_t)d->rank);
  folded.shape[0] = e->shape[0] * e->shape[1];
  folded.shape[last] = d->shape[last] + e->shape[e->rank - 1];
  const weir_value each[] = {weir_broadcast(g, wx_members_shared(g, x), &all), members};

  return weir_reshape(g, weir_concat(g, each, 2, all.rank - 1), &folded);
}

weir_value wx_members_unfold(weir_graph *g, weir_value v, weir_value members)
{
  const weir_array_desc *const d = weir_value_desc(g, v), *const e = weir_value_desc(g, members);

  if (d == NULL || e == NULL) {
    return WEIR_NO_VALUE;
  }
  weir_reshape_spec s = {.rank = d->rank + 1, .shape = {e->shape[0], e->shape[1]}};

  memcpy(s.shape + 2, d->shape + 1, sizeof *s.shape * (size_t)(d->rank - 1));
  return weir_reshape(g, v, &s);
}
