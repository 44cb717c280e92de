/* date.h - dates of the Gregorian calendar as days since 1970-01-01 00:00. */
#ifndef WX_DATE_H
#define WX_DATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WX_DATE_YEAR 365.2425 /* days, on average */

/* Parses "2001-02-03", "2001-02-03 04:05", "2001-02-03T04:05:06" (also followed by Z), UTC. False:
 * no such text or no such day. */
bool wx_date_parse(const char *text, double *days);
/* Writes "2001-02-03 04:05" into `text`, to the nearest minute. */
void wx_date_text(double days, char *text, size_t size);
/* Parses units of time as CF has them, "hours since 2001-02-03 00:00:00", and as GrADS does,
 * "Hours Since 2001-2-3 0:0:0.0 UTC": days a unit, and the origin. False: no such text, or another
 * zone. */
bool wx_date_units(const char *text, double *unit, double *origin);
/* Returns whether they would be such units but for the zone that they name, as "+02:00", which is
 * given. */
bool wx_date_zone(const char *text, char *zone, size_t size);
/* Returns how much of its calendar year is over at a time: 0 on 1 January 00:00, below 1. */
double wx_date_year_share(double days);
/* Returns the month of a time, seconds since 1970-01-01 00:00, as months since January 1970. */
int64_t wx_date_month(int64_t seconds);
/* Returns the same day and time of day so many months later; a day that the month does not have is
 * counted on into the next. */
int64_t wx_date_add_months(int64_t seconds, int64_t months);
/* Returns the month, 1 to 12. */
int wx_date_month_of_year(double days);
/* Days between the days of the year of two times that are so many days apart: 0 to 183. */
double wx_date_season(double days);
/* Returns whether they are `window` days apart at the most; window 0: whatever they are. */
bool wx_date_near(double days, double window);
#endif
