/* grid_search.h - the replication thresholds at which a step on a grid is fastest. */
#ifndef GRID_SEARCH_H
#define GRID_SEARCH_H
#include "place/grid_cost.h"

/* Searches the best replication thresholds of row->grid and predicts the step with them. Where one
 * rank alone takes several times as long as best_s, the best step so far in seconds, the prediction
 * for that rank stays. Local. Fails: as place_predict. */
weir_status place_evaluate(const place_model *m, double best_s,
                           weir_grid_candidate *row) WEIR_CHECKED;
#endif
