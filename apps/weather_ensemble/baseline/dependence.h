/* dependence.h - members again out of a distribution at every point, with the dependence
 * between points, leads and variables that the raw members have. */
#ifndef WX_DEPENDENCE_H
#define WX_DEPENDENCE_H
#include "base/weir_status.h"
#include "conf/weir_opt.h"
#include "eval/score/distribution.h"

/* ecc: ensemble copula coupling ECC-Q (Schefzik, Thorarinsdottir and Gneiting, Statistical Science
 * 28 (2013) 616): quantiles of the distribution, in the order of the raw members. member, of
 * normal distributions: each member by itself, mu + sigma / S (x - m) (Van Schaeybroeck and
 * Vannitsem, QJRMS 141 (2015) 807).
 */
typedef enum wx_dependence_kind { WX_DEPENDENCE_ECC, WX_DEPENDENCE_MEMBER } wx_dependence_kind;
#define WX_DEPENDENCE_CHOICES "ecc|member"
/* Probabilities of the quantiles, i = 1..M: i / (M + 1), or (i - 1/2) / M, for which the CRPS of
 * the members is minimal. */
typedef enum wx_dependence_levels {
  WX_DEPENDENCE_EQUIDISTANT,
  WX_DEPENDENCE_HAZEN
} wx_dependence_levels;
#define WX_DEPENDENCE_LEVELS_CHOICES "equidistant|hazen"

typedef struct wx_dependence_opts {
  int kind, levels; /* wx_dependence_kind, wx_dependence_levels */
} wx_dependence_opts;
extern const weir_opt wx_dependence_options[];

/* A start: raw [members, n], location mu and scale sigma [n] of the family. */
typedef struct wx_dependence_start {
  int64_t members, n;
  const float *raw, *mu, *sigma;
  wx_family family;
  double lower, shift, width; /* of a family that has them */
  uint64_t seed;
  uint32_t start;
} wx_dependence_start;

/* Makes members of the distribution. out: [members, n]; may be raw. Equal members are ordered at
 * random, by (seed, start) alone: the same order at all points of a start. Members that are missing
 * at a point stay so; where all are equal, kind member gives mu. Fails: WEIR_ERR_MEMORY. */
weir_status wx_dependence(const wx_dependence_opts *opts, const wx_dependence_start *s,
                          float *out) WEIR_CHECKED;
#endif
