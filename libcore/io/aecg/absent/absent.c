/* absent.c - annotated ECGs in a build without Expat: refused by name. */
#include <unistd.h>
#include "io/aecg/aecg_priv.h"
#include "io/io_priv.h"

weir_status weir_aecg_parse(const char *path, weir_aecg *out)
{
  int64_t size = 0;
  int fd = -1;

  *out = (weir_aecg){0};
  WEIR_TRY(weir_io_open(path, &fd, &size)); /* a file that is not there is told first */
  close(fd);
  return weir_fail(WEIR_ERR_UNSUPPORTED, "%s: this build has no Expat, which reads XML", path);
}
