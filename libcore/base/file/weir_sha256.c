/* weir_sha256.c - SHA-256 as FIPS 180-4 section 6.2 states it. */
#include "base/base_priv.h"

#include <string.h>

/* FIPS 180-4 section 4.2.2: fractions of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotr(uint32_t x, int n)
{
  return (x >> n) | (x << (32 - n));
}

static void schedule(const unsigned char *block, uint32_t w[64])
{
  for (int t = 0; t < 16; t++) {
    const unsigned char *b = block + 4 * t;
    w[t] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
  }
  for (int t = 16; t < 64; t++) {
    const uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
    const uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = s1 + w[t - 7] + s0 + w[t - 16];
  }
}

/* One step of section 6.2.2 on registers whose roles rotate by one each step instead of their
 * values.
 */
#define STEP(a, b, c, d, e, f, g, h, t)                                        \
  do {                                                                         \
    const uint32_t t1 = (h) + (rotr((e), 6) ^ rotr((e), 11) ^ rotr((e), 25)) + \
                        (((e) & (f)) ^ (~(e) & (g))) + constants[t] + w[t];    \
    const uint32_t t2 = (rotr((a), 2) ^ rotr((a), 13) ^ rotr((a), 22)) +       \
                        (((a) & (b)) ^ ((a) & (c)) ^ ((b) & (c)));             \
    (d) += t1;                                                                 \
    (h) = t1 + t2;                                                             \
  } while (0)

static void compress(uint32_t hash[8], const unsigned char *block)
{
  uint32_t a = hash[0], b = hash[1], c = hash[2], d = hash[3];
  uint32_t e = hash[4], f = hash[5], g = hash[6], h = hash[7];
  uint32_t w[64];

  schedule(block, w);
  for (int t = 0; t < 64; t += 8) {
    STEP(a, b, c, d, e, f, g, h, t);
    STEP(h, a, b, c, d, e, f, g, t + 1);
    STEP(g, h, a, b, c, d, e, f, t + 2);
    STEP(f, g, h, a, b, c, d, e, t + 3);
    STEP(e, f, g, h, a, b, c, d, t + 4);
    STEP(d, e, f, g, h, a, b, c, t + 5);
    STEP(c, d, e, f, g, h, a, b, t + 6);
    STEP(b, c, d, e, f, g, h, a, t + 7);
  }
  hash[0] += a;
  hash[1] += b;
  hash[2] += c;
  hash[3] += d;
  hash[4] += e;
  hash[5] += f;
  hash[6] += g;
  hash[7] += h;
}

void base_sha256_init(base_sha256 *s)
{
  static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

  memcpy(s->hash, start, sizeof start);
  s->bytes = 0;
}

void base_sha256_update(base_sha256 *s, const void *data, size_t bytes)
{
  const unsigned char *in = data;

  while (bytes > 0) {
    if (bytes >= 64 && s->bytes % 64 == 0) {
      compress(s->hash, in);
      s->bytes += 64;
      in += 64;
      bytes -= 64;
      continue;
    }
    const size_t used = (size_t)(s->bytes % 64);
    const size_t take = bytes < 64 - used ? bytes : 64 - used;
    memcpy(s->block + used, in, take);
    s->bytes += take;
    in += take;
    bytes -= take;
    if (used + take == 64) {
      compress(s->hash, s->block);
    }
  }
}

void base_sha256_finish(base_sha256 *s, char hex[65])
{
  static const char digits[] = "0123456789abcdef";
  static const unsigned char padding[64] = {0x80};
  const uint64_t bits = s->bytes * 8;
  unsigned char length[8];

  for (int i = 0; i < 8; i++) {
    length[i] = (unsigned char)(bits >> (56 - 8 * i));
  }
  base_sha256_update(s, padding, 1 + (size_t)((119 - s->bytes % 64) % 64));
  base_sha256_update(s, length, sizeof length);
  for (int i = 0; i < 64; i++) {
    hex[i] = digits[(s->hash[i / 8] >> (28 - 4 * (i % 8))) & 15];
  }
  hex[64] = 0;
}

void weir_sha256(const void *data, size_t bytes, char hex[65])
{
  base_sha256 s;

  base_sha256_init(&s);
  base_sha256_update(&s, data, bytes);
  base_sha256_finish(&s, hex);
}

bool weir_file_sha256(const char *path, char hex[65], int64_t *bytes)
{
  char block[1 << 16];
  FILE *file = fopen(path, "re");
  base_sha256 s;
  size_t got;

  if (file == NULL) {
    return false;
  }
  base_sha256_init(&s);
  *bytes = 0;
  while ((got = fread(block, 1, sizeof block, file)) > 0) {
    base_sha256_update(&s, block, got);
    *bytes += (int64_t)got;
  }
  const bool whole = ferror(file) == 0;
  fclose(file);
  base_sha256_finish(&s, hex);
  return whole;
}
