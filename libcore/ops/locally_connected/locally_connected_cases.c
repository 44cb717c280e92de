/* locally_connected_cases.c - see ops_cases.h. */
#include <string.h>
#include "base/weir_check.h"
#include "ops/locally_connected/weir_locally_connected.h"
#include "ops/ops_cases.h"

/* A random convolution, its weight repeated for every position. */
static void draw(uint64_t seed, weir_op_case *c)
{
  weir_array_desc w = {.rank = 0}, out;

  weir_op_draw(&weir_op_conv, seed, c);
  const weir_op_args args = {.spec = c->spec.bytes, .n_in = 2, .in = c->in};
  const int dims = c->in[0].rank - 2;

  assert_ok(weir_op_conv.infer(&args, &out));
  w = c->in[1];
  memcpy(w.shape, out.shape + 1, (size_t)dims * sizeof *w.shape);
  memcpy(w.shape + dims, c->in[1].shape, (size_t)w.rank * sizeof *w.shape);
  w.rank += dims;
  c->in[1] = w;
}

const weir_op_cases weir_op_cases_locally_connected = {.op = &weir_op_locally_connected,
                                                       .draw = draw};
