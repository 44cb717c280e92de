/* grid_share.h - predictions that ranks share. */
#ifndef GRID_SHARE_H
#define GRID_SHARE_H
#include "place/weir_grid_select.h"

/* Gives every rank the rows of all: of each, one rank has more than zeros. Grids stay, and
 * `slowest` is lost. Collective. Fails: WEIR_ERR_MEMORY; as requests. */
weir_status place_share_rows(weir_comm *comm, weir_grid_choice *p) WEIR_CHECKED;
#endif
