/* call_cases.c - see ops_cases.h. */
#include <string.h>
#include "ops/call/weir_call.h"
#include "ops/ops_cases.h"

/* The function that is called: output 0 is input 0 read backwards. */
static weir_status reverse(void *context, const weir_op_run *run)
{
  const weir_view *x = &run->in[0], *y = &run->out[0];
  const int64_t n = x->extent[0];

  (void)context;
  for (int64_t i = 0; i < n; i++) {
    const int64_t from = n - 1 - i;

    memcpy(weir_view_at(y, &i), weir_view_at(x, &from), weir_dtype_size(x->dtype));
  }
  return WEIR_OK;
}

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  const weir_array_desc x = weir_draw_array(&w, weir_draw_dtype(&w, "nbhc"), 1, 1);
  const weir_call_spec s = {.name = "reverse", .function = reverse, .n_out = 1, .out = {x}};

  weir_case_input(c, &x, 0, x.dtype == WEIR_BOOL ? 1 : 9);
  c->exact = true;
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_call = {.op = &weir_op_call, .draw = draw};
