/* lapse.h - temperatures of a grid at stations that are higher or lower than the surface of the
 * model: corrected by a constant lapse rate. */
#ifndef WX_LAPSE_H
#define WX_LAPSE_H
#include "conf/weir_opt.h"
#include "data/archive/archive.h"

typedef struct wx_lapse_opts {
  double lapse_rate; /* K / km that temperature falls by */
  weir_string_list quantities;
} wx_lapse_opts;
extern const weir_opt wx_lapse_options[];

/* Returns whether fields that are brought to the grid `to` are corrected: a lapse rate other than
 * 0, stations, and one of the quantities. */
bool wx_lapse_applies(const wx_lapse_opts *opts, const wx_archive_info *f, const wx_grid *to);
/* Checks that heights of stations are known, and the quantities temperatures. Fails:
 * WEIR_ERR_CONFIG, naming what to set; WEIR_ERR_DATA for other units than K. */
weir_status wx_lapse_check(const wx_lapse_opts *opts, const wx_archive_info *f,
                           const wx_grid *to) WEIR_CHECKED;
/* Corrects an archive that is regridded to stations, field by field as it is read:
 *   T(station) = T(grid) + lapse_rate (orography - altitude)
 * orography[stations]: height of the model's surface, m, interpolated as the fields are. Where an
 * altitude is unknown values are missing: *unknown counts these stations. */
weir_status wx_lapse_correct(const wx_lapse_opts *opts, wx_archive *a, const float *orography,
                             int64_t *unknown) WEIR_CHECKED;
#endif
