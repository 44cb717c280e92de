/* site.c - a study over two hospitals on synthetic recordings: what leaves a site, what does not,
 * and what several sites give together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_file.h"
#include "program.h"

#define NOISY \
  "--set ecgsyn.duration=90 --set ecgsyn.noise.white=true --set ecgsyn.noise.white_snr=6 "
#define SCORED "--set eval.start=10 --set site.min_cell=2 "

enum { RECORDS = 5, FIRST = 2 }; /* records of both sites, and of the first */

static char names[RECORDS][PATH];

static int make_records(void **state)
{
  (void)make_scratch(state);
  for (int i = 0; i < RECORDS; i++) {
    (void)snprintf(names[i], PATH, "%s/ecgsyn", in_scratch("JaneDoe%d", i));
    if (program("prepare " NOISY "--set seed=%d --out %s", i + 1, in_scratch("JaneDoe%d", i)) !=
        0) {
      return 1;
    }
  }
  return 0;
}

/* `site prepare` of the records from..to - 1, forwards or backwards. */
static void prepare(const char *out, int from, int to, bool backwards)
{
  char list[RECORDS * PATH] = "";

  for (int k = from; k < to; k++) {
    const int i = backwards ? from + to - 1 - k : k;
    const size_t at = strlen(list);

    (void)snprintf(list + at, sizeof list - at, "%s%s", at == 0 ? "" : ",", names[i]);
  }
  assert_int_equal(program("site prepare --set 'site.records=[%s]' --out %s", list, out), 0);
}

static void a_dataset_depends_on_samples_alone(void **state)
{
  static const char *const files[] = {"RECORDS", "r00001.hea", "r00003.dat", "r00005.atr"};

  prepare(in_scratch("all"), 0, RECORDS, false);
  prepare(in_scratch("again"), 0, RECORDS, true);
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    assert_true(same_contents(in_scratch("all/%s", files[i]), in_scratch("again/%s", files[i])));
  }
  char *header = contents(in_scratch("all/r00001.hea"));
  assert_null(strstr(header, "ecgsyn"));
  assert_null(strstr(header, "#"));
  free(header);
}

static void sites_together_give_what_one_with_all_records_gives(void **state)
{
  prepare(in_scratch("d"), 0, RECORDS, false);
  prepare(in_scratch("d1"), 0, FIRST, false);
  prepare(in_scratch("d2"), FIRST, RECORDS, false);
  for (int k = 0; k < 3; k++) {
    static const char *const site[] = {"d", "d1", "d2"};

    assert_int_equal(
        program("site eval " SCORED
                "--set site.per_record=true --set site.approve=true --set site.dataset=%s "
                "--out %s",
                in_scratch("%s", site[k]), in_scratch("e-%s", site[k])),
        0);
  }
  assert_int_equal(program("site merge --set 'site.reports=[%s,%s]' --out %s",
                           in_scratch("e-d1/site_report.jsonl"),
                           in_scratch("e-d2/site_report.jsonl"), in_scratch("m12")),
                   0);
  assert_int_equal(program("site merge --set 'site.reports=[%s]' --out %s",
                           in_scratch("e-d/site_report.jsonl"), in_scratch("m")),
                   0);
  char *two = contents(in_scratch("m12/merged.csv")), *one = contents(in_scratch("m/merged.csv"));
  assert_string_equal(strstr(two, "gross"), strstr(one, "gross"));
  assert_non_null(strstr(one, "gross,5,"));
  free(two);
  free(one);
  char *report = contents(in_scratch("e-d/site_report.jsonl"));
  assert_null(strstr(report, "r0000"));
  assert_null(strstr(report, "ecgsyn"));
  free(report);
  assert_int_equal(program("site eval --overwrite " SCORED
                           "--set site.per_record=true --set site.approve=true --set "
                           "site.dataset=%s --out %s --threads 1",
                           in_scratch("d"), in_scratch("e-again")),
                   0);
  assert_true(
      same_contents(in_scratch("e-d/site_report.jsonl"), in_scratch("e-again/site_report.jsonl")));
}

