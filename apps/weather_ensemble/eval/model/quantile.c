/* quantile.c - raw members, moved by quantile mapping (baseline/quantile.h). */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "baseline/quantile_file.h"
#include "baseline/training.h"
#include "data/samples/members.h"
#include "eval/forecast_model.h"

enum { PATH = 4096 };

typedef struct quantile_opts {
  int64_t members, first;
  wx_quantile_opts map;
  const char *load, *save;
} quantile_opts;

static const weir_opt options[] = {
    WEIR_OPT_INT(quantile_opts, members, 0, 0, 1e6, "1",
                 "how many members; 0: all from the first on"),
    WEIR_OPT_INT(quantile_opts, first, WX_FIRST_MEMBER, 0, 1e6, "1", WX_FIRST_MEMBER_HELP),
    WEIR_OPT_TABLE(quantile_opts, map, wx_quantile_options, "how quantiles are mapped"),
    WEIR_OPT_PATH(quantile_opts, load, "",
                  "folder of mappings quantile_QUANTITY_LEADh.nc, as save writes them, in place of "
                  "a fit; levels and tails are those of the files; empty: they are fitted"),
    WEIR_OPT_PATH(quantile_opts, save, "",
                  "folder that they are written to, made with its parents where there is none; "
                  "empty: nowhere"),
    WEIR_OPT_END,
};

typedef struct own {
  wx_training_of of;
  wx_quantile map;
  float *member; /* [members, cells] */
} own;

static weir_status open_model(wx_model *m, wx_eval_data *s)
{
  const quantile_opts *const o = m->opts;
  own *a = NULL;

  WEIR_TRY(weir_alloc(1, sizeof *a, &m->own));
  a = m->own;
  WEIR_TRY(wx_members_choose(s->facts, "eval.models", o->first, o->members, &a->of.at, &a->of.n));
  m->first = a->of.at;
  m->used = m->gives = a->of.n;
  if (m->name[0] == 0) {
    (void)snprintf(m->name, sizeof m->name, "quantile %lld", (long long)m->used);
  }
  return weir_alloc(a->of.n * s->cells, sizeof *a->member, (void **)&a->member);
}

static weir_status load(wx_model *m, const wx_eval_data *s)
{
  const quantile_opts *const o = m->opts;
  const wx_quantity *const q = &s->facts->quantity[m->quantity];
  own *const a = m->own;
  char path[PATH];

  WEIR_TRY(wx_quantile_path(o->load, q, s->facts->lead[m->lead], path, sizeof path));
  m->absent = !weir_file_exists(path); /* save writes none where there are no training cases */
  if (m->absent) {
    weir_warn("eval", "%s: %s: no such file: the model is left out there", m->name, path);
    return WEIR_OK;
  }
  WEIR_TRY(wx_quantile_read(path, q, s->cells, &a->map));
  return wx_model_reads(m, path);
}

static weir_status save(const wx_model *m, const wx_eval_data *s)
{
  const quantile_opts *const o = m->opts;
  const wx_quantity *const q = &s->facts->quantity[m->quantity];
  const own *const a = m->own;
  const double lead = s->facts->lead[m->lead];
  char path[PATH];

  WEIR_TRY(wx_quantile_path(o->save, q, lead, path, sizeof path));
  return wx_quantile_write(path, q, lead, &a->map);
}

static weir_status fit(wx_model *m, wx_eval_data *s)
{
  const quantile_opts *const o = m->opts;
  own *const a = m->own;
  wx_training data;
  weir_status status = WEIR_OK;

  wx_quantile_fini(&a->map);
  if (o->load[0] != 0 && o->save[0] != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: load and save are both given: what is loaded is not "
                     "fitted, so that nothing is to be saved: give one of them",
                     m->name);
  }
  if (o->load[0] != 0) {
    return load(m, s);
  }
  if (o->save[0] != 0) {
    WEIR_TRY(wx_model_make_folder(m, o->save));
  }
  a->of.lead = m->lead;
  a->of.quantity = m->quantity;
  WEIR_TRY(wx_training_read(s, &a->of, true, &data));
  m->absent = data.n == 0;
  if (!m->absent) {
    const wx_quantile_data of = {.dates = data.n,
                                 .members = a->of.n,
                                 .cells = s->cells,
                                 .forecast = data.member,
                                 .truth = data.truth};

    status = wx_quantile_fit(&o->map, &of, &a->map);
    status = status == WEIR_OK && o->save[0] != 0 ? save(m, s) : status;
  }
  wx_training_fini(&data);
  return status;
}

static weir_status give(wx_model *m, wx_eval_data *s, int64_t start, wx_given *out)
{
  own *const a = m->own;
  const float *all = NULL;

  WEIR_TRY(wx_eval_data_members(s, start, m->lead, m->quantity, &all));
  memcpy(a->member, all + a->of.at * s->cells, (size_t)(a->of.n * s->cells) * sizeof *a->member);
  wx_quantile_apply(&a->map, a->of.n, a->member);
  *out = (wx_given){.members = a->of.n, .member = a->member};
  return WEIR_OK;
}

static void close_model(wx_model *m)
{
  own *const a = m->own;

  if (a != NULL) {
    wx_quantile_fini(&a->map);
    weir_free(&a->member);
    weir_free(&m->own);
  }
}

const wx_model_desc wx_model_quantile = {
    .name = "quantile",
    .help = "raw members moved so that they are distributed as the truth, point by point",
    .cite = "Panofsky and Brier 1968",
    .opts = options,
    .opts_size = sizeof(quantile_opts),
    .open = open_model,
    .fit = fit,
    .give = give,
    .close = close_model,
};
