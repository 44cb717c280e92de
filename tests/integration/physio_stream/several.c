/* several.c - several recordings in one run: each as if it were alone, one that fails stops no
 * other, and the table of all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_file.h"
#include "io/weir_netcdf.h"
#include "program.h"

/* The built-in recording of that seed as the record r/NAME. */
static void make_record(const char *name, int seed)
{
  char header[512];

  assert_int_equal(program("prepare --overwrite --seed %d --set ecgsyn.duration=30 --set "
                           "ecgsyn.gaps.missing=0.1 --set ecgsyn.gaps.mean=2 --out %s",
                           seed, in_scratch("p")),
                   0);
  char *text = contents(in_scratch("p/ecgsyn.hea"));
  char *line = strchr(text, '\n') + 1;

  line[-1] = 0;
  (void)snprintf(header, sizeof header, "%s%s\n%s%s", name, text + strlen("ecgsyn"), name,
                 line + strlen("ecgsyn"));
  free(text);
  weir_check_write(in_scratch("r/%s.hea", name), header, strlen(header));
  assert_int_equal(rename(in_scratch("p/ecgsyn.dat"), in_scratch("r/%s.dat", name)), 0);
  assert_int_equal(rename(in_scratch("p/ecgsyn.atr"), in_scratch("r/%s.atr", name)), 0);
}

static int make_records(void **state)
{
  (void)make_scratch(state);
  assert_ok(weir_dir_create(in_scratch("r")));
  make_record("a", 1);
  make_record("b", 2);
  make_record("c", 3);
  return 0;
}

static void each_is_as_if_it_were_alone(void **state)
{
  static const char list[] = "\xef\xbb\xbf"
                             "a\r\n# a remark\n\n  b\nc"; /* of an editor of Windows */

  weir_check_write(in_scratch("r/RECORDS"), list, sizeof list - 1);
  assert_int_equal(program("run --threads 2 --set input.records=[%s] --out %s",
                           in_scratch("r/RECORDS"), in_scratch("all")),
                   0);
  for (const char *name = "abc"; *name != 0; name++) {
    char one[2] = {*name, 0};

    assert_int_equal(program("run --set input.record=%s --out %s", in_scratch("r/%s", one),
                             in_scratch("%s", one)),
                     0);
    assert_true(
        same_contents(in_scratch("all/%s/beats.csv", one), in_scratch("%s/beats.csv", one)));
    assert_true(
        same_contents(in_scratch("all/%s/%s.qrs", one, one), in_scratch("%s/%s.qrs", one, one)));
    assert_true(weir_file_exists(in_scratch("all/%s/report.html", one)));
  }
  char *table = contents(in_scratch("all/records.csv"));

  assert_non_null(strstr(table, "\na,ok,rr,s,256,7680,"));
  assert_non_null(strstr(table, "\nall,ok,rr,s,256,23040,"));
  free(table);
  assert_int_equal(event_count(in_scratch("all"), "record_end"), 3);
  assert_int_equal(program("run --overwrite --set input.records=[%s] --out %s",
                           in_scratch("r/RECORDS"), in_scratch("all")),
                   0);
}

/* All read their own file at the same time. */
static void netcdf_records_are_read_side_by_side(void **state)
{
  char list[2048] = "";

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
  for (int k = 0; k < 6; k++) {
    const char name = (char)('a' + k % 3);
    const size_t used = strlen(list);

    assert_int_equal(program("convert --overwrite --set input.record=%s --set convert.name=n%d "
                             "--out %s",
                             in_scratch("r/%c", name), k, in_scratch("n")),
                     0);
    (void)snprintf(list + used, sizeof list - used, "%s%s", k > 0 ? "," : "",
                   in_scratch("n/n%d.nc", k));
    assert_int_equal(program("run --set input.record=%s --out %s", in_scratch("r/%c", name),
                             in_scratch("one%d", k)),
                     0);
  }
  assert_int_equal(
      program("run --threads 6 --set input.records=[%s] --out %s", list, in_scratch("all")), 0);
  for (int k = 0; k < 6; k++) {
    assert_true(
        same_contents(in_scratch("all/n%d.nc/beats.csv", k), in_scratch("one%d/beats.csv", k)));
  }
}