/* Counts of a record leave only where the site says so. */
static void counts_of_records_stay(void **state)
{
  static const char *const more[] = {"", "--set site.per_record=true "};
  char *text[2], *shown = NULL;

  prepare(in_scratch("c"), 0, RECORDS, false);
  for (int k = 0; k < 2; k++) {
    assert_int_equal(program("site eval " SCORED "%s--set site.approve=true --set site.dataset=%s "
                             "--out %s",
                             more[k], in_scratch("c"), in_scratch("c%d", k)),
                     0);
    text[k] = contents(in_scratch("c%d/site_report.jsonl", k));
    assert_int_equal(program("site merge --set 'site.reports=[%s]' --out %s",
                             in_scratch("c%d/site_report.jsonl", k), in_scratch("cm%d", k)),
                     0);
  }
  assert_null(strstr(text[0], "\"event\": \"record\""));
  assert_non_null(strstr(text[1], "\"event\": \"record\""));
  assert_non_null(strstr(text[0], "\"records\": 5, \"per_record\": false"));
  char *const sum = strstr(text[0], "\"event\": \"sum\"");

  *strchr(sum, '\n') = 0;
  assert_non_null(strstr(text[1], sum)); /* the same sums */
  free(text[0]);
  free(text[1]);
  shown = contents(in_scratch("cm0/merged.csv"));
  assert_non_null(strstr(shown, "average,5,withheld,withheld"));
  assert_non_null(strstr(shown, "gross,5,"));
  free(shown);
  shown = contents(in_scratch("cm1/merged.csv"));
  assert_null(strstr(shown, "withheld"));
  free(shown);
}

static void nothing_leaves_without_a_person(void **state)
{
  prepare(in_scratch("p"), 0, RECORDS, false);
  assert_int_equal(program("site eval " SCORED "--set site.dataset=%s --out %s", in_scratch("p"),
                           in_scratch("q")),
                   0);
  assert_non_null(strstr(printed(), "nothing was written"));
  assert_non_null(strstr(printed(), "site.approve=true"));
  assert_null(strstr(printed(), "error"));
  assert_non_null(strstr(printed(), "\"event\": \"sum\"")); /* what would be written is shown */
  assert_false(weir_file_exists(in_scratch("q")));
  char *shown = contents(in_scratch("log"));

  assert_int_equal(program("site eval " SCORED "--set site.approve=true --set site.dataset=%s "
                           "--out %s",
                           in_scratch("p"), in_scratch("q")),
                   0);
  char *report = contents(in_scratch("q/site_report.jsonl"));

  assert_non_null(strstr(shown, report)); /* word for word */
  free(report);
  free(shown);
}

static void small_cells_are_suppressed(void **state)
{
  prepare(in_scratch("s"), 0, FIRST, false);
  assert_int_equal(program("site eval --set eval.start=10 --set site.approve=true "
                           "--set site.dataset=%s --out %s",
                           in_scratch("s"), in_scratch("t")),
                   0);
  char *report = contents(in_scratch("t/site_report.jsonl"));
  assert_non_null(strstr(report, "\"suppressed\": true"));
  assert_null(strstr(report, "\"tp\""));
  free(report);
  assert_int_equal(program("site merge --set 'site.reports=[%s]' --out %s",
                           in_scratch("t/site_report.jsonl"), in_scratch("u")),
                   0);
  assert_int_equal(
      program("site stats --set site.dataset=%s --out %s", in_scratch("s"), in_scratch("v")), 0);
  char *stats = contents(in_scratch("v/stats.csv"));
  assert_non_null(strstr(stats, "records,,suppressed"));
  free(stats);
}

