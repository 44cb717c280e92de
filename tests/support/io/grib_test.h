/* grib_test.h - messages made by hand: frames that are sound, with contents of no meaning. */
#ifndef WEIR_GRIB_TEST_H
#define WEIR_GRIB_TEST_H
#include "io/grib/grib_priv.h"
#include "support/io/io_test.h"

enum { GRIB_TEST_ROOM = 1024 };

typedef struct grib_bytes {
  int64_t size;
  uint8_t bytes[GRIB_TEST_ROOM];
} grib_bytes;

static inline void grib_number(uint8_t *at, int n, int64_t value)
{
  for (int i = n - 1; i >= 0; i--, value >>= 8) {
    at[i] = (uint8_t)value;
  }
}

/* A section of edition 1, all zero but its length. */
static inline uint8_t *grib_one(grib_bytes *b, int64_t length)
{
  uint8_t *const at = b->bytes + b->size;

  memset(at, 0, (size_t)length);
  grib_number(at, 3, length);
  b->size += length;
  return at;
}

/* A section of edition 2, all zero but its length and number. */
static inline uint8_t *grib_two(grib_bytes *b, int number, int64_t length)
{
  uint8_t *const at = b->bytes + b->size;

  memset(at, 0, (size_t)length);
  grib_number(at, 4, length);
  at[4] = (uint8_t)number;
  b->size += length;
  return at;
}

static inline void grib_begin(grib_bytes *b, int edition)
{
  memset(b, 0, sizeof *b);
  memcpy(b->bytes, "GRIB", 4);
  b->bytes[7] = (uint8_t)edition;
  b->size = edition == 1 ? 8 : 16;
}

static inline void grib_end(grib_bytes *b)
{
  memcpy(b->bytes + b->size, "7777", 4);
  b->size += 4;
  grib_number(b->bytes + (b->bytes[7] == 1 ? 4 : 8), b->bytes[7] == 1 ? 3 : 8, b->size);
}

/* Edition 1 with a grid, and a bitmap where it is asked for. */
static inline void grib_make_one(grib_bytes *b, bool bitmap)
{
  grib_begin(b, 1);
  grib_one(b, 28)[7] = bitmap ? 0xc0 : 0x80;
  grib_one(b, 32);
  if (bitmap) {
    grib_one(b, 10);
  }
  grib_one(b, 20);
  grib_end(b);
}

/* Sections 4 to 7 of a field of 16 points at 8 bits; its data hold `mark`. */
static inline void grib_field(grib_bytes *b, int bitmap, int mark)
{
  grib_two(b, 4, 34);
  uint8_t *const packing = grib_two(b, 5, 21);

  grib_number(packing + 5, 4, 16);
  packing[19] = 8;
  grib_two(b, 6, bitmap == 0 ? 8 : 6)[5] = (uint8_t)bitmap;
  memset(grib_two(b, 7, 21) + 5, mark, 16);
}

/* Edition 2: a field with a bitmap of its own, and one that uses it too. */
static inline void grib_make_two(grib_bytes *b)
{
  grib_begin(b, 2);
  grib_two(b, 1, 21);
  grib_number(grib_two(b, 3, 72) + 6, 4, 16);
  grib_field(b, 0, 1);
  grib_field(b, 254, 2);
  grib_end(b);
}
#endif
