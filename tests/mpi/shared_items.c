/* shared_items.c - what ranks that share wave vectors and energies have alike (model/ranks.h), of
 * any number of items, where memory is missing on one of them, and of a device with a potential
 * that ranks see differently. */
#include "model/ranks.h"

#include <string.h>

#include "all_ranks.h"
#include "base/weir_alloc.h"
#include "model/device.h"
#include "model/electrostatics/scf.h"

enum { MOST_RANKS = 4, MOST_ITEMS = 11 };

static int64_t item(int64_t i)
{
  return 1000 * i + 7;
}

static void all_ranks_get_all_items(void **state)
{
  (void)state;
  for (int64_t n = 0; n <= MOST_ITEMS; n++) {
    int64_t value[MOST_ITEMS + 1], first, last, before = 0;

    for (int r = 0; r < ranks; r++) {
      qt_ranks_share(n, r, ranks, &first, &last);
      assert_true(first == before && last >= first && last - first <= n / ranks + 1);
      before = last;
    }
    assert_int_equal(before, n);
    qt_ranks_share(n, rank, ranks, &first, &last);
    for (int64_t i = 0; i <= MOST_ITEMS; i++) {
      value[i] = i >= first && i < last ? item(i) : -1;
    }
    assert_ok(qt_ranks_allgather(comm, "items", sizeof *value, n, value));
    for (int64_t i = 0; i <= MOST_ITEMS; i++) {
      assert_int_equal(value[i], i < n ? item(i) : -1);
    }
  }
}

static void rank_0_gives_and_the_least_is_found(void **state)
{
  double given[] = {rank + 0.5, -rank, 3};
  int64_t least = 10 - rank;

  (void)state;
  assert_ok(qt_ranks_broadcast(comm, "numbers", given, 2 * (int64_t)sizeof *given));
  assert_true(given[0] == 0.5 && given[1] == 0 && given[2] == 3);
  assert_ok(qt_ranks_broadcast(comm, "nothing", given, 0));
  assert_ok(qt_ranks_min(comm, &least));
  assert_int_equal(least, 11 - ranks);
  assert_int_equal(qt_ranks_agree(comm, rank == ranks - 1
                                            ? weir_fail(WEIR_ERR_NUMERIC, "the last one")
                                            : WEIR_OK),
                   WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "the last one"));
}

/* The k-th allocation fails on the last rank, for all k: all ranks return that, none waits. */
static void missing_memory_of_one_rank_is_that_of_all(void **state)
{
  int64_t failures = 0;

  (void)state;
  for (int what = 0; what < 3; what++) {
    weir_status status = WEIR_ERR_MEMORY;

    for (int64_t k = 1; status != WEIR_OK; k++) {
      int64_t value[MOST_ITEMS] = {rank};

      assert_true(k < 100);
      weir_alloc_fail_after(rank == ranks - 1 ? k : 0);
      status = what == 0   ? qt_ranks_broadcast(comm, "one", value, sizeof *value)
               : what == 1 ? qt_ranks_min(comm, value)
                           : qt_ranks_allgather(comm, "items", sizeof *value, MOST_ITEMS, value);
      weir_alloc_fail_after(0);
      assert_true(status == WEIR_OK || status == WEIR_ERR_MEMORY);
      failures += status != WEIR_OK;
    }
  }
  assert_true(ranks == 1 ? failures == 0 : failures >= 3);
}

static void make_chain(qt_system *s)
{
  const qt_device *device = qt_device_find("chain");
  void *opts = NULL;

  assert_ok(weir_alloc(1, device->opts_size, &opts));
  weir_opts_default(device->opts, device->opts_size, opts);
  *s = (qt_system){.n = 0};
  assert_ok(device->build(opts, 1, s));
  weir_free(&opts);
}

/* Of a chain with a gate from there on; mu: of the left lead; 0: that of its doping. */
static weir_status make_ready(const qt_system *s, double gate, double mu, qt_scf *out)
{
  static const double origin[1][2] = {{0, 0}}, one = 1;
  static const weir_string_list no_options = {NULL, 0};
  qt_electrostatics_opts opts;
  weir_config *config = NULL;
  char text[256];
  qt_scf_spec spec = {.opts = &opts,
                      .petsc = &no_options,
                      .n_k = 1,
                      .k = origin,
                      .weight = &one,
                      .mu = mu,
                      .temperature = 300,
                      .shift = 1e-6,
                      .threads = 1,
                      .comm = comm};

  (void)snprintf(text, sizeof text,
                 "{mid_gap: -3, fermi_level: %s, semiconductor: {margin: 4, permittivity: 10}, "
                 "oxide: {thickness: 6}, spacing: 2, gates: [{from: %g, to: 5}], "
                 "doping: [{from: 0, to: 100, concentration: 1e20}]}",
                 mu != 0 ? "given" : "doping", gate);
  weir_opts_default(qt_lead_options, sizeof spec.lead, &spec.lead);
  assert_ok(weir_opts_parse(qt_electrostatics_options, sizeof opts, text, &opts, &config));
  const weir_status status = qt_scf_create(s, &spec, out);

  weir_config_destroy(&config);
  return status;
}

/* A gate that one rank alone finds outside of the device ends all; levels are those of rank 0. */
static void devices_are_those_of_rank_0(void **state)
{
  const bool last = ranks > 1 && rank == ranks - 1;
  qt_system s;
  qt_scf scf;

  (void)state;
  make_chain(&s);
  weir_status status = make_ready(&s, 2, -1.25 - 0.01 * rank, &scf);

  if (status == WEIR_ERR_UNSUPPORTED && strstr(weir_last_message(), "has no PETSc") != NULL) {
    qt_scf_fini(&scf);
    qt_system_fini(&s);
    printf("skipped: this build has no PETSc\n");
    skip();
  }
  assert_ok(status);
  assert_true(scf.mu == -1.25 && scf.fermi[QT_LEFT] == -1.25 && scf.fermi[QT_RIGHT] == -1.25);
  assert_near(scf.bands[QT_LEFT].conduction, -2, 1e-9);
  qt_scf_fini(&scf);
  status = make_ready(&s, last ? 1e4 : 2, 0, &scf);
  assert_int_equal(status, ranks > 1 ? WEIR_ERR_CONFIG : WEIR_OK);
  assert_true(status == WEIR_OK || strstr(weir_last_message(), "electrostatics.gates[0]") != NULL);
  qt_scf_fini(&scf);
  qt_system_fini(&s);
}

int main(int argc, char **argv)
{
  const weir_comm_cfg usual = {.max_message_bytes = 1 << 20, .tree_max_bytes = 256, .timeout = 60};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_ranks_get_all_items),
      cmocka_unit_test(rank_0_gives_and_the_least_is_found),
      cmocka_unit_test(missing_memory_of_one_rank_is_that_of_all),
      cmocka_unit_test(devices_are_those_of_rank_0),
  };

  open_all_ranks(argc, argv, MOST_RANKS, &usual);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_comm_close(&comm);
  return failed;
}
