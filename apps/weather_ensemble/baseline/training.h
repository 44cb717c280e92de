/* training.h - forecasts and truth of the initialisation times that a model may be fitted on, in
 * memory. */
#ifndef WX_TRAINING_H
#define WX_TRAINING_H
#include "baseline/cases.h"
#include "conf/weir_opt.h"
#include "eval/eval_data.h"

/* Which raw members: n from position `at` of the archive's on; of which quantity and lead. */
typedef struct wx_training_of {
  int64_t at, n, lead, quantity;
} wx_training_of;

typedef struct wx_training {
  int64_t n, cells, members;      /* n: initialisation times that have truth and any member */
  int64_t *time;                  /* [n] of the initialisation times, s, ascending          */
  float *mean, *variance, *truth; /* [n, cells]                               */
  float *member;                  /* [n, members, cells], NULL: not kept      */
} wx_training;

/* Reads the training data. Fails: WEIR_ERR_MEMORY; as archives. With no start that has both, n is
 * 0. */
weir_status wx_training_read(wx_eval_data *s, const wx_training_of *of, bool keep_members,
                             wx_training *out) WEIR_CHECKED;
void wx_training_fini(wx_training *t);
/* Returns dates `row[n]` of it as cases, copied to scratch [3, n, cells]; row NULL: all, without a
 * copy. */
wx_cases wx_training_cases(const wx_training *t, const double *weight, const int64_t *row,
                           int64_t n, float *scratch);

/* The dates that a forecast is fitted to: all; those whose day of the year is at most half a window
 * from its own; or those of the window before it whose truth was known when it started. */
typedef enum wx_dates { WX_DATES_ALL, WX_DATES_SEASON, WX_DATES_PAST } wx_dates;
#define WX_DATES_CHOICES "all|season|past"
typedef struct wx_dates_opts {
  int kind;      /* wx_dates */
  double window; /* days */
  int64_t min_count;
} wx_dates_opts;
extern const weir_opt wx_dates_options[];
/* Chooses dates of time[n] for a start at `now` (s) and a lead (h), in row[n]; all where the window
 * holds fewer than min_count, which *few counts. Returns how many. */
int64_t wx_dates_choose(const wx_dates_opts *opts, const int64_t *time, int64_t n, int64_t now,
                        double lead, int64_t *row, int64_t *few);
#endif
