/* out_features.h - features.nc: what the beats are found in, sample by sample, bit for bit. */
#ifndef PS_OUT_FEATURES_H
#define PS_OUT_FEATURES_H
#include <stdio.h>
#include "data/input.h"
#include "graph/weir_view.h"
#include "io/weir_netcdf.h"

/* One variable of the file. Values are kept in a nameless file while they come and written at the
 * end, all variables in step: so the bytes of features.nc do not depend on how the signal was
 * chunked.
 */
typedef struct ps_feature {
  int var;
  FILE *kept;
  size_t size;  /* bytes of an element   */
  int64_t next; /* first slot not kept   */
} ps_feature;

enum { PS_FEATURES = 3 };
/* Names of the variables, which are those of the graph's results. */
extern const char *const ps_feature_names[PS_FEATURES];

typedef struct ps_out_features {
  weir_netcdf *nc;
  const ps_input_info *facts;
  int time; /* the coordinate, written at the end */
  ps_feature feature[PS_FEATURES];
} ps_out_features;

/* Starts DIR/features.nc. Fails: as weir_netcdf_create, WEIR_ERR_UNSUPPORTED without NetCDF. */
weir_status ps_out_features_open(const char *dir, const ps_input_info *facts,
                                 ps_out_features *out) WEIR_CHECKED;
/* Takes values, as a sink of weir_stream.h; the context is a ps_feature. Slots that were skipped
 * become 0. */
weir_status ps_out_features_take(void *context, const weir_view *view, int64_t lo, int64_t hi,
                                 bool last) WEIR_CHECKED;
weir_status ps_out_features_commit(ps_out_features *f) WEIR_CHECKED;
/* Removes what is unfinished. */
void ps_out_features_close(ps_out_features *f);
#endif
