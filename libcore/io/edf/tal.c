/* tal.c - time-stamped annotation lists of EDF+: +onset[0x15 duration] 0x14 text 0x14 ... 0x00. */
#include <string.h>
#include "io/edf/edf_priv.h"

enum { DURATION = 21, SEPARATOR = 20 };

/* Digits with at most one point, to the nearest ns. */
static bool take_seconds(const char *text, int64_t size, int64_t *ns)
{
  int64_t value = 0;
  int64_t unit = 1000000000;
  int digits = 0;
  bool fraction = false;

  for (int64_t i = 0; i < size; i++) {
    if (text[i] == '.' && !fraction && digits > 0) {
      fraction = true;
      continue;
    }
    if (text[i] < '0' || text[i] > '9') {
      return false;
    }
    const int64_t digit = text[i] - '0';

    digits++;
    if (!fraction) {
      if (value > WEIR_EDF_MAX_NS / 10) {
        return false;
      }
      value = value * 10 + digit * unit;
    } else if (unit > 1) {
      unit /= 10;
      value += digit * unit;
    } else if (unit == 1) {
      value += digit >= 5;
      unit = 0;
    }
    if (value > WEIR_EDF_MAX_NS) {
      return false;
    }
  }
  *ns = value;
  return digits > 0;
}

static bool take_onset(const char *text, int64_t size, int64_t *ns)
{
  if (size < 2 || (text[0] != '+' && text[0] != '-') || !take_seconds(text + 1, size - 1, ns)) {
    return false;
  }
  *ns = text[0] == '-' ? -*ns : *ns;
  return true;
}

bool weir_edf_tal_next(const char *data, int64_t size, int64_t *at, weir_edf_tal *out, bool *found)
{
  while (*at < size && data[*at] == 0) {
    ++*at;
  }
  *found = *at < size;
  if (!*found) {
    return true;
  }
  const char *const first = data + *at;
  const char *const end = memchr(first, 0, (size_t)(size - *at));
  const char *const after = end ? memchr(first, SEPARATOR, (size_t)(end - first)) : NULL;

  if (!after || end[-1] != SEPARATOR) {
    return false;
  }
  const char *const mark = memchr(first, DURATION, (size_t)(after - first));

  out->duration = -1;
  out->texts = after + 1;
  out->texts_size = end - after - 1;
  if (!take_onset(first, (mark ? mark : after) - first, &out->onset) ||
      (mark && after - mark > 1 && !take_seconds(mark + 1, after - mark - 1, &out->duration))) {
    return false;
  }
  *at = end - data + 1;
  return true;
}

bool weir_edf_tal_onset(const char *data, int64_t size, int64_t *ns, bool *found)
{
  int64_t end = 0;

  *found = size > 0 && data[0] != 0;
  while (end < size && data[end] != SEPARATOR && data[end] != DURATION) {
    end++;
  }
  return !*found || (end < size && take_onset(data, end, ns));
}
