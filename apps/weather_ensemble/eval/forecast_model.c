/* forecast_model.c - see forecast_model.h. */
#include "eval/forecast_model.h"
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"

extern const wx_model_desc *const wx_model_table[]; /* ends with NULL */

static bool list(int64_t i, weir_opt_choice *entry)
{
  for (int64_t k = 0; k <= i; k++) {
    if (wx_model_table[k] == NULL) {
      return false;
    }
  }
  const wx_model_desc *const d = wx_model_table[i];

  *entry =
      (weir_opt_choice){.name = d->name, .help = d->help, .table = d->opts, .size = d->opts_size};
  return true;
}

const weir_opt wx_model_row_options[] = {
    WEIR_OPT_STRING(wx_model_row, name, "", "in tables; empty: made of what it is"),
    WEIR_OPT_ONE_OF(wx_model_row, use, list, "what gives the forecasts"),
    WEIR_OPT_END,
};

/* The model of a row with its options, not open. */
static weir_status choose(const wx_model_row *row, wx_model *m)
{
  *m = (wx_model){.opts = row->use.opts, .lead = -1, .quantity = -1};
  for (const wx_model_desc *const *d = wx_model_table; *d != NULL && row->use.name != NULL; d++) {
    if (strcmp((*d)->name, row->use.name) == 0) {
      m->desc = *d;
    }
  }
  if (m->desc == NULL) {
    return weir_fail(WEIR_ERR_CONFIG, "eval.models: a row says no model: set use, as in "
                                      "{use: {raw: {members: 5}}}");
  }
  if ((size_t)snprintf(m->name, sizeof m->name, "%s", row->name) >= sizeof m->name) {
    return weir_fail(WEIR_ERR_CONFIG, "eval.models: the name '%s' is longer than %d characters",
                     row->name, WX_SHORT - 1);
  }
  if (m->opts == NULL && m->desc->opts != NULL) {
    WEIR_TRY(weir_alloc(1, m->desc->opts_size, &m->defaults));
    weir_opts_default(m->desc->opts, m->desc->opts_size, m->defaults);
    m->opts = m->defaults;
  }
  return m->desc->check != NULL ? m->desc->check(m) : WEIR_OK;
}

weir_status wx_model_check(const wx_model_row *row)
{
  wx_model m;
  const weir_status status = choose(row, &m);

  weir_free(&m.defaults);
  return status;
}

weir_status wx_model_open(const wx_model_row *row, wx_eval_data *s, wx_model *m)
{
  weir_status status = choose(row, m);

  status = status == WEIR_OK ? m->desc->open(m, s) : status;
  if (status != WEIR_OK) {
    wx_model_close(m);
  }
  return status;
}

weir_status wx_model_fit(wx_model *m, wx_eval_data *s, int64_t lead, int64_t quantity)
{
  if (m->lead == lead && m->quantity == quantity) {
    return WEIR_OK;
  }
  m->lead = lead;
  m->quantity = quantity;
  m->absent = false;
  m->few_dates = 0;
  return m->desc->fit != NULL ? m->desc->fit(m, s) : WEIR_OK;
}

weir_status wx_model_give(wx_model *m, wx_eval_data *s, int64_t start, wx_given *out)
{
  return m->desc->give(m, s, start, out);
}

bool wx_model_few_dates(const wx_model *m, const wx_eval_data *s, char *text, size_t size)
{
  if (m->few_dates == 0) {
    return false;
  }
  (void)snprintf(text, size,
                 "%s: for %lld initialisation times of %s %g h the window holds fewer training "
                 "initialisation times than dates.min_count: all of these were taken instead",
                 m->name, (long long)m->few_dates, s->facts->quantity[m->quantity].name,
                 s->facts->lead[m->lead]);
  return true;
}

void wx_model_close(wx_model *m)
{
  if (m->desc != NULL && m->desc->close != NULL) {
    m->desc->close(m);
  }
  m->own = NULL;
  for (int64_t k = 0; k < m->n_files; k++) {
    weir_free(&m->file[k]);
  }
  weir_free(&m->file);
  m->n_files = m->file_capacity = 0;
  weir_free(&m->defaults);
}

weir_status wx_model_reads(wx_model *m, const char *path)
{
  for (int64_t k = 0; k < m->n_files; k++) {
    if (strcmp(m->file[k], path) == 0) {
      return WEIR_OK;
    }
  }
  WEIR_TRY(weir_reserve(&m->file, &m->file_capacity, m->n_files + 1, sizeof *m->file));
  WEIR_TRY(weir_strdup(path, &m->file[m->n_files]));
  m->n_files++;
  return WEIR_OK;
}

weir_status wx_model_make_folder(const wx_model *m, const char *folder)
{
  char reason[512];

  if (weir_dir_create(folder) == WEIR_OK) {
    return WEIR_OK;
  }
  (void)snprintf(reason, sizeof reason, "%s", weir_last_message());
  return weir_fail(WEIR_ERR_CONFIG, "%s: save: %s", m->name, reason);
}
