/* verify.h - models side by side on the same initialisation times and points: a quantity and a lead
 * at a time, so that memory does not grow with either. */
#ifndef WX_VERIFY_H
#define WX_VERIFY_H
#include "data/simulation/event.h"
#include "eval/climatology.h"
#include "eval/remarks.h"
#include "eval/forecast_model.h"
#include "eval/score/significance.h"
#include "eval/score/score_sums.h"

enum { WX_MODELS = 32, WX_LEAD_WINDOWS = 32, WX_JOINT_QUANTITIES = 8 };
enum { WX_JOINT = -1 }; /* of wx_verify.at_quantity: those of eval.joint together */

typedef enum wx_init_times_rule { WX_INIT_TIMES_SAME, WX_INIT_TIMES_ALL } wx_init_times_rule;
typedef enum wx_missing_rule { WX_MISSING_DROP, WX_MISSING_COUNT } wx_missing_rule;

/* A row of lead_windows: leads from..to, ends included, scored together as well (eval/strata.h). */
typedef struct wx_lead_window {
  const char *name;
  double from, to; /* h */
} wx_lead_window;

/* A row of joint: a quantity of the vectors that are scored. */
typedef struct wx_joint_row {
  const char *quantity;
  double scale; /* in its units; 0: the standard deviation of the truth */
} wx_joint_row;

/* Section `eval`. */
typedef struct wx_verify_opts {
  weir_struct_list models;       /* wx_model_row */
  weir_string_list references;   /* names of models */
  int part;                      /* wx_subset, or WX_SUBSETS: all */
  weir_string_list quantities;   /* none: all that the truth has too */
  weir_real_list leads;          /* h; none: all */
  weir_struct_list lead_windows; /* wx_lead_window */
  weir_struct_list joint;        /* wx_joint_row */
  int init_times;                /* wx_init_times_rule */
  int missing;                   /* wx_missing_rule */
  weir_struct_list regions;      /* wx_region */
  weir_real_list quantiles;      /* of the truth's climate, for events */
  weir_struct_list events;       /* wx_event_row */
  wx_score_sums_opts score;
  wx_climatology_opts climate;
  wx_bootstrap_opts bootstrap;
  double figure_lead; /* h */
  double figure_limit;
} wx_verify_opts;
extern const weir_opt wx_verify_options[];

/* Sums over initialisation times of the difference of a model's CRPS to the first reference's at
 * each point, for a map of tests. [cells] each. */
typedef struct wx_pair_map {
  double *sum, *square, *lagged, *count;
  float *last;
} wx_pair_map;

/* Quantities that are scored together, as vectors. */
typedef struct wx_joint {
  int64_t n;                                 /* 0: none                                      */
  int64_t quantity[WX_JOINT_QUANTITIES];     /* numbers of the forecast archive              */
  double scale[WX_JOINT_QUANTITIES];         /* of the lead at hand                          */
  char name[WX_JOINT_QUANTITIES * WX_SHORT]; /* "z500+t500"                              */
  wx_model *model;                           /* private: [n, WX_MODELS], while a lead is scored */
  float *truth, *member[WX_MODELS];          /* private: [n, cells], [n, gives, cells]       */
} wx_joint;

typedef struct wx_verify {
  const wx_verify_opts *opts;
  wx_eval_data *data;
  uint64_t seed;
  wx_regions regions;
  int64_t n_models, n_references;
  wx_model model[WX_MODELS];
  wx_score_sums score_sums[WX_MODELS];
  wx_pair_map pair[WX_MODELS];
  int64_t reference[WX_MODELS]; /* numbers of models; [0] is the one of maps */
  wx_event event[WX_EVENTS];
  int64_t n_events;
  wx_climatology climate;
  const int64_t *candidate; /* initialisation times that may be scored, ascending */
  int64_t n_candidates;
  int64_t *quantity, n_quantities, *lead, n_leads; /* numbers of the forecast archive */
  wx_joint joint;
  /* Of the quantity and lead at hand: */
  int64_t at_quantity, at_lead, n_init_times;
  wx_remarks remarks;    /* what was left out */
  int64_t *start, *time; /* [n_init_times] those that were scored; their seconds */
  double *efi_mean;      /* [n_init_times] mean of the index over the grid; NaN: not known */
  /* Of a start: */
  float *truth, *efi;
  unsigned char *use;
} wx_verify;

/* Checks the options, each and together, before any archive is open. Fails:
 * WEIR_ERR_CONFIG as wx_verify_open. */
weir_status wx_verify_check(const wx_verify_opts *opts) WEIR_CHECKED;
/* Opens the models and allocates; candidate[n]: initialisation times of the forecast archive.
 * Borrows all but opens models. Fails: WEIR_ERR_CONFIG (no models; two of a name; a reference,
 * quantity or lead that there is not; no start), as the models. */
weir_status wx_verify_open(const wx_verify_opts *opts, wx_eval_data *s, uint64_t seed,
                           const int64_t *candidate, int64_t n, wx_verify *out) WEIR_CHECKED;
void wx_verify_close(wx_verify *v);
/* Fits the models for a quantity and a lead and scores all initialisation times of which forecast,
 * truth and all models are there; v->remarks tell what is left out. Fails: as models and archives;
 * WEIR_ERR_DATA where no start, no model or no point is left to score; WEIR_ERR_STOPPED. */
weir_status wx_verify_lead(wx_verify *v, int64_t quantity, int64_t lead) WEIR_CHECKED;
/* Scores the quantities of v->joint together at a lead, by the models that give members: the others
 * are absent. Sets v as wx_verify_lead does, with at_quantity WX_JOINT. Fails: as it; WEIR_ERR_DATA
 * where the truth of a quantity without a scale never changes. */
weir_status wx_verify_joint(wx_verify *v, int64_t lead) WEIR_CHECKED;
/* Writes "z500: 812.3 m2 s-2, t500: 3.1 K", what quantities of v->joint were divided by; scale[n].
 */
enum { WX_SCALES_TEXT = WX_JOINT_QUANTITIES * 2 * WX_SHORT };
void wx_verify_joint_scales(const wx_verify *v, const double *scale, char *text, size_t size);
/* Reads the truth of a start and asks every model; v->truth, v->use and given[n_models] are set.
 * False in *any: there is no truth. */
weir_status wx_verify_start(wx_verify *v, int64_t start, wx_given *given, bool *any) WEIR_CHECKED;
/* Computes p of the test of Diebold and Mariano at each point, of a model against the first
 * reference, [cells]; NaN: no test. */
void wx_verify_map_test(const wx_verify *v, int64_t model, double *p);
#endif
