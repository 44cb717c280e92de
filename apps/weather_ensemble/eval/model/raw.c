/* raw.c - members of the ensemble as they are: all, or some that follow one another. */
#include <stdio.h>
#include "data/samples/members.h"
#include "eval/forecast_model.h"

typedef struct raw_opts {
  int64_t members, first;
} raw_opts;

static const weir_opt options[] = {
    WEIR_OPT_INT(raw_opts, members, 0, 0, 1e6, "1", "how many members; 0: all from the first on"),
    WEIR_OPT_INT(raw_opts, first, WX_FIRST_MEMBER, 0, 1e6, "1", WX_FIRST_MEMBER_HELP),
    WEIR_OPT_END,
};

static weir_status open_model(wx_model *m, wx_eval_data *s)
{
  const raw_opts *const o = m->opts;

  WEIR_TRY(wx_members_choose(s->facts, "eval.models", o->first, o->members, &m->first, &m->gives));
  m->used = m->gives;
  if (m->name[0] == 0) {
    (void)snprintf(m->name, sizeof m->name, "raw %lld", (long long)m->used);
  }
  return WEIR_OK;
}

static weir_status give(wx_model *m, wx_eval_data *s, int64_t start, wx_given *out)
{
  const float *all;

  WEIR_TRY(wx_eval_data_members(s, start, m->lead, m->quantity, &all));
  *out = (wx_given){.members = m->gives, .member = all + m->first * s->cells};
  return WEIR_OK;
}

const wx_model_desc wx_model_raw = {
    .name = "raw",
    .help = "members of the ensemble as they are",
    .cite = "",
    .opts = options,
    .opts_size = sizeof(raw_opts),
    .open = open_model,
    .give = give,
};