static void one_that_fails_is_named_and_stops_no_other(void **state)
{
  assert_int_equal(program("run --set input.records=[%s,%s,%s] --out %s", in_scratch("r/a"),
                           in_scratch("r/nowhere"), in_scratch("r/c"), in_scratch("all")),
                   3);
  assert_non_null(strstr(printed(), "1 of 3 recordings failed (nowhere)"));
  const char *why = strstr(printed(), "no such record");

  assert_non_null(why);
  assert_null(strstr(why + 1, "no such record")); /* said once */
  assert_true(weir_file_exists(in_scratch("all/a/a.qrs")));
  assert_true(weir_file_exists(in_scratch("all/c/c.qrs")));
  assert_false(weir_file_exists(in_scratch("all/nowhere/nowhere.qrs")));
  char *table = contents(in_scratch("all/records.csv"));

  assert_non_null(strstr(table, "\nnowhere,failed,"));
  assert_non_null(strstr(table, "\nc,ok,rr,"));
  free(table);
}

/* Without a result there is nothing to protect: the corrected command needs no other folder. */
static void a_run_without_any_result_may_be_repeated(void **state)
{
  const char *out = in_scratch("all");
  static const char header[] = "long 1 256 1000000000\nlong.dat 16 5000/mV\n";

  assert_int_equal(program("run --set input.records=[%s,%s] --set input.signal=nothing --out %s",
                           in_scratch("r/a"), in_scratch("r/b"), out),
                   2);
  assert_true(only_log(out));
  weir_check_write(in_scratch("r/long.hea"), header, sizeof header - 1);
  weir_check_write(in_scratch("r/long.dat"), "", 0);
  assert_int_equal(truncate(in_scratch("r/long.dat"), 2000000000), 0); /* a hole */
  assert_int_equal(program_under("timeout --foreground --preserve-status -s INT 1",
                                 "run --set input.records=[%s] --out %s", in_scratch("r/long"),
                                 out),
                   9);
  assert_non_null(strstr(printed(), "stopped by the user after 0 of 1 recordings"));
  assert_null(strstr(printed(), ".c:"));
  assert_true(only_log(out));
  assert_int_equal(program("run --set input.records=[%s,%s] --out %s", in_scratch("r/a"),
                           in_scratch("r/b"), out),
                   0);
  assert_int_equal(
      program("run --overwrite --set input.records=[%s] --out %s", in_scratch("r/b"), out), 0);
  assert_false(weir_file_exists(in_scratch("all/a"))); /* a recording of the earlier run */
  assert_true(weir_file_exists(in_scratch("all/b/b.qrs")));
}

static void what_cannot_be_is_refused(void **state)
{
  static const char out[] = "a\n../r/b\n";

  assert_int_equal(program("run --set input.records=[%s,%s] --out %s", in_scratch("r/a"),
                           in_scratch("r/a.hea"), in_scratch("o")),
                   2);
  assert_non_null(strstr(printed(), "would share the folder a"));
  weir_check_write(in_scratch("r/RECORDS"), out, sizeof out - 1);
  assert_int_equal(program("run --set input.records=[%s] --overwrite --out %s",
                           in_scratch("r/RECORDS"), in_scratch("o")),
                   3);
  assert_non_null(strstr(printed(), "RECORDS:2: '../r/b' leads out"));
  static const char *const names[] = {"r/..", "r/.", "r/"};

  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    assert_int_equal(program("run --set input.records=[%s] --overwrite --out %s",
                             in_scratch("%s", names[i]), in_scratch("o")),
                     2);
    assert_non_null(strstr(printed(), "cannot be the name of its results"));
  }
  assert_int_equal(program("run --set input.records=[%s] --set input.record=%s --out %s",
                           in_scratch("r/a"), in_scratch("r/b"), in_scratch("q")),
                   2);
  assert_non_null(strstr(printed(), "only one of them"));
  assert_int_equal(program("describe --set input.records=[%s]", in_scratch("r/a")), 2);
}

/* Of each record what eval gives it alone; beats next to the records, or in one folder, are found.
 */
