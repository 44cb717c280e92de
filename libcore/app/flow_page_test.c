/* flow_page_test.c - the page of a flow from the files of its steps: done, at work, failed, not
 * begun, damaged. */
#include <string.h>
#include "app/flow_files.h"
#include "app/weir_flow.h"
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "report/weir_report.h"

#define PLAN(step, words) "step " step "\nvalue -\nclass serial\nprogram bin/app\n" words
#define STATE(word, status) \
  word " " status " node7 4711 12_3 2026-01-31T23:59:58Z 2026-02-01T02:00:00Z\n"

/* Writes DIR/name, with its folder. */
static void put(const char *dir, const char *name, const char *text)
{
  char path[512];

  assert_ok(weir_path_join(dir, name, path, sizeof path));
  *strrchr(path, '/') = 0;
  assert_ok(weir_dir_create(path));
  path[strlen(path)] = '/';
  weir_check_write(path, text, strlen(text));
}

static weir_status write_page(const char *dir)
{
  static const weir_app app = {.name = "app"};
  const weir_cli cli = {.app = &app, .command = "report", .args = &dir, .n_args = 1};

  return weir_flow_report(&cli);
}

/* The page, for weir_free. */
static char *page_of(const char *dir)
{
  char path[512], *text = NULL;
  int64_t size = 0;

  assert_ok(write_page(dir));
  assert_ok(weir_path_join(dir, "index.html", path, sizeof path));
  assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  return text;
}

/* first is done, of second one has failed and one is at work; third and fourth cannot start. */
static void put_flow(const char *dir)
{
  put(dir, "flow/order", "first\nsecond/x_1\nsecond/x_2\nthird\nfourth\n");
  put(dir, "flow/first.plan", PLAN("first", "word prepare\nword --set\nword a=[@OUT@/x, 'b']\n"));
  put(dir, "flow/first.state", STATE("done", "0"));
  put(dir, "flow/first.done",
      "program 0123456789abcdef0123 \ncommand 77 \nconfig aa11 one.yaml\ninput bb22 ./given\n"
      "read cc33  /data/a b.nc\noutput dd44  ./result\n");
  put(dir, "first/provenance.json",
      "{\n  \"program\": \"app prepare\",\n  \"version\": \"3.2.1\",\n");
  put(dir, "flow/second.x_1.plan", PLAN("second", "needs first\nword run\n"));
  put(dir, "flow/second.x_1.state", STATE("failed", "3"));
  put(dir, "flow/second.x_1.begun", "program 0123456789abcdef0123 \nconfig aa11 one.yaml\n");
  put(dir, "flow/second.x_1.log", "begins\n1\n2\n3\nerror: <bad> 1e-07\nflow: ended\n");
  put(dir, "flow/second.x_2.plan", PLAN("second", "needs first\nword run\n"));
  put(dir, "flow/second.x_2.state", STATE("running", "-"));
  put(dir, "flow/second.x_2.begun", "program 0123456789abcdef0123 \nconfig ee55 one.yaml\n");
  put(dir, "flow/third.plan", PLAN("third", "needs second/x_1\nneeds second/x_2\nword eval\n"));
  put(dir, "flow/fourth.plan", PLAN("fourth", "needs third\nword eval\n"));
}

static void the_page_has_all_steps(void **state)
{
  char dir[256], *page, *again;

  weir_check_mkdir(dir, sizeof dir);
  put_flow(dir);
  page = page_of(dir);
  assert_non_null(strstr(page, "steps 1 of 5 done"));
  assert_non_null(strstr(page, "<td><a href=\"#part_3\">first</a></td><td class=\"good\">done</td>"
                               "<td>2026-01-31 23:59:58</td><td>2 hours</td><td>node7</td>"
                               "<td>12_3</td><td><a href=\"first/\">files</a></td>"));
  assert_non_null(strstr(page,
                         "<a href=\"#second/x_1\">second/x_1</a></td><td class=\"bad\">failed "
                         "(status 3)</td>"));
  assert_non_null(strstr(page, "<a href=\"flow/second.x_1.log\">log</a></td></tr>"));
  assert_non_null(strstr(page, "second/x_2</a></td><td>running</td>"));
  assert_non_null(strstr(page, "third</a></td><td>not started: it needs second/x_1</td>"));
  assert_non_null(strstr(page, "<a href=\"#part_6\">fourth</a></td><td>not started: it needs "
                               "second/x_1</td>"));
  assert_non_null(strstr(page, "<h2 id=\"part_6\">fourth</h2>"));
  assert_non_null(strstr(page, "<h3 id=\"second/x_2\">second/x_2</h3>"));
  assert_non_null(strstr(page, "<pre>1\n2\n3\nerror: &lt;bad&gt; 1e-07\n</pre>"));
  again = page_of(dir);
  assert_string_equal(page, again);
  weir_free(&page);
  weir_free(&again);
  weir_check_rmdir(dir);
}