/* Stored integers are copied: they would mean something else in each segment. */
static void segments_of_different_scales_are_refused(void **state)
{
  static const char joined[] = "joined/2 1 256 46080\na 23040\nb 23040\n";
  const char *dir = in_scratch("JaneDoe0");
  char *text = NULL, segment[1024], path[PATH];

  for (int k = 0; k < 2; k++) {
    (void)snprintf(segment, sizeof segment, "%c 1 256 23040\necgsyn.dat 16 %d(0)/mV\n", 'a' + k,
                   5000 >> k);
    (void)snprintf(path, sizeof path, "%s/%c.hea", dir, 'a' + k);
    weir_check_write(path, segment, strlen(segment));
  }
  (void)snprintf(path, sizeof path, "%s/joined.hea", dir);
  weir_check_write(path, joined, sizeof joined - 1);
  text = contents(in_scratch("JaneDoe0/ecgsyn.atr"));
  int64_t size = 0;

  assert_ok(weir_file_size(in_scratch("JaneDoe0/ecgsyn.atr"), &size));
  (void)snprintf(path, sizeof path, "%s/joined.atr", dir);
  weir_check_write(path, text, (size_t)size);
  free(text);
  assert_int_equal(
      program("site prepare --set 'site.records=[%s/joined]' --out %s", dir, in_scratch("joined")),
      WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(printed(), "scales of their own"));
}

/* Reports that were changed, do not fit together or come twice. */
static void doubtful_reports_are_refused(void **state)
{
  prepare(in_scratch("w"), 0, RECORDS, false);
  assert_int_equal(program("site eval " SCORED "--set site.approve=true --set site.dataset=%s "
                           "--out %s",
                           in_scratch("w"), in_scratch("x")),
                   0);
  assert_int_equal(program("site eval " SCORED "--set detect.front.hi=18 --set site.approve=true "
                           "--set site.dataset=%s --out %s",
                           in_scratch("w"), in_scratch("y")),
                   0);
  const char *good = in_scratch("x/site_report.jsonl");
  assert_int_equal(
      program("site merge --set 'site.reports=[%s,%s]' --out %s", good, good, in_scratch("m1")),
      WEIR_ERR_DATA);
  assert_non_null(strstr(printed(), "twice"));
  assert_int_equal(program("site merge --set 'site.reports=[%s,%s]' --out %s", good,
                           in_scratch("y/site_report.jsonl"), in_scratch("m2")),
                   WEIR_ERR_DATA);
  assert_non_null(strstr(printed(), "pipelines differ"));
  char *text = contents(good), *at = strstr(text, "\"sum\", \"tp\": ");
  at[strlen("\"sum\", \"tp\": ")]++;
  weir_check_write(in_scratch("bad.jsonl"), text, strlen(text));
  free(text);
  assert_int_equal(program("site merge --set 'site.reports=[%s]' --out %s", in_scratch("bad.jsonl"),
                           in_scratch("m3")),
                   WEIR_ERR_DATA);
  assert_non_null(strstr(printed(), "its checksum is not that of its lines"));
}

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SCORE(event, tp)                   \
  "{\"event\": \"" event "\", \"tp\": " tp \
  ", \"fn\": 1, \"fp\": 2, \"excluded\": 0, \"n_rr\": 3, \"rr_square_s2\": 0.25}\n"

/* However many records a report claims to withhold, no room is made for them. */
static void withheld_records_take_no_room(void **state)
{
  static const char lines[] =
      "{\"event\": \"site\", \"version\": 2, \"dataset_sha256\": \"" DIGEST
      "\", \"pipeline_sha256\": \"" DIGEST "\", \"program\": \"0.1\", \"start_s\": 300, "
      "\"window_s\": 0.15, \"min_cell\": 1, \"suppressed\": false, \"records\": "
      "9007199254740992, \"per_record\": false}\n" SCORE("sum", "9");
  char text[4096], digest[65];

  weir_sha256(lines, sizeof lines - 1, digest);
  (void)snprintf(text, sizeof text, "%s{\"event\": \"check\", \"sha256\": \"%s\"}\n", lines,
                 digest);
  weir_check_write(in_scratch("many.jsonl"), text, strlen(text));
  assert_int_equal(program("site merge --set 'site.reports=[%s]' --out %s",
                           in_scratch("many.jsonl"), in_scratch("many")),
                   0);
  char *const table = contents(in_scratch("many/merged.csv"));

  assert_non_null(strstr(table, "gross,9007199254740992,9,1,2,90.00,"));
  assert_non_null(strstr(table, "average,9007199254740992,withheld,"));
  free(table);
}

