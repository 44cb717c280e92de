/* name.c - see weir_name.h. */
#include "conf/weir_name.h"
#include <stdio.h>
#include <string.h>
#include "conf/conf_priv.h"

void weir_name_suggest(const char *name, const char *const *names, int64_t n, char *out,
                       size_t size)
{
  int64_t nearest = -1;
  int best = 0;

  for (int64_t i = 0; i < n; i++) {
    const int distance = weir_conf_distance(name, names[i]);

    if (nearest < 0 || distance < best) {
      nearest = i;
      best = distance;
    }
  }
  (void)snprintf(out, size, "%s", "");
  /* Further away than half of the letters is no help: the list of names is. */
  if (nearest >= 0 && 2 * best <= (int)strlen(names[nearest]) + 1) {
    (void)snprintf(out, size, " (nearest: %s)", names[nearest]);
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    const size_t used = strlen(out);

    (void)snprintf(out + used, size - used, "%s%s%s", i == 0 ? " (there are: " : ", ", names[i],
                   i + 1 == n ? ")" : "");
  }
}
