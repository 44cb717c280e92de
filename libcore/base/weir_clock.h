/* weir_clock.h - monotonic seconds and wall-clock text. */
#ifndef WEIR_CLOCK_H
#define WEIR_CLOCK_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Returns monotonic seconds since an arbitrary start. */
double weir_clock(void);
/* Returns milliseconds since the start of 1970, UTC: for logs of other formats. */
int64_t weir_clock_wall_ms(void);
/* Writes the present UTC time as "2026-01-31T12:00:00Z". */
void weir_clock_utc(char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
