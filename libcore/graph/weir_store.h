/* weir_store.h - named arrays that outlive a run: parameters, state of streams and detectors,
 * counters.
 *
 * An array has up to two sides, with a version each: the host's, and one in the memory of a device,
 * which all plans over the store on that device share. A side of a lower version is out of date; a
 * copy brings it up to date when it is needed there. The host therefore asks for an array each time
 * it reads or writes it: weir_store_read, weir_store_write. What these return is valid until the
 * next run of a plan over the store. One thread at a time uses a store that a plan on a device has.
 */
#ifndef WEIR_STORE_H
#define WEIR_STORE_H
#include "tensor/weir_tensor.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_store weir_store;

/* Creates an empty store. Fails: WEIR_ERR_MEMORY. */
weir_status weir_store_create(weir_store **out) WEIR_CHECKED;
/* Frees the store and its arrays; accepts NULL and nulls. Plans over it must have been destroyed.
 */
void weir_store_destroy(weir_store **s);
/* Adds a zeroed array. Fails: WEIR_ERR_CONFIG (the name exists), WEIR_ERR_SHAPE, WEIR_ERR_MEMORY.
 */
weir_status weir_store_add(weir_store *s, const char *name, weir_dtype dtype, int rank,
                           const int64_t *shape) WEIR_CHECKED;
/* Adds an array in the caller's memory, which outlives the store: t is a contiguous tensor. The
 * array is pinned (weir_store_pin). Fails as weir_store_add. */
weir_status weir_store_add_view(weir_store *s, const char *name, const weir_tensor *t) WEIR_CHECKED;

/* Returns dtype and shape of the array of that name, borrowed; its data are NULL. NULL when there
 * is none. */
const weir_tensor *weir_store_find(const weir_store *s, const char *name);
/* Sets *out to the array, borrowed until the next run of a plan over the store; copies it from the
 * device where that side is newer. Fails: WEIR_ERR_CONFIG (no such array), and as the copy. */
weir_status weir_store_read(const weir_store *s, const char *name,
                            const weir_tensor **out) WEIR_CHECKED;
/* The same for an array of which the caller will change elements: the host's side becomes the newer
 * one. */
weir_status weir_store_write(weir_store *s, const char *name, weir_tensor **out) WEIR_CHECKED;
/* The same for a caller that keeps the tensor as long as the store and says no more when it reads
 * or writes: every run of a plan on a device then begins with the host's side and brings it up to
 * date. For scalars, and memory that is handed on, such as to an exchange policy. */
weir_status weir_store_pin(weir_store *s, const char *name, weir_tensor **out) WEIR_CHECKED;

/* Gives an array of one dimension other bounds: element i of the `count` new ones is what element
 * first + i was, 0 outside. What weir_store_keep kept of it is dropped, and borrowed tensors of it
 * have other elements. No plan over the store exists. Fails: WEIR_ERR_CONFIG (no such array, one in
 * the caller's memory), WEIR_ERR_SHAPE (more dimensions), WEIR_ERR_MEMORY, and as the copy. */
weir_status weir_store_resize(weir_store *s, const char *name, int64_t first,
                              int64_t count) WEIR_CHECKED;

/* Sets all elements to zero, in the device's memory where the array is there. Fails:
 * WEIR_ERR_CONFIG (no such array), and as the copy. */
weir_status weir_store_clear(weir_store *s, const char *name) WEIR_CHECKED;
/* Copies the elements of array `from` to array `to`, of the same dtype and shape, on the side that
 * has the newest; a device copies within its memory. Fails: WEIR_ERR_CONFIG (no such array),
 * WEIR_ERR_SHAPE, WEIR_ERR_MEMORY, and as the copy. */
weir_status weir_store_copy(weir_store *s, const char *to, const char *from) WEIR_CHECKED;
/* Keeps a copy of the array's elements beside it, on the side that has the newest, in place of an
 * earlier one; and copies it back. Files do not contain it. Fail: WEIR_ERR_CONFIG (no such array,
 * nothing was kept), WEIR_ERR_MEMORY, and as the copy. */
weir_status weir_store_keep(weir_store *s, const char *name) WEIR_CHECKED;
weir_status weir_store_restore(weir_store *s, const char *name) WEIR_CHECKED;

/* Returns the bytes of all arrays in the host's memory, with the copies that weir_store_keep keeps.
 */
int64_t weir_store_bytes(const weir_store *s);
/* Returns how many arrays there are. */
int64_t weir_store_count(const weir_store *s);
/* Returns the name of array i, in the order they were added, borrowed; NULL beyond the last. */
const char *weir_store_name(const weir_store *s, int64_t i);
/* Save a checked raw dump (magic, names, dtypes, shapes, elements, SHA-256), written to a temporary
 * file and renamed; and load it: load fills the existing arrays, all of which must be in the file.
 * Fail: WEIR_ERR_DATA (missing, malformed, digest), WEIR_ERR_SHAPE (another dtype or shape). */
weir_status weir_store_save(const weir_store *s, const char *path) WEIR_CHECKED;
weir_status weir_store_load(weir_store *s, const char *path) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
