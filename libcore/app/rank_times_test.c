/* rank_times_test.c - table, figure and trace of the events of a training on ranks. */
#include <string.h>
#include "app/weir_rank_times.h"
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"

#define RANK(number, fresh)                                                                      \
  "{\"event\": \"rank\", \"rank\": " number                                                      \
  ", \"planning_s\": 2, \"loading_s\": 1, \"computing_s\": 7.5, "                                \
  "\"plan_waiting_s\": 0.25, \"exchange_s\": 1.5, \"meeting_s\": 0.5, \"checkpoint_s\": 0.125, " \
  "\"messages\": 12, \"sent_bytes\": 3145728, \"versions\": 8, \"fresh\": " fresh "}\n"
#define ACTIVITY(rank, what, begin, end)                                         \
  "{\"event\": \"activity\", \"rank\": " rank ", \"step\": 3, \"what\": \"" what \
  "\", \"begin_s\": " begin ", \"end_s\": " end ", \"waited_s\": 0.5}\n"
#define BEGIN "{\"event\": \"train_begin\", \"network\": \"demo\"}\n"

/* The file of a page made from these events, NULL: it has none; the caller frees it. */
static char *page_of(const char *lines, const char *name)
{
  char dir[256], path[512];
  weir_report *r = NULL;
  char *text = NULL;
  int64_t size = 0;

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_path_join(dir, "run.jsonl", path, sizeof path));
  weir_check_write(path, lines, strlen(lines));
  assert_ok(weir_report_open(dir, "t", &r));
  assert_ok(weir_report_commit(&r, weir_rank_times_report(dir, r)));
  assert_ok(weir_path_join(dir, name, path, sizeof path));
  if (weir_file_exists(path)) {
    assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  }
  weir_check_rmdir(dir);
  return text;
}

static const char two_ranks[] = BEGIN RANK("0", "8") RANK("1", "8") RANK("2", "8")
    ACTIVITY("2", "meeting", "0", "9") BEGIN RANK("0", "8") ACTIVITY("0", "computing", "1.5", "3.5")
        ACTIVITY("0", "loading", "3.5", "3.75") RANK("1", "6")
            ACTIVITY("1", "exchange", "2", "2.000001");

static void the_table_has_the_ranks_of_the_last_training(void **state)
{
  char *page = page_of(two_ranks, "report.html");

  assert_non_null(strstr(page, "id=\"ranks\""));
  assert_non_null(strstr(page, ">2.25<")); /* waiting: 0.25 + 1.5 + 0.5 */
  assert_non_null(strstr(page, ">75.0<")); /* 6 of 8 in time */
  assert_null(strstr(page, "rank 2"));
  weir_free(&page);
}

/* Numbers of the figure: the share of computing without waiting, 1.5 of 2 s. */
static void the_figure_has_a_row_for_each_rank(void **state)
{
  char *csv = page_of(two_ranks, "figures/ranks.csv");

  assert_non_null(strstr(csv, "rank 0,2.5,0.75,1.5,3.5\n"));
  assert_non_null(strstr(csv, "rank 0,3.625,0.5,3.5,3.75\n"));
  assert_non_null(strstr(csv, "rank 1,2.0000005,0.15,2,2.000001\n"));
  weir_free(&csv);
}

static void the_trace_has_microseconds(void **state)
{
  char *trace = page_of(two_ranks, "trace.json");

  assert_string_equal(
      trace, "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n"
             "{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 0, \"tid\": 0, \"args\": "
             "{\"name\": \"rank 0\"}},\n"
             "{\"name\": \"computing\", \"cat\": \"train\", \"ph\": \"X\", \"pid\": 0, \"tid\": 0, "
             "\"ts\": 1500000.000, \"dur\": 2000000.000, \"args\": {\"step\": 3, \"waited_us\": "
             "500000.000}},\n"
             "{\"name\": \"loading\", \"cat\": \"train\", \"ph\": \"X\", \"pid\": 0, \"tid\": 0, "
             "\"ts\": 3500000.000, \"dur\": 250000.000, \"args\": {\"step\": 3, \"waited_us\": "
             "500000.000}},\n"
             "{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 0, \"tid\": 1, \"args\": "
             "{\"name\": \"rank 1\"}},\n"
             "{\"name\": \"exchange\", \"cat\": \"train\", \"ph\": \"X\", \"pid\": 0, \"tid\": 1, "
             "\"ts\": 2000000.000, \"dur\": 1.000, \"args\": {\"step\": 3, \"waited_us\": "
             "500000.000}}\n]}\n");
  weir_free(&trace);
}

static void one_rank_has_no_table(void **state)
{
  char *page = page_of(BEGIN RANK("0", "8") RANK("1", "8") BEGIN, "report.html");

  assert_null(strstr(page, "id=\"ranks\""));
  weir_free(&page);
  assert_null(page_of(BEGIN, "trace.json"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_table_has_the_ranks_of_the_last_training),
      cmocka_unit_test(the_figure_has_a_row_for_each_rank),
      cmocka_unit_test(the_trace_has_microseconds),
      cmocka_unit_test(one_rank_has_no_table),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
