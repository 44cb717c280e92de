/* predict_files.h - the files that predict leaves: mean and standard deviation, and members, each
 * as NetCDF, GRIB or both; quantiles and probabilities of events as NetCDF. In GRIB the standard
 * deviations have a file of their own: readers that make arrays of messages (cfgrib) tell fields by
 * paramId, level and times, and would treat both as one field. */
#ifndef WX_PREDICT_FILES_H
#define WX_PREDICT_FILES_H
#include "base/weir_origin.h"
#include "data/predictions.h"
#include "eval/forecast_model.h"
#include "experiment.h"

enum { WX_PREDICT_FORMATS = 2 };

typedef struct wx_predict_files {
  const wx_experiment *e;
  wx_predictions *fields[WX_PREDICT_FORMATS], *members[WX_PREDICT_FORMATS], *quantiles, *sd,
      *events;             /* NULL: not asked for */
  const wx_output *output; /* [y channel]; NULL: normal distributions */
  float *scratch;          /* [quantiles or 2, plane] */
  double *sorted;          /* [members of a field, WX_LANES + 1] */
} wx_predict_files;

/* What the files are of. */
typedef struct wx_predict_request {
  const char *dir;
  const int64_t *sample; /* [n] */
  int64_t n;
  bool spread;             /* there are standard deviations */
  const wx_output *output; /* [y channel]; NULL: normal distributions */
  int64_t first, members;  /* of fields that are given as members, and of predict.members: so many
                              from this position in the archive on */
} wx_predict_request;

/* What is made of a sample, [y channel, cells]: mean and standard deviation (NULL where there is
 * none), location and scale (NULL where all distributions are normal); members, [y channel, depth,
 * member, plane], where predict.members asks for them. */
typedef struct wx_predict_values {
  const float *mean, *sigma, *location, *scale, *members;
} wx_predict_values;

/* Starts the files of predict.format, members, quantiles and events in a folder; origin: text
 * attributes of each. All but the request is borrowed. Nothing stands under its name before the
 * commit. Fails: as wx_predictions_create; WEIR_ERR_CONFIG (quantiles or events without standard
 * deviations; an event that is of no target; GRIB of
 * distributions that are not normal, which it cannot name). */
weir_status wx_predict_files_create(const wx_experiment *e, const wx_predict_request *r,
                                    const weir_origin *origin, wx_predict_files *out) WEIR_CHECKED;
/* Writes a sample. */
weir_status wx_predict_files_write(const wx_predict_files *f, int64_t sample,
                                   const wx_predict_values *v) WEIR_CHECKED;
/* Writes one field of a sample, y channel k at depth d: a distribution, or members, whose moments
 * are mean and standard deviation and which are members.nc. */
weir_status wx_predict_files_give(const wx_predict_files *f, int64_t sample, int64_t k, int64_t d,
                                  const wx_given *given) WEIR_CHECKED;
/* Commits all files or none, as weir_writer_commit_all; what is left after a failure is for
 * wx_predict_files_abandon. */
weir_status wx_predict_files_commit(wx_predict_files *f) WEIR_CHECKED;
/* Removes what is not committed. */
void wx_predict_files_abandon(wx_predict_files *f);
#endif
