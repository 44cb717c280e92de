/* grid_print.h - a grid as text. */
#ifndef GRID_PRINT_H
#define GRID_PRINT_H
#include "comm/weir_grid.h"

/* Writes the extents of a four-dimensional grid, "2x1x4x1", into `text` of `size` bytes. */
void place_print_grid(const weir_grid *g, char *text, size_t size);
#endif
