/* program.h - runs the program as a user does, and looks at what it leaves behind. */
#ifndef PROGRAM_H
#define PROGRAM_H
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/weir_check.h"
#include "report/weir_run_log.h"

enum { PATH = 1024 };

/* Set-up and tear-down of a test, or of a group: a fresh scratch folder, and none. */
int make_scratch(void **state);
int drop_scratch(void **state);
/* A test in a scratch folder; and one whose own set-up calls make_scratch and fills it. */
#define TEST(f) TEST_AFTER(make_scratch, f)
#define TEST_AFTER(make, f) cmocka_unit_test_setup_teardown(f, make, drop_scratch)
/* Runs the program with these arguments (a shell's words) and returns its exit status; what it
 * prints goes to SCRATCH/log. */
int program(const char *format, ...) WEIR_PRINTF(1, 2);
/* The same with words before it, such as "env PATH=/nowhere". */
int program_under(const char *before, const char *format, ...) WEIR_PRINTF(2, 3);
/* Starts it and returns its process. */
pid_t program_start(const char *format, ...) WEIR_PRINTF(1, 2);
/* What the last run printed. Borrowed until the next call. */
const char *printed(void);

/* Path below the scratch folder; 64 are kept at a time. */
const char *in_scratch(const char *format, ...) WEIR_PRINTF(1, 2);
/* Path below the test data, or skips the test with the reason. */
const char *in_data(const char *name);
/* Whole file, or the test fails; freed with free. */
char *contents(const char *path);
bool same_contents(const char *a, const char *b);
/* True when the folder holds nothing but run.jsonl and resolved.yaml; prints what else there is. */
bool only_log(const char *dir);

/* Field of the last event of that name in DIR/run.jsonl; the test fails without. */
double event_number(const char *dir, const char *event, const char *key);
/* Number of events of that name. */
int event_count(const char *dir, const char *event);
/* Text of the cell behind the cell `key` in the table `id` of DIR/report.html. */
const char *cell_after(const char *dir, const char *id, const char *key);

/* The row of scores.csv. */
typedef struct scores {
  char record[64], se[16], ppv[16];
  long long tp, fn, fp;
} scores;
scores read_scores(const char *dir);
#endif
