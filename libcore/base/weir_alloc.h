/* weir_alloc.h - host memory: checked sizes, 64-byte alignment, fault injection for tests. */
#ifndef WEIR_ALLOC_H
#define WEIR_ALLOC_H
#include <stddef.h>
#include <stdint.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Allocates zeroed memory for `count` elements of `size` bytes, 64-byte aligned; *out is NULL when
 * count or size is 0. Fails: WEIR_ERR_MEMORY (overflow, exhaustion, injected fault); *out is then
 * NULL. */
weir_status weir_alloc(int64_t count, size_t size, void **out) WEIR_CHECKED;
/* Resizes memory of weir_alloc; new bytes are zero. On failure *ptr is unchanged. */
weir_status weir_realloc(void **ptr, int64_t old_count, int64_t new_count,
                         size_t size) WEIR_CHECKED;
/* Frees and nulls *ptr (void **); accepts NULL. */
void weir_free(void *ptr_to_pointer);
/* Copies a string to the heap; free it with weir_free. Fails: WEIR_ERR_MEMORY. */
weir_status weir_strdup(const char *text, char **out) WEIR_CHECKED;

/* Grows an array to at least `need` elements (doubling); *capacity counts elements. */
weir_status weir_reserve(void *ptr_to_array, int64_t *capacity, int64_t need,
                         size_t size) WEIR_CHECKED;

/* Test hook: makes the k-th allocation from now on fail (1 = the next); 0 switches injection off.
 * Per thread. */
void weir_alloc_fail_after(int64_t k);
/* Returns the number of allocations of this thread since the last weir_alloc_fail_after call. */
int64_t weir_alloc_count(void);
/* Return the bytes now allocated through weir_alloc in the whole process, and their maximum so far.
 */
int64_t weir_alloc_bytes(void);
int64_t weir_alloc_peak(void);

/* Multiply and add sizes that come from files; false on overflow. */
#define weir_mul_ok(a, b, out) (!__builtin_mul_overflow((a), (b), (out)))
#define weir_add_ok(a, b, out) (!__builtin_add_overflow((a), (b), (out)))

#ifdef __cplusplus
}
#endif
#endif