/* Reports of version 1 have all records and no checksum. */
static void former_reports_are_read(void **state)
{
  static const char head[] =
      "{\"event\": \"site\", \"version\": 1, \"dataset_sha256\": \"" DIGEST
      "\", \"pipeline_sha256\": \"" DIGEST "\", \"program\": \"0.1\", \"start_s\": 300, "
      "\"window_s\": 0.15, \"min_cell\": 1, \"suppressed\": false, \"records\": 1}\n";
  char text[4096];

  (void)snprintf(text, sizeof text, "%s%s%s", head, SCORE("sum", "9"), SCORE("record", "9"));
  weir_check_write(in_scratch("v1.jsonl"), text, strlen(text));
  assert_int_equal(program("site merge --set 'site.reports=[%s]' --out %s", in_scratch("v1.jsonl"),
                           in_scratch("v1")),
                   0);
  char *const table = contents(in_scratch("v1/merged.csv"));

  assert_non_null(strstr(table, "gross,1,9,1,2,90.00,"));
  assert_non_null(strstr(table, "average,1,-,-,-,90.00,"));
  free(table);
  (void)snprintf(text, sizeof text, "%s%s%s", head, SCORE("sum", "9"), SCORE("record", "8"));
  weir_check_write(in_scratch("v1.jsonl"), text, strlen(text));
  assert_int_equal(program("site merge --set 'site.reports=[%s]' --out %s", in_scratch("v1.jsonl"),
                           in_scratch("v2")),
                   WEIR_ERR_DATA);
  assert_non_null(strstr(printed(), "not that of its records"));
}

static void a_check_names_the_fault(void **state)
{
  prepare(in_scratch("f"), 0, FIRST, false);
  assert_int_equal(
      program("site check --set site.dataset=%s --out %s", in_scratch("f"), in_scratch("g")), 0);
  char *data = contents(in_scratch("f/r00002.dat"));
  int64_t size = 0;
  assert_ok(weir_file_size(in_scratch("f/r00002.dat"), &size));
  data[1000] ^= 1;
  weir_check_write(in_scratch("f/r00002.dat"), data, (size_t)size);
  free(data);
  assert_int_equal(
      program("site check --set site.dataset=%s --out %s", in_scratch("f"), in_scratch("h")),
      WEIR_ERR_DATA);
  assert_non_null(strstr(printed(), "WRONG not that of the header"));
  assert_int_equal(program("site eval " SCORED "--set site.dataset=%s --out %s", in_scratch("f"),
                           in_scratch("k")),
                   WEIR_ERR_DATA);
  assert_non_null(strstr(printed(), "1 records of"));
  assert_non_null(strstr(printed(), "`site check` names them"));
  assert_int_equal(program("site check --set site.min_rate=300 --set site.dataset=%s --out %s",
                           in_scratch("f"), in_scratch("i")),
                   WEIR_ERR_DATA);
  assert_non_null(strstr(printed(), "WRONG 256 Hz"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_dataset_depends_on_samples_alone),
      cmocka_unit_test(sites_together_give_what_one_with_all_records_gives),
      cmocka_unit_test(counts_of_records_stay),
      cmocka_unit_test(nothing_leaves_without_a_person),
      cmocka_unit_test(small_cells_are_suppressed),
      cmocka_unit_test(segments_of_different_scales_are_refused),
      cmocka_unit_test(doubtful_reports_are_refused),
      cmocka_unit_test(withheld_records_take_no_room),
      cmocka_unit_test(former_reports_are_read),
      cmocka_unit_test(a_check_names_the_fault),
  };

  return cmocka_run_group_tests(tests, make_records, drop_scratch);
}
