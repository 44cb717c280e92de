/* kept_test.c - what a policy keeps, into a checkpoint and out of it again: on as many ranks, and
 * on others. */
#include "train/step/kept.h"

#include "base/weir_log.h"
#include "comm/weir_inproc.h"
#include "io/weir_netcdf.h"
#include "support/optim/sparse_check.h"
#include "train/array_names.h"
#include "train/weir_checkpoint.h"

extern const weir_exchange_desc weir_exchange_oktopk, weir_exchange_topka;

enum { COUNT = 37, RANKS = 6 };

/* A file that some ranks write and others read. */
typedef struct passing {
  const weir_exchange_desc *policy;
  bool reads;
  char path[128];
  weir_checkpoint_format format;
  double residual[RANKS][COUNT], local[RANKS], global[RANKS];
  int64_t regions[RANKS][RANKS + 1];
} passing;

/* What rank `rank` of the ranks that write has: whole, and a multiple of all numbers of ranks. */
static double residual_of(int rank, int i)
{
  return 60 * (double)(rank * rank + 7 * i - 3 * rank * i + 1);
}

static weir_status pass_file(passing *p, train_run *r, weir_store *store)
{
  const weir_checkpoint c = {.store = store, .extra = &r->kept, .extra_prefix = TRAIN_KEPT};

  return p->reads ? weir_checkpoint_load(&c, p->path, false)
                  : weir_checkpoint_save(&c, p->format, p->path);
}

/* Writes numbers into what the policy keeps, or takes them from there. */
static void fill_or_take(passing *p, const weir_exchange *x, int rank, int ranks)
{
  weir_exchange_kept kept[WEIR_EXCHANGE_KEPT_MAX];
  const int n = x->policy->keep(x->state, kept);

  for (int k = 0; k < n; k++) {
    for (int64_t i = 0; i < kept[k].count; i++) {
      double *const real = kept[k].data;
      float *const f32 = kept[k].data;
      int64_t *const whole = kept[k].data;

      if (strcmp(kept[k].name, "residual") == 0 && p->reads) {
        p->residual[rank][i] = f32[i];
      } else if (strcmp(kept[k].name, "residual") == 0) {
        f32[i] = (float)residual_of(rank, (int)i);
      } else if (strcmp(kept[k].name, "regions") == 0 && p->reads) {
        p->regions[rank][i] = whole[i];
      } else if (strcmp(kept[k].name, "regions") == 0) {
        whole[i] = COUNT * i / ranks;
      } else if (strcmp(kept[k].name, "local_threshold") == 0 && p->reads) {
        p->local[rank] = *real;
      } else if (strcmp(kept[k].name, "local_threshold") == 0) {
        *real = 10 + rank;
      } else if (strcmp(kept[k].name, "global_threshold") == 0 && p->reads) {
        p->global[rank] = *real;
      } else if (strcmp(kept[k].name, "global_threshold") == 0) {
        *real = 5;
      }
    }
  }
}

static weir_status pass_on_rank(weir_comm *c, void *context)
{
  passing *p = context;
  train_run r = {.ranks = {.all = c, .rank = weir_comm_rank(c)}};
  const weir_grid grid = {.dims = 1, .extent = {weir_comm_size(c)}};
  float gradient[COUNT] = {0};
  const weir_exchange_part part = {gradient, WEIR_F32, COUNT, 1};
  const weir_exchange_args args = {.comm = c, .grid = &grid, .part = &part, .n = 1};
  weir_store *store = NULL;
  weir_status status;

  WEIR_TRY_GOTO(weir_store_create(&store), done);
  WEIR_TRY_GOTO(weir_store_add(store, "w", WEIR_F32, 1, (int64_t[]){3}), done);
  WEIR_TRY_GOTO(weir_allreduce_create(c, "least", weir_reducer_of(WEIR_REDUCE_MIN, WEIR_I64),
                                      &r.ranks.number, 1, &r.ranks.min_request),
                done);
  WEIR_TRY_GOTO(weir_exchange_open(p->policy, &args, &r.exchange), done);
  if (p->reads) {
    WEIR_TRY_GOTO(weir_comm_agree(c, r.ranks.rank == 0 ? pass_file(p, &r, store) : WEIR_OK), done);
    WEIR_TRY_GOTO(train_restore_kept(&r), done);
    assert_null(r.kept);
    fill_or_take(p, &r.exchange, r.ranks.rank, weir_comm_size(c));
  } else {
    fill_or_take(p, &r.exchange, r.ranks.rank, weir_comm_size(c));
    WEIR_TRY_GOTO(train_gather_kept(&r), done);
    assert_int_equal(r.kept != NULL, r.ranks.rank == 0);
    WEIR_TRY_GOTO(weir_comm_agree(c, r.ranks.rank == 0 ? pass_file(p, &r, store) : WEIR_OK), done);
  }
done:
  weir_exchange_close(&r.exchange);
  weir_request_destroy(&r.ranks.min_request);
  weir_store_destroy(&r.kept);
  weir_store_destroy(&store);
  return status;
}

