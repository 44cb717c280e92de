/* env.c - the only source that reads or removes environment variables. */
#include "conf/weir_opt.h"
#include <stdlib.h>

const char *weir_env(const char *name)
{
  const char *value = getenv(name);

  return (value == NULL || value[0] == 0) ? NULL : value;
}

void weir_env_remove(const char *name)
{
  (void)unsetenv(name);
}
