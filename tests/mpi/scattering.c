/* scattering.c - the self-energies of electrons and phonons over ranks: Green's functions cut by
 * energy and frequency, as the recursion makes them, self-energies by atom; or all by energy. Each
 * rank compares its own boxes with those of the graph on one rank. The argument is how many ranks
 * were started. */
#include <math.h>
#include <string.h>

#include "all_ranks.h"
#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "graph/weir_complex_scalar.h"
#include "model/scattering/self_energy.h"

enum { MOST_RANKS = 4, ATOMS = 8, WIDTH = 2, ORBITALS = 2, MOST_CUTS = 8 };

static int32_t atom_list[ATOMS * WIDTH], reverse_list[ATOMS * WIDTH];
static int64_t image_list[ATOMS * WIDTH][2];
static weir_c128 gradient_list[ATOMS * WIDTH * ORBITALS * ORBITALS];

static weir_c128 element(uint32_t which, int64_t at)
{
  return (weir_c128){weir_random_uniform(5, which, 0, (uint64_t)at) - 0.5,
                     weir_random_uniform(5, which, 1, (uint64_t)at) - 0.5};
}

/* A ring. */
static qt_neighbours lists(void)
{
  for (int32_t a = 0; a < ATOMS; a++) {
    atom_list[WIDTH * a] = (a + 1) % ATOMS;
    atom_list[WIDTH * a + 1] = (a + ATOMS - 1) % ATOMS;
    reverse_list[WIDTH * a] = WIDTH * ((a + 1) % ATOMS) + 1;
    reverse_list[WIDTH * a + 1] = WIDTH * ((a + ATOMS - 1) % ATOMS);
  }
  for (int64_t i = 0; i < ATOMS * WIDTH * ORBITALS * ORBITALS; i++) {
    gradient_list[i] = element(QT_SELF_ENERGY_ARRAYS, i);
  }
  return (qt_neighbours){.n_atoms = ATOMS,
                         .n_neighbours = WIDTH,
                         .n_orbitals = ORBITALS,
                         .n_directions = 1,
                         .atom = atom_list,
                         .reverse = reverse_list,
                         .image = image_list,
                         .gradient = gradient_list};
}

/* The array of an input or a result of that name. */
static int32_t array_of(const weir_graph *g, const char *name)
{
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *x = weir_graph_get_array(g, a);

    if ((x->name != NULL && strcmp(x->name, name) == 0) ||
        (x->output != NULL && strcmp(x->output, name) == 0)) {
      return a;
    }
  }
  fail_msg("no array %s", name);
  return -1;
}

typedef struct cuts {
  weir_cut cut[MOST_CUTS];
  int64_t bounds[MOST_CUTS][MOST_RANKS + 1];
  int n;
} cuts;

static void cut(const weir_graph *g, qt_self_energy_array which, int dim, cuts *c)
{
  const int32_t array = array_of(g, qt_self_energy_names[which]);

  for (int q = 0; q <= ranks; q++) {
    c->bounds[c->n][q] = weir_graph_get_array(g, array)->desc.shape[dim] * q / ranks;
  }
  c->cut[c->n] = (weir_cut){array, dim, 0, c->bounds[c->n], 0, 0};
  c->n++;
}

/* This rank's box of random numbers. */
static void fill(const weir_plan *plan, const qt_self_energy_spec *s, qt_self_energy_array which,
                 weir_tensor *t)
{
  const weir_array_desc whole = qt_self_energy_desc(s, which);
  const weir_box box = weir_plan_owned(plan, qt_self_energy_names[which]);
  int64_t shape[WEIR_MAX_RANK];

  for (int d = 0; d < box.rank; d++) {
    shape[d] = box.hi[d] - box.lo[d];
  }
  assert_ok(weir_tensor_init(t, WEIR_C128, box.rank, shape));
  for (int64_t i = 0; i < weir_tensor_count(t); i++) {
    int64_t left = i, at = 0, stride = 1;

    for (int d = box.rank - 1; d >= 0; d--) {
      at += stride * (box.lo[d] + left % shape[d]);
      stride *= whole.shape[d];
      left /= shape[d];
    }
    weir_dtype_store_complex(WEIR_C128, t->data, i, element((uint32_t)which, at));
  }
}

