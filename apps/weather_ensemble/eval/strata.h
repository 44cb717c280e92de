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

/* The skill of a model in one part, by the Gaussian CRPS. */
typedef struct wx_strata_skill {
  int64_t quantity, leads, model,
      reference; /* leads: a lead of wx_verify, or its n_leads + a
                    window; reference: an index of wx_verify.reference */
  int season;
  double skill, p; /* p: of the Diebold-Mariano test */
} wx_strata_skill;

typedef struct wx_strata {
  wx_strata_lead *lead;
  int64_t n, capacity;
  wx_strata_skill *skill; /* of what is written */
  int64_t n_skill, skill_capacity;
} wx_strata;

extern const char *const wx_season_name[WX_SEASONS]; /* "all", "DJF" */

/* Keeps what was scored last. Fails: WEIR_ERR_MEMORY. */
weir_status wx_strata_add(wx_strata *t, const wx_verify *v) WEIR_CHECKED;
/* Writes strata.csv, scores of every lead, window of leads, season and model, and
 * strata_skill.csv, the models against the references. A model that has no forecast of a lead of a
 * window is left out of the window. Fails: WEIR_ERR_MEMORY, as weir_table_write_csv. */
weir_status wx_strata_write(wx_strata *t, const wx_verify *v, const char *dir) WEIR_CHECKED;
/* Writes the name of wx_strata_skill.leads, such as "48 h". */
void wx_strata_leads_name(const wx_verify *v, int64_t leads, char *text, size_t size);
void wx_strata_fini(wx_strata *t);
#endif