static void the_page_says_what_results_are_made_from(void **state)
{
  char dir[256], command[1024], *page;

  weir_check_mkdir(dir, sizeof dir);
  put_flow(dir);
  page = page_of(dir);
  assert_non_null(strstr(page, "<tr><td>program</td><td>bin/app 3.2.1</td><td>0123456789abcdef</td>"
                               "<td>first</td></tr>"));
  assert_non_null(strstr(page, "<tr><td>configuration</td><td>one.yaml</td><td>aa11</td><td>first, "
                               "second</td></tr>"));
  assert_non_null(strstr(page, "<td>one.yaml</td><td>ee55</td><td>second</td>"));
  assert_non_null(strstr(page, "<td>input</td><td>./given</td><td>bb22</td>"));
  assert_non_null(strstr(page, "<td>input</td><td>/data/a b.nc</td><td>cc33</td>"));
  assert_null(strstr(page, "dd44"));
  (void)snprintf(
      command, sizeof command,
      "<pre>bin/app prepare --set &#39;a=[%s/x, &#39;\\&#39;&#39;b&#39;\\&#39;&#39;]&#39; "
      "--out %s/first</pre>",
      dir, dir);
  assert_non_null(strstr(page, command));
  weir_free(&page);
  weir_check_rmdir(dir);
}

static void a_step_shows_its_main_results(void **state)
{
  char dir[256], path[512], *page;
  weir_table cells = {0};
  weir_report *r = NULL;

  weir_check_mkdir(dir, sizeof dir);
  put_flow(dir);
  assert_ok(weir_path_join(dir, "first", path, sizeof path));
  assert_ok(weir_report_open(path, "t", &r));
  weir_table_add_count_pair(&cells, "beats", 54);
  assert_ok(weir_report_commit(&r, weir_table_report_pairs(&cells, r, "summary")));
  page = page_of(dir);
  assert_non_null(strstr(page, "<a href=\"first/report.html\">report</a>"));
  assert_non_null(strstr(page, "<table id=\"first:summary\">"));
  assert_non_null(strstr(page, "<td>beats</td><td class=\"number\">54</td>"));
  assert_non_null(strstr(page, "<a href=\"first/report.html\">The report of first</a>"));
  weir_free(&page);
  weir_check_rmdir(dir);
}

/* The state that flow.sh has not written yet, or no more, follows from the other files. */
static void a_step_without_a_state_has_one(void **state)
{
  char dir[256], *page;

  weir_check_mkdir(dir, sizeof dir);
  put(dir, "flow/order", "a\nb\nc\n");
  put(dir, "flow/a.plan", PLAN("a", "word run\n"));
  put(dir, "flow/b.plan", PLAN("b", "word run\n"));
  put(dir, "flow/c.plan", PLAN("c", "word run\n"));
  put(dir, "flow/a.done", "program 00 \n");
  put(dir, "flow/b.job", "17\n");
  page = page_of(dir);
  assert_non_null(strstr(page, ">a</a></td><td class=\"good\">done</td><td class=\"none\""));
  assert_non_null(strstr(page, ">b</a></td><td>submitted</td>"));
  assert_non_null(strstr(page, ">c</a></td><td>not started</td>"));
  weir_free(&page);
  weir_check_rmdir(dir);
}

static void what_is_no_flow_is_refused(void **state)
{
  static const char *const damaged[][2] = {{"flow/order", ""},
                                           {"flow/first.plan", ""},
                                           {"flow/first.plan", "step first\n"},
                                           {"flow/first.state", ""},
                                           {"flow/first.state", "done 2026-01-31T12:00:00Z\n"},
                                           {"flow/first.state", STATE("lost", "0")},
                                           {"flow/first.state", "done 0 a 1 - b c d\n"}};
  static const weir_app app = {.name = "app"};
  char dir[256], path[512];
  const weir_cli none = {.app = &app, .command = "report"};

  assert_int_equal(weir_flow_report(&none), WEIR_ERR_CONFIG);
  weir_check_mkdir(dir, sizeof dir);
  assert_int_equal(write_page(dir), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "no file flow/order"));
  for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
    put_flow(dir);
    put(dir, damaged[i][0], damaged[i][1]);
    assert_int_equal(write_page(dir), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), damaged[i][0]));
  }
  assert_ok(weir_path_join(dir, "index.html", path, sizeof path));
  assert_false(weir_file_exists(path));
  weir_check_rmdir(dir);
}

static weir_status make(void *context)
{
  return write_page(context);
}

static void every_fault_of_memory_is_reported(void **state)
{
  char dir[256];

  weir_check_mkdir(dir, sizeof dir);
  put_flow(dir);
  assert_true(weir_check_faults(make, dir) > 20);
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_page_has_all_steps),
      cmocka_unit_test(the_page_says_what_results_are_made_from),
      cmocka_unit_test(a_step_shows_its_main_results),
      cmocka_unit_test(a_step_without_a_state_has_one),
      cmocka_unit_test(what_is_no_flow_is_refused),
      cmocka_unit_test(every_fault_of_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
