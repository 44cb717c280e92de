/* predictions.h - an archive of corrected forecasts: for every target its mean under its own name
 * (z500) and its standard deviation (z_spread500), member 0; or members of it, quantiles, or
 * probabilities of events. NetCDF or GRIB, as the name of the file asks for. */
#ifndef WX_PREDICTIONS_H
#define WX_PREDICTIONS_H
#include "data/simulation/event.h"
#include "data/samples/samples.h"

typedef struct wx_predictions wx_predictions;

/* What of the forecasts a file has: the first of these that is there, else their mean. */
typedef struct wx_predictions_of {
  int64_t first,
      members; /* so many members, numbered as those of the forecast from position `first` on */
  const double *quantile; /* [n_quantiles] quantiles at these probabilities */
  int64_t n_quantiles;
  const wx_event_row *event; /* [n_events] probabilities of these, of the targets they are of, as
                                variables 2t_above_273.15 in 1 */
  int64_t n_events;
  bool spread;            /* mean and standard deviation */
  bool sd;                /* the standard deviation alone */
  const bool *parameters; /* [y channel] with spread: also location and scale of the distribution
                             (ws_location500, ws_scale500); NULL: of none */
} wx_predictions_of;

/* Creates a file of the given samples of `forecast`. Messages of GRIB are made of those of the
 * forecast, where it has some, which one thread may read meanwhile. Facts, archive and numbers are
 * borrowed. Nothing is there before the file that wx_predictions_finish gives is committed. Fails:
 * as wx_archive_create_as. */
weir_status wx_predictions_create(const char *path, const wx_info *samples,
                                  const wx_archive *forecast, const int64_t *sample, int64_t n,
                                  const wx_predictions_of *of, wx_predictions **out) WEIR_CHECKED;
/* Writes mean and standard deviation (NULL where there is none) of one field of a sample: y channel
 * k at depth d, [plane]. */
weir_status wx_predictions_write(wx_predictions *p, int64_t sample, int64_t k, int64_t d,
                                 const float *mean, const float *sigma) WEIR_CHECKED;
/* Writes location and scale of such a field, [plane]; of other fields and files nothing. */
weir_status wx_predictions_write_parameters(wx_predictions *p, int64_t sample, int64_t k, int64_t d,
                                            const float *location, const float *scale) WEIR_CHECKED;
/* Writes the probability of event e of a field that it is of, [plane]. */
weir_status wx_predictions_write_event(wx_predictions *p, int64_t sample, int64_t k, int64_t d,
                                       int64_t e, const float *values) WEIR_CHECKED;
/* Returns whether an event is one of a field. */
bool wx_predictions_has_event(const wx_predictions *p, int64_t k, int64_t d, int64_t e);
/* Writes members or quantiles of one field, [members, plane]. */
weir_status wx_predictions_write_members(wx_predictions *p, int64_t sample, int64_t k, int64_t d,
                                         const float *values) WEIR_CHECKED;
/* Sets a text attribute of the file. */
weir_status wx_predictions_put_text(wx_predictions *p, const char *name,
                                    const char *text) WEIR_CHECKED;
/* Completes the file, as wx_archive_finish. */
weir_status wx_predictions_finish(wx_predictions **p, weir_writer **file) WEIR_CHECKED;
/* Removes what is not finished; accepts NULL. */
void wx_predictions_abandon(wx_predictions **p);
#endif
