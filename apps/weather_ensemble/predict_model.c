/* predict_model.c - see predict_model.h. */
#include "predict_model.h"
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"

/* All fields have the distribution of the model. */
static weir_status take_output(wx_predict_model *p)
{
  const int64_t n = p->e->facts->n_channels[WX_Y];

  if (p->model.gives > 0 || p->model.output.family == WX_NORMAL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(n, sizeof *p->output, (void **)&p->output));
  for (int64_t c = 0; c < n; c++) {
    p->output[c] = p->model.output;
  }
  return WEIR_OK;
}

static weir_status open_all(wx_predict_model *p)
{
  wx_experiment *const e = p->e;
  const wx_cfg *const cfg = e->cfg;

  if (e->truth == NULL && cfg->data.truth.count > 0) {
    WEIR_TRY(wx_archive_open_truth(cfg->data.truth.items, (int)cfg->data.truth.count,
                                   &cfg->data.grib, &e->truth));
  }
  WEIR_TRY(wx_eval_data_open(e->forecast, e->truth, &p->data));
  p->data.seed = (uint64_t)cfg->seed;
  WEIR_TRY(wx_split_init_times(&cfg->data.split, p->data.facts, &p->split));
  p->data.fit = p->split.sample[WX_TRAIN];
  p->data.n_fit = p->split.n[WX_TRAIN];
  WEIR_TRY(wx_model_open(&cfg->predict.model, &p->data, &p->model));
  p->open = true;
  WEIR_TRY(take_output(p));
  return cfg->predict.members && p->model.gives == 0
             ? weir_fail(WEIR_ERR_CONFIG,
                         "predict.members: %s gives distributions: let it make members of them, as "
                         "with emos: {output: members} (ECC), or leave predict.members at false",
                         p->model.name)
             : WEIR_OK;
}

weir_status wx_predict_model_open(wx_experiment *e, wx_predict_model *out)
{
  *out = (wx_predict_model){.e = e};
  return open_all(out);
}

void wx_predict_model_close(wx_predict_model *p)
{
  if (p->open) {
    wx_model_close(&p->model);
  }
  wx_split_fini(&p->split);
  wx_eval_data_fini(&p->data);
  weir_free(&p->output);
  p->open = false;
}

/* What is corrected at once: y channel k at depth d, a quantity, and a lead. */
typedef struct field {
  int64_t k, d, quantity, lead;
} field;

/* All samples that have the field's lead; those of a depth of leads have all. */
static weir_status run_field(wx_predict_model *p, wx_predict_files *files, const field *at,
                             bool leads, const int64_t *sample, int64_t n)
{
  const wx_info *const f = p->e->facts;
  const wx_archive_info *const a = p->data.facts;
  char note[512];
  wx_given given;

  WEIR_TRY(wx_model_fit(&p->model, &p->data, at->lead, at->quantity));
  if (p->model.absent) {
    return weir_fail(WEIR_ERR_DATA,
                     "predict.model: %s: no initialisation time of data.split.train has a truth of "
                     "%s at %g h to "
                     "fit to: name data.truth, and a range of data.split.train that it covers",
                     p->model.name, a->quantity[at->quantity].name, a->lead[at->lead]);
  }
  for (int64_t i = 0; i < n; i++) {
    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED, "predict: stopped at %s, sample %lld of %lld",
                       a->quantity[at->quantity].name, (long long)i, (long long)n);
    }
    if (leads || f->of_lead[sample[i]] == at->lead) {
      WEIR_TRY(wx_model_give(&p->model, &p->data, f->of_start[sample[i]], &given));
      if (given.members == 0 && given.family != WX_NORMAL && p->output == NULL) {
        return weir_fail(WEIR_ERR_CONFIG,
                         "predict.model: %s gives distributions that are not normal, which would "
                         "be written as normal ones: use the files that it reads as they are",
                         p->model.name);
      }
      WEIR_TRY(wx_predict_files_give(files, sample[i], at->k, at->d, &given));
    }
  }
  if (wx_model_few_dates(&p->model, &p->data, note, sizeof note)) {
    weir_warn("predict", "%s", note);
  }
  return WEIR_OK;
}

weir_status wx_predict_model_run(wx_predict_model *p, wx_predict_files *files,
                                 const int64_t *sample, int64_t n)
{
  const wx_info *const f = p->e->facts;
  const bool leads = strcmp(f->axis[0].name, "lead") == 0;
  const int64_t n_leads = leads ? 1 : f->n_leads, all = f->n_channels[WX_Y] * f->depth;

  for (int64_t i = 0; i < all; i++) {
    for (int64_t l = 0; l < n_leads; l++) {
      const field at = {.k = i / f->depth,
                        .d = i % f->depth,
                        .quantity = f->target[i],
                        .lead = f->lead[leads ? i % f->depth : l]};

      WEIR_TRY(run_field(p, files, &at, leads, sample, n));
    }
    weir_progress("predict", i + 1, all, "fields of all samples");
  }
  return wx_predict_files_commit(files);
}
