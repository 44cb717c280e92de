/* predict_files.h - the files that predict leaves: mean and standard deviation, and members, each
 * as NetCDF, GRIB or both. */
#ifndef WX_PREDICT_FILES_H
#define WX_PREDICT_FILES_H
#include "base/weir_origin.h"
#include "data/predictions.h"
#include "experiment.h"

enum { WX_PREDICT_FORMATS = 2 };

typedef struct wx_predict_files {
  const wx_experiment *e;
  wx_predictions *fields[WX_PREDICT_FORMATS],
      *members[WX_PREDICT_FORMATS]; /* NULL: not asked for */
} wx_predict_files;

/* Starts the files of predict.format and predict.members in a folder, for n samples; `spread`:
 * there are standard deviations; origin: text attributes of each. All is borrowed. Nothing stands
 * under its name before the commit. Fails: as wx_predictions_create. */
weir_status wx_predict_files_create(const wx_experiment *e, const char *dir, const int64_t *sample,
                                    int64_t n, bool spread, const weir_origin *origin,
                                    wx_predict_files *out) WEIR_CHECKED;
/* Of a sample: mean and standard deviation (NULL where there is none), [y channel, cells]; members,
 * [y channel, depth, member, plane], where predict.members asks for them. */
weir_status wx_predict_files_write(const wx_predict_files *f, int64_t sample, const float *mean,
                                   const float *sigma, const float *members) WEIR_CHECKED;
/* All files or none, as weir_writer_commit_all; what is left after a failure is for
 * wx_predict_files_abandon. */
weir_status wx_predict_files_commit(wx_predict_files *f) WEIR_CHECKED;
/* Removes what is not committed. */
void wx_predict_files_abandon(wx_predict_files *f);
#endif
