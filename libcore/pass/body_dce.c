/* body_dce.c - expressions that nothing needs. */
#include "pass/weir_body_dce.h"

#include "base/weir_alloc.h"

weir_status weir_body_dce(weir_access *a)
{
  weir_body *b = &a->body;
  void *memory = NULL;
  int32_t *number = NULL;
  int32_t kept = 0;

  WEIR_TRY(weir_alloc(b->n, sizeof(int32_t), &memory));
  number = memory;
  for (int k = 0; k < a->n_values; k++) {
    number[a->value[k]] = 1;
  }
  for (int k = 0; k < a->n_states; k++) {
    number[a->state[k].next] = 1;
  }
  for (int32_t i = b->n - 1; i >= 0; i--) {
    const weir_expr *e = &b->exprs[i];

    if (number[i] != 0) {
      const int32_t args[3] = {e->a, e->b, e->c};

      for (int j = 0; j < 3; j++) {
        if (args[j] >= 0) {
          number[args[j]] = 1;
        }
      }
    }
  }
  for (int32_t i = 0; i < b->n; i++) {
    if (number[i] != 0) {
      b->exprs[kept] = weir_expr_renumber(b->exprs[i], number);
      number[i] = kept++;
    }
  }
  b->n = kept;
  weir_access_renumber(a, number);
  weir_free(&number);
  return WEIR_OK;
}
