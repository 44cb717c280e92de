/* print.c - the octets of a message that say what is in it, without when and which member: two
 * messages with the same have the same names, level, grid and packing, which the library is slow to
 * find. And those that say when and which, where they are easily read. Octets are numbered as in
 * the WMO Manual on Codes I.2, FM 92 GRIB; ECMWF's local definitions 1, 30 and 36 of edition 1. */
#include <math.h>
#include <string.h>
#include "io/grib/grib_priv.h"

enum { ECMWF = 98, LONG_P1 = 10, DAY = 86400 };

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

/* Octets [first, last] of a section at p->bytes[at] do not count. */
static void blank(weir_grib_print *p, int64_t at, int64_t first, int64_t last)
{
  for (int64_t i = at + first - 1; i < at + last && i < p->size; i++) {
    p->bytes[i] = 0;
  }
}

/* Octet of a section. */
static int octet(const weir_grib_frame *f, int section, int64_t number)
{
  return f->bytes[f->section[section].at + number - 1];
}

static int64_t octets(const weir_grib_frame *f, int section, int64_t first, int n)
{
  int64_t value = 0;

  for (int i = 0; i < n; i++) {
    value = value << 8 | octet(f, section, first + i);
  }
  return value;
}

/* A sign and 15 bits. */
static int64_t signed_octets(const weir_grib_frame *f, int section, int64_t first)
{
  const int64_t value = octets(f, section, first, 2);

  return value & 0x8000 ? -(value & 0x7fff) : value;
}

static bool has_member(const weir_grib_frame *f)
{
  const int definition = f->section[1].length >= 51 ? octet(f, 1, 41) : 0;

  return octet(f, 1, 5) == ECMWF && (definition == 1 || definition == 30 || definition == 36);
}

/* The range of an instant: P1, or none. */
static bool is_instant(int range)
{
  return range == 0 || range == 1 || range == LONG_P1;
}

/* Edition 1: the date, the step of an instant, and the member where it is known. */
static bool print_one(weir_grib_print *p, const weir_grib_frame *f)
{
  if (!add(p, f, 1)) {
    return false;
  }
  blank(p, 0, 13, 17);
  blank(p, 0, 25, 25);
  if (is_instant(octet(f, 1, 21))) {
    blank(p, 0, 19, 20);
  }
  if (has_member(f)) {
    blank(p, 0, 50, 50);
  }
  if (!add(p, f, 2) || WEIR_GRIB_PRINT - p->size < 2) {
    return false;
  }
  p->bytes[p->size++] = (uint8_t)(octet(f, 4, 4) & 0xf0);
  p->bytes[p->size++] = (uint8_t)octet(f, 4, 11);
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
  if (!add(p, f, 2) || !add(p, f, 3)) {
    return false;
  }
  const int64_t four = p->size, template = octets(f, 4, 8, 2);

  if (!add(p, f, 4) || WEIR_GRIB_PRINT - p->size < 3) {
    return false;
  }
  if (template == 0 || template == 1 || template == 8 || template == 11) {
    blank(p, four, 19, 22);
  }
  if (template == 1 || template == 11) {
    blank(p, four, 36, 36);
  }
  if (template == 8 || template == 11) {
    blank(p, four, template == 8 ? 35 : 38, template == 8 ? 41 : 44);
  }
  p->bytes[p->size++] = (uint8_t)octet(f, 5, 10);
  p->bytes[p->size++] = (uint8_t)octet(f, 5, 11);
  p->bytes[p->size++] = (uint8_t)(f->section[5].length >= 20 ? octet(f, 5, 20) : 0);
  return true;
}

bool weir_grib_print_take(const weir_grib_frame *f, weir_grib_print *p, uint64_t *hash)
{
  memset(p, 0, sizeof *p);
  if (!(f->edition == 1 ? print_one(p, f) : print_two(p, f)) || p->size == WEIR_GRIB_PRINT) {
    return false;
  }
  p->bytes[p->size++] = (uint8_t)f->edition;
  *hash = 0xcbf29ce484222325u; /* FNV-1a */
  for (int64_t i = 0; i < p->size; i++) {
    *hash = (*hash ^ p->bytes[i]) * 0x100000001b3u;
  }
  return true;
}

/* Seconds of a unit of time, tables 4 and 4.4 where they agree; 0 for others. */
static int64_t unit_seconds(int unit)
{
  static const struct {
    int unit;
    int64_t seconds;
  } known[] = {{0, 60}, {1, 3600}, {2, DAY}, {10, 10800}, {11, 21600}, {12, 43200}};

  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (known[i].unit == unit) {
      return known[i].seconds;
    }
  }
  return 0;
}

double weir_grib_packing_error(int64_t bits, int64_t binary, int64_t decimal)
{
  return bits > 0 ? exp2((double)binary) * pow(10, -(double)decimal) / 2 : 0;
}

static bool quick_one(const weir_grib_frame *f, weir_grib_field *field)
{
  const int range = octet(f, 1, 21);
  const int64_t year = (octet(f, 1, 25) - 1) * 100 + octet(f, 1, 13);
  const int64_t date = year * 10000 + octet(f, 1, 14) * 100 + octet(f, 1, 15);
  const int64_t unit = unit_seconds(octet(f, 1, 18));

  if (!is_instant(range) || unit == 0 || (octet(f, 4, 4) & 0xf0) != 0 ||
      !weir_grib_time(date, octet(f, 1, 16) * 100 + octet(f, 1, 17), 0, &field->start)) {
    return false;
  }
  field->step_seconds[0] = unit * (range == LONG_P1 ? octets(f, 1, 19, 2)
                                   : range == 0     ? octet(f, 1, 19)
                                                    : 0);
  field->number = has_member(f) ? octet(f, 1, 50) : -1;
  field->packing_error =
      weir_grib_packing_error(octet(f, 4, 11), signed_octets(f, 4, 5), signed_octets(f, 1, 27));
  return true;
}

static bool quick_two(const weir_grib_frame *f, weir_grib_field *field)
{
  const int64_t template = octets(f, 4, 8, 2), packing = octets(f, 5, 10, 2);
  const int64_t date = octets(f, 1, 13, 2) * 10000 + octet(f, 1, 15) * 100 + octet(f, 1, 16);

  if (template > 1 || f->section[4].length < (template == 1 ? 37 : 34) ||
      f->section[5].length < 20 || (packing > 3 && (packing < 40 || packing > 42))) {
    return false;
  }
  const int64_t unit = unit_seconds(octet(f, 4, 18)), steps = octets(f, 4, 19, 4);

  if (unit == 0 || steps > INT32_MAX ||
      !weir_grib_time(date, octet(f, 1, 17) * 100 + octet(f, 1, 18), octet(f, 1, 19),
                      &field->start)) {
    return false;
  }
  field->step_seconds[0] = unit * steps;
  field->number = template == 1 ? octet(f, 4, 36) : -1;
  field->packing_error =
      weir_grib_packing_error(octet(f, 5, 20), signed_octets(f, 5, 16), signed_octets(f, 5, 18));
  return true;
}

bool weir_grib_quick(const weir_grib_frame *f, weir_grib_field *field)
{
  const bool known = f->edition == 1 ? quick_one(f, field) : quick_two(f, field);

  field->step_seconds[1] = field->step_seconds[0];
  return known;
}
