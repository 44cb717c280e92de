/* linezero.c - the shipped query for zeroings of an arterial line, against the truth of the
 * recording that its own configuration makes; and its template taken from a file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io/weir_annotation.h"
#include "program.h"

#ifdef HAVE_CONFIG_FILES
#define CONFIG CONFIGS "/query_linezero.yaml"

enum { CAPACITY = 256 };

typedef struct stretch {
  double from, to; /* s */
} stretch;

/* What defects.csv says of the pressure. */
typedef struct truth {
  stretch zero[CAPACITY], gap[CAPACITY];
  int zeros, gaps;
} truth;

static truth t;

static void read_truth(void)
{
  char *text = contents(in_scratch("r/defects.csv"));

  t.zeros = t.gaps = 0;
  for (char *line = strchr(text, '\n') + 1; *line != 0; line = strchr(line, '\n') + 1) {
    char kind[16];
    stretch s;

    if (sscanf(line, "ABP,%15[^,],%*d,%*d,%lf,%lf", kind, &s.from, &s.to) != 3) {
      continue;
    }
    assert_true(t.zeros < CAPACITY && t.gaps < CAPACITY);
    if (strcmp(kind, "line_zero") == 0) {
      t.zero[t.zeros++] = s;
    } else if (strcmp(kind, "gap") == 0) {
      t.gap[t.gaps++] = s;
    }
  }
  free(text);
}

static int make_recording(void **state)
{
  (void)make_scratch(state);
  assert_int_equal(program("prepare --config %s --out %s", CONFIG, in_scratch("r")), 0);
  read_truth();
  return 0;
}

/* Whether samples are missing from 3 s before a zeroing to 5 s after its begin: then its shape is
 * not in the recording. */
static bool hidden(const stretch *zero)
{
  for (int k = 0; k < t.gaps; k++) {
    if (t.gap[k].from < zero->from + 5 && t.gap[k].to > zero->from - 3) {
      return true;
    }
  }
  return false;
}

static void find(const char *options)
{
  assert_int_equal(program("run --overwrite --config %s --set input.record=%s %s --out %s", CONFIG,
                           in_scratch("r/ecgsyn"), options, in_scratch("o")),
                   0);
}

/* Every zeroing that is in the recording has one mark, 3 to 5 s after it began, and nothing else
 * has. Returns how many there are. */
static int assert_found(void)
{
  weir_annotations marks;
  int clear = 0, matched = 0;

  assert_ok(weir_annotations_read(in_scratch("o/ecgsyn.zeroed_onset"), &marks));
  for (int k = 0; k < t.zeros; k++) {
    int here = 0;

    for (int64_t i = 0; i < marks.count; i++) {
      const double at = (double)marks.items[i].time * (double)marks.fs_den / (double)marks.fs_num;

      here += at > t.zero[k].from + 3 && at < t.zero[k].from + 5;
    }
    assert_true(here == 1 || (hidden(&t.zero[k]) && here <= 1));
    clear += !hidden(&t.zero[k]);
    matched += here;
  }
  assert_int_equal(matched, marks.count);
  weir_annotations_fini(&marks);
  return clear;
}

static void every_zeroing_is_found_and_nothing_else(void **state)
{
  find("");
  assert_true(assert_found() >= 10);
  for (int seed = 2; seed < 4; seed++) {
    assert_int_equal(program("prepare --overwrite --seed %d --config %s --out %s", seed, CONFIG,
                             in_scratch("r")),
                     0);
    read_truth();
    find("");
    assert_true(assert_found() >= 10);
  }
}

/* Lines of coarse.csv from 1.6 s before to 4 s after the begin of a zeroing, as the table has them.
 */
static void cut_template(const char *path, double from)
{
  char *text = contents(in_scratch("o/coarse.csv")), *out = malloc(strlen(text) + 1), *end = out;
  int rows = 0;

  assert_non_null(out);
  end += sprintf(end, "time_s,value\n");
  for (const char *line = strchr(text, '\n') + 1; *line != 0; line = strchr(line, '\n') + 1) {
    const double at = atof(line);

    if (at > from - 1.6 && at <= from + 4) {
      end += sprintf(end, "%.*s\n", (int)strcspn(line, "\n"), line);
      rows++;
    }
  }
  assert_int_equal(rows, 70);
  weir_check_write(path, out, strlen(out));
  free(text);
  free(out);
}

#define SHAPE "--set 'query.steps[2].do.match_shape.shape={file: %s}'"

static void a_template_may_be_cut_out_of_a_recording(void **state)
{
  char options[PATH];
  int first = 0;

  find("--set 'query.outputs=[{stream: coarse, format: csv}]'");
  while (hidden(&t.zero[first])) {
    assert_true(++first < t.zeros);
  }
  cut_template(in_scratch("template.csv"), t.zero[first].from);
  (void)snprintf(options, sizeof options, SHAPE, in_scratch("template.csv"));
  find(options);
  assert_true(assert_found() >= 10);
}

static void a_template_file_that_is_none_is_named(void **state)
{
  static const char words[] = "time_s,value\n0,1\n0.08,low\n", few[] = "1\n2\n1\n";
  const char *path = in_scratch("t.csv"),
             *run = "run --config %s --set input.record=%s " SHAPE " --out %s";

  assert_int_equal(program(run, CONFIG, in_scratch("r/ecgsyn"), path, in_scratch("o")), 2);
  assert_non_null(strstr(printed(), "t.csv"));
  weir_check_write(path, words, strlen(words));
  assert_int_equal(program(run, CONFIG, in_scratch("r/ecgsyn"), path, in_scratch("o")), 2);
  assert_non_null(strstr(printed(), "t.csv:3:6: "));
  assert_non_null(strstr(printed(), "low is not "));
  weir_check_write(path, few, strlen(few));
  assert_int_equal(program(run, CONFIG, in_scratch("r/ecgsyn"), path, in_scratch("o")), 2);
  assert_non_null(strstr(printed(), "step 'drop' (match_shape): shape: 3 samples: 4 to 4096"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST_AFTER(make_recording, every_zeroing_is_found_and_nothing_else),
      TEST_AFTER(make_recording, a_template_may_be_cut_out_of_a_recording),
      TEST_AFTER(make_recording, a_template_file_that_is_none_is_named),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
  printf("skipped: this build reads no YAML\n");
  return 77;
}
#endif
