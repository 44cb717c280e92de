/* channels.c - see channels.h. */
#include "data/channels.h"
#include <stdio.h>
#include <string.h>

void wx_channels_text(const wx_channel *channel, int64_t n, bool units, char *text)
{
  size_t at = 0;

  text[0] = 0;
  for (int64_t c = 0; c < n; c++) {
    at += (size_t)snprintf(text + at, WX_LIST - at, "%s%s", c > 0 ? ", " : "",
                           units ? channel[c].units : channel[c].name);
  }
}

int64_t wx_channels_parse(const char *text, bool units, wx_channel *channel)
{
  int64_t n = 0;

  for (const char *at = text; at != NULL; n++) {
    const char *begin = at + strspn(at, " "), *comma = strchr(begin, ',');
    size_t length = comma != NULL ? (size_t)(comma - begin) : strlen(begin);

    at = comma != NULL ? comma + 1 : NULL;
    while (length > 0 && begin[length - 1] == ' ') {
      length--;
    }
    if (n == WX_CHANNELS || length == 0 || length >= WX_NAME) {
      return -1;
    }
    char *to = units ? channel[n].units : channel[n].name;

    memcpy(to, begin, length);
    to[length] = 0;
  }
  return n;
}
