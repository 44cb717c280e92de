/* persistence.c - the truth of the start stays: with the error that this has on the training
 * initialisation times, or as one member. */
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"
#include "eval/forecast_model.h"

typedef enum form { FORM_NORMAL, FORM_MEMBER } form;
typedef struct persistence_opts {
  int form;
} persistence_opts;

static const weir_opt options[] = {
    WEIR_OPT_ENUM(persistence_opts, form, FORM_NORMAL, "normal|member",
                  "normal: with the root mean square error that it has at each point over the "
                  "training initialisation times; member: the field alone"),
    WEIR_OPT_END,
};

typedef struct own {
  float *now, *sd;     /* [cells] */
  double *sum, *count; /* [cells] of squares */
} own;

static weir_status open_model(wx_model *m, wx_eval_data *s)
{
  const persistence_opts *const o = m->opts;
  own *a = NULL;

  WEIR_TRY(weir_alloc(1, sizeof *a, &m->own));
  a = m->own;
  m->gives = o->form == FORM_MEMBER;
  if (m->name[0] == 0) {
    (void)snprintf(m->name, sizeof m->name, "persistence");
  }
  WEIR_TRY(weir_alloc(s->cells, sizeof *a->now, (void **)&a->now));
  WEIR_TRY(weir_alloc(s->cells, sizeof *a->sd, (void **)&a->sd));
  WEIR_TRY(weir_alloc(s->cells, sizeof *a->sum, (void **)&a->sum));
  return weir_alloc(s->cells, sizeof *a->count, (void **)&a->count);
}

/* The truth of the time that a forecast starts, in a->now; false: there is none. */
static weir_status read_now(const wx_model *m, const wx_eval_data *s, int64_t start, bool *any)
{
  const own *const a = m->own;
  const int64_t time = wx_archive_find_valid(s->truth_facts, s->facts->start[start]);
  const int64_t k = wx_archive_find_quantity(s->truth_facts, s->facts->quantity[m->quantity].name);

  *any = time >= 0 && k >= 0 && wx_archive_has(s->truth, time, 0, k, 0);
  return *any ? wx_archive_read(s->truth, time, 0, k, 0, 1, a->now) : WEIR_OK;
}

static weir_status fit(wx_model *m, wx_eval_data *s)
{
  const persistence_opts *const o = m->opts;
  own *const a = m->own;
  int64_t n = 0;

  for (int64_t c = 0; c < s->cells; c++) {
    a->sum[c] = a->count[c] = 0;
  }
  for (int64_t i = 0; i < s->n_fit; i++) {
    const float *truth = NULL;
    bool any = false;

    WEIR_TRY(wx_eval_data_truth(s, s->fit[i], m->lead, m->quantity, &truth));
    WEIR_TRY(read_now(m, s, s->fit[i], &any));
    for (int64_t c = 0; c < s->cells && any && truth != NULL; c++) {
      const double d = (double)truth[c] - (double)a->now[c];

      a->sum[c] += isfinite(d) ? d * d : 0;
      a->count[c] += isfinite(d);
    }
    n += any && truth != NULL;
  }
  for (int64_t c = 0; c < s->cells; c++) {
    a->sd[c] = (float)sqrt(a->sum[c] / a->count[c]); /* NaN of none */
  }
  m->absent = n == 0 && o->form == FORM_NORMAL;
  return WEIR_OK;
}

static weir_status give(wx_model *m, wx_eval_data *s, int64_t start, wx_given *out)
{
  own *const a = m->own;
  bool any = false;

  WEIR_TRY(read_now(m, s, start, &any));
  for (int64_t c = 0; c < s->cells && !any; c++) {
    a->now[c] = NAN;
  }
  *out = m->gives > 0 ? (wx_given){.members = 1, .member = a->now}
                      : (wx_given){.mean = a->now, .sd = a->sd};
  return WEIR_OK;
}

static void close_model(wx_model *m)
{
  own *const a = m->own;

  if (a != NULL) {
    weir_free(&a->now);
    weir_free(&a->sd);
    weir_free(&a->sum);
    weir_free(&a->count);
    weir_free(&m->own);
  }
}

const wx_model_desc wx_model_persistence = {
    .name = "persistence",
    .help = "the truth of the time that the forecast starts from",
    .cite = "",
    .opts = options,
    .opts_size = sizeof(persistence_opts),
    .open = open_model,
    .fit = fit,
    .give = give,
    .close = close_model,
};
