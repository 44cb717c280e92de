/* xli.c - the compression XLI: LZW over second differences. */
#include <string.h>
#include "io/sierra/sierra_priv.h"

enum { WIDTH = 10, END = 1023, FIRST = 256, HEAD = 8, OFFSET = 64 };

/* Strings of LZW: each is an earlier one and a byte. */
typedef struct table {
  int16_t before[END];
  uint8_t last[END];
  uint16_t length[END];
  int count;
} table;

typedef struct bytes {
  int32_t *samples; /* of n: byte k is the high one of sample k, byte n + k its low one */
  int64_t n, count;
} bytes;

static void put(bytes *to, int64_t at, uint8_t byte)
{
  int32_t *const sample = &to->samples[at < to->n ? at : at - to->n];

  *sample = at < to->n ? (int32_t)(byte << 8) : (int16_t)(uint16_t)(*sample | byte);
}

/* Writes string `code`, and after it its own first byte where that is asked for; returns its first
 * byte, -1 where it does not fit. */
static int write_string(const table *t, int code, bool again, bytes *to)
{
  const int64_t length = t->length[code];
  int64_t at = to->count + length;
  int first = 0;

  if (at + again > 2 * to->n) {
    return -1;
  }
  for (int c = code; c >= 0; c = t->before[c]) {
    first = t->last[c];
    put(to, --at, t->last[c]);
  }
  to->count += length;
  if (again) {
    put(to, to->count++, (uint8_t)first);
  }
  return first;
}

static void add_string(table *t, int before, int byte)
{
  t->before[t->count] = (int16_t)before;
  t->last[t->count] = (uint8_t)byte;
  t->length[t->count] = (uint16_t)(before < 0 ? 1 : t->length[before] + 1);
  t->count++;
}

static const char *expand(const uint8_t *data, int64_t size, bytes *to)
{
  table t = {.count = 0};
  uint32_t bits = 0;
  int n_bits = 0, previous = -1;

  for (int i = 0; i < FIRST; i++) {
    add_string(&t, -1, i);
  }
  for (int64_t i = 0; i < size; i++) {
    bits = bits << 8 | data[i];
    n_bits += 8;
    if (n_bits < WIDTH) {
      continue;
    }
    n_bits -= WIDTH;
    const int code = (int)(bits >> n_bits & END);

    if (code == END) {
      return NULL;
    }
    const bool is_new = code == t.count && previous >= 0 && t.count < END;

    if (code >= t.count && !is_new) {
      return "a code of LZW stands for no string yet";
    }
    const int first = write_string(&t, is_new ? previous : code, is_new, to);

    if (first < 0) {
      return "it holds more samples than durationperchannel states";
    }
    if (previous >= 0 && t.count < END) {
      add_string(&t, previous, first);
    }
    previous = code;
  }
  return NULL;
}

/* Second differences to samples, in place. */
static const char *integrate(int32_t *samples, int64_t n, int64_t difference)
{
  for (int64_t i = 2; i < n; i++) {
    const int64_t next = 2 * (int64_t)samples[i - 1] - samples[i - 2] - difference;

    difference = samples[i] - OFFSET;
    if (next < INT16_MIN || next > INT16_MAX) {
      return "a sample exceeds 16 bits";
    }
    samples[i] = (int32_t)next;
  }
  return NULL;
}

const char *weir_sierra_xli(const uint8_t *data, int64_t size, int32_t *samples, int64_t n,
                            int64_t *used)
{
  bytes to = {.samples = samples, .n = n};

  if (size < HEAD) {
    return "it ends within the head of a lead";
  }
  const int64_t length =
      (int64_t)data[0] | (int64_t)data[1] << 8 | (int64_t)data[2] << 16 | (int64_t)data[3] << 24;

  if (length > size - HEAD) {
    return "it ends within a lead";
  }
  const char *const wrong = expand(data + HEAD, length, &to);

  if (wrong != NULL) {
    return wrong;
  }
  if (to.count != 2 * n) {
    return "it holds fewer samples than durationperchannel states";
  }
  *used = HEAD + length;
  return integrate(samples, n, (int16_t)(uint16_t)(data[6] | data[7] << 8));
}

void weir_sierra_limb_leads(int32_t *lead[6], int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    const int32_t one = lead[0][i];
    const int32_t two = lead[1][i];

    lead[2][i] = two - one - lead[2][i];
    const int32_t three = lead[2][i];

    lead[3][i] = -((one + two) / 2) - lead[3][i];
    lead[4][i] = (one - three) / 2 - lead[4][i];
    lead[5][i] = (two + three) / 2 - lead[5][i];
  }
}
