/* date.c - see date.h. Days from dates: Howard Hinnant, "chrono-compatible low-level date
 * algorithms". */
#include "data/date.h"
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_integer.h"

enum { LINE = 256 }; /* of units */

/* The year begins with March, so that the day that leaps is its last. */
static int64_t days_from_date(int64_t y, int64_t m, int64_t d)
{
  y -= m <= 2;
  const int64_t era = weir_floor_div(y, 400), of_era = y - era * 400;
  const int64_t of_year = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;

  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_from_days(int64_t days, int64_t *y, int64_t *m, int64_t *d)
{
  const int64_t z = days + 719468, era = weir_floor_div(z, 146097), doe = z - era * 146097;
  const int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;

  *d = doy - (153 * mp + 2) / 5 + 1;
  *m = mp < 10 ? mp + 3 : mp - 9;
  *y = yoe + era * 400 + (*m <= 2);
}

/* At most `max_digits` digits; false: none. */
static bool number(const char **at, int max_digits, int64_t *out)
{
  int n = 0;

  for (*out = 0; n < max_digits && **at >= '0' && **at <= '9'; n++, (*at)++) {
    *out = *out * 10 + (**at - '0');
  }
  return n > 0;
}

static bool sign(const char **at, char c)
{
  const bool is = **at == c;

  *at += is;
  return is;
}

/* Hours, minutes and, perhaps, seconds, as a share of a day. */
static bool clock_time(const char **at, double *share)
{
  int64_t h = 0, min = 0, s = 0, of_second = 0;
  bool good = number(at, 2, &h) && sign(at, ':') && number(at, 2, &min);

  if (good && sign(at, ':')) {
    good = number(at, 2, &s);
    if (good && sign(at, '.')) {
      good = number(at, 15, &of_second) && of_second == 0; /* CF writers add ".0" */
    }
  }
  *share = (double)(h * 3600 + min * 60 + s) / 86400;
  return good && h < 24 && min < 60 && s < 60;
}

bool wx_date_parse(const char *text, double *days)
{
  const char *at = text;
  int64_t y = 0, m = 0, d = 0;
  double share = 0;

  if (!number(&at, 4, &y) || !sign(&at, '-') || !number(&at, 2, &m) || !sign(&at, '-') ||
      !number(&at, 2, &d) || m < 1 || m > 12 || d < 1) {
    return false;
  }
  const int64_t day = days_from_date(y, m, d);
  const int64_t next = days_from_date(m == 12 ? y + 1 : y, m == 12 ? 1 : m + 1, 1);

  if (d > next - days_from_date(y, m, 1) ||
      ((sign(&at, 'T') || sign(&at, ' ')) && !clock_time(&at, &share))) {
    return false;
  }
  (void)(sign(&at, 'Z') || (sign(&at, ' ') && strcmp(at, "UTC") == 0 && (at += 3) != NULL));
  if (*at != 0) {
    return false;
  }
  *days = (double)day + share;
  return true;
}

void wx_date_text(double days, char *text, size_t size)
{
  const int64_t minutes = (int64_t)floor(days * 1440 + 0.5), of_day = weir_floor_mod(minutes, 1440);
  int64_t y = 0, m = 0, d = 0;

  date_from_days(weir_floor_div(minutes, 1440), &y, &m, &d);
  (void)snprintf(text, size, "%04lld-%02lld-%02lld %02lld:%02lld", (long long)y, (long long)m,
                 (long long)d, (long long)(of_day / 60), (long long)(of_day % 60));
}

/* Without blanks at the ends, one for several, in capitals; false: too long. */
static bool squeeze(const char *text, char *line, size_t size)
{
  size_t n = 0;

  for (const char *at = text; *at != 0; at++) {
    if (*at == ' ' && (n == 0 || line[n - 1] == ' ')) {
      continue;
    }
    if (n + 1 == size) {
      return false;
    }
    line[n++] = (char)toupper((unsigned char)*at);
  }
  line[n - (n > 0 && line[n - 1] == ' ')] = 0;
  return true;
}

/* Removes the text after hours and minutes from a squeezed line; "": nothing. */
static const char *cut_zone(char *line)
{
  char *at = strchr(line, ':');

  if (at == NULL) {
    return "";
  }
  at += strspn(at, "0123456789:.");
  char *const zone = at + (*at == ' ');

  if (zone == at && *at != 0) { /* "00:00Z": the end is put after it */
    memmove(at + 1, at, strlen(at) + 1);
    *at = 0;
    return at + 1;
  }
  *at = 0;
  return zone;
}

static bool is_utc(const char *zone)
{
  return zone[0] == 0 || strcmp(zone, "Z") == 0 || strcmp(zone, "UTC") == 0 ||
         strcmp(zone, "GMT") == 0 ||
         ((zone[0] == '+' || zone[0] == '-') && zone[1] != 0 &&
          zone[1 + strspn(zone + 1, "0:")] == 0);
}

/* Of a squeezed line without a zone. */
static bool units_of(const char *line, double *unit, double *origin)
{
  static const struct {
    const char *name;
    double days;
  } units[] = {{"SECONDS", 1.0 / 86400},
               {"SECOND", 1.0 / 86400},
               {"S", 1.0 / 86400},
               {"MINUTES", 1.0 / 1440},
               {"MINUTE", 1.0 / 1440},
               {"MIN", 1.0 / 1440},
               {"HOURS", 1.0 / 24},
               {"HOUR", 1.0 / 24},
               {"H", 1.0 / 24},
               {"DAYS", 1},
               {"DAY", 1},
               {"D", 1}};
  static const char since[] = " SINCE ";

  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    const size_t n = strlen(units[i].name);

    if (strncmp(line, units[i].name, n) == 0 && strncmp(line + n, since, sizeof since - 1) == 0) {
      *unit = units[i].days;
      return wx_date_parse(line + n + sizeof since - 1, origin);
    }
  }
  return false;
}

