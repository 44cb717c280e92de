/* universe_shared_test.c - universes that several ranks simulate together are those of one rank, to
 * the bit; what only one of them finds wrong fails on all. */
#include <signal.h>
#include <string.h>
#include "base/weir_signal.h"
#include "comm/weir_inproc.h"
#include "data/simulation/universe.h"
#include "support/cosmoflow/mesh_check.h"

static double some_redshifts[] = {0, 0.5};

/* One universe on several ranks, put together. */
typedef struct shared {
  const cf_universe_opts *o;
  char *out; /* all samples, as of one rank */
  weir_status expected;
} shared;

/* Copies the boxes of a slab into the samples. */
static void put_slab(const shared *s, const cf_universe_facts *f, cf_range slab, const char *from)
{
  const int64_t cell = f->channels * (int64_t)weir_dtype_size(f->dtype);
  const int64_t plane = f->side * f->side * cell;

  for (int64_t i = 0; i < cf_universe_boxes(s->o, f, slab); i++) {
    const cf_universe_box b = cf_universe_box_of(s->o, f, slab, i);

    memcpy(s->out + (b.sample * f->side + b.x) * plane, from + b.at * cell,
           (size_t)(b.planes * plane));
  }
}

static weir_status make_slab(weir_comm *comm, void *context)
{
  const shared *const s = context;
  cf_generator *g = NULL;
  cf_generator_workspace *r = NULL;
  void *out = NULL;

  assert_ok(cf_generator_create_shared(s->o, 3, comm, &g));
  const cf_universe_facts *const f = cf_generator_facts(g);

  assert_ok(cf_generator_workspace_create(g, &r));
  assert_ok(weir_alloc(f->slab_bytes, 1, &out));
  assert_int_equal(cf_generator_make(g, r, 7, out), s->expected);
  put_slab(s, f, cf_slab(s->o->side, weir_comm_size(comm), weir_comm_rank(comm)), out);
  weir_free(&out);
  cf_generator_workspace_destroy(&r);
  cf_generator_destroy(&g);
  return WEIR_OK;
}

/* All samples of a universe, the caller's to free. */
static char *make_on(cf_universe_opts o, int ranks, weir_status expected, int64_t *bytes)
{
  shared s = {.o = &o, .expected = expected};
  cf_universe_facts f;

  o.ranks = ranks;
  assert_ok(cf_universe_check(&o, &f));
  assert_ok(weir_alloc(f.bytes, 1, (void **)&s.out));
  assert_ok(weir_inproc_run(&(weir_inproc){.ranks = ranks, .seed = 1}, make_slab, &s));
  *bytes = f.bytes;
  return s.out;
}

static void compare_on_ranks(const cf_universe_opts *o, int max_ranks)
{
  int64_t bytes = 0;
  char *one = make_on(*o, 1, WEIR_OK, &bytes);

  for (int ranks = 2; ranks <= max_ranks; ranks++) {
    char *several = make_on(*o, ranks, WEIR_OK, &bytes);

    assert_memory_equal(one, several, (size_t)bytes);
    weir_free(&several);
  }
  weir_free(&one);
}

/* In slabs of 2 to 6 planes of 10: particles go further than a slab is thick. */
static cf_universe_opts small(int64_t side)
{
  cf_universe_opts o;

  weir_opts_default(cf_universe_options, sizeof o, &o);
  o.side = side;
  o.box = 40;
  o.steps = 3;
  o.redshifts = (weir_real_list){some_redshifts, 2};
  return o;
}

static void counts_do_not_depend_on_ranks(void **state)
{
  NEEDS_FFTW();
  for (int method = CF_METHOD_1LPT; method <= CF_METHOD_PM; method++) {
    for (int sight = CF_SIGHT_NONE; sight <= CF_SIGHT_Z; sight++) {
      cf_universe_opts o = small(10);

      o.method = method;
      o.line_of_sight = sight;
      compare_on_ranks(&o, 5);
    }
  }
}

/* Coefficients lie in slabs of y, tracers are drawn by the cell of the whole mesh, of a mean that
 * is that of all ranks. */
static void what_is_observed_does_not_depend_on_ranks(void **state)
{
  NEEDS_FFTW();
  for (int k = 0; k < 3; k++) {
    cf_universe_opts o = small(10);

    o.counts = k == 1 ? CF_COUNTS_NGP : CF_COUNTS_CIC;
    o.values = k == 1 ? CF_VALUES_I16 : CF_VALUES_F32;
    o.feedback.mass = k != 1 ? 1.2e14 : 0;
    o.tracers = k > 0 ? 0.05 : 0;
    o.particles = k == 2 ? 13 : 0; /* on a mesh of their own, in other slabs */
    compare_on_ranks(&o, 4);
  }
}

/* Weights of CIC are summed in the order of the lattice on any ranks. */
static void densities_do_not_depend_on_ranks(void **state)
{
  NEEDS_FFTW();
  for (int method = CF_METHOD_2LPT; method <= CF_METHOD_PM; method++) {
    for (int64_t particles = 8; particles <= 15; particles += 7) {
      cf_universe_opts o = small(12);

      o.method = method;
      o.particles = particles; /* another mesh, with other slabs */
      o.counts = CF_COUNTS_CIC;
      o.values = CF_VALUES_F32;
      compare_on_ranks(&o, 4);
    }
  }
}

/* Samples of which a slab has some planes of one layer, or of several. */
static void samples_do_not_depend_on_ranks(void **state)
{
  NEEDS_FFTW();
  for (int64_t block = 4; block <= 12; block += block < 6 ? 2 : 6) {
    cf_universe_opts o = small(12);

    o.block = block;
    compare_on_ranks(&o, 7);
    compare_on_ranks(&o, 12);
  }
}

static void a_stop_is_one_of_all_ranks(void **state)
{
  cf_universe_opts o = small(8);
  int64_t bytes = 0;

  NEEDS_FFTW();
  weir_stop_request(SIGTERM);
  char *out = make_on(o, 3, WEIR_ERR_STOPPED, &bytes);

  weir_stop_request(0);
  weir_free(&out);
}

static void more_ranks_than_planes_are_refused(void **state)
{
  cf_universe_opts o = small(12);
  cf_universe_facts f;

  o.ranks = 13;
  assert_int_equal(cf_universe_check(&o, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "12 planes of simulate.side"));
  o.particles = 6;
  o.ranks = 7;
  assert_int_equal(cf_universe_check(&o, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "6 planes of simulate.particles"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_do_not_depend_on_ranks),
      cmocka_unit_test(densities_do_not_depend_on_ranks),
      cmocka_unit_test(what_is_observed_does_not_depend_on_ranks),
      cmocka_unit_test(samples_do_not_depend_on_ranks),
      cmocka_unit_test(a_stop_is_one_of_all_ranks),
      cmocka_unit_test(more_ranks_than_planes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