static void a_database_is_scored_by_one_command(void **state)
{
  static const char list[] = "a\nb.hea\nc\n";

  weir_check_write(in_scratch("r/RECORDS"), list, sizeof list - 1);
  assert_int_equal(
      program("run --set input.records=[%s] --out %s", in_scratch("r/RECORDS"), in_scratch("all")),
      0);
  assert_int_equal(program("eval --set eval.start=0 --set eval.records=[%s] --set eval.folder=%s "
                           "--out %s",
                           in_scratch("r/RECORDS"), in_scratch("all"), in_scratch("e")),
                   0);
  assert_int_equal(event_count(in_scratch("e"), "score"), 3);
  char *table = contents(in_scratch("e/records.csv"));
  char *totals = contents(in_scratch("e/scores.csv"));

  assert_non_null(strstr(table, "record,status,reference,test,tp,fn,fp,se,ppv,rr_rms_ms,hr_bpm,"));
  for (const char *name = "abc"; *name != 0; name++) {
    char one[2] = {*name, 0}, row[8] = {'\n', *name, ','};

    assert_int_equal(program("eval --set eval.start=0 --set eval.reference=%s --set eval.test=%s "
                             "--out %s",
                             in_scratch("r/%s.atr", one), in_scratch("all/%s/%s.qrs", one, one),
                             in_scratch("e%s", one)),
                     0);
    char *alone = contents(in_scratch("e%s/records.csv", one));
    char *score = contents(in_scratch("e%s/scores.csv", one));

    assert_non_null(strstr(table, strstr(alone, row)));
    assert_non_null(strstr(totals, strstr(score, row)));
    free(alone);
    free(score);
    assert_int_equal(rename(in_scratch("all/%s/%s.qrs", one, one), in_scratch("all/%s.qrs", one)),
                     0);
  }
  assert_non_null(strstr(totals, "\ngross,"));
  free(totals);
  assert_int_equal(program("eval --set eval.start=0 --set eval.records=[%s] --set eval.folder=%s "
                           "--out %s",
                           in_scratch("r/RECORDS"), in_scratch("all"), in_scratch("f")),
                   0);
  assert_true(same_contents(in_scratch("e/records.csv"), in_scratch("f/records.csv")));
  /* The reference against itself. */
  assert_int_equal(program("eval --set eval.start=0 --set eval.records=[%s] --set "
                           "eval.annotators.test=atr --out %s",
                           in_scratch("r/RECORDS"), in_scratch("g")),
                   0);
  char *same = contents(in_scratch("g/records.csv"));

  assert_non_null(strstr(same, ",0,0,100.00,100.00,0.00,"));
  free(same);
  free(table);
}

static void a_record_that_cannot_be_scored_stops_no_other(void **state)
{
  assert_int_equal(program("eval --set eval.start=0 --set eval.records=[%s,%s,%s] --set "
                           "eval.annotators.test=atr --out %s",
                           in_scratch("r/a"), in_scratch("r/none"), in_scratch("r/c"),
                           in_scratch("e")),
                   3);
  assert_non_null(strstr(printed(), "none.atr: there is no such file"));
  assert_non_null(strstr(printed(), "1 of 3 records could not be scored (none)"));
  char *table = contents(in_scratch("e/records.csv"));

  assert_non_null(strstr(table, "\na,ok,"));
  assert_non_null(strstr(table, "\nnone,failed,,,,,,,,,,,,,,\nc,ok,"));
  free(table);
  assert_true(weir_file_exists(in_scratch("e/report.html")));
  assert_int_equal(event_count(in_scratch("e"), "record_end"), 1);
  /* Without any there is no result. */
  assert_int_equal(
      program("eval --set eval.records=[%s] --out %s", in_scratch("r/none"), in_scratch("f")), 3);
  assert_true(only_log(in_scratch("f")));
  assert_int_equal(program("eval --set eval.records=[%s,%s] --out %s", in_scratch("r/a"),
                           in_scratch("q/a"), in_scratch("f")),
                   2);
  assert_non_null(strstr(printed(), "eval.records: "));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST_AFTER(make_records, each_is_as_if_it_were_alone),
      TEST_AFTER(make_records, a_database_is_scored_by_one_command),
      TEST_AFTER(make_records, a_record_that_cannot_be_scored_stops_no_other),
      TEST_AFTER(make_records, netcdf_records_are_read_side_by_side),
      TEST_AFTER(make_records, one_that_fails_is_named_and_stops_no_other),
      TEST_AFTER(make_records, a_run_without_any_result_may_be_repeated),
      TEST_AFTER(make_records, what_cannot_be_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
