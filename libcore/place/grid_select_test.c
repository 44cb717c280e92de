/* grid_select_test.c - which grid is chosen on machines where only one thing counts, and what is
 * refused.
 */
#include "place/weir_grid_select.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_signal.h"
#include "place/measure/weir_machine_measure.h"
#include "support/train/ranks_check.h"

/* Messages and memory cost nothing. */
static const weir_machine free_messages = {
    .kernels = 1, .flops = 1e9, .bandwidth = INFINITY, .link_bw = INFINITY, .reduce_bw = INFINITY};

static weir_status select_with(int blocks, const int64_t size[3], int64_t batch,
                               int64_t n_microbatches, int ranks, int64_t memory,
                               const weir_machine *m, weir_grid_choice *out)
{
  volume v = {.dtype = WEIR_F32, .blocks = blocks};
  weir_train_cfg cfg;
  weir_exec_cfg exec;

  memcpy(v.size, size, sizeof v.size);
  weir_opts_default(weir_train_opts, sizeof cfg, &cfg);
  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  cfg.batch = batch;
  cfg.accumulate = n_microbatches;
  exec.memory = memory;
  exec.kernel = "none";
  exec.tier = WEIR_TIER_VECTOR; /* the vector interpreter compiles nothing */
  const weir_train_task task = volume_task(&v, 8, 0);

  return weir_grid_select(&task, &cfg, &(weir_plan_opts){.exec = &exec, .threads = 1}, m, NULL,
                          ranks, out);
}

static weir_status select_grid(const int64_t size[3], int64_t batch, int ranks, int64_t memory,
                               const weir_machine *m, weir_grid_choice *out)
{
  return select_with(1, size, batch, 1, ranks, memory, m, out);
}

static const weir_grid_candidate *find(const weir_grid_choice *p, int samples, int depth,
                                       int height)
{
  for (int64_t i = 0; i < p->n; i++) {
    const int *n = p->row[i].grid.extent;

    if (n[0] == samples && n[1] == depth && n[2] == height) {
      return &p->row[i];
    }
  }
  return NULL;
}

/* 4 = 4, 2 x 2, 2 x 1 x 2, ..: ten ways, fewer where samples or elements end; sample first. */
static void candidates_are_all_that_fit(void **state)
{
  weir_grid_choice p;

  assert_ok(select_grid((int64_t[]){8, 8, 8}, 4, 4, 0, &free_messages, &p));
  assert_int_equal(p.n, 10);
  assert_int_equal(p.row[0].grid.extent[WEIR_ALONG_SAMPLES], 4);
  assert_int_equal(p.row[1].grid.extent[WEIR_ALONG_DEPTH], 2);
  assert_int_equal(p.row[9].grid.extent[WEIR_ALONG_WIDTH], 4);
  weir_grid_choice_fini(&p);
  assert_ok(select_grid((int64_t[]){8, 8, 8}, 1, 2, 0, &free_messages, &p));
  assert_int_equal(p.n, 3); /* not two of one sample */
  assert_null(find(&p, 2, 1, 1));
  weir_grid_choice_fini(&p);
}

static void the_most_even_share_wins_where_messages_are_free(void **state)
{
  weir_grid_choice p;

  assert_ok(select_grid((int64_t[]){8, 8, 8}, 3, 2, 0, &free_messages, &p)); /* samples: 1 and 2 */
  assert_int_equal(p.row[p.best].grid.extent[WEIR_ALONG_SAMPLES], 1);
  assert_true(find(&p, 2, 1, 1)->cost.seconds > 1.2 * p.row[p.best].cost.seconds);
  weir_grid_choice_fini(&p);
}

static void the_fewest_messages_win_where_they_are_dear(void **state)
{
  weir_machine m = free_messages;
  weir_grid_choice p;

  m.latency = 10;
  assert_ok(select_grid((int64_t[]){8, 8, 8}, 4, 4, 0, &m, &p));
  for (int64_t i = 0; i < p.n; i++) {
    assert_true(p.row[p.best].cost.messages <= p.row[i].cost.messages);
  }
  assert_true(p.row[p.best].cost.messages < find(&p, 2, 2, 1)->cost.messages);
  weir_grid_choice_fini(&p);
}

