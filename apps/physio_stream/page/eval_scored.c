/* eval_scored.c - see eval_scored.h. */
#include "page/eval_scored.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *ps_base_name(const char *path)
{
  const char *slash = strrchr(path, '/');

  return slash == NULL ? path : slash + 1;
}

const char *ps_time_text(double seconds, char text[32])
{
  const int64_t ms = (int64_t)llround(seconds * 1000);

  (void)snprintf(text, 32, "%02lld:%02d:%02d.%03d", (long long)(ms / 3600000),
                 (int)(ms / 60000 % 60), (int)(ms / 1000 % 60), (int)(ms % 1000));
  return text;
}
