/* forecast_model.h - what is verified: whatever gives a forecast of a start, as members or as the
 * distribution of a location and a scale. Raw members, climatology, persistence,
 * EMOS, predictions of a network: one way to score them. A file model/NAME.c that defines
 * wx_model_NAME is a kind of model: the build lists them. */
#ifndef WX_FORECAST_MODEL_H
#define WX_FORECAST_MODEL_H
#include "conf/weir_opt.h"
#include "eval/eval_data.h"
#include "eval/score/distribution.h"
#include "model/outputs.h"

/* A forecast of the whole grid. The model's, until its next call; NaN is missing. */
typedef struct wx_given {
  int64_t members;               /* rows of `member`; 0: a distribution */
  const float *member;           /* [members, cells]                    */
  const float *mean, *sd;        /* [cells], where members is 0         */
  wx_family family;              /* normal: that of mean and sd         */
  double lower, shift, width;    /* of a family that has them           */
  const float *location, *scale; /* [cells], of families other than normal */
} wx_given;

struct wx_model_desc;
typedef struct wx_model {
  const struct wx_model_desc *desc;
  const void *opts;       /* of the descriptor's table                                  */
  char name[WX_SHORT];    /* in tables; unique in an evaluation                         */
  int64_t used;           /* raw members that it is made of; 0: none                    */
  int64_t first;          /* position in the archive of the first of them               */
  int64_t gives;          /* members of its forecasts at most; 0: a distribution */
  wx_output output;       /* which, where it is not normal                              */
  int64_t lead, quantity; /* of the last fit                                            */
  bool absent;            /* set by fit: there is no forecast of them at all */
  int64_t few_dates;      /* forecasts given since then whose window of dates held too few */
  char **file;            /* [n_files] that it read, each once: for the provenance      */
  int64_t n_files, file_capacity;
  void *own;
  void *defaults; /* private: opts where the row has none */
} wx_model;

/* A kind of model. Const. */
typedef struct wx_model_desc {
  const char *name, *help, *cite;
  const weir_opt *opts;
  size_t opts_size;
  /* Checks the options; NULL: they always go together. Fails: WEIR_ERR_CONFIG. */
  weir_status (*check)(const wx_model *m);
  /* Checks the options against the evaluation data; sets used, gives, own and, where it is empty,
   * name. Fails: WEIR_ERR_CONFIG. What was set is closed by the caller. */
  weir_status (*open)(wx_model *m, wx_eval_data *s);
  /* Made ready for m->lead and m->quantity, from the initialisation times s->fit and no others.
   * NULL: nothing is fitted. */
  weir_status (*fit)(wx_model *m, wx_eval_data *s);
  /* The forecast of a start, for the lead and quantity of the last fit. Of the evaluation data it
   * may ask for the members of this start only, which other models hold too; what else it needs it
   * reads from the archives into memory of its own. */
  weir_status (*give)(wx_model *m, wx_eval_data *s, int64_t start, wx_given *out);
  /* Returns whether it has a forecast of a start at a lead and quantity of the evaluation data,
   * determined without reading a field; true also where it has none of that lead or quantity at all
   * (absent). NULL: it has one wherever the evaluation data has forecast and truth. */
  bool (*covers)(const wx_model *m, const wx_eval_data *s, int64_t start, int64_t lead,
                 int64_t quantity);
  /* Frees own, also when it is NULL; NULL: there is nothing to free. */
  void (*close)(wx_model *m);
} wx_model_desc;

/* A row of eval.models. */
typedef struct wx_model_row {
  const char *name;
  weir_one_of use;
} wx_model_row;
extern const weir_opt wx_model_row_options[];

/* Checks the options of a row, before any archive is open. Fails: WEIR_ERR_CONFIG. */
weir_status wx_model_check(const wx_model_row *row) WEIR_CHECKED;
/* Opens the model of a row. Fails: WEIR_ERR_CONFIG (no model chosen); as the model. *m is then
 * closed. */
weir_status wx_model_open(const wx_model_row *row, wx_eval_data *s, wx_model *m) WEIR_CHECKED;
/* Fits a model for a lead and a quantity of the forecast archive. */
weir_status wx_model_fit(wx_model *m, wx_eval_data *s, int64_t lead, int64_t quantity) WEIR_CHECKED;
weir_status wx_model_give(wx_model *m, wx_eval_data *s, int64_t start, wx_given *out) WEIR_CHECKED;
/* Writes to text[size] that forecasts since the last fit were not made as dates.kind asks, without
 * a full stop. Returns false, and writes nothing, where all were. */
bool wx_model_few_dates(const wx_model *m, const wx_eval_data *s, char *text, size_t size);
void wx_model_close(wx_model *m);
/* Keeps the name of a file that a model reads, where it is not there yet: every model calls it.
 * Fails: WEIR_ERR_MEMORY. */
weir_status wx_model_reads(wx_model *m, const char *path) WEIR_CHECKED;
/* Creates the folder that a model saves to, with its parents. Fails: WEIR_ERR_CONFIG naming it. */
weir_status wx_model_make_folder(const wx_model *m, const char *folder) WEIR_CHECKED;
#endif
