/* join_cases.c - see series_cases.h. */
#include "stream/op/join/join_priv.h"
#include "base/weir_check.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/slice/weir_slice.h"
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_join;

/* A stream joined with every n-th sample of itself that is not negative. */
static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  const join_opts o = {.kind = (int)(seed % 3),
                       .fill_left = 2,
                       .fill_right = -3,
                       .value = seed % 4 == 3 ? "a - 0.5 * b" : ""};
  weir_graph *g = use->graph;
  weir_series slow = use->in[0];
  weir_series_use both = *use;
  const int64_t hop = 1 + (int64_t)(seed % 5);

  slow.present = weir_slice(g, weir_and(g, slow.present, weir_ge_scalar(g, slow.value, 0)), 0, 0,
                            WEIR_SLICE_END, hop);
  slow.value = weir_slice(g, slow.value, 0, 0, WEIR_SLICE_END, hop);
  slow.age = WEIR_NO_VALUE;
  assert_ok(weir_series_scale_rate(&slow, 1, hop));
  slow = weir_series_mask(g, slow);
  const weir_series in[] = {seed % 2 == 0 ? use->in[0] : slow, seed % 2 == 0 ? slow : use->in[0]};

  both.in = in;
  both.in_name = (const char *const[]){"a", "b"};
  both.n_in = 2;
  const weir_series_result r = weir_series_step(&weir_series_op_join, &both, &o);

  return r.out[seed / 7 % (uint64_t)r.n];
}

const weir_series_cases weir_series_cases_join = {.op = &weir_series_op_join, .draw = draw};
