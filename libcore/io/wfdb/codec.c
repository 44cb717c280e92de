/* codec.c - sample formats of WFDB signal files: signal(5), reference 9.2. */
#include <stdio.h>
#include "io/wfdb/wfdb_priv.h"

static int32_t sign_extend(uint32_t value, int bits)
{
  const uint32_t sign = UINT32_C(1) << (bits - 1);

  return (int32_t)((value ^ sign) - sign);
}

static void decode_8(const uint8_t *b, int64_t n, int32_t *out)
{
  for (int64_t i = 0; i < n; i++) {
    out[i] = (int8_t)b[i];
  }
}

static void decode_16(const uint8_t *b, int64_t n, int32_t *out)
{
  for (int64_t i = 0; i < n; i++) {
    out[i] = (int16_t)(uint16_t)(b[2 * i] | b[2 * i + 1] << 8);
  }
}

static void decode_61(const uint8_t *b, int64_t n, int32_t *out)
{
  for (int64_t i = 0; i < n; i++) {
    out[i] = (int16_t)(uint16_t)(b[2 * i + 1] | b[2 * i] << 8);
  }
}

static void decode_160(const uint8_t *b, int64_t n, int32_t *out)
{
  for (int64_t i = 0; i < n; i++) {
    out[i] = (b[2 * i] | b[2 * i + 1] << 8) - 32768;
  }
}

static void decode_80(const uint8_t *b, int64_t n, int32_t *out)
{
  for (int64_t i = 0; i < n; i++) {
    out[i] = b[i] - 128;
  }
}

static void decode_24(const uint8_t *b, int64_t n, int32_t *out)
{
  for (int64_t i = 0; i < n; i++) {
    out[i] = sign_extend(b[3 * i] | (uint32_t)b[3 * i + 1] << 8 | (uint32_t)b[3 * i + 2] << 16, 24);
  }
}

static uint32_t word_32(const uint8_t *b)
{
  return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void decode_32(const uint8_t *b, int64_t n, int32_t *out)
{
  for (int64_t i = 0; i < n; i++) {
    out[i] = (int32_t)word_32(b + 4 * i);
  }
}

static void decode_212(const uint8_t *b, int64_t n, int32_t *out)
{
  for (int64_t i = 0; i + 1 < n; i += 2, b += 3) {
    out[i] = sign_extend(b[0] | (b[1] & 15u) << 8, 12);
    out[i + 1] = sign_extend(b[2] | (b[1] & 240u) << 4, 12);
  }
  if (n & 1) {
    out[n - 1] = sign_extend(b[0] | (b[1] & 15u) << 8, 12);
  }
}

static void decode_310(const uint8_t *b, int64_t n, int32_t *out)
{
  for (int64_t i = 0; i < n; i += 3, b += 4) {
    const uint32_t w0 = b[0] | (uint32_t)b[1] << 8;
    const uint32_t w1 = b[2] | (uint32_t)b[3] << 8;
    const uint32_t s[3] = {w0 >> 1 & 1023, w1 >> 1 & 1023, w0 >> 11 | (w1 >> 11) << 5};

    for (int64_t k = 0; k < 3 && i + k < n; k++) {
      out[i + k] = sign_extend(s[k], 10);
    }
  }
}

static void decode_311(const uint8_t *b, int64_t n, int32_t *out)
{
  for (int64_t i = 0; i < n; i += 3, b += 4) {
    const uint32_t w = word_32(b);

    for (int64_t k = 0; k < 3 && i + k < n; k++) {
      out[i + k] = sign_extend(w >> (10 * k) & 1023, 10);
    }
  }
}

static void encode_16(const int32_t *s, int64_t n, uint8_t *b)
{
  for (int64_t i = 0; i < n; i++) {
    b[2 * i] = (uint8_t)((uint32_t)s[i] & 255);
    b[2 * i + 1] = (uint8_t)((uint32_t)s[i] >> 8 & 255);
  }
}

static void encode_24(const int32_t *s, int64_t n, uint8_t *b)
{
  for (int64_t i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) {
      b[3 * i + k] = (uint8_t)((uint32_t)s[i] >> (8 * k) & 255);
    }
  }
}

static void put_32(uint32_t word, uint8_t *b)
{
  for (int k = 0; k < 4; k++) {
    b[k] = (uint8_t)(word >> (8 * k) & 255);
  }
}

static void encode_32(const int32_t *s, int64_t n, uint8_t *b)
{
  for (int64_t i = 0; i < n; i++) {
    put_32((uint32_t)s[i], b + 4 * i);
  }
}

static void encode_61(const int32_t *s, int64_t n, uint8_t *b)
{
  for (int64_t i = 0; i < n; i++) {
    b[2 * i] = (uint8_t)((uint32_t)s[i] >> 8 & 255);
    b[2 * i + 1] = (uint8_t)((uint32_t)s[i] & 255);
  }
}

static void encode_160(const int32_t *s, int64_t n, uint8_t *b)
{
  for (int64_t i = 0; i < n; i++) {
    b[2 * i] = (uint8_t)((uint32_t)s[i] & 255);
    b[2 * i + 1] = (uint8_t)(((uint32_t)s[i] >> 8 ^ 128) & 255);
  }
}

static void encode_80(const int32_t *s, int64_t n, uint8_t *b)
{
  for (int64_t i = 0; i < n; i++) {
    b[i] = (uint8_t)(((uint32_t)s[i] ^ 128) & 255);
  }
}

