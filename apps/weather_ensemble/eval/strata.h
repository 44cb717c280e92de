/* strata.h - scores of parts of the verification (stratified verification, Jolliffe and Stephenson,
 * Forecast Verification (2012), 1.4): the seasons of the valid dates, and windows of lead times
 * taken together, each with intervals of its own, as tables. */
#ifndef WX_STRATA_H
#define WX_STRATA_H
#include "eval/verify.h"
#include "report/weir_report.h"

/* Of DJF, MAM, JJA, SON; WX_SEASON_ALL: the whole year. */
typedef enum wx_season {
  WX_SEASON_ALL,
  WX_SEASON_DJF,
  WX_SEASON_MAM,
  WX_SEASON_JJA,
  WX_SEASON_SON,
  WX_SEASONS
} wx_season;
/* Returns the season of a day since 1970. */
wx_season wx_season_of(double days);

/* What a quantity and lead leave: sums of every initialisation time and model, weighted by area. */
typedef struct wx_strata_lead {
  int64_t quantity, lead, n;
  int64_t *start, *valid; /* [n] numbers of initialisation times, seconds */
  double *sum;            /* [models, sums, n] */
  bool absent[WX_MODELS];
} wx_strata_lead;

typedef struct wx_strata {
  wx_strata_lead *lead;
  int64_t n, capacity;
} wx_strata;

/* Keeps what was scored last. Fails: WEIR_ERR_MEMORY. */
weir_status wx_strata_add(wx_strata *t, const wx_verify *v) WEIR_CHECKED;
/* Writes strata.csv, scores of every lead, window of leads, season and model, and
 * strata_skill.csv, the models against the references. A model that has no forecast of a lead of a
 * window is left out of the window. Fails: WEIR_ERR_MEMORY, as weir_table_write_csv. */
weir_status wx_strata_write(const wx_strata *t, const wx_verify *v, const char *dir) WEIR_CHECKED;
void wx_strata_fini(wx_strata *t);
#endif
