/* self_energy.c - the scattering self-energy of npbench (spcl/npbench, BSD-3) over a grid of ranks:
 * Sigma[k,E,a] = sum over q, w, b, i, j of G[k,E-w,neigh[a,b]] dH[a,b,i] dH[a,b,j] D[q,w,a,b,i,j],
 * matrices over orbitals. G is sharded by momentum and energy, Sigma by atom and energy, along
 * dimensions of the grid of their own or as pairs along one; or both by energy, along all of the
 * grid. Each rank gets of G the atoms that its neighbour list names, and no more. The argument is
 * how many ranks were started. */
#include <math.h>
#include <string.h>

#include "all_ranks.h"
#include "base/weir_random.h"
#include "count_sends.h"
#include "exec/weir_plan.h"
#include "ops/reduce/weir_reduce.h"
#include "support/pass/self_energy_node.h"

enum { NK = 3, NE = 6, NQ = 2, NW = 3, ND = 2, NA = 16, NB = 3, NO = 2, MOST_RANKS = 4 };
static const int64_t extent[SELF_ENERGY_DIMS] = {NK, NE, NA, NO, NO, NQ, NW, NB, ND, ND, NO, NO};

/* Two neighbours in the chain and one far away: a hull of them is nearly all atoms. */
static int64_t neighbour(int64_t a, int64_t b)
{
  return b == 0 ? (a + 1) % NA : b == 1 ? (a + NA - 1) % NA : (5 * a + 8) % NA;
}

/* An element of an array by its index in the complete one. */
static weir_c128 element(uint32_t which, int64_t at)
{
  return (weir_c128){weir_random_uniform(42, which, 0, (uint64_t)at),
                     weir_random_uniform(42, which, 1, (uint64_t)at)};
}

enum { OF_G, OF_H, OF_D };

