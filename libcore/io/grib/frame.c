/* frame.c - sections of a GRIB message, checked before the library sees them. Layout: WMO Manual on
 * Codes I.2, FM 92 GRIB editions 1 and 2. */
#include <stdio.h>
#include <string.h>
#include "io/grib/grib_priv.h"

enum {
  END = 4,         /* "7777" */
  UNIT = 120,      /* ECMWF counts edition 1 messages over 8 MiB in such units */
  LARGE = 1 << 23, /* and marks them with this bit */
  PADDING = 8,     /* bytes after a bitmap */
};

/* Big-endian number of n bytes; an eighth byte must not set the sign. */
static int64_t number(const uint8_t *bytes, int n)
{
  uint64_t value = 0;

  for (int i = 0; i < n; i++) {
    value = value << 8 | bytes[i];
  }
  return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

int64_t weir_grib_frame_find(const uint8_t *bytes, int64_t size, int64_t from)
{
  const uint8_t *const found =
      from < size ? memmem(bytes + from, (size_t)(size - from), "GRIB", 4) : NULL;

  return found ? found - bytes : size;
}

/* Edition 1: takes section `number` at f->at, which has to have `min_length` bytes. */
static bool take(weir_grib_frame *f, int which, int64_t length, int64_t min_length, char *why)
{
  if (length < min_length || length > f->length - END - f->at) {
    snprintf(why, WEIR_GRIB_WHY,
             "section%dLength=%lld: the message has %lld bytes left for it (at least %lld)", which,
             (long long)length, (long long)(f->length - END - f->at), (long long)min_length);
    return false;
  }
  f->section[which].at = f->at;
  f->section[which].length = length;
  f->at += length;
  return true;
}

static bool has_bytes(const weir_grib_frame *f, int64_t bytes)
{
  return f->length - END - f->at >= bytes;
}

/* Length of section 4 of edition 1: what a large message says there completes its own length. */
static int64_t data_length(const weir_grib_frame *f)
{
  const int64_t said = number(f->bytes + f->at, 3);

  return number(f->bytes + 4, 3) >= LARGE && said < UNIT ? f->length - END - f->at : said;
}

/* A bitmap that is announced is there; the library compares its bits with the grid. */
static bool check_one(const weir_grib_frame *f, char *why)
{
  const int64_t length = f->section[3].length;

  if (length > 0 && length < 7 && number(f->bytes + f->section[3].at + 4, 2) == 0) {
    snprintf(why, WEIR_GRIB_WHY, "section3Length=%lld: there is no bitmap in it",
             (long long)length);
    return false;
  }
  return true;
}

static int next_one(weir_grib_frame *f, char *why)
{
  static const int64_t min_length[] = {8, 28, 32, 6, 12};
  int flags = 0;

  if (f->n_fields > 0) {
    return 0;
  }
  for (int which = 1; which <= 4; which++) {
    if ((which == 2 && !(flags & 0x80)) || (which == 3 && !(flags & 0x40))) {
      continue;
    }
    if (!has_bytes(f, 3)) {
      snprintf(why, WEIR_GRIB_WHY, "totalLength=%lld: it ends before section %d",
               (long long)f->length, which);
      return -1;
    }
    const int64_t length = which == 4 ? data_length(f) : number(f->bytes + f->at, 3);

    if (!take(f, which, length, min_length[which], why)) {
      return -1;
    }
    flags = which == 1 ? f->bytes[f->section[1].at + 7] : flags;
  }
  if (f->at != f->length - END) {
    snprintf(why, WEIR_GRIB_WHY, "section4Length=%lld: the sections end at byte %lld of %lld",
             (long long)f->section[4].length, (long long)f->at, (long long)(f->length - END));
    return -1;
  }
  f->n_fields = 1;
  return check_one(f, why) ? 1 : -1;
}

/* Length of an edition 1 message, 0 where it cannot be known. */
static int64_t length_one(const uint8_t *bytes, int64_t size)
{
  const int64_t said = number(bytes + 4, 3);
  int64_t at = 8;

  if (said < LARGE) {
    return said;
  }
  for (int which = 1, flags = 0; which <= 3; which++) {
    if ((which == 2 && !(flags & 0x80)) || (which == 3 && !(flags & 0x40))) {
      continue;
    }
    if (size - at < 28) {
      return 0;
    }
    flags = which == 1 ? bytes[at + 7] : flags;
    at += number(bytes + at, 3);
  }
  if (size - at < 3) {
    return 0;
  }
  const int64_t rest = number(bytes + at, 3);

  return rest < UNIT ? (said - LARGE) * UNIT - rest + END : said;
}

bool weir_grib_frame_open(const uint8_t *bytes, int64_t size, weir_grib_frame *f, char *why)
{
  memset(f, 0, sizeof *f);
  f->bytes = bytes;
  if (size < 16 || memcmp(bytes, "GRIB", 4) != 0) {
    snprintf(why, WEIR_GRIB_WHY, "identifier: %lld bytes are not a message", (long long)size);
    return false;
  }
  f->edition = bytes[7];
  if (f->edition != 1 && f->edition != 2) {
    snprintf(why, WEIR_GRIB_WHY, "edition=%d: only editions 1 and 2 are supported", f->edition);
    return false;
  }
  f->length = f->edition == 1 ? length_one(bytes, size) : number(bytes + 8, 8);
  f->at = f->edition == 1 ? 8 : 16;
  if (f->length < f->at + END) {
    snprintf(why, WEIR_GRIB_WHY, "totalLength=%lld: too short for a message", (long long)f->length);
    return false;
  }
  if (f->length > size) {
    snprintf(why, WEIR_GRIB_WHY, "totalLength=%lld: the file ends after %lld bytes of it",
             (long long)f->length, (long long)size);
    return false;
  }
  if (memcmp(bytes + f->length - END, "7777", END) != 0) {
    snprintf(why, WEIR_GRIB_WHY, "totalLength=%lld: no '7777' at its end", (long long)f->length);
    return false;
  }
  return true;
}

/* What the sections of a field of edition 2 say of each other. */
static bool check_two(const weir_grib_frame *f, char *why)
{
  const uint8_t *const grid = f->bytes + f->section[3].at;
  const uint8_t *const packing = f->bytes + f->section[5].at;
  const int64_t points = number(grid + 6, 4), values = number(packing + 5, 4);
  const int64_t bits = f->section[5].length >= 21 ? packing[19] : 0;

  if (values > points) {
    snprintf(why, WEIR_GRIB_WHY, "numberOfValues=%lld: the grid has %lld points", (long long)values,
             (long long)points);
    return false;
  }
  if (number(packing + 9, 2) == 0 && f->section[7].length - 5 < (values * bits + 7) / 8) {
    snprintf(why, WEIR_GRIB_WHY, "section7Length=%lld: %lld values of %lld bits do not fit",
             (long long)f->section[7].length, (long long)values, (long long)bits);
    return false;
  }
  const int64_t spare = f->section[6].length - 6 - (points + 7) / 8;

  if (f->bytes[f->section[6].at + 5] == 0 && (spare < 0 || spare > PADDING)) {
    snprintf(why, WEIR_GRIB_WHY, "section6Length=%lld: does not match a bitmap of %lld points",
             (long long)f->section[6].length, (long long)points);
    return false;
  }
  return true;
}

/* The bitmap that holds for a field: its own, none, or (254) that of an earlier field. */
static bool take_bitmap(weir_grib_frame *f, char *why)
{
  const int indicator = f->bytes[f->section[6].at + 5];

  if (indicator == 0) {
    f->bitmap = f->section[6].at;
    f->bitmap_length = f->section[6].length;
  } else if (indicator == 254 && f->bitmap_length == 0) {
    snprintf(why, WEIR_GRIB_WHY, "bitMapIndicator=254: no field before has a bitmap");
    return false;
  } else if (indicator == 254) {
    f->section[6].at = f->bitmap;
    f->section[6].length = f->bitmap_length;
  }
  return true;
}

/* Whether section `which` may follow section `before` (0: the beginning). */
static bool follows(int before, int which)
{
  switch (which) {
  case 2:
    return before == 1 || before == 7;
  case 3:
    return before == 1 || before == 2 || before == 7;
  case 4:
    return before == 3 || before == 7;
  default:
    return which <= 7 && before == which - 1;
  }
}

static int next_two(weir_grib_frame *f, char *why)
{
  static const int64_t min_length[] = {16, 21, 5, 14, 9, 11, 6, 5};

  if (f->n_fields > 0 && f->at == f->length - END) {
    return 0;
  }
  for (int before = f->n_fields > 0 ? 7 : 0, which = 0; which != 7; before = which) {
    if (!has_bytes(f, 5)) {
      snprintf(why, WEIR_GRIB_WHY, "totalLength=%lld: it ends after section %d",
               (long long)f->length, before);
      return -1;
    }
    which = f->bytes[f->at + 4];
    if (!follows(before, which)) {
      snprintf(why, WEIR_GRIB_WHY, "numberOfSection=%d: cannot follow section %d", which, before);
      return -1;
    }
    if (!take(f, which, number(f->bytes + f->at, 4), min_length[which], why) ||
        (which == 6 && !take_bitmap(f, why))) {
      return -1;
    }
  }
  f->n_fields++;
  return check_two(f, why) ? 1 : -1;
}

int weir_grib_frame_next(weir_grib_frame *f, char *why)
{
  return f->edition == 1 ? next_one(f, why) : next_two(f, why);
}

int64_t weir_grib_frame_size(const weir_grib_frame *f)
{
  int64_t size = 16 + END;

  for (int i = 1; i < WEIR_GRIB_SECTIONS; i++) {
    size += f->section[i].length;
  }
  return size;
}

void weir_grib_frame_copy(const weir_grib_frame *f, uint8_t *out)
{
  const uint64_t size = (uint64_t)weir_grib_frame_size(f);
  uint8_t *at = out + 16;

  memcpy(out, f->bytes, 8);
  for (int i = 0; i < 8; i++) {
    out[8 + i] = (uint8_t)(size >> (56 - 8 * i));
  }
  for (int i = 1; i < WEIR_GRIB_SECTIONS; i++) {
    memcpy(at, f->bytes + f->section[i].at, (size_t)f->section[i].length);
    at += f->section[i].length;
  }
  memcpy(at, "7777", END);
}