bool wx_date_units(const char *text, double *unit, double *origin)
{
  char line[LINE];

  return squeeze(text, line, sizeof line - 1) && is_utc(cut_zone(line)) &&
         units_of(line, unit, origin);
}

bool wx_date_zone(const char *text, char *zone, size_t size)
{
  char line[LINE];
  double unit = 0, origin = 0;

  if (!squeeze(text, line, sizeof line - 1)) {
    return false;
  }
  (void)snprintf(zone, size, "%s", cut_zone(line));
  return !is_utc(zone) && units_of(line, &unit, &origin);
}

double wx_date_year_share(double days)
{
  int64_t y = 0, m = 0, d = 0;

  date_from_days((int64_t)floor(days), &y, &m, &d);
  const int64_t begin = days_from_date(y, 1, 1);

  return (days - (double)begin) / (double)(days_from_date(y + 1, 1, 1) - begin);
}

int wx_date_month_of_year(double days)
{
  int64_t y, m, d;

  date_from_days((int64_t)floor(days), &y, &m, &d);
  return (int)m;
}

double wx_date_season(double days)
{
  return fabs(remainder(days, WX_DATE_YEAR));
}

bool wx_date_near(double days, double window)
{
  return window == 0 || wx_date_season(days) <= window;
}

int64_t wx_date_month(int64_t seconds)
{
  int64_t y = 0, m = 0, d = 0;

  date_from_days(weir_floor_div(seconds, 86400), &y, &m, &d);
  return 12 * (y - 1970) + m - 1;
}

int64_t wx_date_add_months(int64_t seconds, int64_t months)
{
  const int64_t days = weir_floor_div(seconds, 86400), all = wx_date_month(seconds) + months;
  const int64_t years = weir_floor_div(all, 12);
  int64_t y = 0, m = 0, d = 0;

  date_from_days(days, &y, &m, &d);
  return seconds + 86400 * (days_from_date(1970 + years, all - 12 * years + 1, d) - days);
}
