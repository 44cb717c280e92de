/* data_check.c - which options of samples go together. */
#include "data/samples/members.h"
#include "data/samples/samples_priv.h"

static weir_status check_ascending(const char *key, const weir_real_list *hours)
{
  if (hours->count > WX_CHANNELS) {
    return weir_fail(WEIR_ERR_CONFIG, "data.%s: more than %d leads", key, WX_CHANNELS);
  }
  for (int64_t i = 1; i < hours->count; i++) {
    if (hours->items[i] <= hours->items[i - 1]) {
      return weir_fail(WEIR_ERR_CONFIG, "data.%s: %g h after %g h: give them ascending", key,
                       hours->items[i], hours->items[i - 1]);
    }
  }
  return WEIR_OK;
}

/* Early members are of inputs at leads of their own: where none of those is early, or nothing says
 * how many there are, the options would do nothing. */
static weir_status check_early(const wx_data_opts *o)
{
  const wx_early *e = &o->early;
  bool any = false;

  for (int64_t l = 0; l < o->input_lead.count; l++) {
    any = any || o->input_lead.items[l] <= e->until;
  }
  if (e->members > 0 && !any) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "early.members: no lead of input_lead is up to early.until, %g h: give such "
                     "leads, or leave early.members at 0",
                     e->until);
  }
  return e->members > 0 || e->until == 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG, "early.until: early.members does not say how many "
                                          "members reach that lead");
}

weir_status wx_data_check(const wx_data_opts *o, bool truth, bool y)
{
  if (o->target.count == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "data.target: names no quantity, such as [z500]");
  }
  if (o->analysis && !truth) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "data.analysis: the analysis is the truth at the initialisation time, and data.truth names "
        "no file");
  }
  if (y && o->label == WX_LABEL_TRUTH && !truth) {
    return weir_fail(WEIR_ERR_CONFIG, "data.truth: names no file of what came true");
  }
  if (o->depth == WX_DEPTH_LEVEL && o->levels.count == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "data.levels: a depth of levels needs some");
  }
  if (o->depth == WX_DEPTH_LEVEL && o->inputs.count == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "data.inputs: a depth of levels needs variables, as [t, z]");
  }
  WEIR_TRY(check_ascending("lead", &o->lead));
  WEIR_TRY(check_ascending("input_lead", &o->input_lead));
  return check_early(o);
}
