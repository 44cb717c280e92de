/* eval_rhythm.c - the rhythm of both sides of a record as figures; see eval_page.h. */
#include <stdio.h>
#include "page/eval_intervals.h"
#include "page/eval_page.h"
#include "page/hrv_figures.h"

static weir_status add_record(weir_report *r, const ps_cfg *cfg, const ps_scored *s, int64_t index)
{
  const double rate = (double)s->clock.fs_num / (double)s->clock.fs_den;
  ps_side reference = {0}, test = {0};
  char suffix[32];
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(ps_side_read(cfg, s, false, &reference), done);
  WEIR_TRY_GOTO(ps_side_read(cfg, s, true, &test), done);
  const ps_rhythm rhythms[PS_RHYTHMS] = {{"test", test.v, test.n, rate},
                                         {"reference", reference.v, reference.n, rate}};

  (void)snprintf(suffix, sizeof suffix, "_%lld", (long long)index + 1);
  WEIR_TRY_GOTO(
      ps_hrv_figures(r, ps_base_name(s->record), suffix, &cfg->eval.nn, rhythms, PS_RHYTHMS), done);
done:
  ps_side_fini(&reference);
  ps_side_fini(&test);
  return status;
}

weir_status ps_eval_rhythm(weir_report *r, const ps_cfg *cfg, const ps_scored *s, int64_t n)
{
  for (int64_t i = 0; i < n && i < PS_EVAL_RHYTHMS; i++) {
    WEIR_TRY(add_record(r, cfg, &s[i], i));
  }
  return WEIR_OK;
}
