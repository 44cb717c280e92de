/* weir_store.h - named arrays that outlive a run: parameters, state of streams and detectors,
 * counters. */
#ifndef WEIR_STORE_H
#define WEIR_STORE_H
#include "tensor/weir_tensor.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_store weir_store;

/* A store without arrays; destroy frees them all, accepts NULL and nulls. Fails: WEIR_ERR_MEMORY.
 */
/* Creates an empty store. Fails: WEIR_ERR_MEMORY. */
weir_status weir_store_create(weir_store **out) WEIR_CHECKED;
/* Frees the store and its arrays. */
void weir_store_destroy(weir_store **s);
/* Adds a zeroed array. Fails: WEIR_ERR_CONFIG (the name exists), WEIR_ERR_SHAPE, WEIR_ERR_MEMORY.
 */
weir_status weir_store_add(weir_store *s, const char *name, weir_dtype dtype, int rank,
                           const int64_t *shape) WEIR_CHECKED;
/* Adds an array in the caller's memory, which outlives the store: t is a contiguous tensor. Fails
 * as weir_store_add. */
weir_status weir_store_add_view(weir_store *s, const char *name, const weir_tensor *t) WEIR_CHECKED;
/* Returns the array of that name, borrowed; NULL when there is none. */
weir_tensor *weir_store_get(const weir_store *s, const char *name);
int64_t weir_store_count(const weir_store *s);
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
