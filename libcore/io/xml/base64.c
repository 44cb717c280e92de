/* base64.c - text of base64 (RFC 4648 section 4) as bytes. */
#include <string.h>
#include "io/xml/weir_xml.h"

int64_t weir_xml_base64(weir_xml *x, const uint8_t **out)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  uint8_t *const to = (uint8_t *)x->value; /* three bytes of four characters: in place */
  int64_t n = 0, n_digits = 0, padding = 0;
  uint32_t bits = 0;

  for (int64_t i = 0; i < x->value_size; i++) {
    const char c = x->value[i];

    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
      continue;
    }
    const char *const at = c == 0 ? NULL : strchr(digits, c);

    if (c == '=') {
      if (++padding > 2) {
        return -1;
      }
    } else if (at == NULL || padding > 0) {
      return -1;
    } else {
      bits = (bits << 6 | (uint32_t)(at - digits)) & 0xffffff;
      n_digits++;
    }
    if ((n_digits + padding) % 4 == 0) {
      const uint32_t group = bits << (6 * padding);

      for (int k = 0; k < 3 - (int)padding; k++) {
        to[n++] = (uint8_t)(group >> (16 - 8 * k));
      }
      bits = 0;
    }
  }
  *out = to;
  return (n_digits + padding) % 4 == 0 ? n : -1;
}
