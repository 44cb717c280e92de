/* eval_scored.c - see eval_scored.h. */
#include "page/eval_scored.h"
#include <string.h>

const char *ps_base_name(const char *path)
{
  const char *slash = strrchr(path, '/');

  return slash == NULL ? path : slash + 1;
}
