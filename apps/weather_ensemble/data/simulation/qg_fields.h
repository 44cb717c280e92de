/* qg_fields.h - what weather a state of the model is: physical fields at 250, 500 and 750 hPa. */
#ifndef WX_QG_FIELDS_H
#define WX_QG_FIELDS_H
#include "data/simulation/qg_solver.h"
#include "data/quantity.h"

/* Units of the model: time is length / wind. */
typedef struct wx_qg_scale {
  double length, wind, coriolis; /* m, m s-1, s-1 */
} wx_qg_scale;

/* Quantities there are, numbered from 0: z, u, v, ws (wind speed), vo at all three levels, t500,
 * w500, pv250, pv750, tprate, precipitation of air that rises at 500 hPa: a fixed share of its
 * mass flux, zero where it sinks; tcc, total cloud cover, linear in the vertical wind at 500 hPa
 * from 0 in sinking to 1 in rising air; and 2t, here t500 reduced to sea level (qg_surface.h does
 * the rest). */
int wx_qg_quantities(void);
void wx_qg_quantity(int i, wx_quantity *q);
/* Returns whether it is 2t. */
bool wx_qg_quantity_is_surface(int i);
/* Returns the height of a layer of the atmosphere, from 1000 to 500 hPa, m. */
double wx_qg_layer_height(void);
/* Finds a quantity. Fails: WEIR_ERR_CONFIG, naming those there are. */
weir_status wx_qg_quantity_find(const char *name, int *out) WEIR_CHECKED;

/* Computes field i [ny, nx], rows from north to south, of a state of `m`. The profiles that are
 * added (winds, geopotential and temperature that balance them, planetary vorticity, topography in
 * pv) are those of the model `climate`, so that they are the same for a truth and its forecasts.
 * solver: of m, for w500, tprate and tcc. Fails: as wx_qg_tendency. */
weir_status wx_qg_field(const wx_qg *m, const wx_qg *climate, const wx_qg_scale *scale,
                        wx_qg_workspace *r, wx_qg_solver *solver, const void *state, int i,
                        float *out) WEIR_CHECKED;
#endif
