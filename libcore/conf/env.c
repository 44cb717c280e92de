/* env.c - the one place that reads environment variables. */
#include "conf/weir_opt.h"
#include <stdlib.h>

const char *weir_env(const char *name)
{
  const char *value = getenv(name);

  return (value == NULL || value[0] == 0) ? NULL : value;
}
