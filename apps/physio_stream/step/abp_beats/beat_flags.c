/* beat_flags.c - see beat_flags.h. */
#include "step/abp_beats/beat_flags.h"
#include <math.h>

const weir_opt ps_abp_limit_options[] = {
    WEIR_OPT_REAL(ps_abp_limits, dbp_low, 20, -100, 300, "mmHg",
                  "lowest diastolic pressure (jSQI: 20)"),
    WEIR_OPT_REAL(ps_abp_limits, sbp_high, 300, 0, 1000, "mmHg",
                  "highest systolic pressure (jSQI: 300)"),
    WEIR_OPT_REAL(ps_abp_limits, map_low, 30, -100, 300, "mmHg", "lowest mean pressure (jSQI: 30)"),
    WEIR_OPT_REAL(ps_abp_limits, map_high, 200, 0, 1000, "mmHg",
                  "highest mean pressure (jSQI: 200)"),
    WEIR_OPT_REAL(ps_abp_limits, hr_low, 20, 1, 300, "1/min", "lowest heart rate (jSQI: 20)"),
    WEIR_OPT_REAL(ps_abp_limits, hr_high, 200, 1, 600, "1/min", "highest heart rate (jSQI: 200)"),
    WEIR_OPT_REAL(ps_abp_limits, pp_low, 20, 0, 300, "mmHg",
                  "lowest pulse pressure (jSQI: 20 in its code, 30 in its text)"),
    WEIR_OPT_REAL(ps_abp_limits, pressure_change, 20, 0, 300, "mmHg",
                  "largest change of a pressure from beat to beat (jSQI: 20)"),
    WEIR_OPT_REAL(ps_abp_limits, period_change, 0.5, 0, 10, "s",
                  "largest change of the period from beat to beat (jSQI: 0.5 s)"),
    WEIR_OPT_REAL(ps_abp_limits, fall, 375, 1, 100000, "mmHg/s",
                  "steepest mean fall of the pressure (jSQI: 3 mmHg a sample at 125 Hz)"),
    WEIR_OPT_END,
};

/* `flag` where a pair of values is further apart than `max_change`. */
static int change(double a, double b, double max_change, int flag)
{
  return fabs(a - b) > max_change ? flag : 0;
}

int ps_abp_flags(const ps_abp_limits *l, const ps_abp_beat *b, const ps_abp_beat *before)
{
  int flags = 0;

  flags |= b->dbp < l->dbp_low ? PS_ABP_DBP : 0;
  flags |= b->sbp > l->sbp_high ? PS_ABP_SBP : 0;
  flags |= b->map < l->map_low || b->map > l->map_high ? PS_ABP_MAP : 0;
  flags |= b->sbp - b->dbp < l->pp_low ? PS_ABP_PP : 0;
  flags |= b->fall < -l->fall ? PS_ABP_NOISE : 0;
  flags |= b->gap ? PS_ABP_GAP : 0;
  flags |= b->period > 0 ? 0 : PS_ABP_OPEN;
  if (b->period > 0 && (60 < l->hr_low * b->period || 60 > l->hr_high * b->period)) {
    flags |= PS_ABP_HR;
  }
  if (before != NULL) {
    flags |= change(b->sbp, before->sbp, l->pressure_change, PS_ABP_SBP_CHANGE);
    flags |= change(b->dbp, before->dbp, l->pressure_change, PS_ABP_DBP_CHANGE);
    flags |= change(b->onset, before->onset, l->pressure_change, PS_ABP_ONSET_CHANGE);
    if (b->period > 0) {
      flags |= change(b->period, before->period, l->period_change, PS_ABP_PERIOD_CHANGE);
    }
  }
  return flags;
}