/* Of maps of 16, 8 and 4 planes, those after the first block are gathered, then nothing moves but
 * the planes of the first and the sums of its gradients. */
static void cuts_end_early_where_messages_are_dear(void **state)
{
  const int64_t size[] = {16, 16, 8};
  weir_machine m = free_messages;
  weir_grid_choice p;

  m.latency = 10;
  assert_ok(select_with(2, size, 1, 1, 2, 0, &m, &p));
  const weir_grid_candidate *row = find(&p, 1, 2, 1);

  assert_int_equal(row->replicate_below[WEIR_ALONG_DEPTH], 8);
  assert_int_equal(row->replicate_below[WEIR_ALONG_HEIGHT], 0);
  assert_true(row->tried >= 3);
  weir_grid_choice_fini(&p);
}

/* What all ranks compute, none has for itself. */
static void cuts_go_on_where_messages_are_free(void **state)
{
  weir_grid_choice p;

  assert_ok(select_with(2, (int64_t[]){16, 8, 8}, 1, 1, 2, 0, &free_messages, &p));
  for (int64_t i = 0; i < p.n; i++) {
    for (int d = 0; d < WEIR_ALONG_DIMS; d++) {
      assert_int_equal(p.row[i].replicate_below[d], 0);
    }
  }
  weir_grid_choice_fini(&p);
}

static void memory_leaves_candidates_out(void **state)
{
  weir_grid_choice p;
  int64_t min_arena = INT64_MAX, max_arena = 0;

  assert_ok(select_grid((int64_t[]){8, 8, 8}, 2, 2, 0, &free_messages, &p));
  for (int64_t i = 0; i < p.n; i++) {
    min_arena = p.row[i].cost.arena < min_arena ? p.row[i].cost.arena : min_arena;
    max_arena = p.row[i].cost.arena > max_arena ? p.row[i].cost.arena : max_arena;
  }
  weir_grid_choice_fini(&p);
  assert_true(min_arena > 0 && min_arena < max_arena);
  assert_ok(select_grid((int64_t[]){8, 8, 8}, 2, 2, min_arena, &free_messages, &p));
  assert_int_equal(p.row[p.best].cost.arena, min_arena);
  weir_grid_choice_fini(&p);
  assert_int_equal(select_grid((int64_t[]){8, 8, 8}, 2, 2, min_arena - 1, &free_messages, &p),
                   WEIR_ERR_MEMORY);
  assert_non_null(strstr(weir_last_message(), "no grid of 2 ranks"));
  assert_null(p.row);
}

static void too_many_ranks_are_refused(void **state)
{
  weir_grid_choice p;

  assert_int_equal(select_grid((int64_t[]){8, 8, 8}, 2, 23, 0, &free_messages, &p),
                   WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "23 ranks cannot share"));
}

/* The comparison of many grids ends at the first signal. */
static void a_signal_ends_the_comparison(void **state)
{
  weir_grid_choice p;

  weir_stop_request(SIGINT);
  assert_int_equal(select_grid((int64_t[]){8, 8, 8}, 4, 4, 0, &free_messages, &p),
                   WEIR_ERR_STOPPED);
  weir_stop_request(0);
  assert_non_null(
      strstr(weir_last_message(), "stopped by signal 2 during the comparison of grids"));
  assert_null(p.row);
}

static void the_table_begins_with_the_choice(void **state)
{
  weir_grid_choice p;
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  assert_non_null(out);
  assert_ok(select_grid((int64_t[]){8, 8, 8}, 2, 2, 0, &free_messages, &p));
  weir_grid_choice_print(&p, out);
  weir_grid_choice_fini(&p);
  assert_int_equal(fclose(out), 0);
  const char *second = strchr(text, '\n') + 1;

  assert_non_null(strstr(second, "chosen"));
  assert_true(strstr(second, "chosen") < strchr(second, '\n'));
  free(text);
}

