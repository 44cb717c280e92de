/* checkpoint_priv.h - the variables that a store is in a file. */
#ifndef WEIR_CHECKPOINT_PRIV_H
#define WEIR_CHECKPOINT_PRIV_H
#include "train/weir_checkpoint.h"

enum { TRAIN_DIGEST = 64, TRAIN_NAME = 256 };

/* One variable: its name in the file and its elements in the store. */
typedef struct train_piece {
  char name[TRAIN_NAME];
  weir_tensor view;
} train_piece;

typedef struct train_pieces {
  train_piece *piece;
  int64_t n, capacity;
} train_pieces;

/* checkpoint_netcdf4.c: writes them; reads each into the array of its name in `into`. */
weir_status train_save_netcdf(const weir_checkpoint *c, const train_pieces *p,
                              const char *path) WEIR_CHECKED;
weir_status train_load_netcdf(const train_pieces *p, const char *path, bool more,
                              weir_store *into) WEIR_CHECKED;
/* checkpoint_netcdf4.c: adds the variables of a file whose names begin with `prefix` to a store,
 * zeroed. */
weir_status train_add_netcdf(const char *path, const char *prefix, weir_store *s) WEIR_CHECKED;

#endif
