/* acceptance_join.c - acceptance case A5: ECG and ABP of record s25047 joined as a query does it.
 * The record has an ABP in its last two segments only, so the join has samples there and nowhere
 * else, and what lies before is not computed. */
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "io/weir_record.h"
#include "program.h"
#include "support/stream/run_check.h"
#include "stream/weir_series.h"

enum { SLOTS = 543240, ABP_FROM = 543240 - 93975 - 3525 };

extern const weir_series_op weir_series_op_join;

/* A signal of the record as a source of the stream. */
typedef struct feed {
  weir_record *record;
  int signal;
} feed;

/* What came out of one stream of the join. */
typedef struct joined {
  float value[SLOTS];
  uint8_t present[SLOTS];
} joined;

static joined out[2];

static weir_status read_feed(void *context, int64_t lo, int64_t hi, float *values, uint8_t *present)
{
  const feed *f = context;

  return weir_record_read(f->record, f->signal, lo, hi - lo, values, present);
}

static weir_status next_of_feed(void *context, int64_t at, int64_t *lo, int64_t *hi)
{
  const feed *f = context;

  return weir_record_next_run(f->record, f->signal, at, lo, hi);
}

/* Joins the two signals, the first of which the graph calls ecg; returns what the run did. */
static weir_stream_report join(feed *ecg, feed *abp, bool skip)
{
  static const char *const names[] = {"ecg", "abp"};
  const weir_stream_cfg cfg = {.window = 4, .skip = skip};
  weir_stream_source sources[2];
  weir_series in[2];
  weir_series_result result = {.n = 0};
  weir_stream_report report = {0};
  weir_store *store = NULL;
  weir_graph *g = NULL;
  _Alignas(16) unsigned char opts[256];

  assert_true(weir_series_op_join.opts_size <= sizeof opts);
  weir_opts_default(weir_series_op_join.opts, weir_series_op_join.opts_size, opts);
  assert_ok(weir_store_create(&store));
  assert_ok(weir_graph_create(&g));
  in[0] = weir_series_input(g, "x0", "p0", 125, 1);
  in[1] = weir_series_input(g, "x1", "p1", 125, 1);
  sources[0] = (weir_stream_source){"x0", "p0", 125, 1, SLOTS, read_feed, next_of_feed, ecg};
  sources[1] = (weir_stream_source){"x1", "p1", 125, 1, SLOTS, read_feed, next_of_feed, abp};
  const weir_series_use use = {.graph = g,
                               .store = store,
                               .step = "pair",
                               .opts = opts,
                               .in = in,
                               .in_name = names,
                               .n_in = 2};

  assert_ok(weir_series_op_join.build(&use, &result));
  assert_int_equal(result.n, 2);
  weir_output(g, "ecg", result.out[0].value);
  weir_output(g, "abp", result.out[1].value);
  weir_output(g, "present", result.out[0].present);
  assert_ok(weir_graph_status(g));
  memset(out, 0, sizeof out);
  run_column columns[] = {{out[0].value, sizeof(float), SLOTS, 0},
                          {out[1].value, sizeof(float), SLOTS, 0},
                          {out[0].present, 1, SLOTS, 0}};
  const weir_stream_sink sinks[] = {{"ecg", run_take, &columns[0]},
                                    {"abp", run_take, &columns[1]},
                                    {"present", run_take, &columns[2]}};
  const weir_stream_job job = {.graph = g,
                               .store = store,
                               .sources = sources,
                               .n_sources = 2,
                               .sinks = sinks,
                               .n_sinks = 3,
                               .stream = &cfg,
                               .threads = 1};

  run_job(job, WEIR_TIER_AUTO, &report);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(columns[i].n, SLOTS);
  }
  weir_graph_destroy(&g);
  weir_store_destroy(&store);
  return report;
}

/* Every slot of the join against the two signals read on their own. */
static void check_join(feed *ecg, feed *abp)
{
  enum { PIECE = 12345 };
  static float x[2][PIECE];
  static uint8_t p[2][PIECE];
  int64_t both = 0;

  for (int64_t at = 0; at < SLOTS; at += PIECE) {
    assert_ok(weir_record_read(ecg->record, ecg->signal, at, PIECE, x[0], p[0]));
    assert_ok(weir_record_read(abp->record, abp->signal, at, PIECE, x[1], p[1]));
    for (int64_t k = 0; k < PIECE && at + k < SLOTS; k++) {
      const bool there = p[0][k] && p[1][k];

      assert_int_equal(out[0].present[at + k], there);
      assert_true(!there || at + k >= ABP_FROM);
      for (int i = 0; i < 2; i++) {
        assert_true(out[i].value[at + k] == (there ? x[i][k] : 0.0f));
      }
      both += there;
    }
  }
  assert_true(both > 90000);
}

static void a5_the_join_lives_where_both_signals_do(void **state)
{
  const char *path = in_data("wfdb/multiseg/s25047/s25047-2704-05-04-10-44");
  weir_record *record = NULL;
  feed ecg = {.signal = 0}, abp = {.signal = 2};

  assert_ok(weir_record_open(path, NULL, &record));
  ecg.record = abp.record = record;
  assert_string_equal(weir_record_signal(record, 2)->name, "ABP");
  weir_log_set_level(WEIR_LOG_ERROR);
  const weir_stream_report whole = join(&ecg, &abp, false);

  check_join(&ecg, &abp);
  const weir_stream_report targeted = join(&ecg, &abp, true);

  weir_log_set_level(WEIR_LOG_INFO);
  check_join(&ecg, &abp);
  printf("chunks computed: %lld with gaps, %lld without\n", (long long)whole.computed,
         (long long)targeted.computed);
  assert_true(whole.skipped == 0);
  assert_true(targeted.skipped >= 25740 / 500 - 1);
  weir_record_close(&record);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(a5_the_join_lives_where_both_signals_do)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
