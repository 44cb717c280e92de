/* weir_name.h - a name that is not known, and the one that may be meant. */
#ifndef WEIR_NAME_H
#define WEIR_NAME_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* " (nearest: x)", x being the name of the n that differs least from `name`, or, where none is
 * near, " (there are: a, b)"; "" without any. For messages; cut to `size`. */
void weir_name_suggest(const char *name, const char *const *names, int64_t n, char *out,
                       size_t size);

#ifdef __cplusplus
}
#endif
#endif
