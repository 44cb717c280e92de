/* alarms.c - see alarms.h. */
#include "eval/alarms.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"

/* Longest file of results: a line a second for half a year. */
#define MAX_BYTES (INT64_C(256) << 20)

const char *const ps_alarm_name[PS_ALARMS] = {
    [PS_ALARM_ASYSTOLE] = "asystole",
    [PS_ALARM_BRADYCARDIA] = "bradycardia",
    [PS_ALARM_TACHYCARDIA] = "tachycardia",
    [PS_ALARM_VENTRICULAR_TACHYCARDIA] = "ventricular_tachycardia",
    [PS_ALARM_VENTRICULAR_FLUTTER_FIB] = "ventricular_flutter_fib"};

/* Whether a line of n characters is `text`, in letters of any case. */
static bool is_line(const char *line, size_t n, const char *text)
{
  while (n > 0 && strchr(" \t\r", line[n - 1]) != NULL) {
    n--;
  }
  while (n > 0 && strchr(" \t", line[0]) != NULL) {
    line++;
    n--;
  }
  return n == strlen(text) && strncasecmp(line, text, n) == 0;
}

weir_status ps_alarm_label(const char *record, const char *comments, ps_alarm *alarm, bool *truth)
{
  int kind = -1, label = -1;

  for (const char *line = comments; *line != 0;) {
    const size_t n = strcspn(line, "\n");

    for (int k = 0; k < PS_ALARMS; k++) {
      kind = is_line(line, n, ps_alarm_name[k]) ? k : kind;
    }
    label = is_line(line, n, "True alarm") ? 1 : is_line(line, n, "False alarm") ? 0 : label;
    line += n + (line[n] == '\n');
  }
  if (kind < 0 || label < 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: its header does not say %s; records of the Challenge 2015 end with two "
                     "comments such as #Asystole and #False alarm",
                     record,
                     kind < 0 ? "which alarm was raised" : "whether its alarm is true or false");
  }
  *alarm = (ps_alarm)kind;
  *truth = label == 1;
  return WEIR_OK;
}

weir_status ps_alarm_raised(const char *path, double from, double to, bool *raised)
{
  char *text = NULL;
  int64_t size = 0, number = 1;
  weir_status status = WEIR_OK;
  bool found = false;

  WEIR_TRY(weir_file_read(path, MAX_BYTES, &text, &size));
  const char *line = strchr(text, '\n');

  for (line = line != NULL ? line + 1 : ""; *line != 0 && !found; number++) {
    char *end = NULL;
    const double time = strtod(line, &end);

    if (end == line || (*end != ',' && *end != '\n' && *end != '\r')) {
      status = weir_fail(WEIR_ERR_DATA, "%s:%lld: no time in the first column", path,
                         (long long)(number + 1));
      break;
    }
    found = time >= from && time < to;
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  weir_free(&text);
  WEIR_TRY(status);
  *raised = found;
  return WEIR_OK;
}

void ps_alarm_count(ps_alarm_counts *counts, bool truth, bool raised)
{
  counts->tp += truth && raised;
  counts->fp += !truth && raised;
  counts->fn += truth && !raised;
  counts->tn += !truth && !raised;
}

double ps_alarm_score(const ps_alarm_counts *counts)
{
  const double right = (double)(counts->tp + counts->tn);

  return 100 * right / (right + (double)counts->fp + 5 * (double)counts->fn);
}
