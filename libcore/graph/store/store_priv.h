/* store_priv.h - an array of a store, and its device. */
#ifndef STORE_PRIV_H
#define STORE_PRIV_H
#include "graph/weir_store_device.h"

enum { STORE_ZEROS = 1 << 20 }; /* bytes that one copy of zeros clears */

typedef struct store_entry {
  char *name;
  weir_tensor tensor; /* the host's side */
  weir_tensor shape;  /* of the tensor, without its data */
  weir_store_sides sides;
  weir_device_arena *device, *staging; /* memory of the sides; NULL: none */
  uint64_t digest;                     /* of the host's side after a run, where `checked` */
  bool checked;
  struct store_entry *kept; /* weir_store_keep; NULL: nothing */
} store_entry;

struct weir_store {
  store_entry **entries; /* one by one: borrowed tensors stay where they are */
  int64_t n, capacity;
  weir_store_device device; /* NULL: none is open */
  int users;                /* of it */
  char *zeros;              /* [STORE_ZEROS] on the device; NULL: not made yet */
  weir_device_arena *zeros_memory;
};

/* The array of that name; NULL: none. */
store_entry *store_entry_find(const weir_store *s, const char *name);
/* store_device.c: brings the host's side up to date. Fails: as the copy, and as
 * weir_store_sides_begin. */
weir_status store_entry_fetch(const weir_store *s, store_entry *e) WEIR_CHECKED;
/* The host's side is the newer one from now on. */
void store_entry_changed(store_entry *e);
/* Copies the elements on the side of `from` that has the newest. */
weir_status store_entry_copy(weir_store *s, store_entry *to, store_entry *from) WEIR_CHECKED;
/* Sets the elements to zero. */
weir_status store_entry_clear(weir_store *s, store_entry *e) WEIR_CHECKED;
/* Frees the memory on the device. */
void store_entry_leave_device(store_entry *e);
void store_device_close(weir_store *s);
#endif