/* What `readers` ranks have of what `writers` ranks wrote, of a policy each. */
static passing pass(const weir_exchange_desc *from, int writers, const weir_exchange_desc *to,
                    int readers, weir_checkpoint_format format)
{
  static passing p;
  char dir[64];

  weir_check_mkdir(dir, sizeof dir);
  p = (passing){.policy = from, .format = format};
  (void)snprintf(p.path, sizeof p.path, "%s/checkpoint", dir);
  assert_ok(weir_inproc_run(&(weir_inproc){.ranks = writers}, pass_on_rank, &p));
  p.policy = to;
  p.reads = true;
  assert_ok(weir_inproc_run(&(weir_inproc){.ranks = readers}, pass_on_rank, &p));
  weir_check_rmdir(dir);
  return p;
}

static void as_many_ranks_have_their_own_again(void **state)
{
  for (int k = 0; k < 2; k++) {
    if (k == 1 && !weir_netcdf_available()) {
      continue;
    }
    for (int ranks = 1; ranks <= RANKS; ranks++) {
      const passing p = pass(&weir_exchange_oktopk, ranks, &weir_exchange_oktopk, ranks,
                             k == 0 ? WEIR_CHECKPOINT_RAW : WEIR_CHECKPOINT_NETCDF);

      for (int rank = 0; rank < ranks; rank++) {
        for (int i = 0; i < COUNT; i++) {
          assert_true(p.residual[rank][i] == residual_of(rank, i));
        }
        assert_true(p.local[rank] == 10 + rank && p.global[rank] == 5);
        for (int q = 0; q <= ranks; q++) {
          assert_int_equal(p.regions[rank][q], COUNT * q / ranks);
        }
      }
    }
  }
}

/* Each an equal share; thresholds of one rank are found anew, as are regions. */
static void other_numbers_of_ranks_share_the_sum(void **state)
{
  for (int writers = 1; writers <= RANKS; writers++) {
    for (int readers = 1; readers <= RANKS; readers++) {
      const passing p =
          pass(&weir_exchange_oktopk, writers, &weir_exchange_oktopk, readers, WEIR_CHECKPOINT_RAW);

      for (int i = 0; i < COUNT; i++) {
        double given = 0, taken = 0;

        for (int rank = 0; rank < writers; rank++) {
          given += residual_of(rank, i);
        }
        for (int rank = 0; rank < readers; rank++) {
          taken += p.residual[rank][i];
          assert_true(writers == readers || p.residual[rank][i] == given / readers);
        }
        assert_true(given == taken);
      }
      assert_true(p.global[0] == 5);
      assert_true(writers == readers || (isnan(p.local[0]) && p.regions[0][readers] == 0));
    }
  }
}

/* Warnings of a file that is read, one after the other. */
static char warned[4096];
static int warnings;

static void note_warning(void *context, weir_log_level level, const char *module, const char *text)
{
  const size_t length = strlen(warned);

  (void)context;
  (void)module;
  if (level == WEIR_LOG_WARN) {
    (void)snprintf(warned + length, sizeof warned - length, "%s\n", text);
    warnings++;
  }
}

/* Counts what a run warns of that reads what ranks of oktopk wrote, on so many of another one. */
static int warnings_of(int writers, const weir_exchange_desc *to, int readers)
{
  warned[0] = 0;
  warnings = 0;
  weir_log_set_sink(note_warning, NULL);
  (void)pass(&weir_exchange_oktopk, writers, to, readers, WEIR_CHECKPOINT_RAW);
  weir_log_set_sink(NULL, NULL);
  return warnings;
}

static void assert_warned(const char *text)
{
  if (strstr(warned, text) == NULL) {
    fail_msg("no warning has '%s': %s", text, warned);
  }
}

/* Each array with its policy, the reason, and how to keep it. */
static void what_no_policy_takes_is_warned_of(void **state)
{
  assert_int_equal(warnings_of(3, &weir_exchange_topka, 3), 4);
  assert_warned("'train.kept.oktopk.residual' of the checkpoint, which the exchange policy oktopk "
                "keeps");
  assert_warned("'train.kept.oktopk.local_threshold'");
  assert_warned("'train.kept.oktopk.global_threshold'");
  assert_warned("'train.kept.oktopk.regions'");
  assert_warned("this run has the policy topka");
  assert_warned("resume with optim.exchange oktopk and its former options on 3 ranks");
}

/* The sum of residuals is not dropped, nor what is equal on all ranks. */
static void what_other_ranks_do_not_take_is_warned_of(void **state)
{
  assert_int_equal(warnings_of(3, &weir_exchange_oktopk, 3), 0);
  assert_int_equal(warnings_of(3, &weir_exchange_oktopk, 2), 2);
  assert_warned("'train.kept.oktopk.local_threshold'");
  assert_warned("'train.kept.oktopk.regions'");
  assert_warned("this run has 2 ranks, which begin without it");
  assert_warned("resume with optim.exchange oktopk and its former options on 3 ranks");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_many_ranks_have_their_own_again),
      cmocka_unit_test(other_numbers_of_ranks_share_the_sum),
      cmocka_unit_test(what_no_policy_takes_is_warned_of),
      cmocka_unit_test(what_other_ranks_do_not_take_is_warned_of),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
