/* predict_files.c - see predict_files.h. */
#include "predict_files.h"
#include <stdio.h>
#include "base/weir_file.h"

enum { PATH_SIZE = 4096 };

static const char *const suffix[WX_PREDICT_FORMATS] = {"nc", "grib"};

static bool is_wanted(const wx_experiment *e, int format)
{
  const int asked = e->cfg->predict.format;

  return asked == WX_PREDICT_BOTH || asked == (format == 0 ? WX_PREDICT_NETCDF : WX_PREDICT_GRIB);
}

/* members 0: mean and standard deviation. */
typedef struct request {
  const char *dir, *name;
  const int64_t *sample;
  int64_t n, members;
  bool spread;
  const weir_origin *origin;
} request;

static weir_status create(const wx_experiment *e, const request *r, int format,
                          wx_predictions **out)
{
  char name[64], path[PATH_SIZE];

  (void)snprintf(name, sizeof name, "%s.%s", r->name, suffix[format]);
  WEIR_TRY(weir_path_join(r->dir, name, path, sizeof path));
  WEIR_TRY(wx_predictions_create(path, e->facts, e->forecast, r->sample, r->n, r->spread,
                                 e->facts->first, r->members, out));
  for (int k = 0; k < r->origin->n; k++) {
    WEIR_TRY(wx_predictions_put_text(*out, r->origin->line[k].name, r->origin->line[k].text));
  }
  return WEIR_OK;
}

weir_status wx_predict_files_create(const wx_experiment *e, const char *dir, const int64_t *sample,
                                    int64_t n, bool spread, const weir_origin *origin,
                                    wx_predict_files *out)
{
  request r = {.dir = dir,
               .name = "predictions",
               .sample = sample,
               .n = n,
               .spread = spread,
               .origin = origin};
  weir_status status = WEIR_OK;

  *out = (wx_predict_files){.e = e};
  for (int k = 0; k < WX_PREDICT_FORMATS; k++) {
    if (is_wanted(e, k)) {
      WEIR_TRY_GOTO(create(e, &r, k, &out->fields[k]), done);
    }
  }
  r.name = "members";
  r.members = e->facts->members;
  for (int k = 0; k < WX_PREDICT_FORMATS && e->cfg->predict.members; k++) {
    if (is_wanted(e, k)) {
      WEIR_TRY_GOTO(create(e, &r, k, &out->members[k]), done);
    }
  }
done:
  if (status != WEIR_OK) {
    wx_predict_files_abandon(out);
  }
  return status;
}

static weir_status write_members(const wx_predict_files *f, int64_t sample, const float *members,
                                 wx_predictions *to)
{
  const wx_facts *c = f->e->facts;
  const int64_t each = c->members * (c->cells / c->depth);

  for (int64_t k = 0; k < c->n_channels[WX_Y]; k++) {
    for (int64_t d = 0; d < c->depth; d++) {
      WEIR_TRY(wx_predictions_write_members(to, sample, k, d, members + (k * c->depth + d) * each));
    }
  }
  return WEIR_OK;
}

weir_status wx_predict_files_write(const wx_predict_files *f, int64_t sample, const float *mean,
                                   const float *sigma, const float *members)
{
  for (int k = 0; k < WX_PREDICT_FORMATS; k++) {
    if (f->fields[k] != NULL) {
      WEIR_TRY(wx_predictions_write(f->fields[k], sample, mean, sigma));
    }
    if (f->members[k] != NULL) {
      WEIR_TRY(write_members(f, sample, members, f->members[k]));
    }
  }
  return WEIR_OK;
}

weir_status wx_predict_files_commit(wx_predict_files *f)
{
  wx_predictions **const all[] = {&f->fields[0], &f->members[0], &f->fields[1], &f->members[1]};
  enum { N = sizeof all / sizeof all[0] };
  weir_writer *file[N] = {NULL};
  weir_status status = WEIR_OK;

  for (int k = 0; k < N && status == WEIR_OK; k++) {
    status = *all[k] != NULL ? wx_predictions_finish(all[k], &file[k]) : WEIR_OK;
  }
  if (status == WEIR_OK) {
    return weir_writer_commit_all(file, N);
  }
  for (int k = 0; k < N; k++) {
    weir_writer_destroy(&file[k]);
  }
  return status;
}

void wx_predict_files_abandon(wx_predict_files *f)
{
  for (int k = 0; k < WX_PREDICT_FORMATS; k++) {
    wx_predictions_abandon(&f->fields[k]);
    wx_predictions_abandon(&f->members[k]);
  }
}