/* Ten bits of sample `i`, 0 after the last. */
static uint32_t ten_bits(const int32_t *s, int64_t i, int64_t n)
{
  return i < n ? (uint32_t)s[i] & 1023 : 0;
}

static void encode_310(const int32_t *s, int64_t n, uint8_t *b)
{
  for (int64_t i = 0; i < n; i += 3, b += 4) {
    const uint32_t third = ten_bits(s, i + 2, n);
    const uint32_t w0 = ten_bits(s, i, n) << 1 | (third & 31) << 11;
    const uint32_t w1 = ten_bits(s, i + 1, n) << 1 | (third >> 5) << 11;

    put_32(w0 | w1 << 16, b);
  }
}

static void encode_311(const int32_t *s, int64_t n, uint8_t *b)
{
  for (int64_t i = 0; i < n; i += 3, b += 4) {
    put_32(ten_bits(s, i, n) | ten_bits(s, i + 1, n) << 10 | ten_bits(s, i + 2, n) << 20, b);
  }
}

static void encode_212(const int32_t *s, int64_t n, uint8_t *b)
{
  for (int64_t i = 0; i < n; i += 2, b += 3) {
    const uint32_t s0 = (uint32_t)s[i] & 4095;
    const uint32_t s1 = i + 1 < n ? (uint32_t)s[i + 1] & 4095 : 0;

    b[0] = (uint8_t)(s0 & 255);
    b[1] = (uint8_t)(s0 >> 8 | (s1 >> 8) << 4);
    b[2] = (uint8_t)(s1 & 255);
  }
}

/* group of `n` samples in `size` bytes; a file may end as soon as its samples are in: the first one
 * after a bytes of the group, the second after b, the third after c. */
#define CODEC(id, n, size, a, b, c, width, code, read, write)                               \
  {                                                                                         \
    .number = (id), .name = #id, .samples = (n), .bytes = (size), .needs = {(a), (b), (c)}, \
    .has_invalid = true, .bits = (width), .lo = (code) + 1, .hi = -((code) + 1),            \
    .invalid = (code), .decode = (read), .encode = (write),                                 \
  }
/* FLAC: one sample of the stream is a whole group. */
#define FLAC(id, width, code)                                                                \
  {                                                                                          \
    .number = (id), .name = #id, .samples = 1, .bytes = 1, .needs = {1}, .compressed = true, \
    .has_invalid = true, .bits = (width), .lo = (code) + 1, .hi = -((code) + 1),             \
    .invalid = (code),                                                                       \
  }

static const weir_wfdb_codec codecs[] = {
    {.number = 0,
     .name = "0",
     .samples = 1,
     .bytes = 1,
     .needs = {1},
     .has_invalid = true,
     .bits = 8},
    {.number = 8,
     .name = "8",
     .samples = 1,
     .bytes = 1,
     .differences = true,
     .bits = 32,
     .decode = decode_8},
    CODEC(16, 1, 2, 2, 0, 0, 16, -32768, decode_16, encode_16),
    CODEC(24, 1, 3, 3, 0, 0, 24, -8388608, decode_24, encode_24),
    CODEC(32, 1, 4, 4, 0, 0, 32, INT32_MIN, decode_32, encode_32),
    CODEC(61, 1, 2, 2, 0, 0, 16, -32768, decode_61, encode_61),
    CODEC(80, 1, 1, 1, 0, 0, 8, -128, decode_80, encode_80),
    CODEC(160, 1, 2, 2, 0, 0, 16, -32768, decode_160, encode_160),
    CODEC(212, 2, 3, 2, 3, 0, 12, -2048, decode_212, encode_212),
    CODEC(310, 3, 4, 2, 4, 4, 10, -512, decode_310, encode_310),
    CODEC(311, 3, 4, 2, 3, 4, 10, -512, decode_311, encode_311),
    FLAC(508, 8, -128),
    FLAC(516, 16, -32768),
    FLAC(524, 24, -8388608),
};
enum { N_CODECS = sizeof codecs / sizeof codecs[0] };

const weir_wfdb_codec *weir_wfdb_codec_find(int64_t number)
{
  for (int i = 0; i < N_CODECS; i++) {
    if (codecs[i].number == number) {
      return &codecs[i];
    }
  }
  return NULL;
}

static void list_codecs(bool (*wanted)(const weir_wfdb_codec *), char *text, size_t size)
{
  size_t used = 0;

  text[0] = 0;
  for (int i = 0; i < N_CODECS; i++) {
    if (wanted(&codecs[i])) {
      const int n = snprintf(text + used, size - used, "%s%s", used ? ", " : "", codecs[i].name);

      if (n < 0 || (size_t)n >= size - used) {
        return;
      }
      used += (size_t)n;
    }
  }
}

static bool is_read(const weir_wfdb_codec *c)
{
  return c->decode || (c->compressed && weir_wfdb_flac_available());
}

static bool is_written(const weir_wfdb_codec *c)
{
  return c->encode != NULL;
}

void weir_wfdb_codec_list_written(char *text, size_t size)
{
  list_codecs(is_written, text, size);
}

void weir_wfdb_codec_list(char *text, size_t size)
{
  list_codecs(is_read, text, size);
}

int64_t weir_wfdb_codec_samples(const weir_wfdb_codec *codec, int64_t bytes)
{
  const int64_t rest = bytes % codec->bytes;
  int64_t n = bytes / codec->bytes * codec->samples;

  for (int k = 0; k < codec->samples - 1; k++) {
    n += rest >= codec->needs[k];
  }
  return n;
}
