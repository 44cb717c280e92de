/* exchange_share.c - see exchange_share.h. */
#include "optim/exchange_share.h"

#include <string.h>

/* Elements of a share up to the end of its segment; the rest is at the beginning of that. */
static size_t bytes_to_end(const exchange_share *s, size_t size)
{
  const int64_t n = s->first + s->count > s->total ? s->total - s->first : s->count;

  return (size_t)n * size;
}

void exchange_share_get(const exchange_share *s, size_t size, const void *all, void *to)
{
  const size_t n = bytes_to_end(s, size), bytes = (size_t)s->count * size;
  const char *const from = (const char *)all + (size_t)s->begin * size;

  if (bytes > 0) {
    memcpy(to, from + (size_t)s->first * size, n);
    memcpy((char *)to + n, from, bytes - n);
  }
}

void exchange_share_put(const exchange_share *s, size_t size, const void *from, void *all)
{
  const size_t n = bytes_to_end(s, size), bytes = (size_t)s->count * size;
  char *const to = (char *)all + (size_t)s->begin * size;

  if (bytes > 0) {
    memcpy(to + (size_t)s->first * size, from, n);
    memcpy(to, (const char *)from + n, bytes - n);
  }
}

void exchange_share_clear(const exchange_share *s, size_t size, void *all)
{
  const size_t n = bytes_to_end(s, size), bytes = (size_t)s->count * size;
  char *const at = (char *)all + (size_t)s->begin * size;

  if (bytes > 0) {
    memset(at + (size_t)s->first * size, 0, n);
    memset(at, 0, bytes - n);
  }
}
