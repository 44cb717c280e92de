/* select.c - LifeStream's Select (Jayarajan et al., ASPLOS 2021). */
#include <string.h>
#include "base/weir_log.h"
#include "ops/elementwise/weir_elementwise.h"
#include "stream/op/select/weir_stream_select.h"
#include "stream/weir_formula.h"

static const weir_opt options[] = {
    WEIR_OPT_STRING(weir_stream_select_opts, value, "x",
                    "expression over the inputs, absent where one of them is or where the result "
                    "is NaN or infinite; a boolean gives 1 or 0"),
    WEIR_OPT_STRING(weir_stream_select_opts, unit, "",
                    "unit of the result, converted from that of the expression, which must be of "
                    "the same quantity; empty: unit of the expression"),
    WEIR_OPT_END,
};

/* The result in the unit that is asked for: stated where the expression has none, else computed. */
static weir_status convert(weir_graph *g, const weir_stream_select_opts *o, weir_series *s)
{
  double factor = 1;

  if (weir_unit_is_stated(s->unit) && !weir_unit_factor(s->unit, o->unit, &factor)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "unit: %s is in %s and cannot be converted to %s, a unit of another quantity: "
                     "if %s is wrong, write (%s) / 1 [%s] * 1 [%s]",
                     o->value, s->unit, o->unit, s->unit, o->value, s->unit, o->unit);
  }
  if (factor != 1) {
    weir_info("query", "select: %s is multiplied by %.9g, from %s to %s", o->value, factor, s->unit,
              o->unit);
    s->value = weir_scale(g, s->value, factor);
  }
  weir_series_set_unit(s, o->unit);
  return WEIR_OK;
}

static weir_status apply(const weir_series_use *use, weir_series *s)
{
  const weir_stream_select_opts *o = use->opts;
  weir_formula *f = NULL;

  if (strlen(o->unit) >= WEIR_SERIES_UNIT) {
    return weir_fail(WEIR_ERR_CONFIG, "unit: %s is longer than %d characters", o->unit,
                     WEIR_SERIES_UNIT - 1);
  }
  WEIR_TRY(weir_formula_parse(o->value, &f));
  const bool truth = weir_formula_is_bool(f);
  const weir_status status = weir_formula_build(f, use, s);
  weir_formula_destroy(&f);
  WEIR_TRY(status);
  if (truth) {
    s->value = weir_cast(use->graph, WEIR_F32, s->value);
  }
  return o->unit[0] != 0 ? convert(use->graph, o, s) : WEIR_OK;
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  WEIR_TRY(apply(use, &out->out[0]));
  out->name[0] = NULL;
  out->n = 1;
  return weir_graph_status(use->graph);
}

const weir_series_op weir_series_op_select = {
    .name = "select",
    .cite = "Jayarajan et al., ASPLOS 2021",
    .help = "expression of the inputs, slot by slot",
    .opts = options,
    .opts_size = sizeof(weir_stream_select_opts),
    .min_in = 1,
    .max_in = WEIR_SERIES_MAX,
    .build = build,
};
