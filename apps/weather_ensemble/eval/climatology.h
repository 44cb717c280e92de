/* climatology.h - what is usual at each point: of the truth, its mean and the thresholds of events;
 * of the raw forecasts, the quantiles that the Extreme Forecast Index compares with. From the
 * initialisation times of the evaluation data's fit alone, so that what is scored is not in it. */
#ifndef WX_CLIMATOLOGY_H
#define WX_CLIMATOLOGY_H
#include "conf/weir_opt.h"
#include "eval/score/efi.h"
#include "eval/eval_data.h"

enum { WX_EVENTS = 16 };

/* An event at a point: the truth lies above (or below) a threshold. */
typedef struct wx_event {
  char name[WX_SHORT]; /* "above p90" */
  bool above;
  double quantile; /* of the climate; NaN: `value` is the threshold everywhere */
  double value;
  char quantity[WX_SHORT]; /* "": of all quantities */
} wx_event;

typedef struct wx_climatology_opts {
  double window;    /* days */
  int64_t memory;   /* MiB */
  int efi;          /* wx_efi_form */
  int64_t first;    /* member from which on the index is made of the raw ensemble */
  const char *file; /* climate.nc of prepare; "": made of the initialisation times of the fit */
} wx_climatology_opts;
extern const weir_opt wx_climatology_options[];

typedef struct wx_climatology {
  const wx_climatology_opts *opts;
  const wx_event *event;
  int64_t n_events;
  wx_efi_rule efi;
  float *mean;      /* [cells] of the truth; NaN: no start has it there */
  float *threshold; /* [n_events, cells] */
  float *quantile;  /* [steps + 1, cells] of the raw members */
  int64_t *row;     /* positions in the evaluation data's fit of the initialisation times that it is
                       made of */
  int64_t n;
  int64_t *known; /* those of the arrays above, [n_fit]; n_known < 0: none yet */
  int64_t n_known, lead, quantity;
  const int64_t *scored; /* [n_scored] initialisation times that no climate may be made of */
  int64_t n_scored;
  /* Private: fields of all initialisation times of the fit [n_fit, 1 or members, cells], truth and
   * members, read once for a lead and quantity; NULL where they do not fit or are asked for once.
   */
  float *kept[2];
  int64_t kept_lead, kept_quantity;
} wx_climatology;

/* Checks the options. Fails: WEIR_ERR_CONFIG (a file and a window). */
weir_status wx_climatology_check(const wx_climatology_opts *opts) WEIR_CHECKED;
/* Creates a climatology. scored[n]: initialisation times that are scored; borrowed. Fails:
 * WEIR_ERR_CONFIG (a file and a window), WEIR_ERR_MEMORY. */
weir_status wx_climatology_create(const wx_climatology_opts *opts, const wx_event *event,
                                  int64_t n_events, const wx_eval_data *s, const int64_t *scored,
                                  int64_t n, wx_climatology *out) WEIR_CHECKED;
void wx_climatology_fini(wx_climatology *c);
/* Computes the climate for a start, lead and quantity: of all fitted initialisation times, of those
 * whose day of the year is near, or of the file. c->n 0: there are none, and all is NaN but
 * thresholds that are values. Fails: as the evaluation data; WEIR_ERR_CONFIG for a file of
 * initialisation times that are scored, of other quantiles or of other members than the index
 * takes. */
weir_status wx_climatology_update(wx_climatology *c, wx_eval_data *s, int64_t start, int64_t lead,
                                  int64_t quantity) WEIR_CHECKED;
/* Finds the raw members that the index is of: n from position `at` of the evaluation data's on.
 * Fails: WEIR_ERR_CONFIG where there are none. */
weir_status wx_climatology_members(const wx_climatology *c, const wx_eval_data *s, int64_t *at,
                                   int64_t *n) WEIR_CHECKED;
/* Computes the index of the raw ensemble at each point, [cells], NaN where members or climate are
 * missing; members[n_members, cells] are all of the evaluation data's. Fails: WEIR_ERR_CONFIG (no
 * such members), WEIR_ERR_MEMORY. */
weir_status wx_climatology_efi(const wx_climatology *c, const wx_eval_data *s, const float *members,
                               float *efi) WEIR_CHECKED;
#endif
