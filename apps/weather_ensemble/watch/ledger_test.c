/* ledger_test.c - lines come back as they were, whatever is in them; a cut line is dropped, and
 * nothing that is none is believed. */
#include "watch/ledger.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"

static const char one[] = "1111111111111111111111111111111111111111111111111111111111111111";
static const char two[] = "2222222222222222222222222222222222222222222222222222222222222222";
static char dir[256], path[300];

static int make(void **state)
{
  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/ledger.csv", dir);
  return 0;
}

static int clean(void **state)
{
  (void)state;
  weir_check_rmdir(dir);
  return 0;
}

static wx_ledger_entry entry(wx_input_state state, const char *file, const char *digest)
{
  return (wx_ledger_entry){.state = state,
                           .file = file,
                           .version = "7-1",
                           .digest = digest,
                           .result = "r",
                           .detail = "",
                           .bytes = 12};
}

static void add(wx_ledger *l, wx_input_state state, const char *file, const char *digest)
{
  const wx_ledger_entry e = entry(state, file, digest);

  assert_ok(wx_ledger_add(l, &e));
}

static void the_last_line_of_a_content_counts(void **state)
{
  wx_ledger *l = NULL;

  (void)state;
  assert_ok(wx_ledger_open(path, &l));
  add(l, WX_INPUT_STARTED, "a", one);
  add(l, WX_INPUT_STARTED, "a", one);
  add(l, WX_INPUT_DUPLICATE, "b", one);
  add(l, WX_INPUT_STARTED, "c", two);
  for (int pass = 0; pass < 2; pass++) {
    assert_int_equal(wx_ledger_starts(l, one), 2);
    assert_int_equal(wx_ledger_find_content(l, one)->state, WX_INPUT_STARTED);
    assert_string_equal(wx_ledger_find_content(l, one)->file, "a");
    assert_int_equal(wx_ledger_find_file(l, "b", "7-1")->state, WX_INPUT_DUPLICATE);
    assert_null(wx_ledger_find_file(l, "b", "7-2"));
    assert_null(wx_ledger_find_content(l, ""));
    wx_ledger_close(&l);
    assert_ok(wx_ledger_open(path, &l));
  }
  assert_int_equal(wx_ledger_failures(l), 0);
  add(l, WX_INPUT_FAILED, "a", one);
  add(l, WX_INPUT_FAILED, "c", two);
  assert_int_equal(wx_ledger_failures(l), 2);
  assert_int_equal(wx_ledger_starts(l, one), 0);
  add(l, WX_INPUT_STARTED, "c", two);
  assert_int_equal(wx_ledger_starts(l, two), 1);
  add(l, WX_INPUT_DONE, "c", two);
  assert_int_equal(wx_ledger_failures(l), 1);
  wx_ledger_close(&l);
}

static void any_text_comes_back(void **state)
{
  const char *const texts[] = {"", ",", "\"", "\"\"", "a,b\"c", "a b ", "\"x\",", "plain"};
  const int n = sizeof texts / sizeof texts[0];
  wx_ledger *l = NULL;

  (void)state;
  assert_ok(wx_ledger_open(path, &l));
  for (int i = 0; i < n * n; i++) {
    char version[32];

    (void)snprintf(version, sizeof version, "%d", i);
    const wx_ledger_entry e = {.state = WX_INPUT_FAILED,
                               .file = texts[i % n],
                               .version = version,
                               .digest = i % 2 ? one : "",
                               .result = "",
                               .detail = texts[i / n],
                               .bytes = i};

    assert_ok(wx_ledger_add(l, &e));
  }
  wx_ledger_close(&l);
  assert_ok(wx_ledger_open(path, &l));
  for (int i = 0; i < n * n; i++) {
    char version[32];

    (void)snprintf(version, sizeof version, "%d", i);
    const wx_ledger_entry *const e = wx_ledger_find_file(l, texts[i % n], version);

    assert_non_null(e);
    assert_string_equal(e->detail, texts[i / n]);
    assert_string_equal(e->digest, i % 2 ? one : "");
    assert_int_equal(e->bytes, i);
  }
  wx_ledger_close(&l);
}

static void store(const char *text, int64_t bytes)
{
  FILE *f = fopen(path, "wb");

  assert_non_null(f);
  assert_int_equal((int64_t)fwrite(text, 1, (size_t)bytes, f), bytes);
  assert_int_equal(fclose(f), 0);
}

/* Killed at any byte: what is whole stays, and the next line begins where the cut one did. */
static void a_line_that_was_cut_is_dropped(void **state)
{
  char *text = NULL;
  int64_t size = 0, first = 0;
  wx_ledger *l = NULL;

  (void)state;
  assert_ok(wx_ledger_open(path, &l));
  add(l, WX_INPUT_STARTED, "a", one);
  wx_ledger_close(&l);
  assert_ok(weir_file_size(path, &first));
  assert_ok(wx_ledger_open(path, &l));
  add(l, WX_INPUT_DONE, "a", one);
  wx_ledger_close(&l);
  assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  for (int64_t cut = 0; cut <= size; cut++) {
    store(text, cut);
    assert_ok(wx_ledger_open(path, &l));
    const wx_ledger_entry *const e = wx_ledger_find_content(l, one);

    assert_true(cut < first  ? e == NULL
                : cut < size ? e->state == WX_INPUT_STARTED
                             : e->state == WX_INPUT_DONE);
    add(l, WX_INPUT_FAILED, "b", two);
    wx_ledger_close(&l);
    assert_ok(wx_ledger_open(path, &l));
    assert_int_equal(wx_ledger_find_content(l, two)->state, WX_INPUT_FAILED);
    wx_ledger_close(&l);
  }
  weir_free(&text);
}

static void other_files_are_refused(void **state)
{
  static const char *const lines[] = {
      "2026,done,a,1,v,,r\n",        /* too few */
      "2026,done,a,1,v,,r,d,e\n",    /* too many */
      "2026,did,a,1,v,,r,d\n",       /* no state */
      "2026,done,a,-1,v,,r,d\n",     /* no size */
      "2026,done,a,1x,v,,r,d\n",     /* no number */
      "2026,done,a,1,v,12ab,r,d\n",  /* no digest */
      "2026,done,a,1,v,,../r,d\n",   /* leads elsewhere */
      "2026,done,\"a,1,v,,r,d\n",    /* a quote without an end */
      "2026,done,\"a\"b,1,v,,r,d\n", /* text after a quote */
      "\n",
  };
  char text[512];
  wx_ledger *l = NULL;

  (void)state;
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    (void)snprintf(text, sizeof text, "%s%s",
                   "time_utc,state,file,bytes,version,sha256,result,detail\n", lines[i]);
    store(text, (int64_t)strlen(text));
    assert_int_equal(wx_ledger_open(path, &l), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "ledger.csv:2: no line of a ledger"));
    assert_null(l);
  }
  store("another,head\n", 13);
  assert_int_equal(wx_ledger_open(path, &l), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "ledger.csv:1:"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_last_line_of_a_content_counts, make, clean),
      cmocka_unit_test_setup_teardown(any_text_comes_back, make, clean),
      cmocka_unit_test_setup_teardown(a_line_that_was_cut_is_dropped, make, clean),
      cmocka_unit_test_setup_teardown(other_files_are_refused, make, clean),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
