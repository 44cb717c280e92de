/* grid_list.h - grids by name, and bytes of an update. */
#ifndef GRID_LIST_H
#define GRID_LIST_H
#include "place/weir_grid_list.h"

/* Reads a grid as --grid takes it, "16x4x2": samples, depth, height, width, those left out being 1.
 * Fails: WEIR_ERR_CONFIG, naming `key`. */
weir_status place_parse_grid(const char *key, const char *text, weir_grid *out) WEIR_CHECKED;
/* Returns the bytes that the parameters of a network of so many elements in f32, their gradient and
 * the state of the update rule take on a rank, with cfg->shard over so many ranks. Fails: as
 * weir_optim_rule. */
weir_status place_update_bytes(const weir_optim_cfg *cfg, int64_t elements, int ranks,
                               int64_t *bytes) WEIR_CHECKED;
#endif
