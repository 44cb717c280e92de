/* lead_scores.c - see lead_scores.h. */
#include "eval/lead_scores.h"
#include <string.h>
#include "base/weir_alloc.h"

enum { MODEL_PARTS = 8, SHARED_PARTS = 7, STUDY_PARTS = 5 };
enum { PARTS = SHARED_PARTS + MODEL_PARTS * WX_MODELS };

/* Memory that both sides have in the same size. */
typedef struct part {
  void *at;
  int64_t bytes;
} part;

static int parts_of_model(wx_verify *v, int64_t m, part *p)
{
  const wx_score_sums *const t = &v->score_sums[m];
  const wx_pair_map *const pair = &v->pair[m];
  const int64_t real = (int64_t)sizeof(double), cells = real * v->data->cells,
                blocks = real * t->regions->n * WX_WEIGHTINGS;
  const part parts[] = {
      {&v->model[m].absent, sizeof v->model[m].absent},
      {t->total, blocks * t->at.size},
      {t->series, blocks * t->n_rows * t->n_init_times},
      {t->map, WX_MAPS * cells},
      {pair->sum, cells},
      {pair->square, cells},
      {pair->lagged, cells},
      {pair->count, cells},
  };

  _Static_assert(sizeof parts / sizeof *parts == MODEL_PARTS, "a part of a model is not counted");
  memcpy(p, parts, sizeof parts);
  return MODEL_PARTS;
}

static int parts_of(wx_verify *v, part p[PARTS])
{
  const int64_t n = v->n_candidates * (int64_t)sizeof(int64_t);
  const part parts[] = {
      {&v->at_quantity, sizeof v->at_quantity},
      {&v->at_lead, sizeof v->at_lead},
      {&v->n_init_times, sizeof v->n_init_times},
      {v->start, n},
      {v->time, n},
      {v->efi_mean, n},
      {v->joint.scale, sizeof v->joint.scale},
  };
  int count = SHARED_PARTS;

  _Static_assert(sizeof parts / sizeof *parts == SHARED_PARTS, "a part is not counted");
  memcpy(p, parts, sizeof parts);
  for (int64_t m = 0; m < v->n_models; m++) {
    count += parts_of_model(v, m, p + count);
  }
  return count;
}

static void parts_of_study(const wx_verify *v, const wx_case_study *c, part p[STUDY_PARTS])
{
  const int64_t cells = v->data->cells * (int64_t)sizeof(float);
  const part parts[STUDY_PARTS] = {{c->truth, cells},
                                   {c->efi, cells},
                                   {c->usual, cells},
                                   {c->mean, v->n_models * cells},
                                   {c->crps, v->n_models * cells}};

  memcpy(p, parts, sizeof parts);
}

static weir_status put_text(const char *text, weir_bytes *out)
{
  const int64_t n = (int64_t)strlen(text) + 1;

  WEIR_TRY(weir_bytes_put(out, &n, sizeof n));
  return weir_bytes_put(out, text, n);
}

static weir_status put_texts(char *const *text, int64_t n, weir_bytes *out)
{
  WEIR_TRY(weir_bytes_put(out, &n, sizeof n));
  for (int64_t k = 0; k < n; k++) {
    WEIR_TRY(put_text(text[k], out));
  }
  return WEIR_OK;
}

weir_status wx_lead_scores_put(wx_verify *v, wx_case_study *study, weir_bytes *out)
{
  const bool has_study = study->truth != NULL;
  part p[PARTS], of_study[STUDY_PARTS];
  const int n = parts_of(v, p);

  for (int k = 0; k < n; k++) {
    WEIR_TRY(weir_bytes_put(out, p[k].at, p[k].bytes));
  }
  WEIR_TRY(put_texts(v->remarks.text, v->remarks.n, out));
  for (int64_t m = 0; m < v->n_models; m++) {
    WEIR_TRY(put_texts(v->model[m].file, v->model[m].n_files, out));
  }
  WEIR_TRY(weir_bytes_put(out, &has_study, sizeof has_study));
  if (has_study) {
    WEIR_TRY(weir_bytes_put(out, study, sizeof *study));
    parts_of_study(v, study, of_study);
    for (int k = 0; k < STUDY_PARTS; k++) {
      WEIR_TRY(weir_bytes_put(out, of_study[k].at, of_study[k].bytes));
    }
  }
  return WEIR_OK;
}

