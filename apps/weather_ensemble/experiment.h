/* experiment.h - archives, samples and their subsets; and the stages that networks are trained in.
 */
#ifndef WX_EXPERIMENT_H
#define WX_EXPERIMENT_H
#include "conf/weir_cli.h"
#include "data/samples/dummy.h"
#include "options.h"
#include "stage.h"

typedef enum wx_source {
  WX_SOURCE_FILES,   /* forecast and truth are files                                   */
  WX_SOURCE_APPLY,   /* the truth may be missing: it is read for the analysis alone    */
  WX_SOURCE_NUMBERS, /* where no file is named, random numbers as the section `dummy` states */
  WX_SOURCE_FACTS    /* the same without the numbers: nothing may be read              */
} wx_source;

/* Stays where it is: stages point into it. */
typedef struct wx_experiment {
  const wx_cfg *cfg;
  weir_dist dist;          /* ranks that share a batch; comm NULL: one */
  weir_grid_cfg grid;      /* with the numbers that auto chose for the last stage */
  wx_dummy_archive *dummy; /* NULL: files */
  wx_archive *forecast, *truth;
  wx_samples *samples;
  const wx_info *facts;
  wx_data_opts bias_data;
  wx_samples *bias_samples; /* of the bias network; NULL: its inputs are those of `samples` */
  wx_times times;
  wx_split split;
  wx_model_opts bias_model;
  weir_train_cfg train, bias_train; /* with the program's seed */
  wx_extremes extremes;             /* factor NULL: points count by area alone */
  float *corrected;     /* [all samples, y channel, cells] of the bias network; or NULL */
  char bias_digest[65]; /* of its weights; "": none */
} wx_experiment;

/* Opens an experiment. cfg: as wx_check leaves it. comm: ranks that train, borrowed; NULL: one.
 * Every rank reads the files for itself. Local. Fails: WEIR_ERR_CONFIG (nothing to train on), as
 * wx_archive_open, wx_samples_open, wx_split_create. */
weir_status wx_experiment_open(const wx_cfg *cfg, wx_source source, weir_comm *comm,
                               wx_experiment *out) WEIR_CHECKED;
void wx_experiment_close(wx_experiment *e);
/* Returns the network of the first stage on the samples of `split`, and that of the last one. */
wx_stage_spec wx_experiment_bias(const wx_experiment *e, const wx_split *split);
wx_stage_spec wx_experiment_forecast(const wx_experiment *e);
/* Whether this rank writes files. */
bool wx_leads(const wx_experiment *e);
/* Agrees on a status as weir_comm_agree, after steps that may fail on one rank alone. Collective.
 */
weir_status wx_agree(const wx_experiment *e, weir_status status) WEIR_CHECKED;
/* Places the ranks on the grid of the section grid; auto: along samples, until a stage is trained.
 * Local. Fails on all ranks alike: WEIR_ERR_CONFIG as weir_grid_from_cfg. */
weir_status wx_experiment_place(wx_experiment *e) WEIR_CHECKED;
/* Trains a stage in the folder dir, as wx_stage_train, on the grid of the section grid, which auto
 * chooses for each stage (weir_grid_choose). exec: of wx_experiment_exec. Collective. */
weir_status wx_experiment_train(wx_experiment *e, wx_stage *stage, const char *dir,
                                const weir_plan_opts *exec, weir_train_result *result,
                                char digest[65]) WEIR_CHECKED;
/* Trains the bias network of each fold and of all training samples, in dir/bias/foldK and dir/bias,
 * and fills `corrected`: training samples by the network that did not see them. Collective. Fails:
 * as wx_stage_train, wx_predict_means. */
weir_status wx_experiment_train_bias(wx_experiment *e, const char *dir,
                                     const weir_plan_opts *exec) WEIR_CHECKED;
/* Takes the climate of the training initialisation times and the weights of the EECRPS, where its
 * weight is not 0; before the stage of the forecast is opened. Event `climate`. Fails: as
 * wx_extremes_fit. */
weir_status wx_experiment_weigh(wx_experiment *e) WEIR_CHECKED;
/* Returns the options of execution, on the ranks of the experiment. */
weir_plan_opts wx_experiment_exec(const wx_experiment *e, const weir_cli *cli);
#endif