static weir_plan *run(const weir_graph *g, const qt_self_energy_spec *s, const weir_spread *spread)
{
  weir_tensor t[QT_SIGMA];
  weir_binding bindings[QT_SIGMA];
  weir_plan *plan;

  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.threads = 1, .spread = spread}, &plan));
  for (int i = 0; i < QT_SIGMA; i++) {
    fill(plan, s, (qt_self_energy_array)i, &t[i]);
    bindings[i] = (weir_binding){qt_self_energy_names[i], &t[i]};
  }
  assert_ok(weir_plan_run(plan, bindings, QT_SIGMA));
  for (int i = 0; i < QT_SIGMA; i++) {
    weir_tensor_fini(&t[i]);
  }
  return plan;
}

static void compare(const weir_plan *spread, const weir_plan *whole, const char *name)
{
  const weir_box own = weir_plan_owned(spread, name);
  double worst = 0, most = 0;
  int64_t lo, hi;
  weir_view part, all;

  assert_ok(weir_plan_result(spread, name, &part, &lo, &hi));
  assert_ok(weir_plan_result(whole, name, &all, &lo, &hi));
  for (int64_t i = 0; i < weir_box_volume(&own); i++) {
    int64_t at[WEIR_MAX_RANK], left = i;

    for (int d = own.rank - 1; d >= 0; d--) {
      at[d] = own.lo[d] + left % (own.hi[d] - own.lo[d]);
      left /= own.hi[d] - own.lo[d];
    }
    const weir_c128 x = weir_dtype_load_complex(WEIR_C128, part.data, i);
    const weir_c128 y = *(const weir_c128 *)weir_view_at(&all, at);

    worst = fmax(worst, weir_abs_c128(weir_sub_c128(x, y)));
    most = fmax(most, weir_abs_c128(y));
  }
  if (!(worst <= 1e-12 * most) || most == 0) {
    fail_msg("%s: %g apart, of %g", name, worst, most);
  }
}

static void ranks_have_what_one_has(void **state)
{
  const qt_neighbours list = lists();
  const qt_self_energy_spec spec = {.neighbours = &list,
                                    .n_k = 3,
                                    .n_energies = 9,
                                    .n_frequencies = 4,
                                    .step = 0.1,
                                    .spin = 2,
                                    .retarded = QT_RETARDED_FULL,
                                    .phonons = true,
                                    .threads = 1};

  (void)state;
  for (int way = 0; way < 2; way++) {
    weir_graph *g;
    cuts c = {.n = 0};

    assert_ok(qt_self_energy_graph(&spec, NULL, &g));
    cut(g, QT_GREEN, 2, &c);
    cut(g, QT_PHONON_SELF, 2, &c);
    cut(g, QT_PHONON_PAIR, 2, &c);
    cut(g, QT_SIGMA, way == 0 ? 3 : 2, &c);
    cut(g, QT_PI_SELF, way == 0 ? 3 : 2, &c);
    cut(g, QT_PI_PAIR, way == 0 ? 3 : 2, &c);
    const weir_spread spread = {comm, {1, {ranks}}, c.cut, c.n};
    weir_plan *of_ranks = run(g, &spec, &spread), *whole = run(g, &spec, NULL);

    for (int i = QT_SIGMA; i < QT_SELF_ENERGY_ARRAYS; i++) {
      compare(of_ranks, whole, qt_self_energy_names[i]);
    }
    weir_plan_destroy(&of_ranks);
    weir_plan_destroy(&whole);
    weir_graph_destroy(&g);
  }
}

int main(int argc, char **argv)
{
  const weir_comm_cfg usual = {.piece = 1 << 20, .tree = 256, .patience = 60};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranks_have_what_one_has),
  };

  open_all_ranks(argc, argv, MOST_RANKS, &usual);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_comm_close(&comm);
  return failed;
}
