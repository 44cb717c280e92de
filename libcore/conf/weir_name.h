/* weir_name.h - suggestions for unknown names. */
#ifndef WEIR_NAME_H
#define WEIR_NAME_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Writes " (nearest: x)", x being the name of the n that is closest to `name`, or, if none is
 * close, " (there are: a, b)"; "" without names. For messages; truncated to `size`. */
void weir_name_suggest(const char *name, const char *const *names, int64_t n, char *out,
                       size_t size);

#ifdef __cplusplus
}
#endif
#endif
