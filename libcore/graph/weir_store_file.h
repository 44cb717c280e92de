/* weir_store_file.h - arrays of a store's dump (weir_store.h) that are not known before it is read.
 */
#ifndef WEIR_STORE_FILE_H
#define WEIR_STORE_FILE_H
#include "graph/weir_store.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Adds the arrays of a dump whose names begin with `prefix`, zeroed, with their dtypes and shapes,
 * so that weir_store_load fills them. Fails: WEIR_ERR_DATA (missing, malformed), WEIR_ERR_CONFIG
 * (the store has one of them), WEIR_ERR_MEMORY. */
weir_status weir_store_add_from(weir_store *s, const char *path, const char *prefix) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
