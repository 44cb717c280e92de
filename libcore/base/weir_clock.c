/* weir_clock.c - monotonic seconds and wall-clock text. */
#include "base/weir_clock.h"

#include <time.h>

double weir_clock(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int64_t weir_clock_wall_ms(void)
{
  struct timespec t;

  clock_gettime(CLOCK_REALTIME, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void weir_clock_utc(char *text, size_t size)
{
  const time_t now = time(NULL);
  struct tm utc;

  if (size == 0) {
    return;
  }
  gmtime_r(&now, &utc);
  if (strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0) {
    text[0] = 0;
  }
}
