/* channels.c - see channels.h. */
#include "data/samples/channels.h"
#include <stdio.h>

void wx_channels_text(const wx_channel *channel, int64_t n, bool units, char *text)
{
  size_t at = 0;

  text[0] = 0;
  for (int64_t c = 0; c < n; c++) {
    at += (size_t)snprintf(text + at, WX_LIST - at, "%s%s", c > 0 ? ", " : "",
                           units ? channel[c].units : channel[c].name);
  }
}