/* What is given stays; the rest is some positive number. */
static void a_machine_is_measured(void **state)
{
  weir_machine m = {.latency = 3, .overlap = -1};
  weir_exec_cfg exec;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR; /* the vector interpreter compiles nothing */
  assert_ok(weir_machine_measure(NULL, &(weir_comm_cfg){.tree_max_bytes = 5},
                                 &(weir_plan_opts){.exec = &exec, .threads = 1}, &m));
  assert_near(m.latency, 3, 0);
  assert_int_equal(m.tree, 5);
  assert_true(m.group_overhead > 0 && m.group_overhead < 1 && m.kernels > 0 && m.flops > 0 &&
              m.bandwidth > 0 && m.link_bw > 0 && m.reduce_bw > 0);
  assert_true(isfinite(m.kernels) && isfinite(m.flops) && isfinite(m.bandwidth));
  assert_true(m.overlap >= 0 && m.overlap <= 1);
}

/* One rank: its groups are timed once, kept, and their times are the prediction. */
static void a_table_is_filled_once(void **state)
{
  char path[] = "/tmp/weir_table_XXXXXX", *first = NULL, *second = NULL;
  const int fd = mkstemp(path);
  weir_machine m = free_messages;
  int64_t n_first = 0, n_second = 0;
  weir_grid_choice p;

  assert_true(fd >= 0);
  assert_int_equal(close(fd), 0);
  m.profile = path;
  m.group_overhead = 1000; /* of a group that is not in the table */
  for (int64_t n_microbatches = 1; n_microbatches <= 2; n_microbatches++) {
    assert_int_equal(unlink(path), 0);
    assert_ok(select_with(1, (int64_t[]){8, 8, 8}, 2, n_microbatches, 1, 0, &m, &p));
    assert_int_equal(p.row[0].cost.untimed, 0);
    assert_true(p.row[0].cost.seconds > 0 && p.row[0].cost.seconds < 100);
    const double seconds = p.row[0].cost.seconds;

    weir_grid_choice_fini(&p);
    assert_ok(weir_file_read(path, 1000000, &first, &n_first));
    assert_ok(select_with(1, (int64_t[]){8, 8, 8}, 2, n_microbatches, 1, 0, &m, &p));
    assert_near(p.row[0].cost.seconds, seconds, 0);
    weir_grid_choice_fini(&p);
    assert_ok(weir_file_read(path, 1000000, &second, &n_second));
    assert_int_equal(n_first, n_second);
    assert_memory_equal(first, second, (size_t)n_first);
    weir_free(&first);
    weir_free(&second);
  }
  /* Ranks that are not here are not timed, and one of another number has none of these times. */
  assert_ok(select_grid((int64_t[]){8, 8, 8}, 2, 2, 0, &m, &p));
  assert_true(p.row[p.best].cost.untimed > 0 && p.row[p.best].cost.seconds > 1000);
  weir_grid_choice_fini(&p);
  assert_int_equal(truncate(path, n_first - 1), 0);
  assert_int_equal(select_grid((int64_t[]){8, 8, 8}, 2, 1, 0, &m, &p), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "the table is truncated"));
  assert_null(p.row);
  assert_int_equal(unlink(path), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(candidates_are_all_that_fit),
      cmocka_unit_test(the_most_even_share_wins_where_messages_are_free),
      cmocka_unit_test(the_fewest_messages_win_where_they_are_dear),
      cmocka_unit_test(cuts_end_early_where_messages_are_dear),
      cmocka_unit_test(cuts_go_on_where_messages_are_free),
      cmocka_unit_test(memory_leaves_candidates_out),
      cmocka_unit_test(too_many_ranks_are_refused),
      cmocka_unit_test(a_signal_ends_the_comparison),
      cmocka_unit_test(the_table_begins_with_the_choice),
      cmocka_unit_test(a_machine_is_measured),
      cmocka_unit_test(a_table_is_filled_once),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
