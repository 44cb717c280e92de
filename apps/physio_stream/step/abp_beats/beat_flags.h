/* beat_flags.h - why a beat of arterial pressure is not to be trusted: the signal abnormality index
 * of Sun, Reisner and Mark (Computers in Cardiology 33 (2006) 13-16; jSQI of the PhysioNet
 * cardiac-output toolbox), a bit for each criterion. */
#ifndef PS_BEAT_FLAGS_H
#define PS_BEAT_FLAGS_H
#include "conf/weir_opt.h"

// clang-format off
/* X(enum, value of its bit, name, meaning); a table of docs/science/physio_stream.md too */
#define PS_ABP_FLAG_LIST(X) \
  X(PS_ABP_DBP,              1, "dbp",           "diastolic pressure too low") \
  X(PS_ABP_SBP,              2, "sbp",           "systolic pressure too high") \
  X(PS_ABP_MAP,              4, "map",           "mean pressure out of range") \
  X(PS_ABP_HR,               8, "hr",            "heart rate out of range") \
  X(PS_ABP_PP,              16, "pp",            "pulse pressure too low") \
  X(PS_ABP_SBP_CHANGE,      32, "sbp_change",    "large change of systolic pressure") \
  X(PS_ABP_DBP_CHANGE,      64, "dbp_change",    "large change of diastolic pressure") \
  X(PS_ABP_ONSET_CHANGE,   128, "onset_change",  "large change of pressure at the onset") \
  X(PS_ABP_PERIOD_CHANGE,  256, "period_change", "large change of the period") \
  X(PS_ABP_NOISE,          512, "noise",         "falls too steeply, as noise does") \
  X(PS_ABP_LONE,          1024, "lone",          "good, but between two bad beats") \
  X(PS_ABP_OPEN,          2048, "open",          "no next onset in time: period unknown") \
  X(PS_ABP_GAP,           4096, "gap",           "samples are absent within the beat")
// clang-format on

enum {
#define X(id, value, name, text) id = value,
  PS_ABP_FLAG_LIST(X)
#undef X
};

typedef struct ps_abp_limits {
  double dbp_low, sbp_high, map_low, map_high; /* mmHg */
  double hr_low, hr_high;                      /* 1/min */
  double pp_low;                               /* mmHg */
  double pressure_change;                      /* mmHg */
  double period_change;                        /* s */
  double fall;                                 /* mmHg/s */
} ps_abp_limits;

extern const weir_opt ps_abp_limit_options[];

/* One beat; period 0 where no next onset came in time. */
typedef struct ps_abp_beat {
  double onset, sbp, dbp, map; /* mmHg */
  double period;               /* s */
  double fall;                 /* mmHg/s, mean over falling slots, <= 0 */
  int gap;
} ps_abp_beat;

/* Flags of a beat after `before` (NULL where no beat ended at its onset); PS_ABP_LONE apart. */
int ps_abp_flags(const ps_abp_limits *limits, const ps_abp_beat *b, const ps_abp_beat *before);
#endif
