/* wire_print.c - lines of the live protocol, as a sender of this program writes them. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "io/weir_record.h"
#include "io/weir_wire.h"

#define NS INT64_C(1000000000)

void weir_wire_print_time(int64_t ns, char *text, size_t size)
{
  const int64_t whole = (ns < 0 ? -ns : ns) / NS, rest = (ns < 0 ? -ns : ns) % NS;
  const int n =
      snprintf(text, size, "%s%lld.%09lld", ns < 0 ? "-" : "", (long long)whole, (long long)rest);

  for (int k = n - 1; text[k] == '0' && text[k - 1] != '.'; k--) {
    text[k] = 0;
  }
}

/* A name of a record that a reader accepts: what cannot stand in it becomes '_'. */
static void plain_name(const char *from, char to[WEIR_WIRE_TEXT])
{
  (void)snprintf(to, WEIR_WIRE_TEXT, "%s", from[0] != 0 ? from : "record");
  for (char *c = to; *c != 0; c++) {
    *c = weir_record_is_name(c, 1) || (*c == '.' && c > to) ? *c : '_';
  }
}

void weir_wire_print_hello(const char *record, int start_kind, int64_t start_us, char *line,
                           size_t size)
{
  char name[WEIR_WIRE_TEXT], start[64] = "0";

  if (start_kind == 2) {
    const int64_t seconds = start_us >= 0 ? start_us / 1000000 : -((999999 - start_us) / 1000000);
    const time_t when = (time_t)seconds;
    struct tm utc;
    char date[32];

    if (gmtime_r(&when, &utc) != NULL && strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc)) {
      (void)snprintf(start, sizeof start, "%s.%06dZ", date, (int)(start_us - seconds * 1000000));
    }
  }
  plain_name(record, name);
  (void)snprintf(line, size, "#weir 1 record=%s start=%s\n", name, start);
}

void weir_wire_print_end(int64_t ns, char *line, size_t size)
{
  char time[WEIR_WIRE_TEXT];

  weir_wire_print_time(ns, time, sizeof time);
  (void)snprintf(line, size, "#end time=%s\n", time);
}
