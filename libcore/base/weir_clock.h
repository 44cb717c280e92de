/* weir_clock.h - monotonic seconds and wall-clock text. */
#ifndef WEIR_CLOCK_H
#define WEIR_CLOCK_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Monotonic seconds since an arbitrary start. */
double weir_clock(void);
/* UTC now as "2026-01-31T12:00:00Z". */
void weir_clock_utc(char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