static weir_c128 times(weir_c128 x, weir_c128 y)
{
  return (weir_c128){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/* The definition, element by element. */
static weir_c128 expected(int64_t k, int64_t e, int64_t a, int64_t m, int64_t n)
{
  weir_c128 sum = {0, 0};

  for (int64_t x = 0; x < NQ * NW * NB * ND * ND * NO * NO; x++) {
    const int64_t r = x % NO, p = x / NO % NO, j = x / NO / NO % ND, i = x / NO / NO / ND % ND;
    const int64_t b = x / NO / NO / ND / ND % NB, w = x / NO / NO / ND / ND / NB % NW;
    const int64_t q = x / NO / NO / ND / ND / NB / NW;

    if (e < w) {
      continue;
    }
    const weir_c128 g =
        element(OF_G, (((k * NE + e - w) * NA + neighbour(a, b)) * NO + m) * NO + p);
    const weir_c128 left = element(OF_H, (((a * NB + b) * ND + i) * NO + p) * NO + r);
    const weir_c128 right = element(OF_H, (((a * NB + b) * ND + j) * NO + r) * NO + n);
    const weir_c128 d = element(OF_D, ((((q * NW + w) * NA + a) * NB + b) * ND + i) * ND + j);
    const weir_c128 z = times(times(g, left), times(right, d));

    sum.re += z.re;
    sum.im += z.im;
  }
  return sum;
}

/* Sharding of arrays over the ranks. */
typedef enum sharding {
  BY_GRID,   /* a dimension of the grid for momenta and atoms, one for energies        */
  BY_PAIRS,  /* one dimension of the grid, pairs (momentum, energy) or (atom, energy)  */
  BY_ENERGY, /* both dimensions of the grid for energies                               */
  CUTTINGS
} sharding;

static const char *const cutting_names[] = {"by grid", "by pairs", "by energy"};

enum { MOST_CUTS = 8 };

typedef struct problem {
  weir_graph *g;
  weir_grid grid;
  weir_shard cuts[MOST_CUTS];
  int64_t bounds[MOST_CUTS][MOST_RANKS + 1];
  int n_cuts;
} problem;

/* Pieces of momenta and atoms, and of energies; ranks in order have the energies one by one. */
static int first_pieces(sharding way)
{
  return way != BY_ENERGY && ranks > 1 ? 2 : 1;
}

/* This dimension of v: first of a pair, or the energies. */
static void shard(problem *p, sharding way, weir_value v, int dim, bool energy)
{
  const int first = first_pieces(way), n = energy ? ranks / first : first;
  const bool pairs = way == BY_PAIRS, all = way == BY_ENERGY;
  int64_t *at = p->bounds[p->n_cuts];

  for (int q = 0; q <= n; q++) {
    at[q] = weir_value_desc(p->g, v)->shape[dim] * q / n;
  }
  if (energy || !all) {
    p->cuts[p->n_cuts++] = (weir_shard){weir_value_array(p->g, v),
                                        dim,
                                        energy && !pairs && !all,
                                        at,
                                        all ? 2 : 0,
                                        pairs ? n : 0,
                                        false};
  }
}

/* The range of `extent` that a rank has by momentum or atom, or by energy. */
static weir_interval part_of(sharding way, int of, bool energy, int64_t all)
{
  const int first = first_pieces(way), n = energy ? ranks / first : first;
  const int q = energy ? of % n : of / (ranks / first);

  return (weir_interval){all * q / n, all * (q + 1) / n};
}

static weir_grid grid_of(sharding way)
{
  return way == BY_PAIRS ? (weir_grid){1, {ranks}}
                         : (weir_grid){2, {ranks > 1 ? 2 : 1, ranks > 1 ? ranks / 2 : 1}};
}

static void build(problem *p, sharding way)
{
  int32_t neighbours[NA * NB];

  memset(p, 0, sizeof *p);
  p->grid = grid_of(way);
  assert_ok(weir_graph_create(&p->g));
  for (int64_t k = 0; k < NA * NB; k++) {
    neighbours[k] = (int32_t)neighbour(k / NB, k % NB);
  }
  const weir_tensor t = weir_tensor_wrap(neighbours, WEIR_I32, 2, (const int64_t[]){NA, NB});
  const weir_value sigma =
      self_energy_add(p->g, extent, SELF_ENERGY_PRODUCTS, weir_constant(p->g, &t), "Sigma");
  const weir_node *node = weir_graph_node(p->g, sigma.node);
  const weir_value green = weir_array_value(p->g, node->in[SELF_ENERGY_G]);
  const weir_value dh = weir_array_value(p->g, node->in[SELF_ENERGY_DH_I]);
  const weir_value d = weir_array_value(p->g, node->in[SELF_ENERGY_D]);

  assert_ok(weir_graph_status(p->g));
  shard(p, way, green, 0, false); /* G: momentum, energy */
  shard(p, way, green, 1, true);
  if (way == BY_GRID) { /* dH, D: atom; else they are whole */
    shard(p, way, dh, 0, false);
    shard(p, way, d, 2, false);
  }
  shard(p, way, sigma, 2, false); /* Sigma: atom, energy */
  shard(p, way, sigma, 1, true);
}

/* This rank's box of an array of random numbers. */
static void fill(uint32_t which, const weir_array_desc *whole, const weir_box *box, weir_tensor *t)
{
  int64_t shape[WEIR_MAX_RANK];

  for (int d = 0; d < box->rank; d++) {
    shape[d] = box->hi[d] - box->lo[d];
  }
  assert_ok(weir_tensor_init(t, WEIR_C128, box->rank, shape));
  for (int64_t i = 0; i < weir_tensor_numel(t); i++) {
    int64_t left = i, at = 0, stride = 1;

    for (int d = box->rank - 1; d >= 0; d--) {
      at += stride * (box->lo[d] + left % shape[d]);
      stride *= whole->shape[d];
      left /= shape[d];
    }
    weir_dtype_store_complex(WEIR_C128, t->data, i, element(which, at));
  }
}

typedef enum counted { READ, MISSING, ALL_BUT_OWN } counted;

/* Bytes of G that a rank reads, or reads and does not own: of the energies that its own ones need,
 * the atoms that the neighbours of its own ones are. */
static int64_t bytes_of_g(sharding way, int of, counted what)
{
  const bool by_first = way != BY_ENERGY;
  const weir_interval k = by_first ? part_of(way, of, false, NK) : (weir_interval){0, NK};
  const weir_interval a = by_first ? part_of(way, of, false, NA) : (weir_interval){0, NA};
  const weir_interval e = part_of(way, of, true, NE);
  int64_t n = 0;

  for (int64_t x = 0; x < NK * NE * NA; x++) {
    const int64_t atom = x % NA, energy = x / NA % NE, momentum = x / NA / NE;
    const bool own = momentum >= k.lo && momentum < k.hi && energy >= e.lo && energy < e.hi;
    bool read = what == ALL_BUT_OWN;

    for (int64_t b = 0; b < NB * NA; b++) {
      const bool named = neighbour(b / NB, b % NB) == atom && b / NB >= a.lo && b / NB < a.hi;

      read = read || (named && energy < e.hi && energy > e.lo - NW);
    }
    n += read && (what == READ || !own);
  }
  return n * NO * NO * (int64_t)sizeof(weir_c128);
}

static void check_result(const weir_plan *plan)
{
  const weir_box own = weir_plan_owned(plan, "Sigma");
  const int64_t n = weir_box_volume(&own);
  double worst = 0, most = 0;
  int64_t lo, hi;
  weir_view v;

  assert_ok(weir_plan_result(plan, "Sigma", &v, &lo, &hi));

  for (int64_t i = 0; i < n; i++) {
    int64_t at[5], left = i;

    for (int d = 4; d >= 0; d--) {
      at[d] = own.lo[d] + left % (own.hi[d] - own.lo[d]);
      left /= own.hi[d] - own.lo[d];
    }
    const weir_c128 x = expected(at[0], at[1], at[2], at[3], at[4]);
    const weir_c128 y = weir_dtype_load_complex(WEIR_C128, v.data, i);

    worst = fmax(worst, hypot(x.re - y.re, x.im - y.im));
    most = fmax(most, hypot(x.re, x.im));
  }
  assert_true(most > 1 && worst <= 1e-13 * most);
}

static void bind(const problem *p, const weir_plan *plan, weir_tensor t[3],
                 weir_binding bindings[3])
{
  static const char *const names[] = {"G", "dH", "D"};

  for (int k = 0; k < 3; k++) {
    const weir_box box = weir_plan_owned(plan, names[k]);
    const int32_t array = weir_graph_node(p->g, k + 1)->out[0]; /* after the neighbours */

    fill((uint32_t)k, &weir_graph_get_array(p->g, array)->desc, &box, &t[k]);
    bindings[k] = (weir_binding){names[k], &t[k]};
  }
}

static weir_plan *plan_of(const problem *p, weir_fission fission)
{
  const weir_dist dist = {comm, p->grid, p->cuts, p->n_cuts};
  weir_exec_cfg cfg;
  weir_plan *plan;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  cfg.fission = (int)fission;
  cfg.window = fission != WEIR_FISSION_OFF;
  assert_ok(weir_plan_create(p->g, NULL,
                             &(weir_plan_opts){.exec = &cfg, .threads = 1, .dist = &dist}, &plan));
  return plan;
}

/* Bytes that the reports of a plan predict: sent in moves, and moved by the group of the sum where
 * that is one. */
static void check_reports(sharding way, const weir_plan *plan, int64_t sent, bool split)
{
  const bool by_first = way != BY_ENERGY;
  const weir_interval a = by_first ? part_of(way, rank, false, NA) : (weir_interval){0, NA};
  const weir_interval e = part_of(way, rank, true, NE);
  const int64_t atoms = a.hi - a.lo, size = (int64_t)sizeof(weir_c128);
  const int64_t losses = e.hi < NW ? e.hi : NW; /* w with energies from 0 on */
  const int64_t others = atoms * NB * (NQ * losses * ND * ND + ND * NO * NO) * size +
                         atoms * NB * (int64_t)sizeof(int32_t) +
                         NK * (e.hi - e.lo) * atoms * NO * NO * size;
  int64_t moved = 0;
  double bytes = 0, flops = 0;

  for (int32_t m = 0; m < weir_plan_moves(plan); m++) {
    moved += weir_plan_move(plan, m).bytes;
  }
  assert_int_equal(moved, sent);
  for (int32_t k = 0; k < weir_plan_groups(plan); k++) {
    const weir_group_report r = weir_plan_group(plan, k);

    bytes = r.flops > flops ? r.bytes : bytes;
    flops = fmax(r.flops, flops);
  }
  if (!split) {
    assert_int_equal((int64_t)bytes, bytes_of_g(way, rank, READ) + others);
  }
}

/* The moves are those of the node as written, whatever it is split into. */
static void check_moves(sharding way, weir_fission fission)
{
  problem p;
  weir_tensor t[3];
  weir_binding bindings[3];

  build(&p, way);
  weir_plan *plan = plan_of(&p, fission);

  bind(&p, plan, t, bindings);
  const int64_t before = sends_so_far().bytes;

  assert_ok(weir_plan_run(plan, bindings, 3));
  int64_t bytes[3] = {sends_so_far().bytes - before, bytes_of_g(way, rank, MISSING),
                      bytes_of_g(way, rank, ALL_BUT_OWN)};
  weir_request *sum;

  check_result(plan);
  check_reports(way, plan, bytes[0], fission != WEIR_FISSION_OFF);
  assert_ok(weir_allreduce_create(comm, "bytes", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_I64), bytes,
                                  3, &sum));
  assert_ok(weir_request_start(sum));
  assert_ok(weir_request_wait(sum));
  weir_request_destroy(&sum);
  if (rank == 0) {
    print_message("%d ranks, %s: %lld bytes of G sent, %lld read and not owned, %lld of whole G\n",
                  ranks, cutting_names[way], (long long)bytes[0], (long long)bytes[1],
                  (long long)bytes[2]);
  }
  assert_int_equal(bytes[0], bytes[1]);
  assert_true(ranks == 1 || bytes[1] < bytes[2]);
  for (int k = 0; k < 3; k++) {
    weir_tensor_fini(&t[k]);
  }
  weir_plan_destroy(&plan);
  weir_graph_destroy(&p.g);
}

static void named_atoms_move_and_no_others(void **state)
{
  for (int way = 0; way < CUTTINGS; way++) {
    for (int mode = WEIR_FISSION_OFF; mode <= WEIR_FISSION_REASSOCIATE; mode++) {
      check_moves((sharding)way, (weir_fission)mode);
    }
  }
}

/* The sum of G over energies: ranks that have energies of one momentum merge it. */
static void sums_merge_over_shared_places(void **state)
{
  for (int way = 0; way < CUTTINGS; way++) {
    const weir_array_desc whole = {WEIR_C128, 2, {NK, NE}, 0};
    const weir_interval k = part_of((sharding)way, way == BY_ENERGY ? 0 : rank, false, NK);
    problem p;
    weir_tensor g;
    weir_view v;
    int64_t lo, hi;

    memset(&p, 0, sizeof p);
    p.grid = grid_of((sharding)way);
    assert_ok(weir_graph_create(&p.g));
    const weir_value x = weir_input(p.g, "G", &whole);

    weir_output(p.g, "sum", weir_sum(p.g, x, 1));
    shard(&p, (sharding)way, x, 0, false);
    shard(&p, (sharding)way, x, 1, true);
    weir_plan *plan = plan_of(&p, WEIR_FISSION_OFF);
    const weir_box box = weir_plan_owned(plan, "G");

    fill(OF_G, &whole, &box, &g);
    assert_ok(weir_plan_run(plan, &(weir_binding){"G", &g}, 1));
    assert_ok(weir_plan_result(plan, "sum", &v, &lo, &hi));
    assert_int_equal(v.extent[0], k.hi - k.lo);
    for (int64_t i = k.lo; i < k.hi; i++) {
      const weir_c128 y = weir_dtype_load_complex(WEIR_C128, v.data, i - k.lo);
      weir_c128 sum = {0, 0};

      for (int64_t e = 0; e < NE; e++) {
        sum.re += element(OF_G, i * NE + e).re;
        sum.im += element(OF_G, i * NE + e).im;
      }
      assert_true(hypot(sum.re - y.re, sum.im - y.im) <= 1e-14);
    }
    weir_tensor_fini(&g);
    weir_plan_destroy(&plan);
    weir_graph_destroy(&p.g);
  }
}

int main(int argc, char **argv)
{
  const weir_comm_cfg usual = {.max_message_bytes = 1 << 20, .tree_max_bytes = 256, .timeout = 60};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(named_atoms_move_and_no_others),
      cmocka_unit_test(sums_merge_over_shared_places),
  };

  open_all_ranks(argc, argv, MOST_RANKS, &usual);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_comm_close(&comm);
  return failed;
}
