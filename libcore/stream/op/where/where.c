/* where.c - LifeStream's Where (Jayarajan et al., ASPLOS 2021). */
#include "ops/elementwise/weir_elementwise.h"
#include "stream/op/where/weir_stream_where.h"
#include "stream/weir_formula.h"

static const weir_opt options[] = {
    WEIR_OPT_STRING(weir_stream_where_opts, keep, "present(x)",
                    "condition over the inputs, such as \"x > 20 mmHg\"; the result is absent "
                    "where it is false or a required stream is absent"),
    WEIR_OPT_END,
};

weir_series weir_stream_where(weir_graph *g, weir_series s, weir_value keep)
{
  s.age = WEIR_NO_VALUE;
  s.present = weir_and(g, s.present, keep);
  return weir_series_mask(g, s);
}

static weir_status condition(const weir_formula *f, const weir_series_use *use, weir_series *keep)
{
  if (!weir_formula_is_bool(f)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "keep: the expression is a number: write a boolean such as x > 0");
  }
  return weir_formula_build(f, use, keep);
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const weir_stream_where_opts *o = use->opts;
  weir_formula *f = NULL;
  weir_series keep;

  WEIR_TRY(weir_formula_parse(o->keep, &f));
  const weir_status status = condition(f, use, &keep);
  weir_formula_destroy(&f);
  WEIR_TRY(status);
  out->out[0] = weir_stream_where(use->graph, use->in[0], keep.value);
  out->name[0] = NULL;
  out->n = 1;
  return weir_graph_status(use->graph);
}

const weir_series_op weir_series_op_where = {
    .name = "where",
    .cite = "Jayarajan et al., ASPLOS 2021",
    .help = "the first input where a condition is true, absent elsewhere",
    .opts = options,
    .opts_size = sizeof(weir_stream_where_opts),
    .min_in = 1,
    .max_in = WEIR_SERIES_MAX,
    .build = build,
};
