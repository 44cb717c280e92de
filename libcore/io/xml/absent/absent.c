/* absent.c - files of XML in a build without Expat: refused by name. */
#include <unistd.h>
#include "io/io_priv.h"
#include "io/xml/weir_xml.h"

weir_status weir_xml_read(weir_xml *x, const char *path)
{
  int64_t size = 0;
  int fd = -1;

  (void)x;
  WEIR_TRY(weir_io_open(path, &fd, &size)); /* a file that is not there is told first */
  close(fd);
  return weir_fail(WEIR_ERR_UNSUPPORTED, "%s: this build has no Expat, which reads XML", path);
}

bool weir_xml_root(const char *path, char name[WEIR_XML_NAME])
{
  (void)path;
  name[0] = 0;
  return false;
}

void weir_xml_stop(weir_xml *x, weir_status status)
{
  x->status = status;
}

void weir_xml_refuse(weir_xml *x, const char *format, ...)
{
  (void)format;
  x->status = WEIR_ERR_DATA;
}