/* A view of the next text. */
static weir_status get_text(const char **at, const char *end, const char **text)
{
  int64_t n = 0;

  WEIR_TRY(weir_bytes_get(at, end, &n, sizeof n));
  if (n < 1 || n > end - *at || (*at)[n - 1] != '\0') {
    return weir_fail(WEIR_ERR_SHAPE, "the result of an item has no text where one is expected");
  }
  *text = *at;
  *at += n;
  return WEIR_OK;
}

static weir_status get_remarks(const char **at, const char *end, wx_verify *v)
{
  const char *text = NULL;
  int64_t n = 0;

  wx_remarks_clear(&v->remarks);
  WEIR_TRY(weir_bytes_get(at, end, &n, sizeof n));
  for (int64_t k = 0; k < n; k++) {
    WEIR_TRY(get_text(at, end, &text));
    WEIR_TRY(wx_remarks_add(&v->remarks, text));
  }
  return WEIR_OK;
}

static weir_status get_files(const char **at, const char *end, wx_model *m)
{
  const char *text = NULL;
  int64_t n = 0;

  WEIR_TRY(weir_bytes_get(at, end, &n, sizeof n));
  for (int64_t k = 0; k < n; k++) {
    WEIR_TRY(get_text(at, end, &text));
    WEIR_TRY(wx_model_reads(m, text));
  }
  return WEIR_OK;
}

static weir_status get_study(const char **at, const char *end, const wx_verify *v,
                             wx_case_study *study)
{
  part p[STUDY_PARTS];
  wx_case_study own;

  WEIR_TRY(wx_case_study_allocate(v, study));
  own = *study;
  WEIR_TRY(weir_bytes_get(at, end, study, sizeof *study));
  study->truth = own.truth; /* the other rank's addresses mean nothing here */
  study->efi = own.efi;
  study->usual = own.usual;
  study->mean = own.mean;
  study->crps = own.crps;
  parts_of_study(v, study, p);
  for (int k = 0; k < STUDY_PARTS; k++) {
    WEIR_TRY(weir_bytes_get(at, end, p[k].at, p[k].bytes));
  }
  return WEIR_OK;
}

static weir_status get_all(const char *data, const char *end, wx_verify *v, wx_case_study *study)
{
  const char *at = data;
  bool has_study = false;
  part p[PARTS];
  const int count = parts_of(v, p);

  for (int k = 0; k < count; k++) {
    WEIR_TRY(weir_bytes_get(&at, end, p[k].at, p[k].bytes));
  }
  WEIR_TRY(get_remarks(&at, end, v));
  for (int64_t m = 0; m < v->n_models; m++) {
    WEIR_TRY(get_files(&at, end, &v->model[m]));
  }
  WEIR_TRY(weir_bytes_get(&at, end, &has_study, sizeof has_study));
  WEIR_TRY(has_study ? get_study(&at, end, v, study) : WEIR_OK);
  return at == end ? WEIR_OK
                   : weir_fail(WEIR_ERR_SHAPE, "the result of an item has %lld bytes too many",
                               (long long)(end - at));
}

weir_status wx_lead_scores_get(const char *data, int64_t n, wx_verify *v, wx_case_study *study)
{
  memset(study, 0, sizeof *study);
  const weir_status status = get_all(data, data + n, v, study);

  if (status != WEIR_OK) {
    wx_case_study_fini(study);
  }
  return status;
}
