/* regrid.h - fields of archives brought to a regular latitude-longitude grid, or to stations. */
#ifndef WX_REGRID_H
#define WX_REGRID_H
#include "conf/weir_opt.h"
#include "data/grid.h"
#include "data/regrid/weights.h"

typedef enum wx_regrid_method {
  WX_REGRID_BILINEAR,
  WX_REGRID_NEAREST,
  WX_REGRID_CONSERVATIVE,
  WX_REGRID_FILE
} wx_regrid_method;
#define WX_REGRID_CHOICES "bilinear|nearest|conservative|weights"

/* The target, where fields are regridded at all: one of spacing and file. */
typedef struct wx_target_opts {
  double spacing;      /* degrees; 0: none */
  weir_real_list area; /* north, west, south, east; empty: the globe */
  const char *file;    /* an archive whose grid it is; "": none */
} wx_target_opts;
extern const weir_opt wx_target_options[];

typedef struct wx_regrid_opts {
  int method;          /* wx_regrid_method */
  const char *weights; /* file of the method "weights" */
  double missing;      /* of wx_weights_apply */
} wx_regrid_opts;
extern const weir_opt wx_regrid_options[];

/* Returns whether a target is asked for. */
bool wx_target_is_set(const wx_target_opts *opts);
/* Makes the grid of `spacing` and `area`: rows and columns from north and west, with the poles on
 * the globe. lat and lon are one block, at lat, which the caller frees with weir_free. Fails:
 * WEIR_ERR_CONFIG where spacing does not divide the area. */
weir_status wx_target_make(const wx_target_opts *opts, wx_grid *out, double **lat) WEIR_CHECKED;
/* Computes or reads the weights from a LATLON or POINTS grid to a LATLON grid or to SITES; the
 * caller ends them with wx_weights_fini, also after a failure. Fails: WEIR_ERR_DATA for weights of
 * other grids, WEIR_ERR_UNSUPPORTED for grids that the method does not know. */
weir_status wx_regrid_make(const wx_regrid_opts *opts, const wx_grid *from, const wx_grid *to,
                           wx_weights *out) WEIR_CHECKED;
#endif
