/* print.c - the octets of a message that say what is in it, without when and which member: two
 * messages with the same have the same names, units and level, which the library is slow to find.
 */
#include <string.h>
#include "io/grib/grib_priv.h"

enum { ECMWF = 98, NO_RANGE_LONG = 10 };

static bool add(weir_grib_print *p, const weir_grib_frame *f, int which)
{
  const int64_t n = f->section[which].length;

  if (n > WEIR_GRIB_PRINT - p->size) {
    return false;
  }
  memcpy(p->bytes + p->size, f->bytes + f->section[which].at, (size_t)n);
  p->size += n;
  return true;
}

/* Octets [first, last] of a section at p->bytes[at] do not count; as the WMO numbers them. */
static void blank(weir_grib_print *p, int64_t at, int64_t first, int64_t last)
{
  for (int64_t i = at + first - 1; i < at + last && i < p->size; i++) {
    p->bytes[i] = 0;
  }
}

/* Edition 1: the date, the step of an instant, and the member in ECMWF's local definitions. */
static bool print_one(weir_grib_print *p, const weir_grib_frame *f)
{
  if (!add(p, f, 1)) {
    return false;
  }
  const int range = p->bytes[20], definition = p->size > 50 ? p->bytes[40] : 0;

  blank(p, 0, 13, 17);
  blank(p, 0, 25, 25);
  if (range <= 1 || range == NO_RANGE_LONG) {
    blank(p, 0, 19, 20);
  }
  if (p->bytes[4] == ECMWF && (definition == 1 || definition == 30 || definition == 36)) {
    blank(p, 0, 50, 50);
  }
  return true;
}

/* Edition 2: reference time; forecast time, member and end of interval of templates 4.0, 4.1, 4.8
 * and 4.11. */
static bool print_two(weir_grib_print *p, const weir_grib_frame *f)
{
  p->bytes[p->size++] = f->bytes[6]; /* discipline */
  const int64_t one = p->size;

  if (!add(p, f, 1)) {
    return false;
  }
  blank(p, one, 13, 19);
  if (f->section[2].length > 0 && !add(p, f, 2)) {
    return false;
  }
  const int64_t four = p->size;

  if (!add(p, f, 4)) {
    return false;
  }
  const int template = p->bytes[four + 7] * 256 + p->bytes[four + 8];

  if (template == 0 || template == 1 || template == 8 || template == 11) {
    blank(p, four, 19, 22);
  }
  if (template == 1 || template == 11) {
    blank(p, four, 36, 36);
  }
  if (template == 8 || template == 11) {
    blank(p, four, template == 8 ? 35 : 38, template == 8 ? 41 : 44);
  }
  return true;
}

bool weir_grib_print_take(const weir_grib_frame *f, weir_grib_print *p, uint64_t *hash)
{
  memset(p, 0, sizeof *p);
  p->bytes[WEIR_GRIB_PRINT - 1] = (uint8_t)f->edition;
  if (!(f->edition == 1 ? print_one(p, f) : print_two(p, f)) || p->size == WEIR_GRIB_PRINT) {
    return false;
  }
  *hash = 0xcbf29ce484222325u; /* FNV-1a */
  for (int64_t i = 0; i < p->size; i++) {
    *hash = (*hash ^ p->bytes[i]) * 0x100000001b3u;
  }
  return true;
}
