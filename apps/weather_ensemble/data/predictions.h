/* predictions.h - an archive of corrected forecasts: for every target its mean under its own name
 * (z500) and its standard deviation (z_spread500), member 0; or members of it. NetCDF or GRIB, as
 * the name of the file asks for. */
#ifndef WX_PREDICTIONS_H
#define WX_PREDICTIONS_H
#include "data/samples.h"

typedef struct wx_predictions wx_predictions;

/* A file of the given samples of `forecast`. members 0: mean and, with `spread`, standard
 * deviation; else so many members, numbered as those of the forecast from place `first` on.
 * Messages of GRIB are made of those of the forecast, where it has some, which one thread may read
 * meanwhile. Facts, archive and numbers are borrowed. Nothing is there before the file that
 * wx_predictions_finish gives is committed. Fails: as wx_archive_create_as. */
weir_status wx_predictions_create(const char *path, const wx_facts *samples,
                                  const wx_archive *forecast, const int64_t *sample, int64_t n,
                                  bool spread, int64_t first, int64_t members,
                                  wx_predictions **out) WEIR_CHECKED;
/* Mean and standard deviation (NULL where there is none) of a sample, [y channel, cells]. */
weir_status wx_predictions_write(wx_predictions *p, int64_t sample, const float *mean,
                                 const float *sigma) WEIR_CHECKED;
/* Members of one field of a sample: y channel k at depth d, [members, plane]. */
weir_status wx_predictions_write_members(wx_predictions *p, int64_t sample, int64_t k, int64_t d,
                                         const float *values) WEIR_CHECKED;
/* A text attribute of the file. */
weir_status wx_predictions_put_text(wx_predictions *p, const char *name,
                                    const char *text) WEIR_CHECKED;
/* As wx_archive_finish. */
weir_status wx_predictions_finish(wx_predictions **p, weir_writer **file) WEIR_CHECKED;
/* Removes what is not finished; accepts NULL. */
void wx_predictions_abandon(wx_predictions **p);
#endif
